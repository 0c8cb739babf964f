//! Who comes in: known or not, from where, how often. One guard for REST, MCP and every page: what is open is listed here, and
//! everything else needs a token.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderMap};
use actix_web::http::{Method, Uri};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use ipnet::IpNet;
use serde::Deserialize;

use super::is_mcp;
use crate::access::{Access, Identity, READ, Refusal};
use crate::error::{Code, Error, Result};
use crate::metrics::METRICS;
use crate::settings::{Rate, Settings};

/// What describes Josh and gives no record: open whoever asks.
pub const OPEN: &[&str] = &[
    "/",
    "/docs",
    "/openapi.json",
    "/livez",
    "/readyz",
    "/health",
    "/mcp/manifest.json",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
];

/// Looked at every few seconds by machines: neither limited nor logged.
pub const HEALTH: &[&str] = &["/livez", "/readyz", "/health"];

/// Methods by which a client finds out how to get a token, or says that it has begun. rmcp checks the session of the last.
const OPEN_METHODS: &[&str] = &["initialize", "server/discover", "notifications/initialized"];

const SWEEP_SECONDS: u64 = 10;

/// The caller whose bucket a request is taken from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Bucket {
    Key(String),
    Address(IpAddr),
}

/// What is decided for every request. One for all workers.
pub struct Door {
    pub access: Option<Access>,
    limiter: Option<DefaultKeyedRateLimiter<Bucket>>,
    started: Instant,
    /// When the limiter forgot old callers, in seconds after the start.
    swept: AtomicU64,
    trusted_proxies: Vec<IpNet>,
    public_url: Option<String>,
    is_tls: bool,
}

impl Default for Door {
    /// Open to all, without limits.
    fn default() -> Door {
        Door {
            access: None,
            limiter: None,
            started: Instant::now(),
            swept: AtomicU64::new(0),
            trusted_proxies: Vec::new(),
            public_url: None,
            is_tls: false,
        }
    }
}

impl Door {
    pub fn new(settings: &Settings) -> Door {
        let quota = |rate: Rate| Quota::per_second(rate.per_second).allow_burst(rate.burst);
        Door {
            access: settings.access.as_ref().map(Access::new),
            limiter: settings.rate.map(|rate| RateLimiter::keyed(quota(rate))),
            trusted_proxies: settings.trusted_proxies.clone(),
            public_url: settings.public_url.clone(),
            is_tls: settings.tls.is_some(),
            ..Door::default()
        }
    }

    /// Who asks, if anyone needs to know; or why they may not.
    pub async fn admit(&self, request: &HttpRequest, rpc: Option<&str>) -> Result<Option<Identity>> {
        let Some(access) = self.access.as_ref().filter(|_| !is_open(request, rpc)) else {
            self.limit(request, None)?;
            return Ok(None);
        };
        let given = request.headers().get(header::AUTHORIZATION);
        let identified = match given.map(|value| value.to_str()) {
            Some(Err(_)) => Err(Refusal::Invalid("The token is not plain text.")),
            Some(Ok(given)) => access.identify(given).await,
            None => Err(Refusal::Missing),
        };
        // Whoever is not known is limited by address, so that keys can't be tried out at leisure.
        self.limit(request, identified.as_ref().ok())?;
        let count = |result: &str| METRICS.access.with_label_values(&[result]).inc();
        let identity = identified.map_err(|refusal| {
            count("unauthorized");
            self.unauthorized(request, refusal)
        })?;
        if !identity.may(READ) {
            count("insufficient_scope");
            let challenge = self.challenge(request, "error=\"insufficient_scope\", ");
            return Err(Error::new(Code::InsufficientScope, format!("This needs the scope {READ}."))
                .hint("scope", READ)
                .challenge(challenge));
        }
        count("let_in");
        Ok(Some(identity))
    }

    fn unauthorized(&self, request: &HttpRequest, refusal: Refusal) -> Error {
        let (message, wrong) = match refusal {
            Refusal::Missing => ("This needs an API key or a token.", String::new()),
            Refusal::Invalid(why) => (why, format!("error=\"invalid_token\", error_description=\"{why}\", ")),
        };
        Error::new(Code::Unauthorized, message).challenge(self.challenge(request, &wrong))
    }

    /// `WWW-Authenticate`: where to find out about tokens, and what was wrong with this one.
    fn challenge(&self, request: &HttpRequest, wrong: &str) -> String {
        let base = self.base(request);
        format!("Bearer {wrong}resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\", scope=\"{READ}\"")
    }

    fn limit(&self, request: &HttpRequest, identity: Option<&Identity>) -> Result<()> {
        let Some(limiter) = self.limiter.as_ref().filter(|_| !HEALTH.contains(&request.path())) else { return Ok(()) };
        let (bucket, kind) = match (identity, self.address(request)) {
            (Some(identity), _) => (Bucket::Key(identity.key.clone()), "key"),
            (None, Some(address)) => (Bucket::Address(network(address)), "address"),
            // In process: nobody is there to be limited.
            (None, None) => return Ok(()),
        };
        self.forget_old_callers(limiter);
        limiter.check_key(&bucket).map_err(|until| {
            METRICS.limited.with_label_values(&[kind]).inc();
            let wait = until.wait_time_from(DefaultClock::default().now()) + Duration::from_millis(999);
            Error::new(Code::RateLimited, "Too many requests for this while.").retry_after(wait.as_secs().max(1))
        })
    }

    /// Forgets, once in a while, those whose buckets are full again: a stranger could come from any number of addresses.
    fn forget_old_callers(&self, limiter: &DefaultKeyedRateLimiter<Bucket>) {
        let now = self.started.elapsed().as_secs();
        let last = self.swept.load(Ordering::Relaxed);
        let is_due = now >= last + SWEEP_SECONDS;
        if is_due && self.swept.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            limiter.retain_recent();
        }
    }

    /// Where the request comes from: the peer, or whoever a trusted proxy says it speaks for.
    pub fn address(&self, request: &HttpRequest) -> Option<IpAddr> {
        let peer = request.peer_addr()?.ip().to_canonical();
        if !self.is_proxy(peer) {
            return Some(peer);
        }
        // From the right: what stands left of the first stranger is the stranger's own claim.
        let said = request.headers().get_all("x-forwarded-for").filter_map(|v| v.to_str().ok());
        let mut chain: Vec<&str> = said.flat_map(|v| v.split(',')).map(str::trim).collect();
        while let Some(last) = chain.pop() {
            match last.parse::<IpAddr>().map(|a| a.to_canonical()) {
                Ok(address) if self.is_proxy(address) => {}
                Ok(address) => return Some(address),
                Err(_) => break,
            }
        }
        Some(peer)
    }

    fn is_proxy(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(&address))
    }

    /// The address under which the client reached us, without a slash at its end.
    pub fn base(&self, request: &HttpRequest) -> String {
        if let Some(url) = &self.public_url {
            return url.clone();
        }
        let is_forwarded = request.peer_addr().is_some_and(|peer| self.is_proxy(peer.ip().to_canonical()));
        let said = |name: &str| {
            let value = request.headers().get(name)?.to_str().ok()?;
            Some(value.split(',').next()?.trim()).filter(|_| is_forwarded)
        };
        let is_https =
            self.is_tls || said("x-forwarded-proto").is_some_and(|proto| proto.eq_ignore_ascii_case("https"));
        let own = host(request.uri(), request.headers());
        let fits =
            |host: &&str| !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]_".contains(&b));
        let host = said("x-forwarded-host").or(own).filter(fits).unwrap_or("localhost");
        format!("{}://{host}", if is_https { "https" } else { "http" })
    }
}

/// The host that a request names: in its target (HTTP/2) or in its header.
pub fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    uri.authority().map(|a| a.as_str()).or_else(|| headers.get(header::HOST)?.to_str().ok())
}

/// Of an IPv6 address the part that one customer gets: the rest is theirs to change at will.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & !u128::from(u64::MAX)).into()),
    }
}

/// Whether this may be asked by anyone. What is not known to be open is not.
fn is_open(request: &HttpRequest, rpc: Option<&str>) -> bool {
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_mcp(request.path()) {
        return is_reading && OPEN.contains(&request.path());
    }
    if is_reading {
        // The page for people; a stream belongs to a session.
        return !super::mcp::wants_stream(request.method(), request.headers());
    }
    *request.method() == Method::POST && rpc.is_some_and(|method| OPEN_METHODS.contains(&method))
}

/// The method of a JSON-RPC message. A body that says it twice, or is a list of messages, has none.
pub fn rpc_method(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Message {
        method: String,
    }
    serde_json::from_slice::<Message>(body).ok().map(|message| message.method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn door(proxies: &[&str]) -> Door {
        Door { trusted_proxies: proxies.iter().map(|p| p.parse().unwrap()).collect(), ..Door::default() }
    }

    #[test]
    fn forwarded_addresses_count_only_behind_a_trusted_proxy() {
        let from = |door: &Door, peer: &str, said: &str| {
            let request = TestRequest::default().peer_addr(format!("{peer}:1").parse().unwrap());
            door.address(&request.insert_header(("x-forwarded-for", said)).to_http_request()).unwrap().to_string()
        };
        let trusting = door(&["10.0.0.0/8"]);
        assert_eq!(from(&trusting, "192.0.2.1", "198.51.100.9"), "192.0.2.1", "a stranger says what it likes");
        assert_eq!(from(&trusting, "10.0.0.1", "198.51.100.9"), "198.51.100.9");
        assert_eq!(from(&trusting, "10.0.0.1", "203.0.113.7, 198.51.100.9, 10.1.1.1"), "198.51.100.9");
        assert_eq!(from(&trusting, "10.0.0.1", "nonsense"), "10.0.0.1");
        assert_eq!(from(&door(&[]), "10.0.0.1", "198.51.100.9"), "10.0.0.1");
    }

    #[test]
    fn addresses_of_ours_are_what_the_client_called_and_nothing_else() {
        let base = |door: &Door, headers: &[(&'static str, &'static str)]| {
            let request = TestRequest::default().peer_addr("10.0.0.1:1".parse().unwrap());
            let request = headers.iter().fold(request, |r, h| r.insert_header(*h));
            door.base(&request.to_http_request())
        };
        assert_eq!(base(&door(&[]), &[("host", "a.example:8080")]), "http://a.example:8080");
        let forwarded = [("host", "inner"), ("x-forwarded-host", "out.example"), ("x-forwarded-proto", "https")];
        assert_eq!(base(&door(&[]), &forwarded), "http://inner");
        assert_eq!(base(&door(&["10.0.0.1/32"]), &forwarded), "https://out.example");
        assert_eq!(base(&door(&[]), &[("host", "a\"b")]), "http://localhost");
        let public = Door { public_url: Some("https://josh.example".into()), ..Door::default() };
        assert_eq!(base(&public, &[("host", "evil.example")]), "https://josh.example");
    }

    #[test]
    fn neighbours_of_one_ipv6_network_share_a_bucket() {
        let one = network("2001:db8:1:2:3:4:5:6".parse().unwrap());
        assert_eq!(one, network("2001:db8:1:2::9".parse().unwrap()));
        assert_ne!(one, network("2001:db8:1:3::9".parse().unwrap()));
    }

    #[test]
    fn a_method_that_is_said_twice_is_not_believed() {
        assert_eq!(rpc_method(br#"{"method":"initialize"}"#).as_deref(), Some("initialize"));
        for body in
            [&br#"{"method":"initialize","method":"tools/call"}"#[..], br#"[{"method":"initialize"}]"#, b"", b"{"]
        {
            assert_eq!(rpc_method(body), None);
        }
    }
}
