//! `josh-data-build read`: what the readers find in official files, as JSON lines. No checks, no merging, no bundle.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Map, Value, json};

use crate::output::{note, say};
use crate::record::{Record, Sink};
use crate::{archive, build};

#[derive(Args)]
pub struct Read {
    /// Folder as `build` takes it
    #[arg(long, value_name = "FOLDER")]
    from: PathBuf,
    /// File to write, one record a line
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

struct Lines {
    out: BufWriter<File>,
    file: String,
    records: u64,
    rejected: u64,
    failure: Option<std::io::Error>,
}

impl Sink for Lines {
    fn record(&mut self, record: Record) {
        self.records += 1;
        if let Err(error) = write(&mut self.out, &record) {
            self.failure.get_or_insert(error);
        }
    }

    fn reject(&mut self, place: &str, reason: &str) {
        self.rejected += 1;
        note!("{} ({place}): {reason}", self.file);
    }
}

impl Read {
    pub fn run(&self) -> Result<()> {
        let out = File::create(&self.out).with_context(|| format!("cannot write {}", self.out.display()))?;
        let out = BufWriter::with_capacity(1 << 20, out);
        let mut lines = Lines { out, file: String::new(), records: 0, rejected: 0, failure: None };
        let mut read = |key: &str, input: &crate::input::Input| {
            lines.file.clone_from(&input.name);
            if let Err(error) = build::read(key, input, &mut lines) {
                lines.reject("the whole file", &format!("{error:#}"));
            }
        };
        for (key, input) in &build::inputs(&self.from)?.0 {
            match input.is_archive() {
                true => archive::each_member(input, |member| read(key, &member)).with_context(|| input.name.clone())?,
                false => read(key, input),
            }
        }
        lines.out.flush()?;
        if let Some(failure) = lines.failure {
            return Err(failure).with_context(|| format!("cannot write {}", self.out.display()));
        }
        say!("{} records, {} rejected", lines.records, lines.rejected);
        Ok(())
    }
}

/// Writes a record in the form that `SOURCE.josh.jsonl` has, with its source in front.
fn write(out: &mut impl Write, record: &Record) -> std::io::Result<()> {
    write!(out, "{{\"source\":{},\"id\":{}", json!(record.source), json!(record.id))?;
    for (name, value) in &record.fields {
        out.write_all(b",")?;
        serde_json::to_writer(&mut *out, name)?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, value)?;
    }
    let mut rows: BTreeMap<&str, Vec<&Map<String, Value>>> = BTreeMap::new();
    for (sub, row) in &record.rows {
        rows.entry(sub).or_default().push(row);
    }
    let sections = record.bodies.iter().flat_map(|body| {
        body.sections.iter().map(|s| {
            json!({ "version": body.version, "order": body.order, "section": s.section, "heading": s.heading, "level": s.level, "text": s.text })
        })
    });
    out.write_all(b",\"rows\":")?;
    serde_json::to_writer(&mut *out, &rows)?;
    out.write_all(b",\"body\":")?;
    serde_json::to_writer(&mut *out, &sections.collect::<Vec<_>>())?;
    out.write_all(b"}\n")
}
