//! From an answer to a tool's result: once as structured content, once as text, never larger than an agent can take in.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};

use crate::error::Error;

/// Larger results are cut by hosts, silently.
pub const MOST_BYTES: usize = 100_000;

/// A result from a JSON answer. Without `full`, fields that hold nothing are left out.
pub fn result(mut answer: Value, is_full: bool) -> CallToolResult {
    if !is_full {
        make_concise(&mut answer);
    }
    let mut text = answer.to_string();
    if text.len() > MOST_BYTES {
        shorten(&mut answer, text.len());
        text = answer.to_string();
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(answer);
    result
}

/// An error of REST's as a tool's result: the message for whoever reads, the rest for whoever parses.
pub fn failure(error: &Error, request_id: &str) -> CallToolResult {
    let envelope = error.envelope(request_id);
    let said = &envelope["error"];
    let code = error.code.as_str();
    let hint = said["hint"]["next"].as_str().unwrap_or_default();
    let first = format!("{} [{code}, request {request_id}] {hint}", error.message);
    let mut result =
        CallToolResult::error(vec![ContentBlock::text(first), ContentBlock::text(format!("{code} {request_id}"))]);
    let mut meta = Map::new();
    for (name, value) in [
        ("error_code", &said["code"]),
        ("error_type", &said["type"]),
        ("request_id", &said["request_id"]),
        ("retryable", &said["retryable"]),
        ("hint", &said["hint"]),
    ] {
        meta.insert(name.into(), value.clone());
    }
    if let Some(field) = &error.field {
        meta.insert("field".into(), json!(field));
    }
    result.meta = Some(MetaObject::from(meta));
    result
}

/// Takes out nulls, empty strings, empty lists and empty objects.
fn make_concise(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            make_concise(value);
            // These say that there is nothing.
            matches!(name.as_str(), "data" | "results" | "items" | "buckets" | "sections") || !is_nothing(value)
        }),
        Value::Array(items) => items.iter_mut().for_each(make_concise),
        _ => {}
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Cuts the longest strings and lists until all of it fits, and says so.
fn shorten(answer: &mut Value, mut length: usize) {
    let note = format!(
        "Cut from {length} to at most {MOST_BYTES} bytes: ask for less with `limit`, `fields`, `section` or a narrower question."
    );
    let room = MOST_BYTES - note.len() - 100;
    while length > room {
        cut_largest(answer, length - room);
        let shorter = answer.to_string().len();
        if shorter >= length {
            break;
        }
        length = shorter;
    }
    if let Some(meta) = answer.get_mut("meta").and_then(Value::as_object_mut) {
        meta.insert("truncated".into(), json!(note));
    }
}

fn cut_largest(value: &mut Value, excess: usize) {
    match value {
        Value::String(text) => {
            let keep = text.floor_char_boundary(text.len().saturating_sub(excess + 16));
            text.truncate(keep);
            text.push_str(" […]");
        }
        Value::Array(items) => {
            let largest = items.iter_mut().max_by_key(|item| item.to_string().len());
            match largest {
                Some(item) if item.to_string().len() > excess => cut_largest(item, excess),
                _ => drop(items.split_off(items.len() / 2)),
            }
        }
        Value::Object(fields) => {
            if let Some((_, largest)) = fields.iter_mut().max_by_key(|(_, field)| field.to_string().len()) {
                cut_largest(largest, excess);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concise_leaves_out_what_holds_nothing_and_keeps_what_says_so() {
        let mut answer =
            json!({ "data": [], "a": null, "b": "", "c": [null, 1], "d": { "e": {} }, "n": 0, "f": false });
        make_concise(&mut answer);
        assert_eq!(answer, json!({ "data": [], "c": [null, 1], "n": 0, "f": false }));
    }

    #[test]
    fn a_large_answer_is_cut_loudly_and_stays_json() {
        for data in [
            json!("é".repeat(300_000)),
            json!(vec!["x".repeat(50); 9_000]),
            json!({ "a": [{ "b": "y".repeat(250_000) }] }),
        ] {
            let cut = result(json!({ "data": data, "meta": {} }), true).structured_content.unwrap();
            assert!(cut.to_string().len() <= MOST_BYTES, "{}", cut.to_string().len());
            assert!(cut["meta"]["truncated"].as_str().unwrap().contains("ask for less"));
        }
    }
}
