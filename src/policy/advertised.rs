//! What the open bundle lets tools, prompts and guides offer: its sources, fields and sections.

use super::query::Listing;
use super::search::{searchable_sources, sources_with_vectors};
use crate::bundle::Bundle;
use crate::catalog::{Field, Kind, Shape, Source, SubResourceKind};

fn keys(sources: impl IntoIterator<Item = &'static Source>) -> Vec<&'static str> {
    sources.into_iter().map(|source| source.key).collect()
}

pub fn searchable(bundle: &Bundle) -> Vec<&'static str> {
    keys(searchable_sources(bundle))
}

pub fn with_vectors(bundle: &Bundle) -> Vec<&'static str> {
    keys(sources_with_vectors(bundle))
}

pub fn registries(bundle: &Bundle) -> Vec<&'static str> {
    keys(bundle.sources().map(|(source, _)| source).filter(|s| s.shape == Shape::Registry))
}

pub fn sources(bundle: &Bundle) -> Vec<&'static str> {
    keys(bundle.sources().map(|(source, _)| source))
}

/// Sources that have a field with this property.
pub fn sources_with(bundle: &Bundle, property: fn(&Field) -> bool) -> Vec<&'static str> {
    let plans = plans(bundle, property);
    plans.into_iter().map(|(key, _)| key).collect()
}

/// The fields with this property, source by source, as far as the bundle holds them.
fn plans(bundle: &Bundle, property: fn(&Field) -> bool) -> Vec<(&'static str, Vec<&'static str>)> {
    let plan = |(source, facts)| {
        let listing = Listing::of_source(bundle, source, facts);
        (source.key, listing.columns_with(property))
    };
    bundle.sources().map(plan).filter(|(_, fields)| !fields.is_empty()).collect()
}

/// The names of the fields with this property, each once; only of sources that have a field with
/// the other property, too.
pub fn fields(
    bundle: &Bundle,
    property: fn(&Field) -> bool,
    of_sources_with: fn(&Field) -> bool,
) -> Vec<&'static str> {
    let sources = sources_with(bundle, of_sources_with);
    let plans = plans(bundle, property).into_iter().filter(|(key, _)| sources.contains(key));
    let mut names: Vec<&str> = plans.flat_map(|(_, fields)| fields).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// `bills (status, congress); amendments (…)`.
pub fn describe_fields(bundle: &Bundle, property: fn(&Field) -> bool) -> String {
    let plans = plans(bundle, property).into_iter();
    plans
        .map(|(key, fields)| format!("{key} ({})", fields.join(", ")))
        .collect::<Vec<_>>()
        .join("; ")
}

/// Values that are listed of a field; of a field with more, none.
const MOST_LISTED: usize = 9;

/// The fields by which records can be filtered, source by source, with the values of small
/// vocabularies: `bills: congress*, type* (hr, s …), …`. A star marks those to group by.
pub fn filter_fields(bundle: &Bundle) -> String {
    let sources = bundle.sources().map(|(source, facts)| {
        let listing = Listing::of_source(bundle, source, facts);
        format!("{}: {}", source.key, describe_filters(&listing))
    });
    sources.collect::<Vec<_>>().join(". ")
}

/// The fields by which the rows of a sub-resource can be filtered.
pub fn row_filter_fields(bundle: &Bundle, key: &str, name: &str) -> String {
    let listing = bundle.source(key).and_then(|(source, _)| {
        Listing::of_sub_resource(bundle, source, source.sub_resource(name)?)
    });
    listing.map_or_else(String::new, |listing| format!(": {}", describe_filters(&listing)))
}

fn describe_filters(listing: &Listing) -> String {
    // Of a source, the fields that questions are about; addresses and ids elsewhere are many.
    let is_telling = |field: &Field| {
        field.group || field.sum || field.time || !matches!(field.kind, Kind::Keyword)
    };
    let is_shown = |field: &&Field| {
        let is_meta = ["id", "source", "outside_bundle", "text_status"].contains(&field.name);
        field.can_filter() && !is_meta && (listing.facts.is_none() || is_telling(field))
    };
    let describe = |field: &Field| {
        let known = listing.values(field.name).map(|v| v.iter().map(String::as_str).collect());
        let values: Vec<&str> = known.unwrap_or_else(|| field.vocabulary.to_vec());
        let are_short = values.iter().map(|value| value.len()).sum::<usize>() <= 60;
        let mark = if field.group && listing.facts.is_some() { "*" } else { "" };
        match (1..=MOST_LISTED).contains(&values.len()) && are_short {
            true => format!("{}{mark} ({})", field.name, values.join(", ")),
            false => format!("{}{mark}", field.name),
        }
    };
    listing.columns.iter().filter(is_shown).map(describe).collect::<Vec<_>>().join(", ")
}

/// Sub-resources of rows, which `list_records` lists with `of`.
pub fn row_lists(bundle: &Bundle) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for (source, _) in bundle.sources() {
        for sub in source.sub_resources {
            let is_rows = matches!(sub.kind, SubResourceKind::Rows(_));
            let is_held = Listing::of_sub_resource(bundle, source, sub).is_some();
            if is_rows && is_held && !names.contains(&sub.name) {
                names.push(sub.name);
            }
        }
    }
    names
}

/// What `list_records` lists: sources, and sub-resources of a record.
pub fn listable(bundle: &Bundle) -> Vec<&'static str> {
    let mut names = sources(bundle);
    for name in row_lists(bundle) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
