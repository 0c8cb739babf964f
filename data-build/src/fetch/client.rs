//! HTTP requests to publishers: limits concurrency and rate per host, sends keys to their own host
//! only, and retries.
//!
//! Transport errors and 500, 502, 503 and 504 are retried with exponential backoff. 429, and 503
//! with a stated wait, do not count as failures: all requests to the host wait (see `quota`).
//! Nothing else is retried. A redirect to another file means that the file is missing.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use indicatif::HumanDuration;
use serde_json::Value;
use ureq::http::{Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, ResponseExt};

use super::names;
use super::publishers::{self, Host};
use super::quota::{self, Waits};
use josh::output::note;

/// Upper bound of the pause between retries.
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// Bounds memory for lists and API responses, which are much smaller.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// Limits of requests, from the command line.
#[derive(Clone, Debug)]
pub struct Policy {
    pub retries: u32,
    pub pause: Duration,
    pub longest_wait: Duration,
    pub timeout: Duration,
    pub per_host: usize,
}

/// Why an attempt failed.
pub enum RequestError {
    /// May succeed later. If the attempt made progress (a partial download grew), it does not
    /// count as a retry.
    Transient {
        reason: String,
        progressed: bool,
    },
    /// The host asks to wait.
    RateLimited(Option<Duration>),
    NotFound(String),
    Permanent(String),
}

impl RequestError {
    pub fn transient(reason: impl std::fmt::Display) -> RequestError {
        RequestError::Transient { reason: reason.to_string(), progressed: false }
    }
}

/// The error for an address that has no file: 404, 410, a redirect to another file, or a document
/// that says so.
#[derive(Debug)]
pub struct NotFound(pub String);

impl std::fmt::Display for NotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFound {}

/// The current load of a host.
#[derive(Default)]
struct HostLoad {
    active: usize,
    /// Earliest time of the next request.
    not_before: Option<Instant>,
}

pub struct Client {
    agent: Agent,
    policy: Policy,
    /// Hosts whose requests go to another address: mirrors, and tests.
    bases: HashMap<String, String>,
    loads: Mutex<HashMap<String, HostLoad>>,
    slot_freed: Condvar,
}

/// A response with status 200, 206, 304 or 416. It occupies one of its host's slots until it is
/// dropped.
pub struct HostResponse<'a> {
    pub response: Response<Body>,
    _slot: HostSlot<'a>,
}

impl HostResponse<'_> {
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }
}

struct HostSlot<'a> {
    client: &'a Client,
    host: String,
}

impl Drop for HostSlot<'_> {
    fn drop(&mut self) {
        if let Some(load) = self.client.loads().get_mut(&self.host) {
            load.active -= 1;
        }
        self.client.slot_freed.notify_all();
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
            // Per read: large files may take long, but the server must keep sending.
            .timeout_per_read(Some(policy.timeout))
            .build();
        let (loads, slot_freed) = (Mutex::default(), Condvar::new());
        Client { agent: config.into(), policy, bases, loads, slot_freed }
    }

    /// Calls `attempt` with the number of earlier attempts until it succeeds or the policy gives
    /// up.
    pub fn with_retries<T>(
        &self,
        address: &str,
        mut attempt: impl FnMut(u32) -> Result<T, RequestError>,
    ) -> Result<T> {
        let (mut attempts, mut failed, mut waits) = (0, 0, Waits::default());
        loop {
            let error = match attempt(attempts) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            attempts += 1;
            match error {
                RequestError::Transient { reason, progressed } => {
                    failed = if progressed { 0 } else { failed + 1 };
                    if failed > self.policy.retries {
                        return Err(anyhow!("{reason} (tried {attempts} times)"));
                    }
                    sleep(
                        self.policy
                            .pause
                            .saturating_mul(1 << failed.saturating_sub(1).min(16))
                            .min(MAX_PAUSE),
                    );
                }
                RequestError::RateLimited(stated) => {
                    let wait = waits.next(stated, self.policy.longest_wait)?;
                    self.defer_host(&names::host(address).unwrap_or_default(), wait);
                }
                RequestError::NotFound(reason) => return Err(NotFound(reason).into()),
                RequestError::Permanent(reason) => return Err(anyhow!(reason)),
            }
        }
    }

    /// Sends one request, after waiting for a slot of its host.
    pub fn request(
        &self,
        address: &str,
        headers: &[(&str, String)],
    ) -> Result<HostResponse<'_>, RequestError> {
        let (known, slot, target) = self.admit(address)?;
        let mut request = self.agent.get(&target);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let mut redirects = 5;
        if let Some(key) = known.and_then(|h| h.key.as_ref()).filter(|key| !key.header.is_empty())
            && let Some(value) = key.value()
        {
            request = request.header(key.header, format!("{}{value}", key.prefix));
            // A redirect could send the key to another host.
            redirects = 0;
        }
        let secure = target.starts_with("https://");
        let config = request
            .config()
            .max_redirects(redirects)
            .max_redirects_will_error(false)
            .https_only(secure);
        let response = config.build().call().map_err(|e| transport_error(&e))?;
        let response = check_status(response, known)?;
        let reached = response.get_uri().to_string();
        if !names::same_file(&target, &reached) {
            return Err(RequestError::NotFound(format!("redirected to another page, {reached}")));
        }
        Ok(HostResponse { response, _slot: slot })
    }

    /// The text of a list or an API response.
    pub fn text(&self, address: &str, accept: &str) -> Result<String> {
        self.with_retries(address, |_| {
            let mut response = self.request(address, &[("Accept", accept.to_string())])?;
            read_bounded(&mut response.response)
        })
    }

    /// The response to a question in JSON, which may contain a key and is sent to this host only.
    pub fn post(&self, address: &str, question: &Value) -> Result<String> {
        self.with_retries(address, |_| {
            let (known, _slot, target) = self.admit(address)?;
            let secure = target.starts_with("https://");
            let request = self.agent.post(&target).content_type("application/json");
            let request = request.config().max_redirects(0).https_only(secure).build();
            let response = request.send(question.to_string()).map_err(|e| transport_error(&e))?;
            read_bounded(&mut check_status(response, known)?)
        })
    }

    pub fn json(&self, address: &str) -> Result<Value> {
        let text = self.text(address, "application/json")?;
        serde_json::from_str(&text).map_err(|e| {
            let start: String = text.trim_start().chars().take(40).collect();
            anyhow!("not JSON ({e}); it starts with {start:?}")
        })
    }

    /// Waits for a slot of the host. Returns what is known of it, the slot and where to ask.
    fn admit(
        &self,
        address: &str,
    ) -> Result<(Option<&'static Host>, HostSlot<'_>, String), RequestError> {
        let host = names::host(address)
            .ok_or_else(|| RequestError::Permanent(format!("not an address: {address:?}")))?;
        let known = publishers::host(&host);
        let slot = self.acquire_slot(&host, known);
        Ok((known, slot, self.target(address, &host)))
    }

    /// The address to request, with the host replaced by its mirror if it has one.
    fn target(&self, address: &str, host: &str) -> String {
        let Some(base) = self.bases.get(host) else { return address.to_string() };
        let path = address.split_once("://").map_or("", |(_, rest)| rest);
        format!("{}{}", base.trim_end_matches('/'), &path[host.len().min(path.len())..])
    }

    /// Waits until the host has a free slot and its rate limit allows another request.
    fn acquire_slot(&self, host: &str, known: Option<&Host>) -> HostSlot<'_> {
        // The publisher's rate limit does not apply to a mirror.
        let interval = match self.bases.contains_key(host) {
            true => Duration::ZERO,
            false => Duration::from_secs_f64(60.0 / f64::from(publishers::per_minute(known))),
        };
        let mut loads = self.loads();
        let start = loop {
            let load = loads.entry(host.to_string()).or_default();
            if load.active < self.policy.per_host {
                let start = load.not_before.unwrap_or_else(Instant::now).max(Instant::now());
                load.active += 1;
                load.not_before = Some(start + interval);
                break start;
            }
            loads = self.slot_freed.wait(loads).unwrap_or_else(PoisonError::into_inner);
        };
        drop(loads);
        sleep(start.saturating_duration_since(Instant::now()));
        HostSlot { client: self, host: host.to_string() }
    }

    /// Delays all requests to a host, and says so. Of several requests that are told to wait at
    /// the same time, only the first one says it.
    fn defer_host(&self, host: &str, wait: Duration) {
        let now = Instant::now();
        let until = now + wait;
        let mut loads = self.loads();
        let load = loads.entry(host.to_string()).or_default();
        let before = load.not_before.unwrap_or(now).max(now);
        load.not_before = Some(before.max(until));
        drop(loads);
        if until.saturating_duration_since(before) * 2 > wait {
            note!("{host} limits the rate of requests; the next one is in {}", HumanDuration(wait));
        }
    }

    fn loads(&self) -> MutexGuard<'_, HashMap<String, HostLoad>> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_bounded(response: &mut Response<Body>) -> Result<String, RequestError> {
    let mut bytes = Vec::new();
    let body = response.body_mut().as_reader();
    body.take(MAX_RESPONSE_BYTES + 1).read_to_end(&mut bytes).map_err(RequestError::transient)?;
    if bytes.len() as u64 > MAX_RESPONSE_BYTES {
        return Err(RequestError::Permanent(format!(
            "the response is larger than {} MiB",
            MAX_RESPONSE_BYTES >> 20
        )));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn transport_error(error: &ureq::Error) -> RequestError {
    match error {
        ureq::Error::BadUri(_)
        | ureq::Error::RequireHttpsOnly(_)
        | ureq::Error::LargeResponseHeader(..) => RequestError::Permanent(error.to_string()),
        _ => RequestError::transient(error),
    }
}

fn check_status(
    response: Response<Body>,
    known: Option<&Host>,
) -> Result<Response<Body>, RequestError> {
    let status = response.status();
    let wait = quota::stated_wait(response.headers());
    match status.as_u16() {
        200 | 206 | 304 | 416 => Ok(response),
        429 => Err(RequestError::RateLimited(wait)),
        503 if wait.is_some() => Err(RequestError::RateLimited(wait)),
        500 | 502 | 503 | 504 => Err(RequestError::transient(format!("status {status}"))),
        404 | 410 => Err(RequestError::NotFound(format!("status {status}"))),
        401 | 403 => {
            let check = match known.and_then(|h| h.key.as_ref()) {
                Some(key) => format!("; check {}", key.variable),
                None => String::new(),
            };
            Err(RequestError::Permanent(format!("status {status}{check}")))
        }
        300..=399 => Err(RequestError::Permanent(format!(
            "status {status}: a redirect that is not followed"
        ))),
        _ => Err(RequestError::Permanent(format!("status {status}"))),
    }
}
