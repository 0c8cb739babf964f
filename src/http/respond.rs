//! How answers become HTTP: ETags, caching, content types, the next page's link.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpMessage, HttpRequest, HttpResponse};

use super::front::Context;
use crate::answer::Answer;
use crate::bundle::{Bundle, stable_hash};
use crate::error::{Code, Error};
use crate::query::Format;

/// Clients may keep an answer, but ask whether it still holds: the next bundle may be a second away.
const CACHE: &str = "public, no-cache";
/// The same for an answer to someone who had to say who they are.
const OWN_CACHE: &str = "private, no-cache";

fn cache(request: &HttpRequest) -> &'static str {
    let is_known = request.extensions().get::<Context>().is_some_and(|context| context.identity.is_some());
    if is_known { OWN_CACHE } else { CACHE }
}

const JSON: &str = "application/json";

/// The weak ETag of an answer. Answers are a pure function of Josh's version, the bundle and the URL, but for
/// `request_id` and `took_ms`.
fn etag(request: &HttpRequest, bundle: &Bundle) -> String {
    let key = format!("{} {} {}", env!("CARGO_PKG_VERSION"), bundle.manifest.id, request.uri());
    format!("W/\"{:016x}\"", stable_hash(key.as_bytes()))
}

/// A 304, if the client already has what this URL gives with this bundle.
pub fn not_modified(request: &HttpRequest, bundle: &Bundle) -> Option<HttpResponse> {
    let known = request.headers().get(header::IF_NONE_MATCH)?.to_str().ok()?;
    let etag = etag(request, bundle);
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_string();
    let matches = known.split(',').any(|tag| opaque(tag) == opaque(&etag));
    let not_modified = || {
        HttpResponse::NotModified()
            .insert_header((header::ETAG, etag.clone()))
            .insert_header((header::CACHE_CONTROL, cache(request)))
            .finish()
    };
    matches.then(not_modified)
}

fn ok(request: &HttpRequest, bundle: &Bundle, content_type: &'static str, body: String) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::ETAG, etag(request, bundle)))
        .insert_header((header::CACHE_CONTROL, HeaderValue::from_static(cache(request))))
        .insert_header((header::CONTENT_TYPE, HeaderValue::from_static(content_type)))
        .body(body)
}

/// A whole JSON document that only the bundle decides.
pub fn document(request: &HttpRequest, bundle: &Bundle, body: String) -> HttpResponse {
    ok(request, bundle, JSON, body)
}

/// An answer, with the next page and the total in headers as well if it is a list.
pub fn answer(request: &HttpRequest, bundle: &Bundle, answer: Answer) -> HttpResponse {
    let content_type = match answer.format {
        Format::Json => JSON,
        Format::Ndjson => "application/x-ndjson",
        Format::Csv => "text/csv; charset=utf-8",
    };
    let list = answer.list.clone();
    let body = match request.extensions().get::<Context>() {
        Some(context) => answer.into_body(bundle, context.asked()),
        None => String::new(),
    };
    let mut response = ok(request, bundle, content_type, body);
    if let Some((total, next_cursor)) = list {
        let headers = response.headers_mut();
        headers.insert(header::HeaderName::from_static("x-total-count"), total.into());
        let link = next_cursor.map(|cursor| format!("<{}>; rel=\"next\"", next_url(request, &cursor)));
        if let Some(Ok(link)) = link.map(|link| HeaderValue::from_str(&link)) {
            headers.insert(header::LINK, link);
        }
    }
    response
}

/// The same request with another cursor.
fn next_url(request: &HttpRequest, cursor: &str) -> String {
    let others = request.query_string().split('&').filter(|p| !p.is_empty() && !p.starts_with("cursor="));
    let query: Vec<&str> = others.collect();
    let joint = if query.is_empty() { "" } else { "&" };
    format!("{}?{}{joint}cursor={cursor}", request.uri().path(), query.join("&"))
}

/// The error envelope.
pub fn error(request: &HttpRequest, error: &Error) -> HttpResponse {
    let request_id = request.extensions().get::<Context>().map(|c| c.request_id.clone()).unwrap_or_default();
    if let Some(cause) = &error.cause {
        tracing::error!(request_id, code = error.code.as_str(), cause, "request failed");
    }
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::build(status);
    response.insert_header((header::CACHE_CONTROL, "no-store"));
    match error.code {
        Code::MethodNotAllowed => {
            response.insert_header((header::ALLOW, "GET, HEAD, OPTIONS"));
        }
        // The rest of the request may still come, or never: nothing after it on this connection can be trusted.
        Code::RequestTimeout | Code::PayloadTooLarge => {
            response.force_close();
        }
        _ => {}
    }
    if let Some(seconds) = error.hint.get("retry_after_seconds").and_then(|s| s.as_u64()) {
        response.insert_header((header::RETRY_AFTER, seconds));
    }
    if let Some(challenge) = &error.challenge {
        response.insert_header((header::WWW_AUTHENTICATE, challenge.as_str()));
    }
    response.content_type(JSON).body(error.envelope(&request_id).to_string())
}
