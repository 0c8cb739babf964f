//! The tools, resources and prompts that the official MCP conformance suite calls by name, behind
//! the mount that Josh has: so the suite tries the mount also in those parts of the protocol that
//! Josh itself does not use.

#![expect(
    deprecated,
    reason = "logging and sampling are part of 2025-11-25, which the mount serves"
)]

mod fixtures;
mod tools;

use std::sync::PoisonError;

use actix_web::{App, HttpServer, web};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
    SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::fixtures::{Change, Fixtures, PNG, is_stateless};
use crate::tools::{TOOLS, internal, question, rounds, tool};

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
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("josh-conformance-fixtures", "0"))
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
            let arguments = arguments
                .iter()
                .map(|name| PromptArgument::new(*name).with_required(true))
                .collect();
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
                let embedded = ResourceContents::text(
                    "Embedded resource content for testing.",
                    argument("resourceUri"),
                );
                let embedded = ContentBlock::resource(embedded.with_mime_type("text/plain"));
                vec![embedded, text("Please process the embedded resource above.")]
            }
            "test_prompt_with_image" => {
                vec![ContentBlock::image(PNG, "image/png"), text("Please analyze the image above.")]
            }
            "test_input_required_result_prompt" => {
                let answers = request.input_responses.unwrap_or_default();
                let asked = question("What context should the prompt use?", "context", "string");
                let asks = [json!({ "user_context": asked })];
                let state = request.request_state.as_deref();
                if let Some(asked) = self.to_ask(&request.name, &asks, &answers, state, &context)? {
                    return Ok(asked.into());
                }
                vec![text(&format!("Use this context: {}", json!(answers)))]
            }
            name => {
                return Err(ErrorData::invalid_params(
                    format!("There is no prompt {name:?}."),
                    None,
                ));
            }
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
        let template = ResourceTemplate::new("test://template/{id}/data", "Data")
            .with_mime_type("application/json");
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
            ("test://static-binary", _) => {
                ResourceContents::blob(PNG, uri).with_mime_type("image/png")
            }
            ("test://static-text" | "test://watched-resource", _) => {
                ResourceContents::text("This is the content of the static text resource.", uri)
                    .with_mime_type("text/plain")
            }
            (_, Some(id)) => {
                let data =
                    json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
            }
            _ => {
                return Err(ErrorData::resource_not_found(
                    "Resource not found",
                    Some(json!({ "uri": uri })),
                ));
            }
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = ["test one", "test two"]
            .into_iter()
            .filter(|value| value.starts_with(&request.argument.value));
        let completion =
            CompletionInfo::new(values.map(str::to_string).collect()).map_err(internal)?;
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
    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
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
