//! What the tools of the suite return and ask, and the state that their calls share. The protocol's
//! methods are in `server`, the tools' names and schemas in `tools`.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_web::rt::time::sleep;
use rmcp::model::{
    ContentBlock, InputRequiredResult, InputResponses, JsonObject, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion, ResourceContents,
    ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::tools::{internal, typed};

/// One red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
/// No sound at all.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Between the messages of one call, as the suite describes them.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone, Copy)]
pub(crate) enum Change {
    Tools,
    Prompts,
}

/// Shared by all sessions and requests: the mount clones it for each.
#[derive(Clone)]
pub(crate) struct Fixtures {
    pub(crate) changes: broadcast::Sender<Change>,
    pub(crate) level: Arc<Mutex<LoggingLevel>>,
    /// Seals the state that clients hold for us.
    key: RandomState,
}

impl Fixtures {
    pub(crate) fn new() -> Fixtures {
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
    pub(crate) fn to_ask(
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
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text))
            .with_logger("fixtures");
        context.peer.notify_logging_message(message).await.map_err(internal)
    }

    async fn announce(&self, change: Change) -> Vec<ContentBlock> {
        // A stream is acknowledged just before `listen` begins to wait for changes.
        sleep(PAUSE).await;
        // An error says that nobody listens.
        let _ = self.changes.send(change);
        vec![ContentBlock::text("The list was reported as changed.")]
    }

    pub(crate) async fn content(
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
                let embedded = ResourceContents::text(text, "test://embedded-resource")
                    .with_mime_type("text/plain");
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
                for step in
                    ["Tool execution started", "Tool processing data", "Tool execution completed"]
                {
                    self.log(context, step).await?;
                    sleep(PAUSE).await;
                }
                text("Logged.".to_string())
            }
            "test_tool_with_progress" => {
                for progress in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let progress =
                            ProgressNotificationParam::new(token, progress).with_total(100.0);
                        context.peer.notify_progress(progress).await.map_err(internal)?;
                    }
                    sleep(PAUSE).await;
                }
                text("Done.".to_string())
            }
            // The suite would like the stream to be closed in between. Only the session manager
            // can do that, and no handler gets hold of it.
            "test_reconnection" => {
                sleep(PAUSE).await;
                text("Done.".to_string())
            }
            "test_sampling" => {
                let content = json!({ "type": "text", "text": argument("prompt")? });
                let message = json!({ "role": "user", "content": content });
                let params = json!({ "messages": [message], "maxTokens": 100 });
                let answer = ask(context, "sampling/createMessage", params).await?;
                text(format!(
                    "LLM response: {}",
                    answer["content"]["text"].as_str().unwrap_or_default()
                ))
            }
            "test_elicitation" => {
                let properties = json!({
                    "username": { "type": "string", "description": "User's response" },
                    "email": { "type": "string", "description": "User's email address" },
                });
                let answer =
                    elicit(context, argument("message")?, properties, &["username", "email"])
                        .await?;
                text(format!("User response: {answer}"))
            }
            "test_elicitation_sep1034_defaults" => {
                let properties = json!({
                    "name": { "type": "string", "default": "John Doe" },
                    "age": { "type": "integer", "default": 30 },
                    "score": { "type": "number", "default": 95.5 },
                    "status": {
                        "type": "string",
                        "enum": ["active", "inactive", "pending"],
                        "default": "active",
                    },
                    "verified": { "type": "boolean", "default": true },
                });
                text(format!(
                    "Elicitation completed: {}",
                    elicit(context, "Are these right?", properties, &[]).await?
                ))
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
                        "type": "string",
                        "enum": ["opt1", "opt2", "opt3"],
                        "enumNames": ["One", "Two", "Three"],
                    },
                    "untitledMulti": {
                        "type": "array",
                        "items": { "type": "string", "enum": plain },
                    },
                    "titledMulti": { "type": "array", "items": { "anyOf": titled } },
                });
                text(format!(
                    "Elicitation completed: {}",
                    elicit(context, "Which ones?", properties, &[]).await?
                ))
            }
            "json_schema_2020_12_tool" | "test_header_parameter" => {
                text(Value::from(arguments.clone()).to_string())
            }
            "test_trigger_tool_change" => Ok(self.announce(Change::Tools).await),
            "test_trigger_prompt_change" => Ok(self.announce(Change::Prompts).await),
            _ => Err(ErrorData::invalid_params(format!("There is no tool {name:?}."), None)),
        }
    }
}

/// Those of the requests that this client says it can answer; an error when there are none.
fn answerable(
    asked: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<JsonObject, ErrorData> {
    let needs = |request: &Value| match request["method"].as_str() {
        Some("elicitation/create") => "elicitation",
        Some("sampling/createMessage") => "sampling",
        _ => "roots",
    };
    let can = serde_json::to_value(context.client_capabilities().unwrap_or_default())
        .map_err(internal)?;
    let mut asked: JsonObject = typed(asked.clone())?;
    let needed: BTreeSet<&str> = asked.values().map(needs).collect();
    asked.retain(|_, request| can.get(needs(request)).is_some());
    if asked.is_empty() {
        let needed: JsonObject =
            needed.into_iter().map(|name| (name.to_string(), json!({}))).collect();
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
    ask(context, "elicitation/create", json!({ "message": message, "requestedSchema": schema }))
        .await
}

/// A request of ours to the client, which only the revisions before 2026-07-28 know.
async fn ask(
    context: &RequestContext<RoleServer>,
    method: &str,
    params: Value,
) -> Result<Value, ErrorData> {
    let request: ServerRequest = typed(json!({ "method": method, "params": params }))?;
    let answer = context.peer.send_request(request).await.map_err(internal)?;
    serde_json::to_value(answer).map_err(internal)
}

pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}
