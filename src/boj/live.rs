//! Asks the Bank: fixed paths, no redirects, bounded bodies, few retries, politely. Only where the
//! operator turned it on. Blocks: on a blocking thread.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::answer::{Answer, Failure, FailureKind};
use super::decode;
use super::question::{Endpoint, Question};

/// The Bank's own address.
pub const BANK: &str = "https://www.stat-search.boj.or.jp";

/// Bytes of a body. The longest list of a database has 99 MB.
const MOST_BYTES: u64 = 16 << 20;
const MOST_LIST_BYTES: u64 = 128 << 20;

/// Requests at once, and the pause between two, towards the Bank.
const AT_ONCE: usize = 2;
const PAUSE: Duration = Duration::from_secs(1);

/// How long an answer is kept, and how many of which size are.
const KEPT: Duration = Duration::from_secs(600);
const MOST_KEPT: usize = 64;
const MOST_KEPT_BYTES: usize = 1 << 20;

/// How often a pause looks whether anyone still waits.
const STEP: Duration = Duration::from_millis(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveOptions {
    pub base_url: String,
    pub timeout: Duration,
    pub retry_max: u32,
    pub retry_backoff: Duration,
}

impl LiveOptions {
    /// Where to ask, with the usual patience. The address must be https, or this machine's.
    pub fn new(base_url: &str) -> Result<LiveOptions, String> {
        let base_url = base_url.trim_end_matches('/').to_string();
        let host = |rest: &str| rest.split(['/', ':', '?']).next().unwrap_or_default().to_string();
        let is_safe = match base_url.split_once("://") {
            Some(("https", rest)) => !rest.is_empty(),
            // On this machine nobody is in between.
            Some(("http", rest)) => is_local(&host(rest)),
            _ => false,
        };
        if !is_safe {
            return Err(format!("{base_url:?} is neither https nor this machine"));
        }
        Ok(LiveOptions {
            base_url,
            timeout: Duration::from_secs(10),
            retry_max: 2,
            retry_backoff: Duration::from_millis(200),
        })
    }

    /// Refuses times and tries that no caller would wait for.
    pub fn checked(self) -> Result<LiveOptions, String> {
        let longest = Duration::from_secs(600);
        match self.longest() {
            all if self.retry_max > 10 || all > longest => {
                Err(format!("{} tries of {:?} are too many", self.retry_max + 1, self.timeout))
            }
            _ if self.timeout.is_zero() => Err("a request needs some time".into()),
            _ => Ok(self),
        }
    }

    /// How long all tries can take.
    pub fn longest(&self) -> Duration {
        let tries = self.retry_max.min(30);
        let pauses = (0..tries).map(|n| backoff(self.retry_backoff, n));
        let pauses = pauses.fold(Duration::ZERO, Duration::saturating_add);
        self.timeout.saturating_mul(tries + 1).saturating_add(pauses)
    }
}

fn is_local(host: &str) -> bool {
    ["127.0.0.1", "localhost"].contains(&host)
}

fn backoff(first: Duration, tried: u32) -> Duration {
    first.saturating_mul(2u32.saturating_pow(tried))
}

/// A body, and when it came.
type Kept = HashMap<String, (Instant, Vec<u8>)>;

pub struct Live {
    options: LiveOptions,
    agent: ureq::Agent,
    /// Requests under way, and when the last began.
    traffic: Mutex<(usize, Option<Instant>)>,
    changed: Condvar,
    kept: Mutex<Kept>,
    is_polite: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What they hold is whole at every step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    pub fn new(options: LiveOptions) -> Live {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(options.timeout))
            .max_redirects(0)
            .http_status_as_error(false)
            .tls_config(
                ureq::tls::TlsConfig::builder()
                    .root_certs(ureq::tls::RootCerts::PlatformVerifier)
                    .build(),
            )
            .user_agent(concat!("josh/", env!("CARGO_PKG_VERSION")));
        let is_polite = options.base_url.starts_with("https");
        Live {
            agent: config.build().new_agent(),
            options,
            traffic: Mutex::new((0, None)),
            changed: Condvar::new(),
            kept: Mutex::default(),
            is_polite,
        }
    }

    /// The answer and its body. `check` fails when nobody waits any more; then nothing more is
    /// sent.
    pub fn ask<E>(
        &self,
        question: &Question,
        check: &dyn Fn() -> Result<(), E>,
    ) -> Result<Result<(Answer, Vec<u8>), Failure>, E> {
        let mut tried = 0;
        loop {
            check()?;
            let turn = self.wait_for_turn(check)?;
            let asked = self.ask_once(question);
            drop(turn);
            match asked {
                Err(failure) if failure.is_retryable() && tried < self.options.retry_max => {
                    sleep(backoff(self.options.retry_backoff, tried), check)?;
                    tried += 1;
                }
                other => return Ok(other),
            }
        }
    }

    fn ask_once(&self, question: &Question) -> Result<(Answer, Vec<u8>), Failure> {
        let target = question.target();
        let decoded = |body: Vec<u8>| {
            let answer = decode(&body, question.format, question.lang)?.checked()?;
            Ok((answer, body))
        };
        if let Some(body) = self.kept(&target) {
            return decoded(body);
        }
        let (status, body) = self.get(&target, question)?;
        // The body says more than the status; without a readable one, something in between spoke.
        match decoded(body.clone()) {
            Err(failure) if failure.kind == FailureKind::Decode && status != 200 => {
                let message = format!("The answer is no answer of the Bank: HTTP status {status}");
                match status {
                    400..500 => Err(Failure::new(FailureKind::Decode, message)),
                    _ => Err(Failure::new(FailureKind::Transport, message)),
                }
            }
            Ok(found) => {
                self.keep(target, body);
                Ok(found)
            }
            failed => failed,
        }
    }

    fn get(&self, target: &str, question: &Question) -> Result<(u16, Vec<u8>), Failure> {
        let unreachable = |why: &dyn std::fmt::Display| {
            let message = format!("The Bank can't be reached: {why}");
            Failure::new(FailureKind::Transport, message)
        };
        let most = match question.endpoint {
            Endpoint::Metadata => MOST_LIST_BYTES,
            _ => MOST_BYTES,
        };
        let url = format!("{}{target}", self.options.base_url);
        let mut response = self.agent.get(&url).call().map_err(|e| unreachable(&e))?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let mut reader = response.body_mut().as_reader().take(most + 1);
        reader.read_to_end(&mut body).map_err(|e| unreachable(&e))?;
        if body.len() as u64 > most {
            let message = format!("The answer has more than {} MB", most >> 20);
            return Err(Failure::new(FailureKind::Decode, message));
        }
        Ok((status, body))
    }

    fn kept(&self, target: &str) -> Option<Vec<u8>> {
        let kept = locked(&self.kept);
        let (since, body) = kept.get(target)?;
        (since.elapsed() < KEPT).then(|| body.clone())
    }

    fn keep(&self, target: String, body: Vec<u8>) {
        if !self.is_polite || body.len() > MOST_KEPT_BYTES {
            return;
        }
        let mut kept = locked(&self.kept);
        kept.retain(|_, (since, _)| since.elapsed() < KEPT);
        if kept.len() < MOST_KEPT {
            kept.insert(target, (Instant::now(), body));
        }
    }

    /// Waits until the Bank may be asked again; nothing for a server on this machine.
    fn wait_for_turn<E>(&self, check: &dyn Fn() -> Result<(), E>) -> Result<Option<Turn<'_>>, E> {
        if !self.is_polite {
            return Ok(None);
        }
        loop {
            check()?;
            let mut traffic = locked(&self.traffic);
            let is_rested = traffic.1.is_none_or(|last| last.elapsed() >= PAUSE);
            if traffic.0 < AT_ONCE && is_rested {
                *traffic = (traffic.0 + 1, Some(Instant::now()));
                return Ok(Some(Turn(self)));
            }
            let waited = self.changed.wait_timeout(traffic, STEP);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// A place among the requests under way.
struct Turn<'a>(&'a Live);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        locked(&self.0.traffic).0 -= 1;
        self.0.changed.notify_one();
    }
}

fn sleep<E>(time: Duration, check: &dyn Fn() -> Result<(), E>) -> Result<(), E> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        check()?;
        std::thread::sleep(STEP.min(end.saturating_duration_since(Instant::now())));
    }
    check()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_this_machine_are_asked() {
        for good in [BANK, "http://127.0.0.1:80", "http://localhost:8080/", "https://proxy/boj"] {
            assert!(LiveOptions::new(good).is_ok(), "{good}");
        }
        for bad in ["http://www.stat-search.boj.or.jp", "ftp://x", "", "https://", "file:///etc"] {
            assert!(LiveOptions::new(bad).is_err(), "{bad}");
        }
        let longest = LiveOptions::new(BANK).unwrap().longest();
        assert_eq!(longest, Duration::from_millis(30_600));
    }
}
