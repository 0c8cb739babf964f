//! Facets of a search: counts over everything that it found, not only over the page.

use super::request::SearchRequest;
use crate::api::{Context, Result};
use crate::policy::query::{
    FacetCounts, FacetScope, FacetValue, Items, Listing, facet, facet_fields, unknown_facet,
};

/// Which source a result is from.
const SOURCE: &str = "source";

/// Counts the requested fields over these records, which are in ascending order.
pub fn count(
    context: &Context,
    request: &SearchRequest,
    records: &[u32],
) -> Result<Vec<FacetCounts>> {
    if request.facets.is_empty() {
        return Ok(Vec::new());
    }
    let bundle = &*context.bundle;
    let listings: Vec<Listing> = request
        .sources()
        .filter_map(|source| bundle.source(source.key))
        .map(|(source, facts)| Listing::of_source(bundle, source, facts))
        .collect();
    let scope = |listing| {
        let matching = Some(own(listing, records)).filter(|own| !own.is_empty());
        matching.map(|matching| FacetScope { listing, filters: &[], matching: Some(matching) })
    };
    let scopes: Vec<FacetScope> = listings.iter().filter_map(scope).collect();
    let count = |name: &String| {
        if name == SOURCE {
            return Ok(sources(&scopes));
        }
        let mut valid: Vec<&str> = listings.iter().flat_map(facet_fields).collect();
        if valid.contains(&name.as_str()) {
            return facet(context, &scopes, name);
        }
        valid.push(SOURCE);
        valid.sort_unstable();
        valid.dedup();
        Err(unknown_facet(name, &valid))
    };
    request.facets.iter().map(count).collect()
}

/// The positions within a source of those of these records that are its own.
fn own(listing: &Listing, records: &[u32]) -> Vec<u32> {
    let (Items::Records { first }, Some(facts)) = (listing.items, listing.facts) else {
        return Vec::new();
    };
    let (first, end) = (first as u64, first as u64 + facts.records);
    let place = |number: u64| records.partition_point(|record| u64::from(*record) < number);
    records[place(first)..place(end)].iter().map(|record| record - first as u32).collect()
}

fn sources(scopes: &[FacetScope]) -> FacetCounts {
    let value = |scope: &FacetScope| {
        let key = scope.listing.facts?.key.clone();
        let count = scope.matching.as_ref()?.len() as u64;
        Some(FacetValue { value: key.clone(), label: key, count })
    };
    let mut values: Vec<FacetValue> = scopes.iter().filter_map(value).collect();
    values.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
    FacetCounts { field: SOURCE.into(), values, more: 0, left_out: None }
}
