//! `/v1`: from a path to a call, and back to bytes.

use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};

use super::front::Context;
use super::respond;
use crate::query::Params;
use crate::service::{Call, Josh};

pub async fn answer(request: HttpRequest, josh: web::Data<Josh>) -> HttpResponse {
    let bundle = josh.bundle();
    if let Some(response) = respond::not_modified(&request, &bundle) {
        return response;
    }
    let path = request.uri().path().strip_prefix("/v1/").unwrap_or_default();
    let answered = match (Call::read(path), Params::parse(request.query_string())) {
        (Err(error), _) | (_, Err(error)) => Err(error),
        (Ok(call), Ok(params)) => {
            if let Some(context) = request.extensions().get::<Context>() {
                context.route.set(call.route());
            }
            josh.answer(&bundle, call, params).await
        }
    };
    match answered {
        Ok(answer) => respond::answer(&request, &bundle, answer),
        Err(error) => respond::error(&request, &error),
    }
}
