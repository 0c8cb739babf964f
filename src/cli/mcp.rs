//! `josh mcp`: the MCP server on standard input and output, for hosts that start a local program.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use super::{Unusable, hand_out, open};
use crate::api::Budget;
use crate::boj::{Live, LiveOptions};
use crate::bundle::OpenOptions;
use crate::catalog::ids;
use crate::client_config;
use crate::executor::Executor;
use crate::limits::ConcurrencySettings;
use crate::mcp::Server;
use crate::settings::LogFormat;
use crate::telemetry;
use crate::toolsets::Toolsets;
use crate::wizard::{self, Forms};

pub fn run(
    bundle: Option<&Path>,
    log: &str,
    toolsets: Toolsets,
    boj: Option<LiveOptions>,
    forms: Option<wizard::Options>,
) -> Result<ExitCode> {
    let _log = telemetry::start(log, LogFormat::Text, None, forms.is_some())?;
    ids::prepare();
    let bundle = open(bundle, OpenOptions::default())?;
    let mut limits = ConcurrencySettings::default();
    if let Some(boj) = &boj {
        // All tries fit in, and what the last of them ended with is told.
        limits.timeout = limits.timeout.max(boj.longest() + Duration::from_secs(5));
    }
    let forms = forms.filter(|_| toolsets.has_forms()).map(Forms::open).transpose();
    let forms = forms.map_err(Unusable)?;
    let budget = Budget::default();
    let executor = Executor::with_forms(bundle, toolsets.clone(), budget, limits, forms)?;
    hand_out(&executor, &client_config::Options::default(), None)?;
    if let Some(boj) = boj {
        executor.ask_bank(Live::new(boj))?;
    }
    let executor = Arc::new(executor);
    let first = executor.bundle();
    // Without a thread the first search does it.
    let _ = std::thread::Builder::new().spawn(move || first.prepare_search());
    actix_web::rt::System::new().block_on(async {
        match Server::new(executor, toolsets, false).serve(rmcp::transport::stdio()).await {
            Ok(running) => drop(running.waiting().await?),
            // The host closed the pipe before it sent anything, which is not an error.
            Err(ServerInitializeError::ConnectionClosed(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(ExitCode::SUCCESS)
    })
}
