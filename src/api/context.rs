//! What travels with every call: who asked, until when, and whether anyone still waits for the
//! result. Loops that can be long call [`Context::check`]; statements are interrupted through the
//! same token.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::error::{Code, Error, Result};
use crate::access::Identity;
use crate::boj::Live;
use crate::bundle::{Bundle, Interrupt, Unavailable};
use crate::client_config::ClientConfigs;
use crate::wizard::Forms;

/// What one aggregation may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub rows: u64,
    pub time: Duration,
}

impl Default for Budget {
    /// A million filings grouped by registrant take some 30 ms: far above what a question needs.
    fn default() -> Self {
        Budget { rows: 50_000_000, time: Duration::from_secs(5) }
    }
}

/// Told how far long work has come: parts done, parts in all, what comes next.
pub type Progress = Arc<dyn Fn(usize, usize, &str) + Send + Sync>;

/// Who calls, and since when.
#[derive(Clone, Debug)]
pub struct CallerInfo {
    pub request_id: String,
    pub started: Instant,
    /// Who it is, where the server asks.
    pub identity: Option<Identity>,
}

/// The circumstances of one call.
#[derive(Clone)]
pub struct Context {
    pub bundle: Arc<Bundle>,
    /// What clients are configured with, where this server hands that out.
    pub client_configs: Option<Arc<ClientConfigs>>,
    /// The Bank of Japan, where the operator lets it be asked.
    pub boj: Option<Arc<Live>>,
    /// The forms of agencies, where this server offers them.
    pub forms: Option<Arc<Forms>>,
    pub caller: CallerInfo,
    pub deadline: Instant,
    pub cancellation: CancellationToken,
    pub budget: Budget,
    /// Where the caller wants to know how far it is.
    pub on_progress: Option<Progress>,
}

impl Context {
    /// A context without a caller and with plenty of time: for builds, benchmarks and tests.
    pub fn unbounded(bundle: Arc<Bundle>) -> Context {
        let started = Instant::now();
        Context {
            bundle,
            client_configs: None,
            boj: None,
            forms: None,
            caller: CallerInfo { request_id: String::new(), started, identity: None },
            deadline: started + Duration::from_secs(24 * 3600),
            cancellation: CancellationToken::new(),
            budget: Budget::default(),
            on_progress: None,
        }
    }

    /// An error when nobody waits any more or the time is up. Cheap: one atomic load and a clock.
    pub fn check(&self) -> Result<()> {
        if self.cancellation.is_cancelled() {
            return Err(Error::cancelled());
        }
        if Instant::now() >= self.deadline {
            return Err(self.late());
        }
        Ok(())
    }

    /// Tells a fault of ours from a file that was changed while it was in use.
    pub fn classify(&self, error: Error) -> Error {
        if error.code == Code::InternalError && self.bundle.is_changed() {
            return Error { cause: error.cause, ..Unavailable::changed().into() };
        }
        error
    }

    /// The error for a call whose time is up.
    pub fn late(&self) -> Error {
        let limit = self.deadline.duration_since(self.caller.started).as_millis();
        Error::new(Code::AnswerTimeout, format!("No answer within {limit} ms."))
    }

    /// What ends a statement of this call: its cancellation or its deadline.
    pub fn interrupt(&self) -> Interrupt {
        Interrupt { token: self.cancellation.clone(), deadline: self.deadline }
    }

    /// Says how far the work is, if anybody asked.
    pub fn progress(&self, done: usize, all: usize, next: &str) {
        if let Some(tell) = &self.on_progress {
            tell(done, all, next);
        }
    }

    pub fn took_ms(&self) -> u64 {
        self.caller.started.elapsed().as_millis() as u64
    }
}
