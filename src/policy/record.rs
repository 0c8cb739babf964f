//! One record: from an id as people write it to what the bundle holds.

use serde_json::{Value, json};

use super::coverage;
use crate::api::{Code, Error, Resolved, Result};
use crate::bundle::{Bundle, RecordEntry, SourceFacts};
use crate::catalog::ids::{self, Parsed};
use crate::catalog::{self, SOURCES, Source};

/// A record of the bundle.
pub struct FoundRecord<'a> {
    pub source: &'static Source,
    pub number: usize,
    pub entry: RecordEntry<'a>,
    /// How the id was written, where that was not its canonical form.
    pub asked: Option<String>,
}

impl FoundRecord<'_> {
    /// What `meta.resolved` says about the id.
    pub fn resolved(&self) -> Option<Resolved> {
        let asked = self.asked.clone()?;
        Some(Resolved { asked, id: self.entry.id.to_string() })
    }
}

/// The source with this key, if this bundle holds it.
pub fn require_source<'a>(
    bundle: &'a Bundle,
    key: &str,
) -> Result<(&'static Source, &'a SourceFacts)> {
    bundle.source(key).ok_or_else(|| {
        let shown: String = key.chars().take(60).collect();
        Error::new(Code::UnknownSource, format!("This bundle holds no source {shown:?}."))
            .suggest(&shown, bundle.sources().map(|(source, _)| source.key))
    })
}

/// Finds a record by an id of any source.
pub fn fetch<'a>(bundle: &'a Bundle, input: &str) -> Result<FoundRecord<'a>> {
    if let Some(found) = find_canonical(bundle, input) {
        return Ok(found);
    }
    let parsed = ids::parse(input).ok_or_else(|| unreadable(bundle, None, input))?;
    find(bundle, &parsed, input)
}

/// Finds a record by an id of one source.
pub fn find_in<'a>(
    bundle: &'a Bundle,
    source: &'static Source,
    input: &str,
) -> Result<FoundRecord<'a>> {
    if let Some(found) = find_canonical_in(bundle, source, input) {
        return Ok(found);
    }
    let parsed =
        ids::parse_for(source.key, input).ok_or_else(|| unreadable(bundle, Some(source), input))?;
    find(bundle, &parsed, input)
}

/// The same where an id is only one of the things that the input may be: no error is made.
pub fn known_in<'a>(
    bundle: &'a Bundle,
    source: &'static Source,
    input: &str,
) -> Option<FoundRecord<'a>> {
    find_canonical_in(bundle, source, input)
        .or_else(|| find(bundle, &ids::parse_for(source.key, input)?, input).ok())
}

fn find_canonical_in<'a>(
    bundle: &'a Bundle,
    source: &'static Source,
    input: &str,
) -> Option<FoundRecord<'a>> {
    find_canonical(bundle, input).filter(|found| found.source.key == source.key)
}

/// The record whose canonical id is exactly this: most requests, and they need no grammar.
fn find_canonical<'a>(bundle: &'a Bundle, input: &str) -> Option<FoundRecord<'a>> {
    let (number, entry) = bundle.records().by_id(input)?;
    bundle.ensure_intact().ok()?;
    Some(FoundRecord { source: bundle.source_of_number(number)?, number, entry, asked: None })
}

/// The canonical form of an id given as a filter's value. It need not be in the bundle.
pub fn canonical(bundle: &Bundle, source: &'static str, input: &str) -> Result<String> {
    let parsed = ids::parse_for(source, input)
        .ok_or_else(|| unreadable(bundle, catalog::source(source), input))?;
    Ok(match &parsed {
        Parsed::Id(id) => id.text.clone(),
        Parsed::AnyCongress { .. } => {
            let newest = bundle.manifest.congresses.first().copied().unwrap_or_default();
            let found = self::newest(bundle, &parsed).map(|(_, entry)| entry.id.to_string());
            found.unwrap_or_else(|| parsed.in_congress(newest).text)
        }
    })
}

fn find<'a>(bundle: &'a Bundle, parsed: &Parsed, input: &str) -> Result<FoundRecord<'a>> {
    let found = match parsed {
        Parsed::Id(id) => bundle.records().by_id(&id.text),
        Parsed::AnyCongress { .. } => newest(bundle, parsed),
    };
    if found.is_none() {
        // A file written to in place may hide a record that is there.
        bundle.mark_changed_in_place();
    }
    bundle.ensure_intact()?;
    match (found, catalog::source(parsed.source())) {
        (Some((number, entry)), Some(source)) => {
            let asked = (entry.id != input).then(|| input.to_string());
            Ok(FoundRecord { source, number, entry, asked })
        }
        (_, source) => Err(missing(bundle, source, parsed, input)),
    }
}

/// The newest congress of the bundle that has this measure.
fn newest<'a>(bundle: &'a Bundle, parsed: &Parsed) -> Option<(usize, RecordEntry<'a>)> {
    let congresses = bundle.manifest.congresses.iter();
    congresses.map(|c| parsed.in_congress(*c).text).find_map(|id| bundle.records().by_id(&id))
}

fn missing(
    bundle: &Bundle,
    source: Option<&'static Source>,
    parsed: &Parsed,
    input: &str,
) -> Error {
    let (key, one) = source.map_or(("", "record"), |s| (s.key, s.singular));
    let name = match parsed {
        Parsed::Id(id) => id.text.clone(),
        Parsed::AnyCongress { .. } => input.to_string(),
    };
    let error = Error::new(Code::RecordNotFound, format!("This bundle holds no {one} {name}."));
    match (source, bundle.manifest.source(key)) {
        (Some(source), Some(facts)) => error
            .hint("covers", coverage::hint(source, facts, &name))
            .hint("list", format!("/v1/{key}")),
        _ => error
            .hint("covers", Value::Null)
            .hint("next", "This bundle does not hold that source at all."),
    }
}

/// An id that can't be read, or that belongs to another source.
fn unreadable(bundle: &Bundle, source: Option<&'static Source>, input: &str) -> Error {
    let shown: String = input.chars().take(80).collect();
    if let (Some(source), Some(other)) = (source, ids::parse(input))
        && let Some(other) = catalog::source(other.source())
    {
        let message =
            format!("{shown:?} is the id of a {}, not of a {}.", other.singular, source.singular);
        let error = Error::new(Code::UnrecognizedIdFormat, message);
        return error
            .hint("valid_prefixes", forms(bundle, Some(source)))
            .hint("use", format!("/v1/{}/{shown}", other.key));
    }
    let what = source.map_or("any source", |s| s.key);
    Error::new(Code::UnrecognizedIdFormat, format!("{shown:?} can't be read as an id of {what}."))
        .hint("valid_prefixes", forms(bundle, source))
}

fn forms(bundle: &Bundle, source: Option<&Source>) -> Vec<Value> {
    let shown = |s: &&Source| source.map_or(bundle.source(s.key).is_some(), |o| o.key == s.key);
    SOURCES
        .iter()
        .copied()
        .filter(shown)
        .map(|s| json!({ "source": s.key, "form": s.ids.form, "example": s.ids.example }))
        .collect()
}
