//! The Model Context Protocol, over HTTP and over standard input and output. A thin layer: tools,
//! prompts and resources come from the configured toolsets, calls go to the executor.

mod prompts;
mod result;
mod tools;

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arc_swap::ArcSwapOption;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, CompletionInfo, DiscoverResult, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Reference, Resource,
    ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig, Tool as ListedTool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::api::argument::LONGEST_TEXT;
use crate::api::{CallerInfo, Cost, Operation, Progress, Tool};
use crate::bundle::Bundle;
use crate::executor::Executor;
use crate::metrics::METRICS;
use crate::request_id::new_request_id;
use crate::spelling::nearest;
use crate::telemetry::AUDIT;
use crate::toolsets::Toolsets;

/// How long lists may be kept: a bundle never changes, and a new one is no emergency.
const TTL_MS: u64 = 3_600_000;

/// Values that completion offers at once.
const MOST_COMPLETIONS: usize = 20;

/// The newest revision that begins with `initialize`.
pub const PROTOCOL: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// The server. Cheap to clone: one is made for each request.
#[derive(Clone)]
pub struct Server {
    executor: Arc<Executor>,
    toolsets: Toolsets,
    advertised: Arc<ArcSwapOption<Advertised>>,
    bare_search: bool,
}

/// How the server is offered over HTTP.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Keep sessions for clients of the older revisions.
    pub sessions: bool,
    /// Advertise only `query` for `search`.
    pub bare_search: bool,
    /// Names under which this server is reached, besides this machine's own.
    pub hosts: Vec<String>,
    /// Origins of pages that may call, besides those of this machine.
    pub origins: Vec<String>,
    /// Ends the sessions and their streams.
    pub stop: CancellationToken,
}

/// What the toolsets offer over one bundle, rendered once.
pub struct Advertised {
    bundle: Arc<Bundle>,
    pub tools: Vec<ListedTool>,
    instructions: String,
}

/// Where a tool leaves the JSON of its result for a surface that puts it into the message itself.
pub type ResultJson = Arc<OnceLock<String>>;

/// Who calls, as the surface knows it.
#[derive(Clone)]
pub struct Caller {
    pub info: CallerInfo,
    pub traceparent: Option<String>,
    pub json: Option<ResultJson>,
}

impl Caller {
    /// A trace context, if it is fit for a log line.
    pub fn traced(traceparent: &str) -> Option<String> {
        let is_plain = |b: u8| b.is_ascii_hexdigit() || b == b'-';
        let fits = traceparent.len() <= 64 && traceparent.bytes().all(is_plain);
        fits.then(|| traceparent.to_string())
    }
}

impl Advertised {
    fn new(bundle: Arc<Bundle>, toolsets: &Toolsets, bare_search: bool) -> Advertised {
        let mut schemas = Map::new();
        toolsets.capabilities().for_each(|c| schemas.extend((c.schemas)(&bundle)));
        let listed = |(operation, tool): (&'static Operation, &'static Tool)| {
            let is_bare = bare_search && tool.name == "search";
            tools::listed(operation, tool, &bundle, &schemas, is_bare)
        };
        let tools = toolsets.tools(&bundle).map(listed).collect();
        let notice = bundle.manifest.notice.clone().into_iter();
        let instructions = toolsets.capabilities().map(|c| (c.instructions)(&bundle));
        let instructions = notice.chain(instructions);
        let instructions = instructions.collect::<Vec<_>>().join(" ");
        Advertised { tools, instructions, bundle }
    }
}

impl Server {
    pub fn new(executor: Arc<Executor>, toolsets: Toolsets, bare_search: bool) -> Server {
        Server { executor, toolsets, advertised: Arc::default(), bare_search }
    }

    /// What is offered over the open bundle, rendered when it is first asked for.
    pub fn advertised(&self) -> Arc<Advertised> {
        let bundle = self.executor.bundle();
        match self.advertised.load_full() {
            Some(known) if Arc::ptr_eq(&known.bundle, &bundle) => known,
            _ => {
                let made = Arc::new(Advertised::new(bundle, &self.toolsets, self.bare_search));
                self.advertised.store(Some(made.clone()));
                made
            }
        }
    }

    async fn call(
        &self,
        operation: &'static Operation,
        tool: &'static Tool,
        request: CallToolRequestParams,
        caller: &CallerInfo,
        json: Option<&ResultJson>,
        on_progress: Option<Progress>,
    ) -> Result<CallToolResult, ErrorData> {
        let call = tools::read(tool, request.arguments)
            .map_err(|reason| ErrorData::invalid_params(reason, None))?;
        let bundle = self.executor.bundle();
        let mut context = self.executor.context(bundle.clone(), caller.clone());
        context.on_progress = on_progress;
        let outcome = self.executor.execute(operation, call.arguments, context).await;
        let result = outcome
            .and_then(|outcome| result::success(outcome, &bundle, caller, call.is_full, json));
        Ok(result.unwrap_or_else(|error| {
            let request_id = caller.request_id.as_str();
            if let Some(cause) = &error.cause {
                let code = error.code.as_str();
                tracing::error!(request_id, code, cause, "tool call failed");
            }
            result::failure(&tools::translate(tool, error), request_id)
        }))
    }

    /// The tool with this name, if it is offered.
    fn find(&self, name: &str) -> Result<(&'static Operation, &'static Tool), ErrorData> {
        let bundle = self.executor.bundle();
        self.toolsets.tool(&bundle, name).ok_or_else(|| {
            let shown: String = name.chars().take(64).collect();
            let names: Vec<&str> =
                self.toolsets.tools(&bundle).map(|(_, tool)| tool.name).collect();
            let near = nearest(&shown, &names).map(|n| format!(" Did you mean {n}?"));
            let message = format!("There is no tool {shown:?}.{}", near.unwrap_or_default());
            ErrorData::invalid_params(message, None)
        })
    }

    fn prompts(&self) -> Vec<&'static crate::api::Prompt> {
        let bundle = self.executor.bundle();
        let prompts = self.toolsets.capabilities().flat_map(|c| c.prompts);
        prompts.filter(|prompt| (prompt.is_offered)(&bundle)).collect()
    }

    fn caller(context: &RequestContext<RoleServer>) -> Caller {
        let parts = context.extensions.get::<::http::request::Parts>();
        let traced =
            context.meta.get("traceparent").and_then(Value::as_str).and_then(Caller::traced);
        let carried = parts.and_then(|parts| parts.extensions.get::<rmcp::model::Extensions>());
        match carried.and_then(|carried| carried.get::<Caller>()) {
            Some(caller) => Caller {
                traceparent: traced.or_else(|| caller.traceparent.clone()),
                info: caller.info.clone(),
                json: caller.json.clone(),
            },
            None => {
                let (request_id, started) = (new_request_id(), Instant::now());
                let info = CallerInfo { request_id, started, identity: None };
                Caller { info, traceparent: traced, json: None }
            }
        }
    }
}

/// Tells the client how far a call is, if it asked to be told. Answers that are one JSON document
/// have no room for it; then nobody hears it.
fn progress(context: &RequestContext<RoleServer>) -> Option<Progress> {
    let token = context.meta.get_progress_token()?;
    let (peer, runtime) = (context.peer.clone(), tokio::runtime::Handle::try_current().ok()?);
    Some(Arc::new(move |done, all, next| {
        let mut told = ProgressNotificationParam::new(token.clone(), done as f64);
        told.total = Some(all as f64);
        told.message = Some(next.to_string());
        let peer = peer.clone();
        // A client that is gone need not be told.
        runtime.spawn(async move { drop(peer.notify_progress(told).await) });
    }))
}

/// Whether a list may be kept by others than its caller.
fn cache_scope(context: &RequestContext<RoleServer>) -> CacheScope {
    match Server::caller(context).info.identity {
        None => CacheScope::Public,
        Some(_) => CacheScope::Private,
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_completions()
            .build();
        let identity = Implementation::new("josh", env!("CARGO_PKG_VERSION")).with_title("Josh");
        let mut config = ServerConfig::new(capabilities).with_server_info(identity);
        config.protocol_version = PROTOCOL;
        config.with_instructions(self.advertised().instructions.clone())
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let found = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(found.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = ListToolsResult::with_all_items(self.advertised().tools.clone());
        Ok(listed.with_ttl_ms(TTL_MS).with_cache_scope(cache_scope(&context)))
    }

    fn get_tool(&self, name: &str) -> Option<ListedTool> {
        self.advertised().tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Caller { info, traceparent, json } = Server::caller(&context);
        let (operation, tool) = self.find(&request.name)?;
        let on_progress = progress(&context).filter(|_| operation.cost == Cost::Form);
        // With progress, the answer is a stream of events.
        let json = json.as_ref().filter(|_| on_progress.is_none());
        // A cancelled call ends here, and its work with it.
        // Boxed: rmcp moves this future about, and it is large.
        let call = Box::pin(self.call(operation, tool, request, &info, json, on_progress));
        let called = tokio::select! {
            called = call => called,
            () = context.ct.cancelled() => {
                Err(ErrorData::internal_error("The call was cancelled.", None))
            }
        };
        let is_ok = called.as_ref().is_ok_and(|result| result.is_error != Some(true));
        let status = if is_ok { "ok" } else { "error" };
        let took = info.started.elapsed().as_secs_f64();
        METRICS.tool_call(tool.name, status, took);
        tracing::info!(
            target: AUDIT,
            tool_name = tool.name,
            request_id = info.request_id,
            duration_ms = took * 1e3,
            result_status = status,
            caller_kind = info.identity.as_ref().map_or("anonymous", |identity| identity.kind),
            caller = info.identity.as_ref().map(|identity| identity.key.as_str()),
            traceparent,
            "tool call"
        );
        called.map(CallToolResponse::from)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self.prompts().into_iter().map(prompts::listed).collect();
        let listed = ListPromptsResult::with_all_items(prompts);
        Ok(listed.with_ttl_ms(TTL_MS).with_cache_scope(cache_scope(&context)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let refuse = |reason: String| ErrorData::invalid_params(reason, None);
        let offered = self.prompts();
        let prompt =
            offered.iter().find(|prompt| prompt.name == request.name).ok_or_else(|| {
                let names: Vec<&str> = offered.iter().map(|prompt| prompt.name).collect();
                let shown: String = request.name.chars().take(64).collect();
                refuse(format!("There is no prompt {shown:?}; there are {}.", names.join(", ")))
            })?;
        prompts::fill(prompt, request.arguments).map(GetPromptResponse::from).map_err(refuse)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let bundle = self.executor.bundle();
        let resources = self.toolsets.capabilities().flat_map(|c| (c.resources)(&bundle));
        let listed = resources.map(|r| {
            Resource::new(r.uri, r.title.as_str())
                .with_title(r.title.as_str())
                .with_description(r.about)
                .with_mime_type(r.mime)
        });
        let listed = ListResourcesResult::with_all_items(listed.collect());
        Ok(listed.with_ttl_ms(TTL_MS).with_cache_scope(cache_scope(&context)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self.toolsets.capabilities().flat_map(|c| c.templates);
        let listed = templates.map(|(template, title, about, mime)| {
            ResourceTemplate::new(*template, *title)
                .with_title(*title)
                .with_description(*about)
                .with_mime_type(*mime)
        });
        let listed = ListResourceTemplatesResult::with_all_items(listed.collect());
        Ok(listed.with_ttl_ms(TTL_MS).with_cache_scope(cache_scope(&context)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = Server::caller(&context).info;
        let call = self.executor.context(self.executor.bundle(), caller);
        let found =
            self.toolsets.capabilities().find_map(|c| (c.read_resource)(&call, &request.uri));
        match found {
            Some((mime, text)) => {
                let contents = ResourceContents::text(text, &request.uri).with_mime_type(mime);
                let read = ReadResourceResult::new(vec![contents]).with_ttl_ms(TTL_MS);
                Ok(read.with_cache_scope(cache_scope(&context)).into())
            }
            None => {
                let shown: String = request.uri.chars().take(100).collect();
                let data = json!({ "uri": shown });
                let message = format!("There is no resource {shown:?}.");
                Err(ErrorData::resource_not_found(message, Some(data)))
            }
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (argument, typed) = (request.argument.name, request.argument.value);
        let is_known = match &request.r#ref {
            Reference::Prompt(named) => {
                let prompt = self.prompts().into_iter().find(|prompt| prompt.name == named.name);
                let has = |(name, _, _): &(&str, &str, bool)| *name == argument;
                prompt.is_some_and(|prompt| prompt.arguments.iter().any(has))
            }
            Reference::Resource(_) => true,
            _ => false,
        };
        if !is_known || typed.len() > LONGEST_TEXT {
            return Ok(CompleteResult::new(CompletionInfo::default()));
        }
        let caller = Server::caller(&context).info;
        let call = self.executor.context(self.executor.bundle(), caller);
        let capabilities: Vec<_> = self.toolsets.capabilities().collect();
        let found = self.executor.run(Cost::Query, call, move |context| {
            let mut values = Vec::new();
            for capability in capabilities {
                values.extend((capability.complete)(context, &argument, &typed)?);
            }
            Ok(values)
        });
        let values = found.await.map_err(|error| ErrorData::internal_error(error.message, None))?;
        let has_more = values.len() > MOST_COMPLETIONS;
        let values = values.into_iter().take(MOST_COMPLETIONS).collect();
        let info = CompletionInfo::with_pagination(values, None, has_more).unwrap_or_default();
        Ok(CompleteResult::new(info))
    }
}
