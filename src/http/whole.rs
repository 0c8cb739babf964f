//! Whole lists as files: page after page, written while the next one is read. Each page is
//! a call of its own under the limits; whoever goes away ends the work with the page at hand.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Instant;

use actix_web::body::{BodySize, MessageBody};
use actix_web::web::{self, Bytes};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::encode::{self, Format, Part};
use crate::api::argument::WHOLE_PAGE;
use crate::api::{Arguments, CallerInfo, Operation, Outcome, Result};
use crate::bundle::Bundle;
use crate::executor::Executor;

/// Items read at once: large enough that a list of a million takes a thousand queries.
const PAGE: usize = 1_000;
/// Pages that may wait for a slow reader.
const WAITING: usize = 2;

/// A list of which the first page is known.
pub struct WholeList {
    pub executor: web::Data<Executor>,
    pub bundle: Arc<Bundle>,
    pub caller: CallerInfo,
    pub operation: &'static Operation,
    pub arguments: Arguments,
    pub format: Format,
}

impl WholeList {
    /// The body: the first page, then all others.
    pub fn body(self, first: &Outcome) -> Result<WholeBody> {
        let (sender, receiver) = channel(WAITING);
        let next = first.output.page().and_then(|(_, next)| next.map(str::to_string));
        let part = Part { is_first: true, is_last: next.is_none() };
        let start = encode::part(first, self.format, &self.bundle, part)?;
        actix_web::rt::spawn(async move { self.write(start, next, sender).await });
        Ok(WholeBody(receiver))
    }

    async fn write(
        self,
        start: Vec<u8>,
        mut next: Option<String>,
        sender: Sender<Result<Bytes, Broken>>,
    ) {
        if sender.send(Ok(start.into())).await.is_err() {
            return;
        }
        while let Some(cursor) = next.take() {
            let part = match self.page(cursor).await {
                Ok((part, cursor)) => {
                    next = cursor;
                    Ok(part.into())
                }
                Err(error) => {
                    let request_id = &self.caller.request_id;
                    tracing::warn!(request_id, code = error.code.as_str(), "a list broke off");
                    Err(Broken)
                }
            };
            if sender.send(part).await.is_err() {
                return;
            }
        }
    }

    async fn page(&self, cursor: String) -> Result<(Vec<u8>, Option<String>)> {
        let mut arguments = self.arguments.clone();
        arguments.push_one("cursor", cursor);
        arguments.push_one(WHOLE_PAGE, PAGE.to_string());
        let caller = CallerInfo { started: Instant::now(), ..self.caller.clone() };
        let context = self.executor.context(self.bundle.clone(), caller);
        let outcome = self.executor.execute(self.operation, arguments, context).await?;
        let next = outcome.output.page().and_then(|(_, next)| next.map(str::to_string));
        let part = Part { is_first: false, is_last: next.is_none() };
        let part = encode::part(&outcome, self.format, &self.bundle, part)?;
        self.bundle.ensure_intact()?;
        Ok((part, next))
    }
}

/// The list broke off: the connection is closed without its end, so that nobody takes a part for
/// the whole.
#[derive(Debug, thiserror::Error)]
#[error("the list broke off")]
pub struct Broken;

/// Parts as they are written.
pub struct WholeBody(Receiver<Result<Bytes, Broken>>);

impl MessageBody for WholeBody {
    type Error = Broken;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Bytes, Broken>>> {
        self.0.poll_recv(context)
    }
}
