//! `/v1`: from a path to an operation, and back to bytes.

use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};

use super::encode::Format;
use super::front::RequestInfo;
use super::respond;
use super::router::Router;
use crate::api::{Arguments, Error, Outcome, Result};
use crate::bundle::Bundle;
use crate::executor::Executor;

pub async fn answer(request: HttpRequest, executor: web::Data<Executor>) -> HttpResponse {
    let bundle = executor.bundle();
    if let Some(response) = respond::not_modified(&request, &bundle) {
        return response;
    }
    match run(&request, &executor, &bundle).await {
        Ok((outcome, format)) => respond::outcome(&request, &bundle, outcome, format),
        Err(error) => respond::error(&request, &error),
    }
}

async fn run(
    request: &HttpRequest,
    executor: &Executor,
    bundle: &std::sync::Arc<Bundle>,
) -> Result<(Outcome, Format)> {
    let router = request.app_data::<web::Data<Router>>();
    let router = router.ok_or_else(|| Error::internal("an application without a router"))?;
    let query = Arguments::from_query(request.query_string())?;
    let (operation, mut arguments) = router.find(request.uri().path(), query)?;
    let caller = {
        let extensions = request.extensions();
        let info = extensions.get::<RequestInfo>();
        let info = info.ok_or_else(|| Error::internal("a request without its facts"))?;
        info.route.set(operation.route.unwrap_or_default());
        info.caller.clone()
    };
    let format = match operation.is_list {
        true => Format::take(&mut arguments)?,
        false => Format::Json,
    };
    let context = executor.context(bundle.clone(), caller);
    Ok((executor.execute(operation, arguments, context).await?, format))
}
