//! `/mcp`: rmcp's streamable HTTP server behind our front door, and what people and registries see at the same address.

use std::sync::Arc;

use actix_web::guard::{self, GuardContext};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap};
use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp_actix_web::transport::StreamableHttpService;
use serde_json::json;

use super::door::Door;
use super::front::Context;
use super::pages::{escape, html};
use crate::access::SCOPES;
use crate::error::{Code, Error};
use crate::mcp::{Caller, Options, PROTOCOL, Server};
use crate::service::Josh;

const PAGE: &str = include_str!("../../assets/web/mcp.html");

/// What a client's settings need besides the address, where a key is asked for.
const HEADERS: &str = r#", "headers": { "Authorization": "Bearer KEY" }"#;

pub type Service = StreamableHttpService<Server>;

/// The server and its service, made once for all workers: sessions are shared.
pub fn service(josh: Arc<Josh>, settings: &Options) -> (Server, Service) {
    let server = Server::new(josh, settings.bare_search);
    (server.clone(), mount(server, settings))
}

/// Any MCP server as we mount it: which hosts and origins may call, stateless or not, answers as JSON.
pub fn mount<S: ServerHandler + Clone>(server: S, settings: &Options) -> StreamableHttpService<S> {
    let own = ["localhost", "127.0.0.1", "[::1]", "::1"];
    let hosts = own.iter().map(|h| h.to_string()).chain(settings.hosts.iter().cloned()).collect();
    let local = ["localhost", "127.0.0.1", "[::1]"].into_iter();
    let local = local.flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}:*")));
    let named = settings.hosts.iter().flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}")));
    let origins = local.chain(named).chain(settings.origins.iter().cloned()).collect();
    StreamableHttpService::builder()
        .service_factory(Arc::new(move || Ok(server.clone())))
        .session_manager(Arc::new(LocalSessionManager::default()))
        .stateful_mode(settings.sessions)
        .json_response(true)
        .allowed_hosts(hosts)
        .allowed_origins(origins)
        .on_request_fn(|request, extensions| {
            if let Some(context) = request.extensions().get::<Context>() {
                let traceparent = request.headers().get("traceparent").and_then(|v| v.to_str().ok());
                extensions.insert(Caller {
                    request_id: context.request_id.clone(),
                    started: context.started,
                    traceparent: traceparent.and_then(Caller::traced),
                    identity: context.identity.clone(),
                });
            }
        })
        .build()
}

/// Everything below `/mcp`.
pub fn routes(config: &mut web::ServiceConfig, (server, service): (Server, Service), sessions: bool) {
    let stream = |context: &GuardContext| wants_stream(&context.head().method, context.head().headers());
    config
        .app_data(web::Data::new(server))
        .service(web::resource("/mcp/manifest.json").to(manifest))
        .service(web::resource("/.well-known/oauth-protected-resource").to(protected_resource))
        .service(web::resource("/.well-known/oauth-protected-resource/mcp").to(protected_resource))
        .service(web::resource("/mcp").guard(guard::Head()).to(head));
    if !sessions {
        config.service(web::resource("/mcp").guard(guard::fn_guard(stream)).to(not_here));
    }
    config
        .service(
            web::resource("/mcp").guard(guard::All(guard::Get()).and(guard::Not(guard::fn_guard(stream)))).to(page),
        )
        .service(web::scope("/mcp").service(service.scope()));
}

/// A GET that waits for messages rather than for a page.
pub fn wants_stream(method: &Method, headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok());
    method == Method::GET && accepts.is_some_and(|a| a.contains("text/event-stream"))
}

/// No stream to wait on: every answer comes with its request.
async fn not_here(request: HttpRequest) -> HttpResponse {
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
    josh: web::Data<Josh>,
    server: web::Data<Server>,
    door: web::Data<Door>,
) -> HttpResponse {
    let row = |(name, title, about): (String, String, String)| {
        let about: String = about.split(". ").next().unwrap_or_default().chars().take(160).collect();
        format!("<tr><td><code>{name}</code></td><td>{}: {}</td></tr>\n", escape(&title), escape(&about))
    };
    let tools: String = server.tools().into_iter().map(row).collect();
    let body = PAGE
        .replace("{{version}}", env!("CARGO_PKG_VERSION"))
        .replace("{{as_of}}", &escape(&josh.bundle().manifest.as_of))
        .replace("{{url}}", &escape(&format!("{}/mcp", door.base(&request))))
        .replace("{{flag}}", if door.access.is_some() { " --header 'Authorization: Bearer KEY'" } else { "" })
        .replace("{{headers}}", if door.access.is_some() { HEADERS } else { "" })
        .replace("{{tools}}", &tools);
    html(body)
}

/// What the MCP registry wants to know.
async fn manifest(request: HttpRequest, server: web::Data<Server>, door: web::Data<Door>) -> HttpResponse {
    let url = format!("{}/mcp", door.base(&request));
    let tools: Vec<_> =
        server.tools().into_iter().map(|(name, title, _)| json!({ "name": name, "title": title })).collect();
    HttpResponse::Ok().json(json!({
        "name": "io.github.usejosh/josh",
        "title": "Josh",
        "description": "United States federal policy data: cited look-ups, search and numbers from one offline bundle.",
        "version": env!("CARGO_PKG_VERSION"),
        "remotes": [{ "type": "streamable-http", "url": url }],
        "tools": tools,
        "documentation": url,
    }))
}

/// RFC 9728: where tokens for this server come from, if it asks for any.
async fn protected_resource(request: HttpRequest, door: web::Data<Door>) -> HttpResponse {
    let resource = format!("{}/mcp", door.base(&request));
    let servers: Vec<&str> = door.access.iter().filter_map(|access| access.issuer()).collect();
    let mut about = json!({ "resource": resource, "authorization_servers": servers });
    if door.access.is_some() {
        about["bearer_methods_supported"] = json!(["header"]);
        about["scopes_supported"] = json!(SCOPES);
        about["resource_name"] = json!("Josh");
    }
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-cache")).json(about)
}
