//! Sessions of MCP clients (`--mcp-sessions`): how many there may be, and whose they are. rmcp
//! keeps the sessions themselves; it knows no callers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actix_web::dev::ServiceRequest;
use actix_web::http::header::HeaderMap;

use super::access_guard::Sender;
use super::message::LARGEST_UNIDENTIFIED;
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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: HashMap<String, Session>,
    /// Those that are being opened count as well: many may arrive before the first is answered.
    /// One whose caller goes away stays until it would be idle, for rmcp may have opened it.
    opening: HashMap<Opening, Session>,
    last: u64,
}

struct Session {
    /// The key of the caller who opened it; none where access is not restricted.
    owner: Option<String>,
    /// Each endpoint has sessions of its own.
    endpoint: String,
    used: Instant,
}

/// A message that may open a session, until it is answered.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Opening(u64);

impl Sessions {
    /// Refuses a message of a session of somebody else. Tells whether it names a session at all;
    /// an unknown one is rmcp's to refuse.
    pub fn check(&self, request: &ServiceRequest, sender: &Sender) -> Result<bool> {
        let Some(id) = id_in(request.headers()) else { return Ok(false) };
        if let Some(session) = self.state().open.get_mut(id) {
            if session.owner.as_deref() != owner(sender) || session.endpoint != endpoint(request) {
                return Err(Error::new(Code::RouteNotFound, "There is no such session."));
            }
            session.used = Instant::now();
        }
        Ok(true)
    }

    /// Refuses a message that would open too many sessions or that is too large to be kept.
    pub fn begin(
        &self,
        request: &ServiceRequest,
        sender: &Sender,
        length: usize,
    ) -> Result<Opening> {
        if length > LARGEST_UNIDENTIFIED {
            let most = LARGEST_UNIDENTIFIED / 1024;
            let message = format!("A message that opens a session has at most {most} KB.");
            return Err(Error::new(Code::PayloadTooLarge, message)
                .hint("next", "Send less in `capabilities` and `clientInfo`."));
        }
        let owner = owner(sender);
        let mut state = self.state();
        state.open.retain(|_, session| session.used.elapsed() < IDLE);
        state.opening.retain(|_, session| session.used.elapsed() < IDLE);
        let all = state.open.values().chain(state.opening.values());
        let own = all.filter(|session| session.owner.as_deref() == owner).count();
        let count = state.open.len() + state.opening.len();
        if count >= MOST || (owner.is_some() && own >= MOST_OF_ONE) {
            return Err(Error::new(Code::Overloaded, "Too many sessions are open.")
                .hint("next", "End sessions with DELETE, or wait until idle ones are closed.")
                .retry_after(IDLE.as_secs()));
        }
        state.last += 1;
        let opening = Opening(state.last);
        let session = Session {
            owner: owner.map(str::to_string),
            endpoint: endpoint(request).to_string(),
            used: Instant::now(),
        };
        state.opening.insert(opening, session);
        Ok(opening)
    }

    /// Remembers the session that an answer opens, if it does.
    pub fn opened(&self, opening: Opening, answer: &HeaderMap) {
        let mut state = self.state();
        let session = state.opening.remove(&opening);
        if let (Some(session), Some(id)) = (session, id_in(answer)) {
            state.open.insert(id.to_string(), session);
        }
    }

    /// Forgets a session that its owner has ended.
    pub fn ended(&self, request: &HeaderMap) {
        if let Some(id) = id_in(request) {
            self.state().open.remove(id);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn id_in(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER)?.to_str().ok()
}

fn owner(sender: &Sender) -> Option<&str> {
    match sender {
        Sender::Known(identity) => Some(identity.key.as_str()),
        Sender::Anyone | Sender::Unknown(_) => None,
    }
}

fn endpoint(request: &ServiceRequest) -> &str {
    request.path().trim_end_matches('/')
}
