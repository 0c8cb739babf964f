//! Resources: guides to read once, schemas, and the catalog of the open bundle.

use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::offer::Offer;
use crate::error::Code;
use crate::record;
use crate::service;

/// A guide, served by `get_guide` and as a resource.
pub struct Guide {
    pub key: &'static str,
    pub title: &'static str,
    text: &'static str,
}

pub const GUIDES: &[Guide] = &[
    Guide {
        key: "choosing-a-tool",
        title: "Choosing a tool",
        text: include_str!("../../assets/guides/choosing-a-tool.md"),
    },
    Guide { key: "ids", title: "Writing ids", text: include_str!("../../assets/guides/ids.md") },
    Guide { key: "filters", title: "Filters, sorting and pages", text: include_str!("../../assets/guides/filters.md") },
    Guide { key: "bill-text", title: "Reading bill text", text: include_str!("../../assets/guides/bill-text.md") },
    Guide { key: "citing", title: "Citing", text: include_str!("../../assets/guides/citing.md") },
];

impl Guide {
    pub fn find(key: &str) -> Option<&'static Guide> {
        GUIDES.iter().find(|guide| guide.key == key)
    }

    /// The text with the bundle's own sources in it.
    pub fn text(&self, offer: &Offer) -> String {
        self.text
            .replace("{searchable}", &offer.searchable().join(", "))
            .replace("{meaningful}", &offer.meaningful().join(", "))
            .replace("{registries}", &offer.registries().join(", "))
            .replace("{ids}", &ids(offer))
            .replace("{as_of}", &offer.bundle.manifest.as_of)
    }
}

fn ids(offer: &Offer) -> String {
    let forms = crate::catalog::ids::FORMS.iter().filter(|(key, _, _)| offer.bundle.source(key).is_some());
    forms.map(|(key, form, example)| format!("- {key}: `{form}`, for example `{example}`\n")).collect()
}

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

pub fn list(offer: &Offer) -> Vec<Resource> {
    let new = |uri: String, name: &str, about: &str, mime: &str| {
        Resource::new(uri, name).with_title(name).with_description(about).with_mime_type(mime)
    };
    let mut all: Vec<Resource> = GUIDES
        .iter()
        .map(|g| new(format!("josh://guides/{}", g.key), g.title, "A guide to using this server", MARKDOWN))
        .collect();
    all.push(new("josh://catalog/sources".into(), "Sources", "What this bundle holds: sources, counts, dates", JSON));
    all.push(new("josh://capabilities".into(), "Capabilities", "Version, bundle, tools and limits", JSON));
    all.extend(offer.bundle.sources().map(|(source, _)| {
        new(format!("josh://schemas/{}", source.key), &format!("Schema of {}", source.key), source.about, JSON)
    }));
    all
}

pub fn templates() -> Vec<ResourceTemplate> {
    let new = |template: &str, name: &str, about: &str| {
        ResourceTemplate::new(template, name).with_title(name).with_description(about).with_mime_type(JSON)
    };
    vec![
        new("josh://records/{id}", "Record", "Any record by its id, with its citation"),
        new(
            "josh://catalog/fields/{source}",
            "Fields of a source",
            "Fields, filters, sorts, values and aggregation plan",
        ),
        new("josh://catalog/errors/{code}", "Error code", "What an error code means and what to do about it"),
    ]
}

/// The contents of a resource, or nothing if there is none with this address.
pub fn read(offer: &Offer, uri: &str) -> Option<ResourceContents> {
    let (mime, text) = match uri.strip_prefix("josh://")?.split_once('/') {
        Some(("guides", key)) => (MARKDOWN, Guide::find(key)?.text(offer)),
        Some(("schemas", key)) => (JSON, schema(offer, key)?.to_string()),
        Some(("catalog", "sources")) => (JSON, Value::from(service::list_sources(&offer.bundle)).to_string()),
        Some(("catalog", rest)) => match rest.split_once('/')? {
            ("fields", key) => (JSON, service::get_source(&offer.bundle, key).ok()?.to_string()),
            ("errors", code) => (JSON, error(code)?.to_string()),
            _ => return None,
        },
        Some(("records", id)) => (JSON, one_record(offer, id)?),
        None if uri == "josh://capabilities" => (JSON, capabilities(offer).to_string()),
        _ => return None,
    };
    Some(ResourceContents::text(text, uri).with_mime_type(mime))
}

fn schema(offer: &Offer, key: &str) -> Option<Value> {
    let (source, _) = offer.bundle.source(key)?;
    let mut schema = super::output::record(source.key);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(source.key);
    Some(schema)
}

fn error(code: &str) -> Option<Value> {
    let code = Code::ALL.iter().find(|c| c.as_str() == code)?;
    Some(json!({
        "code": code.as_str(), "status": code.status(), "type": code.kind(), "retryable": code.retryable(), "next": code.about(),
    }))
}

fn one_record(offer: &Offer, id: &str) -> Option<String> {
    let id = percent_encoding::percent_decode_str(id).decode_utf8().ok()?;
    let found = record::fetch(&offer.bundle, &id).ok()?;
    Some(format!("{{\"data\":{},\"citation\":{}}}", found.entry.data, found.entry.citation))
}

fn capabilities(offer: &Offer) -> Value {
    let manifest = &offer.bundle.manifest;
    json!({
        "name": "josh",
        "version": env!("CARGO_PKG_VERSION"),
        "bundle": { "id": manifest.id, "as_of": manifest.as_of, "data_version": manifest.data_version },
        "tools": offer.tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(),
        "search": { "lexical": offer.searchable(), "semantic": if offer.bundle.has_vectors() { offer.meaningful() } else { Vec::new() } },
        "most_bytes_a_result": super::reply::MOST_BYTES,
        "read_only": true,
    })
}
