//! Writes staged rows: each reading thread has a `StageWriter` with one NDJSON file per table.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use josh::catalog;
use serde_json::json;

use crate::reader::Outcome;
use crate::record::{Record, Sink};
use crate::record_cache::{EntryWriter, Item};
use crate::stage::{Counts, KEPT_REJECTS, Line, Reject, WHOLE_FILE, lines, rejects_path, validate};

/// Records of one file at most; numbers of records are unique within a build.
const RECORDS_PER_FILE: u64 = 1 << 32;

/// What one thread stages, into files of its own.
pub struct StageWriter {
    folder: PathBuf,
    /// The thread's number.
    pub thread: usize,
    pub files: BTreeMap<String, BufWriter<File>>,
    /// The file being read: its number in reading order and its name.
    number: usize,
    file: String,
    sequence: u64,
    pub rejects: Vec<(usize, Reject)>,
    pub rejects_file: Option<BufWriter<File>>,
    pub counts: BTreeMap<&'static str, Counts>,
    pub skipped: Vec<(usize, String)>,
    pub reused: usize,
    /// The first write error. `flush` returns it; until then staging continues to count.
    failure: Option<anyhow::Error>,
    source: &'static str,
    /// Caches what the current file produces.
    cache_writer: Option<EntryWriter>,
}

impl StageWriter {
    pub fn new(folder: &Path, thread: usize) -> StageWriter {
        StageWriter {
            folder: folder.to_path_buf(),
            thread,
            files: BTreeMap::new(),
            number: 0,
            file: String::new(),
            sequence: 0,
            rejects: Vec::new(),
            rejects_file: None,
            counts: BTreeMap::new(),
            skipped: Vec::new(),
            reused: 0,
            failure: None,
            source: "",
            cache_writer: None,
        }
    }

    /// Starts a file of a source. `number` is its place in reading order.
    pub fn begin(
        &mut self,
        number: usize,
        source: &'static str,
        file: &str,
        cache_writer: Option<EntryWriter>,
    ) {
        self.number = number;
        self.sequence = number as u64 * RECORDS_PER_FILE;
        self.source = source;
        self.file = file.to_string();
        self.cache_writer = cache_writer;
    }

    /// Ends the file.
    pub fn end(&mut self, outcome: Result<Outcome>) {
        if let Err(error) = &outcome {
            self.reject(WHOLE_FILE, &format!("{error:#}"));
        }
        let item = match outcome {
            Ok(Outcome::Read) => Item::Read,
            Ok(Outcome::Skipped) => Item::Skipped,
            Err(_) => Item::Failed,
        };
        self.push(item);
        if let Some(writer) = self.cache_writer.take() {
            writer.finish();
        }
    }

    /// Writes what is buffered.
    pub fn flush(&mut self) -> Result<()> {
        for file in self.files.values_mut().chain(&mut self.rejects_file) {
            if let Err(error) = file.flush() {
                self.failure.get_or_insert(error.into());
            }
        }
        match self.failure.take() {
            Some(failure) => Err(failure.context("cannot write the staged records")),
            None => Ok(()),
        }
    }

    /// The file of a table.
    pub fn path(&self, table: &str) -> PathBuf {
        self.folder.join(format!("{table}.{}.ndjson", self.thread))
    }

    /// Stages an item from a reader or from the cache.
    pub fn push(&mut self, item: Item) {
        if let Some(writer) = &mut self.cache_writer {
            writer.write(&item);
        }
        let folder = self.counts.entry(self.source).or_default();
        match item {
            Item::Record(source) => {
                self.sequence += 1;
                folder.produced += 1;
                self.counts.entry(source).or_default().accepted += 1;
            }
            Item::Line(line) => {
                if let Err(error) = self.write(&line) {
                    self.failure.get_or_insert(error);
                }
            }
            Item::Reject { source, place, reason } => {
                self.counts.entry(source).or_default().rejected += 1;
                let reject = Reject { file: self.file.clone(), place, reason };
                if let Err(error) = self.add_reject(reject) {
                    self.failure.get_or_insert(error);
                }
            }
            Item::Read => folder.files += 1,
            Item::Skipped => {
                (folder.files, folder.skipped) = (folder.files + 1, folder.skipped + 1);
                self.skipped.push((self.number, self.file.clone()));
            }
            Item::Failed => (folder.files, folder.failed) = (folder.files + 1, folder.failed + 1),
        }
    }

    fn add_reject(&mut self, reject: Reject) -> Result<()> {
        let file = match &mut self.rejects_file {
            Some(file) => file,
            None => {
                let file = File::create(rejects_path(&self.folder, self.thread))?;
                self.rejects_file.insert(BufWriter::new(file))
            }
        };
        let line = json!({ "file": reject.file, "place": reject.place, "reason": reject.reason });
        writeln!(file, "{} {line}", self.number)?;
        if self.rejects.len() < KEPT_REJECTS {
            self.rejects.push((self.number, reject));
        }
        Ok(())
    }

    fn write(&mut self, line: &Line) -> Result<()> {
        if !self.files.contains_key(&line.table) {
            let path = self.path(&line.table);
            let file =
                File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
            self.files.insert(line.table.clone(), BufWriter::with_capacity(1 << 18, file));
        }
        let Some(file) = self.files.get_mut(&line.table) else { return Ok(()) };
        let (Line { rank, newest, n, .. }, sequence) = (line, self.sequence);
        // Precedence among rows of one record: by rank, then newest text, then reading order.
        let place = json!(format!("{rank}\u{1}{newest}\u{1}{sequence:020}"));
        write!(file, "{{\"_place\":{place},\"_rank\":{rank},\"_seq\":{sequence},\"_n\":{n},")?;
        file.write_all(&line.columns[1..])?;
        Ok(file.write_all(b"\n")?)
    }
}

impl Sink for StageWriter {
    fn record(&mut self, record: Record) {
        let (id, source) =
            (record.id.clone(), catalog::source(record.source).map_or(self.source, |s| s.key));
        match validate(&record).and_then(|source| lines(source, record)) {
            Ok(lines) => {
                self.push(Item::Record(source));
                lines.into_iter().for_each(|line| self.push(Item::Line(line)));
            }
            Err(reason) => self.push(Item::Reject { source, place: id, reason }),
        }
    }

    fn reject(&mut self, place: &str, reason: &str) {
        self.push(Item::Reject { source: self.source, place: place.into(), reason: reason.into() });
    }
}
