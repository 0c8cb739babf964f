//! An administrator's profiles: TOML files, `NAME.toml` in the folder of `--profiles`. A file that
//! is wrong is refused with its line, and so is a secret that is written down.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::catalog::catalog;
use super::profile::{DEFAULT, Exception, Profile, STDIO};
use super::secrets::{looks_like_key, looks_secret};
use super::server::{ServerSpec, Transport, is_server_name, is_server_url, is_variable};
use crate::spelling::nearest;

/// Bytes of one file, files of a folder and servers of a file.
const LARGEST_FILE: u64 = 256 * 1024;
const MOST_PROFILES: usize = 100;
const MOST_SERVERS: usize = 50;

/// Why a profile can't be used, with file and line.
#[derive(Debug, thiserror::Error)]
#[error("profile {place}: {why}")]
pub struct ProfileError {
    /// The file, with the line where it is known.
    place: String,
    why: String,
}

impl ProfileError {
    fn new(path: &Path, line: Option<usize>, why: impl Into<String>) -> ProfileError {
        let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
        ProfileError { place: format!("{}{line}", path.display()), why: why.into() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    name: String,
    #[serde(default)]
    description: String,
    servers: BTreeMap<Spanned<String>, Spanned<ServerEntry>>,
    #[serde(default)]
    clients: BTreeMap<Spanned<String>, ClientEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientEntry {
    #[serde(default)]
    exclude: Vec<Spanned<String>>,
    #[serde(default)]
    servers: BTreeMap<Spanned<String>, Spanned<ServerEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerEntry {
    #[serde(default)]
    description: String,
    url: Option<Spanned<String>>,
    /// Name of the variable that holds the API key.
    key_variable: Option<Spanned<String>>,
    command: Option<Spanned<String>>,
    #[serde(default)]
    args: Vec<Spanned<String>>,
    #[serde(default)]
    env: BTreeMap<String, Spanned<String>>,
    /// Names of variables that the client's machine has.
    #[serde(default)]
    env_variables: Vec<Spanned<String>>,
}

/// Reads every profile of a folder, by name.
pub fn read_profiles(folder: &Path) -> Result<Vec<Profile>, ProfileError> {
    let whole = |path: &Path, why: String| ProfileError::new(path, None, why);
    let listed = std::fs::read_dir(folder)
        .map_err(|e| whole(folder, format!("cannot read the folder: {e}")))?;
    let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    if paths.len() > MOST_PROFILES {
        let why = format!("it has {} profiles; the limit is {MOST_PROFILES}", paths.len());
        return Err(whole(folder, why));
    }
    paths.iter().map(|path| read_profile(path)).collect()
}

fn read_profile(path: &Path) -> Result<Profile, ProfileError> {
    let whole = |why: String| ProfileError::new(path, None, why);
    let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_string();
    if !is_server_name(&id) || [DEFAULT, STDIO].contains(&id.as_str()) {
        return Err(whole(
            "its file name is the name of the profile: letters, digits, - and _, and not default \
             or stdio"
                .into(),
        ));
    }
    let length = std::fs::metadata(path).map_err(|e| whole(e.to_string()))?.len();
    if length > LARGEST_FILE {
        return Err(whole(format!("it has {length} bytes; the limit is {LARGEST_FILE}")));
    }
    let text = std::fs::read_to_string(path).map_err(|e| whole(format!("cannot read it: {e}")))?;
    parse(&id, &text).map_err(|wrong| {
        let lines_before = |at: usize| text.bytes().take(at).filter(|b| *b == b'\n').count();
        let line = wrong.at.map(|at| lines_before(at) + 1);
        ProfileError::new(path, line, wrong.why)
    })
}

/// What is wrong, and where in the text.
struct Wrong {
    at: Option<usize>,
    why: String,
}

fn wrong(span: Range<usize>, why: impl Into<String>) -> Wrong {
    Wrong { at: Some(span.start), why: why.into() }
}

fn parse(id: &str, text: &str) -> Result<Profile, Wrong> {
    let file: ProfileFile = toml::from_str(text)
        .map_err(|e| Wrong { at: e.span().map(|span| span.start), why: e.message().to_string() })?;
    let mut profile = Profile {
        id: id.to_string(),
        name: file.name,
        description: file.description,
        servers: read_servers(file.servers)?,
        exceptions: BTreeMap::new(),
    };
    if profile.servers.is_empty() {
        return Err(Wrong { at: Some(0), why: "servers: there is none".into() });
    }
    for (client, entry) in file.clients {
        let name = client.get_ref();
        if catalog().client(name).is_none() {
            let near = nearest(name, &catalog().ids().collect::<Vec<_>>());
            let near = near.map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
            return Err(wrong(client.span(), format!("there is no client {name:?}.{near}")));
        }
        for excluded in &entry.exclude {
            let is_known = profile.servers.iter().any(|s| s.name == *excluded.get_ref());
            if !is_known {
                let why = format!("exclude: there is no server {:?}", excluded.get_ref());
                return Err(wrong(excluded.span(), why));
            }
        }
        let exclude = entry.exclude.into_iter().map(Spanned::into_inner).collect();
        let exception = Exception { exclude, servers: read_servers(entry.servers)? };
        profile.exceptions.insert(client.into_inner(), exception);
    }
    Ok(profile)
}

type Entries = BTreeMap<Spanned<String>, Spanned<ServerEntry>>;

fn read_servers(entries: Entries) -> Result<Vec<ServerSpec>, Wrong> {
    if let Some((name, _)) = entries.iter().nth(MOST_SERVERS) {
        return Err(wrong(name.span(), format!("more than {MOST_SERVERS} servers")));
    }
    entries.into_iter().map(|(name, entry)| read_server(name, entry)).collect()
}

fn read_server(name: Spanned<String>, entry: Spanned<ServerEntry>) -> Result<ServerSpec, Wrong> {
    let span = name.span();
    let name = name.into_inner();
    if !is_server_name(&name) {
        let why = format!("{name:?} is no name of a server: up to 40 letters, digits, - and _");
        return Err(wrong(span, why));
    }
    let entry = entry.into_inner();
    let transport = match (entry.url, entry.command) {
        (Some(url), None) => {
            if let Some(first) = entry.args.first().map(Spanned::span) {
                return Err(wrong(first, "args: a server with a url has none"));
            }
            if !entry.env.is_empty() || !entry.env_variables.is_empty() {
                return Err(wrong(span, "env: a server with a url has none; use key_variable"));
            }
            read_http(url, entry.key_variable)?
        }
        (None, Some(command)) => {
            if let Some(key) = entry.key_variable {
                return Err(wrong(key.span(), "key_variable: a program takes env_variables"));
            }
            let env = entry.env.into_iter().map(read_env).collect::<Result<_, _>>()?;
            let names = entry.env_variables.into_iter().map(read_variable);
            let args = entry.args.into_iter().map(read_argument).collect::<Result<_, _>>()?;
            let (command, env_names) = (command.into_inner(), names.collect::<Result<_, _>>()?);
            Transport::Stdio { command, args, env, env_names }
        }
        (Some(_), Some(_)) => return Err(wrong(span, "url and command: give one of them")),
        (None, None) => return Err(wrong(span, "url or command is missing")),
    };
    Ok(ServerSpec { name, description: entry.description, transport })
}

fn read_http(url: Spanned<String>, key: Option<Spanned<String>>) -> Result<Transport, Wrong> {
    let span = url.span();
    let url = url.into_inner();
    if !is_server_url(&url) {
        return Err(wrong(span, "url: write it like https://tools.example.org/mcp, without a key"));
    }
    let query = url.split_once('?').map_or("", |(_, query)| query);
    if query.split('&').any(|pair| looks_secret(pair.split('=').next().unwrap_or_default())) {
        return Err(wrong(
            span,
            "url: it holds a secret. Name a variable: key_variable = \"NAME\"",
        ));
    }
    let key = key.map(read_variable).transpose()?;
    Ok(Transport::Http { url, key })
}

fn read_variable(name: Spanned<String>) -> Result<String, Wrong> {
    match is_variable(name.get_ref()) {
        true => Ok(name.into_inner()),
        false => {
            let why = "give the name of a variable, not its value: letters, digits and _";
            Err(wrong(name.span(), why))
        }
    }
}

fn read_env((name, value): (String, Spanned<String>)) -> Result<(String, String), Wrong> {
    if !is_variable(&name) {
        return Err(wrong(value.span(), format!("env: {name:?} is no name of a variable")));
    }
    if looks_secret(&name) || looks_like_key(value.get_ref()) {
        let why = format!(
            "env: {name} looks like a secret, which a configuration never holds. Give only its \
             name: env_variables = [\"{name}\"]"
        );
        return Err(wrong(value.span(), why));
    }
    Ok((name, value.into_inner()))
}

fn read_argument(argument: Spanned<String>) -> Result<String, Wrong> {
    let text = argument.get_ref();
    let flag = text.trim_start_matches('-').split_once('=');
    if looks_like_key(text) || flag.is_some_and(|(name, _)| looks_secret(name)) {
        let why = "args: it looks like a secret, which a configuration never holds. Let the \
                   program read a variable: env_variables = [\"NAME\"]";
        return Err(wrong(argument.span(), why));
    }
    Ok(argument.into_inner())
}
