//! `/v1`: from a path to an operation, and back to bytes.

use std::sync::Arc;

use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};

use super::encode::{Format, is_record};
use super::front::{JsonBody, RequestInfo};
use super::respond;
use super::router::Router;
use super::whole::WholeList;
use crate::api::{Arguments, Error, Operation, Outcome, Result};
use crate::bundle::Bundle;
use crate::catalog;
use crate::executor::Executor;

pub async fn answer(request: HttpRequest, executor: web::Data<Executor>) -> HttpResponse {
    let bundle = executor.bundle();
    let is_reading = request.method().is_safe();
    if let Some(response) = is_reading.then(|| respond::not_modified(&request, &bundle)).flatten() {
        return response;
    }
    let ran = match Call::read(&request, &executor, &bundle) {
        Ok(call) => call.run().await,
        Err(error) => Err(error),
    };
    match ran {
        Ok((outcome, Some(whole), _)) => respond::whole(&request, &bundle, outcome, whole),
        Ok((outcome, None, format)) => match &outcome.failure {
            None => respond::outcome(&request, &bundle, outcome, format),
            Some(failure) => respond::failure(&request, failure, &outcome),
        },
        Err(error) => respond::error(&request, &error),
    }
}

/// A request as a call of an operation.
struct Call {
    list: WholeList,
    /// Whether every item is wanted, not a page.
    is_whole: bool,
}

impl Call {
    fn read(
        request: &HttpRequest,
        executor: &web::Data<Executor>,
        bundle: &Arc<Bundle>,
    ) -> Result<Call> {
        let router = request.app_data::<web::Data<Router>>();
        let router = router.ok_or_else(|| Error::internal("an application without a router"))?;
        let query = Arguments::from_request(request.query_string())?;
        let path = request.uri().path();
        let body = request.extensions_mut().remove::<JsonBody>();
        let (operation, mut arguments) = match body {
            None => router.find(path, query)?,
            Some(JsonBody(body)) => {
                query.finish(&[])?;
                router.find_for_body(path, Arguments::from_body(&body)?)?
            }
        };
        let caller = {
            let extensions = request.extensions();
            let info = extensions.get::<RequestInfo>();
            let info = info.ok_or_else(|| Error::internal("a request without its facts"))?;
            info.route.set(operation.route.unwrap_or_default());
            info.caller.clone()
        };
        let format = match operation.is_list || is_record(operation) {
            true => Format::take(&mut arguments)?,
            false => Format::Json,
        };
        if let Some(newest) = newest_first(format, operation, &arguments) {
            arguments.push_one("sort", newest);
        }
        let is_page = arguments.has("limit") || arguments.has("cursor");
        let (executor, bundle) = (executor.clone(), bundle.clone());
        Ok(Call {
            is_whole: format.is_whole() && !is_page,
            list: WholeList { executor, bundle, caller, operation, arguments, format },
        })
    }

    /// The first page; where there are more and all are wanted, also how to read them.
    async fn run(self) -> Result<(Outcome, Option<WholeList>, Format)> {
        let Call { list, is_whole } = self;
        let format = list.format;
        let context = list.executor.context(list.bundle.clone(), list.caller.clone());
        let arguments = list.arguments.clone();
        let outcome = list.executor.execute(list.operation, arguments, context).await?;
        let has_more = outcome.output.page().is_some_and(|(_, next)| next.is_some());
        Ok((outcome, (is_whole && has_more).then_some(list), format))
    }
}

/// The order of a feed of records that asks for none: by the source's date, newest first.
fn newest_first(format: Format, operation: &Operation, arguments: &Arguments) -> Option<String> {
    let is_plain = operation.is_list && !arguments.has("sort") && !arguments.has("q");
    let source = catalog::source(arguments.one("{source}")?)?;
    let is_of_source = format == Format::Atom && is_plain && arguments.one("{sub}").is_none();
    source.main_date.filter(|_| is_of_source).map(|date| format!("-{date}"))
}
