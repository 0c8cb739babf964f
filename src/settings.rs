//! Settings: flags over `JOSH_*` environment over the TOML file over defaults, checked once. A key that nobody
//! knows is an error wherever it stands: a misspelt setting must not be ignored.
//!
//! A setting is one line of the table below: its flag, variable, key of the file, help and the docs' line are made from it.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::access::{self, JwksAddress};
use crate::bundle::Engine;
use crate::error::nearest;
use crate::gate::{Load, cores};
use crate::mcp;
use crate::query::Limits;
use crate::tls;

pub const DEFAULT_LISTEN: &str = "127.0.0.1:8080";

/// A setting as the docs list it.
pub struct Setting {
    pub name: &'static str,
    pub variable: &'static str,
    pub default: &'static str,
    pub about: &'static str,
}

macro_rules! settings {
    ($($group:literal { $($(#[$extra:meta])* $name:ident: $type:ty, $variable:literal, $value:literal, $default:literal, $about:literal;)+ })+) => {
        /// As given: each may come from a flag, the environment or the file.
        #[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
        pub struct Given {
            $($(
                #[arg(long, env = $variable, value_name = $value, help_heading = $group,
                      help = concat!($about, " [default: ", $default, "]"))]
                $(#[$extra])*
                pub $name: Option<$type>,
            )+)+

            /// TOML file with the settings above, in the same names with underscores
            #[arg(long, env = "JOSH_CONFIG", value_name = "FILE")]
            #[serde(skip)]
            pub config: Option<PathBuf>,
        }

        impl Given {
            /// What is not given here is taken from there.
            fn or(self, other: Given) -> Given {
                Given { $($($name: self.$name.or(other.$name),)+)+ config: self.config }
            }
        }

        pub const SETTINGS: &[Setting] = &[$($(
            Setting { name: stringify!($name), variable: $variable, default: $default, about: $about },
        )+)+];
    };
}

settings! {
    "Serving" {
        bundle: PathBuf, "JOSH_BUNDLE", "FILE", "the embedded sample", "Bundle file to serve";
        listen: String, "JOSH_LISTEN", "ADDRESS", "127.0.0.1:8080", "Address and port to listen on; port 0 takes a free one";
        public_url: String, "JOSH_PUBLIC_URL", "URL", "as the client calls it", "Address under which clients reach Josh: https://josh.example.org";
        workers: usize, "JOSH_WORKERS", "N", "one for each core", "Worker threads";
    }
    "Access" {
        auth: Auth, "JOSH_AUTH", "MODE", "disabled", "Who may ask: everyone, or (oauth) those with an API key or a token of your OAuth server";
        auth_issuer: String, "JOSH_AUTH_ISSUER", "URL", "none, API keys only", "OAuth server whose tokens are taken, as in their iss";
        auth_jwks: String, "JOSH_AUTH_JWKS", "FILE|URL", "none", "Its public keys (JWKS): a file, which needs no network, or an https address";
        auth_audience: String, "JOSH_AUTH_AUDIENCE", "TEXT", "PUBLIC_URL/mcp", "What the aud of a token must name";
        keys: PathBuf, "JOSH_KEYS", "FILE", "josh/keys.json in the user's configuration folder", "File of API keys and OAuth subjects, as josh keys writes it";
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        allow_no_auth: bool, "JOSH_ALLOW_NO_AUTH", "BOOL", "false", "Serve other machines without asking who they are";
    }
    "TLS" {
        tls: TlsMode, "JOSH_TLS", "MODE", "off, plain HTTP", "self-signed: HTTPS with a certificate of our own making, kept for the next start";
        tls_cert: PathBuf, "JOSH_TLS_CERT", "PEM", "none", "Certificate chain for HTTPS; taken up again when it changes";
        tls_key: PathBuf, "JOSH_TLS_KEY", "PEM", "none", "Its private key";
        tls_client_ca: PathBuf, "JOSH_TLS_CLIENT_CA", "PEM", "none", "Ask clients for certificates signed by one of these authorities";
        tls_redirect: String, "JOSH_TLS_REDIRECT", "ADDRESS", "none", "Second address, of plain HTTP, that sends everyone to HTTPS: 0.0.0.0:80";
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        allow_no_tls: bool, "JOSH_ALLOW_NO_TLS", "BOOL", "false", "Serve other machines over plain HTTP, as behind a proxy that speaks TLS";
    }
    "Limits" {
        rate: u32, "JOSH_RATE", "N", "0, no limit", "Requests a second that each caller may send, by key or else by address";
        rate_burst: u32, "JOSH_RATE_BURST", "N", "twice the rate", "Requests that a caller may send at once";
        trusted_proxies: String, "JOSH_TRUSTED_PROXIES", "NETWORKS", "none", "Proxies whose X-Forwarded-For, -Proto and -Host are believed: 10.0.0.0/8,::1";
        searches: usize, "JOSH_SEARCHES", "N", "one for each core", "Searches that run at once; as many lists and counts run beside them";
        queue_ms: u64, "JOSH_QUEUE_MS", "MS", "2000", "Milliseconds that a request may wait for its turn; then it gets 503";
        request_ms: u64, "JOSH_REQUEST_MS", "MS", "30000", "Milliseconds that any request may take";
        aggregate_rows: u64, "JOSH_AGGREGATE_ROWS", "N", "50000000", "Records that one count or sum may touch";
        aggregate_ms: u64, "JOSH_AGGREGATE_MS", "MS", "5000", "Milliseconds that one count or sum may take";
        duckdb_memory: String, "JOSH_DUCKDB_MEMORY", "SIZE", "1GB", "Memory that DuckDB may take for sorting and grouping";
        duckdb_threads: usize, "JOSH_DUCKDB_THREADS", "N", "one for each core", "Threads that DuckDB may take";
    }
    "MCP" {
        mcp_hosts: String, "JOSH_MCP_HOSTS", "HOSTS", "none besides localhost, the address listened on and the public one", "Names under which /mcp is reached, separated by commas";
        mcp_origins: String, "JOSH_MCP_ORIGINS", "ORIGINS", "none besides this machine's own", "Origins of web pages that may call /mcp: https://app.example.org";
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        mcp_sessions: bool, "JOSH_MCP_SESSIONS", "BOOL", "false", "Keep sessions for clients of older revisions; without, each request stands alone";
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        mcp_bare_search: bool, "JOSH_MCP_BARE_SEARCH", "BOOL", "false", "Advertise only query for the tool search, for hosts that compare signatures";
    }
    "Logs" {
        log: String, "JOSH_LOG", "LEVEL", "info", "What to log: error, warn, info (a line for each request), debug, or a tracing filter";
        log_format: LogFormat, "JOSH_LOG_FORMAT", "FORMAT", "text", "How to log: text or json";
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    #[default]
    Disabled,
    Oauth,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    SelfSigned,
}

/// As used: complete and valid.
#[derive(Clone, Debug)]
pub struct Settings {
    pub bundle: Option<PathBuf>,
    pub listen: SocketAddr,
    pub workers: usize,
    pub public_url: Option<String>,
    pub access: Option<access::Options>,
    pub tls: Option<tls::Options>,
    pub rate: Option<Rate>,
    pub trusted_proxies: Vec<IpNet>,
    pub load: Load,
    pub limits: Limits,
    pub engine: Engine,
    pub mcp: mcp::Options,
    pub log: String,
    pub log_format: LogFormat,
}

/// How often one caller may ask.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    pub per_second: NonZeroU32,
    pub burst: NonZeroU32,
}

impl Given {
    /// What the file says added to what flags and environment say.
    pub fn with_file(self) -> Result<Given> {
        refuse_unknown_variables(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()))?;
        let file = match &self.config {
            Some(path) => read_file(path)?,
            None => Given::default(),
        };
        Ok(self.or(file))
    }

    /// A TOML file that says the same, with every setting explained.
    pub fn as_file(&self) -> Result<String> {
        let given = toml::Table::try_from(self)?;
        let mut out = String::from("# Settings of josh serve. A line that begins with # shows a default.\n");
        for Setting { name, default, about, .. } in SETTINGS {
            out.push_str(&format!("\n# {about}\n"));
            match given.get(*name) {
                Some(value) => out.push_str(&format!("{name} = {value}\n")),
                None => out.push_str(&format!("# {name}: {default}\n")),
            }
        }
        Ok(out)
    }

    pub fn resolve(self) -> Result<Settings> {
        let listen = address("listen", self.listen.as_deref().unwrap_or(DEFAULT_LISTEN))?;
        let public_url = self.public_url.as_deref().map(public_url).transpose()?;
        let tls = self.tls(&listen)?;
        let access = self.access(public_url.as_deref())?;
        let is_wide = !listen.ip().is_loopback();
        ensure!(
            !is_wide || tls.is_some() || self.allow_no_tls == Some(true),
            "listen: {listen} can be reached from other machines, and what they send would go unencrypted. Give --tls-cert and \
             --tls-key, or --tls self-signed; with a proxy in front that speaks TLS, say --allow-no-tls"
        );
        ensure!(
            !is_wide || access.is_some() || self.allow_no_auth == Some(true),
            "listen: {listen} can be reached from other machines, and anyone could ask. Make a key with josh keys add NAME and \
             say --auth oauth; if everyone may ask, say --allow-no-auth"
        );
        let workers = within("workers", self.workers.unwrap_or_else(cores), 1, 256)?;
        let at_once = within("searches", self.searches.unwrap_or_else(cores), 1, 256)?;
        let defaults = Limits::default();
        let usual = Load::default();
        let load = Load {
            at_once,
            wait: self.queue_ms.map_or(usual.wait, Duration::from_millis),
            time: self.request_ms.map_or(usual.time, Duration::from_millis),
        };
        let limits = Limits {
            rows: self.aggregate_rows.unwrap_or(defaults.rows),
            time: self.aggregate_ms.map_or(defaults.time, Duration::from_millis),
        };
        let threads = within("duckdb_threads", self.duckdb_threads.unwrap_or_else(cores), 1, 256)?;
        let engine = Engine { memory: self.duckdb_memory.clone().unwrap_or(Engine::default().memory), threads };
        engine.check().map_err(|why| anyhow::anyhow!("duckdb_memory: {why}"))?;
        let rate = NonZeroU32::new(self.rate.unwrap_or(0)).map(|per_second| {
            let burst = self.rate_burst.and_then(NonZeroU32::new);
            Rate { per_second, burst: burst.unwrap_or(per_second.saturating_mul(NonZeroU32::MIN.saturating_add(1))) }
        });
        ensure!(rate.is_some() || self.rate_burst.is_none(), "rate_burst: there is no rate; give one with --rate");
        let trusted_proxies = listed(&self.trusted_proxies).iter().map(|text| network(text)).collect::<Result<_>>()?;
        let mcp = self.mcp(&listen, public_url.as_deref())?;
        Ok(Settings {
            bundle: self.bundle,
            listen,
            workers,
            public_url,
            access,
            tls,
            rate,
            trusted_proxies,
            load,
            limits,
            engine,
            mcp,
            log: self.log.unwrap_or_else(|| "info".into()),
            log_format: self.log_format.unwrap_or_default(),
        })
    }

    fn tls(&self, listen: &SocketAddr) -> Result<Option<tls::Options>> {
        let certificate = match (self.tls, &self.tls_cert, &self.tls_key) {
            (None, None, None) => {
                ensure!(self.tls_client_ca.is_none(), "tls_client_ca: there is no TLS; give --tls-cert and --tls-key");
                ensure!(self.tls_redirect.is_none(), "tls_redirect: there is no TLS to send anyone to");
                return Ok(None);
            }
            (Some(TlsMode::SelfSigned), None, None) => {
                let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).into();
                names.extend(listed(&self.mcp_hosts));
                names.extend(self.public_url.as_deref().and_then(host_of).map(str::to_string));
                if !listen.ip().is_unspecified() {
                    names.push(listen.ip().to_string());
                }
                names.dedup();
                tls::Certificate::SelfSigned { names }
            }
            (None, Some(chain), Some(key)) => tls::Certificate::Files { chain: chain.clone(), key: key.clone() },
            (None, Some(_), None) => bail!("tls_cert: its key is missing; give it with --tls-key"),
            (None, None, Some(_)) => bail!("tls_key: its certificate is missing; give it with --tls-cert"),
            (Some(_), ..) => bail!("tls: self-signed makes its own certificate; leave out --tls-cert and --tls-key"),
        };
        let redirect = self.tls_redirect.as_deref().map(|text| address("tls_redirect", text)).transpose()?;
        Ok(Some(tls::Options { certificate, client_ca: self.tls_client_ca.clone(), redirect }))
    }

    fn access(&self, public_url: Option<&str>) -> Result<Option<access::Options>> {
        if self.auth.unwrap_or_default() == Auth::Disabled {
            for (name, is_given) in
                [("auth_issuer", self.auth_issuer.is_some()), ("auth_jwks", self.auth_jwks.is_some())]
            {
                ensure!(!is_given, "{name}: nobody is asked for a token; say --auth oauth");
            }
            return Ok(None);
        }
        let keys = self.keys.clone().map_or_else(access::default_key_file, Ok)?;
        let tokens = match (&self.auth_issuer, &self.auth_jwks) {
            (None, None) => None,
            (Some(issuer), Some(jwks)) => {
                let audience = self.auth_audience.clone().or_else(|| public_url.map(|url| format!("{url}/mcp")));
                let audience = audience.context("auth_audience: give it, or --public-url, from which it follows")?;
                let jwks = JwksAddress::read(jwks).map_err(|why| anyhow::anyhow!("auth_jwks: {why}"))?;
                Some(access::TokenOptions { issuer: issuer.clone(), audience, jwks })
            }
            (Some(_), None) => {
                bail!("auth_issuer: its public keys are missing; give a file or address with --auth-jwks")
            }
            (None, Some(_)) => bail!("auth_jwks: whose keys are they? Give --auth-issuer"),
        };
        Ok(Some(access::Options { keys, tokens }))
    }

    fn mcp(&self, listen: &SocketAddr, public_url: Option<&str>) -> Result<mcp::Options> {
        let mut hosts = listed(&self.mcp_hosts);
        hosts.extend(public_url.and_then(host_of).map(str::to_string));
        if !listen.ip().is_unspecified() && !listen.ip().is_loopback() {
            hosts.push(listen.ip().to_string());
        }
        let origins = listed(&self.mcp_origins);
        if let Some(bad) = origins.iter().find(|origin| !origin.contains("://")) {
            bail!("mcp_origins: {bad:?} is no origin; write it like https://app.example.org");
        }
        Ok(mcp::Options {
            sessions: self.mcp_sessions.unwrap_or(false),
            bare_search: self.mcp_bare_search.unwrap_or(false),
            hosts,
            origins,
        })
    }
}

fn listed(given: &Option<String>) -> Vec<String> {
    given.iter().flat_map(|g| g.split(',')).map(|g| g.trim().to_string()).filter(|g| !g.is_empty()).collect()
}

fn within(name: &str, given: usize, least: usize, most: usize) -> Result<usize> {
    ensure!((least..=most).contains(&given), "{name}: {given} is not possible; give {least} to {most}");
    Ok(given)
}

fn address(name: &str, text: &str) -> Result<SocketAddr> {
    let mut found = text
        .to_socket_addrs()
        .with_context(|| format!("{name}: {text:?} is not an address with a port, like {DEFAULT_LISTEN}"))?;
    found.next().with_context(|| format!("{name}: {text:?} names no address"))
}

/// A network, or one address as a network of its own.
fn network(text: &str) -> Result<IpNet> {
    let alone = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse::<IpNet>()
        .or_else(|_| alone())
        .with_context(|| format!("trusted_proxies: {text:?} is no network; write it like 10.0.0.0/8 or 192.0.2.7"))
}

fn public_url(text: &str) -> Result<String> {
    let url = text.trim_end_matches('/');
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let fits = rest.is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b))
    });
    ensure!(fits, "public_url: {text:?} is not an address like https://josh.example.org, without a path");
    Ok(url.to_string())
}

/// The host of a URL, without its port.
fn host_of(url: &str) -> Option<&str> {
    let authority = url.split("://").nth(1)?.split('/').next()?;
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => Some(host),
        _ => Some(authority),
    }
}

fn read_file(path: &Path) -> Result<Given> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read the settings in {}", path.display()))?;
    parse_file(&text).with_context(|| format!("the settings in {} can't be used", path.display()))
}

fn parse_file(text: &str) -> Result<Given> {
    let names: Vec<&str> = SETTINGS.iter().map(|s| s.name).collect();
    for key in text.parse::<toml::Table>()?.keys() {
        if !names.contains(&key.as_str()) {
            let near = nearest(key, &names).map(|n| format!(" Did you mean {n}?"));
            bail!(
                "{key:?} is no setting.{}",
                near.unwrap_or_else(|| " josh serve --print-config lists them all.".into())
            );
        }
    }
    Ok(toml::from_str(text)?)
}

fn refuse_unknown_variables(names: impl Iterator<Item = String>) -> Result<()> {
    let known: Vec<&str> = SETTINGS.iter().map(|s| s.variable).chain(["JOSH_CONFIG"]).collect();
    for name in names.filter(|n| n.starts_with("JOSH_")) {
        if !known.contains(&name.as_str()) {
            let near = nearest(&name, &known).map(|n| format!(" Did you mean {n}?"));
            bail!("{name} is set, and no setting has that name.{}", near.unwrap_or_default());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_nobody_knows_is_an_error_with_the_nearest_name() {
        let refuse = |name: &str| refuse_unknown_variables([name.to_string()].into_iter());
        assert!(refuse("JOSH_BUNDLE").is_ok() && refuse("HOME").is_ok());
        assert!(refuse("JOSH_BUNDEL").unwrap_err().to_string().contains("JOSH_BUNDLE?"));
    }

    #[test]
    fn a_key_of_the_file_that_nobody_knows_is_an_error_with_the_nearest_name() {
        assert!(parse_file("listen = '127.0.0.1:0'\nworkers = 2\nmcp_sessions = true").is_ok());
        assert!(parse_file("lisen = '127.0.0.1:0'").unwrap_err().to_string().contains("listen?"));
        assert!(parse_file("[listen]\nport = 1").is_err());
    }

    fn resolved(toml: &str) -> Result<Settings> {
        parse_file(toml)?.resolve()
    }

    #[test]
    fn settings_that_do_not_go_together_are_refused_and_say_what_is_missing() {
        for (toml, why) in [
            ("listen = '0.0.0.0:1'", "--allow-no-tls"),
            ("listen = '0.0.0.0:1'\ntls = 'self-signed'", "--allow-no-auth"),
            ("tls_cert = 'a.pem'", "--tls-key"),
            ("tls_key = 'a.pem'", "--tls-cert"),
            ("tls = 'self-signed'\ntls_cert = 'a'\ntls_key = 'b'", "leave out"),
            ("tls_redirect = '127.0.0.1:0'", "no TLS"),
            ("auth_issuer = 'https://a.example'", "--auth oauth"),
            ("auth = 'oauth'\nauth_issuer = 'https://a.example'", "--auth-jwks"),
            ("auth = 'oauth'\nauth_issuer = 'https://a.example'\nauth_jwks = 'https://a.example/jwks'", "--public-url"),
            (
                "auth = 'oauth'\nauth_issuer = 'https://a.example'\nauth_jwks = 'http://a.example/jwks'\nauth_audience = 'j'",
                "https",
            ),
            ("workers = 0", "1 to 256"),
            ("rate_burst = 3", "--rate"),
            ("trusted_proxies = 'nginx'", "10.0.0.0/8"),
            ("duckdb_memory = 'a lot'", "1GB"),
            ("public_url = 'josh.example.org'", "https://"),
        ] {
            let error = format!("{:#}", resolved(toml).expect_err(toml));
            assert!(error.contains(why), "{toml}: {error}");
        }
        assert!(resolved("listen = '0.0.0.0:1'\nallow_no_tls = true\nallow_no_auth = true").is_ok());
    }

    #[test]
    fn what_is_printed_as_a_file_says_the_same() {
        let given = parse_file("listen = '127.0.0.1:0'\nrate = 5\ntls = 'self-signed'\nmcp_sessions = true").unwrap();
        let printed = given.as_file().unwrap();
        let again = parse_file(&printed).unwrap();
        assert_eq!(again.as_file().unwrap(), printed);
        assert!(printed.contains("rate = 5\n") && printed.contains("# workers: one for each core"), "{printed}");
        assert!(SETTINGS.iter().all(|s| printed.contains(s.about)));
    }
}
