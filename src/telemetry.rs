//! Logs: one line per event on standard error, as text or JSON; and the audit log, a file with one
//! line for every request and tool call, whatever the level of the other log.

use std::fs::OpenOptions;
use std::io::{BufWriter, IsTerminal};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use tracing::Level;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::filter::{FilterExt, Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::settings::LogFormat;

/// The target of the events that say who asked for what and how it ended.
pub const AUDIT: &str = "josh::audit";

/// Starts logging. Separate threads write the lines in batches; dropping the guards writes the
/// rest. `is_private`: requests carry somebody's data. Libraries would log them where the filter
/// asks for all that they say, so they are not asked.
pub fn start(
    filter: &str,
    format: LogFormat,
    audit: Option<&Path>,
    is_private: bool,
) -> Result<Vec<WorkerGuard>> {
    // A plain level is about Josh. From libraries only warnings are of use to an operator, and
    // from actix_http not even these: it reports every connection that does not speak HTTP.
    let ours = matches!(filter, "warn" | "info" | "debug" | "trace")
        .then(|| format!("warn,actix_http=off,josh={filter}"));
    let filter = EnvFilter::try_new(ours.as_deref().unwrap_or(filter))
        .with_context(|| format!("log: {filter:?} is neither a level nor a tracing filter"))?;
    let may_log = filter_fn(move |event| {
        !is_private || *event.level() <= Level::WARN || event.target().starts_with("josh")
    });
    let filter = filter.and(may_log.with_max_level_hint(Level::TRACE));
    let (writer, guard) =
        tracing_appender::non_blocking(BufWriter::with_capacity(1 << 16, std::io::stderr()));
    let lines = fmt::layer().with_writer(writer).with_target(false);
    let lines = match format {
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
    };
    let mut guards = vec![guard];
    let audit = match audit {
        None => None,
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
            let file =
                file.with_context(|| format!("audit_log: cannot write {}", path.display()))?;
            let (writer, guard) = tracing_appender::non_blocking(file);
            guards.push(guard);
            let lines = fmt::layer().with_writer(writer).with_target(false).with_level(false);
            let lines = lines.json().flatten_event(true).with_current_span(false);
            // Down to DEBUG: a tool call's request is logged there, after the call's own line.
            Some(lines.with_filter(Targets::new().with_target(AUDIT, Level::DEBUG)))
        }
    };
    tracing_subscriber::registry().with(lines.with_filter(filter)).with(audit).init();
    Ok(guards)
}
