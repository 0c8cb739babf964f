//! One record: from an id as written to what the bundle holds.

use serde_json::{Value, json};

use crate::bundle::{Bundle, Entry};
use crate::catalog::ids::{self, FORMS, Parsed};
use crate::catalog::{self, Source};
use crate::error::{Code, Error, Result};

/// A record that was found.
pub struct Found<'a> {
    pub source: &'static Source,
    pub entry: Entry<'a>,
    /// How the id was written, where that was not its canonical form.
    pub asked: Option<String>,
}

/// Finds a record by an id of any source.
pub fn fetch<'a>(bundle: &'a Bundle, input: &str) -> Result<Found<'a>> {
    if let Some(found) = find_canonical(bundle, input) {
        return Ok(found);
    }
    let parsed = ids::parse(input).ok_or_else(|| unreadable(bundle, None, input))?;
    find(bundle, &parsed, input)
}

/// Finds a record by an id of one source.
pub fn find_in<'a>(bundle: &'a Bundle, source: &'static Source, input: &str) -> Result<Found<'a>> {
    if let Some(found) = find_canonical(bundle, input).filter(|found| found.source.key == source.key) {
        return Ok(found);
    }
    let parsed = ids::parse_for(source.key, input).ok_or_else(|| unreadable(bundle, Some(source), input))?;
    find(bundle, &parsed, input)
}

/// The record whose canonical id is exactly this: most requests, and they need no grammar.
fn find_canonical<'a>(bundle: &'a Bundle, input: &str) -> Option<Found<'a>> {
    let (number, entry) = bundle.records().by_id(input)?;
    bundle.check_whole().ok()?;
    Some(Found { source: bundle.source_of_number(number)?, entry, asked: None })
}

/// The canonical form of an id given as a filter's value. It need not be in the bundle.
pub fn canonical(bundle: &Bundle, source: &'static str, input: &str) -> Result<String> {
    let parsed = ids::parse_for(source, input).ok_or_else(|| unreadable(bundle, catalog::source(source), input))?;
    Ok(match &parsed {
        Parsed::Id(id) => id.text.clone(),
        Parsed::AnyCongress { .. } => {
            let newest = bundle.manifest.congresses.first().copied().unwrap_or_default();
            let held = newest_held(bundle, &parsed).map(|(id, _)| id);
            held.unwrap_or_else(|| parsed.in_congress(newest).text)
        }
    })
}

fn find<'a>(bundle: &'a Bundle, parsed: &Parsed, input: &str) -> Result<Found<'a>> {
    let found = match parsed {
        Parsed::Id(id) => bundle.records().by_id(&id.text).map(|(_, entry)| entry),
        Parsed::AnyCongress { .. } => newest_held(bundle, parsed).map(|(_, entry)| entry),
    };
    bundle.check_whole()?;
    match (found, catalog::source(parsed.source())) {
        (Some(entry), Some(source)) => {
            let asked = (entry.id != input).then(|| input.to_string());
            Ok(Found { source, entry, asked })
        }
        (_, source) => Err(missing(bundle, source, parsed, input)),
    }
}

/// The newest congress of the bundle that has this measure.
fn newest_held<'a>(bundle: &'a Bundle, parsed: &Parsed) -> Option<(String, Entry<'a>)> {
    bundle.manifest.congresses.iter().find_map(|congress| {
        let id = parsed.in_congress(*congress).text;
        bundle.records().by_id(&id).map(|(_, entry)| (id, entry))
    })
}

fn missing(bundle: &Bundle, source: Option<&'static Source>, parsed: &Parsed, input: &str) -> Error {
    let (key, one) = source.map_or(("", "record"), |s| (s.key, s.one));
    let name = match parsed {
        Parsed::Id(id) => id.text.clone(),
        Parsed::AnyCongress { .. } => input.to_string(),
    };
    let error = Error::new(Code::RecordNotFound, format!("This bundle holds no {one} {name}."));
    match bundle.manifest.source(key) {
        Some(facts) => {
            let covers = json!({ "source": key, "records": facts.records, "from": facts.from, "to": facts.to });
            error.hint("covers", covers).hint("list", format!("/v1/{key}"))
        }
        None => error.hint("covers", Value::Null).hint("next", "This bundle does not hold that source at all."),
    }
}

/// An id that can't be read, or that belongs to another source.
fn unreadable(bundle: &Bundle, source: Option<&'static Source>, input: &str) -> Error {
    let shown: String = input.chars().take(80).collect();
    if let (Some(source), Some(other)) = (source, ids::parse(input))
        && let Some(other) = catalog::source(other.source())
    {
        let message = format!("{shown:?} is the id of a {}, not of a {}.", other.one, source.one);
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
    FORMS
        .iter()
        .filter(|(key, _, _)| source.map_or(bundle.source(key).is_some(), |s| s.key == *key))
        .map(|(key, form, example)| json!({ "source": key, "form": form, "example": example }))
        .collect()
}
