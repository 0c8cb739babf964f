//! HTTP: the App, what happens to every request, and how answers are written. No logic of its own: it turns requests
//! into calls of `service` and results into bytes.

mod door;
mod front;
mod mcp;
mod openapi;
mod pages;
mod respond;
mod rest;
mod trace;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::{Compress, from_fn};
use actix_web::{App, HttpRequest, HttpResponse, web};

pub use door::{Door, host};
pub use front::Socket;
pub use mcp::{Service as McpService, mount as mcp_mount, service as mcp_service};
pub use openapi::document as openapi_document;

use crate::error::{Code, Error};
use crate::mcp::Server;
use crate::service::Josh;

/// The application. `serve` runs it on sockets, `get` in process: the same bytes either way.
pub fn app(
    josh: web::Data<Josh>,
    door: web::Data<Door>,
    mcp: (Server, McpService),
    sessions: bool,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = actix_web::Error,
        InitError = (),
    >,
> {
    App::new()
        .app_data(josh)
        .app_data(door)
        .wrap(Compress::default())
        .wrap(from_fn(front::front))
        .configure(|config| mcp::routes(config, mcp, sessions))
        .service(web::resource("/openapi.json").to(pages::openapi))
        .service(web::resource("/docs").to(pages::docs))
        .service(web::resource("/").to(pages::home))
        .service(web::resource("/livez").to(pages::livez))
        .service(web::resource("/readyz").to(pages::readyz))
        .service(web::resource("/health").to(pages::health))
        .service(web::resource("/metrics").to(pages::metrics))
        // `/v1` is not a pattern of actix's: those with a variable part run a regular expression on every request.
        .default_service(web::to(rest_or_nothing))
}

/// Whether a path is the MCP endpoint.
fn is_mcp(path: &str) -> bool {
    path == "/mcp" || path == "/mcp/"
}

async fn rest_or_nothing(request: HttpRequest, josh: web::Data<Josh>) -> HttpResponse {
    if request.uri().path().starts_with("/v1/") {
        return rest::answer(request, josh).await;
    }
    let path: String = request.path().chars().take(80).collect();
    let known = ["/", "/mcp", "/docs", "/openapi.json", "/health", "/livez", "/readyz", "/metrics", "/v1/sources"];
    let error = Error::new(Code::RouteNotFound, format!("There is nothing at {path:?}.")).suggest(&path, known);
    respond::error(&request, &error)
}
