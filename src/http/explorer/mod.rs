//! The explorer: pages for people, rendered on the server. A page is the path of REST without
//! `/v1`, made from the same operation; what it shows follows from the catalog, so that a new
//! source has its pages without a line here.

mod address;
mod assets;
mod chart;
mod error;
mod facets;
mod generic;
mod guides;
mod home;
pub mod layout;
mod list;
mod notes;
mod numbers;
mod picture;
mod record;
mod search;
mod sources;
mod sub;
mod table;
mod text;
mod tracker;
mod values;
mod visit;
mod vote;

use std::sync::Arc;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};

pub use address::record as record_address;
pub use assets::{DOCS_SCRIPT, FOLDER};
pub use error::page as error_page;
pub use home::Home;
pub use picture::of as picture_of;

use self::address::Query;
use self::layout::Page;
use self::visit::Visit;
use super::respond;
use crate::api::{Error, Result};
use crate::bundle::Bundle;
use crate::executor::Executor;

/// Pages load nothing from elsewhere, run no script and use no style but ours, and stand in
/// nobody's frame.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; \
    base-uri 'none'";

/// A page, or where it is.
enum Reply {
    Page(Box<Page>),
    Elsewhere(String),
}

impl From<Page> for Reply {
    fn from(page: Page) -> Reply {
        Reply::Page(Box::new(page))
    }
}

/// Answers a request for a page.
pub async fn answer(request: HttpRequest, executor: web::Data<Executor>) -> HttpResponse {
    if request.path().starts_with(FOLDER)
        && let Some(asset) = assets::find(request.path())
    {
        return asset;
    }
    let bundle = executor.bundle();
    if let Some(response) = respond::not_modified(&request, &bundle) {
        return response;
    }
    match reply(&request, &executor, &bundle).await {
        Ok(Reply::Page(page)) => respond::page(&request, &bundle, page.render(&bundle)),
        Ok(Reply::Elsewhere(address)) => HttpResponse::SeeOther()
            .insert_header((header::LOCATION, address))
            .insert_header((header::CACHE_CONTROL, "no-cache"))
            .finish(),
        Err(error) => respond::error(&request, &error),
    }
}

async fn reply(
    request: &HttpRequest,
    executor: &web::Data<Executor>,
    bundle: &Arc<Bundle>,
) -> Result<Reply> {
    let visit = Visit::new(request, executor, bundle.clone())?;
    match visit.path.as_str() {
        "" => return home::page(request, &visit).await.map(Reply::from),
        "/go" => return go(&visit).await,
        "/search" => return search::page(&visit).await.map(Reply::from),
        "/guides" => return Ok(guides::all(&visit).into()),
        _ => {}
    }
    if let Some(name) = visit.path.strip_prefix("/guides/") {
        return guides::one(&visit, name).map(Reply::from);
    }
    let (operation, arguments) = visit.operation()?;
    let variable = |name: &str| arguments.one(name).unwrap_or_default().to_string();
    let source = variable("{source}");
    match operation.name {
        "list_sources" => sources::all(&visit).await.map(Reply::from),
        "get_source" => sources::one(&visit, &source).await.map(Reply::from),
        "list_records" | "resolve_entity" => list::page(&visit, &source).await.map(Reply::from),
        "aggregate_records" => numbers::page(&visit, &source).await.map(Reply::from),
        "aggregate_sub_resource" => {
            numbers::of_record(&visit, &source, &variable("{sub}")).await.map(Reply::from)
        }
        "get_record" => record::page(&visit, &source).await.map(Reply::from),
        "get_dossier" => {
            let path = visit.path.strip_suffix("/dossier").unwrap_or(&visit.path);
            Ok(Reply::Elsewhere(visit.query.at(path)))
        }
        "fetch" => found(&visit, &visit.path).await,
        "list_sub_resource" => match variable("{sub}").as_str() {
            "body" | "toc" => text::page(&visit, &source).await.map(Reply::from),
            sub => sub::page(&visit, &source, sub).await.map(Reply::from),
        },
        _ => generic::page(&visit, operation).await.map(Reply::from),
    }
}

/// `/go?id=`: the page of whatever a citation names.
async fn go(visit: &Visit) -> Result<Reply> {
    let id = visit.query.get("id").ok_or_else(|| {
        Error::invalid("id", "`id` says which record, and it is missing or empty.")
            .hint("next", "Open /go?id= with a citation, such as /go?id=H.R.+1.")
    })?;
    found(visit, &format!("/fetch/{}", address::encode(id))).await
}

/// The page of the record that `fetch` finds at this path.
async fn found(visit: &Visit, path: &str) -> Result<Reply> {
    let found = visit.call(path, &Query::of(&[("fields", "id,source")])).await?;
    let data = found.value.get("data").cloned().unwrap_or_default();
    let text = |name: &str| data[name].as_str().unwrap_or_default().to_string();
    Ok(Reply::Elsewhere(address::record(&text("source"), &text("id"))))
}
