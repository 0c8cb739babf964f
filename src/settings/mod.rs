//! Settings: flags before `JOSH_*` variables before the TOML file before defaults, checked once.
//! Unknown names are errors wherever they stand: a misspelt setting must not be ignored.
//!
//! A setting is one entry of the table below: its flag, its variable, its key in the file, its help
//! text and its row in the docs are derived from it. `file` reads and prints the TOML file,
//! `resolve` turns raw values into valid `Settings`, `value` says what each type accepts.

mod file;
mod parse;
mod resolve;
mod value;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::access;
use crate::api::Budget;
use crate::boj::LiveOptions;
use crate::bundle::OpenOptions;
use crate::client_config;
use crate::limits::ConcurrencySettings;
use crate::mcp;
use crate::tls;
use crate::toolsets::Toolsets;
use crate::wizard;

pub const DEFAULT_LISTEN: &str = "127.0.0.1:8080";

/// A setting as the docs list it.
pub struct Setting {
    pub name: &'static str,
    pub variable: &'static str,
    /// The default, as a value or in words.
    pub default: &'static str,
    /// A TOML value: the default, or an example where the default is not a value.
    pub example: &'static str,
    pub about: &'static str,
    /// What values it accepts.
    pub expects: fn() -> String,
}

impl Setting {
    pub fn default_is_a_value(&self) -> bool {
        self.example.trim_matches('"') == self.default
    }
}

/// Each entry: `name: Type, "JOSH_NAME", "VALUE", = default, "help";` or, where the default is
/// not a value, `name: Type, "JOSH_NAME", "VALUE", "default in words" like example, "help";`.
macro_rules! settings {
    ($($group:literal { $(
        $(#[$extra:meta])*
        $name:ident: $type:ty, $variable:literal, $value:literal,
        $(= $is:literal)? $($default:literal like $example:literal)?, $about:literal;
    )+ })+) => {
        /// Settings as given by flags, environment or file: incomplete and not checked.
        #[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
        pub struct RawSettings {
            $($(
                #[arg(
                    long, env = $variable, value_name = $value, help_heading = $group,
                    value_parser = <$type as value::SettingValue>::parser(),
                    help = concat!($about, " [default: ", $($is,)? $($default,)? "]"),
                )]
                $(#[$extra])*
                pub $name: Option<$type>,
            )+)+

            /// TOML file with settings, named like the flags below with underscores for hyphens
            #[arg(long, env = "JOSH_CONFIG", value_name = "FILE")]
            #[serde(skip)]
            pub config: Option<PathBuf>,
        }

        impl RawSettings {
            /// Takes from `other` what is not given here.
            fn or(self, other: RawSettings) -> RawSettings {
                RawSettings { $($($name: self.$name.or(other.$name),)+)+ config: self.config }
            }
        }

        pub const SETTINGS: &[Setting] = &[$($(
            Setting {
                name: stringify!($name),
                variable: $variable,
                default: concat!($($is)? $($default)?),
                example: concat!($(stringify!($is))? $(stringify!($example))?),
                about: $about,
                expects: <$type as value::SettingValue>::expects,
            },
        )+)+];
    };
}

settings! {
    "Serving" {
        bundle: PathBuf, "JOSH_BUNDLE", "FILE",
            "the embedded sample" like "/srv/josh/federal.db",
            "Bundle file to serve";
        verify_key: PathBuf, "JOSH_VERIFY_KEY", "PEM",
            "signatures are not checked" like "/etc/josh/bundle.pub",
            "Ed25519 public key that must have signed the bundle, at the start and at each reload";
        listen: String, "JOSH_LISTEN", "ADDRESS",
            = "127.0.0.1:8080",
            "Address and port to listen on; port 0 picks a free port";
        public_url: String, "JOSH_PUBLIC_URL", "URL",
            "the address that the client used" like "https://josh.example.org",
            "Address at which clients reach Josh, without a path";
        workers: usize, "JOSH_WORKERS", "N",
            "one per core" like 4,
            "Worker threads";
        drain_ms: u64, "JOSH_DRAIN_MS", "MS",
            = 0,
            "Milliseconds for which everything is still answered after SIGTERM, while /readyz \
             says 503, so that load balancers send requests elsewhere";
    }
    "Access" {
        auth: Auth, "JOSH_AUTH", "MODE",
            = "disabled",
            "Who may access the server: everyone (disabled), holders of an API key (keys), or \
             holders of an API key or of a token from your OAuth server (oauth)";
        auth_issuer: String, "JOSH_AUTH_ISSUER", "URL",
            "none" like "https://login.example.org/",
            "OAuth server whose tokens are accepted, as in their iss claim";
        auth_jwks: String, "JOSH_AUTH_JWKS", "FILE|URL",
            "none" like "https://login.example.org/.well-known/jwks.json",
            "Public keys of the OAuth server (JWKS): a file, which needs no network, or an https \
             URL";
        auth_audience: String, "JOSH_AUTH_AUDIENCE", "TEXT",
            "PUBLIC_URL/mcp" like "https://josh.example.org/mcp",
            "Audience that tokens must name in their aud claim";
        keys: PathBuf, "JOSH_KEYS", "FILE",
            "josh/keys.json in the user's configuration folder" like "/etc/josh/access/keys.json",
            "File of API keys and OAuth subjects, written by josh keys";
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        allow_no_auth: bool, "JOSH_ALLOW_NO_AUTH", "BOOL",
            = false,
            "Let other machines in without an API key or token";
    }
    "TLS" {
        tls: TlsMode, "JOSH_TLS", "MODE",
            "plain HTTP" like "self-signed",
            "self-signed: serve HTTPS with a certificate that Josh creates once and keeps";
        tls_cert: PathBuf, "JOSH_TLS_CERT", "PEM",
            "none" like "/etc/josh/tls.crt",
            "Certificate chain for HTTPS; reloaded when the file changes";
        tls_key: PathBuf, "JOSH_TLS_KEY", "PEM",
            "none" like "/etc/josh/tls.key",
            "Private key of the certificate";
        tls_client_ca: PathBuf, "JOSH_TLS_CLIENT_CA", "PEM",
            "none" like "/etc/josh/client-ca.pem",
            "Require client certificates that are signed by one of these authorities";
        tls_redirect: String, "JOSH_TLS_REDIRECT", "ADDRESS",
            "none" like "0.0.0.0:80",
            "Second address, for plain HTTP, that redirects to HTTPS";
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        allow_no_tls: bool, "JOSH_ALLOW_NO_TLS", "BOOL",
            = false,
            "Let other machines in over plain HTTP, for example behind a proxy that terminates TLS";
    }
    "Limits" {
        rate: u32, "JOSH_RATE", "N",
            = 0,
            "Requests per second for each caller, by API key or else by address; 0 means no limit";
        rate_burst: u32, "JOSH_RATE_BURST", "N",
            "twice the rate" like 40,
            "Requests that a caller may send at once";
        trusted_proxies: String, "JOSH_TRUSTED_PROXIES", "NETWORKS",
            "none" like "10.0.0.0/8,::1",
            "Proxies whose X-Forwarded-For, -Proto and -Host headers are trusted, separated by \
             commas";
        searches: usize, "JOSH_SEARCHES", "N",
            "one per core" like 4,
            "Searches that run at the same time, and as many lists and counts in addition";
        queue_ms: u64, "JOSH_QUEUE_MS", "MS",
            = 2000,
            "Milliseconds that a request may wait for others to finish before it gets a 503";
        request_ms: u64, "JOSH_REQUEST_MS", "MS",
            = 30000,
            "Milliseconds that a request may take";
        aggregate_rows: u64, "JOSH_AGGREGATE_ROWS", "N",
            = 50000000,
            "Records that one count or sum may read";
        aggregate_ms: u64, "JOSH_AGGREGATE_MS", "MS",
            = 5000,
            "Milliseconds that one count or sum may take";
        duckdb_memory: String, "JOSH_DUCKDB_MEMORY", "SIZE",
            = "1GB",
            "Memory that DuckDB may use for sorting and grouping";
        duckdb_threads: usize, "JOSH_DUCKDB_THREADS", "N",
            "one per core" like 4,
            "Threads that DuckDB may use";
    }
    "MCP" {
        toolsets: String, "JOSH_TOOLSETS", "NAMES",
            "policy" like "all",
            "Toolsets to offer, separated by commas, or all";
        exclude_tools: String, "JOSH_EXCLUDE_TOOLS", "NAMES",
            "none" like "semantic_search",
            "Tools to leave out, separated by commas";
        mcp_hosts: String, "JOSH_MCP_HOSTS", "HOSTS",
            "only localhost, the listen address and the public URL" like "josh.example.org",
            "Further host names at which clients reach /mcp, separated by commas";
        mcp_origins: String, "JOSH_MCP_ORIGINS", "ORIGINS",
            "only pages of the /mcp hosts" like "https://app.example.org",
            "Further origins of web pages that may call /mcp, separated by commas";
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        mcp_sessions: bool, "JOSH_MCP_SESSIONS", "BOOL",
            = false,
            "Keep sessions for clients of older MCP revisions; otherwise requests are independent";
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        mcp_bare_search: bool, "JOSH_MCP_BARE_SEARCH", "BOOL",
            = false,
            "Advertise only the query parameter of the search tool, for hosts that compare \
             signatures";
    }
    "Client configuration" {
        profiles: PathBuf, "JOSH_PROFILES", "DIR",
            "none" like "/etc/josh/profiles",
            "Folder with further profiles for clients, NAME.toml each; needs the toolset clients";
        signing_key: PathBuf, "JOSH_SIGNING_KEY", "PEM",
            "josh/signing-key.pem in the user's data folder, created when it is first needed"
            like "/etc/josh/signing-key.pem",
            "Private key that signs configuration for clients (Ed25519, PKCS#8); needs the toolset \
             clients";
    }
    "Statistics" {
        boj_base_url: String, "JOSH_BOJ_BASE_URL", "URL",
            "none: series of the Bank of Japan come from the bundle"
            like "https://www.stat-search.boj.or.jp",
            "Ask the Bank of Japan at this address (https, or this machine) instead of the \
             bundle; needs the toolset statistics";
        boj_timeout_ms: u64, "JOSH_BOJ_TIMEOUT_MS", "MS",
            = 10000,
            "Milliseconds that one request to the Bank may take";
        boj_retry_max: u32, "JOSH_BOJ_RETRY_MAX", "N",
            = 2,
            "How often a request to the Bank that failed on the way is sent again";
        boj_retry_backoff_ms: u64, "JOSH_BOJ_RETRY_BACKOFF_MS", "MS",
            = 200,
            "Milliseconds before it is sent again; doubles each time";
    }
    "Forms" {
        forms: FormsMode, "JOSH_FORMS", "MODE",
            = "off",
            "Forms of agencies: off, describe (list, explain and plan), or run (in Chromium on \
             this machine); needs the toolset forms";
        forms_dir: PathBuf, "JOSH_FORMS_DIR", "DIR",
            "only the built-in wizards" like "/etc/josh/forms",
            "Folder with further wizard files, NAME.json each";
        forms_allow: String, "JOSH_FORMS_ALLOW", "NAMES",
            "every wizard" like "ssa-quick-calculator",
            "Wizards that may run, separated by commas; others are only described";
        forms_browser: PathBuf, "JOSH_FORMS_BROWSER", "FILE",
            "chromium, chromium-browser, google-chrome or google-chrome-stable in the path"
            like "/usr/bin/chromium",
            "Chromium, or a browser that is made from it";
        #[arg(num_args = 0..=1, default_missing_value = "true")]
        forms_no_sandbox: bool, "JOSH_FORMS_NO_SANDBOX", "BOOL",
            = false,
            "Run the browser without its sandbox, which does not work for root; run Josh as \
             another user instead";
        forms_at_once: usize, "JOSH_FORMS_AT_ONCE", "N",
            = 1,
            "Forms that run at the same time, each in a browser of its own";
        forms_ms: u64, "JOSH_FORMS_MS", "MS",
            = 120000,
            "Milliseconds that a run may take";
        forms_per_hour: u32, "JOSH_FORMS_PER_HOUR", "N",
            = 30,
            "Runs against one host in an hour, to be polite; 0 means no limit";
        forms_image_kb: usize, "JOSH_FORMS_IMAGE_KB", "KB",
            = 300,
            "Kilobytes of the pictures of one run together; they are made smaller to fit";
        forms_test_site: String, "JOSH_FORMS_TEST_SITE", "ADDRESS#KEY",
            "the agencies' own sites"
            like "127.0.0.1:8443#47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "For tests: a copy of the agencies' sites, and the Base64 of the SHA-256 of its \
             public key";
    }
    "Logs" {
        log: String, "JOSH_LOG", "LEVEL",
            = "info",
            "What to log: error, warn, info (one line per request), debug, or a tracing filter";
        audit_log: PathBuf, "JOSH_AUDIT_LOG", "FILE",
            "none" like "/var/lib/josh/audit.jsonl",
            "File that gets a line for every request and tool call: who, what, when, result";
        log_format: LogFormat, "JOSH_LOG_FORMAT", "FORMAT",
            = "text",
            "Log format: text or json";
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
    Keys,
    Oauth,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum FormsMode {
    #[default]
    Off,
    Describe,
    Run,
}

impl FormsMode {
    /// What may be done with forms, unless they are off.
    pub fn mode(self) -> Option<wizard::Mode> {
        match self {
            FormsMode::Off => None,
            FormsMode::Describe => Some(wizard::Mode::Describe),
            FormsMode::Run => Some(wizard::Mode::Run),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    SelfSigned,
}

/// Settings as used: complete and valid.
#[derive(Clone, Debug)]
pub struct Settings {
    pub bundle: Option<PathBuf>,
    pub listen: SocketAddr,
    pub workers: usize,
    /// How long everything is still answered after a signal to stop.
    pub drain: Duration,
    pub public_url: Option<String>,
    pub access: Option<access::Options>,
    pub tls: Option<tls::Options>,
    pub rate: Option<Rate>,
    pub trusted_proxies: Vec<IpNet>,
    pub concurrency: ConcurrencySettings,
    pub budget: Budget,
    pub open: OpenOptions,
    pub mcp: mcp::Options,
    pub toolsets: Toolsets,
    pub client_configs: client_config::Options,
    pub boj: Option<LiveOptions>,
    /// Nothing where forms are off.
    pub forms: Option<wizard::Options>,
    pub log: String,
    pub log_format: LogFormat,
    pub audit_log: Option<PathBuf>,
    /// What works but should be changed, for the log.
    pub warnings: Vec<String>,
}

/// How many requests one caller may send.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    pub per_second: NonZeroU32,
    pub burst: NonZeroU32,
}
