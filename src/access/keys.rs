//! The file of those who may ask: API keys, kept as hashes, and subjects of OAuth tokens. `josh keys` writes it; a server
//! looks at it on every request, so what is added or revoked counts at once.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::SCOPES;
use crate::bundle::Stamp;
use crate::error::nearest;

/// What an API key begins with, so that people and scanners of leaked secrets know one when they see it.
pub const PREFIX: &str = "josh_";

/// A row: an API key or a subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    pub id: String,
    pub name: String,
    pub scopes: Vec<String>,
    pub created: String,
    /// SHA-256 of the key's secret part. The secret is 256 random bits, so a plain hash can't be guessed back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The `sub` of tokens that are taken for this row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    api_keys: Vec<Key>,
}

/// `josh/keys.json` in the user's configuration folder.
pub fn default_key_file() -> Result<PathBuf> {
    let own = std::env::var_os("XDG_CONFIG_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    let folder = own.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    Ok(folder.context("keys: there is no configuration folder; name a file with --keys")?.join("josh/keys.json"))
}

/// The file as `josh keys` changes it.
pub struct KeyFile(PathBuf);

impl KeyFile {
    pub fn new(path: PathBuf) -> KeyFile {
        KeyFile(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn list(&self) -> Result<Vec<Key>> {
        Ok(read(&self.0)?.api_keys)
    }

    /// Adds a row; the key comes back in the clear, this once. A subject has none: its tokens come from the OAuth server.
    pub fn add(&self, name: &str, scopes: &[String], subject: Option<&str>) -> Result<(Key, Option<String>)> {
        ensure!(!name.trim().is_empty(), "a key needs a name, to know it by when it is to be revoked");
        if let Some(bad) = scopes.iter().find(|scope| !SCOPES.contains(&scope.as_str())) {
            let near = nearest(bad, SCOPES).map(|n| format!(" Did you mean {n}?")).unwrap_or_default();
            bail!("{bad:?} is no scope.{near} There are {}.", SCOPES.join(" and "));
        }
        let secret = subject.is_none().then(|| URL_SAFE_NO_PAD.encode(random::<32>()));
        let id = random::<4>().iter().map(|b| format!("{b:02x}")).collect();
        let key = Key {
            id,
            name: name.trim().to_string(),
            scopes: scopes.to_vec(),
            created: now(),
            sha256: secret.as_deref().map(hash),
            subject: subject.map(str::to_string),
            revoked: None,
        };
        self.change(|table| {
            let is_taken = |k: &&Key| {
                k.revoked.is_none() && (k.name == key.name || (k.subject.is_some() && k.subject == key.subject))
            };
            if let Some(taken) = table.api_keys.iter().find(is_taken) {
                bail!("{:?} ({}) is there already; revoke it first, or choose another name", taken.name, taken.id);
            }
            table.api_keys.push(key.clone());
            Ok(())
        })?;
        Ok((key, secret.map(|secret| format!("{PREFIX}{secret}"))))
    }

    /// Revokes the row with this id or name.
    pub fn revoke(&self, which: &str) -> Result<Key> {
        self.change(|table| {
            let mut good = table.api_keys.iter_mut().filter(|k| k.revoked.is_none());
            let Some(key) = good.find(|k| k.id == which || k.name == which) else {
                bail!("no key that is good has the id or name {which:?}; josh keys list shows them");
            };
            key.revoked = Some(now());
            Ok(key.clone())
        })
    }

    /// Reads, changes and writes the file, one process at a time; readers see the old one or the new one.
    fn change<T>(&self, change: impl FnOnce(&mut Table) -> Result<T>) -> Result<T> {
        let path = &self.0;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let beside = path.with_extension("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&beside);
        let lock = lock.with_context(|| format!("cannot write beside {}", path.display()))?;
        lock.lock().with_context(|| format!("cannot lock {}", beside.display()))?;
        let mut table = if path.exists() { read(path)? } else { Table::default() };
        let changed = change(&mut table)?;
        // Mode 0600: names of callers are nobody else's business. The owner stays who it was, and a new file is the folder's: root
        // makes keys for a service that runs as someone else.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(serde_json::to_string_pretty(&table)?.as_bytes())?;
        file.as_file().sync_all()?;
        if let Ok(before) = std::fs::metadata(path).or_else(|_| std::fs::metadata(folder)) {
            use std::os::unix::fs::MetadataExt;
            // Only root can; for others the owner is themselves already.
            let _ = std::os::unix::fs::fchown(file.as_file(), Some(before.uid()), Some(before.gid()));
        }
        file.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(changed)
    }
}

fn read(path: &Path) -> Result<Table> {
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    file.take(64 << 20).read_to_string(&mut text).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a file of josh keys", path.display()))
}

fn hash(secret: &str) -> String {
    Sha256::digest(secret.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

fn random<const N: usize>() -> [u8; N] {
    use rustls::crypto::ring::default_provider;
    let mut bytes = [0; N];
    // The system's generator; it fails only where nothing works.
    default_provider().secure_random.fill(&mut bytes).unwrap_or_else(|_| std::process::abort());
    bytes
}

/// Now, in UTC, to the second.
fn now() -> String {
    let now = time::OffsetDateTime::now_utc();
    let (hour, minute, second) = now.to_hms();
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", now.date())
}

/// The rows that are good now, ready to be asked.
#[derive(Default)]
pub struct Rows {
    stamp: Option<Stamp>,
    by_hash: HashMap<String, Arc<Key>>,
    by_subject: HashMap<String, Arc<Key>>,
}

impl Rows {
    pub fn by_secret(&self, secret: &str) -> Option<&Key> {
        // Looked up by hash: how long that takes says nothing about the secret.
        self.by_hash.get(&hash(secret)).map(Arc::as_ref)
    }

    pub fn by_subject(&self, subject: &str) -> Option<&Key> {
        self.by_subject.get(subject).map(Arc::as_ref)
    }
}

/// The file as a server sees it.
pub struct Keys {
    path: PathBuf,
    rows: ArcSwap<Rows>,
}

impl Keys {
    pub fn new(path: &Path) -> Keys {
        Keys { path: path.to_path_buf(), rows: ArcSwap::default() }
    }

    /// The rows as the file has them at this moment: one look at its date, and a new reading only if that changed.
    pub fn now(&self) -> Arc<Rows> {
        let stamp = Stamp::of(&self.path).ok();
        let known = self.rows.load_full();
        if known.stamp == stamp {
            return known;
        }
        let rows = match &stamp {
            // Without the file there is nobody who may ask.
            None => Rows::default(),
            Some(_) => match read(&self.path) {
                Ok(table) => rows(table, stamp),
                Err(error) => {
                    // Who is revoked may be in what can't be read: nobody gets in until it can.
                    tracing::error!("no API key is taken: {error:#}");
                    Rows { stamp, ..Rows::default() }
                }
            },
        };
        let rows = Arc::new(rows);
        self.rows.store(rows.clone());
        rows
    }
}

fn rows(table: Table, stamp: Option<Stamp>) -> Rows {
    let mut rows = Rows { stamp, ..Rows::default() };
    for key in table.api_keys.into_iter().filter(|key| key.revoked.is_none()).map(Arc::new) {
        if let Some(hash) = &key.sha256 {
            rows.by_hash.insert(hash.clone(), key.clone());
        }
        if let Some(subject) = &key.subject {
            rows.by_subject.insert(subject.clone(), key.clone());
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_scope() -> Vec<String> {
        vec![super::super::READ.to_string()]
    }

    /// Given a file, when keys are added and revoked, then a server that looks at it knows at once, and the file holds no secret.
    #[test]
    fn a_key_counts_from_when_it_is_added_until_it_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/keys.json");
        let (file, server) = (KeyFile::new(path.clone()), Keys::new(&path));
        let (key, secret) = file.add("alice", &read_scope(), None).unwrap();
        let secret = secret.unwrap();
        let bare = secret.strip_prefix(PREFIX).unwrap();
        assert!(!std::fs::read_to_string(&path).unwrap().contains(bare));
        assert_eq!(server.now().by_secret(bare).map(|k| k.id.clone()), Some(key.id.clone()));
        assert!(server.now().by_secret("x").is_none() && server.now().by_secret("").is_none());
        assert!(file.add("alice", &read_scope(), None).is_err(), "a name is taken once");
        assert!(file.add("bob", &["josh:write".into()], None).unwrap_err().to_string().contains("josh:read"));
        file.revoke("alice").unwrap();
        assert!(server.now().by_secret(bare).is_none());
        assert!(file.revoke("alice").is_err());
        assert_eq!(file.list().unwrap().len(), 1, "a revoked key stays on record");
        assert!(file.add("alice", &read_scope(), Some("auth0|alice")).unwrap().1.is_none());
        assert!(server.now().by_subject("auth0|alice").is_some());
        std::fs::write(&path, "{").unwrap();
        assert!(server.now().by_subject("auth0|alice").is_none(), "nobody gets in by a file that can't be read");
        assert!(file.add("carol", &read_scope(), None).is_err(), "and it is not written over");
        std::fs::remove_file(&path).unwrap();
        assert!(server.now().by_subject("auth0|alice").is_none());
    }

    #[test]
    fn two_who_add_at_once_both_get_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        std::thread::scope(|scope| {
            for n in 0..8 {
                let file = KeyFile::new(path.clone());
                scope.spawn(move || file.add(&format!("key {n}"), &read_scope(), None).unwrap());
            }
        });
        assert_eq!(KeyFile::new(path).list().unwrap().len(), 8);
    }

    #[test]
    fn now_is_a_time() {
        let now = now();
        assert!(now.len() == 20 && now.starts_with("20") && now.ends_with('Z'), "{now}");
    }
}
