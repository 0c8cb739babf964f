//! Logs: one line an event on standard error, as text or JSON.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::settings::LogFormat;

pub fn start(filter: &str, format: LogFormat) -> Result<()> {
    // A bare level is about Josh; what the libraries say below a warning helps nobody who runs it.
    let ours = matches!(filter, "warn" | "info" | "debug" | "trace").then(|| format!("warn,josh={filter}"));
    let filter = EnvFilter::try_new(ours.as_deref().unwrap_or(filter))
        .with_context(|| format!("log: {filter:?} is not a level or a filter"))?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    match format {
        LogFormat::Json => lines.json().flatten_event(true).init(),
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).init(),
    }
    Ok(())
}
