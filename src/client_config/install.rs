//! Writes servers into a client's own file, and takes them out again: finds the file, plans the
//! change, and makes it, with a backup and in one step. A file that can't be parsed, or that is a
//! link to somewhere else, is left alone.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::catalog::{Client, ClientKind};
use super::edit::{self, EditError};
use super::entry::Payload;
pub use super::ledger::Ledger;
use super::ledger::{Entry, hash};

/// Larger files are no settings. Claude Code's holds a history, too, and has some megabytes.
const LARGEST_FILE: u64 = 32 << 20;

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("{name} has no file to write to. {steps}")]
    NoFile { name: String, steps: String },
    #[error("{}: {why}", path.display())]
    Edit { path: PathBuf, why: EditError },
    #[error("{}: {why}", path.display())]
    Refused { path: PathBuf, why: String },
    #[error("{}: {why}", path.display())]
    Io { path: PathBuf, why: io::Error },
}

/// Whose file is meant.
#[derive(Clone, Debug)]
pub enum Scope {
    /// The user's, below this home folder.
    User(PathBuf),
    /// A project's, below this folder.
    Project(PathBuf),
}

impl Scope {
    fn root(&self) -> &Path {
        match self {
            Scope::User(folder) | Scope::Project(folder) => folder,
        }
    }
}

/// The file of a client; one that is there before one that is not.
pub fn file(client: &Client, scope: &Scope) -> Option<PathBuf> {
    let candidates: Vec<PathBuf> = match scope {
        Scope::Project(folder) => client.project.iter().map(|path| folder.join(path)).collect(),
        Scope::User(home) => {
            let moved = client.moved.as_ref().and_then(|moved| {
                let folder = std::env::var_os(&moved.variable).filter(|value| !value.is_empty())?;
                Some(PathBuf::from(folder).join(&moved.file))
            });
            match moved {
                Some(path) => vec![path],
                None => client.user.here().iter().filter_map(|path| in_home(home, path)).collect(),
            }
        }
    };
    let there = candidates.iter().find(|path| fs::symlink_metadata(path).is_ok());
    there.or(candidates.first()).cloned()
}

fn in_home(home: &Path, path: &str) -> Option<PathBuf> {
    Some(home.join(path.strip_prefix("~/")?))
}

/// Whether a client seems to be installed: its file is there, or the folder of the file, which
/// nobody else makes.
pub fn is_installed(client: &Client, home: &Path) -> bool {
    let Some(path) = file(client, &Scope::User(home.to_path_buf())) else { return false };
    let is_own = |folder: &Path| folder != home && folder.is_dir();
    let detected = client.detect.iter().filter_map(|folder| in_home(home, folder));
    path.exists() || path.parent().is_some_and(is_own) || detected.into_iter().any(|f| f.is_dir())
}

/// A change that was worked out and not made yet.
#[derive(Debug)]
pub struct Plan {
    pub path: PathBuf,
    root: PathBuf,
    client_id: String,
    servers: Vec<String>,
    /// Nothing if there is no file.
    pub before: Option<String>,
    /// Nothing if the file goes.
    pub after: Option<String>,
    is_removal: bool,
}

impl Plan {
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// The change, line by line.
    pub fn diff(&self) -> String {
        let (before, after) = (self.before.as_deref(), self.after.as_deref());
        let diff = similar::TextDiff::from_lines(before.unwrap_or(""), after.unwrap_or(""));
        let path = self.path.display().to_string();
        diff.unified_diff().context_radius(3).header(&path, &path).to_string()
    }
}

/// Works out how to write these servers into a client's file.
pub fn plan(client: &Client, scope: &Scope, payload: &Payload) -> Result<Plan, InstallError> {
    let (path, before) = read(client, scope)?;
    let text = before.as_deref().unwrap_or("");
    let edited = edit::add(client, text, payload);
    let after = edited.map_err(|why| InstallError::Edit { path: path.clone(), why })?;
    let servers = payload.servers(client).keys().cloned().collect();
    let (root, client_id) = (scope.root().to_path_buf(), client.id.clone());
    Ok(Plan { path, root, client_id, servers, before, after: Some(after), is_removal: false })
}

/// Works out how to take servers out again: the bytes of before, where nothing else changed since.
pub fn plan_removal(
    client: &Client,
    scope: &Scope,
    names: &[String],
    ledger: &Ledger,
) -> Result<Plan, InstallError> {
    let (path, before) = read(client, scope)?;
    let known = ledger.get(&path).filter(|entry| entry.client_id == client.id);
    let mut servers = names.to_vec();
    if let Some(entry) = &known {
        servers.extend(entry.servers.iter().filter(|name| !names.contains(name)).cloned());
    }
    let after = match &before {
        None => None,
        Some(text) => {
            let restored = known.as_ref().and_then(|entry| restored(client, entry, text, &servers));
            match restored {
                Some(original) => original,
                None => {
                    let edited = edit::remove(client, text, &servers);
                    let path = path.clone();
                    Some(edited.map_err(|why| InstallError::Edit { path, why })?)
                }
            }
        }
    };
    let (root, client_id) = (scope.root().to_path_buf(), client.id.clone());
    Ok(Plan { path, root, client_id, servers, before, after, is_removal: true })
}

/// The file as it was before, if it is still as it was written and did not hold the servers then.
fn restored(
    client: &Client,
    entry: &Entry,
    text: &str,
    names: &[String],
) -> Option<Option<String>> {
    if hash(text.as_bytes()) != entry.after {
        return None;
    }
    let Some(backup) = &entry.backup else { return Some(None) };
    let original = fs::read_to_string(backup).ok()?;
    let document = edit::read(client.format?, &original).ok()?;
    let had = document.get(Payload::container(client)).and_then(Value::as_object);
    let had_one = had.is_some_and(|servers| names.iter().any(|name| servers.contains_key(name)));
    (!had_one).then_some(Some(original))
}

/// What the client's file holds of servers; nothing if there is no file.
pub fn current(client: &Client, scope: &Scope) -> Result<Option<Payload>, InstallError> {
    let (path, text) = read(client, scope)?;
    let (Some(text), Some(format)) = (text, client.format) else { return Ok(None) };
    let document = edit::read(format, &text);
    Ok(Some(Payload(document.map_err(|why| InstallError::Edit { path, why })?)))
}

/// The path of a client's file and its text.
fn read(client: &Client, scope: &Scope) -> Result<(PathBuf, Option<String>), InstallError> {
    let path = file(client, scope).filter(|_| client.kind == ClientKind::File);
    let path = path.ok_or_else(|| InstallError::NoFile {
        name: client.name.clone(),
        steps: match (client.steps.is_empty(), scope) {
            (false, _) => client.steps.join(" "),
            (true, Scope::Project(_)) => "It has none in a project; leave out --project.".into(),
            (true, Scope::User(_)) => "It has one in a project: give --project FOLDER.".into(),
        },
    })?;
    let refuse = |why: &str| InstallError::Refused { path: path.clone(), why: why.to_string() };
    check_place(&path, scope)?;
    let metadata = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((path, None)),
        Err(why) => return Err(InstallError::Io { path, why }),
        Ok(metadata) => metadata,
    };
    if metadata.is_symlink() {
        let target = fs::read_link(&path).unwrap_or_default();
        let why = format!("it is a link to {}; it was not touched", target.display());
        return Err(refuse(&why));
    }
    if !metadata.is_file() {
        return Err(refuse("it is not a file"));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(refuse("it is too large to be a file of settings; it was not touched"));
    }
    let mut text = String::new();
    match File::open(&path).and_then(|mut file| file.read_to_string(&mut text)) {
        Ok(_) => Ok((path, Some(text))),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(refuse("it is not UTF-8; it was not touched"))
        }
        Err(why) => Err(InstallError::Io { path, why }),
    }
}

/// The folder of the file must be where it seems to be, not behind a link to somewhere else.
fn check_place(path: &Path, scope: &Scope) -> Result<(), InstallError> {
    let there = path.ancestors().skip(1).find(|folder| folder.exists());
    let (Some(there), Ok(root)) = (there, fs::canonicalize(scope.root())) else { return Ok(()) };
    // A variable may name a folder outside the home folder, on purpose.
    if !path.starts_with(scope.root()) {
        return Ok(());
    }
    let real = fs::canonicalize(there)
        .map_err(|why| InstallError::Io { path: there.to_path_buf(), why })?;
    if real.starts_with(&root) {
        return Ok(());
    }
    let why = format!("its folder is a link to {}; it was not touched", real.display());
    Err(InstallError::Refused { path: path.to_path_buf(), why })
}

/// Makes a planned change; gives the path of the backup.
pub fn apply(plan: &Plan, ledger: &Ledger) -> Result<Option<PathBuf>, InstallError> {
    let failed = |why: io::Error| InstallError::Io { path: plan.path.clone(), why };
    let backup = plan.before.as_ref().map(|text| ledger.back_up(&plan.path, text)).transpose();
    let backup = backup.map_err(failed)?;
    match &plan.after {
        Some(text) => write(plan, text),
        None => check_unchanged(plan).and_then(|_| fs::remove_file(&plan.path)),
    }
    .map_err(failed)?;
    if plan.is_removal {
        ledger.forget(&plan.path).map_err(failed)?;
        return Ok(backup);
    }
    // An entry that is brought up to date keeps the way back to the original.
    let first = ledger.get(&plan.path).filter(|known| {
        plan.before.as_ref().is_some_and(|text| hash(text.as_bytes()) == known.after)
    });
    let entry = Entry {
        path: plan.path.clone(),
        client_id: plan.client_id.clone(),
        servers: plan.servers.clone(),
        backup: first.map_or_else(|| backup.clone(), |known| known.backup),
        after: hash(plan.after.as_deref().unwrap_or("").as_bytes()),
    };
    ledger.put(&entry).map_err(failed)?;
    Ok(backup)
}

/// The file as it is now, if it is still the one that the plan was made for.
fn check_unchanged(plan: &Plan) -> io::Result<Option<fs::Metadata>> {
    let changed = || io::Error::other("it changed meanwhile; try again");
    let metadata = match fs::symlink_metadata(&plan.path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound && plan.before.is_none() => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let is_same = metadata.is_file()
        && plan.before.is_some()
        && plan.before == fs::read_to_string(&plan.path).ok();
    if is_same { Ok(Some(metadata)) } else { Err(changed()) }
}

/// Puts a new file in place of the old one, in one step.
fn write(plan: &Plan, text: &str) -> io::Result<()> {
    let folder = plan.path.parent().unwrap_or(&plan.root);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    if let Some(old) = check_unchanged(plan)? {
        let mode = fs::Permissions::from_mode(old.mode() & 0o7777);
        let new = file.as_file().metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            chown(file.path(), Some(old.uid()), Some(old.gid()))?;
        }
        file.as_file().set_permissions(mode)?;
    }
    file.persist(&plan.path)?;
    Ok(())
}
