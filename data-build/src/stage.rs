//! The staging area: every record is validated against the catalog and written at once to one
//! NDJSON file per table. Records are not kept in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use josh::catalog::wording::congress_on;
use josh::catalog::{self, Field, Kind, Source, SubResourceKind, ids};
use serde_json::{Map, Value, json};

use crate::formats::dates;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};
use crate::record_cache::{EntryWriter, Item};
use crate::{amendatory, mentions};

/// The place of a reject that concerns the file as a whole.
pub const WHOLE_FILE: &str = "the whole file";

/// A record or a file that could not be read.
#[derive(Clone, Debug)]
pub struct Reject {
    pub file: String,
    pub place: String,
    pub reason: String,
}

/// Files and records of a source: files = read + skipped + failed, and found records = accepted +
/// rejected.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub files: u64,
    pub skipped: u64,
    /// Files that could not be read as a whole; each also counts as one reject.
    pub failed: u64,
    pub accepted: u64,
    pub rejected: u64,
}

/// DuckDB's JSON reader allocates buffers of this size, so it bounds memory. The largest official
/// section has a hundredth of it.
pub const MAX_STAGED_LINE: usize = 16 << 20;

/// Upper bound of what `_place`, `_rank`, `_seq` and `_n` add to a line.
const POSITION_BYTES: usize = 200;

/// Rejects kept for the report. All are counted, and written to the rejects file if there is one.
const KEPT_REJECTS: usize = 200;

pub struct Stage {
    folder: PathBuf,
    files: BTreeMap<String, BufWriter<File>>,
    /// The file being read, for reports.
    pub file: String,
    sequence: u64,
    pub rejects: Vec<Reject>,
    /// Gets every reject, one JSON object per line.
    rejects_file: Option<BufWriter<File>>,
    /// By source. Records count for their own source; files and unidentified rejects count for the
    /// source of the folder.
    pub counts: BTreeMap<&'static str, Counts>,
    /// The first write error. `finish` returns it; until then staging continues to count.
    failure: Option<anyhow::Error>,
    source: &'static str,
    /// Caches what the current file produces.
    cache_writer: Option<EntryWriter>,
}

/// One row of a table.
pub struct Line {
    pub table: String,
    pub rank: u8,
    /// The sort key of the record's newest text version.
    pub newest: String,
    pub n: u32,
    /// The columns as a JSON object. The position columns are inserted after its opening brace.
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
            cache_writer: None,
        }
    }

    /// Also writes every reject to a file.
    pub fn write_rejects_to(&mut self, path: &Path) -> Result<()> {
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        self.rejects_file = Some(BufWriter::new(file));
        Ok(())
    }

    /// Starts a file of a source.
    pub fn begin(&mut self, source: &'static str, file: &str, cache_writer: Option<EntryWriter>) {
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

    pub fn total(&self) -> Counts {
        self.counts.values().fold(Counts::default(), |sum, c| Counts {
            files: sum.files + c.files,
            skipped: sum.skipped + c.skipped,
            failed: sum.failed + c.failed,
            accepted: sum.accepted + c.accepted,
            rejected: sum.rejected + c.rejected,
        })
    }

    /// Closes the staged files.
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

    /// The staged file of a table, if the table has rows.
    pub fn path(&self, table: &str) -> Option<PathBuf> {
        let path = self.folder.join(format!("{table}.ndjson"));
        path.exists().then_some(path)
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
                self.counts.entry(source).or_default().accepted += 1;
            }
            Item::Line(line) => {
                if let Err(error) = self.write(&line) {
                    self.failure.get_or_insert(error);
                }
            }
            Item::Reject { source, place, reason } => {
                self.counts.entry(source).or_default().rejected += 1;
                self.add_reject(Reject { file: self.file.clone(), place, reason });
            }
            Item::Read => folder.files += 1,
            Item::Skipped => {
                (folder.files, folder.skipped) = (folder.files + 1, folder.skipped + 1)
            }
            Item::Failed => (folder.files, folder.failed) = (folder.files + 1, folder.failed + 1),
        }
    }

    fn add_reject(&mut self, reject: Reject) {
        if let Some(file) = &mut self.rejects_file {
            let line =
                json!({ "file": reject.file, "place": reject.place, "reason": reject.reason });
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
            let file =
                File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
            self.files.insert(line.table.clone(), BufWriter::with_capacity(1 << 18, file));
        }
        let Some(file) = self.files.get_mut(&line.table) else { return Ok(()) };
        let (Line { rank, newest, n, .. }, sequence) = (line, self.sequence);
        // Precedence among rows of one record: by rank, then newest text, then reading order.
        let place = json!(format!("{rank}\u{1}{newest}\u{1}{sequence:015}"));
        write!(file, "{{\"_place\":{place},\"_rank\":{rank},\"_seq\":{sequence},\"_n\":{n},")?;
        file.write_all(&line.columns[1..])?;
        Ok(file.write_all(b"\n")?)
    }
}

/// The rows of a record: in its source's table and in the tables of its sub-resources.
fn lines(source: &Source, record: Record) -> Result<Vec<Line>, String> {
    let (table, rank) = (source.table(), record.rank as u8);
    let newest =
        record.bodies.iter().map(|b| b.order.as_str()).max().unwrap_or_default().to_string();
    let mut lines = Vec::new();
    let mut add = |table: &str, rank: u8, n: usize, columns: &Map<String, Value>| {
        let text = serde_json::to_vec(columns).map_err(|e| e.to_string())?;
        if text.len() + POSITION_BYTES + newest.len() > MAX_STAGED_LINE {
            return Err(format!("a row of {table} longer than {} MiB", MAX_STAGED_LINE >> 20));
        }
        lines.push(Line {
            table: table.to_string(),
            rank,
            newest: newest.clone(),
            n: n as u32,
            columns: text,
        });
        Ok(())
    };
    let with_id = |key: &str| Map::from_iter([(key.to_string(), json!(record.id))]);
    let mut own = with_id("id");
    own.extend(record.fields);
    add(&table, rank, 0, &own)?;
    for (n, (sub, row)) in record.rows.into_iter().enumerate() {
        let mut columns = with_id("parent");
        columns.extend(row);
        add(&source.sub_table(sub), rank, n, &columns)?;
    }
    let cited_bills = cited_bills(source, &own);
    let (text_table, can_amend) =
        (source.sub_table("body"), amendatory::SOURCES.contains(&source.key));
    for body in record.bodies {
        for (n, section) in body.sections.into_iter().enumerate() {
            for (mentions_table, found) in [
                ("bills_mentions", cited_bills(&section.text)),
                ("public_laws_mentions", mentions::laws(&section.text)),
            ] {
                for target in found.into_iter().filter(|target| *target != record.id) {
                    let columns = json!({
                        "parent": target, "source": source.key, "record_id": record.id,
                        "found_in": format!("text {}", section.section).trim_end(),
                    });
                    // Always partial, so that mentions from several records add up.
                    add(
                        mentions_table,
                        Rank::Partial as u8,
                        n,
                        columns.as_object().unwrap_or(&Map::new()),
                    )?;
                }
            }
            let (is_amendatory, amends) =
                if can_amend { amendatory::amends(&section.text) } else { (false, Vec::new()) };
            let columns = json!({
                "parent": record.id, "version": body.version, "version_order": body.order,
                "section": section.section, "heading": section.heading, "level": section.level,
                "text": section.text, "is_amendatory": is_amendatory, "amends": amends,
            });
            add(&text_table, rank, n, columns.as_object().unwrap_or(&Map::new()))?;
        }
    }
    Ok(lines)
}

/// How the bills in a record's text are found. A document of a congress means its own bills; any
/// other may look back from its date. A text that was current on a day may be of any time before.
fn cited_bills(source: &Source, fields: &Map<String, Value>) -> impl Fn(&str) -> Vec<String> {
    let own = fields.get("congress").and_then(Value::as_i64);
    let written = source.main_date.filter(|date| *date != "as_of").and_then(|d| fields.get(d));
    let then = written.and_then(Value::as_str).and_then(congress_on);
    move |text| match own {
        Some(_) => mentions::bills(text, own),
        None => mentions::bills_looking_back(text, then),
    }
}

impl Sink for Stage {
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

/// Validates a record against the catalog. Returns its source, or what is wrong.
fn validate(record: &Record) -> Result<&'static Source, String> {
    let source = catalog::source(record.source)
        .ok_or_else(|| format!("unknown source {:?}", record.source))?;
    if ids::canonical(source.key, &record.id).as_deref() != Some(record.id.as_str()) {
        return Err(format!("{:?} is not a canonical id of {}", record.id, source.key));
    }
    validate_fields(&source.columns(), &record.fields)?;
    for (sub, row) in &record.rows {
        match source.sub_resource(sub).map(|s| s.kind) {
            Some(SubResourceKind::Rows(columns)) => {
                validate_fields(columns, row).map_err(|e| format!("{sub}: {e}"))?
            }
            _ => return Err(format!("{} has no sub-resource {sub:?} of rows", source.key)),
        }
    }
    if !record.bodies.is_empty() && !source.shape.has_body() {
        return Err(format!("records of {} have no body", source.key));
    }
    Ok(source)
}

fn validate_fields(columns: &[Field], fields: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in fields {
        let column = columns
            .iter()
            .find(|c| c.name == name)
            .ok_or_else(|| format!("unknown field {name:?}"))?;
        if !value.is_null() && !has_kind(value, column.kind) {
            let shown: String = value.to_string().chars().take(60).collect();
            return Err(format!("{name} must be of type {}; got {shown}", column.kind.name()));
        }
    }
    Ok(())
}

fn has_kind(value: &Value, kind: Kind) -> bool {
    let all = |test: &dyn Fn(&str) -> bool| {
        value.as_array().is_some_and(|items| items.iter().all(|i| i.as_str().is_some_and(test)))
    };
    let is_id =
        |source: &'static str, text: &str| ids::canonical(source, text).as_deref() == Some(text);
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
    fn a_record_that_violates_the_catalog_is_rejected_with_the_reason() {
        let result = |id: &str, name: &str, value: Value| {
            let mut record = Record::new("bills", id, Rank::Full);
            record.set(name, value);
            validate(&record).map(|s| s.key)
        };
        assert_eq!(result("hr:119:1", "congress", json!(119)), Ok("bills"));
        for (id, name, value, why) in [
            ("HR 1", "congress", json!(119), "canonical"),
            ("hr:119:1", "congress", json!("119"), "congress"),
            ("hr:119:1", "introduced_date", json!("2025-02-30"), "introduced_date"),
            ("hr:119:1", "sponsor", json!("nobody"), "sponsor"),
            ("hr:119:1", "sponser", json!("A000001"), "sponser"),
        ] {
            assert!(result(id, name, value).unwrap_err().contains(why), "{why}");
        }
        let mut record = Record::new("bills", "hr:119:1", Rank::Full);
        record.row("votes", json!({}));
        assert!(validate(&record).unwrap_err().contains("votes"));
    }
}
