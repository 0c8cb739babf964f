//! Outcomes that took a while, kept for whoever asks the same of the same bundle, and equal calls
//! at one time made one. Each opened bundle has its own, so nothing outlives its data.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::sync::OnceCell;

use crate::api::{Arguments, Operation, Outcome, Result};
use crate::metrics::METRICS;

/// What took less is as quick to work out again.
const WORTH_KEEPING: Duration = Duration::from_millis(1);

/// Bytes of all outcomes that are kept, and of the largest one.
const MOST_BYTES: u64 = 16 << 20;
const LARGEST: usize = 1 << 20;

/// How large outcomes are, mostly: a page of twenty bills.
const USUAL_BYTES: u64 = 32 << 10;

pub struct Outcomes {
    kept: Cache<String, Kept, BySize>,
    flights: Mutex<HashMap<String, Flight>>,
}

/// A call that runs, and those that wait for its outcome.
#[derive(Default)]
struct Flight {
    cell: Arc<OnceCell<Outcome>>,
    /// How many they are.
    places: usize,
}

#[derive(Clone)]
struct Kept {
    outcome: Outcome,
    bytes: usize,
}

#[derive(Clone)]
struct BySize;

impl Weighter<String, Kept> for BySize {
    fn weight(&self, key: &String, kept: &Kept) -> u64 {
        (key.len() + kept.bytes) as u64
    }
}

impl Default for Outcomes {
    fn default() -> Outcomes {
        let usual = (MOST_BYTES / USUAL_BYTES) as usize;
        let kept = Cache::with_weighter(usual, MOST_BYTES, BySize);
        Outcomes { kept, flights: Mutex::default() }
    }
}

/// What tells a call from others: a list is the same in whichever order it is asked for.
pub fn key(operation: &Operation, arguments: &Arguments) -> String {
    let line = |(name, given)| format!("\n{name} {given:?}");
    let mut lines: Vec<String> = arguments.iter().map(line).collect();
    lines.sort_unstable();
    format!("{}{}", operation.name, lines.concat())
}

impl Outcomes {
    /// The outcome of a call: one that is kept, that of an equal call that runs, or its own. When
    /// the call that others wait for fails or is given up, the next of them runs.
    pub async fn get_or_run<F>(&self, key: String, run: impl FnOnce() -> F) -> Result<Outcome>
    where
        F: Future<Output = Result<(Outcome, Duration)>>,
    {
        let counted = |result: &str| METRICS.outcomes.with_label_values(&[result]).inc();
        if let Some(kept) = self.kept.get(&key) {
            counted("hit");
            return Ok(kept.outcome);
        }
        let flight = FlightGuard::join(self, key);
        // The flight before this one may have ended in between.
        if let Some(kept) = self.kept.get(&flight.key) {
            counted("hit");
            return Ok(kept.outcome);
        }
        let (mut is_first, flight_key) = (false, &flight.key);
        let first = &mut is_first;
        let ran = flight.cell.get_or_try_init(|| async move {
            *first = true;
            let (outcome, took) = run().await?;
            if took >= WORTH_KEEPING {
                self.keep(flight_key, &outcome)?;
            }
            Ok(outcome)
        });
        let outcome = ran.await.cloned();
        counted(if is_first { "miss" } else { "joined" });
        outcome
    }

    fn keep(&self, key: &str, outcome: &Outcome) -> Result<()> {
        let mut json = Vec::new();
        outcome.output.write_json(&mut json)?;
        if json.len() <= LARGEST {
            let kept = Kept { outcome: outcome.clone(), bytes: json.len() };
            self.kept.insert(key.to_string(), kept);
        }
        Ok(())
    }

    fn flights(&self) -> std::sync::MutexGuard<'_, HashMap<String, Flight>> {
        // A poisoned lock guards a map that is consistent at every moment.
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in a flight. The last one to leave takes it off the list.
struct FlightGuard<'a> {
    outcomes: &'a Outcomes,
    key: String,
    cell: Arc<OnceCell<Outcome>>,
}

impl<'a> FlightGuard<'a> {
    fn join(outcomes: &'a Outcomes, key: String) -> FlightGuard<'a> {
        let mut flights = outcomes.flights();
        let flight = flights.entry(key.clone()).or_default();
        flight.places += 1;
        FlightGuard { outcomes, key, cell: flight.cell.clone() }
    }
}

impl Drop for FlightGuard<'_> {
    fn drop(&mut self) {
        let mut flights = self.outcomes.flights();
        let Some(flight) = flights.get_mut(&self.key) else { return };
        // Counted under the lock: two that left at one moment would each see the other still there.
        flight.places -= 1;
        if flight.places == 0 {
            flights.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Code, Error};
    use crate::limits::{ConcurrencyLimit, ConcurrencySettings};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Instant;

    fn outcome(text: &str) -> Outcome {
        Outcome::typed(serde_json::json!({ "text": text }))
    }

    fn text(outcome: Result<Outcome>) -> String {
        outcome.unwrap().output.to_value().unwrap()["text"].as_str().unwrap().to_string()
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(future)
    }

    /// Given a hundred equal calls at once, when they run, then one works and all have its outcome.
    #[test]
    fn equal_calls_at_one_time_are_one() {
        let (outcomes, runs) = (Arc::new(Outcomes::default()), Arc::new(AtomicU32::new(0)));
        let call = |outcomes: Arc<Outcomes>, runs: Arc<AtomicU32>| async move {
            let run = || async {
                runs.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(5)).await;
                Ok((outcome("done"), Duration::ZERO))
            };
            outcomes.get_or_run("a".into(), run).await
        };
        let all = block_on(async {
            let mut calls = tokio::task::JoinSet::new();
            for _ in 0..100 {
                calls.spawn(call(outcomes.clone(), runs.clone()));
            }
            calls.join_all().await
        });
        assert!(all.len() == 100 && all.into_iter().all(|found| text(found) == "done"));
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        assert!(outcomes.flights().is_empty() && outcomes.kept.is_empty(), "it was quick");
    }

    /// Given a call that fails, or whose caller goes away, when others wait for it, then the next
    /// one runs.
    #[test]
    fn who_waits_for_a_call_that_fails_runs_it() {
        let outcomes = Outcomes::default();
        block_on(async {
            let failing = outcomes.get_or_run("a".into(), || async {
                tokio::task::yield_now().await;
                Err(Error::internal("no"))
            });
            let waiting = outcomes
                .get_or_run("a".into(), || async { Ok((outcome("second"), Duration::ZERO)) });
            let (failed, found) = tokio::join!(failing, waiting);
            assert!(failed.is_err());
            assert_eq!(text(found), "second");
            let endless = outcomes.get_or_run("b".into(), std::future::pending);
            let gone = tokio::time::timeout(Duration::from_millis(5), endless).await;
            assert!(gone.is_err());
            let next = outcomes
                .get_or_run("b".into(), || async { Ok((outcome("third"), Duration::ZERO)) });
            assert_eq!(text(next.await), "third");
        });
        assert!(outcomes.flights().is_empty());
    }

    /// Given no permit to be had, when many equal calls come, then each is turned away when it has
    /// waited as long as it may: not one after the other, each for that long. (Beside heavy other
    /// work the last ones waited until their deadline.)
    #[test]
    fn equal_calls_are_turned_away_together() {
        let max_wait = Duration::from_millis(200);
        let settings =
            ConcurrencySettings { max_concurrent: 1, max_wait, ..ConcurrencySettings::default() };
        let limit = ConcurrencyLimit::new("tests", settings);
        let outcomes = Outcomes::default();
        block_on(async {
            let started = Instant::now();
            let _taken = limit.acquire(started).await.unwrap();
            let call = || {
                outcomes.get_or_run("a".into(), || async {
                    let _permit = limit.acquire(started).await?;
                    Ok((outcome("never"), Duration::ZERO))
                })
            };
            let calls = tokio::join!(call(), call(), call(), call(), call(), call());
            let is_turned_away =
                |found: Result<Outcome>| found.is_err_and(|error| error.code == Code::Overloaded);
            let (a, b, c, d, e, f) = calls;
            assert!([a, b, c, d, e, f].into_iter().all(is_turned_away));
            let took = started.elapsed();
            assert!((max_wait..3 * max_wait).contains(&took), "{took:?}");
        });
    }

    /// Given calls that end at one moment on several threads, when all have ended, then none is
    /// listed any more.
    #[test]
    fn whoever_leaves_last_takes_the_call_off_the_list() {
        let outcomes = Outcomes::default();
        let come_and_go = || {
            for n in 0..20_000 {
                drop(FlightGuard::join(&outcomes, (n % 3).to_string()));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(come_and_go);
            }
        });
        assert!(outcomes.flights().is_empty());
    }

    /// Given calls that take a while, when they end, then they are kept, the largest excepted, and
    /// all together take no more room than they may.
    #[test]
    fn what_took_a_while_is_kept_within_bounds() {
        let outcomes = Outcomes::default();
        let run = |key: String, text: String| {
            let ran = || async move { Ok((outcome(&text), WORTH_KEEPING)) };
            block_on(outcomes.get_or_run(key, ran)).unwrap();
        };
        run("small".into(), "x".into());
        let again = block_on(
            outcomes.get_or_run("small".into(), || async { Err(Error::internal("it is kept")) }),
        );
        assert_eq!(text(again), "x");
        run("huge".into(), "x".repeat(LARGEST));
        assert_eq!(outcomes.kept.len(), 1);
        for n in 0..100 {
            run(format!("large {n}"), "x".repeat(LARGEST / 2));
        }
        assert!(outcomes.kept.weight() <= MOST_BYTES);
    }
}
