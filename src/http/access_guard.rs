//! The access guard, which every request to REST, MCP and the pages passes: who the caller is, from
//! where, and how often. Paths that are open to everyone are listed here; all others need an API
//! key or a token if access is restricted.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use actix_web::http::header::{self, HeaderMap};
use actix_web::http::{Method, Uri};
use actix_web::{HttpMessage, HttpRequest};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use ipnet::IpNet;
use serde::Deserialize;

use super::front::RequestInfo;
use super::login::{LOGIN, LOGOUT, Logins};
use super::mcp::{McpEndpoint, endpoint};
use crate::access::{Access, Identity, Refusal};
use crate::api::{Code, Error, Result, Scope};
use crate::metrics::METRICS;
use crate::settings::{Rate, Settings};
use crate::tls;

/// What describes Josh and holds no record: open to everyone.
pub const OPEN: &[&str] =
    &["/", "/docs", "/openapi.json", "/livez", "/readyz", "/health", "/mcp/manifest.json", KEY];

/// The public key that checks configuration for clients.
pub const KEY: &str = "/keys/verification_key.pem";

/// Where clients find out about tokens.
const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Requested every few seconds by monitoring: neither limited nor logged.
pub const HEALTH: &[&str] = &["/livez", "/readyz", "/health"];

/// MCP methods by which a client starts, or finds out how to get a token. rmcp checks the session
/// of the last.
const OPEN_METHODS: &[&str] = &["initialize", "server/discover", "notifications/initialized"];

/// What to do about a 401, depending on what is accepted.
const KEY_ONLY: &str =
    "Send `Authorization: Bearer KEY` with an API key from whoever runs this server.";
const KEY_OR_TOKEN: &str = "Send `Authorization: Bearer` with an API key from whoever runs this \
    server, or with a token from the server that /.well-known/oauth-protected-resource names.";

const SWEEP_SECONDS: u64 = 10;

/// The caller whose rate limit a request counts towards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Bucket {
    Key(String),
    Address(IpAddr),
}

/// Who sent a request, before it is known what it asks for.
pub enum Sender {
    /// Nobody is asked: access is not restricted, or not here.
    Anyone,
    Known(Identity),
    Unknown(Refusal),
}

/// Access rules and rate limits, shared by all workers.
pub struct AccessGuard {
    pub access: Option<Access>,
    pub logins: Logins,
    limiter: Option<DefaultKeyedRateLimiter<Bucket>>,
    started: Instant,
    /// When the limiter last forgot idle callers, in seconds after the start.
    swept: AtomicU64,
    trusted_proxies: Vec<IpNet>,
    public_url: Option<String>,
    is_tls: bool,
    /// Whether browsers may be told to use nothing but HTTPS here.
    pub is_only_https: bool,
    has_sessions: bool,
}

impl Default for AccessGuard {
    /// Open to all, without limits.
    fn default() -> AccessGuard {
        AccessGuard {
            access: None,
            logins: Logins::default(),
            limiter: None,
            started: Instant::now(),
            swept: AtomicU64::new(0),
            trusted_proxies: Vec::new(),
            public_url: None,
            is_tls: false,
            is_only_https: false,
            has_sessions: false,
        }
    }
}

impl AccessGuard {
    pub fn new(settings: &Settings) -> AccessGuard {
        let quota = |rate: Rate| Quota::per_second(rate.per_second).allow_burst(rate.burst);
        AccessGuard {
            access: settings.access.as_ref().map(Access::new),
            limiter: settings.rate.map(|rate| RateLimiter::keyed(quota(rate))),
            trusted_proxies: settings.trusted_proxies.clone(),
            public_url: settings.public_url.clone(),
            is_tls: settings.tls.is_some(),
            is_only_https: settings.tls.as_ref().is_some_and(tls::Options::is_from_files),
            has_sessions: settings.mcp.sessions,
            ..AccessGuard::default()
        }
    }

    /// Who sent a request, as its head tells, and counts it towards the sender's rate limit. An
    /// error says that the limit is reached.
    pub async fn identify(&self, request: &HttpRequest) -> Result<Sender> {
        let Some(access) = &self.access else {
            self.limit(request, None)?;
            return Ok(Sender::Anyone);
        };
        let header = request.headers().get(header::AUTHORIZATION);
        let signed_in = self.signed_in(request).filter(|_| header.is_none());
        if is_open(request, None) && signed_in.is_none() {
            self.limit(request, None)?;
            return Ok(Sender::Anyone);
        }
        let unknown = |refusal| self.limit(request, None).map(|()| Sender::Unknown(refusal));
        let given = match (header.map(|value| value.to_str()), &signed_in) {
            (Some(Ok(given)), _) => given,
            (Some(Err(_)), _) => {
                let why = "The Authorization header is not plain ASCII text.";
                return unknown(Refusal::Invalid(why));
            }
            (None, Some(given)) => given.as_str(),
            (None, None) => return unknown(Refusal::Missing),
        };
        let identity = match access.identify_cheaply(given) {
            Some(Ok(identity)) => identity,
            Some(Err(refusal)) => return unknown(refusal),
            None => {
                // A signature takes time to check, and anybody can send one.
                self.limit(request, None)?;
                match access.identify(given).await {
                    Ok(identity) => identity,
                    Err(refusal) => return Ok(Sender::Unknown(refusal)),
                }
            }
        };
        if let Some(info) = request.extensions_mut().get_mut::<RequestInfo>() {
            // The log names the caller also where the request is refused.
            info.caller.identity = Some(identity.clone());
        }
        self.limit(request, Some(&identity))?;
        Ok(Sender::Known(identity))
    }

    /// The caller, if access is restricted and what is asked for is not open. An error says why the
    /// request is refused.
    pub fn admit(
        &self,
        request: &HttpRequest,
        sender: Sender,
        rpc: Option<&str>,
        scope: Scope,
    ) -> Result<Option<Identity>> {
        let Some(access) = &self.access else { return Ok(None) };
        if self.is_open(request, rpc) {
            // Someone who is signed in sees more of a page that is open to all.
            return Ok(match sender {
                Sender::Known(identity) => Some(identity),
                Sender::Anyone | Sender::Unknown(_) => None,
            });
        }
        let count = |result: &str| METRICS.access.with_label_values(&[result]).inc();
        let identified = match sender {
            Sender::Known(identity) => Ok(identity),
            Sender::Unknown(refusal) => Err(refusal),
            Sender::Anyone => Err(Refusal::Missing),
        };
        let identity = identified.map_err(|refusal| {
            count("unauthorized");
            self.unauthorized(request, refusal, access.accepts_tokens())
        })?;
        let missing = scope.needed().iter().find(|needed| !identity.may(**needed));
        if let Some(scope) = missing.copied() {
            count("insufficient_scope");
            let name = scope.name();
            let challenge = self.challenge(request, "error=\"insufficient_scope\", ", scope);
            let credential = if access.accepts_tokens() { "a key or token" } else { "an API key" };
            let error =
                Error::new(Code::InsufficientScope, format!("This needs the scope {name}."));
            return Err(error
                .hint("scope", name)
                .hint("next", format!("Get {credential} with the scope {name}."))
                .challenge(challenge));
        }
        count("let_in");
        Ok(Some(identity))
    }

    /// Whether this is open to everyone. A method that opens a session is not: it is kept.
    fn is_open(&self, request: &HttpRequest, rpc: Option<&str>) -> bool {
        is_open(request, rpc) && !(self.has_sessions && rpc == Some("initialize"))
    }

    /// What the cookie of a request for reading stands for. At `/mcp` it stands for nothing.
    fn signed_in(&self, request: &HttpRequest) -> Option<String> {
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        let is_page = is_reading && endpoint(request.path()).is_none();
        is_page.then(|| self.logins.authorization(request.headers())).flatten()
    }

    fn unauthorized(&self, request: &HttpRequest, refusal: Refusal, accepts_tokens: bool) -> Error {
        let (message, wrong) = match (refusal, accepts_tokens) {
            (Refusal::Missing, true) => ("This needs an API key or a token.", String::new()),
            (Refusal::Missing, false) => ("This needs an API key.", String::new()),
            (Refusal::Invalid(why), _) => {
                (why, format!("error=\"invalid_token\", error_description=\"{why}\", "))
            }
        };
        let next = if accepts_tokens { KEY_OR_TOKEN } else { KEY_ONLY };
        Error::new(Code::Unauthorized, message).hint("next", next).challenge(self.challenge(
            request,
            &wrong,
            Scope::Read,
        ))
    }

    /// `WWW-Authenticate`: what was wrong with the credential, and where to find out how to get
    /// one.
    fn challenge(&self, request: &HttpRequest, wrong: &str, scope: Scope) -> String {
        let path = match endpoint(request.path()) {
            Some(McpEndpoint::Toolset(_)) => request.path().trim_end_matches('/'),
            _ => "/mcp",
        };
        let metadata = format!("{}/.well-known/oauth-protected-resource{path}", self.base(request));
        format!("Bearer {wrong}resource_metadata=\"{metadata}\", scope=\"{}\"", scope.name())
    }

    fn limit(&self, request: &HttpRequest, identity: Option<&Identity>) -> Result<()> {
        let Some(limiter) = self.limiter.as_ref().filter(|_| !HEALTH.contains(&request.path()))
        else {
            return Ok(());
        };
        let (bucket, kind) = match (identity, self.address(request)) {
            (Some(identity), _) => (Bucket::Key(identity.key.clone()), "key"),
            (None, Some(address)) => (Bucket::Address(network(address)), "address"),
            // In process (`josh get`): there is no caller to limit.
            (None, None) => return Ok(()),
        };
        self.forget_old_callers(limiter);
        limiter.check_key(&bucket).map_err(|until| {
            METRICS.limited.with_label_values(&[kind]).inc();
            let wait =
                until.wait_time_from(DefaultClock::default().now()) + Duration::from_millis(999);
            Error::new(Code::RateLimited, "Rate limit exceeded.").retry_after(wait.as_secs().max(1))
        })
    }

    /// Forgets idle callers from time to time: requests may come from any number of addresses.
    fn forget_old_callers(&self, limiter: &DefaultKeyedRateLimiter<Bucket>) {
        let now = self.started.elapsed().as_secs();
        let last = self.swept.load(Ordering::Relaxed);
        let is_due = now >= last + SWEEP_SECONDS;
        if is_due
            && self.swept.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            limiter.retain_recent();
        }
    }

    /// Where the request comes from: the peer, or the client that a trusted proxy names.
    pub fn address(&self, request: &HttpRequest) -> Option<IpAddr> {
        let peer = request.peer_addr()?.ip().to_canonical();
        if !self.is_proxy(peer) {
            return Some(peer);
        }
        // From the right: what stands left of the first untrusted address was sent by that client.
        let said = request.headers().get_all("x-forwarded-for").filter_map(|v| v.to_str().ok());
        let mut chain: Vec<&str> = said.flat_map(|v| v.split(',')).map(str::trim).collect();
        while let Some(last) = chain.pop() {
            match address_of(last) {
                Some(address) if self.is_proxy(address) => {}
                Some(address) => return Some(address),
                None => break,
            }
        }
        Some(peer)
    }

    fn is_proxy(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(&address))
    }

    /// The URL at which the client reached the server, without a trailing slash.
    pub fn base(&self, request: &HttpRequest) -> String {
        if let Some(url) = &self.public_url {
            return url.clone();
        }
        let is_forwarded =
            request.peer_addr().is_some_and(|peer| self.is_proxy(peer.ip().to_canonical()));
        let said = |name: &str| {
            let value = request.headers().get(name)?.to_str().ok()?;
            Some(value.split(',').next()?.trim()).filter(|_| is_forwarded)
        };
        let is_https = self.is_tls
            || said("x-forwarded-proto").is_some_and(|proto| proto.eq_ignore_ascii_case("https"));
        let own = host(request.uri(), request.headers());
        let fits = |host: &&str| {
            !host.is_empty()
                && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]_".contains(&b))
        };
        let host = said("x-forwarded-host").or(own).filter(fits).unwrap_or("localhost");
        format!("{}://{host}", if is_https { "https" } else { "http" })
    }
}

/// An address in `X-Forwarded-For`. Some proxies add the port.
fn address_of(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))?;
    Some(address.to_canonical())
}

/// The host of a request: from its target (HTTP/2) or its header.
pub fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    uri.authority().map(|a| a.as_str()).or_else(|| headers.get(header::HOST)?.to_str().ok())
}

/// The network of an IPv6 address that is usually given to one customer, who can change the rest.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & !u128::from(u64::MAX)).into()),
    }
}

/// Whether this is open to everyone. What is not known to be open is not.
fn is_open(request: &HttpRequest, rpc: Option<&str>) -> bool {
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    let path = request.path();
    if [LOGIN, LOGOUT].contains(&path) {
        return true;
    }
    if endpoint(path).is_none() {
        let is_listed = OPEN.contains(&path) || path.starts_with(METADATA);
        return is_reading && (is_listed || path.starts_with(super::explorer::FOLDER));
    }
    if is_reading {
        // The page for people; a stream belongs to a session.
        return !super::mcp::wants_stream(request.method(), request.headers());
    }
    *request.method() == Method::POST && rpc.is_some_and(|method| OPEN_METHODS.contains(&method))
}

/// A JSON-RPC message, as far as access needs to know it.
pub struct RpcCall {
    pub method: String,
    /// The tool that is called.
    pub tool: Option<String>,
}

impl RpcCall {
    /// Reads a message. One that names its method twice, or a list of messages, is none.
    pub fn read(body: &[u8]) -> Option<RpcCall> {
        #[derive(Deserialize)]
        struct Message {
            method: String,
            #[serde(default)]
            params: Option<Params>,
        }
        #[derive(Deserialize)]
        struct Params {
            #[serde(default)]
            name: Option<serde_json::Value>,
        }
        let Message { method, params } = serde_json::from_slice(body).ok()?;
        let name = params.and_then(|params| params.name);
        let tool = name.filter(|_| method == "tools/call");
        Some(RpcCall { tool: tool.and_then(|name| Some(name.as_str()?.to_string())), method })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn guard(proxies: &[&str]) -> AccessGuard {
        AccessGuard {
            trusted_proxies: proxies.iter().map(|p| p.parse().unwrap()).collect(),
            ..AccessGuard::default()
        }
    }

    #[test]
    fn forwarded_addresses_count_only_behind_a_trusted_proxy() {
        let from = |guard: &AccessGuard, peer: &str, said: &str| {
            let request = TestRequest::default().peer_addr(format!("{peer}:1").parse().unwrap());
            guard
                .address(&request.insert_header(("x-forwarded-for", said)).to_http_request())
                .unwrap()
                .to_string()
        };
        let trusting = guard(&["10.0.0.0/8"]);
        assert_eq!(
            from(&trusting, "192.0.2.1", "198.51.100.9"),
            "192.0.2.1",
            "an untrusted peer can send any header"
        );
        assert_eq!(from(&trusting, "10.0.0.1", "198.51.100.9"), "198.51.100.9");
        assert_eq!(
            from(&trusting, "10.0.0.1", "203.0.113.7, 198.51.100.9, 10.1.1.1"),
            "198.51.100.9"
        );
        assert_eq!(from(&trusting, "10.0.0.1", "nonsense"), "10.0.0.1");
        for said in ["198.51.100.9:4711", "198.51.100.9:4711, 10.1.1.1:80"] {
            assert_eq!(from(&trusting, "10.0.0.1", said), "198.51.100.9");
        }
        assert_eq!(from(&trusting, "10.0.0.1", "[2001:db8::1]:80"), "2001:db8::1");
        assert_eq!(from(&trusting, "10.0.0.1", "[2001:db8::1]"), "2001:db8::1");
        assert_eq!(from(&guard(&[]), "10.0.0.1", "198.51.100.9"), "10.0.0.1");
    }

    #[test]
    fn the_base_url_is_the_one_that_the_client_used() {
        let base = |guard: &AccessGuard, headers: &[(&'static str, &'static str)]| {
            let request = TestRequest::default().peer_addr("10.0.0.1:1".parse().unwrap());
            let request = headers.iter().fold(request, |r, h| r.insert_header(*h));
            guard.base(&request.to_http_request())
        };
        assert_eq!(base(&guard(&[]), &[("host", "a.example:8080")]), "http://a.example:8080");
        let forwarded = [
            ("host", "inner"),
            ("x-forwarded-host", "out.example"),
            ("x-forwarded-proto", "https"),
        ];
        assert_eq!(base(&guard(&[]), &forwarded), "http://inner");
        assert_eq!(base(&guard(&["10.0.0.1/32"]), &forwarded), "https://out.example");
        assert_eq!(base(&guard(&[]), &[("host", "a\"b")]), "http://localhost");
        let public = AccessGuard {
            public_url: Some("https://josh.example".into()),
            ..AccessGuard::default()
        };
        assert_eq!(base(&public, &[("host", "evil.example")]), "https://josh.example");
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_a_rate_limit() {
        let one = network("2001:db8:1:2:3:4:5:6".parse().unwrap());
        assert_eq!(one, network("2001:db8:1:2::9".parse().unwrap()));
        assert_ne!(one, network("2001:db8:1:3::9".parse().unwrap()));
    }

    #[test]
    fn a_method_that_is_named_twice_is_not_believed() {
        let method = |body: &[u8]| RpcCall::read(body).map(|call| call.method);
        assert_eq!(method(br#"{"method":"initialize"}"#).as_deref(), Some("initialize"));
        for body in [
            &br#"{"method":"initialize","method":"tools/call"}"#[..],
            br#"[{"method":"initialize"}]"#,
            b"",
            b"{",
        ] {
            assert_eq!(method(body), None);
        }
        let call = br#"{"method":"tools/call","params":{"name":"get_bill","arguments":{}}}"#;
        assert_eq!(RpcCall::read(call).unwrap().tool.as_deref(), Some("get_bill"));
        for body in [
            &br#"{"method":"tools/call","params":{"name":"a","name":"b"}}"#[..],
            br#"{"method":"tools/call","params":[1]}"#,
        ] {
            assert!(RpcCall::read(body).is_none_or(|call| call.tool.is_none()));
        }
    }
}
