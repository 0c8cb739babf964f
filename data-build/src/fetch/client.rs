//! Requests to publishers: so many at once and so often a host, keys to their own host only, and one policy of trying
//! again. Transport errors and 500, 502, 503 and 504 are tried again after a pause that doubles. 429, and 503 with
//! `Retry-After`, are no errors but a request to wait: the whole host waits as long as it says. Nothing else is
//! repeated.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, anyhow};
use serde_json::Value;
use ureq::http::{Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::names;
use super::publishers::{self, Host};

/// The longest pause before another try.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long a host waits that asks for it without saying how long.
const UNSTATED_WAIT: Duration = Duration::from_secs(60);
/// How often one request waits for a host before it is given up.
const MOST_WAITS: u32 = 20;
/// A list or an answer of an API is held in memory; none comes near this.
const LARGEST_ANSWER: u64 = 64 << 20;

/// How hard to try.
#[derive(Clone, Debug)]
pub struct Policy {
    pub retries: u32,
    pub pause: Duration,
    pub longest_wait: Duration,
    pub timeout: Duration,
    pub per_host: usize,
}

/// Why a try came to nothing.
pub enum Trouble {
    /// May be over soon. `gained` says that a part came in that the next try goes on from: such a try does not count.
    Passing {
        reason: String,
        gained: bool,
    },
    /// The host asks to be left alone for a while.
    Wait(Option<Duration>),
    /// There is no such thing.
    Missing(String),
    Final(String),
}

impl Trouble {
    pub fn passing(reason: impl std::fmt::Display) -> Trouble {
        Trouble::Passing { reason: reason.to_string(), gained: false }
    }
}

/// What an address that is not there gives.
#[derive(Debug)]
pub struct NotThere(pub String);

impl std::fmt::Display for NotThere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotThere {}

/// How a host is doing.
#[derive(Default)]
struct Traffic {
    busy: usize,
    not_before: Option<Instant>,
}

pub struct Client {
    agent: Agent,
    policy: Policy,
    /// Hosts that are reached at another address: mirrors, and tests.
    bases: HashMap<String, String>,
    traffic: Mutex<HashMap<String, Traffic>>,
    freed: Condvar,
}

/// An answer with status 200, 206, 304 or 416. The host's place is taken until it is dropped.
pub struct Answer<'a> {
    pub response: Response<Body>,
    _place: Place<'a>,
}

impl Answer<'_> {
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }
}

struct Place<'a> {
    client: &'a Client,
    host: String,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(traffic) = self.client.traffic().get_mut(&self.host) {
            traffic.busy -= 1;
        }
        self.client.freed.notify_all();
    }
}

impl Client {
    pub fn new(policy: Policy, bases: HashMap<String, String>) -> Client {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("josh-data-build/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .timeout_connect(Some(policy.timeout))
            .timeout_recv_response(Some(policy.timeout))
            // Of each read: a large file may take its time, a silent server may not.
            .timeout_per_read(Some(policy.timeout))
            .build();
        let (traffic, freed) = (Mutex::default(), Condvar::new());
        Client { agent: config.into(), policy, bases, traffic, freed }
    }

    /// Does something until it succeeds, as the policy says.
    pub fn persist<T>(&self, address: &str, mut attempt: impl FnMut(u32) -> Result<T, Trouble>) -> Result<T> {
        let (mut tries, mut failed, mut waits) = (0, 0, 0);
        loop {
            let trouble = match attempt(tries) {
                Ok(done) => return Ok(done),
                Err(trouble) => trouble,
            };
            tries += 1;
            match trouble {
                Trouble::Passing { reason, gained } => {
                    failed = if gained { 0 } else { failed + 1 };
                    if failed > self.policy.retries {
                        return Err(anyhow!("{reason} (tried {tries} times)"));
                    }
                    sleep(self.policy.pause.saturating_mul(1 << failed.saturating_sub(1).min(16)).min(LONGEST_PAUSE));
                }
                Trouble::Wait(said) => {
                    waits += 1;
                    let wait = said.unwrap_or(UNSTATED_WAIT.min(self.policy.longest_wait));
                    if waits > MOST_WAITS || wait > self.policy.longest_wait {
                        let seconds = wait.as_secs();
                        return Err(anyhow!(
                            "the host asks to wait {seconds} s: run the same command again after that"
                        ));
                    }
                    self.hold(&names::host(address).unwrap_or_default(), wait);
                }
                Trouble::Missing(reason) => return Err(NotThere(reason).into()),
                Trouble::Final(reason) => return Err(anyhow!(reason)),
            }
        }
    }

    /// One request, when it is the host's turn.
    pub fn ask(&self, address: &str, headers: &[(&str, String)]) -> Result<Answer<'_>, Trouble> {
        let host = names::host(address).ok_or_else(|| Trouble::Final(format!("not an address: {address:?}")))?;
        let known = publishers::host(&host);
        let place = self.place(&host, known);
        let target = self.target(address, &host);
        let mut request = self.agent.get(&target);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let mut redirects = 5;
        if let Some(key) = known.and_then(|h| h.key.as_ref())
            && let Some(value) = key.value()
        {
            request = request.header(key.header, format!("{}{value}", key.prefix));
            // A key is for its host alone, wherever the host would like to send us.
            redirects = 0;
        }
        let secure = target.starts_with("https://");
        let config = request.config().max_redirects(redirects).max_redirects_will_error(false).https_only(secure);
        let response = config.build().call().map_err(|e| transport(&e))?;
        judge(response, known).map(|response| Answer { response, _place: place })
    }

    /// The text of a list or of an API's answer.
    pub fn text(&self, address: &str, accept: &str) -> Result<String> {
        self.persist(address, |_| {
            let mut answer = self.ask(address, &[("Accept", accept.to_string())])?;
            let mut bytes = Vec::new();
            let body = answer.response.body_mut().as_reader();
            body.take(LARGEST_ANSWER + 1).read_to_end(&mut bytes).map_err(Trouble::passing)?;
            if bytes.len() as u64 > LARGEST_ANSWER {
                return Err(Trouble::Final(format!("an answer larger than {} MiB", LARGEST_ANSWER >> 20)));
            }
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        })
    }

    pub fn json(&self, address: &str) -> Result<Value> {
        let text = self.text(address, "application/json")?;
        serde_json::from_str(&text).map_err(|e| {
            let begins: String = text.trim_start().chars().take(40).collect();
            anyhow!("not JSON ({e}); it begins with {begins:?}")
        })
    }

    /// Where an address is really asked for.
    fn target(&self, address: &str, host: &str) -> String {
        let Some(base) = self.bases.get(host) else { return address.to_string() };
        let path = address.split_once("://").map_or("", |(_, rest)| rest);
        format!("{}{}", base.trim_end_matches('/'), &path[host.len().min(path.len())..])
    }

    /// Waits for one of the host's places and for its turn.
    fn place(&self, host: &str, known: Option<&Host>) -> Place<'_> {
        // A mirror keeps its own pace.
        let interval = match self.bases.contains_key(host) {
            true => Duration::ZERO,
            false => Duration::from_secs_f64(60.0 / f64::from(publishers::per_minute(known))),
        };
        let mut all = self.traffic();
        let turn = loop {
            let traffic = all.entry(host.to_string()).or_default();
            if traffic.busy < self.policy.per_host {
                let turn = traffic.not_before.unwrap_or_else(Instant::now).max(Instant::now());
                traffic.busy += 1;
                traffic.not_before = Some(turn + interval);
                break turn;
            }
            all = self.freed.wait(all).unwrap_or_else(PoisonError::into_inner);
        };
        drop(all);
        sleep(turn.saturating_duration_since(Instant::now()));
        Place { client: self, host: host.to_string() }
    }

    /// Leaves a host alone for a while.
    fn hold(&self, host: &str, wait: Duration) {
        let until = Instant::now() + wait;
        let mut all = self.traffic();
        let traffic = all.entry(host.to_string()).or_default();
        traffic.not_before = Some(traffic.not_before.map_or(until, |t| t.max(until)));
    }

    fn traffic(&self) -> MutexGuard<'_, HashMap<String, Traffic>> {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn transport(error: &ureq::Error) -> Trouble {
    match error {
        ureq::Error::BadUri(_) | ureq::Error::RequireHttpsOnly(_) | ureq::Error::LargeResponseHeader(..) => {
            Trouble::Final(error.to_string())
        }
        _ => Trouble::passing(error),
    }
}

fn judge(response: Response<Body>, known: Option<&Host>) -> Result<Response<Body>, Trouble> {
    let status = response.status();
    let wait = || response.headers().get("retry-after")?.to_str().ok().and_then(retry_after);
    match status.as_u16() {
        200 | 206 | 304 | 416 => Ok(response),
        429 => Err(Trouble::Wait(wait())),
        503 if wait().is_some() => Err(Trouble::Wait(wait())),
        500 | 502 | 503 | 504 => Err(Trouble::passing(format!("the server answered {status}"))),
        404 | 410 => Err(Trouble::Missing(format!("the server answered {status}"))),
        401 | 403 => {
            let key = known.and_then(|h| h.key.as_ref()).map(|k| format!(": is {} right?", k.variable));
            Err(Trouble::Final(format!("the server answered {status}{}", key.unwrap_or_default())))
        }
        300..=399 => Err(Trouble::Final(format!("the server answered {status} and sends elsewhere"))),
        _ => Err(Trouble::Final(format!("the server answered {status}"))),
    }
}

/// Seconds, or a date.
fn retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    text.parse().ok().map(Duration::from_secs).or_else(|| {
        let at = httpdate::parse_http_date(text).ok()?;
        Some(at.duration_since(SystemTime::now()).unwrap_or_default())
    })
}
