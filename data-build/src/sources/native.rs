//! Josh's own text form, `SOURCE.josh.jsonl`: one record a line in the catalog's terms, with `rows` and `body`. The sample is
//! kept in it, and data that no official file has can be added with it.

use anyhow::{Context, Result};
use josh::catalog::{self, SubKind};
use serde_json::{Map, Value};

use crate::formats::json::{int_at, str_at};
use crate::input::Input;
use crate::record::{Rank, Record, Section, Sink};

const SUFFIX: &str = ".josh.jsonl";

/// The source whose records the file holds, if it is in this form.
pub fn source_of(input: &Input) -> Option<&'static str> {
    let key = input.unpacked_name().rsplit('/').next()?.strip_suffix(SUFFIX)?;
    catalog::source(key).map(|s| s.key)
}

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<()> {
    let key = source_of(input).context("not a file of records")?;
    for (number, line) in input.lines()? {
        let place = format!("line {number}");
        let parsed = line.and_then(|l| serde_json::from_str::<Map<String, Value>>(&l).map_err(|e| e.to_string()));
        match parsed.and_then(|fields| record(key, fields)) {
            Ok(record) => out.record(record),
            Err(reason) => out.reject(&place, &reason),
        }
    }
    Ok(())
}

fn record(key: &'static str, mut fields: Map<String, Value>) -> Result<Record, String> {
    let id = fields.remove("id").and_then(|v| v.as_str().map(str::to_string)).ok_or("it has no id")?;
    let mut record = Record::new(key, id, Rank::Full);
    let source = catalog::source(key).ok_or("there is no such source")?;
    if let Some(Value::Object(rows)) = fields.remove("rows") {
        for (name, rows) in rows {
            let sub = source.sub(&name).filter(|s| matches!(s.kind, SubKind::Rows(_)));
            let sub = sub.ok_or_else(|| format!("{key} has no rows called {name:?}"))?;
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
