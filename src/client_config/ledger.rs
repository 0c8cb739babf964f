//! What `josh connect` did to a file: what it was before, what it is now, and which servers were
//! written. With that, `--remove` gives back the very bytes. It lies in the user's state folder.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::folders;
use crate::timestamp;

/// One file that was edited.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Entry {
    pub path: PathBuf,
    pub client_id: String,
    pub servers: Vec<String>,
    /// A copy of the file as it was; nothing if there was none.
    pub backup: Option<PathBuf>,
    /// SHA-256 of the file as it was written.
    pub after: String,
}

pub struct Ledger {
    folder: PathBuf,
}

impl Ledger {
    pub fn of_user() -> io::Result<Ledger> {
        let state = folders::of_user("XDG_STATE_HOME", ".local/state");
        let missing = || io::Error::other("there is no folder for backups; set HOME");
        Ok(Ledger { folder: state.ok_or_else(missing)?.join("josh/connect") })
    }

    fn name(path: &Path) -> String {
        hash(path.as_os_str().as_encoded_bytes())[..16].to_string()
    }

    fn file(&self, path: &Path) -> PathBuf {
        self.folder.join(format!("{}.json", Ledger::name(path)))
    }

    pub fn get(&self, path: &Path) -> Option<Entry> {
        let entry: Entry = serde_json::from_slice(&std::fs::read(self.file(path)).ok()?).ok()?;
        (entry.path == path).then_some(entry)
    }

    /// Copies a file's text. Only its owner can read the copy: other servers' secrets are in it.
    pub fn back_up(&self, path: &Path, text: &str) -> io::Result<PathBuf> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let time = timestamp::now().replace(':', "");
        for number in 0..1000 {
            let name = format!("{}-{time}-{number}.backup", Ledger::name(path));
            let backup = self.folder.join(name);
            let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&backup);
            match opened {
                Ok(mut file) => {
                    file.write_all(text.as_bytes())?;
                    file.sync_all()?;
                    return Ok(backup);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many backups in one second"))
    }

    pub fn put(&self, entry: &Entry) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&serde_json::to_vec_pretty(entry)?)?;
        file.persist(self.file(&entry.path))?;
        Ok(())
    }

    /// Forgets a file. Its backups stay.
    pub fn forget(&self, path: &Path) -> io::Result<()> {
        match std::fs::remove_file(self.file(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

pub fn hash(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
