//! `josh-data-build read`: what the readers find in official files, as JSON lines. No checks, no merging, no bundle.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Map, Value, json};

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
        if let Err(error) = serde_json::to_writer(&mut self.out, &line(record))
            .map_err(Into::into)
            .and_then(|()| self.out.write_all(b"\n"))
        {
            self.failure.get_or_insert(error);
        }
    }

    fn reject(&mut self, place: &str, reason: &str) {
        self.rejected += 1;
        eprintln!("{} ({place}): {reason}", self.file);
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
        println!("{} records, {} rejected", lines.records, lines.rejected);
        Ok(())
    }
}

/// A record in the form that `SOURCE.josh.jsonl` has, with its source in front.
fn line(record: Record) -> Value {
    let mut line = Map::new();
    line.insert("source".into(), json!(record.source));
    line.insert("id".into(), json!(record.id));
    line.extend(record.fields);
    let mut rows: Map<String, Value> = Map::new();
    for (sub, row) in record.rows {
        if let Value::Array(list) = rows.entry(sub).or_insert_with(|| json!([])) {
            list.push(Value::Object(row));
        }
    }
    line.insert("rows".into(), Value::Object(rows));
    let sections = record.bodies.into_iter().flat_map(|body| {
        body.sections.into_iter().map(move |s| {
            json!({ "version": body.version, "order": body.order, "section": s.section, "heading": s.heading, "level": s.level, "text": s.text })
        })
    });
    line.insert("body".into(), sections.collect());
    Value::Object(line)
}
