//! One timer for all statements of a database: interrupts those whose caller is gone or whose time
//! is up. Its thread starts with the first statement and sleeps while there is none.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// How often running statements are looked at: an abandoned one ends within about this time.
const TICK: Duration = Duration::from_millis(10);

/// What ends a statement before it is done.
#[derive(Clone, Debug)]
pub struct Interrupt {
    pub token: CancellationToken,
    pub deadline: Instant,
}

impl Interrupt {
    /// Nothing but the statement's own end: for builds and tools.
    pub fn never() -> Interrupt {
        let deadline = Instant::now() + Duration::from_secs(365 * 24 * 3600);
        Interrupt { token: CancellationToken::new(), deadline }
    }

    /// The same, but no later than this.
    pub fn by(&self, deadline: Instant) -> Interrupt {
        Interrupt { token: self.token.clone(), deadline: self.deadline.min(deadline) }
    }

    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    pub fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

/// Stops a running statement, from any thread.
pub trait Stoppable: Send + Sync {
    fn stop(&self);
}

#[derive(Default)]
pub struct Watchdog {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    running: HashMap<u64, (Arc<dyn Stoppable>, Interrupt)>,
    next: u64,
    has_thread: bool,
    is_idle: bool,
    is_closed: bool,
}

impl Shared {
    /// The state is consistent at every moment, so a poisoned lock still guards a good one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self) {
        let mut state = self.lock();
        while !state.is_closed {
            if state.running.is_empty() {
                state.is_idle = true;
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.is_idle = false;
                continue;
            }
            state = self.wake.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            // Every tick, not once: DuckDB forgets an interrupt that comes before its statement
            // began.
            for (statement, interrupt) in state.running.values() {
                if interrupt.is_cancelled() || interrupt.is_late() {
                    statement.stop();
                }
            }
        }
    }
}

impl Watchdog {
    /// Watches a statement until the guard is dropped.
    pub fn watch(&self, statement: Arc<dyn Stoppable>, interrupt: &Interrupt) -> Watched<'_> {
        let mut state = self.shared.lock();
        if !state.has_thread {
            let shared = self.shared.clone();
            match std::thread::Builder::new().spawn(move || shared.watch()) {
                Ok(_) => state.has_thread = true,
                // This statement may take longer than it should; the next one tries again.
                Err(error) => tracing::error!(%error, "no thread to watch SQL statements"),
            }
        }
        state.next += 1;
        let number = state.next;
        state.running.insert(number, (statement, interrupt.clone()));
        if state.is_idle {
            self.shared.wake.notify_one();
        }
        Watched { watchdog: self, number }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.wake.notify_one();
    }
}

/// A statement that is being watched.
pub struct Watched<'a> {
    watchdog: &'a Watchdog,
    number: u64,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.watchdog.shared.lock().running.remove(&self.number);
    }
}
