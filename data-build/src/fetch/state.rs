//! The state of a target folder: one line per fetched file, appended as soon as the file is
//! complete, so that a killed run loses little. A truncated last line is ignored. At the end of a
//! run the state file is rewritten under a temporary name and renamed.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

pub const STATE_FILE: &str = "fetch-state.jsonl";
const LOCK_FILE: &str = ".fetch-lock";

/// A complete file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub url: String,
    pub sha256: String,
    pub bytes: u64,
    /// The day it was fetched.
    pub fetched: String,
    /// The version in the publisher's list, usually its modification time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
    #[serde(flatten)]
    pub version: Version,
}

/// The version of a file as its server states it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Version {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
}

impl Version {
    /// The value for `If-Range`: a strong ETag, or else a date.
    pub fn validator(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| !tag.starts_with("W/")).or(self.modified.as_deref())
    }
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    #[serde(flatten)]
    change: Change,
}

/// What happened to a file. The names of the variants are part of the file format.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Change {
    Got(Entry),
    /// A partial download of this version exists.
    Part(Version),
    Gone,
}

#[derive(Default)]
struct Files {
    complete: BTreeMap<String, Entry>,
    partial: BTreeMap<String, Version>,
}

/// The state of one folder.
pub struct State {
    folder: PathBuf,
    files: Mutex<Files>,
    /// `None` if the state is read-only.
    journal: Option<Mutex<File>>,
    _lock: Option<File>,
}

impl State {
    /// Opens and locks the state of a folder to fetch into it.
    pub fn open(folder: &Path) -> Result<State> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let lock = File::create(folder.join(LOCK_FILE))
            .with_context(|| format!("cannot write to {}", folder.display()))?;
        if lock.try_lock().is_err() {
            bail!(
                "another fetch is running in {}; wait for it, or choose another folder with --into",
                folder.display()
            );
        }
        let files = read(folder)?;
        let path = folder.join(STATE_FILE);
        let mut journal = OpenOptions::new().create(true).append(true).open(&path);
        // End a truncated line, so that the next one is not appended to it.
        if let Ok(file) = &mut journal
            && !ends_with_newline(&path)
        {
            file.write_all(b"\n")?;
        }
        let journal = journal.with_context(|| format!("cannot write {}", path.display()))?;
        let (files, journal) = (Mutex::new(files), Some(Mutex::new(journal)));
        Ok(State { folder: folder.to_path_buf(), files, journal, _lock: Some(lock) })
    }

    /// Opens the state without locking it; changes are not written.
    pub fn open_read_only(folder: &Path) -> Result<State> {
        let files = Mutex::new(read(folder)?);
        Ok(State { folder: folder.to_path_buf(), files, journal: None, _lock: None })
    }

    /// The entry of a complete file, if the file still exists with its size.
    pub fn get(&self, path: &str) -> Option<Entry> {
        let entry = self.files().complete.get(path).cloned()?;
        let metadata = std::fs::metadata(self.folder.join(path));
        metadata.is_ok_and(|m| m.len() == entry.bytes).then_some(entry)
    }

    /// The version of a partial download.
    pub fn partial(&self, path: &str) -> Option<Version> {
        self.files().partial.get(path).cloned()
    }

    pub fn all(&self) -> Vec<(String, Entry)> {
        self.files().complete.iter().map(|(path, entry)| (path.clone(), entry.clone())).collect()
    }

    pub fn set_complete(&self, path: &str, entry: Entry) -> Result<()> {
        self.append(path, Change::Got(entry))
    }

    pub fn set_partial(&self, path: &str, version: Version) -> Result<()> {
        self.append(path, Change::Part(version))
    }

    pub fn remove(&self, path: &str) -> Result<()> {
        self.append(path, Change::Gone)
    }

    fn append(&self, path: &str, change: Change) -> Result<()> {
        let line = Line { path: path.to_string(), change };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        if let Some(journal) = &self.journal {
            let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
            journal.write_all(&text).with_context(|| format!("cannot write {STATE_FILE}"))?;
        }
        apply(&mut self.files(), line);
        Ok(())
    }

    /// Rewrites the state file with one line per file, sorted.
    pub fn compact(&self) -> Result<()> {
        let files = self.files();
        let temporary = self.folder.join(format!(".{STATE_FILE}.part"));
        let file = File::create(&temporary)
            .with_context(|| format!("cannot write {}", temporary.display()))?;
        let mut out = std::io::BufWriter::new(&file);
        let complete = files.complete.iter().map(|(path, e)| (path, Change::Got(e.clone())));
        let partial = files.partial.iter().map(|(path, v)| (path, Change::Part(v.clone())));
        for (path, change) in complete.chain(partial) {
            serde_json::to_writer(&mut out, &Line { path: path.clone(), change })?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        drop(out);
        file.sync_all()?;
        std::fs::rename(&temporary, self.folder.join(STATE_FILE))
            .with_context(|| format!("cannot write {STATE_FILE}"))
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(folder: &Path) -> Result<Files> {
    let mut files = Files::default();
    let path = folder.join(STATE_FILE);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(files),
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
    };
    for line in BufReader::new(file).split(b'\n') {
        if let Ok(line) = serde_json::from_slice::<Line>(&line?) {
            apply(&mut files, line);
        }
    }
    Ok(files)
}

fn apply(files: &mut Files, line: Line) {
    match line.change {
        Change::Got(entry) => {
            files.partial.remove(&line.path);
            files.complete.insert(line.path, entry);
        }
        Change::Part(version) => {
            files.partial.insert(line.path, version);
        }
        Change::Gone => {
            files.partial.remove(&line.path);
            files.complete.remove(&line.path);
        }
    }
}

fn ends_with_newline(path: &Path) -> bool {
    use std::io::{Read, Seek, SeekFrom};
    let last = File::open(path).and_then(|mut file| {
        let mut byte = [b'\n'];
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut byte)?;
        }
        Ok(byte[0])
    });
    last.is_ok_and(|byte| byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_line_loses_only_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a"), "1234").expect("a file");
        let entry = Entry { url: "u".into(), bytes: 4, ..Entry::default() };
        let state = State::open(folder.path()).expect("a state");
        state.set_complete("a", entry.clone()).expect("written");
        drop(state);
        let path = folder.path().join(STATE_FILE);
        let mut text = std::fs::read(&path).expect("the file");
        text.extend_from_slice(b"{\"path\":\"b\",\"got\":{\"ur");
        std::fs::write(&path, text).expect("truncated");
        let state = State::open(folder.path()).expect("a state");
        let version = Version { etag: Some("\"x\"".into()), modified: None };
        state.set_partial("c", version).expect("written");
        drop(state);
        let state = State::open(folder.path()).expect("a state");
        assert_eq!((state.get("a"), state.get("b").is_none()), (Some(entry), true));
        assert_eq!(state.partial("c").expect("a part").validator(), Some("\"x\""));
        assert!(State::open(folder.path()).is_err(), "two at once");
        state.compact().expect("rewritten");
        assert_eq!(State::open_read_only(folder.path()).expect("a state").all().len(), 1);
    }
}
