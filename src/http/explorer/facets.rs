//! Facets beside a list or a search: each value with its count, as a link that narrows to it.

use maud::{Markup, html};
use serde_json::Value;

use super::address::{Query, one_value};
use super::values::{label, number, word};

/// Values shown before "all".
const SHOWN: usize = 10;

/// The parameters of an address that are not filters.
pub const NOT_FILTERS: [&str; 8] =
    ["q", "mode", "limit", "cursor", "sort", "fields", "facets", "format"];

/// Where the facets are: links keep the other parameters.
pub struct Facets<'a> {
    pub path: &'a str,
    pub query: &'a Query,
    /// Whether all values of a field can be shown as a chart at this path.
    pub has_charts: bool,
}

impl Facets<'_> {
    pub fn render(&self, answer: Option<&Value>) -> Markup {
        let facets = answer.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let text = |facet: &Value, name: &str| facet[name].as_str().unwrap_or_default().to_string();
        html! {
            @for facet in facets {
                @let field = text(facet, "field");
                @let values = facet["values"].as_array().map_or(&[][..], Vec::as_slice);
                @if let Some(why) = facet["left_out"].as_str() {
                    p .facet.soft { (label(&field)) ": left out. " (why) }
                } @else if values.len() > 1 {
                    (self.one(&field, values, facet["more"].as_u64().unwrap_or_default()))
                }
            }
        }
    }

    fn one(&self, field: &str, values: &[Value], more: u64) -> Markup {
        let shown = if field == "year" { values.len() } else { SHOWN.min(values.len()) };
        let hidden = more + (values.len() - shown) as u64;
        html! {
            details .facet open {
                summary { (label(field)) }
                ul {
                    @for value in &values[..shown] {
                        @let name = value["value"].as_str().unwrap_or_default();
                        @let count = value["count"].as_i64().unwrap_or_default();
                        li {
                            a href=(self.narrowed(field, name)) {
                                span { (readable(field, value["label"].as_str().unwrap_or(name))) }
                                span .n { (number(count)) }
                            }
                        }
                    }
                }
                @if hidden > 0 && self.has_charts && field != "year" {
                    a href=(self.all(field)) { "All " (number(values.len() as i64 + more as i64)) }
                } @else if hidden > 0 { span .soft { "and " (hidden) " more" } }
            }
        }
    }

    fn narrowed(&self, field: &str, value: &str) -> String {
        let query = self.query.without(&["cursor"]);
        let query = match field {
            "year" if !value.contains('-') => query
                .with("since", &format!("{value}-01-01"))
                .with("until", &format!("{value}-12-31")),
            _ => query.with(field, &one_value(value)),
        };
        query.at(self.path)
    }

    fn all(&self, field: &str) -> String {
        let filters = self.query.without(&["cursor", "sort", "fields", "limit", "facets"]);
        filters.with("group_by", field).at(self.path)
    }

    /// The filters that are set, each as a link that removes it.
    pub fn chips(&self) -> Markup {
        let set: Vec<(&str, &str)> =
            self.query.iter().filter(|(name, _)| !NOT_FILTERS.contains(name)).collect();
        html! {
            @if !set.is_empty() {
                ul .chips aria-label="Filters that are set" {
                    @for (name, value) in &set {
                        li {
                            a href=(self.query.without(&["cursor", name]).at(self.path))
                                aria-label=(format!("Remove {} {value}", label(name)))
                                { (chip(name)) " " (value.trim_matches('"')) " ×" }
                        }
                    }
                    @if set.len() > 1 {
                        @let names: Vec<&str> = set.iter().map(|(name, _)| *name).collect();
                        li {
                            a href=(self.query.without(&["cursor"]).without(&names).at(self.path))
                                { "Remove all" }
                        }
                    }
                }
            }
        }
    }
}

/// A value as a person reads it.
fn readable(field: &str, value: &str) -> String {
    match (field, value) {
        ("source", key) => label(key),
        (_, "true") => "yes".into(),
        (_, "false") => "no".into(),
        _ => word(value),
    }
}

/// A filter's name as a person says it: `amount.gte` is "Amount ≥".
fn chip(name: &str) -> String {
    let (field, sign) = match name.rsplit_once('.') {
        Some((field, "gte")) => (field, "≥"),
        Some((field, "gt")) => (field, ">"),
        Some((field, "lte")) => (field, "≤"),
        Some((field, "lt")) => (field, "<"),
        _ => (name, ":"),
    };
    let joint = if sign == ":" { "" } else { " " };
    format!("{}{joint}{sign}", label(field))
}
