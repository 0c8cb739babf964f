//! Any record by its id, without naming its source.

use serde_json::json;

use super::get_record;
use crate::api::{Cost, Endpoint, Operation, Scope};
use crate::catalog::SOURCES;
use crate::policy::endpoints::{fields_parameter, path_parameter};
use crate::policy::{record, schemas};

pub const OPERATION: Operation = Operation {
    name: "fetch",
    title: "Fetch a record",
    about: "Any record by its id, however the id is written",
    route: Some("/v1/fetch/{id...}"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| {
        let examples: Vec<&str> = SOURCES.iter().map(|source| source.ids.example).collect();
        let id = path_parameter(
            "id",
            json!({ "type": "string", "examples": examples }),
            "An id of any source, however it is written; encode it",
        );
        vec![Endpoint {
            path: "/v1/fetch/{id}".into(),
            id: "fetch".into(),
            summary: "Any record by its id, however the id is written".into(),
            parameters: vec![id, fields_parameter()],
            output: schemas::any_record(),
        }]
    },
    tools: &[],
    run: |mut arguments, context| {
        let found = record::fetch(&context.bundle, &arguments.require("{id}")?)?;
        get_record::outcome(context, &found, arguments)
    },
};
