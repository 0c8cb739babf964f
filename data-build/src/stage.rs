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
use crate::record::{Rank, Record, Sink};
use crate::{amendatory, mentions};

/// A record, or a file, that could not be read.
#[derive(Clone, Debug)]
pub struct Reject {
    pub file: String,
    pub place: String,
    pub reason: String,
}

/// DuckDB's JSON reader holds buffers of this size, so it bounds memory; the largest official section is a hundredth of it.
pub const LONGEST_LINE: usize = 16 << 20;

/// Reports keep this many rejects in full; all are counted.
const KEPT_REJECTS: usize = 200;

pub struct Stage {
    folder: PathBuf,
    files: BTreeMap<String, BufWriter<File>>,
    /// The file being read, for reports.
    pub file: String,
    sequence: u64,
    pub rejects: Vec<Reject>,
    /// Rejects by source, all of them.
    pub rejected: BTreeMap<&'static str, u64>,
    pub accepted: u64,
    /// The first failure to write; staging goes on counting and the build then stops with it.
    failure: Option<anyhow::Error>,
    source: &'static str,
}

impl Stage {
    pub fn new(folder: &Path) -> Stage {
        Stage {
            folder: folder.to_path_buf(),
            files: BTreeMap::new(),
            file: String::new(),
            sequence: 0,
            rejects: Vec::new(),
            rejected: BTreeMap::new(),
            accepted: 0,
            failure: None,
            source: "",
        }
    }

    /// Says which file of which source comes next.
    pub fn begin(&mut self, source: &'static str, file: &str) {
        self.source = source;
        self.file = file.to_string();
    }

    /// Closes the files; every table that got something has one.
    pub fn finish(&mut self) -> Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure.context("cannot write the staged records"));
        }
        for (_, mut file) in std::mem::take(&mut self.files) {
            file.flush()?;
        }
        Ok(())
    }

    /// The staged file of a table, if anything was staged for it.
    pub fn path(&self, table: &str) -> Option<PathBuf> {
        let path = self.folder.join(format!("{table}.ndjson"));
        path.exists().then_some(path)
    }

    fn write(&mut self, table: &str, line: &Map<String, Value>) -> Result<()> {
        let file = match self.files.entry(table.to_string()) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let path = self.folder.join(format!("{table}.ndjson"));
                let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
                entry.insert(BufWriter::with_capacity(1 << 18, file))
            }
        };
        let mut text = serde_json::to_vec(line)?;
        anyhow::ensure!(text.len() < LONGEST_LINE, "{}: a row of {table} longer than {LONGEST_LINE} bytes", self.file);
        text.push(b'\n');
        Ok(file.write_all(&text)?)
    }

    fn store(&mut self, source: &'static Source, record: Record) -> Result<()> {
        self.sequence += 1;
        self.accepted += 1;
        let (table, rank, sequence) = (source.table(), record.rank as u8, self.sequence);
        // Where this stands among what is said of one record: rank first, then how new its text is, then when it was read.
        let newest = record.bodies.iter().map(|b| b.order.as_str()).max().unwrap_or_default();
        let standing = format!("{rank}\u{1}{newest}\u{1}{sequence:015}");
        let place = |n: usize| {
            let mut line = Map::new();
            line.insert("_place".into(), json!(standing));
            line.insert("_rank".into(), json!(rank));
            line.insert("_seq".into(), json!(sequence));
            line.insert("_n".into(), json!(n));
            line
        };
        let mut line = place(0);
        line.insert("id".into(), json!(record.id));
        line.extend(record.fields);
        self.write(&table, &line)?;
        for (n, (sub, row)) in record.rows.into_iter().enumerate() {
            let mut line = place(n);
            line.insert("parent".into(), json!(record.id));
            line.extend(row);
            self.write(&source.sub_table(sub), &line)?;
        }
        let date = source.main_date.and_then(|date| line.get(date)).and_then(Value::as_str).map(str::to_string);
        let congress = line.get("congress").and_then(Value::as_i64).or_else(|| congress_on(&date?));
        for body in record.bodies {
            for (n, section) in body.sections.into_iter().enumerate() {
                for (named_in, named) in [
                    ("bills_mentions", mentions::bills(&section.text, congress)),
                    ("public_laws_mentions", mentions::laws(&section.text)),
                ] {
                    for target in named.into_iter().filter(|target| *target != record.id) {
                        let mut line = place(n);
                        // What names a record adds up, whoever says it.
                        line.insert("_rank".into(), json!(Rank::Partial as u8));
                        line.insert("parent".into(), json!(target));
                        line.insert("source".into(), json!(source.key));
                        line.insert("record_id".into(), json!(record.id));
                        line.insert("found_in".into(), json!(format!("text {}", section.section).trim_end()));
                        self.write(named_in, &line)?;
                    }
                }
                let mut line = place(n);
                let (is_amendatory, amends) = match amendatory::SOURCES.contains(&source.key) {
                    true => amendatory::amends(&section.text),
                    false => (false, Vec::new()),
                };
                let columns = json!({
                    "parent": record.id, "version": body.version, "version_order": body.order,
                    "section": section.section, "heading": section.heading, "level": section.level, "text": section.text,
                    "is_amendatory": is_amendatory, "amends": amends,
                });
                if let Value::Object(columns) = columns {
                    line.extend(columns);
                }
                self.write(&source.sub_table("body"), &line)?;
            }
        }
        Ok(())
    }
}

impl Sink for Stage {
    fn record(&mut self, record: Record) {
        let id = record.id.clone();
        match check(&record) {
            Ok(source) => {
                if let Err(error) = self.store(source, record) {
                    self.failure.get_or_insert(error);
                }
            }
            Err(reason) => self.reject(&id, &reason),
        }
    }

    fn reject(&mut self, place: &str, reason: &str) {
        *self.rejected.entry(self.source).or_default() += 1;
        if self.rejects.len() < KEPT_REJECTS {
            let reject = Reject { file: self.file.clone(), place: place.into(), reason: reason.into() };
            self.rejects.push(reject);
        }
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
