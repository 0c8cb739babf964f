//! The tools that the suite calls: their names, their schemas, and what some ask before they
//! answer. What they answer is in `fixtures`.

use std::fmt::Display;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{JsonObject, Tool};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The suite calls the first one without arguments to try headers.
pub(crate) const TOOLS: &[(&str, &str)] = &[
    ("test_simple_text", "Returns text"),
    ("test_image_content", "Returns an image"),
    ("test_audio_content", "Returns audio"),
    ("test_embedded_resource", "Returns an embedded resource"),
    ("test_multiple_content_types", "Returns text, an image and a resource"),
    ("test_error_handling", "Returns an error"),
    ("test_tool_with_logging", "Logs three messages"),
    ("test_logging_tool", "Logs when the request says at which level"),
    ("test_tool_with_progress", "Reports progress three times"),
    ("test_reconnection", "Takes a moment"),
    ("test_sampling", "Asks the client's model, as in 2025-11-25"),
    ("test_elicitation", "Asks the client's user, as in 2025-11-25"),
    ("test_elicitation_sep1034_defaults", "Asks with default values"),
    ("test_elicitation_sep1330_enums", "Asks with each kind of choice"),
    ("json_schema_2020_12_tool", "Has a schema with the keywords of 2020-12"),
    ("test_header_parameter", "Has a parameter that is repeated in a header"),
    ("test_trigger_tool_change", "Says that the list of tools changed"),
    ("test_trigger_prompt_change", "Says that the list of prompts changed"),
    ("test_missing_capability", "Needs a client that can sample"),
    ("test_streaming_elicitation", "Asks the user for a confirmation"),
    ("test_input_required_result_elicitation", "Asks the user for a name"),
    ("test_input_required_result_sampling", "Asks the model"),
    ("test_input_required_result_list_roots", "Asks for the roots"),
    ("test_input_required_result_request_state", "Asks and keeps state with the client"),
    ("test_input_required_result_tampered_state", "Asks and refuses state that was changed"),
    ("test_input_required_result_multiple_inputs", "Asks three things at once"),
    ("test_input_required_result_multi_round", "Asks twice"),
    ("test_input_required_result_capabilities", "Asks what the client can answer"),
];

pub(crate) fn tool((name, about): &(&'static str, &'static str)) -> Result<Tool, ErrorData> {
    let text = |name: &str| {
        let properties = json!({ name: { "type": "string" } });
        json!({ "type": "object", "properties": properties, "required": [name] })
    };
    let schema = match *name {
        "test_sampling" => text("prompt"),
        "test_elicitation" => text("message"),
        "test_header_parameter" => json!({
            "type": "object",
            "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
            "required": ["region"],
        }),
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
                },
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": {
                "properties": { "contactMethod": { "const": "phone" } },
                "required": ["contactMethod"],
            },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        }),
        _ => json!({ "type": "object", "properties": {} }),
    };
    Ok(Tool::new(*name, *about, Arc::new(typed::<JsonObject>(schema)?)))
}

/// What a tool asks before it answers, as in 2026-07-28: in each round, requests by name.
pub(crate) fn rounds(name: &str) -> Option<Vec<Value>> {
    let sample = |text: &str| {
        let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
        let params = json!({ "messages": [message], "maxTokens": 100 });
        json!({ "method": "sampling/createMessage", "params": params })
    };
    let roots = json!({ "method": "roots/list", "params": {} });
    let confirm = json!({ "confirm": question("Please confirm", "ok", "boolean") });
    Some(match name {
        "test_input_required_result_elicitation" => {
            vec![json!({ "user_name": question("What is your name?", "name", "string") })]
        }
        "test_input_required_result_sampling" | "test_missing_capability" => {
            vec![json!({ "capital_question": sample("What is the capital of France?") })]
        }
        "test_input_required_result_list_roots" => vec![json!({ "client_roots": roots })],
        "test_streaming_elicitation"
        | "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => vec![confirm],
        "test_input_required_result_multiple_inputs" => vec![json!({
            "user_name": question("What is your name?", "name", "string"),
            "greeting": sample("Generate a greeting"),
            "client_roots": roots,
        })],
        "test_input_required_result_multi_round" => vec![
            json!({ "step1": question("Step 1: What is your name?", "name", "string") }),
            json!({ "step2": question("Step 2: What is your favorite color?", "color", "string") }),
        ],
        "test_input_required_result_capabilities" => vec![json!({
            "user_name": question("What is your name?", "name", "string"),
            "greeting": sample("Generate a greeting"),
        })],
        _ => return None,
    })
}

pub(crate) fn question(message: &str, field: &str, kind: &str) -> Value {
    let schema =
        json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    let params = json!({ "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(internal)
}

pub(crate) fn internal(error: impl Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
