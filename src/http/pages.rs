//! What is neither REST nor the explorer: the API docs, OpenAPI, health.

use std::sync::Arc;

use actix_web::http::header::{self, ContentType};
use actix_web::{HttpRequest, HttpResponse, web};
use arc_swap::ArcSwapOption;
use maud::PreEscaped;
use serde_json::json;

use super::explorer::layout::Page;
use super::explorer::{self, Asset};
use super::{Stopping, openapi, respond};
use crate::api::{Code, Error};
use crate::bundle::Bundle;
use crate::executor::Executor;
use crate::metrics::METRICS;
use crate::reloads::Reloads;

const DOCS: &str = include_str!("../../assets/web/docs.html");

/// A page that is written as HTML, in the frame of all pages.
pub fn framed(
    title: &str,
    body: String,
    script: Option<&'static Asset>,
    bundle: &Bundle,
) -> HttpResponse {
    let page = Page { script, ..Page::new(title, PreEscaped(body)) };
    HttpResponse::Ok()
        .content_type(ContentType::html())
        .insert_header((header::CONTENT_SECURITY_POLICY, explorer::POLICY))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .body(page.render(bundle))
}

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

pub async fn docs(executor: web::Data<Executor>) -> HttpResponse {
    framed("API", DOCS.into(), Some(&explorer::DOCS_SCRIPT), &executor.bundle())
}

/// Documents that only the bundle decides, made once for each.
#[derive(Default)]
pub struct Documents {
    openapi: ArcSwapOption<(String, String)>,
}

impl Documents {
    /// The OpenAPI document of the open bundle.
    fn openapi(&self, executor: &Executor, bundle: &Bundle) -> String {
        match self.openapi.load_full() {
            Some(known) if known.0 == bundle.manifest.id => known.1.clone(),
            _ => {
                let text = openapi::document(bundle, &executor.toolsets).to_string();
                self.openapi.store(Some(Arc::new((bundle.manifest.id.clone(), text.clone()))));
                text
            }
        }
    }
}

pub async fn openapi(
    request: HttpRequest,
    executor: web::Data<Executor>,
    documents: web::Data<Documents>,
) -> HttpResponse {
    let bundle = executor.bundle();
    respond::not_modified(&request, &bundle).unwrap_or_else(|| {
        respond::document(&request, &bundle, documents.openapi(&executor, &bundle))
    })
}

pub async fn livez() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(json!({ "status": "ok" }))
}

/// Ready means that the bundle can be read and that the server is not about to end. A newer bundle
/// or certificate that was refused is named: what is served is the one before it.
pub async fn readyz(
    request: HttpRequest,
    executor: web::Data<Executor>,
    reloads: web::Data<Reloads>,
    stopping: web::Data<Stopping>,
) -> HttpResponse {
    if stopping.has_begun() {
        return HttpResponse::ServiceUnavailable()
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .json(json!({ "status": "stopping" }));
    }
    match executor.bundle().ensure_intact() {
        Ok(()) => {
            let mut state = json!({ "status": "ready" });
            let refused = reloads.refused();
            if !refused.is_empty() {
                state["refused"] = json!(refused);
            }
            HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(state)
        }
        Err(error) => respond::error(&request, &error.into()),
    }
}

/// The public key of the configuration that is handed out.
pub async fn verification_key(request: HttpRequest, executor: web::Data<Executor>) -> HttpResponse {
    let Some(configs) = executor.client_configs() else {
        let message = "This server hands out no configuration for clients.";
        let error = Error::new(Code::RouteNotFound, message);
        let next = "Whoever runs it can switch that on: josh serve --toolsets policy,clients.";
        return respond::error(&request, &error.hint("next", next));
    };
    HttpResponse::Ok()
        .content_type("application/x-pem-file")
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .body(configs.public_key().to_pem())
}

/// For Prometheus.
pub async fn metrics(executor: web::Data<Executor>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(METRICS.text(&executor.bundle()))
}

pub async fn health(executor: web::Data<Executor>) -> HttpResponse {
    let bundle = executor.bundle();
    let manifest = &bundle.manifest;
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(json!({
        "status": if bundle.ensure_intact().is_ok() { "ok" } else { "bundle_unavailable" },
        "version": env!("CARGO_PKG_VERSION"),
        "bundle": {
            "id": manifest.id,
            "as_of": manifest.as_of,
            "data_version": manifest.data_version,
            "format": manifest.format,
            "records": manifest.sources.iter().map(|s| s.records).sum::<u64>(),
            "signature": bundle.signature.name(),
            "notice": manifest.notice,
        },
    }))
}
