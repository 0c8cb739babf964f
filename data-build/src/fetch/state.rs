//! The state of a target folder: one line per fetched file, appended as soon as the file is
//! complete, so that a killed run loses little, and one line per source about the last run. A
//! truncated last line is ignored. At the end of a run the state file is rewritten under a
//! temporary name and renamed. `data-build/README.md` documents the format.

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
    /// When the publisher last sent this version or confirmed that it is current, in UTC. In the
    /// file it belongs to the line.
    #[serde(default, skip_serializing)]
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

/// The last run of a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceRun {
    /// When the run ended, in UTC. In the file it belongs to the line.
    #[serde(default, skip_serializing)]
    pub fetched: String,
    pub since: String,
    pub until: String,
    /// Files and lists that could not be fetched.
    pub failed: usize,
    /// What the feeds of the source do not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    source: String,
    /// Empty if the line is about the source.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    path: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    fetched: String,
    #[serde(flatten)]
    change: Change,
}

impl Line {
    fn file(path: &str, change: Change) -> Line {
        let source = path.split('/').next().unwrap_or_default().to_string();
        let fetched = match &change {
            Change::Got(entry) => entry.fetched.clone(),
            _ => String::new(),
        };
        Line { source, path: path.to_string(), fetched, change }
    }

    fn source(source: &str, run: SourceRun) -> Line {
        let (source, fetched) = (source.to_string(), run.fetched.clone());
        Line { source, path: String::new(), fetched, change: Change::Ran(run) }
    }
}

/// What happened to a file or a source. The names of the variants are part of the file format.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Change {
    Got(Entry),
    /// A partial download of this version exists.
    Part(Version),
    Gone,
    Ran(SourceRun),
}

#[derive(Default)]
struct Files {
    complete: BTreeMap<String, Entry>,
    partial: BTreeMap<String, Version>,
    /// By source.
    runs: BTreeMap<String, SourceRun>,
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

    /// When sources and their files were fetched.
    pub fn times(&self) -> Vec<(String, String)> {
        let files = self.files();
        let source = |path: &String| path.split('/').next().unwrap_or_default().to_string();
        let entries = files.complete.iter().map(|(path, e)| (source(path), e.fetched.clone()));
        let runs = files.runs.iter().map(|(source, run)| (source.clone(), run.fetched.clone()));
        entries.chain(runs).collect()
    }

    /// The last run of each source.
    pub fn runs(&self) -> Vec<(String, SourceRun)> {
        self.files().runs.iter().map(|(source, run)| (source.clone(), run.clone())).collect()
    }

    pub fn set_complete(&self, path: &str, entry: Entry) -> Result<()> {
        self.append(Line::file(path, Change::Got(entry)))
    }

    pub fn set_partial(&self, path: &str, version: Version) -> Result<()> {
        self.append(Line::file(path, Change::Part(version)))
    }

    /// Deletes a complete file.
    pub fn delete(&self, path: &str) -> Result<()> {
        let file = self.folder.join(path);
        std::fs::remove_file(&file).with_context(|| format!("cannot delete {}", file.display()))?;
        self.append(Line::file(path, Change::Gone))
    }

    pub fn set_run(&self, source: &str, run: SourceRun) -> Result<()> {
        self.append(Line::source(source, run))
    }

    /// Opens a complete file.
    pub fn open_file(&self, path: &str) -> std::io::Result<File> {
        File::open(self.folder.join(path))
    }

    fn append(&self, line: Line) -> Result<()> {
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        if let Some(journal) = &self.journal {
            let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
            journal.write_all(&text).with_context(|| format!("cannot write {STATE_FILE}"))?;
        }
        apply(&mut self.files(), line);
        Ok(())
    }

    /// Rewrites the state file with one line per source and file, sorted.
    pub fn compact(&self) -> Result<()> {
        let files = self.files();
        let temporary = self.folder.join(format!(".{STATE_FILE}.part"));
        let file = File::create(&temporary)
            .with_context(|| format!("cannot write {}", temporary.display()))?;
        let mut out = std::io::BufWriter::new(&file);
        let runs = files.runs.iter().map(|(source, run)| Line::source(source, run.clone()));
        let complete =
            files.complete.iter().map(|(path, e)| Line::file(path, Change::Got(e.clone())));
        let partial =
            files.partial.iter().map(|(path, v)| Line::file(path, Change::Part(v.clone())));
        for line in runs.chain(complete).chain(partial) {
            serde_json::to_writer(&mut out, &line)?;
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
        Change::Got(mut entry) => {
            // Earlier versions kept the time in the entry.
            if !line.fetched.is_empty() {
                entry.fetched = line.fetched;
            }
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
        Change::Ran(run) => {
            files.runs.insert(line.source, SourceRun { fetched: line.fetched, ..run });
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
        let fetched = "2026-11-17T21:00:00Z".to_string();
        let entry = Entry { url: "u".into(), bytes: 4, fetched, ..Entry::default() };
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
        let text = std::fs::read_to_string(&path).expect("the file");
        let line = r#"{"source":"a","path":"a","fetched":"2026-11-17T21:00:00Z","got":{"url":"u","#;
        assert!(text.starts_with(line), "{text}");
        assert_eq!(State::open_read_only(folder.path()).expect("a state").all().len(), 1);
    }

    #[test]
    fn lines_of_earlier_versions_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a"), "1234").expect("a file");
        let line = r#"{"path":"a","got":{"url":"u","sha256":"","bytes":4,"fetched":"2026-11-16"}}"#;
        std::fs::write(folder.path().join(STATE_FILE), line).expect("a state");
        let state = State::open(folder.path()).expect("a state");
        assert_eq!(state.get("a").expect("an entry").fetched, "2026-11-16");
    }

    #[test]
    fn a_run_of_a_source_is_one_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = State::open(folder.path()).expect("a state");
        for failed in [1, 0] {
            let run = SourceRun {
                fetched: "2026-11-17T21:00:00Z".into(),
                since: "2025-01-03".into(),
                until: "2026-11-17".into(),
                failed,
                gaps: vec![],
            };
            state.set_run("bills", run).expect("written");
        }
        state.compact().expect("rewritten");
        let text = std::fs::read_to_string(folder.path().join(STATE_FILE)).expect("the file");
        let line = concat!(
            r#"{"source":"bills","fetched":"2026-11-17T21:00:00Z","#,
            r#""ran":{"since":"2025-01-03","until":"2026-11-17","failed":0}}"#,
            "\n"
        );
        assert_eq!(text, line);
    }
}
