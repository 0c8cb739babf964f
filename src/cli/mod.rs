//! The command line: arguments in, calls out.

mod bundle;
mod connect;
mod forms;
mod forms_run;
mod get;
mod keys;
mod mcp;
mod pull;
mod reload;
mod serve;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::boj::{self, LiveOptions};
use crate::bundle::{Bundle, BundleError, OpenOptions, is_sample, sample_path};
use crate::client_config::{self, ClientConfigs, ServerSpec};
use crate::executor::Executor;
use crate::output;
use crate::settings::{FormsMode, RawSettings, SETTINGS, Setting};
use crate::toolsets::{self, Toolsets};
use crate::wizard;

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
/// makes no network request, except for the public keys of an OAuth server and for series of the
/// Bank of Japan, each if you give its URL, for a bundle that you ask for with `josh bundle pull`,
/// and for forms that you let it run.
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
        /// Toolsets to offer, separated by commas, or all
        #[arg(long, env = "JOSH_TOOLSETS", value_name = "NAMES", value_delimiter = ',',
              default_value = toolsets::DEFAULT)]
        toolsets: Vec<String>,
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
        /// Ask the Bank of Japan at this address for its series, instead of the bundle
        #[arg(long, env = "JOSH_BOJ_BASE_URL", value_name = "URL")]
        boj_base_url: Option<String>,
        /// Forms of agencies: off, describe (list, explain and plan), or run (in Chromium on this
        /// machine); needs the toolset forms
        #[arg(long, env = "JOSH_FORMS", value_name = "MODE", default_value = "off")]
        forms: FormsMode,
        /// Folder with further wizard files
        #[arg(long, env = "JOSH_FORMS_DIR", value_name = "DIR")]
        forms_dir: Option<PathBuf>,
        #[command(flatten)]
        browser: forms_run::BrowserArguments,
    },
    /// Serve time series of the Bank of Japan over MCP on standard input and output
    ///
    /// Asks the Bank for every answer. Takes the flags and variables of boj-mcp-server, and has
    /// its tools, prompts and resources.
    Boj {
        /// Address of the API: https, or this machine
        #[arg(long, env = "BOJ_BASE_URL", value_name = "URL", default_value = boj::BANK)]
        base_url: String,
        /// Milliseconds that one request may take
        #[arg(long, env = "BOJ_TIMEOUT_MS", value_name = "MS", default_value_t = 10_000)]
        timeout_ms: u64,
        /// How often a request that failed on the way is sent again
        #[arg(long, env = "BOJ_RETRY_MAX", value_name = "N", default_value_t = 2)]
        retry_max: u32,
        /// Milliseconds before it is sent again; doubles each time
        #[arg(long, env = "BOJ_RETRY_BACKOFF_MS", value_name = "MS", default_value_t = 200)]
        retry_backoff_ms: u64,
        /// What to log on standard error: error, warn, info (each call), debug
        #[arg(long, env = "JOSH_LOG", value_name = "LEVEL", default_value = "warn")]
        log: String,
    },
    /// Put Josh into the settings of MCP clients: josh connect cursor
    ///
    /// Writes one entry into the client's own file and leaves the rest of it, comments too, as it
    /// is. --dry-run shows the change, --remove undoes it. A file that can't be parsed is not
    /// touched.
    Connect(connect::Connect),
    /// Manage the API keys of a server that runs with --auth keys or --auth oauth
    #[command(subcommand)]
    Keys(keys::Verb),
    /// Forms of federal agencies: list, check, plan and run them
    #[command(subcommand)]
    Forms(forms::Verb),
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
    /// The arguments of this process; prints what is wrong with them and exits.
    pub fn read() -> Command {
        let matches = with_optional_bundle(Command::command()).get_matches();
        Command::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

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
            Verb::Connect(connect) => return connect::run(connect),
            Verb::Get { path, bundle, toolsets } => {
                let toolsets = Toolsets::read(&toolsets, &[], true).map_err(Unusable)?;
                return get::run(&path, bundle.as_deref(), toolsets);
            }
            Verb::Mcp {
                bundle,
                log,
                toolsets,
                exclude_tools,
                boj_base_url,
                forms,
                forms_dir,
                browser,
            } => {
                let mode = forms.mode();
                let toolsets = Toolsets::read(&toolsets, &exclude_tools, mode.is_some());
                let toolsets = toolsets.map_err(Unusable)?;
                let boj = boj_base_url.as_deref().map(LiveOptions::new).transpose();
                let boj = boj.map_err(Unusable)?;
                let options = browser.options()?;
                let options =
                    mode.map(|mode| wizard::Options { mode, folder: forms_dir, ..options });
                return mcp::run(bundle.as_deref(), &log, toolsets, boj, options);
            }
            Verb::Boj { base_url, timeout_ms, retry_max, retry_backoff_ms, log } => {
                let toolsets = Toolsets::read(&["statistics".into()], &[], false);
                let toolsets = toolsets.map_err(Unusable)?;
                let options = LiveOptions {
                    timeout: Duration::from_millis(timeout_ms),
                    retry_max,
                    retry_backoff: Duration::from_millis(retry_backoff_ms),
                    ..LiveOptions::new(&base_url).map_err(Unusable)?
                };
                let options = options.checked().map_err(Unusable)?;
                return mcp::run(None, &log, toolsets, Some(options), None);
            }
            Verb::Forms(verb) => return forms::run(verb),
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

/// For `josh mcp`, an empty JOSH_BUNDLE counts as not set: a host that lets its user choose a
/// bundle passes that when nothing was chosen. For a server it stays an error.
fn with_optional_bundle(command: clap::Command) -> clap::Command {
    match std::env::var_os("JOSH_BUNDLE").is_some_and(|value| value.is_empty()) {
        true => command.mut_subcommand("mcp", |mcp| mcp.mut_arg("bundle", |arg| arg.env(None))),
        false => command,
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
fn open(path: Option<&Path>, options: OpenOptions) -> Result<Bundle> {
    let path = match path {
        Some(path) => path.to_path_buf(),
        None => {
            sample_path().map_err(|e| Unusable(format!("cannot unpack the sample bundle: {e}")))?
        }
    };
    Ok(Bundle::open_with(&path, options).map_err(|e| unusable(&path, &e))?)
}

/// Hands out configuration for clients, if the toolsets say so. `base_url` is the address of this
/// server, if it has one.
fn hand_out(
    executor: &Executor,
    options: &client_config::Options,
    base_url: Option<&str>,
) -> Result<()> {
    if !executor.toolsets.hand_out_client_configs() {
        return Ok(());
    }
    let bundle = executor.bundle();
    let local = local_server(base_url, Some(&bundle.path).filter(|path| !is_sample(path)));
    let configs = ClientConfigs::open(options, base_url, local);
    executor.hand_out(configs.map_err(|error| Unusable(error.to_string()))?);
    Ok(())
}

/// Josh as clients start it. On the machine of the server that is this program with its bundle;
/// elsewhere paths differ, and the name has to do.
fn local_server(base_url: Option<&str>, bundle: Option<&PathBuf>) -> ServerSpec {
    let host = base_url.and_then(|url| url.split("://").nth(1)).unwrap_or("localhost");
    let is_here = ["localhost", "127.", "[::1]"].iter().any(|own| host.starts_with(own));
    let program = std::env::current_exe().ok().filter(|_| is_here);
    let program = program.map_or("josh".to_string(), |path| path.display().to_string());
    let mut args = vec!["mcp".to_string()];
    if let Some(bundle) = bundle.filter(|_| is_here) {
        let absolute = std::path::absolute(bundle).unwrap_or_else(|_| bundle.clone());
        args.extend(["--bundle".to_string(), absolute.display().to_string()]);
    }
    ServerSpec::local(program, args)
}

/// The error with the name of the file that it is about.
fn unusable(bundle: &Path, error: &BundleError) -> Unusable {
    match error {
        BundleError::Key(_) => Unusable(format!("{error}.")),
        _ => Unusable(format!("{}: {error}.", bundle.display())),
    }
}
