//! How answers are written: the envelopes, ETags, CSV and NDJSON. Prepared JSON is spliced, not parsed.

use std::fmt::Write as _;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use serde_json::{Map, Value, json};

use super::front::Context;
use crate::aggregate::Numbers;
use crate::bundle::{Bundle, stable_hash};
use crate::dossier::Dossier;
use crate::error::{Code, Error, Result};
use crate::query::{Format, Page};
use crate::record::Found;
use crate::search::Results;

/// Clients may keep an answer, but ask whether it still holds: the next bundle may be a second away.
const CACHE: &str = "public, no-cache";

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
            .insert_header((header::CACHE_CONTROL, CACHE))
            .finish()
    };
    matches.then(not_modified)
}

fn ok(request: &HttpRequest, bundle: &Bundle, content_type: &'static str, body: String) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::ETAG, etag(request, bundle)))
        .insert_header((header::CACHE_CONTROL, HeaderValue::from_static(CACHE)))
        .insert_header((header::CONTENT_TYPE, HeaderValue::from_static(content_type)))
        .body(body)
}

/// `"meta":{…}` with what every answer says and the given extras.
fn push_meta(body: &mut String, request: &HttpRequest, bundle: &Bundle, extras: &[(&str, &Value)]) {
    let (id, took_ms) = match request.extensions().get::<Context>() {
        Some(context) => (context.request_id.clone(), context.started.elapsed().as_millis()),
        None => (String::new(), 0),
    };
    let manifest = &bundle.manifest;
    // Ids and dates are plain ASCII, and a request id is checked to be: nothing here needs escaping.
    let _ = write!(
        body,
        r#""meta":{{"request_id":"{id}","bundle":{{"id":"{}","as_of":"{}"}},"took_ms":{took_ms}"#,
        manifest.id, manifest.as_of
    );
    for (name, value) in extras {
        let _ = write!(body, ",\"{name}\":{value}");
    }
    body.push('}');
}

/// One record: `{"data", "citation", "meta"}`.
pub fn record(request: &HttpRequest, bundle: &Bundle, found: &Found, data: &str) -> HttpResponse {
    let citation = found.entry.citation;
    let mut body = String::with_capacity(data.len() + citation.len() + 256);
    body.push_str("{\"data\":");
    body.push_str(data);
    body.push_str(",\"citation\":");
    body.push_str(citation);
    body.push(',');
    let resolved = found.asked.as_ref().map(|asked| json!({ "asked": asked, "id": found.entry.id }));
    match &resolved {
        Some(resolved) => push_meta(&mut body, request, bundle, &[("resolved", resolved)]),
        None => push_meta(&mut body, request, bundle, &[]),
    }
    body.push('}');
    ok(request, bundle, JSON, body)
}

/// One value that is not a record: `{"data", "meta"}`.
pub fn value(request: &HttpRequest, bundle: &Bundle, data: &Value) -> HttpResponse {
    let mut body = format!("{{\"data\":{data},");
    push_meta(&mut body, request, bundle, &[]);
    body.push('}');
    ok(request, bundle, JSON, body)
}

/// A whole JSON document that only the bundle decides.
pub fn document(request: &HttpRequest, bundle: &Bundle, body: String) -> HttpResponse {
    ok(request, bundle, JSON, body)
}

/// A list in the format that was asked for, with the next page and the total in headers as well.
pub fn page(request: &HttpRequest, bundle: &Bundle, format: Format, page: &Page) -> Result<HttpResponse> {
    let (content_type, body) = match format {
        Format::Json => (JSON, page_json(request, bundle, page)),
        Format::Ndjson => ("application/x-ndjson", page.items.iter().flat_map(|item| [item.as_str(), "\n"]).collect()),
        Format::Csv => ("text/csv; charset=utf-8", page_csv(page)?),
    };
    let mut response = ok(request, bundle, content_type, body);
    let headers = response.headers_mut();
    headers.insert(header::HeaderName::from_static("x-total-count"), page.total.into());
    if let Some(cursor) = &page.next_cursor {
        let next = next_url(request, cursor);
        if let Ok(link) = HeaderValue::from_str(&format!("<{next}>; rel=\"next\"")) {
            headers.insert(header::LINK, link);
        }
    }
    Ok(response)
}

/// Counts and sums: `{"value" | "buckets", "total_buckets", "other"?, "query_cost", "meta"}`, or the buckets as a table.
pub fn numbers(request: &HttpRequest, bundle: &Bundle, numbers: &Numbers) -> Result<HttpResponse> {
    if numbers.format != Format::Json {
        return page(request, bundle, numbers.format, &numbers.page);
    }
    let mut body = numbers.answer.to_string();
    body.pop();
    body.push(',');
    push_meta(&mut body, request, bundle, &[]);
    body.push('}');
    Ok(ok(request, bundle, JSON, body))
}

/// A dossier as far as it goes without the request: `{"data", "citation", "sections"`, and how the id was written.
pub fn dossier_body(dossier: &Dossier) -> (String, Option<Value>) {
    let found = &dossier.found;
    let resolved = found.asked.as_ref().map(|asked| json!({ "asked": asked, "id": found.entry.id }));
    let (data, citation) = (found.entry.data, found.entry.citation);
    (format!("{{\"data\":{data},\"citation\":{citation},{},", dossier.sections_json()), resolved)
}

pub fn dossier(request: &HttpRequest, bundle: &Bundle, (mut body, resolved): (String, Option<Value>)) -> HttpResponse {
    match &resolved {
        Some(resolved) => push_meta(&mut body, request, bundle, &[("resolved", resolved)]),
        None => push_meta(&mut body, request, bundle, &[]),
    }
    body.push('}');
    ok(request, bundle, JSON, body)
}

/// Search results: `{"results", "total", "took_ms", "next_cursor"?, "degraded"?, "meta"}`.
pub fn results(request: &HttpRequest, bundle: &Bundle, found: &Results) -> HttpResponse {
    let took_ms = request.extensions().get::<Context>().map_or(0, |c| c.started.elapsed().as_millis());
    let items: Vec<&str> = found.results.iter().map(|r| r.get()).collect();
    let mut body = format!("{{\"results\":[{}],\"total\":{},\"took_ms\":{took_ms},", items.join(","), found.total);
    if let Some(cursor) = &found.next_cursor {
        let _ = write!(body, "\"next_cursor\":{},", json!(cursor));
    }
    if let Some(degraded) = &found.degraded {
        let _ = write!(body, "\"degraded\":{degraded},");
    }
    match &found.empty {
        Some(empty) => push_meta(&mut body, request, bundle, &[("empty", empty)]),
        None => push_meta(&mut body, request, bundle, &[]),
    }
    body.push('}');
    ok(request, bundle, JSON, body)
}

fn page_json(request: &HttpRequest, bundle: &Bundle, page: &Page) -> String {
    let mut body = String::with_capacity(page.items.iter().map(|i| i.len() + 1).sum::<usize>() + 512);
    body.push_str("{\"data\":[");
    body.push_str(&page.items.join(","));
    let _ = write!(body, "],\"total\":{},\"next_cursor\":{},", page.total, json!(page.next_cursor));
    match &page.empty {
        Some(empty) => push_meta(&mut body, request, bundle, &[("empty", empty)]),
        None => push_meta(&mut body, request, bundle, &[]),
    }
    body.push('}');
    body
}

/// The same request with another cursor.
fn next_url(request: &HttpRequest, cursor: &str) -> String {
    let others = request.query_string().split('&').filter(|p| !p.is_empty() && !p.starts_with("cursor="));
    let query: Vec<&str> = others.collect();
    let joint = if query.is_empty() { "" } else { "&" };
    format!("{}?{}{joint}cursor={cursor}", request.uri().path(), query.join("&"))
}

/// A header line and a line an item; the elements of a list are joined by "; ".
fn page_csv(page: &Page) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&page.columns).map_err(Error::internal)?;
    for item in &page.items {
        let record: Map<String, Value> = serde_json::from_str(item).map_err(Error::internal)?;
        let cells = page.columns.iter().map(|c| record.get(*c).map(cell).unwrap_or_default());
        writer.write_record(cells).map_err(Error::internal)?;
    }
    String::from_utf8(writer.into_inner().map_err(Error::internal)?).map_err(Error::internal)
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
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
        Code::MethodNotAllowed => response.insert_header((header::ALLOW, "GET, HEAD, OPTIONS")),
        Code::BundleUnavailable => response.insert_header((header::RETRY_AFTER, "5")),
        _ => &mut response,
    };
    response.content_type(JSON).body(error.envelope(&request_id).to_string())
}
