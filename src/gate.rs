//! Who works now, who waits, who is told to come back: so many at once, the others in line as long as the line moves quickly.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::{Code, Error, Result};
use crate::metrics::METRICS;

/// How much is done at once, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Searches, and beside them as many lists, counts and dossiers.
    pub at_once: usize,
    /// How long a request may have to wait for its turn: one that would wait longer is told so instead.
    pub wait: Duration,
    /// How long a request may take, waiting included.
    pub time: Duration,
}

impl Default for Load {
    fn default() -> Load {
        Load { at_once: cores(), wait: Duration::from_millis(250), time: Duration::from_secs(30) }
    }
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, |n| n.get())
}

/// As many at once as there are cores, the others in line: side by side they would all be late.
pub struct Gate {
    name: &'static str,
    at_once: usize,
    turns: Semaphore,
    waiting: AtomicUsize,
    wait: Duration,
    /// What a turn took lately, in microseconds.
    usual: AtomicU64,
}

impl Gate {
    pub fn new(name: &'static str, load: Load) -> Gate {
        Gate {
            name,
            at_once: load.at_once,
            turns: Semaphore::new(load.at_once),
            waiting: AtomicUsize::new(0),
            wait: load.wait,
            usual: AtomicU64::new(0),
        }
    }

    /// Waits for a turn, which lasts until it is dropped.
    pub async fn turn(&self) -> Result<Turn<'_>> {
        let permit = match self.turns.try_acquire() {
            Ok(permit) => permit,
            Err(_) => {
                let _place = Place::take(self)?;
                self.turns.acquire().await.map_err(Error::internal)?
            }
        };
        Ok(Turn { gate: self, started: Instant::now(), _permit: permit })
    }

    /// How long the line takes that has so many in it.
    fn wait_behind(&self, waiting: usize) -> Duration {
        let turns = waiting as u64 / self.at_once as u64 + 1;
        Duration::from_micros(turns * self.usual.load(Ordering::Relaxed))
    }
}

pub struct Turn<'a> {
    gate: &'a Gate,
    started: Instant,
    _permit: SemaphorePermit<'a>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let took = self.started.elapsed().as_micros() as u64;
        let before = self.gate.usual.load(Ordering::Relaxed);
        // Two that end at once may forget one of them: it is an estimate.
        self.gate.usual.store((before * 15 + took) / 16, Ordering::Relaxed);
    }
}

/// A place in line, given up when dropped: also by a caller who goes away.
struct Place<'a>(&'a Gate);

impl<'a> Place<'a> {
    fn take(gate: &'a Gate) -> Result<Place<'a>> {
        let before = gate.waiting.fetch_add(1, Ordering::Relaxed);
        let place = Place(gate);
        METRICS.waiting.with_label_values(&[gate.name]).inc();
        if gate.wait_behind(before) <= gate.wait {
            return Ok(place);
        }
        METRICS.turned_away.with_label_values(&[gate.name]).inc();
        let message = format!("{before} {} wait already, longer than {} ms.", gate.name, gate.wait.as_millis());
        Err(Error::new(Code::Overloaded, message).retry_after(1))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        METRICS.waiting.with_label_values(&[self.0.name]).dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Poll;

    /// Given a turn that is taken and a line that would take too long, when another comes, then it is turned away; when turns are
    /// short it waits, and who leaves the line makes room.
    #[test]
    fn the_line_is_short_and_moves_on() {
        let gate = Gate::new("tests", Load { at_once: 1, wait: Duration::from_millis(15), ..Load::default() });
        gate.usual.store(10_000, Ordering::Relaxed);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let first = gate.turn().await.unwrap();
            let mut second = Box::pin(gate.turn());
            assert!(std::future::poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx).is_pending())).await);
            let error = gate.turn().await.map(drop).unwrap_err();
            assert_eq!((error.code, error.hint["retry_after_seconds"].as_u64()), (Code::Overloaded, Some(1)));
            drop(second);
            assert_eq!(gate.waiting.load(Ordering::Relaxed), 0, "who goes away gives up the place");
            let mut second = Box::pin(gate.turn());
            assert!(std::future::poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx).is_pending())).await);
            drop(first);
            drop(second.await.unwrap());
            assert!(gate.usual.load(Ordering::Relaxed) < 10_000, "short turns shorten the estimate");
        });
    }
}
