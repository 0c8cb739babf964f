//! `/openapi.json`, made from the declared operations and the open bundle: a source that the
//! bundle does not hold is not in it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::encode::{Format, is_record};
use crate::api::{Code, Endpoint, EndpointParameter, Meta, Operation, Place};
use crate::bundle::Bundle;
use crate::toolsets::Toolsets;

/// Paths that are not operations, with what they are for.
const PLAIN: [(&str, &str, &str); 4] = [
    ("/livez", "livez", "Whether the process runs"),
    ("/readyz", "readyz", "Whether it can answer"),
    ("/health", "health", "Version and bundle"),
    ("/openapi.json", "openapi", "This document"),
];

/// The whole document.
pub fn document(bundle: &Bundle, toolsets: &Toolsets) -> Value {
    let mut paths = Map::new();
    for operation in toolsets.operations() {
        for endpoint in (operation.endpoints)(bundle) {
            add(&mut paths, operation, endpoint);
        }
    }
    for (path, id, about) in PLAIN {
        let schema = json!({ "application/json": { "schema": { "type": "object" } } });
        let responses = json!({ "200": { "description": "OK", "content": schema } });
        let get = json!({ "operationId": id, "summary": about, "responses": responses });
        paths.insert(path.into(), json!({ "get": get }));
    }
    let mut schemas = own_schemas();
    toolsets.capabilities().for_each(|capability| schemas.extend((capability.schemas)(bundle)));
    let notice = bundle.manifest.notice.iter().map(|notice| format!(" {notice}"));
    let about = format!(
        "United States federal policy data from one bundle file. Read-only; every record is \
         cited.{}",
        notice.collect::<String>()
    );
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Josh",
            "version": env!("CARGO_PKG_VERSION"),
            "description": about,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": { "Error": {
                "description": "An error; `code` is one of those listed in the schema",
                "content": { "application/json": { "schema": reference("Error") } },
            } },
            "securitySchemes": { "bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "An API key or a token with the scope of the operation, where the \
                                server asks for one",
            } },
        },
        "security": [{}, { "bearer": [] }],
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Adds an endpoint. Operations that share a path share its entry: parameters of all of them, and
/// one of their answers.
fn add(paths: &mut Map<String, Value>, operation: &Operation, endpoint: Endpoint) {
    let mut parameters: Vec<Value> = endpoint.parameters.iter().filter_map(parameter).collect();
    if operation.is_list || is_record(operation) {
        let is_offered = |format: &Format| operation.is_list || !format.is_of_lists();
        let names = Format::NAMES.iter().filter(|(_, format)| is_offered(format));
        let names: Vec<&str> = names.map(|(name, _)| *name).collect();
        let schema = json!({ "type": "string", "enum": names });
        parameters.push(json!({
            "name": "format", "in": "query", "schema": schema, "description": "json by default",
        }));
    }
    let output = with_meta(endpoint.output);
    if operation.takes_body {
        let mut post = get(operation, &endpoint.id, &endpoint.summary, parameters, output);
        let content = json!({ "application/json": { "schema": body(&endpoint.parameters) } });
        post["requestBody"] = json!({ "required": true, "content": content });
        paths.insert(endpoint.path, json!({ "post": post }));
        return;
    }
    let Some(known) = paths.get_mut(&endpoint.path) else {
        let get = get(operation, &endpoint.id, &endpoint.summary, parameters, output);
        paths.insert(endpoint.path, json!({ "get": get }));
        return;
    };
    let get = &mut known["get"];
    if let Some(list) = get["parameters"].as_array_mut() {
        for parameter in parameters {
            if !list.iter().any(|known| known["name"] == parameter["name"]) {
                list.push(parameter);
            }
        }
    }
    let schema = &mut get["responses"]["200"]["content"]["application/json"]["schema"];
    match schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        Some(alternatives) => alternatives.push(output),
        None => *schema = json!({ "anyOf": [schema.clone(), output] }),
    }
    // The operation that takes the rest names the path.
    if operation.selects.is_none() {
        get["operationId"] = json!(endpoint.id);
        get["summary"] = json!(endpoint.summary);
    }
}

/// The schema of the JSON object in a body.
fn body(parameters: &[EndpointParameter]) -> Value {
    let members = parameters.iter().filter(|parameter| parameter.place == Place::Body);
    let mut properties = Map::new();
    let mut required = Vec::new();
    for member in members {
        let mut schema = member.schema.clone();
        schema["description"] = json!(member.about);
        properties.insert(member.name.clone(), schema);
        required.extend(member.required.then_some(member.name.as_str()));
    }
    json!({ "type": "object", "properties": properties, "required": required,
            "additionalProperties": false })
}

/// A parameter of the path or the query; those of a body are in its schema.
fn parameter(parameter: &EndpointParameter) -> Option<Value> {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Body => return None,
    };
    let mut out = json!({
        "name": parameter.name,
        "in": place,
        "schema": parameter.schema,
        "description": parameter.about,
    });
    if parameter.required {
        out["required"] = json!(true);
    }
    Some(out)
}

fn with_meta(mut schema: Value) -> Value {
    schema["properties"]["meta"] = reference("Meta");
    match schema.get_mut("required").and_then(Value::as_array_mut) {
        Some(required) => required.push(json!("meta")),
        None => schema["required"] = json!(["meta"]),
    }
    schema
}

fn get(
    operation: &Operation,
    id: &str,
    summary: &str,
    parameters: Vec<Value>,
    output: Value,
) -> Value {
    let mut content = json!({ "application/json": { "schema": output } });
    if operation.is_list {
        for format in [Format::Csv, Format::Ndjson] {
            let kind = format.content_type().split(';').next().unwrap_or_default();
            content[kind] = json!({ "schema": { "type": "string" } });
        }
    }
    json!({
        "operationId": id,
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": { "description": "OK", "content": content },
            "304": { "description": "The client's copy (If-None-Match) still holds" },
            "default": { "$ref": "#/components/responses/Error" },
        },
    })
}

/// The error envelope.
#[derive(JsonSchema)]
#[schemars(rename = "Error")]
#[expect(dead_code, reason = "described, not made: `api::Error` writes it")]
struct ErrorShape {
    error: ErrorBody,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "described, not made: `api::Error` writes it")]
struct ErrorBody {
    r#type: String,
    code: String,
    message: String,
    request_id: String,
    retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    hint: Option<Value>,
}

/// Schemas of what this surface adds to every answer.
fn own_schemas() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = SchemaGenerator::new(settings);
    generator.subschema_for::<Meta>();
    generator.subschema_for::<ErrorShape>();
    let mut schemas = generator.take_definitions(true);
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let line = |code: &Code| format!("{} ({}): {}", code.as_str(), code.status(), code.about());
    let listed: Vec<String> = Code::ALL.iter().map(line).collect();
    schemas["ErrorBody"]["properties"]["code"] =
        json!({ "type": "string", "enum": codes, "description": listed.join("\n") });
    schemas
}
