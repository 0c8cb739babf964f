//! `josh mcp`: the MCP server on standard input and output, for hosts that start a local program.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use super::open;
use crate::bundle::Engine;
use crate::catalog::ids;
use crate::gate::Load;
use crate::mcp::Server;
use crate::query::Limits;
use crate::service::Josh;
use crate::settings::LogFormat;
use crate::telemetry;

pub fn run(bundle: Option<&Path>, log: &str) -> Result<ExitCode> {
    let _log = telemetry::start(log, LogFormat::Text)?;
    ids::prepare();
    let josh = Arc::new(Josh::new(open(bundle, Engine::default())?, Limits::default(), Load::default()));
    let first = josh.bundle();
    std::thread::spawn(move || first.prepare_search());
    actix_web::rt::System::new().block_on(async {
        match Server::new(josh, false).serve(rmcp::transport::stdio()).await {
            Ok(running) => drop(running.waiting().await?),
            // The host closed the pipe before it said anything: nothing to do, and nothing wrong.
            Err(ServerInitializeError::ConnectionClosed(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(ExitCode::SUCCESS)
    })
}
