//! Reads the messages that come to MCP: bounded in size, in time, and in what all of them together
//! may take, so that senders who never finish cost little.

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use actix_web::HttpMessage;
use actix_web::body::{BodyStream, MessageBody};
use actix_web::dev::ServiceRequest;
use actix_web::web::{Bytes, BytesMut};
use tokio::sync::Semaphore;

use super::front::Socket;
use crate::api::{Code, Error, Result};

/// From a caller that may use the tools. Calls are short; this is far above the longest.
pub const LARGEST: usize = 1024 * 1024;
/// From a caller that is not identified, and for a message that opens a session and is kept with
/// it.
pub const LARGEST_UNIDENTIFIED: usize = 16 * 1024;
/// What long messages may take together while they arrive. Short ones always fit.
const LARGEST_TOGETHER: usize = 32 * 1024 * 1024;
/// How long a message may take to arrive.
const TIME: Duration = Duration::from_secs(10);

/// Room for what is longer than `LARGEST_UNIDENTIFIED`, in bytes.
static ROOM: Semaphore = Semaphore::const_new(LARGEST_TOGETHER);

/// The body of a request, if it has at most `most` bytes.
pub async fn read(request: &mut ServiceRequest, most: usize) -> Result<Bytes> {
    let payload = request.take_payload();
    match tokio::time::timeout(TIME, collect(payload, most)).await {
        Ok(read) => read,
        Err(_) => {
            if let Some(socket) = request.request().conn_data::<Socket>() {
                socket.stop_reading();
            }
            Err(Error::new(Code::RequestTimeout, "The message did not arrive in time."))
        }
    }
}

async fn collect(payload: actix_web::dev::Payload, most: usize) -> Result<Bytes> {
    let mut parts = pin!(BodyStream::new(payload));
    let mut body = BytesMut::new();
    let mut room = None;
    while let Some(part) = poll_fn(|context| parts.as_mut().poll_next(context)).await {
        let part = part.map_err(|_| Error::invalid("body", "The message broke off."))?;
        let length = body.len() + part.len();
        if length > most {
            let message = format!("The message is larger than {} KB.", most / 1024);
            let next = match most {
                LARGEST => "Send one call a message.",
                LARGEST_UNIDENTIFIED => "Only callers with a key or a token may send longer ones.",
                _ => "Send less.",
            };
            return Err(Error::new(Code::PayloadTooLarge, message).hint("next", next));
        }
        if length > LARGEST_UNIDENTIFIED && room.is_none() {
            room = Some(ROOM.try_acquire_many(LARGEST as u32).map_err(|_| {
                Error::new(Code::Overloaded, "Too many long messages arrive at once.")
                    .retry_after(1)
            })?);
            // Once: growing by doubling would take twice as much.
            body.reserve(most - body.len());
        }
        body.extend_from_slice(&part);
    }
    Ok(body.freeze())
}
