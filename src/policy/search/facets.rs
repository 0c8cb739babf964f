//! Facets of a search: counts over everything that it found, not only over the page.

use std::collections::BTreeMap;

use super::request::SearchRequest;
use crate::api::{Context, Result};
use crate::policy::query::{
    FacetCounts, FacetScope, FacetValue, Listing, facet, facet_fields, unknown_facet,
};

/// Which source a result is from.
const SOURCE: &str = "source";

/// Counts the requested fields over these records.
pub fn count(
    context: &Context,
    request: &SearchRequest,
    records: impl FnOnce() -> Vec<u32>,
) -> Result<Vec<FacetCounts>> {
    if request.facets.is_empty() {
        return Ok(Vec::new());
    }
    let bundle = &*context.bundle;
    let mut by_source: BTreeMap<&'static str, Vec<u32>> = BTreeMap::new();
    for record in records() {
        if let Some(source) = bundle.source_of_number(record as usize) {
            let first = bundle.first_number(source) as u32;
            by_source.entry(source.key).or_default().push(record - first);
        }
    }
    let listings: Vec<Listing> = request
        .sources()
        .filter_map(|source| bundle.source(source.key))
        .map(|(source, facts)| Listing::of_source(bundle, source, facts))
        .collect();
    let found = |listing: &Listing| by_source.iter().find(|(key, _)| is_of(listing, key));
    let scopes: Vec<FacetScope> = listings
        .iter()
        .filter_map(|listing| {
            let matching = Some(found(listing)?.1.clone());
            Some(FacetScope { listing, filters: &[], matching })
        })
        .collect();
    let count = |name: &String| {
        if name == SOURCE {
            return Ok(sources(&by_source));
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

fn is_of(listing: &Listing, key: &str) -> bool {
    listing.facts.is_some_and(|facts| facts.key == key)
}

fn sources(found: &BTreeMap<&'static str, Vec<u32>>) -> FacetCounts {
    let value = |(key, records): (&&'static str, &Vec<u32>)| FacetValue {
        value: key.to_string(),
        label: key.to_string(),
        count: records.len() as u64,
    };
    let mut values: Vec<FacetValue> = found.iter().map(value).collect();
    values.sort_by(|a, b| b.count.cmp(&a.count).then(a.value.cmp(&b.value)));
    FacetCounts { field: SOURCE.into(), values, more: 0, left_out: None }
}
