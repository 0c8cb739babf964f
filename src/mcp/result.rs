//! From an outcome to a tool's result: once as structured content, once as text, never larger than
//! an agent can take in.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};

use super::ResultJson;
use crate::api::outcome::{Form, MOST_RESULT_BYTES};
use crate::api::{CallerInfo, Error, Meta, Outcome, Result};
use crate::bundle::Bundle;

/// Room for what surrounds the items of a list.
const ENVELOPE_BYTES: usize = 2_000;

/// The result of a call. Without `is_full`, fields that hold nothing are left out, and what is true
/// of all results is said once. Where the surface takes the JSON, structured content is an empty
/// string.
pub fn success(
    mut outcome: Outcome,
    bundle: &Bundle,
    caller: &CallerInfo,
    is_full: bool,
    json: Option<&ResultJson>,
) -> Result<CallToolResult> {
    if matches!(outcome.form, Form::Verbatim | Form::Failed) {
        // Not ours to change.
        let mut text = Vec::new();
        outcome.output.write_json(&mut text)?;
        let text = String::from_utf8(text).map_err(Error::internal)?;
        bundle.ensure_intact()?;
        let mut result = with_json(text, json, || Ok(outcome.output.into_value()?.into()))?;
        result.is_error = Some(outcome.form == Form::Failed);
        return Ok(result);
    }
    let most = MOST_RESULT_BYTES - ENVELOPE_BYTES;
    if let Some((shorter, shown)) = outcome.output.shortened(most) {
        outcome.output = shorter;
        outcome.notes.shown = Some(shown);
    }
    let mut fields = outcome.output.into_value()?;
    let meta = Meta::new(&caller.request_id, bundle, caller.started, &outcome.notes);
    fields.insert("meta".into(), serde_json::to_value(meta).map_err(Error::internal)?);
    bundle.ensure_intact()?;
    let (value, text) = encode(Value::Object(fields), is_full || outcome.form == Form::Whole)?;
    let mut result = with_json(text, json, || Ok(value))?;
    if let Some(failure) = &outcome.failure {
        let told = self::failure(failure, &caller.request_id);
        result.is_error = Some(true);
        result.meta = told.meta;
    }
    // Pictures first: what follows is about them.
    let images = outcome.images.into_iter();
    let images = images.map(|image| ContentBlock::image(image.base64, image.mime));
    result.content = images.chain(result.content).collect();
    Ok(result)
}

/// A result with the same JSON as text and as structured content.
fn with_json(
    text: String,
    json: Option<&ResultJson>,
    tree: impl FnOnce() -> Result<Value>,
) -> Result<CallToolResult> {
    let structured = match json {
        Some(json) => {
            json.get_or_init(|| text.clone());
            Value::String(String::new())
        }
        None => tree()?,
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    Ok(result)
}

/// A value as JSON, without the formatter that its `to_string` writes through.
fn json_text(value: &Value) -> Result<String> {
    serde_json::to_string(value).map_err(Error::internal)
}

/// A result of ours as an agent should see it, and its JSON.
fn encode(mut value: Value, is_full: bool) -> Result<(Value, String)> {
    remove_empty(&mut value, is_full);
    if !is_full {
        say_once(&mut value);
    }
    let mut text = json_text(&value)?;
    if text.len() > MOST_RESULT_BYTES {
        shorten(&mut value, text.len());
        text = json_text(&value)?;
    }
    Ok((value, text))
}

/// An error as a tool's result: the message for readers, the rest for programs.
pub fn failure(error: &Error, request_id: &str) -> CallToolResult {
    let envelope = error.envelope(request_id);
    let body = &envelope["error"];
    let code = error.code.as_str();
    let hint = body["hint"]["next"].as_str().unwrap_or_default();
    let first = format!("{} [{code}, request {request_id}] {hint}", error.message);
    let second = format!("{code} {request_id}");
    let content = vec![ContentBlock::text(first), ContentBlock::text(second)];
    let mut result = CallToolResult::error(content);
    let mut meta = Map::new();
    for (name, value) in [
        ("error_code", &body["code"]),
        ("error_type", &body["type"]),
        ("request_id", &body["request_id"]),
        ("retryable", &body["retryable"]),
        ("hint", &body["hint"]),
    ] {
        meta.insert(name.into(), value.clone());
    }
    if let Some(field) = &error.field {
        meta.insert("field".into(), json!(field));
    }
    result.meta = Some(MetaObject::from(meta));
    result
}

/// Takes out nulls, which output schemas do not allow for, and unless all of it is wanted empty
/// strings, lists and objects, too.
fn remove_empty(value: &mut Value, is_full: bool) {
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            remove_empty(value, is_full);
            // An empty one of these says that there is nothing.
            let is_telling =
                matches!(name.as_str(), "data" | "results" | "items" | "buckets" | "sections");
            if is_full { !value.is_null() } else { is_telling || !is_empty(value) }
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| remove_empty(item, is_full)),
        _ => {}
    }
}

/// Reduces the citation of each result to how it is cited: its `url` is the result's, the day is
/// `meta.bundle.as_of`, a note is announced by `text_status` and `meta.notice`, and who publishes
/// each source is in `meta.publishers`.
fn say_once(answer: &mut Value) {
    let mut publishers = Map::new();
    let results = answer.get_mut("results").and_then(Value::as_array_mut);
    for result in results.into_iter().flatten() {
        let Some(fields) = result.as_object_mut() else { continue };
        let Some(Value::Object(mut citation)) = fields.remove("citation") else { continue };
        if let (Some(Value::String(source)), Some(publisher)) =
            (fields.get("source"), citation.remove("source"))
        {
            publishers.insert(source.clone(), publisher);
        }
        citation.retain(|name, value| match name.as_str() {
            "as_of" | "note" => false,
            "url" => fields.get("url") != Some(value),
            _ => true,
        });
        fields.insert("citation".into(), Value::Object(citation));
    }
    if let Some(meta) = answer.get_mut("meta").and_then(Value::as_object_mut)
        && !publishers.is_empty()
    {
        meta.insert("publishers".into(), Value::Object(publishers));
    }
}

fn is_empty(value: &Value) -> bool {
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
        "Cut from {length} to at most {MOST_RESULT_BYTES} bytes: ask for less with `limit`, \
         `fields`, `section` or a narrower question."
    );
    let room = MOST_RESULT_BYTES - note.len() - 100;
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
    let size = |value: &Value| value.to_string().len();
    match value {
        Value::String(text) => {
            let keep = text.floor_char_boundary(text.len().saturating_sub(excess + 16));
            text.truncate(keep);
            text.push_str(" […]");
        }
        Value::Array(items) => match items.iter_mut().max_by_key(|item| size(item)) {
            Some(item) if size(item) > excess => cut_largest(item, excess),
            _ => drop(items.split_off(items.len() / 2)),
        },
        Value::Object(fields) => {
            if let Some((_, largest)) = fields.iter_mut().max_by_key(|(_, field)| size(field)) {
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
    fn a_concise_result_leaves_out_what_is_empty_and_keeps_what_says_so() {
        let mut answer = json!({
            "data": [], "a": null, "b": "", "c": [null, 1], "d": { "e": {} }, "n": 0, "f": false,
        });
        let mut full = answer.clone();
        remove_empty(&mut answer, false);
        assert_eq!(answer, json!({ "data": [], "c": [null, 1], "n": 0, "f": false }));
        remove_empty(&mut full, true);
        assert_eq!(
            full,
            json!({ "data": [], "b": "", "c": [null, 1], "d": { "e": {} }, "n": 0, "f": false })
        );
    }

    #[test]
    fn what_all_results_share_is_said_once() {
        let result = |id: &str, url: &str| {
            json!({ "id": id, "source": "bills", "url": url, "citation": { "text": id,
                "url": "https://example.gov/1", "as_of": "2026-09-14", "source": "A publisher",
                "note": "A summary." } })
        };
        let results = [result("1", "https://example.gov/1"), result("2", "https://example.gov/2")];
        let mut answer = json!({ "results": results, "meta": {} });
        say_once(&mut answer);
        assert_eq!(answer["results"][0]["citation"], json!({ "text": "1" }));
        let other = json!({ "text": "2", "url": "https://example.gov/1" });
        assert_eq!(answer["results"][1]["citation"], other);
        assert_eq!(answer["meta"]["publishers"], json!({ "bills": "A publisher" }));
    }

    #[test]
    fn a_large_result_is_cut_loudly_and_stays_json() {
        for data in [
            json!("é".repeat(300_000)),
            json!(vec!["x".repeat(50); 9_000]),
            json!({ "a": [{ "b": "y".repeat(250_000) }] }),
        ] {
            let (cut, text) = encode(json!({ "data": data, "meta": {} }), true).unwrap();
            assert!(text.len() <= MOST_RESULT_BYTES, "{}", text.len());
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), cut);
            assert!(cut["meta"]["truncated"].as_str().unwrap().contains("ask for less"));
        }
    }
}
