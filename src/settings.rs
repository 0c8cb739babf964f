//! Settings: flags over `JOSH_*` environment over the TOML file over defaults, checked once. A key that nobody
//! knows is an error wherever it stands: a misspelt setting must not be ignored.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::mcp;
use crate::query::Limits;

pub const DEFAULT_LISTEN: &str = "127.0.0.1:8080";

/// As given: each may come from a flag, the environment or the file.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// Bundle file to serve [default: the embedded sample]
    #[arg(long, env = "JOSH_BUNDLE", value_name = "FILE")]
    pub bundle: Option<PathBuf>,

    /// Address and port to listen on; port 0 takes a free one [default: 127.0.0.1:8080]
    #[arg(long, env = "JOSH_LISTEN", value_name = "ADDRESS")]
    pub listen: Option<String>,

    /// Worker threads [default: one for each core]
    #[arg(long, env = "JOSH_WORKERS", value_name = "N")]
    pub workers: Option<usize>,

    /// Records that one count or sum may touch [default: 50000000]
    #[arg(long, env = "JOSH_AGGREGATE_ROWS", value_name = "N")]
    pub aggregate_rows: Option<u64>,

    /// Milliseconds that one count or sum may take [default: 5000]
    #[arg(long, env = "JOSH_AGGREGATE_MS", value_name = "MS")]
    pub aggregate_ms: Option<u64>,

    /// Names under which /mcp is reached besides localhost, separated by commas: josh.example.org
    #[arg(long, env = "JOSH_MCP_HOSTS", value_name = "HOSTS")]
    pub mcp_hosts: Option<String>,

    /// Origins of web pages that may call /mcp besides this machine's own: https://app.example.org
    #[arg(long, env = "JOSH_MCP_ORIGINS", value_name = "ORIGINS")]
    pub mcp_origins: Option<String>,

    /// Keep MCP sessions for clients of older revisions [default: false, each request stands alone]
    #[arg(long, env = "JOSH_MCP_SESSIONS", value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub mcp_sessions: Option<bool>,

    /// Advertise only `query` for the tool search, for hosts that compare signatures [default: false]
    #[arg(long, env = "JOSH_MCP_BARE_SEARCH", value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub mcp_bare_search: Option<bool>,

    /// What to log: error, warn, info (each tool call), debug (each request), or a tracing filter [default: info]
    #[arg(long, env = "JOSH_LOG", value_name = "LEVEL")]
    pub log: Option<String>,

    /// How to log [default: text]
    #[arg(long, env = "JOSH_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    /// TOML file with the settings above, in the same names with underscores
    #[arg(long, env = "JOSH_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// As used: complete and valid.
#[derive(Clone, Debug)]
pub struct Settings {
    pub bundle: Option<PathBuf>,
    pub listen: SocketAddr,
    pub workers: usize,
    pub limits: Limits,
    pub mcp: mcp::Options,
    pub log: String,
    pub log_format: LogFormat,
}

/// The environment variables that mean something.
pub const VARIABLES: [&str; 12] = [
    "JOSH_BUNDLE",
    "JOSH_LISTEN",
    "JOSH_WORKERS",
    "JOSH_AGGREGATE_ROWS",
    "JOSH_AGGREGATE_MS",
    "JOSH_MCP_HOSTS",
    "JOSH_MCP_ORIGINS",
    "JOSH_MCP_SESSIONS",
    "JOSH_MCP_BARE_SEARCH",
    "JOSH_LOG",
    "JOSH_LOG_FORMAT",
    "JOSH_CONFIG",
];

impl Settings {
    pub fn resolve(given: Given) -> Result<Settings> {
        refuse_unknown_variables(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()))?;
        let file = match &given.config {
            Some(path) => read_file(path)?,
            None => Given::default(),
        };
        let listen = given.listen.or(file.listen).unwrap_or_else(|| DEFAULT_LISTEN.into());
        let workers = match given.workers.or(file.workers) {
            Some(0) => bail!("workers: 0 would serve nobody; give 1 or more"),
            Some(n @ 257..) => bail!("workers: {n} is more than any machine needs; give at most 256"),
            Some(n) => n,
            None => std::thread::available_parallelism().map_or(2, |n| n.get()),
        };
        let defaults = Limits::default();
        let time = given.aggregate_ms.or(file.aggregate_ms).map_or(defaults.time, Duration::from_millis);
        let limits = Limits { rows: given.aggregate_rows.or(file.aggregate_rows).unwrap_or(defaults.rows), time };
        let listen = address(&listen)?;
        let listed = |given: Option<String>| -> Vec<String> {
            given.iter().flat_map(|g| g.split(',')).map(|g| g.trim().to_string()).filter(|g| !g.is_empty()).collect()
        };
        let mut hosts = listed(given.mcp_hosts.or(file.mcp_hosts));
        if !listen.ip().is_unspecified() && !listen.ip().is_loopback() {
            hosts.push(listen.ip().to_string());
        }
        let origins = listed(given.mcp_origins.or(file.mcp_origins));
        if let Some(bad) = origins.iter().find(|origin| !origin.contains("://")) {
            bail!("mcp_origins: {bad:?} is no origin; write it like https://app.example.org");
        }
        let mcp = mcp::Options {
            sessions: given.mcp_sessions.or(file.mcp_sessions).unwrap_or(false),
            bare_search: given.mcp_bare_search.or(file.mcp_bare_search).unwrap_or(false),
            hosts,
            origins,
        };
        Ok(Settings {
            limits,
            mcp,
            bundle: given.bundle.or(file.bundle),
            listen,
            workers,
            log: given.log.or(file.log).unwrap_or_else(|| "info".into()),
            log_format: given.log_format.or(file.log_format).unwrap_or_default(),
        })
    }
}

fn address(text: &str) -> Result<SocketAddr> {
    let mut found = text
        .to_socket_addrs()
        .with_context(|| format!("listen: {text:?} is not an address with a port, like {DEFAULT_LISTEN}"))?;
    found.next().with_context(|| format!("listen: {text:?} names no address"))
}

fn read_file(path: &Path) -> Result<Given> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read the settings in {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("the settings in {} can't be used", path.display()))
}

fn refuse_unknown_variables(names: impl Iterator<Item = String>) -> Result<()> {
    for name in names.filter(|n| n.starts_with("JOSH_")) {
        if !VARIABLES.contains(&name.as_str()) {
            let near = crate::error::nearest(&name, &VARIABLES).map(|n| format!(" Did you mean {n}?"));
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
    fn a_key_of_the_file_that_nobody_knows_is_an_error() {
        assert!(toml::from_str::<Given>("listen = '127.0.0.1:0'\nworkers = 2").is_ok());
        assert!(toml::from_str::<Given>("lisen = '127.0.0.1:0'").is_err());
    }
}
