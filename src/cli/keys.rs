//! `josh keys …`: who may access a server that runs with `--auth keys` or `--auth oauth`. Changes
//! take effect at once.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use super::Unusable;
use crate::access::{Key, KeyFile, Scope, default_key_file};
use crate::output::{self, note, say};

#[derive(Subcommand)]
pub enum Verb {
    /// Create an API key and print it once, or register a subject of your OAuth server
    ///
    /// Only the key goes to standard output, the rest to standard error: `josh keys add alice >
    /// alice.key`.
    Add {
        /// Name by which the key is listed and revoked
        name: String,
        /// What it may do, separated by commas: josh:read (all requests), josh:execute (run forms)
        #[arg(long, value_name = "SCOPES", default_value = Scope::Read.name())]
        scopes: String,
        /// Accept tokens with this `sub` claim instead of creating a key
        #[arg(long, value_name = "SUB")]
        subject: Option<String>,
        #[command(flatten)]
        file: File,
    },
    /// List keys and subjects, without secrets
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: File,
    },
    /// Revoke a key or subject; this takes effect on the next request
    Revoke {
        /// ID or name of the key
        key: String,
        #[command(flatten)]
        file: File,
    },
}

#[derive(clap::Args)]
pub struct File {
    /// File of keys [default: josh/keys.json in the user's configuration folder]
    #[arg(long, env = "JOSH_KEYS", value_name = "FILE")]
    keys: Option<PathBuf>,
}

impl File {
    fn open(&self) -> Result<KeyFile> {
        Ok(KeyFile::new(self.keys.clone().map_or_else(default_key_file, Ok)?))
    }
}

pub fn run(verb: Verb) -> Result<ExitCode> {
    change(verb).map_err(Unusable::because)?;
    Ok(ExitCode::SUCCESS)
}

fn change(verb: Verb) -> Result<()> {
    match verb {
        Verb::Add { name, scopes, subject, file } => {
            let file = file.open()?;
            let scopes: Vec<String> = scopes.split(',').map(|s| s.trim().to_string()).collect();
            let (key, secret) = file.add(&name, &scopes, subject.as_deref())?;
            let at = file.path().display();
            match secret {
                Some(secret) => {
                    note!(
                        "key {} for {:?} ({}), in {at}. It is shown only once:",
                        key.id,
                        key.name,
                        key.scopes.join(", ")
                    );
                    say!("{secret}");
                }
                None => note!(
                    "subject {} for {:?} ({}), in {at}",
                    key.id,
                    key.name,
                    key.scopes.join(", ")
                ),
            }
        }
        Verb::List { json, file } => {
            let file = file.open()?;
            let keys = if file.path().exists() { file.list()? } else { Vec::new() };
            if json {
                let shown: Vec<Key> = keys.iter().map(without_hash).collect();
                say!("{}", serde_json::to_string_pretty(&shown)?);
            } else if keys.is_empty() {
                note!("no keys in {}; create one: josh keys add NAME", file.path().display());
            } else {
                output::bytes(table(&keys).as_bytes());
            }
        }
        Verb::Revoke { key, file } => {
            let key = file.open()?.revoke(&key)?;
            note!("revoked {} ({:?})", key.id, key.name);
        }
    }
    Ok(())
}

fn without_hash(key: &Key) -> Key {
    Key { sha256: None, ..key.clone() }
}

fn table(keys: &[Key]) -> String {
    let mut out =
        format!("{:<9} {:<24} {:<24} {:<21} {}\n", "id", "name", "scopes", "created", "state");
    for key in keys {
        let state = match (&key.revoked, &key.subject) {
            (Some(when), _) => format!("revoked {when}"),
            (None, Some(subject)) => format!("active, for tokens of {subject:?}"),
            (None, None) => "active".to_string(),
        };
        out.push_str(&format!(
            "{:<9} {:<24} {:<24} {:<21} {state}\n",
            key.id,
            key.name,
            key.scopes.join(","),
            key.created
        ));
    }
    out
}
