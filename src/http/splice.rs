//! Puts the JSON of a tool's result into the message that rmcp wrote. rmcp wants a tree of the
//! result, and making, writing and freeing one takes longer than everything else about a result
//! with hundreds of rows. So the tool leaves an empty string there, and its JSON beside it.

use actix_web::HttpMessage;
use actix_web::body::{self, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;

use super::respond;
use crate::api::Error;
use crate::mcp::ResultJson;

/// What rmcp writes for the empty string. Within a string its quotation marks would be escaped, so
/// that only the member itself reads like this.
const PLACE: &[u8] = br#""structuredContent":"""#;

/// Around an endpoint whose answers are single JSON documents.
pub async fn splice(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let json = ResultJson::default();
    request.extensions_mut().insert(json.clone());
    let response = next.call(request).await?;
    let Some(json) = json.get() else { return Ok(response.map_into_boxed_body()) };
    let (request, response) = response.into_parts();
    let (head, message) = response.into_parts();
    let message = body::to_bytes(message).await.map_err(Into::into)?;
    let whole = match memchr::memmem::find(&message, PLACE) {
        Some(at) => {
            // Before the closing quotation marks, which stay out.
            let (before, after) = message.split_at(at + PLACE.len() - 2);
            [before, json.as_bytes(), &after[2..]].concat()
        }
        None => {
            let error = Error::internal("a message without room for its result");
            let response = respond::error(&request, &error);
            return Ok(ServiceResponse::new(request, response));
        }
    };
    Ok(ServiceResponse::new(request, head.set_body(BoxBody::new(whole))))
}
