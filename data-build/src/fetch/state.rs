//! What was fetched: one line a file, appended as soon as the file is in place, so that a killed run loses little. A
//! torn last line is passed over. The file is rewritten whole, beside itself and then renamed, when a run ends.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

const NAME: &str = "fetch-state.jsonl";
const LOCK: &str = ".fetch-lock";

/// A file that is complete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub url: String,
    pub sha256: String,
    pub bytes: u64,
    /// Day it was fetched.
    pub fetched: String,
    /// What the publisher's list says of this version: its time of change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp: Option<String>,
    #[serde(flatten)]
    pub version: Version,
}

/// How a server names the version of what it sends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Version {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
}

impl Version {
    /// What `If-Range` takes: a strong tag, or else a date.
    pub fn validator(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| !tag.starts_with("W/")).or(self.modified.as_deref())
    }
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    #[serde(flatten)]
    note: Note,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Note {
    Got(Entry),
    /// A part of this version lies beside the file's place.
    Part(Version),
    Gone,
}

#[derive(Default)]
struct Known {
    files: BTreeMap<String, Entry>,
    parts: BTreeMap<String, Version>,
}

/// The state of one folder.
pub struct State {
    folder: PathBuf,
    known: Mutex<Known>,
    journal: Option<Mutex<File>>,
    _lock: Option<File>,
}

impl State {
    /// Opens the state of a folder to fetch into it; no one else may at the same time.
    pub fn open(folder: &Path) -> Result<State> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let lock = File::create(folder.join(LOCK)).with_context(|| format!("cannot write in {}", folder.display()))?;
        if lock.try_lock().is_err() {
            bail!(
                "another fetch is at work in {}: wait for it, or choose another folder with --into",
                folder.display()
            );
        }
        let known = read(folder)?;
        let path = folder.join(NAME);
        let mut journal = OpenOptions::new().create(true).append(true).open(&path);
        // A torn line must not swallow the next.
        if let Ok(file) = &mut journal
            && !ends_with_newline(&path)
        {
            file.write_all(b"\n")?;
        }
        let journal = journal.with_context(|| format!("cannot write {}", path.display()))?;
        let (known, journal) = (Mutex::new(known), Some(Mutex::new(journal)));
        Ok(State { folder: folder.to_path_buf(), known, journal, _lock: Some(lock) })
    }

    /// The state as it is, to look at only.
    pub fn look(folder: &Path) -> Result<State> {
        let known = Mutex::new(read(folder)?);
        Ok(State { folder: folder.to_path_buf(), known, journal: None, _lock: None })
    }

    /// The entry of a file that is still there as it was written.
    pub fn get(&self, path: &str) -> Option<Entry> {
        let entry = self.known().files.get(path).cloned()?;
        let there = std::fs::metadata(self.folder.join(path)).is_ok_and(|m| m.len() == entry.bytes);
        there.then_some(entry)
    }

    pub fn part(&self, path: &str) -> Option<Version> {
        self.known().parts.get(path).cloned()
    }

    pub fn all(&self) -> Vec<(String, Entry)> {
        self.known().files.iter().map(|(path, entry)| (path.clone(), entry.clone())).collect()
    }

    pub fn got(&self, path: &str, entry: Entry) -> Result<()> {
        self.append(path, Note::Got(entry))
    }

    pub fn keep_part(&self, path: &str, version: Version) -> Result<()> {
        self.append(path, Note::Part(version))
    }

    pub fn forget(&self, path: &str) -> Result<()> {
        self.append(path, Note::Gone)
    }

    fn append(&self, path: &str, note: Note) -> Result<()> {
        let line = Line { path: path.to_string(), note };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        if let Some(journal) = &self.journal {
            let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
            journal.write_all(&text).with_context(|| format!("cannot write {NAME}"))?;
        }
        take(&mut self.known(), line);
        Ok(())
    }

    /// Writes the state whole: each file once, in order.
    pub fn tidy(&self) -> Result<()> {
        let known = self.known();
        let beside = self.folder.join(format!(".{NAME}.part"));
        let file = File::create(&beside).with_context(|| format!("cannot write {}", beside.display()))?;
        let mut out = std::io::BufWriter::new(&file);
        let files = known.files.iter().map(|(path, entry)| (path, Note::Got(entry.clone())));
        let parts = known.parts.iter().map(|(path, version)| (path, Note::Part(version.clone())));
        for (path, note) in files.chain(parts) {
            serde_json::to_writer(&mut out, &Line { path: path.clone(), note })?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        drop(out);
        file.sync_all()?;
        std::fs::rename(&beside, self.folder.join(NAME)).with_context(|| format!("cannot write {NAME}"))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(folder: &Path) -> Result<Known> {
    let mut known = Known::default();
    let path = folder.join(NAME);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(known),
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
    };
    for line in BufReader::new(file).split(b'\n') {
        if let Ok(line) = serde_json::from_slice::<Line>(&line?) {
            take(&mut known, line);
        }
    }
    Ok(known)
}

fn take(known: &mut Known, line: Line) {
    match line.note {
        Note::Got(entry) => {
            known.parts.remove(&line.path);
            known.files.insert(line.path, entry);
        }
        Note::Part(version) => {
            known.parts.insert(line.path, version);
        }
        Note::Gone => {
            known.parts.remove(&line.path);
            known.files.remove(&line.path);
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
    fn a_torn_line_loses_itself_only() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a"), "1234").expect("a file");
        let entry = Entry { url: "u".into(), bytes: 4, ..Entry::default() };
        State::open(folder.path()).expect("a state").got("a", entry.clone()).expect("written");
        let path = folder.path().join(NAME);
        let mut text = std::fs::read(&path).expect("the file");
        text.extend_from_slice(b"{\"path\":\"b\",\"got\":{\"ur");
        std::fs::write(&path, text).expect("torn");
        let state = State::open(folder.path()).expect("a state");
        state.keep_part("c", Version { etag: Some("\"x\"".into()), modified: None }).expect("written");
        drop(state);
        let state = State::open(folder.path()).expect("a state");
        assert_eq!((state.get("a"), state.get("b").is_none()), (Some(entry), true));
        assert_eq!(state.part("c").expect("a part").validator(), Some("\"x\""));
        assert!(State::open(folder.path()).is_err(), "two at once");
        state.tidy().expect("tidied");
        assert_eq!(State::look(folder.path()).expect("a state").all().len(), 1);
    }
}
