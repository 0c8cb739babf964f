//! The command line: arguments in, calls out.

mod bundle;
mod get;
mod keys;
mod mcp;
mod serve;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use crate::bundle::{Bundle, BundleError, Engine, sample_path};
use crate::settings::Given;

/// Something the user gave that can't be used: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);

/// United States federal policy data from one file.
///
/// `josh serve` starts on the embedded sample; `josh serve --bundle federal.db` on a bundle of yours. It makes no network
/// request of its own, but for the keys of an OAuth server that you name by address.
#[derive(Parser)]
#[command(name = "josh", version, max_term_width = 100)]
pub struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Serve a bundle over REST and MCP
    ///
    /// SIGHUP, or a new file under the name of the bundle or the certificate, takes it up without dropping a request; one that
    /// can't be used is refused and the old one goes on. SIGINT and SIGTERM finish open requests and stop.
    ///
    /// Exit codes, of every command: 0 all is well, 1 it failed, 2 a bundle, setting or argument can't be used.
    Serve {
        #[command(flatten)]
        given: Box<Given>,
        /// Print the settings as they are now as a TOML file, each explained, and stop
        #[arg(long)]
        print_config: bool,
    },
    /// Answer a REST path without a server: josh get '/v1/bills?limit=3'
    ///
    /// Prints the body that a server would send. Exit code 1 when the answer is an error.
    Get {
        /// Path and query, as in the URL
        path: String,
        /// Bundle file [default: the embedded sample]
        #[arg(long, env = "JOSH_BUNDLE", value_name = "FILE")]
        bundle: Option<PathBuf>,
    },
    /// Speak MCP on standard input and output, for hosts that start a program
    ///
    /// The same server as at /mcp of `josh serve`. In a host's settings: command `josh`, arguments `mcp --bundle FILE`.
    Mcp {
        /// Bundle file [default: the embedded sample]
        #[arg(long, env = "JOSH_BUNDLE", value_name = "FILE")]
        bundle: Option<PathBuf>,
        /// What to log on standard error: error, warn, info (each call), debug
        #[arg(long, env = "JOSH_LOG", value_name = "LEVEL", default_value = "warn")]
        log: String,
    },
    /// Say who may ask a server that runs with --auth oauth
    #[command(subcommand)]
    Keys(keys::Verb),
    /// Inspect, check and sign bundle files
    #[command(subcommand)]
    Bundle(bundle::Verb),
    /// Print a completion script: josh completions bash > /etc/bash_completion.d/josh
    Completions { shell: clap_complete::Shell },
    /// Print the manual page: josh man | man -l -
    Man,
}

impl Command {
    pub fn run(self) -> Result<ExitCode> {
        match self.verb {
            Verb::Serve { given, print_config } => {
                let unusable = |error: anyhow::Error| Unusable(format!("{error:#}"));
                let given = given.with_file().map_err(unusable)?;
                let printed = given.as_file()?;
                let settings = given.resolve().map_err(unusable)?;
                if print_config {
                    print!("{printed}");
                    return Ok(ExitCode::SUCCESS);
                }
                serve::run(settings)
            }
            Verb::Keys(verb) => keys::run(verb),
            Verb::Get { path, bundle } => get::run(&path, bundle.as_deref()),
            Verb::Mcp { bundle, log } => mcp::run(bundle.as_deref(), &log),
            Verb::Bundle(verb) => bundle::run(verb),
            Verb::Completions { shell } => {
                clap_complete::generate(shell, &mut Command::command(), "josh", &mut std::io::stdout());
                Ok(ExitCode::SUCCESS)
            }
            Verb::Man => {
                clap_mangen::Man::new(Command::command()).render(&mut std::io::stdout())?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// Opens the bundle at `path`, or the embedded sample.
fn open(path: Option<&Path>, engine: Engine) -> Result<Bundle> {
    let path = match path {
        Some(path) => path.to_path_buf(),
        None => sample_path().map_err(|e| Unusable(format!("cannot unpack the sample bundle: {e}")))?,
    };
    Ok(Bundle::open_with(&path, engine).map_err(|e| unusable(&path, &e))?)
}

fn unusable(path: &Path, error: &BundleError) -> Unusable {
    Unusable(format!("{}: {error}.", path.display()))
}
