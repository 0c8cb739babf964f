//! Logs: one line per event on standard error, as text or JSON.

use std::io::{BufWriter, IsTerminal};

use anyhow::{Context, Result};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

use crate::settings::LogFormat;

/// Starts logging. A separate thread writes the lines in batches; dropping the guard writes the
/// rest.
pub fn start(filter: &str, format: LogFormat) -> Result<WorkerGuard> {
    // A plain level is about Josh. From libraries only warnings are of use to an operator, and
    // from actix_http not even these: it reports every connection that does not speak HTTP.
    let ours = matches!(filter, "warn" | "info" | "debug" | "trace")
        .then(|| format!("warn,actix_http=off,josh={filter}"));
    let filter = EnvFilter::try_new(ours.as_deref().unwrap_or(filter))
        .with_context(|| format!("log: {filter:?} is neither a level nor a tracing filter"))?;
    let (writer, guard) =
        tracing_appender::non_blocking(BufWriter::with_capacity(1 << 16, std::io::stderr()));
    let lines =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_target(false);
    match format {
        LogFormat::Json => lines.json().flatten_event(true).init(),
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).init(),
    }
    Ok(guard)
}
