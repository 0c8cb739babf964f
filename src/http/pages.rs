//! What is neither REST nor the explorer: the API docs, OpenAPI, health.

use std::sync::Arc;

use actix_web::http::header::{self, ContentType};
use actix_web::{HttpRequest, HttpResponse, web};
use arc_swap::ArcSwapOption;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::explorer::layout::Page;
use super::{Stopping, explorer, openapi, respond};
use crate::api::{Code, Error};
use crate::bundle::Bundle;
use crate::executor::Executor;
use crate::metrics::METRICS;
use crate::reloads::Reloads;

/// A page that is no operation's, in the frame of all pages.
pub fn framed(page: &Page, bundle: &Bundle) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(ContentType::html())
        .insert_header((header::CONTENT_SECURITY_POLICY, explorer::POLICY))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .body(page.render(bundle))
}

/// The API docs. Routes and errors read without JavaScript; the script adds forms that send them.
pub async fn docs(executor: web::Data<Executor>, documents: web::Data<Documents>) -> HttpResponse {
    let bundle = executor.bundle();
    let body = html! {
        h1 { "Josh API" }
        p .lead {
            "Every list, search and record has a page of its own as well: leave " code { "/v1" }
            " out of its address."
        }
        div #tools hidden {
            p {
                label for="find" { "Find a route" } " "
                input #find .wide placeholder="path or description";
            }
            p {
                label for="key" { "API key or token, if this server needs one" } " "
                input #key .wide type="password" autocomplete="off";
            }
        }
        h2 { "Routes" }
        div #routes .api { (documents.of(&executor, &bundle).routes) }
        h2 { "Errors" }
        div .scroll tabindex="0" role="region" aria-label="Errors" {
            table {
                caption { "Codes of errors, and what they mean" }
                thead {
                    tr {
                        th scope="col" { "Code" }
                        th scope="col" .n { "Status" }
                        th scope="col" { "Meaning" }
                    }
                }
                tbody {
                    @for code in Code::ALL {
                        tr {
                            td { code { (code.as_str()) } }
                            td .n { (code.status()) }
                            td { (code.about()) }
                        }
                    }
                }
            }
        }
    };
    let page = Page { script: Some(&explorer::DOCS_SCRIPT), ..Page::new("API", body) };
    framed(&page.twin("OpenAPI", "/openapi.json"), &bundle)
}

/// What only the bundle decides, made once for each.
struct Made {
    id: String,
    openapi: String,
    routes: Markup,
}

#[derive(Default)]
pub struct Documents(ArcSwapOption<Made>);

impl Documents {
    /// Those of the open bundle.
    fn of(&self, executor: &Executor, bundle: &Bundle) -> Arc<Made> {
        let id = &bundle.manifest.id;
        if let Some(known) = self.0.load_full().filter(|known| known.id == *id) {
            return known;
        }
        let api = openapi::document(bundle, &executor.toolsets);
        let made = Made { id: id.clone(), routes: routes(&api), openapi: api.to_string() };
        let made = Arc::new(made);
        self.0.store(Some(made.clone()));
        made
    }
}

/// Every route with what it gives.
fn routes(api: &Value) -> Markup {
    let paths = api["paths"].as_object().into_iter().flatten();
    let routes = paths.flat_map(|(path, item)| {
        item.as_object().into_iter().flatten().map(move |(method, about)| (method, path, about))
    });
    html! {
        ul {
            @for (method, path, about) in routes {
                li {
                    code { (method.to_uppercase()) " " (path) } " "
                    (about["summary"].as_str().unwrap_or_default())
                }
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
        respond::document(&request, &bundle, documents.of(&executor, &bundle).openapi.clone())
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
