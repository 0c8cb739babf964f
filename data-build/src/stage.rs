//! The first stop of every record: checked against the catalog and written, as it comes, to one NDJSON file a table.
//! Nothing is held in memory, whatever the size of the input.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use josh::catalog::wording::congress_on;
use josh::catalog::{self, Field, Kind, Source, SubKind, ids};
use serde_json::{Map, Value, json};

use crate::formats::dates;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};
use crate::record_cache::{Item, Keeper};
use crate::{amendatory, mentions};

/// A record, or a file, that could not be read.
#[derive(Clone, Debug)]
pub struct Reject {
    pub file: String,
    pub place: String,
    pub reason: String,
}

/// What became of a source's files and records: files = read + skipped + failed, and records handed over = accepted + rejected.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub files: u64,
    pub skipped: u64,
    /// Files that could not be read as a whole; each is one of the rejected, too.
    pub failed: u64,
    pub accepted: u64,
    pub rejected: u64,
}

/// DuckDB's JSON reader holds buffers of this size, so it bounds memory; the largest official section is a hundredth of it.
pub const LONGEST_LINE: usize = 16 << 20;

/// What `_place` and its neighbours add to a line.
const PLACED: usize = 200;

/// Reports keep this many rejects in full; all are counted, and written where a file is given for them.
const KEPT_REJECTS: usize = 200;

pub struct Stage {
    folder: PathBuf,
    files: BTreeMap<String, BufWriter<File>>,
    /// The file being read, for reports.
    pub file: String,
    sequence: u64,
    pub rejects: Vec<Reject>,
    /// Gets every reject, one JSON object a line.
    rejects_file: Option<BufWriter<File>>,
    /// By source. Files and what can't be told a record count for the source of the folder, records for their own.
    pub counts: BTreeMap<&'static str, Counts>,
    /// The first failure to write; staging goes on counting and the build then stops with it.
    failure: Option<anyhow::Error>,
    source: &'static str,
    /// Where what is staged of this file is kept for the next build.
    keeper: Option<Keeper>,
}

/// One line on its way into a table.
pub struct Line {
    pub table: String,
    pub rank: u8,
    /// How new the record's text is.
    pub newest: String,
    pub n: u32,
    /// The columns as a JSON object; what places the line is put in behind its opening brace.
    pub columns: Vec<u8>,
}

impl Stage {
    pub fn new(folder: &Path) -> Stage {
        Stage {
            folder: folder.to_path_buf(),
            files: BTreeMap::new(),
            file: String::new(),
            sequence: 0,
            rejects: Vec::new(),
            rejects_file: None,
            counts: BTreeMap::new(),
            failure: None,
            source: "",
            keeper: None,
        }
    }

    /// Has every reject written to a file, too.
    pub fn write_rejects_to(&mut self, path: &Path) -> Result<()> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        self.rejects_file = Some(BufWriter::new(file));
        Ok(())
    }

    /// Says which file of which source comes next, and where what is staged of it is to be kept.
    pub fn begin(&mut self, source: &'static str, file: &str, keeper: Option<Keeper>) {
        self.source = source;
        self.file = file.to_string();
        self.keeper = keeper;
    }

    /// Says what became of the file.
    pub fn end(&mut self, outcome: Result<Outcome>) {
        if let Err(error) = &outcome {
            self.reject("the whole file", &format!("{error:#}"));
        }
        let item = match outcome {
            Ok(Outcome::Read) => Item::Read,
            Ok(Outcome::Skipped) => Item::Skipped,
            Err(_) => Item::Failed,
        };
        self.take(item);
        if let Some(keeper) = self.keeper.take() {
            keeper.finish();
        }
    }

    pub fn total(&self) -> Counts {
        self.counts.values().fold(Counts::default(), |sum, c| Counts {
            files: sum.files + c.files,
            skipped: sum.skipped + c.skipped,
            failed: sum.failed + c.failed,
            accepted: sum.accepted + c.accepted,
            rejected: sum.rejected + c.rejected,
        })
    }

    /// Closes the files; every table that got something has one.
    pub fn finish(&mut self) -> Result<()> {
        for file in std::mem::take(&mut self.files).values_mut().chain(&mut self.rejects_file) {
            if let Err(error) = file.flush() {
                self.failure.get_or_insert(error.into());
            }
        }
        match self.failure.take() {
            Some(failure) => Err(failure.context("cannot write the staged records")),
            None => Ok(()),
        }
    }

    /// The staged file of a table, if anything was staged for it.
    pub fn path(&self, table: &str) -> Option<PathBuf> {
        let path = self.folder.join(format!("{table}.ndjson"));
        path.exists().then_some(path)
    }

    /// Takes what a reader found, or what was kept of it.
    pub fn take(&mut self, item: Item) {
        if let Some(keeper) = &mut self.keeper {
            keeper.keep(&item);
        }
        let folder = self.counts.entry(self.source).or_default();
        match item {
            Item::Record(source) => {
                self.sequence += 1;
                self.counts.entry(source).or_default().accepted += 1;
            }
            Item::Line(line) => {
                if let Err(error) = self.write(&line) {
                    self.failure.get_or_insert(error);
                }
            }
            Item::Reject { source, place, reason } => {
                self.counts.entry(source).or_default().rejected += 1;
                self.note_reject(Reject { file: self.file.clone(), place, reason });
            }
            Item::Read => folder.files += 1,
            Item::Skipped => (folder.files, folder.skipped) = (folder.files + 1, folder.skipped + 1),
            Item::Failed => (folder.files, folder.failed) = (folder.files + 1, folder.failed + 1),
        }
    }

    fn note_reject(&mut self, reject: Reject) {
        if let Some(file) = &mut self.rejects_file {
            let line = json!({ "file": reject.file, "place": reject.place, "reason": reject.reason });
            if let Err(error) = writeln!(file, "{line}") {
                self.failure.get_or_insert(error.into());
            }
        }
        if self.rejects.len() < KEPT_REJECTS {
            self.rejects.push(reject);
        }
    }

    fn write(&mut self, line: &Line) -> Result<()> {
        if !self.files.contains_key(&line.table) {
            let path = self.folder.join(format!("{}.ndjson", line.table));
            let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
            self.files.insert(line.table.clone(), BufWriter::with_capacity(1 << 18, file));
        }
        let Some(file) = self.files.get_mut(&line.table) else { return Ok(()) };
        let (Line { rank, newest, n, .. }, sequence) = (line, self.sequence);
        // Where this stands among what is said of one record: rank first, then how new its text is, then when it was read.
        let standing = json!(format!("{rank}\u{1}{newest}\u{1}{sequence:015}"));
        write!(file, "{{\"_place\":{standing},\"_rank\":{rank},\"_seq\":{sequence},\"_n\":{n},")?;
        file.write_all(&line.columns[1..])?;
        Ok(file.write_all(b"\n")?)
    }
}

/// What a record comes to: lines of its own table and of those that hang on it.
fn lines(source: &Source, record: Record) -> Result<Vec<Line>, String> {
    let (table, rank) = (source.table(), record.rank as u8);
    let newest = record.bodies.iter().map(|b| b.order.as_str()).max().unwrap_or_default().to_string();
    let mut lines = Vec::new();
    let mut add = |table: &str, rank: u8, n: usize, columns: &Map<String, Value>| {
        let text = serde_json::to_vec(columns).map_err(|e| e.to_string())?;
        if text.len() + PLACED + newest.len() > LONGEST_LINE {
            return Err(format!("a row of {table} longer than {} MiB", LONGEST_LINE >> 20));
        }
        lines.push(Line { table: table.to_string(), rank, newest: newest.clone(), n: n as u32, columns: text });
        Ok(())
    };
    let named = |key: &str| Map::from_iter([(key.to_string(), json!(record.id))]);
    let mut own = named("id");
    own.extend(record.fields);
    add(&table, rank, 0, &own)?;
    for (n, (sub, row)) in record.rows.into_iter().enumerate() {
        let mut columns = named("parent");
        columns.extend(row);
        add(&source.sub_table(sub), rank, n, &columns)?;
    }
    let date = source.main_date.and_then(|date| own.get(date)).and_then(Value::as_str).map(str::to_string);
    let congress = own.get("congress").and_then(Value::as_i64).or_else(|| congress_on(&date?));
    let (text_table, amends_law) = (source.sub_table("body"), amendatory::SOURCES.contains(&source.key));
    for body in record.bodies {
        for (n, section) in body.sections.into_iter().enumerate() {
            for (named_in, found) in [
                ("bills_mentions", mentions::bills(&section.text, congress)),
                ("public_laws_mentions", mentions::laws(&section.text)),
            ] {
                for target in found.into_iter().filter(|target| *target != record.id) {
                    let columns = json!({
                        "parent": target, "source": source.key, "record_id": record.id,
                        "found_in": format!("text {}", section.section).trim_end(),
                    });
                    // What names a record adds up, whoever says it.
                    add(named_in, Rank::Partial as u8, n, columns.as_object().unwrap_or(&Map::new()))?;
                }
            }
            let (is_amendatory, amends) =
                if amends_law { amendatory::amends(&section.text) } else { (false, Vec::new()) };
            let columns = json!({
                "parent": record.id, "version": body.version, "version_order": body.order,
                "section": section.section, "heading": section.heading, "level": section.level, "text": section.text,
                "is_amendatory": is_amendatory, "amends": amends,
            });
            add(&text_table, rank, n, columns.as_object().unwrap_or(&Map::new()))?;
        }
    }
    Ok(lines)
}

impl Sink for Stage {
    fn record(&mut self, record: Record) {
        let (id, source) = (record.id.clone(), catalog::source(record.source).map_or(self.source, |s| s.key));
        match check(&record).and_then(|source| lines(source, record)) {
            Ok(lines) => {
                self.take(Item::Record(source));
                lines.into_iter().for_each(|line| self.take(Item::Line(line)));
            }
            Err(reason) => self.take(Item::Reject { source, place: id, reason }),
        }
    }

    fn reject(&mut self, place: &str, reason: &str) {
        self.take(Item::Reject { source: self.source, place: place.into(), reason: reason.into() });
    }
}

/// Whether a record fits the catalog; the source it belongs to, or what does not fit.
fn check(record: &Record) -> Result<&'static Source, String> {
    let source = catalog::source(record.source).ok_or_else(|| format!("there is no source {:?}", record.source))?;
    if ids::canonical(source.key, &record.id).as_deref() != Some(record.id.as_str()) {
        return Err(format!("{:?} is not a canonical id of {}", record.id, source.key));
    }
    check_fields(&source.columns(), &record.fields)?;
    for (sub, row) in &record.rows {
        match source.sub(sub).map(|s| s.kind) {
            Some(SubKind::Rows(columns)) => check_fields(columns, row).map_err(|e| format!("{sub}: {e}"))?,
            _ => return Err(format!("{} has no rows called {sub}", source.key)),
        }
    }
    if !record.bodies.is_empty() && !source.shape.has_body() {
        return Err(format!("{} carry no text", source.key));
    }
    Ok(source)
}

fn check_fields(columns: &[Field], fields: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in fields {
        let column = columns.iter().find(|c| c.name == name).ok_or_else(|| format!("there is no field {name:?}"))?;
        if !value.is_null() && !fits(column.kind, value) {
            let shown: String = value.to_string().chars().take(60).collect();
            return Err(format!("{name} is a {}, and {shown} does not fit", column.kind.name()));
        }
    }
    Ok(())
}

fn fits(kind: Kind, value: &Value) -> bool {
    let all = |test: &dyn Fn(&str) -> bool| {
        value.as_array().is_some_and(|items| items.iter().all(|i| i.as_str().is_some_and(test)))
    };
    let is_id = |source: &'static str, text: &str| ids::canonical(source, text).as_deref() == Some(text);
    match kind {
        Kind::Text | Kind::Keyword => value.is_string(),
        Kind::Keywords => all(&|_| true),
        Kind::Id(source) => value.as_str().is_some_and(|text| is_id(source, text)),
        Kind::Ids(source) => all(&|text| is_id(source, text)),
        Kind::Int => value.is_i64(),
        Kind::Bool => value.is_boolean(),
        Kind::Date => value.as_str().is_some_and(|text| dates::iso(text).as_deref() == Some(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_does_not_fit_the_catalog_is_rejected_with_its_reason() {
        let reason = |id: &str, name: &str, value: Value| {
            let mut record = Record::new("bills", id, Rank::Full);
            record.set(name, value);
            check(&record).map(|s| s.key)
        };
        assert_eq!(reason("hr:119:1", "congress", json!(119)), Ok("bills"));
        for (id, name, value, why) in [
            ("HR 1", "congress", json!(119), "canonical"),
            ("hr:119:1", "congress", json!("119"), "congress"),
            ("hr:119:1", "introduced_date", json!("2025-02-30"), "introduced_date"),
            ("hr:119:1", "sponsor", json!("nobody"), "sponsor"),
            ("hr:119:1", "sponser", json!("A000001"), "sponser"),
        ] {
            assert!(reason(id, name, value).unwrap_err().contains(why), "{why}");
        }
        let mut record = Record::new("bills", "hr:119:1", Rank::Full);
        record.row("votes", json!({}));
        assert!(check(&record).unwrap_err().contains("votes"));
    }
}
