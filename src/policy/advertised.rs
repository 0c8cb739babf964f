//! What the open bundle lets tools, prompts and guides offer: its sources, fields and sections.

use super::query::Listing;
use super::search::{searchable_sources, sources_with_vectors};
use crate::bundle::Bundle;
use crate::catalog::{Field, Shape, Source};

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
