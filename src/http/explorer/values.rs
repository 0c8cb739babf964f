//! Values of fields as people read them: names for ids, links to records, dates that do not wrap.

use std::borrow::Cow;
use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::Value;
use serde_json::value::RawValue;

use super::address;
use crate::bundle::{Bundle, RecordEntry};
use crate::catalog::{self, Field, Kind};

/// Ids of a list that are shown with their names; more would fill the page.
const MOST_IN_LIST: usize = 12;

/// Words of field names that are written in capitals.
const CAPITALS: [&str; 14] = [
    "cbo", "cfr", "crs", "fec", "gao", "id", "icpsr", "lda", "lis", "rin", "sap", "url", "us",
    "zip",
];

/// `introduced_date` as a heading: "Introduced date".
pub fn label(name: &str) -> String {
    let name = name.replace("-dot-", ".");
    let words = name.split(['_', '-']).enumerate().map(|(at, word)| {
        if CAPITALS.contains(&word) {
            return word.to_uppercase();
        }
        if let Some(one) = word.strip_suffix('s').filter(|one| CAPITALS.contains(one)) {
            return format!("{}s", one.to_uppercase());
        }
        let mut letters = word.chars();
        match (at, letters.next()) {
            (0, Some(first)) => first.to_uppercase().chain(letters).collect(),
            _ => word.to_string(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The label of a field: what an id names is linked, so its label needs no "ID".
pub fn field_label(field: &Field) -> String {
    let name = match field.kind.target() {
        Some(_) => field.name.trim_end_matches("_ids").trim_end_matches("_id"),
        None => field.name,
    };
    label(name)
}

/// A value of few words: `passed_house` as "passed house".
pub fn word(value: &str) -> String {
    let is_code = value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit());
    if is_code { value.replace('_', " ") } else { value.to_string() }
}

/// 118422 as "118,422".
pub fn number(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if value < 0 { format!("-{out}") } else { out }
}

/// A number with or without decimals: 5526193008897.62 as "5,526,193,008,897.62".
pub fn amount(value: f64) -> String {
    let text = format!("{value:.4}");
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let grouped = whole.parse().map_or_else(|_| whole.to_string(), number);
    match decimals.trim_end_matches('0') {
        "" => grouped,
        // The sign of -0.5 is not in its whole part.
        rest if value < 0.0 && !grouped.starts_with('-') => format!("-{grouped}.{rest}"),
        rest => format!("{grouped}.{rest}"),
    }
}

/// The title of a record of this bundle.
pub fn title_of(bundle: &Bundle, id: &str) -> Option<String> {
    let (number, entry) = bundle.records().by_id(id)?;
    title(bundle, number, entry)
}

fn title(bundle: &Bundle, number: usize, entry: RecordEntry) -> Option<String> {
    let source = bundle.source_of_number(number)?;
    // Prepared where ids refer to the source's records.
    if let Ok(Some(columns)) = bundle.columns()
        && let Some(ord) = number.checked_sub(bundle.first_number(source))
        && let Some(title) = columns.title(&source.table(), ord)
    {
        return Some(title.to_string());
    }
    let fields: HashMap<&str, &RawValue> = serde_json::from_str(entry.data).ok()?;
    serde_json::from_str(fields.get(source.title)?.get()).ok()
}

/// Whether the records of a source are known by their names rather than by their ids.
pub fn has_names(source: &str) -> bool {
    catalog::source(source).is_some_and(|source| source.title == "name")
}

/// What a list holds, without the hints for programs that follow it in brackets.
pub fn for_people(about: &str) -> &str {
    about.split(" (`").next().unwrap_or(about)
}

/// A link to a record by its name, or its id where the bundle does not hold it.
pub fn record_link(bundle: &Bundle, source: &str, id: &str) -> Markup {
    let is_name = has_names(source);
    match bundle.records().by_id(id) {
        Some((number, entry)) => {
            let title = title(bundle, number, entry);
            let shown = title.as_deref().filter(|_| is_name).unwrap_or(id);
            html! { a href=(address::record(source, id)) title=[title.as_deref()] { (shown) } }
        }
        None => html! { span title="Not in this bundle" { (id) } },
    }
}

/// Whether there is nothing to show.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// The value of a field.
pub fn value(bundle: &Bundle, field: &Field, value: &Value) -> Markup {
    match (field.kind, value) {
        (_, Value::Null) => html! {},
        (_, Value::Array(items)) => html! {
            @for (at, item) in items.iter().take(MOST_IN_LIST).enumerate() {
                @if at > 0 { "; " }
                (one(bundle, field, item))
            }
            @if items.len() > MOST_IN_LIST { " and " (items.len() - MOST_IN_LIST) " more" }
        },
        _ => one(bundle, field, value),
    }
}

fn one(bundle: &Bundle, field: &Field, value: &Value) -> Markup {
    match (field.kind, value) {
        (Kind::Id(source) | Kind::Ids(source), Value::String(id)) => {
            record_link(bundle, source, id)
        }
        (Kind::Date, Value::String(day)) => html! { time datetime=(day) { (day) } },
        (_, Value::String(text)) if is_web(text) => official(text),
        (Kind::Keyword | Kind::Keywords, Value::String(text)) => html! { (word(text)) },
        (_, Value::String(text)) => html! { (text) },
        (_, Value::Bool(flag)) => html! { (if *flag { "yes" } else { "no" }) },
        (Kind::Int, Value::Number(n)) if !field.is_period() && field.sum => {
            html! { (number(n.as_i64().unwrap_or_default())) }
        }
        (_, other) => html! { (other.to_string()) },
    }
}

/// Whether a text is an address that a page may link to: a record could hold `javascript:`.
pub fn is_web(text: &str) -> bool {
    (text.starts_with("https://") || text.starts_with("http://")) && !text.contains(' ')
}

/// A link to somebody else's page.
pub fn official(url: &str) -> Markup {
    html! {
        @if is_web(url) { a href=(url) rel="noreferrer" { (url) } } @else { (url) }
    }
}

/// A snippet of the search: its own marks, everything else escaped anew.
pub fn snippet(text: &str) -> Markup {
    fn plain(part: &str) -> Cow<'_, str> {
        if !part.contains('&') {
            return Cow::Borrowed(part);
        }
        let plain = part.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        Cow::Owned(plain.replace("&#39;", "'").replace("&amp;", "&"))
    }
    html! {
        @for (at, part) in text.split("<mark>").enumerate() {
            @match (at, part.split_once("</mark>")) {
                (1.., Some((marked, rest))) => { mark { (plain(marked)) } (plain(rest)) }
                _ => (plain(part)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_read_well() {
        assert_eq!(label("introduced_date"), "Introduced date");
        assert_eq!(label("crs-reports"), "CRS reports");
        assert_eq!(label("regulations-dot-gov-dockets"), "Regulations.gov dockets");
        assert_eq!(label("saps"), "SAPs");
        assert_eq!(word("passed_house"), "passed house");
        assert_eq!(word("Public Law 119-21"), "Public Law 119-21");
        assert_eq!(
            [0, 999, 1000, 118_422, -1_234_567].map(number),
            ["0", "999", "1,000", "118,422", "-1,234,567"]
        );
    }

    #[test]
    fn only_the_searchs_own_marks_are_markup() {
        let shown = snippet("a <mark>b &amp; &lt;i&gt;</mark> &lt;script&gt; <img>").into_string();
        assert_eq!(shown, "a <mark>b &amp; &lt;i&gt;</mark> &lt;script&gt; &lt;img&gt;");
        assert!(official("javascript:alert(1)").into_string().starts_with("javascript"));
    }
}
