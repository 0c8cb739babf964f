//! Schemas of the tools' results. Success and failure are both described by optional properties:
//! hosts differ in what they check. Members that may be null have no type.

use serde_json::{Map, Value, json};

use crate::boj::answer::{ENTRY_MEMBERS, SERIES_MEMBERS};

fn object(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn integer() -> Value {
    json!({ "type": "integer" })
}

/// A member that may be null.
fn nullable(about: &str) -> Value {
    json!({ "description": format!("{about}, or null") })
}

/// Properties of a result with those of a failure.
fn result(mut properties: Value) -> Value {
    for (name, schema) in [
        ("error_type", text()),
        ("message", text()),
        ("retryable", json!({ "type": "boolean" })),
        ("status", integer()),
        ("message_id", text()),
    ] {
        properties[name] = schema;
    }
    object(properties)
}

fn meta() -> Value {
    object(json!({
        "status": integer(), "message_id": text(), "message": text(), "date": text(),
        "origin": { "type": "string", "enum": ["bundle", "live"] }, "as_of": text(),
    }))
}

fn members(names: &[&[&str]]) -> Map<String, Value> {
    let names = names.concat();
    let mut all: Map<String, Value> =
        names.iter().map(|name| (name.to_lowercase(), nullable("Text"))).collect();
    all.insert("extras".into(), json!({ "type": "object" }));
    all
}

pub fn data() -> Value {
    let mut series = members(&[SERIES_MEMBERS]);
    let point = json!({ "survey_date": text(), "value": nullable("Text") });
    series.insert("points".into(), list(object(point)));
    result(json!({
        "meta": meta(),
        "parameter": { "type": "object" },
        "next_position": nullable("Pass it as start_position for the rest: an integer"),
        "series_count": integer(),
        "series": list(object(Value::Object(series))),
        "raw": text(),
        "truncated": { "type": "object", "description": "What is not there for want of room" },
    }))
}

pub fn metadata() -> Value {
    let entry = Value::Object(members(&[SERIES_MEMBERS, ENTRY_MEMBERS]));
    result(json!({
        "meta": meta(),
        "db": text(),
        "entries_count": integer(),
        "total_entries": integer(),
        "next_position": nullable("Pass it as start_position for the rest: an integer"),
        "entries": list(object(entry)),
        "raw": text(),
    }))
}

pub fn databases() -> Value {
    let database = json!({
        "code": text(), "category_ja": text(), "category_en": text(), "name_ja": text(),
        "name_en": text(),
    });
    result(json!({
        "source_document": text(), "source_date": text(), "count": integer(),
        "databases": list(object(database)),
    }))
}

pub fn parameters() -> Value {
    let requirements =
        object(json!({ "code_api": text(), "layer_api": text(), "metadata_api": text() }));
    let parameter = json!({
        "name": text(), "description_ja": text(), "allowed_values": list(text()),
        "requirements": requirements, "notes": list(text()),
    });
    let limit = json!({
        "api_scope": text(), "target": text(), "max_value": integer(), "overflow_behavior": text(),
    });
    result(json!({
        "source_document": text(), "source_date": text(), "endpoint_scope": text(),
        "general_notes": list(text()), "format_codes": list(text()),
        "language_codes": list(text()), "mcp_format_codes": list(text()),
        "mcp_language_codes": list(text()), "frequency_codes": list(text()),
        "layer_rules": list(text()), "parameters": list(object(parameter)),
        "limits": list(object(limit)),
    }))
}

pub fn messages() -> Value {
    let message = json!({
        "status": integer(), "message_id": text(), "message": text(), "message_en": text(),
        "note": nullable("Text"),
    });
    result(json!({
        "source_document": text(), "source_date": text(), "status_filter": nullable("Integer"),
        "count": integer(), "messages": list(object(message)),
    }))
}
