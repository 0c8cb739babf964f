//! The file of callers: API keys, kept as hashes, and subjects of OAuth tokens. `josh keys` writes
//! it; a server checks it on every request, so additions and revocations take effect at once.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{RETRY, Scope};
use crate::folders;
use crate::spelling::nearest;
use crate::stamp::Stamp;
use crate::timestamp;

/// The start of every API key, so that people and scanners for leaked secrets recognise one.
pub const PREFIX: &str = "josh_";

/// A row: an API key or a subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a key")]
pub struct Key {
    pub id: String,
    pub name: String,
    pub scopes: Vec<String>,
    pub created: String,
    /// SHA-256 of the key's secret part. The secret is 256 random bits, so a plain hash can't be
    /// guessed back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The `sub` of tokens that belong to this row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with a list api_keys")]
struct Table {
    api_keys: Vec<Key>,
}

/// `josh/keys.json` in the user's configuration folder.
pub fn default_key_file() -> Result<PathBuf> {
    let folder = folders::of_user("XDG_CONFIG_HOME", ".config");
    Ok(folder
        .context("keys: there is no configuration folder; name a file with --keys")?
        .join("josh/keys.json"))
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

    /// Adds a row and returns the secret key, which is stored nowhere. A subject has none: its
    /// tokens come from the OAuth server.
    pub fn add(
        &self,
        name: &str,
        scopes: &[String],
        subject: Option<&str>,
    ) -> Result<(Key, Option<String>)> {
        ensure!(!name.trim().is_empty(), "a key needs a name, by which it can be revoked later");
        let names = Scope::ALL.map(Scope::name);
        if let Some(bad) = scopes.iter().find(|scope| Scope::read(scope).is_none()) {
            let near =
                nearest(bad, &names).map(|n| format!(" Did you mean {n}?")).unwrap_or_default();
            bail!("{bad:?} is not a scope.{near} The scopes are {}.", names.join(" and "));
        }
        let secret = match subject {
            None => Some(URL_SAFE_NO_PAD.encode(random::<32>()?)),
            Some(_) => None,
        };
        let key = Key {
            id: hex::encode(random::<4>()?),
            name: name.trim().to_string(),
            scopes: scopes.to_vec(),
            created: timestamp::now(),
            sha256: secret.as_deref().map(hash),
            subject: subject.map(str::to_string),
            revoked: None,
        };
        self.change(|table| {
            let is_taken = |k: &&Key| {
                k.revoked.is_none()
                    && (k.name == key.name || (k.subject.is_some() && k.subject == key.subject))
            };
            if let Some(taken) = table.api_keys.iter().find(is_taken) {
                bail!(
                    "{:?} ({}) exists already; revoke it first, or choose another name",
                    taken.name,
                    taken.id
                );
            }
            table.api_keys.push(key.clone());
            Ok(())
        })?;
        Ok((key, secret.map(|secret| format!("{PREFIX}{secret}"))))
    }

    /// Revokes the row with this id or name.
    pub fn revoke(&self, which: &str) -> Result<Key> {
        self.change(|table| {
            let mut active = table.api_keys.iter_mut().filter(|k| k.revoked.is_none());
            let Some(key) = active.find(|k| k.id == which || k.name == which) else {
                bail!("no active key has the ID or name {which:?}; josh keys list shows all keys");
            };
            key.revoked = Some(timestamp::now());
            Ok(key.clone())
        })
    }

    /// Reads, changes and writes the file, one process at a time; readers see the old file or the
    /// new one, never a part.
    fn change<T>(&self, change: impl FnOnce(&mut Table) -> Result<T>) -> Result<T> {
        let path = &self.0;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let beside = path.with_extension("lock");
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&beside);
        let lock = lock.with_context(|| format!("cannot write beside {}", path.display()))?;
        lock.lock().with_context(|| format!("cannot lock {}", beside.display()))?;
        let mut table = if path.exists() { read(path)? } else { Table::default() };
        let changed = change(&mut table)?;
        // Mode 0600: names of callers are private. The owner is kept, and a new file gets the
        // folder's: root creates keys for a service that runs as another user.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(serde_json::to_string_pretty(&table)?.as_bytes())?;
        file.as_file().sync_all()?;
        if let Ok(before) = std::fs::metadata(path).or_else(|_| std::fs::metadata(folder)) {
            use std::os::unix::fs::MetadataExt;
            // Only root can do this; for others the owner is right already.
            let _ =
                std::os::unix::fs::fchown(file.as_file(), Some(before.uid()), Some(before.gid()));
        }
        file.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(changed)
    }
}

fn read(path: &Path) -> Result<Table> {
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    file.take(64 << 20)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{} was not written by josh keys", path.display()))
}

fn hash(secret: &str) -> String {
    hex::encode(Sha256::digest(secret.as_bytes()))
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes)
}

/// The active rows, indexed.
#[derive(Default)]
pub struct Rows {
    stamp: Option<Stamp>,
    /// When the file could not be read.
    failed: Option<Instant>,
    by_hash: HashMap<String, Arc<Key>>,
    by_subject: HashMap<String, Arc<Key>>,
}

impl Rows {
    fn of(table: Table, stamp: Option<Stamp>) -> Rows {
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

    /// An error if the file exists and can't be used. A file that does not exist has no keys yet.
    pub fn check(&self) -> Result<(), String> {
        self.read().map(|_| ()).map_err(|error| format!("{error:#}"))
    }

    /// Whether the file can't be read at the moment.
    pub fn are_unreadable(&self) -> bool {
        self.now().failed.is_some()
    }

    /// The rows as they are in the file at this moment. One look at its metadata; it is read only
    /// if that changed, or some time after a failure.
    pub fn now(&self) -> Arc<Rows> {
        let stamp = Stamp::of(&self.path).ok();
        let known = self.rows.load_full();
        let is_due = known.failed.is_some_and(|failed| failed.elapsed() >= RETRY);
        if known.stamp == stamp && !is_due {
            return known;
        }
        let rows = match self.read() {
            Ok(table) => Rows::of(table, stamp),
            Err(error) => {
                // A file that can't be read for a moment (too many open files, a half-written
                // one) must not lock everybody out.
                tracing::error!("the known API keys stay in use: {error:#}");
                let (by_hash, by_subject) = (known.by_hash.clone(), known.by_subject.clone());
                Rows { stamp, failed: Some(Instant::now()), by_hash, by_subject }
            }
        };
        let rows = Arc::new(rows);
        self.rows.store(rows.clone());
        rows
    }

    fn read(&self) -> Result<Table> {
        // Not `exists`, which is false too where the folder may not be entered.
        match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Table::default()),
            _ => read(&self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_scope() -> Vec<String> {
        vec![Scope::Read.name().to_string()]
    }

    /// Given a file, when keys are added and revoked, then a server that reads it knows at once,
    /// and the file holds no secret.
    #[test]
    fn a_key_is_valid_from_its_addition_to_its_revocation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/keys.json");
        let (file, server) = (KeyFile::new(path.clone()), Keys::new(&path));
        let (key, secret) = file.add("alice", &read_scope(), None).unwrap();
        let secret = secret.unwrap();
        let bare = secret.strip_prefix(PREFIX).unwrap();
        assert!(!std::fs::read_to_string(&path).unwrap().contains(bare));
        assert_eq!(server.now().by_secret(bare).map(|k| k.id.clone()), Some(key.id.clone()));
        assert!(server.now().by_secret("x").is_none() && server.now().by_secret("").is_none());
        assert!(file.add("alice", &read_scope(), None).is_err(), "a name is used once");
        assert!(
            file.add("bob", &["josh:write".into()], None)
                .unwrap_err()
                .to_string()
                .contains("josh:read")
        );
        file.revoke("alice").unwrap();
        assert!(server.now().by_secret(bare).is_none());
        assert!(file.revoke("alice").is_err());
        assert_eq!(file.list().unwrap().len(), 1, "a revoked key stays on record");
        assert!(file.add("alice", &read_scope(), Some("auth0|alice")).unwrap().1.is_none());
        assert!(server.now().by_subject("auth0|alice").is_some());
        std::fs::write(&path, "{").unwrap();
        assert!(
            server.now().by_subject("auth0|alice").is_some() && server.are_unreadable(),
            "the known keys stay in use while the file can't be read"
        );
        assert!(file.add("carol", &read_scope(), None).is_err(), "and it is not overwritten");
        std::fs::remove_file(&path).unwrap();
        assert!(server.now().by_subject("auth0|alice").is_none());
    }

    /// Given files that can't be used, when a server checks them, then it says which and why, in
    /// plain words; a file that does not exist yet is fine.
    #[test]
    fn a_file_that_cannot_be_used_is_an_error_and_a_missing_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        assert_eq!(Keys::new(&path).check(), Ok(()));
        assert!(!Keys::new(&path).are_unreadable());
        for text in ["", "{", "[]", "{}", r#"{"api_keys":[1]}"#, r#"{"api_keys":[{"id":"a"}]}"#] {
            std::fs::write(&path, text).unwrap();
            let why = Keys::new(&path).check().unwrap_err();
            assert!(why.contains("keys.json was not written by josh keys: "), "{text}: {why}");
            assert!(!why.contains("struct"), "{text}: {why}");
            assert!(Keys::new(&path).are_unreadable(), "{text}");
        }
        let why = Keys::new(folder.path()).check().unwrap_err();
        assert!(why.contains("cannot read"), "a folder: {why}");
    }

    /// Given a file that could not be read, when time passes, then it is read again although it
    /// looks the same from outside: permissions are not part of its stamp.
    #[test]
    fn a_failed_read_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let (file, server) = (KeyFile::new(path.clone()), Keys::new(&path));
        file.add("alice", &read_scope(), Some("auth0|alice")).unwrap();
        let failed = |ago| Rows {
            stamp: Stamp::of(&path).ok(),
            failed: Some(Instant::now() - ago),
            ..Rows::default()
        };
        server.rows.store(Arc::new(failed(RETRY / 2)));
        assert!(server.now().by_subject("auth0|alice").is_none(), "not on every request");
        server.rows.store(Arc::new(failed(RETRY)));
        assert!(server.now().by_subject("auth0|alice").is_some() && !server.are_unreadable());
    }

    #[test]
    fn keys_added_at_the_same_time_are_all_kept() {
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
}
