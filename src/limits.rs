//! Concurrency limits: how much work runs at once, who waits, who is told to come back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api::{Code, Error, Result};
use crate::metrics::METRICS;

/// How much work runs at once, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct ConcurrencySettings {
    /// Searches, and beside them as many lists, counts and dossiers.
    pub max_concurrent: usize,
    /// How long a request may wait for a permit.
    pub max_wait: Duration,
    /// How long a request may take, waiting included.
    pub timeout: Duration,
}

impl Default for ConcurrencySettings {
    fn default() -> ConcurrencySettings {
        let (max_wait, timeout) = (Duration::from_secs(2), Duration::from_secs(30));
        ConcurrencySettings { max_concurrent: cores(), max_wait, timeout }
    }
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, |n| n.get())
}

/// As many at once as there are cores, the others in a queue: side by side they would all be late.
pub struct ConcurrencyLimit {
    name: &'static str,
    permits: Arc<Semaphore>,
    max_wait: Duration,
}

impl ConcurrencyLimit {
    pub fn new(name: &'static str, settings: ConcurrencySettings) -> ConcurrencyLimit {
        let permits = Arc::new(Semaphore::new(settings.max_concurrent));
        ConcurrencyLimit { name, permits, max_wait: settings.max_wait }
    }

    /// Waits for a permit. It belongs to the work: move it there, so that the limit counts work
    /// and not callers who wait. A caller who has waited since then for an equal call, which came
    /// to nothing, has had that time: else each of many equal callers would wait after the other.
    pub async fn acquire(&self, since: Instant) -> Result<OwnedSemaphorePermit> {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = WaitingGuard::new(self.name);
        // The equal call may have been given up just now, and is about to give its permit back.
        let wait = self.max_wait.saturating_sub(since.elapsed()).max(self.max_wait / 10);
        match tokio::time::timeout(wait, self.permits.clone().acquire_owned()).await {
            Ok(permit) => permit.map_err(Error::internal),
            Err(_) => {
                METRICS.turned_away.with_label_values(&[self.name]).inc();
                let wait = self.max_wait.as_millis();
                let message =
                    format!("Too many {} at once: none ended within {wait} ms.", self.name);
                Err(Error::new(Code::Overloaded, message).retry_after(1))
            }
        }
    }
}

/// A place in the queue, for the metrics. Given up when dropped: also by a caller who goes away.
struct WaitingGuard(&'static str);

impl WaitingGuard {
    fn new(name: &'static str) -> WaitingGuard {
        METRICS.waiting.with_label_values(&[name]).inc();
        WaitingGuard(name)
    }
}

impl Drop for WaitingGuard {
    fn drop(&mut self) {
        METRICS.waiting.with_label_values(&[self.0]).dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given one permit that is taken, when another caller comes, then it waits as long as it may
    /// and is turned away; when the permit is given back meanwhile, it gets it.
    #[test]
    fn a_waiting_caller_gets_the_permit_or_is_turned_away() {
        let waiting = || METRICS.waiting.with_label_values(&["tests"]).get();
        let max_wait = Duration::from_millis(50);
        let settings =
            ConcurrencySettings { max_concurrent: 1, max_wait, ..ConcurrencySettings::default() };
        let limit = ConcurrencyLimit::new("tests", settings);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let first = limit.acquire(Instant::now()).await.unwrap();
            let error = limit.acquire(Instant::now()).await.unwrap_err();
            let after = error.hint["retry_after_seconds"].as_u64();
            assert_eq!((error.code, after), (Code::Overloaded, Some(1)));
            let (second, ()) = tokio::join!(limit.acquire(Instant::now()), async {
                tokio::task::yield_now().await;
                assert_eq!(waiting(), 1);
                drop(first);
            });
            assert!(second.is_ok() && waiting() == 0);
        });
    }
}
