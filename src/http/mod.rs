//! HTTP: the application, what happens to every request, and how answers are written. No logic of
//! its own: it turns requests into operations and outcomes into bytes.

mod access_guard;
mod encode;
mod explorer;
mod export;
mod front;
mod login;
mod mcp;
mod message;
mod openapi;
mod pages;
mod redact;
mod respond;
mod rest;
mod router;
mod sessions;
mod setup_page;
mod splice;
mod stopping;
mod trace;
mod whole;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::{Compress, from_fn};
use actix_web::{App, HttpRequest, HttpResponse, web};

pub use access_guard::{AccessGuard, host};
pub use front::Socket;
pub use mcp::{Mounted, mount as mcp_mount, mount_all as mcp_mount_all};
pub use openapi::document as openapi_document;
pub use router::Router;
pub use stopping::Stopping;

use crate::executor::Executor;
use crate::reloads::Reloads;

/// Everything that an application is made of. Cheap to clone: one application runs on each worker.
#[derive(Clone)]
pub struct AppParts {
    pub executor: web::Data<Executor>,
    pub guard: web::Data<AccessGuard>,
    pub reloads: web::Data<Reloads>,
    pub stopping: web::Data<Stopping>,
    pub router: web::Data<Router>,
    pub documents: web::Data<pages::Documents>,
    pub home: web::Data<explorer::Home>,
    pub mcp: Vec<Mounted>,
    /// Where sessions are kept.
    pub sessions: Option<web::Data<sessions::Sessions>>,
}

impl AppParts {
    pub fn new(
        executor: web::Data<Executor>,
        guard: web::Data<AccessGuard>,
        options: &crate::mcp::Options,
    ) -> AppParts {
        AppParts {
            router: web::Data::new(Router::new(&executor.toolsets)),
            mcp: mcp::mount_all(&executor.clone().into_inner(), options),
            reloads: web::Data::default(),
            stopping: web::Data::default(),
            documents: web::Data::default(),
            home: web::Data::default(),
            sessions: options.sessions.then(web::Data::default),
            executor,
            guard,
        }
    }
}

/// The application. `serve` runs it on sockets, `get` in process: the same bytes either way.
pub fn app(
    parts: AppParts,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = actix_web::Error,
        InitError = (),
    >,
> {
    let has_sessions = parts.sessions.is_some();
    App::new()
        .configure(|config| {
            if let Some(sessions) = parts.sessions {
                config.app_data(sessions);
            }
        })
        .app_data(parts.executor)
        .app_data(parts.guard)
        .app_data(parts.reloads)
        .app_data(parts.stopping)
        .app_data(parts.router)
        .app_data(parts.documents)
        .app_data(parts.home)
        .wrap(Compress::default())
        .wrap(from_fn(front::front))
        .configure(|config| mcp::routes(config, parts.mcp, has_sessions))
        .service(web::resource("/openapi.json").to(pages::openapi))
        .service(web::resource("/docs").to(pages::docs))
        .service(web::resource(login::LOGIN).to(login::login))
        .service(web::resource(login::LOGOUT).to(login::logout))
        .service(web::resource("/livez").to(pages::livez))
        .service(web::resource("/readyz").to(pages::readyz))
        .service(web::resource("/health").to(pages::health))
        .service(web::resource("/metrics").to(pages::metrics))
        .service(web::resource(access_guard::KEY).to(pages::verification_key))
        // `/v1` is not a pattern of actix's: those with a variable part run a regular expression on
        // every request.
        .default_service(web::to(rest_or_page))
}

/// Pages have the paths of REST without `/v1`.
async fn rest_or_page(request: HttpRequest, executor: web::Data<Executor>) -> HttpResponse {
    if request.uri().path().starts_with("/v1/") {
        return rest::answer(request, executor).await;
    }
    explorer::answer(request, executor).await
}
