//! How answers become HTTP: ETags, caching, content types, the next page's link.

use actix_web::body::MessageBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};
use serde_json::Value;

use super::access_guard::AccessGuard;
use super::encode::{self, Format};
use super::explorer;
use super::front::RequestInfo;
use super::router::Router;
use super::whole::WholeList;
use crate::api::{Code, Error, Outcome};
use crate::bundle::{Bundle, stable_hash};
use crate::executor::Executor;

/// Clients may keep an answer, but ask whether it still holds: the next bundle may be a second
/// away.
const CACHE: &str = "public, no-cache";
/// The same for an answer to someone who had to say who they are.
const OWN_CACHE: &str = "private, no-cache";

const HTML: &str = "text/html; charset=utf-8";

fn cache(request: &HttpRequest) -> &'static str {
    if is_known(request) { OWN_CACHE } else { CACHE }
}

/// Whether the caller said who they are.
fn is_known(request: &HttpRequest) -> bool {
    let extensions = request.extensions();
    let info = extensions.get::<RequestInfo>();
    info.is_some_and(|info| info.caller.identity.is_some())
}

/// The weak ETag of an answer. Answers are a pure function of Josh's version, the bundle and the
/// URL, but for `request_id` and `took_ms`.
fn etag(request: &HttpRequest, bundle: &Bundle) -> String {
    // What clients are configured with is the operator's, and so are forms; the rest is the
    // bundle's. The home page shows more to those who are signed in.
    let executor = request.app_data::<web::Data<Executor>>();
    let configs = executor.and_then(|executor| executor.client_configs());
    let edition = configs.map_or("", |configs| configs.edition());
    let forms = executor.and_then(|executor| executor.forms()).map(|forms| forms.edition());
    let forms = forms.unwrap_or_default();
    let who = if is_known(request) { "known" } else { "" };
    let (version, id) = (env!("CARGO_PKG_VERSION"), &bundle.manifest.id);
    let key = format!("{version} {id} {edition}{forms} {who} {}", request.uri());
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

fn ok(
    request: &HttpRequest,
    bundle: &Bundle,
    content_type: &'static str,
    body: impl MessageBody + 'static,
) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    match request.method().is_safe() {
        true => response
            .insert_header((header::ETAG, etag(request, bundle)))
            .insert_header((header::CACHE_CONTROL, HeaderValue::from_static(cache(request)))),
        // What was sent decides the answer, and it is the sender's own.
        false => response.insert_header((header::CACHE_CONTROL, "no-store")),
    };
    response
        .insert_header((header::CONTENT_TYPE, HeaderValue::from_static(content_type)))
        .body(body)
}

/// A whole JSON document that only the bundle decides.
pub fn document(request: &HttpRequest, bundle: &Bundle, body: String) -> HttpResponse {
    ok(request, bundle, Format::Json.content_type(), body)
}

/// A page for people.
pub fn page(request: &HttpRequest, bundle: &Bundle, html: String) -> HttpResponse {
    if let Err(changed) = bundle.ensure_intact() {
        return error(request, &changed.into());
    }
    let mut response = ok(request, bundle, HTML, html);
    let policy = HeaderValue::from_static(explorer::POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// Whether an error is read by a person: a browser that asked for a page.
fn is_for_people(request: &HttpRequest) -> bool {
    let accepts = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    !request.path().starts_with("/v1") && accepts.is_some_and(|a| a.contains("text/html"))
}

/// An outcome, with the next page and the total of a list in headers as well.
pub fn outcome(
    request: &HttpRequest,
    bundle: &Bundle,
    outcome: Outcome,
    format: Format,
) -> HttpResponse {
    let extensions = request.extensions();
    let Some(info) = extensions.get::<RequestInfo>() else {
        return error(request, &Error::internal("a request without its facts"));
    };
    let feed = || {
        let guard = request.app_data::<web::Data<AccessGuard>>();
        let base = guard.map(|guard| guard.base(request)).unwrap_or_default();
        (base, request.uri().to_string())
    };
    let body = encode::body(&outcome, format, bundle, &info.caller, feed);
    // Prepared records are read while they are written: only now is it known that they were there.
    let body = body.and_then(|body| bundle.ensure_intact().map(|()| body).map_err(Error::from));
    drop(extensions);
    let mut response = match body {
        Ok(body) => ok(request, bundle, format.content_type(), body),
        Err(failed) => return error(request, &failed),
    };
    if let Some((total, next_cursor)) = outcome.output.page() {
        let headers = response.headers_mut();
        headers.insert(header::HeaderName::from_static("x-total-count"), total.into());
        let next = next_cursor.map(|cursor| next_url(request, cursor));
        let link = next.map(|url| HeaderValue::from_str(&format!("<{url}>; rel=\"next\"")));
        if let Some(Ok(link)) = link {
            headers.insert(header::LINK, link);
        }
    }
    response
}

/// A whole list, of which this is the first page.
pub fn whole(
    request: &HttpRequest,
    bundle: &Bundle,
    first: Outcome,
    list: WholeList,
) -> HttpResponse {
    let content_type = list.format.content_type();
    let body = match list.body(&first) {
        Ok(body) => body,
        Err(failed) => return error(request, &failed),
    };
    let mut response = ok(request, bundle, content_type, body);
    if let Some((total, _)) = first.output.page() {
        let name = header::HeaderName::from_static("x-total-count");
        response.headers_mut().insert(name, total.into());
    }
    response
}

/// A result that says how far the work came before it failed: the error envelope, and the result
/// beside it.
pub fn failure(request: &HttpRequest, failure: &Error, outcome: &Outcome) -> HttpResponse {
    let result = outcome.output.to_value().map(|mut result| {
        encode::add_images(&mut result, &outcome.images);
        Value::Object(result)
    });
    match result {
        Ok(result) => error_with(request, failure, Some(result)),
        Err(failed) => error(request, &failed),
    }
}

/// The same request with another cursor.
fn next_url(request: &HttpRequest, cursor: &str) -> String {
    let others =
        request.query_string().split('&').filter(|p| !p.is_empty() && !p.starts_with("cursor="));
    let query: Vec<&str> = others.collect();
    let joint = if query.is_empty() { "" } else { "&" };
    format!("{}?{}{joint}cursor={cursor}", request.uri().path(), query.join("&"))
}

/// The error envelope.
pub fn error(request: &HttpRequest, error: &Error) -> HttpResponse {
    error_with(request, error, None)
}

fn error_with(request: &HttpRequest, error: &Error, result: Option<Value>) -> HttpResponse {
    let request_id = request
        .extensions()
        .get::<RequestInfo>()
        .map(|info| info.caller.request_id.clone())
        .unwrap_or_default();
    if let Some(cause) = &error.cause {
        tracing::error!(request_id, code = error.code.as_str(), cause, "request failed");
    }
    let status =
        StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::build(status);
    response.insert_header((header::CACHE_CONTROL, "no-store"));
    match error.code {
        Code::MethodNotAllowed => {
            let router = request.app_data::<web::Data<Router>>();
            let takes_body = router.is_some_and(|router| router.takes_body(request.path()));
            let allowed = if takes_body { "POST, OPTIONS" } else { "GET, HEAD, OPTIONS" };
            response.insert_header((header::ALLOW, allowed));
        }
        // The rest of the request may still come, or never: nothing after it on this connection
        // can be trusted.
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
    let executor = request.app_data::<web::Data<Executor>>();
    if let Some(executor) = executor.filter(|_| is_for_people(request)) {
        let page = explorer::error_page(error, request.path(), &request_id);
        response.insert_header((header::CONTENT_SECURITY_POLICY, explorer::POLICY));
        return response.content_type(HTML).body(page.render(&executor.bundle()));
    }
    let mut body = error.envelope(&request_id);
    if let Some(result) = result {
        body["result"] = result;
    }
    response.content_type(Format::Json.content_type()).body(body.to_string())
}
