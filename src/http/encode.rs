//! Outcomes as bytes: JSON with `meta`, CSV, NDJSON, and what `export` makes of records.

use serde_json::{Map, Value, json};

use super::explorer::picture_of;
use super::export::{self, Feed};
use crate::api::outcome::{append, cell};
use crate::api::{Arguments, CallerInfo, Error, Image, Meta, Operation, Outcome, Output, Result};
use crate::bundle::Bundle;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Json,
    Csv,
    Ndjson,
    Atom,
    Bibtex,
    Ris,
    CslJson,
    ICalendar,
    Svg,
}

/// Whether the result is one record, which reference managers can read.
pub fn is_record(operation: &Operation) -> bool {
    ["get_record", "fetch"].contains(&operation.name)
}

impl Format {
    pub const NAMES: [(&'static str, Format); 9] = [
        ("json", Format::Json),
        ("csv", Format::Csv),
        ("ndjson", Format::Ndjson),
        ("atom", Format::Atom),
        ("bibtex", Format::Bibtex),
        ("ris", Format::Ris),
        ("csl", Format::CslJson),
        ("ics", Format::ICalendar),
        ("svg", Format::Svg),
    ];

    /// Whether a list in this format has no end but its own: a file to keep. JSON and feeds are
    /// read page by page.
    pub const fn is_whole(self) -> bool {
        !matches!(self, Format::Json | Format::Atom | Format::Svg)
    }

    /// Whether one record can't have this format.
    pub const fn is_of_lists(self) -> bool {
        matches!(self, Format::Csv | Format::Ndjson | Format::Svg)
    }

    pub const fn content_type(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Csv => "text/csv; charset=utf-8",
            Format::Ndjson => "application/x-ndjson",
            Format::Atom => "application/atom+xml; charset=utf-8",
            Format::Bibtex => "application/x-bibtex; charset=utf-8",
            Format::Ris => "application/x-research-info-systems; charset=utf-8",
            Format::CslJson => "application/vnd.citationstyles.csl+json",
            Format::ICalendar => "text/calendar; charset=utf-8",
            Format::Svg => "image/svg+xml",
        }
    }

    /// Takes `format` out of the arguments of a list.
    pub fn take(arguments: &mut Arguments) -> Result<Format> {
        let Some(given) = arguments.take_one("format")? else { return Ok(Format::Json) };
        let found = Format::NAMES.iter().find(|(name, _)| *name == given);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let error = Error::invalid("format", format!("`format` can't be {given:?}."));
            error.suggest(&given, Format::NAMES.map(|(name, _)| name))
        })
    }
}

/// The body of an answer; `feed` gives the server's address and the path of a feed.
pub fn body(
    outcome: &Outcome,
    format: Format,
    bundle: &Bundle,
    caller: &CallerInfo,
    feed: impl FnOnce() -> (String, String),
) -> Result<Vec<u8>> {
    match format {
        Format::Json => json(outcome, bundle, caller),
        Format::Atom => {
            let (base, path) = feed();
            let feed = Feed { base: &base, path: &path, as_of: &bundle.manifest.as_of };
            Ok(export::atom(export::entries(outcome, bundle)?, &feed).into_bytes())
        }
        Format::Svg => picture_of(&feed().1, &outcome.output.to_value()?).map(String::into_bytes),
        _ => part(outcome, format, bundle, Part { is_first: true, is_last: true }),
    }
}

/// Which part of a whole list this is.
#[derive(Clone, Copy)]
pub struct Part {
    pub is_first: bool,
    pub is_last: bool,
}

/// The items of a part of a list, with what stands before the first and after the last.
pub fn part(outcome: &Outcome, format: Format, bundle: &Bundle, part: Part) -> Result<Vec<u8>> {
    let entries = || export::entries(outcome, bundle);
    let text = match format {
        Format::Csv => return csv(outcome.output.as_ref(), part.is_first),
        Format::Bibtex => export::bibtex(&entries()?),
        Format::Ris => export::ris(&entries()?),
        Format::CslJson => export::csl(&entries()?, part),
        Format::ICalendar => export::ics(&entries()?, &bundle.manifest.as_of, part),
        _ => {
            let (_, items) = items(outcome.output.as_ref())?;
            return Ok(items.iter().flat_map(|item| [item.as_bytes(), b"\n"].concat()).collect());
        }
    };
    Ok(text.into_bytes())
}

fn json(outcome: &Outcome, bundle: &Bundle, caller: &CallerInfo) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    match outcome.images.is_empty() {
        true => outcome.output.write_json(&mut body)?,
        false => {
            let mut result = outcome.output.to_value()?;
            add_images(&mut result, &outcome.images);
            append(&mut body, &result)?;
        }
    }
    // The result is an object: `meta` becomes its last member.
    body.pop();
    body.extend_from_slice(if body.ends_with(b"{") { b"\"meta\":" } else { b",\"meta\":" });
    let meta = Meta::new(&caller.request_id, bundle, caller.started, &outcome.notes);
    append(&mut body, &meta)?;
    body.push(b'}');
    Ok(body)
}

/// Adds pictures as Base64.
pub fn add_images(result: &mut Map<String, Value>, images: &[Image]) {
    let shown = images.iter().map(
        |image| json!({ "title": image.title, "mime_type": image.mime, "data": image.base64 }),
    );
    result.insert("screenshots".into(), shown.collect());
}

type Items<'a> = (Vec<&'static str>, Vec<std::borrow::Cow<'a, str>>);

fn items(output: &dyn Output) -> Result<Items<'_>> {
    output
        .items()
        .ok_or_else(|| Error::invalid("format", "Only lists have other formats than JSON."))
}

/// A header line and a line per item.
fn csv(output: &dyn Output, has_header: bool) -> Result<Vec<u8>> {
    let (columns, items) = items(output)?;
    let mut writer = csv::Writer::from_writer(Vec::new());
    if has_header {
        writer.write_record(&columns).map_err(Error::internal)?;
    }
    for item in items {
        let record: Map<String, Value> = serde_json::from_str(&item).map_err(Error::internal)?;
        let cells = columns.iter().map(|column| record.get(*column).map(safe).unwrap_or_default());
        writer.write_record(cells).map_err(Error::internal)?;
    }
    writer.into_inner().map_err(Error::internal)
}

/// The cell of a value. Spreadsheets run a text that begins like a formula; an apostrophe before it
/// makes it a text to them.
fn safe(value: &Value) -> String {
    let text = cell(value);
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula && !value.is_number() { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for text in ["=1+1", "+1", "-cmd", "@sum(A1)", "\t=1", "\r=1"] {
            assert_eq!(safe(&json!(text)), format!("'{text}"));
        }
        assert_eq!(safe(&json!(["=1", "b"])), "'=1; b");
        for value in [json!(-12), json!("a=1"), json!(true), json!("2025-01-03")] {
            assert_eq!(safe(&value), cell(&value));
        }
    }
}
