//! `josh keys …`: who may ask a server that runs with `--auth oauth`. What is changed here counts at once.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use super::Unusable;
use crate::access::{Key, KeyFile, READ, default_key_file};

#[derive(Subcommand)]
pub enum Verb {
    /// Make an API key and print it, this once; or register a subject of your OAuth server
    ///
    /// The key alone goes to standard output, everything else to standard error: `josh keys add alice > alice.key`.
    Add {
        /// Whose key it is, to know it by later
        name: String,
        /// What it may do, separated by commas: josh:read (all there is to ask today), josh:execute
        #[arg(long, value_name = "SCOPES", default_value = READ)]
        scopes: String,
        /// Take tokens with this `sub` instead of making a key
        #[arg(long, value_name = "SUB")]
        subject: Option<String>,
        #[command(flatten)]
        file: File,
    },
    /// List keys and subjects, without secrets
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: File,
    },
    /// Revoke a key or subject; requests with it are refused from now on
    Revoke {
        /// Its id or name
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
    change(verb).map_err(|error| Unusable(format!("{error:#}")))?;
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
                    eprintln!(
                        "key {} for {:?} ({}), in {at}. It is shown this once:",
                        key.id,
                        key.name,
                        key.scopes.join(", ")
                    );
                    println!("{secret}");
                }
                None => eprintln!("subject {} for {:?} ({}), in {at}", key.id, key.name, key.scopes.join(", ")),
            }
        }
        Verb::List { json, file } => {
            let file = file.open()?;
            let keys = if file.path().exists() { file.list()? } else { Vec::new() };
            match json {
                true => {
                    println!("{}", serde_json::to_string_pretty(&keys.iter().map(without_hash).collect::<Vec<_>>())?)
                }
                false if keys.is_empty() => {
                    eprintln!("no keys in {}; make one: josh keys add NAME", file.path().display())
                }
                false => print!("{}", table(&keys)),
            }
        }
        Verb::Revoke { key, file } => {
            let key = file.open()?.revoke(&key)?;
            eprintln!("revoked {} ({:?})", key.id, key.name);
        }
    }
    Ok(())
}

fn without_hash(key: &Key) -> Key {
    Key { sha256: None, ..key.clone() }
}

fn table(keys: &[Key]) -> String {
    let mut out = format!("{:<9} {:<24} {:<24} {:<21} {}\n", "id", "name", "scopes", "created", "state");
    for key in keys {
        let state = match (&key.revoked, &key.subject) {
            (Some(when), _) => format!("revoked {when}"),
            (None, Some(subject)) => format!("good, for tokens of {subject:?}"),
            (None, None) => "good".to_string(),
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
