//! `josh mcp`: the MCP server on standard input and output, for hosts that start a local program.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use super::{hand_out, open};
use crate::api::Budget;
use crate::bundle::OpenOptions;
use crate::catalog::ids;
use crate::client_config;
use crate::executor::Executor;
use crate::limits::ConcurrencySettings;
use crate::mcp::Server;
use crate::settings::LogFormat;
use crate::telemetry;
use crate::toolsets::Toolsets;

pub fn run(bundle: Option<&Path>, log: &str, toolsets: Toolsets) -> Result<ExitCode> {
    let _log = telemetry::start(log, LogFormat::Text, None)?;
    ids::prepare();
    let bundle = open(bundle, OpenOptions::default())?;
    let limits = ConcurrencySettings::default();
    let executor = Executor::new(bundle, toolsets.clone(), Budget::default(), limits)?;
    hand_out(&executor, &client_config::Options::default(), None)?;
    let executor = Arc::new(executor);
    let first = executor.bundle();
    std::thread::spawn(move || first.prepare_search());
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
