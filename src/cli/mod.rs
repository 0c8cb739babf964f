//! The command line: arguments in, calls out.

mod bundle;
mod get;
mod keys;
mod mcp;
mod pull;
mod reload;
mod serve;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser, Subcommand};

use crate::bundle::{Bundle, BundleError, DuckDbLimits, sample_path};
use crate::output;
use crate::settings::{RawSettings, SETTINGS, Setting};
use crate::toolsets::{self, Toolsets};

/// Input that can't be used: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);

impl Unusable {
    fn because(error: anyhow::Error) -> Unusable {
        Unusable(format!("{error:#}"))
    }
}

/// United States federal policy data from one file.
///
/// `josh serve` serves the embedded sample, `josh serve --bundle federal.db` your own bundle. Josh
/// makes no network request, except for the public keys of an OAuth server if you give their URL,
/// and for a bundle that you ask for with `josh bundle pull`.
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
    /// On SIGHUP, and when the file of the bundle or of the certificate changes, Josh reloads it
    /// without dropping a request; a file that can't be used is refused, and the old one stays in
    /// use. SIGINT and SIGTERM finish open requests and stop; a second one stops at once.
    ///
    /// Exit codes of every command: 0 success, 1 failure, 2 unusable bundle, setting or argument.
    Serve {
        #[command(flatten)]
        settings: Box<RawSettings>,
        /// Print the effective settings as a TOML file, each with an explanation, and exit
        #[arg(long)]
        print_config: bool,
    },
    /// Print the answer to a REST request, without a server: josh get '/v1/bills?limit=3'
    ///
    /// Prints the body that a server would send. The exit code is 1 if it is an error.
    Get {
        /// Path and query, as in the URL
        path: String,
        /// Bundle file [default: the embedded sample]
        #[arg(long, env = "JOSH_BUNDLE", value_name = "FILE")]
        bundle: Option<PathBuf>,
    },
    /// Serve MCP on standard input and output, for hosts that start a program
    ///
    /// The same server as at /mcp of `josh serve`. In a host's settings: command `josh`, arguments
    /// `mcp --bundle FILE`.
    Mcp {
        /// Bundle file [default: the embedded sample]
        #[arg(long, env = "JOSH_BUNDLE", value_name = "FILE")]
        bundle: Option<PathBuf>,
        /// What to log on standard error: error, warn, info (each call), debug
        #[arg(long, env = "JOSH_LOG", value_name = "LEVEL", default_value = "warn")]
        log: String,
        /// Toolsets to offer, separated by commas, or all
        #[arg(long, env = "JOSH_TOOLSETS", value_name = "NAMES", value_delimiter = ',',
              default_value = toolsets::DEFAULT)]
        toolsets: Vec<String>,
        /// Tools to leave out, separated by commas
        #[arg(long, env = "JOSH_EXCLUDE_TOOLS", value_name = "NAMES", value_delimiter = ',')]
        exclude_tools: Vec<String>,
    },
    /// Manage the API keys of a server that runs with --auth keys or --auth oauth
    #[command(subcommand)]
    Keys(keys::Verb),
    /// Inspect, check and sign bundle files
    #[command(subcommand)]
    Bundle(bundle::Verb),
    /// Print a completion script: josh completions bash > /etc/bash_completion.d/josh
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Print the manual page josh(1): josh man | man -l -
    Man {
        /// Write the pages of all commands (josh.1, josh-serve.1 ...) to this folder instead
        #[arg(long, value_name = "FOLDER")]
        dir: Option<PathBuf>,
    },
}

impl Command {
    pub fn run(self) -> Result<ExitCode> {
        match self.verb {
            Verb::Serve { settings, print_config } => {
                let settings = settings.with_file().map_err(Unusable::because)?;
                let printed = settings.as_file()?;
                let settings = settings.resolve().map_err(Unusable::because)?;
                if !print_config {
                    return serve::run(settings);
                }
                output::bytes(printed.as_bytes());
            }
            Verb::Keys(verb) => return keys::run(verb),
            Verb::Get { path, bundle } => return get::run(&path, bundle.as_deref()),
            Verb::Mcp { bundle, log, toolsets, exclude_tools } => {
                let toolsets = Toolsets::read(&toolsets, &exclude_tools).map_err(Unusable)?;
                return mcp::run(bundle.as_deref(), &log, toolsets);
            }
            Verb::Bundle(verb) => return bundle::run(verb),
            Verb::Completions { shell } => {
                // Not to standard output directly: the generator panics when it is closed.
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Command::command(), "josh", &mut script);
                output::bytes(&script);
            }
            Verb::Man { dir } => manual(dir.as_deref())?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints josh(1), or writes the pages of all commands to a folder.
fn manual(folder: Option<&Path>) -> Result<()> {
    // `josh help` has no page of its own, so no page may refer to one.
    let command = Command::command().disable_help_subcommand(true);
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        output::bytes(&page);
        return Ok(());
    };
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        clap_mangen::generate_to(command, folder)?;
        let serve = std::fs::OpenOptions::new().append(true).open(folder.join("josh-serve.1"));
        serve?.write_all(environment_section().as_bytes())
    };
    write().with_context(|| format!("cannot write manual pages to {}", folder.display()))
}

/// The variables of the settings, which clap_mangen leaves out.
fn environment_section() -> String {
    let entry = |setting: &Setting| {
        let flag = setting.name.replace('_', "\\-");
        format!(".TP\n\\fB{}\\fR\nSets \\fB\\-\\-{flag}\\fR.\n", setting.variable)
    };
    let entries: String = SETTINGS.iter().map(entry).collect();
    format!(".SH ENVIRONMENT\n{entries}")
}

/// Opens the bundle at `path`, or the embedded sample.
fn open(path: Option<&Path>, limits: DuckDbLimits) -> Result<Bundle> {
    let path = match path {
        Some(path) => path.to_path_buf(),
        None => {
            sample_path().map_err(|e| Unusable(format!("cannot unpack the sample bundle: {e}")))?
        }
    };
    Ok(Bundle::open_with(&path, limits).map_err(|e| unusable(&path, &e))?)
}

/// The error with the name of the file that it is about.
fn unusable(bundle: &Path, error: &BundleError) -> Unusable {
    match error {
        BundleError::Key { .. } => Unusable(format!("{error}.")),
        _ => Unusable(format!("{}: {error}.", bundle.display())),
    }
}
