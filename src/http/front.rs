//! What every request passes: a request id, sizes, the method, the access guard, CORS headers, one
//! log line, the metrics.

use std::cell::Cell;
use std::os::fd::RawFd;
use std::time::Instant;

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{ConnectionType, Method};
use actix_web::middleware::Next;
use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpResponse, web};
use tracing::Instrument;

use super::access_guard::{AccessGuard, HEALTH, RpcCall, Sender};
use super::login::{LOGIN, LOGOUT};
use super::mcp::endpoint;
use super::router::Router;
use super::sessions::{Opening, Sessions};
use super::trace::Trace;
use super::{Stopping, message, redact, respond};
use crate::api::{CallerInfo, Code, Error, Result, Scope};
use crate::executor::Executor;
use crate::metrics::METRICS;
use crate::request_id::new_request_id;
use crate::telemetry::AUDIT;

/// Requests need no body; a small one is passed over, a large one refused.
const LARGEST_BODY: u64 = 64 * 1024;
/// Far above the longest filter that makes sense.
const LONGEST_URI: usize = 8 * 1024;
const LARGEST_HEADERS: usize = 32 * 1024;

/// For Prometheus.
pub const METRICS_PATH: &str = "/metrics";

/// Tool calls among what comes to `/mcp`, as the counters name them.
const TOOL_CALL: &str = "/mcp tools/call";

/// For browsers: a year. Not with a self-signed certificate, which a visitor must be able to
/// accept.
const ONLY_HTTPS: &str = "max-age=31536000";

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The socket that a request came on.
pub struct Socket(pub RawFd);

impl Socket {
    /// Takes nothing more from the other side. actix would wait for the end of a chunked body for
    /// ever, however slow it comes.
    pub fn stop_reading(&self) {
        // SAFETY: asked by a request that is being handled, so its connection is open and the
        // number is its own.
        unsafe { libc::shutdown(self.0, libc::SHUT_RD) };
    }
}

/// The body of a request to an operation that takes one.
pub struct JsonBody(pub Bytes);

/// Far above the data of the longest form.
const LARGEST_JSON: usize = 64 * 1024;

/// What is known about a request.
pub struct RequestInfo {
    pub caller: CallerInfo,
    pub trace: Option<Trace>,
    /// The pattern of the path, for the metrics.
    pub route: Cell<&'static str>,
}

pub async fn front<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, actix_web::Error> {
    let request_id = given_id(request.headers()).unwrap_or_else(new_request_id);
    let span = tracing::debug_span!("request", id = request_id);
    request.extensions_mut().insert(RequestInfo {
        caller: CallerInfo { request_id, started: Instant::now(), identity: None },
        trace: Trace::read(request.headers()),
        route: Cell::new(route(request.path())),
    });

    let early = if request.method() == Method::OPTIONS {
        let methods = if endpoint(request.path()).is_some() { MCP_METHODS } else { METHODS };
        Some(options(methods))
    } else {
        let passed = pass(&mut request).instrument(span.clone()).await;
        passed.err().map(|error| respond::error(request.request(), &error))
    };
    let mut response = match early {
        Some(early) => request.into_response(early).map_into_right_body(),
        None => next.call(request).instrument(span).await?.map_into_left_body(),
    };

    let exchange = response.request().clone();
    let extensions = exchange.extensions();
    let Some(info) = extensions.get::<RequestInfo>() else { return Ok(response) };
    let is_ended = exchange.method() == Method::DELETE && response.status().is_success();
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&info.caller.request_id) {
        headers.insert(REQUEST_ID, id);
    }
    if let Some(Ok(own)) = info.trace.as_ref().map(|trace| HeaderValue::from_str(&trace.header())) {
        headers.insert(TRACEPARENT, own);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let guard = exchange.app_data::<web::Data<AccessGuard>>();
    if guard.is_some_and(|guard| guard.is_only_https) {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(ONLY_HTTPS));
    }
    let is_stopping =
        exchange.app_data::<web::Data<Stopping>>().is_some_and(|stopping| stopping.has_begun());
    // The buffer of a connection that is kept would keep somebody's data.
    let may_hold_data = *exchange.method() == Method::POST
        && exchange
            .app_data::<web::Data<Executor>>()
            .is_some_and(|executor| executor.forms().is_some());
    if is_stopping || may_hold_data {
        response.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    if let Some(sessions) = exchange.app_data::<web::Data<Sessions>>() {
        if let Some(opening) = extensions.get::<Opening>() {
            sessions.opened(*opening, response.headers());
        }
        if is_ended {
            sessions.ended(exchange.headers());
        }
    }
    let took = info.caller.started.elapsed().as_secs_f64();
    METRICS.request(info.route.get(), response.status().as_u16(), took);
    log(&response, info);
    Ok(response)
}

/// Whether the request is one that we take, from someone who may send it.
async fn pass(request: &mut ServiceRequest) -> Result<()> {
    refuse(request)?;
    let Some(guard) = request.app_data::<web::Data<AccessGuard>>().cloned() else {
        return Err(Error::internal("an application without an access guard"));
    };
    // Before the body: whoever may not send one should not be waited for.
    let sender = guard.identify(request.request()).await?;
    let mut rpc = None;
    if endpoint(request.path()).is_some() && *request.method() == Method::POST {
        let most = match sender {
            Sender::Unknown(_) => message::LARGEST_UNIDENTIFIED,
            Sender::Anyone | Sender::Known(_) => message::LARGEST,
        };
        let body = message::read(request, most).await?;
        rpc = RpcCall::read(&body);
        if let Some(sessions) = request.app_data::<web::Data<Sessions>>() {
            // What we can't read, rmcp may take for the message that opens a session.
            let may_open = rpc.as_ref().is_none_or(|rpc| rpc.method == "initialize");
            if !sessions.check(request, &sender)? && may_open {
                let opening = sessions.begin(request, &sender, body.len())?;
                request.extensions_mut().insert(opening);
            }
        }
        request.set_payload(Payload::from(body));
    } else if let Some(sessions) = request.app_data::<web::Data<Sessions>>() {
        sessions.check(request, &sender)?;
    }
    let scope = match guard.access {
        Some(_) => scope(request, rpc.as_ref()),
        None => Scope::Read,
    };
    let method = rpc.as_ref().map(|rpc| rpc.method.as_str());
    let identity = guard.admit(request.request(), sender, method, scope)?;
    if takes_body(request) {
        let body = read_json(request, guard.access.is_some()).await?;
        request.extensions_mut().insert(JsonBody(body));
    }
    if let Some(info) = request.extensions_mut().get_mut::<RequestInfo>() {
        info.caller.identity = identity;
        if method == Some("tools/call") {
            info.route.set(TOOL_CALL);
        }
    }
    Ok(())
}

/// Whether this is a POST to an operation that takes one.
fn takes_body(request: &ServiceRequest) -> bool {
    let router = request.app_data::<web::Data<Router>>();
    *request.method() == Method::POST
        && endpoint(request.path()).is_none()
        && router.is_some_and(|router| router.takes_body(request.uri().path()))
}

/// A page of another site can make its visitor's browser send a POST: without a key that would be
/// enough, so neither its content types nor its `Origin` are accepted.
async fn read_json(request: &mut ServiceRequest, is_guarded: bool) -> Result<Bytes> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.map(|kind| kind.split(';').next().unwrap_or(kind).trim());
    if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
        let message = "Send a JSON object with `Content-Type: application/json`.";
        return Err(Error::invalid("content-type", message));
    }
    if !is_guarded && request.headers().contains_key(header::ORIGIN) {
        let message = "Pages can't call this on a server that asks nobody for a key.";
        return Err(Error::new(Code::InsufficientScope, message)
            .hint("next", "Call it from a program, or run the server with --auth keys."));
    }
    message::read(request, LARGEST_JSON).await
}

/// What the caller must be allowed to do: the operation says it, everything else reads.
fn scope(request: &ServiceRequest, rpc: Option<&RpcCall>) -> Scope {
    let of_tool = |name: &str| {
        let executor = request.app_data::<web::Data<Executor>>()?;
        executor.toolsets.scope_of_tool(name)
    };
    let of_route = || request.app_data::<web::Data<Router>>()?.scope(request.uri().path());
    let scope = match rpc {
        Some(call) => call.tool.as_deref().and_then(of_tool),
        None if request.path() == METRICS_PATH => Some(Scope::Metrics),
        None => of_route(),
    };
    scope.unwrap_or(Scope::Read)
}

/// Where a browser sends a form.
const FORMS: [&str; 2] = [LOGIN, LOGOUT];

const METHODS: &str = "GET, HEAD, OPTIONS";
/// At `/mcp`.
const MCP_METHODS: &str = "GET, HEAD, POST, DELETE, OPTIONS";

/// Any origin, no credentials: a browser sends our cookie from our own pages only (SameSite), and
/// every header we send may be seen.
const EXPOSED: &str = "ETag, Link, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count, \
    MCP-Protocol-Version, Mcp-Session-Id";

/// What a browser may send.
const ALLOWED: &str = "Accept, Authorization, Content-Type, If-None-Match, X-Request-Id, \
    Last-Event-ID, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, traceparent, \
    tracestate";

/// The answer to OPTIONS, a browser's preflight or not.
fn options(methods: &'static str) -> HttpResponse {
    HttpResponse::NoContent()
        .insert_header((header::ALLOW, methods))
        .insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, methods))
        .insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED))
        .insert_header((header::ACCESS_CONTROL_MAX_AGE, "86400"))
        .finish()
}

fn refuse(request: &ServiceRequest) -> Result<()> {
    let length = request.uri().path_and_query().map_or(0, |p| p.as_str().len());
    if length > LONGEST_URI {
        return Err(Error::new(
            Code::UriTooLong,
            format!("The address is longer than {LONGEST_URI} bytes."),
        ));
    }
    if request
        .headers()
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum::<usize>()
        > LARGEST_HEADERS
    {
        return Err(Error::new(
            Code::HeadersTooLarge,
            format!("The headers are larger than {LARGEST_HEADERS} bytes."),
        ));
    }
    if endpoint(request.path()).is_some()
        && matches!(*request.method(), Method::POST | Method::DELETE)
    {
        return Ok(());
    }
    let is_form = *request.method() == Method::POST && FORMS.contains(&request.path());
    let is_form = is_form || takes_body(request);
    if !is_form && !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(Error::new(
            Code::MethodNotAllowed,
            format!("{} is not allowed here.", request.method()),
        ));
    }
    let length = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
    match length.is_some_and(|length| length > LARGEST_BODY) {
        true => Err(Error::new(Code::PayloadTooLarge, "The request has a body, and a large one.")),
        false => Ok(()),
    }
}

/// The caller's own id, if it is fit for a header and a log line.
fn given_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let fit = (1..=128).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    fit.then(|| id.to_string())
}

/// The path as the metrics name it; below `/v1/` the operation knows better.
fn route(path: &str) -> &'static str {
    if let Some(endpoint) = endpoint(path) {
        return endpoint.route();
    }
    let known = super::access_guard::OPEN.iter().chain(&[METRICS_PATH]);
    known.copied().find(|known| *known == path).unwrap_or("other")
}

/// One line per request; health checks only when they fail. A tool call has a line of its own,
/// which says more.
fn log<B>(response: &ServiceResponse<B>, info: &RequestInfo) {
    let request = response.request();
    let (status, path) = (response.status().as_u16(), request.path());
    if !tracing::enabled!(target: AUDIT, tracing::Level::INFO)
        || (status < 500 && HEALTH.contains(&path))
    {
        return;
    }
    let guard = request.app_data::<web::Data<AccessGuard>>();
    let address = guard.and_then(|guard| guard.address(request)).map(|a| a.to_string());
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                target: AUDIT,
                request_id = info.caller.request_id,
                method = request.method().as_str(),
                path,
                query = redact::query(request.query_string()),
                status,
                took_us = info.caller.started.elapsed().as_micros() as u64,
                address,
                caller = info.caller.identity.as_ref().map(|i| i.key.as_str()),
                trace_id = info.trace.as_ref().map(|t| t.trace_id.as_str()),
                span_id = info.trace.as_ref().map(|t| t.span_id.as_str()),
                "request"
            )
        };
    }
    match status {
        500.. => line!(warn),
        200 if info.route.get() == TOOL_CALL => line!(debug),
        _ => line!(info),
    }
}
