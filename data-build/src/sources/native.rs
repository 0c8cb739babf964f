//! Josh's own text format, `SOURCE.josh.jsonl`: one record per line in the catalog's terms, with
//! sub-resources in `rows` and text in `body`. The sample is stored in it; users can add records
//! that no official file contains. README.md documents it.

use anyhow::{Context, Result};
use josh::catalog::{self, SubResourceKind};
use serde_json::{Map, Value};

use crate::formats::json::{int_at, str_at};
use crate::input::Input;
use crate::record::{Rank, Record, Section, Sink};

pub const SUFFIX: &str = ".josh.jsonl";

/// The source of the file's records, if it is in this format.
pub fn source_of(input: &Input) -> Option<&'static str> {
    let key = input.uncompressed_name().rsplit('/').next()?.strip_suffix(SUFFIX)?;
    catalog::source(key).map(|s| s.key)
}

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<()> {
    let key = source_of(input).context("not a SOURCE.josh.jsonl file")?;
    for (number, line) in input.lines()? {
        let place = format!("line {number}");
        let parsed = line.and_then(|l| {
            serde_json::from_str::<Map<String, Value>>(&l).map_err(|e| e.to_string())
        });
        match parsed.and_then(|fields| record(key, fields)) {
            Ok(record) => out.record(record),
            Err(reason) => out.reject(&place, &reason),
        }
    }
    Ok(())
}

fn record(key: &'static str, mut fields: Map<String, Value>) -> Result<Record, String> {
    let id = fields.remove("id").and_then(|v| v.as_str().map(str::to_string)).ok_or("no id")?;
    let mut record = Record::new(key, id, Rank::Full);
    let source = catalog::source(key).ok_or("unknown source")?;
    if let Some(Value::Object(rows)) = fields.remove("rows") {
        for (name, rows) in rows {
            let sub =
                source.sub_resource(&name).filter(|s| matches!(s.kind, SubResourceKind::Rows(_)));
            let sub = sub.ok_or_else(|| format!("{key} has no sub-resource {name:?} of rows"))?;
            for row in rows.as_array().into_iter().flatten() {
                record.row(sub.name, row.clone());
            }
        }
    }
    for part in fields.remove("body").as_ref().and_then(Value::as_array).into_iter().flatten() {
        let (version, order) = (str_at(part, &["version"]), str_at(part, &["order"]));
        let section = Section {
            section: str_at(part, &["section"]),
            heading: str_at(part, &["heading"]),
            level: int_at(part, &["level"]).unwrap_or(1),
            text: str_at(part, &["text"]),
        };
        match record.bodies.iter_mut().find(|b| b.version == version) {
            Some(body) => body.sections.push(section),
            None => drop(record.body(&version, &order, vec![section])),
        }
    }
    record.fields = fields;
    Ok(record)
}
