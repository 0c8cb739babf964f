//! JSON Schemas of what the operations give back: derived from the result types, with the fields
//! of the open bundle's sources filled in. OpenAPI and the tools' output schemas both come from
//! here.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::aggregate::Numbers;
use super::dossier::{DossierShape, available_sections};
use super::query::Listing;
use super::result::{DocumentShape, RecordShape};
use super::search::SearchResults;
use crate::api::page::PageShape;
use crate::bundle::Bundle;
use crate::catalog::{self, Field, Kind, Source, SubResourceKind};

/// How a record is cited.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "described for its schema, written as prepared parts")]
pub struct Citation {
    /// How a person would cite it
    pub text: String,
    /// The official page
    #[schemars(extend("format" = "uri"))]
    pub url: String,
    #[schemars(extend("format" = "date"))]
    pub as_of: String,
    /// Who publishes it
    pub source: String,
    /// That the text served is not the official wording and can't be quoted
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub note: Option<String>,
}

/// How well a name fits.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "described for its schema, written as prepared parts")]
pub struct Match {
    /// From 0 to 1
    pub score: f32,
    /// Which kind of name: name, nickname, acronym, id …
    pub matched_on: String,
    pub name: String,
}

/// The schemas of the result types, by name.
static SHAPES: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = SchemaGenerator::new(settings);
    generator.subschema_for::<PageShape>();
    generator.subschema_for::<RecordShape>();
    generator.subschema_for::<DocumentShape>();
    generator.subschema_for::<DossierShape>();
    generator.subschema_for::<SearchResults>();
    generator.subschema_for::<Numbers>();
    generator.subschema_for::<Match>();
    generator.take_definitions(true)
});

/// Every schema that an answer refers to: the result types, and the records of each source.
pub fn components(bundle: &Bundle) -> Map<String, Value> {
    let mut components = SHAPES.clone();
    for (known, _) in bundle.sources() {
        components.extend(source(bundle, known).map(|schema| (component_name(known), schema)));
    }
    components
}

/// The schema of a source's records, with the fields that this bundle holds.
pub fn source(bundle: &Bundle, source: &'static Source) -> Option<Value> {
    let (source, facts) = bundle.source(source.key)?;
    let listing = Listing::of_source(bundle, source, facts);
    let mut schema = fields(&listing.columns, &["id"]);
    schema["description"] = json!(source.about);
    Some(schema)
}

/// The name of a source's schema: `FederalRegister`.
fn component_name(source: &Source) -> String {
    source.key.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The schema of a result type. Surfaces add `meta`.
fn answer(shape: &str) -> Value {
    SHAPES.get(shape).cloned().unwrap_or_else(|| json!({ "type": "object" }))
}

/// A plain value: `{"data"}`.
pub fn value(data: Value) -> Value {
    json!({ "type": "object", "properties": { "data": data }, "required": ["data"] })
}

/// A record of any source.
pub fn any_record() -> Value {
    answer("RecordResult")
}

pub fn record(source: &Source) -> Value {
    let mut schema = answer("RecordResult");
    schema["properties"]["data"] = reference(&component_name(source));
    schema
}

/// A page of these items.
pub fn page(items: Value) -> Value {
    let mut schema = answer("Page");
    schema["properties"]["data"]["items"] = items;
    schema
}

pub fn records(source: &Source) -> Value {
    page(reference(&component_name(source)))
}

/// Records of a registry with how well their names fit.
pub fn matches() -> Value {
    page(json!({ "type": "object", "properties": {
        "id": { "type": "string" },
        "source": { "type": "string" },
        "match": reference("Match"),
    } }))
}

/// The items of a sub-resource: records of another source, or rows of its own.
pub fn sub_resource(source: &Source, name: &str) -> Value {
    let Some(sub) = source.sub_resource(name) else { return page(json!({ "type": "object" })) };
    match sub.kind {
        SubResourceKind::Records { source: other, .. } => {
            catalog::source(other).map_or_else(|| page(json!({ "type": "object" })), records)
        }
        SubResourceKind::Rows(columns) => page(fields(columns, &[])),
        SubResourceKind::Body => {
            let mut section = fields(catalog::spec::BODY, &[]);
            section["properties"]["found"] = json!({
                "type": "array",
                "items": { "type": "string" },
                "description": "With `find`, instead of the text: the sentences with the words",
            });
            page(section)
        }
        SubResourceKind::Toc => page(fields(catalog::spec::TOC, &[])),
    }
}

pub fn search_results() -> Value {
    answer("SearchResults")
}

pub fn document() -> Value {
    answer("Document")
}

pub fn numbers() -> Value {
    answer("Numbers")
}

/// A page of a sub-resource, or numbers over time.
pub fn rows_or_numbers(key: &str, name: &str) -> Value {
    let rows = catalog::source(key).map(|source| sub_resource(source, name));
    let mut schema = rows.unwrap_or_else(|| page(json!({ "type": "object" })));
    if let (Some(all), Value::Object(numbers)) =
        (schema["properties"].as_object_mut(), numbers()["properties"].take())
    {
        all.extend(numbers);
    }
    schema["required"] = json!([]);
    schema
}

/// A dossier with the sections that this bundle can fill.
pub fn dossier(bundle: &Bundle, source: &'static Source) -> Value {
    let mut schema = answer("Dossier");
    schema["properties"]["data"] = reference(&component_name(source));
    let sections = available_sections(bundle, source).into_iter();
    let properties: Map<String, Value> =
        sections.map(|name| (name.to_string(), reference("DossierSection"))).collect();
    schema["properties"]["sections"] = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": reference("DossierSection"),
    });
    schema
}

fn fields(columns: &[Field], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        columns.iter().map(|column| (column.name.to_string(), field(column))).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// A field's values; each may be null.
fn field(field: &Field) -> Value {
    let mut schema = match field.kind {
        Kind::Text | Kind::Keyword | Kind::Id(_) => json!({ "type": ["string", "null"] }),
        Kind::Keywords | Kind::Ids(_) => {
            json!({ "type": ["array", "null"], "items": { "type": "string" } })
        }
        Kind::Int => json!({ "type": ["integer", "null"] }),
        Kind::Number => json!({ "type": ["number", "null"] }),
        Kind::Bool => json!({ "type": ["boolean", "null"] }),
        Kind::Date => json!({ "type": ["string", "null"], "format": "date" }),
    };
    schema["description"] = json!(field.about);
    schema
}
