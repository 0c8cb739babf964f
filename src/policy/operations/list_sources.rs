//! What this bundle holds.

use serde_json::{Value, json};

use crate::api::{Cost, Endpoint, Operation, Outcome, Scope};
use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::Source;
use crate::policy::{coverage, schemas};

pub const OPERATION: Operation = Operation {
    name: "list_sources",
    title: "List sources",
    about: "The sources of this bundle with their counts and dates",
    route: Some("/v1/sources"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| {
        vec![Endpoint {
            path: "/v1/sources".into(),
            id: "list_sources".into(),
            summary: "The sources of this bundle with their counts and dates".into(),
            parameters: Vec::new(),
            output: schemas::value(json!({ "type": "array", "items": { "type": "object" } })),
        }]
    },
    tools: &[],
    run: |arguments, context| {
        arguments.finish(&[])?;
        Ok(Outcome::typed(json!({ "data": sources(&context.bundle) })))
    },
};

pub fn sources(bundle: &Bundle) -> Vec<Value> {
    bundle.sources().map(|(source, facts)| summary(source, facts)).collect()
}

pub fn summary(source: &Source, facts: &SourceFacts) -> Value {
    let mut out = json!({
        "key": source.key,
        "shape": source.shape.name(),
        "about": source.about,
        "records": facts.records,
        "from": facts.from,
        "to": facts.to,
        "coverage": coverage::summary(source, facts),
        "main_date": source.main_date,
        "list": format!("/v1/{}", source.key),
    });
    if facts.summaries > 0 {
        // Records whose text is not the official wording.
        out["summaries"] = json!(facts.summaries);
    }
    out
}
