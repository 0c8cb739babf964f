//! What tools give back, as JSON Schema. Fields without a value may be left out, so few are required.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::offer::Offer;
use crate::catalog::{self, Field, Kind, SubKind, spec};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// One record of a source.
    Record(&'static str),
    /// A page of a sub-resource.
    Rows(&'static str, &'static str),
    Results,
    Document,
    Matches,
    Numbers,
    Dossier(&'static str),
    Ping,
    Guide,
}

pub fn schema(output: Output, offer: &Offer) -> JsonObject {
    let (properties, required): (Value, &[&str]) = match output {
        Output::Record(key) => (json!({ "data": record(key), "citation": citation() }), &["data", "citation", "meta"]),
        Output::Rows(key, sub) => (page(rows(key, sub)), &["data", "total", "meta"]),
        Output::Results => (results(), &["results", "total", "took_ms", "meta"]),
        Output::Document => (document(), &["id", "title", "text", "url", "metadata", "data", "citation", "meta"]),
        Output::Matches => (page(matched()), &["data", "total", "meta"]),
        Output::Numbers => (numbers(), &["query_cost", "meta"]),
        Output::Dossier(key) => (sections(key, offer), &["data", "citation", "sections", "meta"]),
        Output::Ping => {
            (json!({ "status": text(), "version": text(), "bundle": any() }), &["status", "version", "bundle"])
        }
        Output::Guide => {
            (json!({ "guide_key": text(), "title": text(), "text": text() }), &["guide_key", "title", "text"])
        }
    };
    let mut schema = object(properties, required);
    if required.contains(&"meta") {
        schema["properties"]["meta"] = meta();
    }
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn whole() -> Value {
    json!({ "type": "integer" })
}

fn any() -> Value {
    json!({ "type": "object" })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn meta() -> Value {
    let bundle = object(json!({ "id": text(), "as_of": text() }), &["id", "as_of"]);
    object(json!({ "request_id": text(), "took_ms": whole(), "bundle": bundle }), &["request_id", "bundle", "took_ms"])
}

fn citation() -> Value {
    object(json!({ "text": text(), "url": text(), "as_of": text(), "source": text() }), &["text", "url"])
}

/// A field's values; each may be null.
fn field(field: &Field) -> Value {
    let kind = match field.kind {
        Kind::Text | Kind::Keyword | Kind::Id(_) => "string",
        Kind::Date => return json!({ "type": ["string", "null"], "format": "date", "description": field.about }),
        Kind::Int => "integer",
        Kind::Bool => "boolean",
        Kind::Keywords | Kind::Ids(_) => {
            return json!({ "type": ["array", "null"], "items": { "type": "string" }, "description": field.about });
        }
    };
    json!({ "type": [kind, "null"], "description": field.about })
}

fn fields(columns: &[Field], required: &[&str]) -> Value {
    let properties: Map<String, Value> = columns.iter().map(|c| (c.name.to_string(), field(c))).collect();
    object(Value::Object(properties), required)
}

pub fn record(key: &str) -> Value {
    catalog::source(key).map_or_else(any, |source| fields(&source.columns(), &["id", "source", source.title, "url"]))
}

fn rows(key: &str, sub: &str) -> Value {
    let kind = catalog::source(key).and_then(|source| source.sub(sub)).map(|sub| sub.kind);
    match kind {
        Some(SubKind::Rows(columns)) => fields(columns, &[]),
        Some(SubKind::Body) => fields(spec::BODY, &[]),
        Some(SubKind::Records { source, .. }) => record(source),
        _ => any(),
    }
}

fn page(items: Value) -> Value {
    json!({ "data": list(items), "total": whole(), "next_cursor": { "type": ["string", "null"] }, "contents": any() })
}

fn matched() -> Value {
    let score = json!({ "type": "number", "minimum": 0, "maximum": 1 });
    let fit = object(json!({ "score": score, "matched_on": text(), "name": text() }), &["score", "matched_on"]);
    object(json!({ "id": text(), "source": text(), "match": fit }), &["id", "source", "match"])
}

fn results() -> Value {
    let rank = json!({ "type": ["integer", "null"] });
    let result = object(
        json!({
            "id": text(), "source": text(), "title": text(), "url": text(), "date": { "type": ["string", "null"] },
            "snippet": text(), "section": text(), "heading": text(), "score": { "type": "number" },
            "ranks": object(json!({ "lexical": rank, "semantic": rank }), &[]), "citation": citation(),
        }),
        &["id", "source", "title", "url", "score", "citation"],
    );
    json!({ "results": list(result), "total": whole(), "took_ms": whole(), "next_cursor": text(), "degraded": any() })
}

fn document() -> Value {
    let strings = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    json!({
        "id": text(), "title": text(), "text": text(), "url": text(), "metadata": strings, "data": any(), "citation": citation(),
    })
}

fn numbers() -> Value {
    let one_or_two = json!({ "type": ["string", "null", "array"] });
    let bucket = object(json!({ "key": one_or_two, "label": one_or_two, "value": whole() }), &["value"]);
    json!({
        "value": whole(), "buckets": list(bucket), "total_buckets": whole(),
        "other": object(json!({ "buckets": whole(), "value": whole() }), &["value"]),
        "query_cost": object(json!({ "rows": whole(), "ms": whole() }), &["rows", "ms"]),
    })
}

fn sections(key: &str, offer: &Offer) -> Value {
    let part = object(
        json!({
            "total": whole(), "items": list(any()), "truncated": { "type": "boolean" },
            "more_url": { "type": ["string", "null"] }, "unavailable": text(),
        }),
        &["total", "truncated"],
    );
    let names = offer.sections(key).into_iter();
    let parts: Map<String, Value> = names.map(|name| (name.to_string(), part.clone())).collect();
    json!({ "data": record(key), "citation": citation(), "sections": { "type": "object", "properties": parts } })
}
