//! Tools as the protocol lists them, and their arguments as the operation takes them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as ListedTool, ToolAnnotations};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::api::outcome::Meta;
use crate::api::parameter::{DETAIL, Kind, object_schema};
use crate::api::{Arguments, Cost, Error, Given, Operation, Parameter, Scope, Tool};
use crate::bundle::Bundle;
use crate::spelling::nearest;

/// A tool with its schemas. `is_bare` lists only what is required, for hosts that compare
/// signatures.
pub fn listed(
    operation: &Operation,
    tool: &'static Tool,
    bundle: &Bundle,
    schemas: &Map<String, Value>,
    is_bare: bool,
) -> ListedTool {
    let parameters = tool.parameters().filter(move |p| !is_bare || p.required);
    let about = format!("{} For example: {}.", (tool.about)(bundle), tool.examples.join("; "));
    let annotations = ToolAnnotations::new()
        .read_only(operation.scope == Scope::Read)
        .destructive(false)
        .idempotent(true)
        .open_world(matches!(operation.cost, Cost::External | Cost::Form));
    ListedTool::new(tool.name, about, Arc::new(object_schema(parameters, bundle)))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(output_schema((tool.output)(bundle), schemas)))
        .with_annotations(annotations)
}

fn meta_schema() -> Value {
    let settings =
        SchemaSettings::draft2020_12().for_serialize().with(|s| s.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Meta>().to_value()
}

/// The output schema of a tool: references resolved, `meta` added, nothing required. A concise
/// result leaves out empty fields, and some hosts check error results against it, too.
fn output_schema(mut schema: Value, schemas: &Map<String, Value>) -> JsonObject {
    // The contract of another program may have one of its own.
    if schema["properties"]["meta"].is_null() {
        schema["properties"]["meta"] = meta_schema();
    }
    resolve(&mut schema, schemas);
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

fn resolve(schema: &mut Value, schemas: &Map<String, Value>) {
    let name = |schema: &Value| Some(schema.get("$ref")?.as_str()?.rsplit_once('/')?.1.to_string());
    while let Some(name) = name(schema) {
        *schema = schemas.get(&name).cloned().unwrap_or_else(|| Value::Object(Map::new()));
    }
    match schema {
        Value::Object(fields) => {
            keep_one_type(fields);
            // Widths of integers (`uint64`) are Rust's: validators of some hosts warn of each.
            let is_width = |format: &str| format.starts_with("uint") || format.starts_with("int");
            if fields.get("format").and_then(Value::as_str).is_some_and(is_width) {
                fields.remove("format");
            }
            for unused in ["required", "$defs", "$schema", "title"] {
                if !fields.get(unused).is_some_and(|value| value.is_object() && unused == "title") {
                    fields.remove(unused);
                }
            }
            fields.values_mut().for_each(|value| resolve(value, schemas));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| resolve(item, schemas)),
        _ => {}
    }
}

/// Some hosts map a schema to one type and drop those with several. Nulls are never sent, and what
/// may be of several types is described without one.
fn keep_one_type(schema: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = schema.get_mut("type") else { return };
    types.retain(|kind| kind != "null");
    match types.as_slice() {
        [one] => {
            let one = one.clone();
            schema.insert("type".into(), one);
        }
        _ => drop(schema.remove("type")),
    }
}

/// Arguments of a call, checked; the error is one sentence that names the argument.
pub struct ToolCall {
    pub arguments: Arguments,
    /// Whether fields without a value are kept.
    pub is_full: bool,
}

pub fn read(tool: &'static Tool, given: Option<JsonObject>) -> Result<ToolCall, String> {
    let mut call = ToolCall { arguments: Arguments::default(), is_full: false };
    for (parameter, value) in tool.fixed {
        call.arguments.push_one(parameter, *value);
    }
    if let Some(whole) = tool.parameters().find(|p| matches!(p.kind, Kind::Whole)) {
        let given = Value::Object(given.unwrap_or_default());
        call.arguments.push(whole.target, Given::One(given.to_string()));
        return Ok(call);
    }
    let mut seen: Vec<&'static str> = Vec::new();
    for (name, value) in given.unwrap_or_default() {
        let parameter = find(tool, &name)?;
        if value.is_null() && !parameter.required {
            continue;
        }
        if seen.contains(&parameter.name) {
            return Err(format!("`{}` is given twice.", parameter.name));
        }
        seen.push(parameter.name);
        let pairs = parameter.read(&value)?;
        if parameter.name == DETAIL.name {
            call.is_full = value == "full";
            continue;
        }
        for (field, value) in pairs {
            check_filter(tool, parameter, &field)?;
            call.arguments.push(field, value);
        }
    }
    for parameter in tool.parameters().filter(|p| !seen.contains(&p.name)) {
        if parameter.required {
            return Err(format!("`{}` is missing: {}.", parameter.name, parameter.about));
        }
        if let Kind::Integer { default: Some(default), .. } = parameter.kind {
            call.arguments.push(parameter.target, Given::One(default.to_string()));
        }
    }
    Ok(call)
}

fn find(tool: &'static Tool, name: &str) -> Result<&'static Parameter, String> {
    let is_meant = |p: &&'static Parameter| p.name == name || p.alias == Some(name);
    tool.parameters().find(is_meant).ok_or_else(|| {
        let shown: String = name.chars().take(60).collect();
        let names: Vec<&str> = tool.parameters().map(|p| p.name).collect();
        let near = nearest(&shown, &names).map(|n| format!(" Did you mean `{n}`?"));
        let near = near.unwrap_or_default();
        format!("`{shown}` is no argument of this tool.{near} It takes: {}.", names.join(", "))
    })
}

/// A filter names a field; parameters of the operation are arguments of the tool, or not its
/// business.
fn check_filter(tool: &Tool, parameter: &Parameter, field: &str) -> Result<(), String> {
    let is_parameter = || {
        const RESERVED: [&str; 12] = [
            "aggregate",
            "bucket_by_time",
            "cursor",
            "fields",
            "format",
            "group_by",
            "limit",
            "mode",
            "q",
            "sort",
            "sum_field",
            "time_interval",
        ];
        RESERVED.contains(&field) || tool.fixed.iter().any(|(fixed, _)| *fixed == field)
    };
    match parameter.kind {
        Kind::Filters(_) if is_parameter() => {
            Err(format!("`filters.{field}` is not a field to filter by."))
        }
        _ => Ok(()),
    }
}

/// An error of an operation in the words of the tool: its arguments have names of their own.
pub fn translate(tool: &'static Tool, mut error: Error) -> Error {
    for parameter in tool.parameters().filter(|p| p.target != p.name) {
        let (operation, own) = (parameter.target, parameter.name);
        error.message = error.message.replace(&format!("`{operation}`"), &format!("`{own}`"));
        if error.field.as_deref() == Some(operation) {
            error.field = Some(own.to_string());
        }
    }
    error
}
