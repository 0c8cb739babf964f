//! What an answer says about itself: how names were read, why a list is empty, what is not covered.

use maud::{Markup, html};
use serde_json::Value;

use super::values::{label, number};
use crate::api::Notes;

pub fn notes(notes: &Notes) -> Markup {
    html! {
        @for understood in &notes.understood {
            p .soft {
                (label(&understood.argument)) " “" (understood.given) "” was read as "
                (understood.name) " (" code { (understood.value) } ")."
            }
        }
        @if let Some(resolved) = &notes.resolved {
            p .soft { "“" (resolved.asked) "” was read as " code { (resolved.id) } "." }
        }
        @for unknown in &notes.unknown_words {
            p .soft {
                "No text has “" (unknown.word) "”."
                @if let Some(meant) = &unknown.did_you_mean { " Did you mean “" (meant) "”?" }
            }
        }
        @for text in [&notes.not_covered, &notes.left_out].into_iter().flatten() {
            p .notice { (text) }
        }
        @if let Some(empty) = &notes.empty { (nothing(empty)) }
    }
}

/// Why there is nothing: each filter alone, the words that no text has, the nearest names.
fn nothing(empty: &Value) -> Markup {
    let members = empty.as_object().into_iter().flatten();
    let others = members.filter(|(name, _)| !["reason", "filters"].contains(&name.as_str()));
    html! {
        p { strong { (empty["reason"].as_str().unwrap_or("Nothing was found.")) } }
        @if let Some(filters) = empty["filters"].as_array() {
            ul {
                @for filter in filters {
                    @let count = |name: &str| filter[name].as_i64().map(number);
                    li {
                        code { (filter["filter"].as_str().unwrap_or_default()) }
                        // Lists and searches count differently.
                        @if let Some(alone) = count("matches_alone") { " alone: " (alone) }
                        @if let Some(leaves) = count("leaves") {
                            " leaves " (leaves) " to search"
                        }
                        @if let Some(others) = count("results_without_it") {
                            ", " (others) " found without it"
                        }
                    }
                }
            }
        }
        @for (name, value) in others { p .soft { (label(name)) ": " (plain(value)) } }
    }
}

/// Any value in one line.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let shown = fields.iter().filter(|(_, value)| !value.is_null());
            let pairs = shown.map(|(name, value)| format!("{}: {}", label(name), plain(value)));
            pairs.collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}
