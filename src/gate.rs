//! Who works now, who waits, who is told to come back: so many at once, the others in line, but not for long.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::{Code, Error, Result};
use crate::metrics::METRICS;

/// How much is done at once, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Searches, and beside them as many lists, counts and dossiers.
    pub at_once: usize,
    /// How long a request may wait for its turn.
    pub wait: Duration,
    /// How long a request may take, waiting included.
    pub time: Duration,
}

impl Default for Load {
    fn default() -> Load {
        Load { at_once: cores(), wait: Duration::from_secs(2), time: Duration::from_secs(30) }
    }
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, |n| n.get())
}

/// As many at once as there are cores, the others in line: side by side they would all be late.
pub struct Gate {
    name: &'static str,
    turns: Semaphore,
    wait: Duration,
}

impl Gate {
    pub fn new(name: &'static str, load: Load) -> Gate {
        Gate { name, turns: Semaphore::new(load.at_once), wait: load.wait }
    }

    /// Waits for a turn, which lasts until the permit is dropped.
    pub async fn turn(&self) -> Result<SemaphorePermit<'_>> {
        if let Ok(permit) = self.turns.try_acquire() {
            return Ok(permit);
        }
        let _place = Place::take(self.name);
        match tokio::time::timeout(self.wait, self.turns.acquire()).await {
            Ok(permit) => permit.map_err(Error::internal),
            Err(_) => {
                METRICS.turned_away.with_label_values(&[self.name]).inc();
                let message = format!("Too many {} at once: no turn within {} ms.", self.name, self.wait.as_millis());
                Err(Error::new(Code::Overloaded, message).retry_after(1))
            }
        }
    }
}

/// A place in line, for the counters. Given up when dropped: also by a caller who goes away.
struct Place(&'static str);

impl Place {
    fn take(name: &'static str) -> Place {
        METRICS.waiting.with_label_values(&[name]).inc();
        Place(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        METRICS.waiting.with_label_values(&[self.0]).dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given one turn that is taken, when another comes, then it waits as long as it may and is turned away; when the turn ends
    /// meanwhile, it gets it.
    #[test]
    fn who_waits_gets_the_turn_or_is_turned_away() {
        let waiting = || METRICS.waiting.with_label_values(&["tests"]).get();
        let gate = Gate::new("tests", Load { at_once: 1, wait: Duration::from_millis(50), ..Load::default() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let first = gate.turn().await.unwrap();
            let error = gate.turn().await.unwrap_err();
            assert_eq!((error.code, error.hint["retry_after_seconds"].as_u64()), (Code::Overloaded, Some(1)));
            let (second, ()) = tokio::join!(gate.turn(), async {
                tokio::task::yield_now().await;
                assert_eq!(waiting(), 1);
                drop(first);
            });
            assert!(second.is_ok() && waiting() == 0);
        });
    }
}
