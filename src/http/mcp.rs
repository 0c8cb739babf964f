//! `/mcp`: rmcp's streamable HTTP server behind the same front as everything else, and what people
//! and registries see at the same address. `/mcp/x/{toolset}` is the same with one toolset.

use std::net::Ipv6Addr;
use std::sync::Arc;

use actix_web::guard::{self, GuardContext};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap};
use actix_web::middleware::from_fn;
use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};
use maud::html;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp_actix_web::transport::StreamableHttpService;
use serde_json::json;

use super::access_guard::AccessGuard;
use super::explorer::layout::Page;
use super::front::RequestInfo;
use super::{pages, setup_page, splice};
use crate::api::{Code, Error, Scope};
use crate::executor::Executor;
use crate::mcp::{Caller, Options, PROTOCOL, ResultJson, Server};

pub type Service = StreamableHttpService<Server>;

/// Endpoints of single toolsets are below this path.
const TOOLSETS: &str = "/mcp/x/";

/// A path at which the protocol is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpEndpoint<'a> {
    /// The configured set.
    All,
    Toolset(&'a str),
}

/// The endpoint at a path, if it is one.
pub fn endpoint(path: &str) -> Option<McpEndpoint<'_>> {
    let path = path.strip_suffix('/').unwrap_or(path);
    match path.strip_prefix(TOOLSETS) {
        Some(name) if !name.is_empty() && !name.contains('/') => Some(McpEndpoint::Toolset(name)),
        _ => (path == "/mcp").then_some(McpEndpoint::All),
    }
}

impl McpEndpoint<'_> {
    /// As the metrics name it.
    pub const fn route(self) -> &'static str {
        match self {
            McpEndpoint::All => "/mcp",
            McpEndpoint::Toolset(_) => "/mcp/x/{toolset}",
        }
    }
}

/// The server of an endpoint, and its service.
#[derive(Clone)]
pub struct Mounted {
    path: String,
    server: Server,
    service: Service,
}

/// The endpoints: the configured set, and each toolset alone. Made once for all workers: sessions
/// are shared.
pub fn mount_all(executor: &Arc<Executor>, options: &Options) -> Vec<Mounted> {
    let mounted = |path: String, toolsets| {
        let server = Server::new(executor.clone(), toolsets, options.bare_search);
        Mounted { path, service: mount(server.clone(), options), server }
    };
    let all = &executor.toolsets;
    let single = all.capabilities().filter_map(|capability| {
        Some(mounted(format!("{TOOLSETS}{}", capability.name), all.only(capability.name)?))
    });
    single.chain([mounted("/mcp".into(), all.clone())]).collect()
}

/// Any MCP server as we mount it: which hosts and origins may call, stateless or not, answers as
/// JSON.
pub fn mount<S: ServerHandler + Clone>(server: S, settings: &Options) -> StreamableHttpService<S> {
    let own = ["localhost", "127.0.0.1", "[::1]", "::1"];
    let hosts = own.iter().map(|h| h.to_string()).chain(settings.hosts.iter().cloned()).collect();
    let local = ["localhost", "127.0.0.1", "[::1]"].into_iter();
    let local =
        local.flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}:*")));
    let own_pages = settings
        .hosts
        .iter()
        .flat_map(|host| ["http", "https"].map(|scheme| with_port(scheme, host, Some("*"))));
    let other_pages = settings.origins.iter().filter_map(|origin| {
        let (scheme, rest) = origin.split_once("://")?;
        Some(with_port(scheme, rest.split('/').next()?, None))
    });
    let origins = local.chain(own_pages).chain(other_pages).collect();
    StreamableHttpService::builder()
        .service_factory(Arc::new(move || Ok(server.clone())))
        .session_manager(Arc::new(LocalSessionManager::default()))
        .stateful_mode(settings.sessions)
        .cancellation_token(settings.stop.child_token())
        .json_response(true)
        .allowed_hosts(hosts)
        .allowed_origins(origins)
        .on_request_fn(|request, extensions| {
            if let Some(info) = request.extensions().get::<RequestInfo>() {
                let traceparent =
                    request.headers().get("traceparent").and_then(|v| v.to_str().ok());
                extensions.insert(Caller {
                    info: info.caller.clone(),
                    traceparent: traceparent.and_then(Caller::traced),
                    json: request.extensions().get::<ResultJson>().cloned(),
                });
            }
        })
        .build()
}

/// An origin with an explicit port, as rmcp wants it: the one given, or else `port`, or else the
/// default of the scheme (RFC 6454).
fn with_port(scheme: &str, host: &str, port: Option<&str>) -> String {
    if host.parse::<Ipv6Addr>().is_ok() {
        return with_port(scheme, &format!("[{host}]"), port);
    }
    let port = port.unwrap_or(match scheme {
        "https" => "443",
        "http" => "80",
        // Such as browser extensions: there is no port to compare.
        _ => "*",
    });
    // A colon in brackets is part of an IPv6 address.
    let has_port = host.rsplit(']').next().is_some_and(|rest| rest.contains(':'));
    if has_port { format!("{scheme}://{host}") } else { format!("{scheme}://{host}:{port}") }
}

/// Everything below `/mcp`.
pub fn routes(config: &mut web::ServiceConfig, endpoints: Vec<Mounted>, sessions: bool) {
    let stream =
        |context: &GuardContext| wants_stream(&context.head().method, context.head().headers());
    let metadata = "/.well-known/oauth-protected-resource";
    config
        .service(web::resource("/mcp/manifest.json").to(manifest))
        .service(web::resource(metadata).to(protected_resource));
    for Mounted { path, server, service } in endpoints {
        let page_only = guard::All(guard::Get()).and(guard::Not(guard::fn_guard(stream)));
        config
            .service(web::resource(format!("{metadata}{path}")).to(protected_resource))
            .service(web::resource(&path).guard(guard::Head()).to(head));
        if !sessions {
            let resource = web::resource(&path).guard(guard::fn_guard(stream));
            config.service(resource.to(no_stream));
        }
        let page_server = web::Data::new(server);
        let page = web::resource(&path).guard(page_only).app_data(page_server).to(page);
        config.service(page);
        // The answers of sessions are streams of events.
        let calls = web::scope(&path).service(service.scope());
        match sessions {
            true => config.service(calls),
            false => config.service(calls.wrap(from_fn(splice::splice))),
        };
    }
}

/// A GET that waits for messages rather than for a page.
pub fn wants_stream(method: &Method, headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok());
    method == Method::GET && accepts.is_some_and(|a| a.contains("text/event-stream"))
}

/// There is no event stream: every answer comes with its request.
async fn no_stream(request: HttpRequest) -> HttpResponse {
    super::respond::error(
        &request,
        &Error::new(Code::MethodNotAllowed, "There is no event stream here: POST each request."),
    )
}

async fn head() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header(("mcp-protocol-version", PROTOCOL.as_str()))
        .content_type("text/html; charset=utf-8")
        .finish()
}

async fn page(
    request: HttpRequest,
    executor: web::Data<Executor>,
    server: web::Data<Server>,
    guard: web::Data<AccessGuard>,
) -> HttpResponse {
    let path = request.path().trim_end_matches('/');
    let url = format!("{}{path}", guard.base(&request));
    let needs_key = guard.access.is_some();
    let bundle = executor.bundle();
    let body = html! {
        h1 { "Josh for agents (MCP)" }
        p { "Give this address to an MCP client:" }
        pre { (url) }
        (setup_page::clients(&url, needs_key))
        h2 { "Tools" }
        div .scroll tabindex="0" role="region" aria-label="Tools" {
            table {
                caption { "What agents can call at this address" }
                thead { tr { th scope="col" { "Tool" } th scope="col" { "What it does" } } }
                tbody {
                    @for tool in &server.advertised().tools {
                        @let about = tool.description.as_deref().unwrap_or_default();
                        tr {
                            td { code { (tool.name) } }
                            td {
                                (tool.title.as_deref().unwrap_or_default()) ": "
                                (about.split(". ").next().unwrap_or_default().replace('`', ""))
                            }
                        }
                    }
                }
            }
        }
    };
    let page = Page::new("For agents (MCP)", body).twin("Manifest", "/mcp/manifest.json");
    pages::framed(&page, &bundle)
}

/// What the MCP registry wants to know.
async fn manifest(
    request: HttpRequest,
    executor: web::Data<Executor>,
    guard: web::Data<AccessGuard>,
) -> HttpResponse {
    let url = format!("{}/mcp", guard.base(&request));
    let bundle = executor.bundle();
    let tools = executor.toolsets.tools(&bundle);
    let tools = tools.map(|(_, tool)| json!({ "name": tool.name, "title": tool.title }));
    HttpResponse::Ok().json(json!({
        "name": "io.github.usejosh/josh",
        "title": "Josh",
        "description": "United States federal policy data: cited look-ups, search and numbers from \
                        one offline bundle.",
        "version": env!("CARGO_PKG_VERSION"),
        "remotes": [{ "type": "streamable-http", "url": url }],
        "tools": tools.collect::<Vec<_>>(),
        "documentation": url,
    }))
}

/// RFC 9728: where tokens for this server come from, if it asks for any.
async fn protected_resource(request: HttpRequest, guard: web::Data<AccessGuard>) -> HttpResponse {
    let path = request.path().trim_end_matches('/');
    let path = path.strip_prefix("/.well-known/oauth-protected-resource").unwrap_or_default();
    let path = if path.is_empty() { "/mcp" } else { path };
    let resource = format!("{}{path}", guard.base(&request));
    let servers: Vec<&str> = guard.access.iter().filter_map(|access| access.issuer()).collect();
    let mut about = json!({ "resource": resource, "authorization_servers": servers });
    if guard.access.is_some() {
        // Only scopes that an operation of this server asks for.
        let executor = request.app_data::<web::Data<Executor>>();
        let is_used = |scope: &Scope| {
            *scope == Scope::Read
                || executor.is_some_and(|e| e.toolsets.operations().any(|o| o.scope == *scope))
        };
        let scopes: Vec<&str> =
            Scope::ALL.iter().filter(|s| is_used(s)).map(|s| s.name()).collect();
        about["bearer_methods_supported"] = json!(["header"]);
        about["scopes_supported"] = json!(scopes);
        about["resource_name"] = json!("Josh");
    }
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-cache")).json(about)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_have_a_port() {
        for (scheme, host, port, origin) in [
            ("https", "josh.example.org", Some("*"), "https://josh.example.org:*"),
            ("https", "app.example.org", None, "https://app.example.org:443"),
            ("http", "app.example.org", None, "http://app.example.org:80"),
            ("https", "app.example.org:8443", None, "https://app.example.org:8443"),
            ("https", "josh.example.org:8443", Some("*"), "https://josh.example.org:8443"),
            ("http", "2001:db8::1", Some("*"), "http://[2001:db8::1]:*"),
            ("http", "[2001:db8::1]", None, "http://[2001:db8::1]:80"),
            ("http", "[2001:db8::1]:81", None, "http://[2001:db8::1]:81"),
            ("vscode-webview", "abc", None, "vscode-webview://abc:*"),
        ] {
            assert_eq!(with_port(scheme, host, port), origin);
        }
    }
}
