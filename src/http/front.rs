//! What every request passes: a request id, sizes, the method, the door, CORS headers, one log line, the counters.

use std::cell::Cell;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpResponse, web};
use tracing::Instrument;

use super::door::{Door, HEALTH, rpc_method};
use super::trace::Trace;
use super::{is_mcp, respond};
use crate::access::Identity;
use crate::answer::{Asked, new_request_id};
use crate::error::{Code, Error, Result};
use crate::metrics::METRICS;

/// Requests need no body; a small one is passed over, a large one refused.
const LARGEST_BODY: u64 = 64 * 1024;
/// At `/mcp`. Calls are short; this is far above the longest.
const LARGEST_MESSAGE: usize = 1024 * 1024;
/// How long a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Far above the longest filter that makes sense.
const LONGEST_URI: usize = 8 * 1024;
const LARGEST_HEADERS: usize = 32 * 1024;

/// Tool calls among what comes to `/mcp`, as the counters name them.
const TOOL_CALL: &str = "/mcp tools/call";

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The socket that a request came on.
pub struct Socket(pub RawFd);

impl Socket {
    /// Takes nothing more from the other side. actix would wait for the end of a chunked body for ever, however slow it comes.
    fn stop_reading(&self) {
        // SAFETY: asked by a request that is being handled, so its connection is open and the number is its own.
        unsafe { libc::shutdown(self.0, libc::SHUT_RD) };
    }
}

/// What a handler may want to know of its request.
pub struct Context {
    pub request_id: String,
    pub started: Instant,
    pub identity: Option<Identity>,
    pub trace: Option<Trace>,
    /// The pattern of the path, for the counters: whoever knows it says it.
    pub route: Cell<&'static str>,
}

impl Context {
    pub fn asked(&self) -> Asked<'_> {
        Asked { request_id: &self.request_id, started: self.started }
    }
}

pub async fn front<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, actix_web::Error> {
    let context = Context {
        request_id: given_id(request.headers()).unwrap_or_else(new_request_id),
        started: Instant::now(),
        identity: None,
        trace: Trace::read(request.headers()),
        route: Cell::new(route(request.path())),
    };
    let span = tracing::debug_span!("request", id = context.request_id);
    request.extensions_mut().insert(context);

    let early = if request.method() == Method::OPTIONS {
        Some(options(if is_mcp(request.path()) { MCP_METHODS } else { METHODS }))
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
    let Some(context) = extensions.get::<Context>() else { return Ok(response) };
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&context.request_id) {
        headers.insert(REQUEST_ID, id);
    }
    if let Some(Ok(own)) = context.trace.as_ref().map(|trace| HeaderValue::from_str(&trace.header())) {
        headers.insert(TRACEPARENT, own);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    METRICS.request(context.route.get(), response.status().as_u16(), context.started.elapsed().as_secs_f64());
    log(&response, context);
    Ok(response)
}

/// Whether the request is one that we take, from someone who may ask.
async fn pass(request: &mut ServiceRequest) -> Result<()> {
    refuse(request)?;
    let mut rpc = None;
    if is_mcp(request.path()) && *request.method() == Method::POST {
        let body = read_body(request).await?;
        rpc = rpc_method(&body);
        request.set_payload(Payload::from(body));
    }
    let Some(door) = request.app_data::<web::Data<Door>>().cloned() else {
        return Err(Error::internal("an application without a door"));
    };
    let identity = door.admit(request.request(), rpc.as_deref()).await?;
    if let Some(context) = request.extensions_mut().get_mut::<Context>() {
        context.identity = identity;
        if rpc.as_deref() == Some("tools/call") {
            context.route.set(TOOL_CALL);
        }
    }
    Ok(())
}

async fn read_body(request: &mut ServiceRequest) -> Result<web::Bytes> {
    let too_large = || {
        let message = format!("The message is larger than {} KB.", LARGEST_MESSAGE / 1024);
        Error::new(Code::PayloadTooLarge, message).hint("next", "Send one call a message.")
    };
    let payload = request.extract::<web::Payload>().await.map_err(Error::internal)?;
    match tokio::time::timeout(BODY_TIME, payload.to_bytes_limited(LARGEST_MESSAGE)).await {
        Ok(Ok(Ok(body))) => Ok(body),
        Ok(Ok(Err(_))) => Err(Error::invalid("body", "The message broke off.")),
        Ok(Err(_)) => Err(too_large()),
        Err(_) => {
            if let Some(socket) = request.request().conn_data::<Socket>() {
                socket.stop_reading();
            }
            Err(Error::new(Code::RequestTimeout, "The message did not arrive in time."))
        }
    }
}

const METHODS: &str = "GET, HEAD, OPTIONS";
/// At `/mcp`.
const MCP_METHODS: &str = "GET, HEAD, POST, DELETE, OPTIONS";

/// Any origin, no credentials: no cookie is ever read, and every header we send may be seen.
const EXPOSED: &str =
    "ETag, Link, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count, MCP-Protocol-Version, Mcp-Session-Id";

/// What a browser may send.
const ALLOWED: &str = "Accept, Authorization, Content-Type, If-None-Match, X-Request-Id, Last-Event-ID, MCP-Protocol-Version, \
    Mcp-Session-Id, Mcp-Method, Mcp-Name, traceparent, tracestate";

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
        return Err(Error::new(Code::UriTooLong, format!("The address is longer than {LONGEST_URI} bytes.")));
    }
    if request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>() > LARGEST_HEADERS
    {
        return Err(Error::new(Code::HeadersTooLarge, format!("The headers are larger than {LARGEST_HEADERS} bytes.")));
    }
    if is_mcp(request.path()) && matches!(*request.method(), Method::POST | Method::DELETE) {
        return Ok(());
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(Error::new(Code::MethodNotAllowed, format!("{} is not allowed here.", request.method())));
    }
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
    match length.is_some_and(|length| length > LARGEST_BODY) {
        true => Err(Error::new(Code::PayloadTooLarge, "The request has a body, and a large one.")),
        false => Ok(()),
    }
}

/// The caller's own id, if it is fit for a header and a log line.
fn given_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let fit = (1..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    fit.then(|| id.to_string())
}

/// The path as the counters name it; below `/v1/` the call knows better.
fn route(path: &str) -> &'static str {
    let other = ["/metrics", "/mcp"];
    super::door::OPEN.iter().chain(&other).find(|known| **known == path).copied().unwrap_or("other")
}

/// One line a request; health checks only when they fail. A tool call has a line of its own, which says more.
fn log<B>(response: &ServiceResponse<B>, context: &Context) {
    let request = response.request();
    let (status, path) = (response.status().as_u16(), request.path());
    if tracing::enabled!(tracing::Level::INFO) && (status >= 500 || !HEALTH.contains(&path)) {
        let door = request.app_data::<web::Data<Door>>();
        let address = door.and_then(|door| door.address(request)).map(|address| address.to_string());
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
                    request_id = context.request_id,
                    method = request.method().as_str(),
                    path,
                    status,
                    took_us = context.started.elapsed().as_micros() as u64,
                    address,
                    caller = context.identity.as_ref().map(|i| i.key.as_str()),
                    trace_id = context.trace.as_ref().map(|t| t.trace_id.as_str()),
                    span_id = context.trace.as_ref().map(|t| t.span_id.as_str()),
                    "request"
                )
            };
        }
        match status {
            500.. => line!(warn),
            200 if context.route.get() == TOOL_CALL => line!(debug),
            _ => line!(info),
        }
    }
}
