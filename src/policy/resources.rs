//! Resources: guides to read once, schemas, and the catalog of the open bundle.

use serde_json::{Value, json};

use super::guides::GUIDES;
use super::operations::{OPERATIONS, get_source, list_sources};
use super::{advertised, record, schemas};
use crate::api::{Code, Context, Resource};
use crate::bundle::Bundle;

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

pub fn list(bundle: &Bundle) -> Vec<Resource> {
    let resource = |uri: String, title: &str, about: &str, mime| Resource {
        uri,
        title: title.to_string(),
        about: about.to_string(),
        mime,
    };
    let guide = "A guide to using this server";
    let guides = GUIDES
        .iter()
        .map(|g| resource(format!("josh://guides/{}", g.key), g.title, guide, MARKDOWN));
    let catalog = "What this bundle holds: sources, counts, dates";
    let capabilities = "Version, bundle, tools and limits";
    let fixed = [
        resource("josh://catalog/sources".into(), "Sources", catalog, JSON),
        resource("josh://capabilities".into(), "Capabilities", capabilities, JSON),
    ];
    let schemas = bundle.sources().map(|(source, _)| {
        let title = format!("Schema of {}", source.key);
        resource(format!("josh://schemas/{}", source.key), &title, source.about, JSON)
    });
    guides.chain(fixed).chain(schemas).collect()
}

pub const TEMPLATES: &[(&str, &str, &str, &str)] = &[
    ("josh://records/{id}", "Record", "Any record by its id, with its citation", JSON),
    (
        "josh://catalog/fields/{source}",
        "Fields of a source",
        "Fields, filters, sorts, values and aggregation plan",
        JSON,
    ),
    (
        "josh://catalog/errors/{code}",
        "Error code",
        "What an error code means and what to do about it",
        JSON,
    ),
];

/// The contents of a resource, or nothing if there is none with this address.
pub fn read(context: &Context, uri: &str) -> Option<(&'static str, String)> {
    let bundle = &context.bundle;
    Some(match uri.strip_prefix("josh://")?.split_once('/') {
        Some(("guides", key)) => {
            (MARKDOWN, GUIDES.iter().find(|guide| guide.key == key)?.text(bundle))
        }
        Some(("schemas", key)) => (JSON, schema(bundle, key)?.to_string()),
        Some(("catalog", "sources")) => {
            (JSON, Value::from(list_sources::sources(bundle)).to_string())
        }
        Some(("catalog", rest)) => match rest.split_once('/')? {
            ("fields", key) => (JSON, get_source::describe(bundle, key).ok()?.to_string()),
            ("errors", code) => (JSON, error(code)?.to_string()),
            _ => return None,
        },
        Some(("records", id)) => (JSON, one_record(bundle, id)?),
        None if uri == "josh://capabilities" => (JSON, capabilities(bundle).to_string()),
        _ => return None,
    })
}

fn schema(bundle: &Bundle, key: &str) -> Option<Value> {
    let (source, _) = bundle.source(key)?;
    let mut schema = schemas::source(bundle, source)?;
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(source.key);
    Some(schema)
}

fn error(code: &str) -> Option<Value> {
    let code = Code::ALL.iter().find(|c| c.as_str() == code)?;
    Some(json!({
        "code": code.as_str(),
        "status": code.status(),
        "type": code.kind(),
        "retryable": code.retryable(),
        "next": code.about(),
    }))
}

fn one_record(bundle: &Bundle, id: &str) -> Option<String> {
    let id = percent_encoding::percent_decode_str(id).decode_utf8().ok()?;
    let entry = record::fetch(bundle, &id).ok()?.entry;
    Some(format!("{{\"data\":{},\"citation\":{}}}", entry.data, entry.citation))
}

fn capabilities(bundle: &Bundle) -> Value {
    let manifest = &bundle.manifest;
    let tools = OPERATIONS.iter().flat_map(|operation| operation.tools);
    let tools = tools.filter(|tool| (tool.is_offered)(bundle));
    let (id, as_of, version) = (&manifest.id, &manifest.as_of, &manifest.data_version);
    let notice = &manifest.notice;
    json!({
        "name": "josh",
        "version": env!("CARGO_PKG_VERSION"),
        "bundle": { "id": id, "as_of": as_of, "data_version": version, "notice": notice },
        "tools": tools.map(|tool| tool.name).collect::<Vec<_>>(),
        "search": {
            "lexical": advertised::searchable(bundle),
            "semantic": advertised::with_vectors(bundle),
        },
        "most_bytes_a_result": crate::api::outcome::MOST_RESULT_BYTES,
        "read_only": true,
    })
}
