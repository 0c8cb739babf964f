//! The tools, resources and prompts that the official MCP conformance suite calls by name, behind the mount that Josh has:
//! so the suite tries the mount also in those parts of the protocol that Josh itself does not use.

#![expect(deprecated, reason = "logging and sampling are part of 2025-11-25, which the mount serves")]

use std::collections::BTreeSet;
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_web::rt::time::sleep;
use actix_web::{App, HttpServer, web};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CompletionInfo,
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, InputRequiredResult,
    InputResponses, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, Prompt,
    PromptArgument, PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
    ServerRequest, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
/// No sound at all.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Between the messages of one call, as the suite describes them.
const PAUSE: Duration = Duration::from_millis(50);

/// The suite calls the first one without arguments to try headers.
const TOOLS: &[(&str, &str)] = &[
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

#[derive(Clone, Copy)]
enum Change {
    Tools,
    Prompts,
}

/// Shared by all sessions and requests: the mount clones it for each.
#[derive(Clone)]
struct Fixtures {
    changes: broadcast::Sender<Change>,
    level: Arc<Mutex<LoggingLevel>>,
    /// Seals the state that clients hold for us.
    key: RandomState,
}

impl Fixtures {
    fn new() -> Fixtures {
        Fixtures {
            changes: broadcast::channel(16).0,
            level: Arc::new(Mutex::new(LoggingLevel::Info)),
            key: RandomState::new(),
        }
    }

    fn seal(&self, name: &str, round: usize) -> String {
        format!("{round}.{:016x}", self.key.hash_one((name, round)))
    }

    fn open(&self, name: &str, state: &str) -> Result<usize, ErrorData> {
        let round = state.split_once('.').and_then(|(round, _)| round.parse().ok());
        let sealed = round.filter(|round| self.seal(name, *round) == state);
        sealed.ok_or_else(|| ErrorData::invalid_params("This request state is not ours.", None))
    }

    /// What is still to be asked before `name` can answer; `None` when all of it was answered.
    fn to_ask(
        &self,
        name: &str,
        rounds: &[Value],
        answers: &InputResponses,
        state: Option<&str>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<InputRequiredResult>, ErrorData> {
        let mut round = state.map_or(Ok(0), |state| self.open(name, state))?;
        let mut asked = answerable(&rounds[round], context)?;
        asked.retain(|key, _| !answers.get(key).is_some_and(Value::is_object));
        if asked.is_empty() && round + 1 < rounds.len() {
            round += 1;
            asked = answerable(&rounds[round], context)?;
        }
        if asked.is_empty() {
            return Ok(None);
        }
        Ok(Some(InputRequiredResult::new(Some(typed(asked.into())?), Some(self.seal(name, round)))))
    }

    async fn log(&self, context: &RequestContext<RoleServer>, text: &str) -> Result<(), ErrorData> {
        let wanted = if is_stateless(context) {
            context.meta.log_level()
        } else {
            Some(*self.level.lock().unwrap_or_else(PoisonError::into_inner))
        };
        if wanted.is_none_or(|wanted| wanted as u8 > LoggingLevel::Info as u8) {
            return Ok(());
        }
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text)).with_logger("fixtures");
        context.peer.notify_logging_message(message).await.map_err(internal)
    }

    async fn announce(&self, change: Change) -> Vec<ContentBlock> {
        // A stream is acknowledged just before `listen` begins to wait for changes.
        sleep(PAUSE).await;
        // An error says that nobody listens.
        let _ = self.changes.send(change);
        vec![ContentBlock::text("The list was reported as changed.")]
    }

    async fn content(
        &self,
        name: &str,
        arguments: &JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<ContentBlock>, ErrorData> {
        let argument = |name: &str| {
            let given = arguments.get(name).and_then(Value::as_str);
            given.ok_or_else(|| ErrorData::invalid_params(format!("`{name}` is missing."), None))
        };
        let text = |text: String| Ok(vec![ContentBlock::text(text)]);
        match name {
            "test_simple_text" => text("This is a simple text response for testing.".to_string()),
            "test_image_content" => Ok(vec![ContentBlock::image(PNG, "image/png")]),
            "test_audio_content" => Ok(vec![ContentBlock::audio(WAV, "audio/wav")]),
            "test_embedded_resource" => {
                let text = "This is an embedded resource content.";
                let embedded = ResourceContents::text(text, "test://embedded-resource").with_mime_type("text/plain");
                Ok(vec![ContentBlock::resource(embedded)])
            }
            "test_multiple_content_types" => {
                let data = r#"{"test":"data","value":123}"#;
                let embedded = ResourceContents::text(data, "test://mixed-content-resource");
                Ok(vec![
                    ContentBlock::text("Multiple content types test:"),
                    ContentBlock::image(PNG, "image/png"),
                    ContentBlock::resource(embedded.with_mime_type("application/json")),
                ])
            }
            "test_tool_with_logging" | "test_logging_tool" => {
                for step in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    self.log(context, step).await?;
                    sleep(PAUSE).await;
                }
                text("Logged.".to_string())
            }
            "test_tool_with_progress" => {
                for progress in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let progress = ProgressNotificationParam::new(token, progress).with_total(100.0);
                        context.peer.notify_progress(progress).await.map_err(internal)?;
                    }
                    sleep(PAUSE).await;
                }
                text("Done.".to_string())
            }
            // The suite would like the stream to be closed in between. Only the session manager can do that, and no
            // handler gets hold of it.
            "test_reconnection" => {
                sleep(PAUSE).await;
                text("Done.".to_string())
            }
            "test_sampling" => {
                let message = json!({ "role": "user", "content": { "type": "text", "text": argument("prompt")? } });
                let params = json!({ "messages": [message], "maxTokens": 100 });
                let answer = ask(context, "sampling/createMessage", params).await?;
                text(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()))
            }
            "test_elicitation" => {
                let properties = json!({
                    "username": { "type": "string", "description": "User's response" },
                    "email": { "type": "string", "description": "User's email address" },
                });
                let answer = elicit(context, argument("message")?, properties, &["username", "email"]).await?;
                text(format!("User response: {answer}"))
            }
            "test_elicitation_sep1034_defaults" => {
                let properties = json!({
                    "name": { "type": "string", "default": "John Doe" },
                    "age": { "type": "integer", "default": 30 },
                    "score": { "type": "number", "default": 95.5 },
                    "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
                    "verified": { "type": "boolean", "default": true },
                });
                text(format!("Elicitation completed: {}", elicit(context, "Are these right?", properties, &[]).await?))
            }
            "test_elicitation_sep1330_enums" => {
                let plain = json!(["option1", "option2", "option3"]);
                let titled = json!([
                    { "const": "value1", "title": "First" },
                    { "const": "value2", "title": "Second" },
                    { "const": "value3", "title": "Third" },
                ]);
                let properties = json!({
                    "untitledSingle": { "type": "string", "enum": plain },
                    "titledSingle": { "type": "string", "oneOf": titled },
                    "legacyEnum": {
                        "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"],
                    },
                    "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
                    "titledMulti": { "type": "array", "items": { "anyOf": titled } },
                });
                text(format!("Elicitation completed: {}", elicit(context, "Which ones?", properties, &[]).await?))
            }
            "json_schema_2020_12_tool" | "test_header_parameter" => text(Value::from(arguments.clone()).to_string()),
            "test_trigger_tool_change" => Ok(self.announce(Change::Tools).await),
            "test_trigger_prompt_change" => Ok(self.announce(Change::Prompts).await),
            _ => Err(ErrorData::invalid_params(format!("There is no tool {name:?}."), None)),
        }
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("josh-conformance-fixtures", "0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        TOOLS.iter().map(tool).collect::<Result<_, _>>().map(ListToolsResult::with_all_items)
    }

    /// The mount compares headers with the schema that it finds here.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.iter().find(|(known, _)| *known == name).and_then(|found| tool(found).ok())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        if name == "test_error_handling" {
            let text = "This tool intentionally returns an error for testing";
            return Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into());
        }
        if let Some(rounds) = rounds(name) {
            let answers = request.input_responses.unwrap_or_default();
            let state = request.request_state.as_deref();
            return Ok(match self.to_ask(name, &rounds, &answers, state, &context)? {
                Some(asked) => asked.into(),
                None => {
                    let verdict = if state.is_some() { "state-ok" } else { "stateless" };
                    let text = format!("{verdict}: {}", json!(answers));
                    CallToolResult::success(vec![ContentBlock::text(text)]).into()
                }
            });
        }
        let content = self.content(name, &request.arguments.unwrap_or_default(), &context).await?;
        Ok(CallToolResult::success(content).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = |name: &str, arguments: &[&str]| {
            let arguments = arguments.iter().map(|name| PromptArgument::new(*name).with_required(true)).collect();
            Prompt::new(name, Some("A prompt for tests"), Some(arguments))
        };
        Ok(ListPromptsResult::with_all_items(vec![
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
            prompt("test_input_required_result_prompt", &[]),
        ]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let text = |text: &str| ContentBlock::text(text);
        let contents = match request.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (first, second) = (argument("arg1"), argument("arg2"));
                vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                let embedded =
                    ResourceContents::text("Embedded resource content for testing.", argument("resourceUri"));
                let embedded = ContentBlock::resource(embedded.with_mime_type("text/plain"));
                vec![embedded, text("Please process the embedded resource above.")]
            }
            "test_prompt_with_image" => {
                vec![ContentBlock::image(PNG, "image/png"), text("Please analyze the image above.")]
            }
            "test_input_required_result_prompt" => {
                let answers = request.input_responses.unwrap_or_default();
                let asks =
                    [json!({ "user_context": question("What context should the prompt use?", "context", "string") })];
                let state = request.request_state.as_deref();
                if let Some(asked) = self.to_ask(&request.name, &asks, &answers, state, &context)? {
                    return Ok(asked.into());
                }
                vec![text(&format!("Use this context: {}", json!(answers)))]
            }
            name => return Err(ErrorData::invalid_params(format!("There is no prompt {name:?}."), None)),
        };
        let messages = contents.into_iter().map(|content| PromptMessage::new(Role::User, content));
        Ok(GetPromptResult::new(messages.collect()).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![
            Resource::new("test://static-text", "Text").with_mime_type("text/plain"),
            Resource::new("test://static-binary", "Image").with_mime_type("image/png"),
            Resource::new("test://watched-resource", "Watched text").with_mime_type("text/plain"),
        ]))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "Data").with_mime_type("application/json");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, id) {
            ("test://static-binary", _) => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
            ("test://static-text" | "test://watched-resource", _) => {
                ResourceContents::text("This is the content of the static text resource.", uri)
                    .with_mime_type("text/plain")
            }
            (_, Some(id)) => {
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
            }
            _ => return Err(ErrorData::resource_not_found("Resource not found", Some(json!({ "uri": uri })))),
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = ["test one", "test two"].into_iter().filter(|value| value.starts_with(&request.argument.value));
        let completion = CompletionInfo::new(values.map(str::to_string).collect()).map_err(internal)?;
        Ok(CompleteResult::new(completion))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // rmcp hands this one over even when the request's revision has no such method.
        if is_stateless(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = request.level;
        Ok(())
    }

    /// Nothing here ever changes, so there is nothing to remember.
    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            let change = tokio::select! {
                change = changes.recv() => change.map_err(internal)?,
                () = context.cancelled() => return Ok(()),
            };
            // An error says that this stream did not ask for it: rmcp keeps it back.
            let _ = match change {
                Change::Tools => context.sink().notify_tool_list_changed().await,
                Change::Prompts => context.sink().notify_prompt_list_changed().await,
            };
        }
    }
}

fn tool((name, about): &(&'static str, &'static str)) -> Result<Tool, ErrorData> {
    let text =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
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
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        }),
        _ => json!({ "type": "object", "properties": {} }),
    };
    Ok(Tool::new(*name, *about, Arc::new(typed::<JsonObject>(schema)?)))
}

/// What a tool asks before it answers, as in 2026-07-28: in each round, requests by name.
fn rounds(name: &str) -> Option<Vec<Value>> {
    let sample = |text: &str| {
        let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
        json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
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

fn question(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

/// Those of the requests that this client says it can answer; an error when there are none.
fn answerable(asked: &Value, context: &RequestContext<RoleServer>) -> Result<JsonObject, ErrorData> {
    let needs = |request: &Value| match request["method"].as_str() {
        Some("elicitation/create") => "elicitation",
        Some("sampling/createMessage") => "sampling",
        _ => "roots",
    };
    let can = serde_json::to_value(context.client_capabilities().unwrap_or_default()).map_err(internal)?;
    let mut asked: JsonObject = typed(asked.clone())?;
    let needed: BTreeSet<&str> = asked.values().map(needs).collect();
    asked.retain(|_, request| can.get(needs(request)).is_some());
    if asked.is_empty() {
        let needed: JsonObject = needed.into_iter().map(|name| (name.to_string(), json!({}))).collect();
        return Err(ErrorData::missing_required_client_capability(typed(needed.into())?));
    }
    Ok(asked)
}

async fn elicit(
    context: &RequestContext<RoleServer>,
    message: &str,
    properties: Value,
    required: &[&str],
) -> Result<Value, ErrorData> {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    ask(context, "elicitation/create", json!({ "message": message, "requestedSchema": schema })).await
}

/// A request of ours to the client, which only the revisions before 2026-07-28 know.
async fn ask(context: &RequestContext<RoleServer>, method: &str, params: Value) -> Result<Value, ErrorData> {
    let request: ServerRequest = typed(json!({ "method": method, "params": params }))?;
    let answer = context.peer.send_request(request).await.map_err(internal)?;
    serde_json::to_value(answer).map_err(internal)
}

fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(internal)
}

fn internal(error: impl Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let sessions = std::env::args().any(|argument| argument == "--sessions");
    let options = josh::mcp::Options { sessions, ..Default::default() };
    let service = josh::http::mcp_mount(Fixtures::new(), &options);
    let app = move || App::new().service(web::scope("/mcp").service(service.clone().scope()));
    let server = HttpServer::new(app).workers(2).bind("127.0.0.1:0")?;
    println!("http://{}/mcp", server.addrs()[0]);
    server.run().await
}
