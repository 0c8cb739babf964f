//! The Model Context Protocol, over HTTP and over standard input and output: the same server, a thin layer over `service`.
//! A tool turns its arguments into a `Call`; the answer is the one that REST gives.

mod args;
mod completion;
mod offer;
mod output;
mod prompts;
mod reply;
mod resources;
mod tools;

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwapOption;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    Tool as Advertised,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::access::Identity;
use crate::answer::Asked;
use crate::metrics::METRICS;
use crate::query::Params;
use crate::service::{Call, Josh};
use offer::Offer;
use resources::Guide;
use tools::{Tool, Work};

/// How long lists may be kept: a bundle never changes, and a new one is no emergency.
const TTL_MS: u64 = 3_600_000;

/// The newest revision that begins with `initialize`.
pub const PROTOCOL: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// The server. Cheap to clone: one for each request is made.
#[derive(Clone)]
pub struct Server {
    josh: Arc<Josh>,
    offer: Arc<ArcSwapOption<Offer>>,
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
}

/// Who calls, as the surface knows it.
#[derive(Clone)]
pub struct Caller {
    pub request_id: String,
    pub started: Instant,
    pub traceparent: Option<String>,
    pub identity: Option<Identity>,
}

impl Caller {
    /// A trace context, if it is fit for a log line.
    pub fn traced(traceparent: &str) -> Option<String> {
        let fits = traceparent.len() <= 64 && traceparent.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        fits.then(|| traceparent.to_string())
    }
}

impl Server {
    pub fn new(josh: Arc<Josh>, bare_search: bool) -> Server {
        Server { josh, offer: Arc::default(), bare_search }
    }

    /// What the open bundle offers, rendered when it is first asked for.
    pub fn offer(&self) -> Arc<Offer> {
        let bundle = self.josh.bundle();
        match self.offer.load_full() {
            Some(offer) if Arc::ptr_eq(&offer.bundle, &bundle) => offer,
            _ => {
                let offer = Arc::new(Offer::of(bundle, self.bare_search));
                self.offer.store(Some(offer.clone()));
                offer
            }
        }
    }

    /// Names, titles and descriptions of the tools, for those who only list them.
    pub fn tools(&self) -> Vec<(String, String, String)> {
        let text = |text: &Option<std::borrow::Cow<'static, str>>| text.as_deref().unwrap_or_default().to_string();
        let offer = self.offer();
        let tools = offer.tools.iter();
        tools.map(|t| (t.name.to_string(), t.title.clone().unwrap_or_default(), text(&t.description))).collect()
    }

    async fn call(
        &self,
        offer: &Offer,
        tool: &Tool,
        request: CallToolRequestParams,
        caller: &Caller,
    ) -> Result<CallToolResult, ErrorData> {
        let (work, is_full) = tool.read(request.arguments).map_err(|reason| ErrorData::invalid_params(reason, None))?;
        Ok(match work {
            Work::Call(call, params) => match self.answer(offer, call, params, caller).await {
                Ok(answer) => reply::result(answer, is_full),
                Err(error) => {
                    if let Some(cause) = &error.cause {
                        tracing::error!(
                            request_id = caller.request_id,
                            code = error.code.as_str(),
                            cause,
                            "tool call failed"
                        );
                    }
                    reply::failure(&error, &caller.request_id)
                }
            },
            Work::Ping => {
                let manifest = &offer.bundle.manifest;
                let bundle = json!({ "id": manifest.id, "as_of": manifest.as_of });
                reply::result(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION"), "bundle": bundle }), true)
            }
            Work::Guide(key) => {
                let Some(guide) = Guide::find(&key) else {
                    let keys: Vec<&str> = resources::GUIDES.iter().map(|g| g.key).collect();
                    let reason = format!("`guide_key` takes one of {}.", keys.join(", "));
                    return Err(ErrorData::invalid_params(reason, None));
                };
                reply::result(json!({ "guide_key": guide.key, "title": guide.title, "text": guide.text(offer) }), true)
            }
        })
    }

    /// The answer of REST; a list too large for one result is asked for again in smaller pages, so that its cursor stays right.
    async fn answer(&self, offer: &Offer, call: Call, params: Params, caller: &Caller) -> crate::error::Result<Value> {
        let asked = Asked { request_id: &caller.request_id, started: caller.started };
        let mut params = params;
        loop {
            let answer = self.josh.answer(&offer.bundle, call.clone(), params.clone()).await?;
            let body = answer.into_body(&offer.bundle, asked);
            let limit = params.get("limit").and_then(|limit| limit.parse::<usize>().ok()).filter(|limit| *limit > 1);
            match limit {
                Some(limit) if body.len() > reply::MOST_BYTES => params.set("limit", &(limit / 2).to_string()),
                _ => return serde_json::from_str(&body).map_err(crate::error::Error::internal),
            }
        }
    }

    fn caller(context: &RequestContext<RoleServer>) -> Caller {
        let parts = context.extensions.get::<::http::request::Parts>();
        let traced = context.meta.get("traceparent").and_then(Value::as_str).and_then(Caller::traced);
        let carried = parts.and_then(|parts| parts.extensions.get::<rmcp::model::Extensions>());
        match carried.and_then(|carried| carried.get::<Caller>()) {
            Some(caller) => Caller { traceparent: traced.or_else(|| caller.traceparent.clone()), ..caller.clone() },
            None => {
                let request_id = crate::answer::new_request_id();
                Caller { request_id, started: Instant::now(), traceparent: traced, identity: None }
            }
        }
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
        config.with_instructions(self.offer().instructions.clone())
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let found = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(found.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = ListToolsResult::with_all_items(self.offer().tools.clone());
        Ok(listed.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Advertised> {
        self.offer().tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = Server::caller(&context);
        let offer = self.offer();
        let Some(tool) = Tool::find(&offer, &request.name) else {
            let shown: String = request.name.chars().take(64).collect();
            let names: Vec<&str> = offer.tools.iter().map(|tool| tool.name.as_ref()).collect();
            let near = crate::error::nearest(&shown, &names).map(|n| format!(" Did you mean {n}?")).unwrap_or_default();
            return Err(ErrorData::invalid_params(format!("There is no tool {shown:?}.{near}"), None));
        };
        // A cancelled call ends here, and its query with it.
        let called = tokio::select! {
            // Boxed: rmcp moves this future about, and it is large.
            called = Box::pin(self.call(&offer, tool, request, &caller)) => called,
            () = context.ct.cancelled() => Err(ErrorData::internal_error("The call was cancelled.", None)),
        };
        let is_ok = called.as_ref().is_ok_and(|result| result.is_error != Some(true));
        let status = if is_ok { "ok" } else { "error" };
        let took = caller.started.elapsed().as_secs_f64();
        METRICS.tool_call(tool.name, status, took);
        tracing::info!(
            tool_name = tool.name,
            request_id = caller.request_id,
            duration_ms = took * 1e3,
            result_status = status,
            caller_kind = caller.identity.as_ref().map_or("anonymous", |identity| identity.kind),
            caller = caller.identity.as_ref().map(|identity| identity.key.as_str()),
            traceparent = caller.traceparent,
            "tool call"
        );
        called.map(CallToolResponse::from)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let bundle = self.josh.bundle();
        let listed = ListPromptsResult::with_all_items(prompts::list(&|key| bundle.source(key).is_some()));
        Ok(listed.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let bundle = self.josh.bundle();
        prompts::get(&request.name, request.arguments, &|key| bundle.source(key).is_some())
            .map(GetPromptResponse::from)
            .map_err(|reason| ErrorData::invalid_params(reason, None))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = ListResourcesResult::with_all_items(resources::list(&self.offer()));
        Ok(listed.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let listed = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(listed.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resources::read(&self.offer(), &request.uri) {
            Some(contents) => {
                let read = ReadResourceResult::new(vec![contents]);
                Ok(read.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public).into())
            }
            None => {
                let shown: String = request.uri.chars().take(100).collect();
                let data = json!({ "uri": shown });
                Err(ErrorData::resource_not_found(format!("There is no resource {shown:?}."), Some(data)))
            }
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (argument, typed) = (&request.argument.name, &request.argument.value);
        Ok(CompleteResult::new(completion::complete(&self.offer(), &request.r#ref, argument, typed)))
    }
}
