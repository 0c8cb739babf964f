//! `josh connect`: puts Josh into the files of MCP clients, shows what is there, takes it out
//! again.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::{Unusable, local_server};
use crate::client_config::install::{self, Ledger, Plan, Scope};
use crate::client_config::{
    Client, ClientKind, Payload, SERVER_NAME, ServerSpec, catalog, describe, fetch, payload, setup,
};
use crate::output::{self, note, say};
use crate::signing::PublicKey;
use crate::spelling::nearest;

#[derive(Args)]
pub struct Connect {
    /// Client, as --list names it
    client: Option<String>,
    /// Show every client: whether it is installed, and whether its entry is current
    #[arg(long, conflicts_with_all = ["client", "all", "remove", "dry_run"])]
    list: bool,
    /// Every client that is installed
    #[arg(long, conflicts_with = "client")]
    all: bool,
    /// Take Josh out again; where nothing else changed, the file is as it was before
    #[arg(long)]
    remove: bool,
    /// Show the change and don't make it
    #[arg(long)]
    dry_run: bool,
    /// Write into the file of a project instead of the user's [default folder: .]
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
    #[command(flatten)]
    from: Origin,
}

/// What is written.
#[derive(Args)]
struct Origin {
    /// The client starts this program (the default)
    #[arg(long, conflicts_with_all = ["url", "from"])]
    stdio: bool,
    /// Bundle that the program serves [default: the embedded sample]
    #[arg(long, env = "JOSH_BUNDLE", value_name = "FILE", conflicts_with_all = ["url", "from"])]
    bundle: Option<PathBuf>,
    /// The client connects to a server at this address
    #[arg(long, value_name = "URL", conflicts_with = "from")]
    url: Option<String>,
    /// The server at --url asks for an API key: refer to the variable JOSH_API_KEY
    #[arg(long, requires = "url")]
    with_key: bool,
    /// Get the signed configuration from a server
    #[arg(long, value_name = "URL", requires = "key")]
    from: Option<String>,
    /// The server's public key, which the configuration must be signed with
    #[arg(long, value_name = "PEM", requires = "from")]
    key: Option<PathBuf>,
    /// Profile to get from the server
    #[arg(long, value_name = "NAME", requires = "from")]
    profile: Option<String>,
}

impl Origin {
    /// The servers for a client.
    fn payload(&self, client: &Client) -> Result<Payload> {
        if let (Some(base), Some(key)) = (&self.from, &self.key) {
            let key = PublicKey::read(key)?;
            let (profile, payload) = fetch(base, client, self.profile.as_deref(), &key)?;
            note!("{}: profile {profile} from {base}, signed with {}", client.id, key.id());
            return Ok(payload);
        }
        let server = self.server()?;
        payload(client, &[server]).with_context(|| match self.url {
            Some(_) => format!("{} can't use a server at an address in its file", client.name),
            None => format!("{} can't start a program; give --url", client.name),
        })
    }

    fn server(&self) -> Result<ServerSpec> {
        match &self.url {
            Some(url) => {
                let base = url.trim_end_matches('/');
                let base = base.strip_suffix("/mcp").unwrap_or(base);
                let is_url = base.starts_with("http://") || base.starts_with("https://");
                ensure!(is_url, "--url {url:?}: write it like https://josh.example.org");
                Ok(ServerSpec::remote(base, self.with_key))
            }
            None => Ok(local_server(None, self.bundle.as_ref())),
        }
    }
}

pub fn run(connect: Connect) -> Result<ExitCode> {
    work(&connect).map_err(Unusable::because).map_err(Into::into)
}

fn home() -> Result<PathBuf> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    home.map(PathBuf::from).context("there is no home folder; set HOME")
}

fn work(connect: &Connect) -> Result<ExitCode> {
    let home = home()?;
    let scope = match &connect.project {
        Some(folder) => {
            let folder = std::fs::canonicalize(folder)
                .with_context(|| format!("--project {}", folder.display()))?;
            Scope::Project(folder)
        }
        None => Scope::User(home.clone()),
    };
    if connect.list {
        list(&home, &scope, &connect.from)?;
        return Ok(ExitCode::SUCCESS);
    }
    let clients = chosen(connect, &home)?;
    let ledger = Ledger::of_user()?;
    let mut failed = false;
    for client in clients {
        let done = one(connect, client, &scope, &ledger);
        match done {
            Err(error) if connect.all => {
                failed = true;
                note!("{}: {error:#}", client.id);
            }
            other => other?,
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The clients that are meant.
fn chosen(connect: &Connect, home: &Path) -> Result<Vec<&'static Client>> {
    if let Some(id) = &connect.client {
        let ids: Vec<&str> = catalog().ids().collect();
        let unknown = || {
            let near = nearest(id, &ids).map(|near| format!(" Did you mean {near}?"));
            let (near, ids) = (near.unwrap_or_default(), ids.join(", "));
            format!("there is no client {id:?}.{near} There are {ids}")
        };
        return Ok(vec![catalog().client(id).with_context(unknown)?]);
    }
    ensure!(connect.all, "name a client, or give --list, or --all for every client that is found");
    let found: Vec<&Client> =
        catalog().clients.iter().filter(|client| install::is_installed(client, home)).collect();
    ensure!(!found.is_empty(), "no client was found below {}", home.display());
    Ok(found)
}

fn one(connect: &Connect, client: &Client, scope: &Scope, ledger: &Ledger) -> Result<()> {
    if client.kind != ClientKind::File {
        return explain(connect, client);
    }
    let plan = match connect.remove {
        true => install::plan_removal(client, scope, &[SERVER_NAME.to_string()], ledger)?,
        false => install::plan(client, scope, &connect.from.payload(client)?)?,
    };
    if !plan.is_change() {
        let state = if connect.remove { "is not there" } else { "is there and current" };
        note!("{}: {SERVER_NAME} {state}, in {}", client.id, plan.path.display());
        return Ok(());
    }
    if connect.dry_run {
        output::bytes(plan.diff().as_bytes());
        return Ok(());
    }
    let backup = install::apply(&plan, ledger)?;
    report(connect, client, &plan, backup.as_deref());
    Ok(())
}

fn report(connect: &Connect, client: &Client, plan: &Plan, backup: Option<&Path>) {
    let path = plan.path.display();
    match (connect.remove, &plan.after) {
        (true, None) => note!("{}: removed {path}, which held nothing else", client.id),
        (true, Some(_)) => note!("{}: took {SERVER_NAME} out of {path}", client.id),
        (false, _) => note!("{}: wrote {SERVER_NAME} into {path}", client.id),
    }
    if let Some(backup) = backup {
        note!("  before: {}", backup.display());
    }
    let doubt = client.doubt().filter(|_| !connect.remove);
    if let Some(doubt) = doubt {
        note!("  not certain: {doubt}");
    }
    let is_to_fill_in = plan.after.as_ref().is_some_and(|text| text.contains("<JOSH_API_KEY>"));
    if is_to_fill_in && !connect.remove {
        note!("  put the API key in place of <JOSH_API_KEY>: this client reads no variables");
    }
    if !connect.remove {
        note!("  restart {} to use it", client.name);
    }
}

/// What to do for a client without a file.
fn explain(connect: &Connect, client: &Client) -> Result<()> {
    ensure!(!connect.remove, "{} has no file; take the server out in its settings", client.name);
    let server = connect.from.server()?;
    let setup = setup(client, &server);
    let setup = setup.with_context(|| {
        format!("{} takes only servers at an address; give --url URL", client.name)
    })?;
    say!("{} has no file that could be written:", client.name);
    client.steps.iter().enumerate().for_each(|(n, step)| say!("{}. {step}", n + 1));
    if let Some(text) = &setup.text {
        say!("\n{}", text.trim_end());
    } else if let Some(url) = &connect.from.url {
        say!("\nName: {SERVER_NAME}\nAddress: {url}");
    }
    if let Some(link) = &setup.deeplink {
        say!("\nOr open: {link}");
    }
    client.notes.iter().for_each(|line| say!("{line}"));
    Ok(())
}

fn list(home: &Path, scope: &Scope, from: &Origin) -> Result<()> {
    let mut rows = vec![["client", "installed", "josh", "file"].map(String::from)];
    for client in catalog().clients.iter().filter(|client| client.kind == ClientKind::File) {
        let Some(file) = install::file(client, scope) else { continue };
        let is_installed = install::is_installed(client, home);
        let state = match install::current(client, scope) {
            Err(error) => format!("unreadable: {error}"),
            Ok(None) => "no".to_string(),
            Ok(Some(own)) => {
                let is_given = from.url.is_some() || from.from.is_some() || from.bundle.is_some();
                let wanted = is_given.then(|| from.payload(client)).transpose()?;
                describe(client, &own, wanted.as_ref(), &local_server(None, None))
            }
        };
        let installed = if is_installed { "yes" } else { "no" };
        let doubt = if client.doubt().is_none() { "" } else { " (not certain)" };
        let file = format!("{}{doubt}", file.display());
        rows.push([client.id.clone(), installed.to_string(), state, file]);
    }
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).filter(|n| *n < 40).max().unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2)];
    for row in &rows {
        let [client, installed, state, file] = row;
        let [a, b, c] = widths;
        say!("{client:<a$}  {installed:<b$}  {state:<c$}  {file}");
    }
    Ok(())
}
