//! What every request passes: a request id, the method, the size, CORS headers, one log line.

use std::time::Instant;

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpResponse};

use super::respond;
use crate::answer::{Asked, new_request_id};
use crate::error::{Code, Error};

/// Requests need no body; a small one is passed over, a large one refused.
const LARGEST_BODY: u64 = 64 * 1024;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a handler may want to know of its request.
pub struct Context {
    pub request_id: String,
    pub started: Instant,
}

impl Context {
    pub fn asked(&self) -> Asked<'_> {
        Asked { request_id: &self.request_id, started: self.started }
    }
}

pub async fn front<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, actix_web::Error> {
    let request_id = given_id(request.headers()).unwrap_or_else(new_request_id);
    let id_header = HeaderValue::from_str(&request_id);
    let started = Instant::now();
    request.extensions_mut().insert(Context { request_id: request_id.clone(), started });

    let early = if request.method() == Method::OPTIONS {
        Some(options(if is_mcp(request.path()) { MCP_METHODS } else { METHODS }))
    } else {
        refuse(&request).map(|error| respond::error(request.request(), &error))
    };
    let mut response = match early {
        Some(early) => request.into_response(early).map_into_right_body(),
        None => next.call(request).await?.map_into_left_body(),
    };

    let headers = response.headers_mut();
    if let Ok(id) = id_header {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    log(&response, &request_id, started);
    Ok(response)
}

const METHODS: &str = "GET, HEAD, OPTIONS";
/// At `/mcp`.
const MCP_METHODS: &str = "GET, HEAD, POST, DELETE, OPTIONS";

fn is_mcp(path: &str) -> bool {
    path == "/mcp" || path == "/mcp/"
}

/// Any origin, no credentials: the data are public, and so is every header we send.
const EXPOSED: &str = "ETag, Link, X-Request-Id, X-Total-Count, MCP-Protocol-Version, Mcp-Session-Id";

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

fn refuse(request: &ServiceRequest) -> Option<Error> {
    let is_mcp = is_mcp(request.path());
    if is_mcp && matches!(*request.method(), Method::POST | Method::DELETE) {
        // rmcp reads the body, and bounds it.
        return None;
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Some(Error::new(Code::MethodNotAllowed, format!("{} is not allowed here.", request.method())));
    }
    let length = request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse::<u64>().ok()?;
    (length > LARGEST_BODY).then(|| Error::new(Code::PayloadTooLarge, "The request has a body, and a large one."))
}

/// The caller's own id, if it is fit for a header and a log line.
fn given_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let fit = (1..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    fit.then(|| id.to_string())
}

/// Health checks stay out of the log; failures of ours are always in it.
fn log<B>(response: &ServiceResponse<B>, request_id: &str, started: Instant) {
    let (status, path) = (response.status().as_u16(), response.request().path());
    let took_us = started.elapsed().as_micros() as u64;
    let method = response.request().method().as_str();
    match path {
        "/livez" | "/readyz" | "/health" => {}
        _ if status >= 500 => tracing::warn!(request_id, method, path, status, took_us, "request"),
        _ => tracing::debug!(request_id, method, path, status, took_us, "request"),
    }
}
