//! The staging area: every record is validated against the catalog and turned into rows of tables,
//! which `stage_writer` writes at once. Records are not kept in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use josh::catalog::wording::congress_on;
use josh::catalog::{self, Field, Kind, Source, SubResourceKind, ids};
use serde_json::{Map, Value, json};

use crate::formats::dates;
use crate::record::{Rank, Record};
use crate::stage_writer::StageWriter;
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
    /// Records of any source that its files gave.
    pub produced: u64,
}

/// DuckDB's JSON reader allocates buffers of this size, so it bounds memory. The largest official
/// section has a hundredth of it.
pub const MAX_STAGED_LINE: usize = 16 << 20;

/// Upper bound of what `_place`, `_rank`, `_seq` and `_n` add to a line.
const POSITION_BYTES: usize = 200;

/// Rejects kept for the report. All are counted, and written to the rejects file if there is one.
pub const KEPT_REJECTS: usize = 200;

/// What all threads staged.
pub struct Stage {
    /// The staged files of each table.
    tables: BTreeMap<String, Vec<PathBuf>>,
    /// The first rejects, in reading order.
    pub rejects: Vec<Reject>,
    /// Files with all rejects, one per thread, each in reading order.
    reject_files: Vec<PathBuf>,
    /// By source. Records count for their own source; files and unidentified rejects count for the
    /// source of the folder.
    pub counts: BTreeMap<&'static str, Counts>,
    /// Names of the files that no reader recognized.
    pub skipped: Vec<String>,
    /// Files taken from the cache.
    pub reused: usize,
    /// Size of the input.
    pub bytes: u64,
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
    /// Puts together what the threads staged, in reading order.
    pub fn join(folder: &Path, writers: Vec<StageWriter>, bytes: u64) -> Result<Stage> {
        let mut stage = Stage {
            tables: BTreeMap::new(),
            rejects: Vec::new(),
            reject_files: Vec::new(),
            counts: BTreeMap::new(),
            skipped: Vec::new(),
            reused: 0,
            bytes,
        };
        let (mut rejects, mut skipped) = (Vec::new(), Vec::new());
        for mut writer in writers {
            writer.flush()?;
            for table in writer.files.keys() {
                let path = writer.path(table);
                stage.tables.entry(table.clone()).or_default().push(path);
            }
            if writer.rejects_file.is_some() {
                stage.reject_files.push(rejects_path(folder, writer.thread));
            }
            for (source, counts) in writer.counts {
                stage.counts.entry(source).or_default().add(counts);
            }
            rejects.append(&mut writer.rejects);
            skipped.append(&mut writer.skipped);
            stage.reused += writer.reused;
        }
        rejects.sort_by_key(|(number, _)| *number);
        skipped.sort_by_key(|(number, _)| *number);
        stage.rejects = rejects.into_iter().map(|(_, reject)| reject).take(KEPT_REJECTS).collect();
        stage.skipped = skipped.into_iter().map(|(_, name)| name).collect();
        Ok(stage)
    }

    /// Writes every reject to a file, one JSON object per line, in reading order.
    pub fn write_rejects(&self, path: &Path) -> Result<()> {
        let context = || format!("cannot write {}", path.display());
        let mut out = BufWriter::new(File::create(path).with_context(context)?);
        let open = |path: &PathBuf| File::open(path).map(|file| BufReader::new(file).lines());
        let mut threads: Vec<_> =
            self.reject_files.iter().map(open).collect::<std::io::Result<_>>()?;
        let mut heads: Vec<Option<(usize, String)>> = Vec::new();
        for lines in &mut threads {
            heads.push(next_reject(lines)?);
        }
        loop {
            let first =
                heads.iter().enumerate().filter_map(|(n, head)| Some((head.as_ref()?.0, n)));
            let Some((_, first)) = first.min() else { break };
            if let Some((_, line)) = heads[first].take() {
                writeln!(out, "{line}").with_context(context)?;
            }
            heads[first] = next_reject(&mut threads[first])?;
        }
        out.flush().with_context(context)
    }

    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.counts.values().for_each(|counts| total.add(*counts));
        total
    }

    /// Deletes the staged files of a table.
    pub fn remove(&self, table: &str) -> Result<()> {
        Ok(self.paths(table).iter().try_for_each(std::fs::remove_file)?)
    }

    /// The staged files of a table; none if the table has no rows.
    pub fn paths(&self, table: &str) -> &[PathBuf] {
        self.tables.get(table).map_or(&[], Vec::as_slice)
    }
}

pub fn rejects_path(folder: &Path, thread: usize) -> PathBuf {
    folder.join(format!("rejects.{thread}"))
}

/// The next line of a thread's rejects: the number of the file, and the reject as JSON.
fn next_reject(lines: &mut std::io::Lines<impl BufRead>) -> Result<Option<(usize, String)>> {
    let Some(line) = lines.next().transpose()? else { return Ok(None) };
    let (number, reject) = line.split_once(' ').context("a reject without a number")?;
    Ok(Some((number.parse()?, reject.to_string())))
}

impl Counts {
    fn add(&mut self, more: Counts) {
        self.files += more.files;
        self.skipped += more.skipped;
        self.failed += more.failed;
        self.accepted += more.accepted;
        self.rejected += more.rejected;
        self.produced += more.produced;
    }
}

/// The rows of a record: in its source's table and in the tables of its sub-resources.
pub fn lines(source: &Source, record: Record) -> Result<Vec<Line>, String> {
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

/// Validates a record against the catalog. Returns its source, or what is wrong.
pub fn validate(record: &Record) -> Result<&'static Source, String> {
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
        Kind::Number => value.is_number(),
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
