//! Sessions of MCP clients (`--mcp-sessions`): how many there may be, and whose they are. rmcp
//! keeps the sessions themselves; it knows no callers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actix_web::http::header::HeaderMap;

use super::access_guard::{RpcCall, Sender};
use super::message::LARGEST_UNIDENTIFIED;
use crate::access::Identity;
use crate::api::{Code, Error, Result};

/// Each takes some hundred KB.
const MOST: usize = 256;
/// Of one caller, where callers are known.
const MOST_OF_ONE: usize = 32;
/// rmcp closes a session that was not used for so long.
const IDLE: Duration = Duration::from_secs(300);

const HEADER: &str = "mcp-session-id";

#[derive(Default)]
pub struct Sessions {
    open: Mutex<HashMap<String, Session>>,
}

struct Session {
    /// The key of the caller who opened it; none where access is not restricted.
    owner: Option<String>,
    used: Instant,
}

impl Sessions {
    /// Refuses a message of a session of somebody else, and one that would open too many or that
    /// is too large to be kept.
    pub fn admit(
        &self,
        headers: &HeaderMap,
        sender: &Sender,
        rpc: Option<&RpcCall>,
        length: usize,
    ) -> Result<()> {
        let owner = match sender {
            Sender::Known(identity) => Some(identity.key.as_str()),
            Sender::Anyone | Sender::Unknown(_) => None,
        };
        let mut open = self.open();
        if let Some(id) = headers.get(HEADER).and_then(|id| id.to_str().ok()) {
            // An unknown one is rmcp's to refuse.
            if let Some(session) = open.get_mut(id) {
                if session.owner.as_deref() != owner {
                    return Err(Error::new(Code::RouteNotFound, "There is no such session."));
                }
                session.used = Instant::now();
            }
            return Ok(());
        }
        if rpc.is_none_or(|rpc| rpc.method != "initialize") {
            return Ok(());
        }
        if length > LARGEST_UNIDENTIFIED {
            let most = LARGEST_UNIDENTIFIED / 1024;
            let message = format!("A message that opens a session has at most {most} KB.");
            return Err(Error::new(Code::PayloadTooLarge, message)
                .hint("next", "Send less in `capabilities` and `clientInfo`."));
        }
        open.retain(|_, session| session.used.elapsed() < IDLE);
        let own = open.values().filter(|session| session.owner.as_deref() == owner).count();
        if open.len() >= MOST || (owner.is_some() && own >= MOST_OF_ONE) {
            return Err(Error::new(Code::Overloaded, "Too many sessions are open.")
                .hint("next", "End sessions with DELETE, or wait until idle ones are closed.")
                .retry_after(IDLE.as_secs()));
        }
        Ok(())
    }

    /// Remembers whose session was opened, if an answer opens one.
    pub fn opened(&self, answer: &HeaderMap, caller: Option<&Identity>) {
        let Some(id) = answer.get(HEADER).and_then(|id| id.to_str().ok()) else { return };
        let owner = caller.map(|identity| identity.key.clone());
        let session = Session { owner, used: Instant::now() };
        self.open().entry(id.to_string()).or_insert(session);
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
