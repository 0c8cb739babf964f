//! `josh-data-build read`: writes the records that readers find as JSON lines. No validation, no
//! merging, no bundle.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Map, Value, json};

use crate::input::Input;
use crate::layout::{InputFolder, SourceFile};
use crate::record::{Record, Sink};
use crate::stage::WHOLE_FILE;
use crate::{archive, ingest};
use josh::output::{note, say};

#[derive(Args)]
pub struct Read {
    #[command(flatten)]
    input: InputFolder,
    /// File to write, one record per line
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Writes records as they come. A write error is kept until all input is read.
struct RecordWriter {
    out: BufWriter<File>,
    file: String,
    records: u64,
    rejected: u64,
    failure: Option<std::io::Error>,
}

impl Sink for RecordWriter {
    fn record(&mut self, record: Record) {
        self.records += 1;
        if let Err(error) = write_record(&mut self.out, &record) {
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
        let files = self.input.layout()?.files;
        let out = File::create(&self.out)
            .with_context(|| format!("cannot write {}", self.out.display()))?;
        let out = BufWriter::with_capacity(1 << 20, out);
        let mut writer =
            RecordWriter { out, file: String::new(), records: 0, rejected: 0, failure: None };
        let mut read = |source: &str, input: &Input| {
            writer.file.clone_from(&input.name);
            if let Err(error) = ingest::read(source, input, &mut writer) {
                writer.reject(WHOLE_FILE, &format!("{error:#}"));
            }
        };
        for SourceFile { source, input } in &files {
            if !input.is_archive() {
                read(source, input);
                continue;
            }
            let members = archive::members(input).with_context(|| input.name.clone())?;
            let mut unpacker = archive::Unpacker::default();
            for member in &members.listed {
                read(source, &unpacker.unpack(input, member));
            }
            if let Some(reason) = members.stopped {
                bail!("{}: {reason}", input.name);
            }
        }
        writer.out.flush()?;
        if let Some(failure) = writer.failure {
            return Err(failure).with_context(|| format!("cannot write {}", self.out.display()));
        }
        say!("{} records, {} rejected", writer.records, writer.rejected);
        Ok(())
    }
}

/// Writes a record in the format of `SOURCE.josh.jsonl`, preceded by its source.
fn write_record(out: &mut impl Write, record: &Record) -> std::io::Result<()> {
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
            json!({
                "version": body.version, "order": body.order, "section": s.section,
                "heading": s.heading, "level": s.level, "text": s.text,
            })
        })
    });
    out.write_all(b",\"rows\":")?;
    serde_json::to_writer(&mut *out, &rows)?;
    out.write_all(b",\"body\":")?;
    serde_json::to_writer(&mut *out, &sections.collect::<Vec<_>>())?;
    out.write_all(b"}\n")
}
