//! Writes records and the rows of their sub-resources, in the bundle's order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Result;
use josh::bundle::RecordsWriter;
use josh::catalog::spec::{SUMMARY, SUMMARY_NOTE, TEXT_STATUS};
use josh::catalog::{Field, Source};
use josh::policy::query::row_json;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::BundleOutput;
use crate::stage::MAX_STAGED_LINE;
use crate::tables::row_columns;

impl BundleOutput<'_> {
    /// Writes a source's records in default order, with address, title and citation, to the table
    /// and to the records section. Calls `visit` with each.
    pub(super) fn write_records(
        &self,
        source: &Source,
        as_of: &str,
        store: &mut RecordsWriter<BufWriter<File>>,
        hash: &mut Sha256,
        mut visit: impl FnMut(u64, &Map<String, Value>),
    ) -> Result<()> {
        let table = source.table();
        let columns = source.columns();
        let mut order: Vec<String> = source
            .order
            .iter()
            .map(|(name, descending)| {
                format!("\"{name}\" {} NULLS LAST", if *descending { "DESC" } else { "ASC" })
            })
            .collect();
        order.extend(["length(id)".to_string(), "id".to_string()]);
        self.tables.run(&format!(
            "CREATE OR REPLACE TABLE sorted AS \
             SELECT row_number() OVER (ORDER BY {}) - 1 AS ord, * FROM \"{table}\"",
            order.join(", ")
        ))?;
        let lines = self.folder.join(format!("{table}.final.ndjson"));
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&lines)?);
        let json = row_json(&columns);
        self.each_row("sorted", &json, |ord, row| {
            let mut record: Map<String, Value> = serde_json::from_str(row)?;
            complete(source, &mut record);
            let mut citation = json!({
                "text": (source.cite)(&record), "url": record["url"], "as_of": as_of,
                "source": source.publisher,
            });
            add_note(&record, &mut citation);
            let id = record["id"].as_str().unwrap_or_default().to_string();
            let data = serde_json::to_string(&record)?;
            store.push(&id, &data, &citation.to_string())?;
            visit(ord, &record);
            hash.update(data.as_bytes());
            hash.update(b"\n");
            record.insert("ord".into(), json!(ord));
            serde_json::to_writer(&mut file, &record)?;
            Ok(file.write_all(b"\n")?)
        })?;
        file.flush()?;
        drop(file);
        let types: Vec<String> =
            columns.iter().map(|c| format!("\"{}\": '{}'", c.name, c.kind.sql())).collect();
        self.tables.run(&format!(
            "CREATE TABLE bundle.\"{table}\" AS SELECT * FROM \
             read_json('{}', format = 'newline_delimited', \
                       maximum_object_size = {MAX_STAGED_LINE}, \
                       columns = {{ord: 'BIGINT', {}}}) ORDER BY ord",
            lines.display().to_string().replace('\'', "''"),
            types.join(", ")
        ))?;
        std::fs::remove_file(lines)?;
        Ok(())
    }

    /// Writes the tables of a source's sub-resources, sorted like their parents. Returns the number
    /// of rows of each.
    pub(super) fn write_rows(
        &self,
        source: &Source,
        hash: &mut Sha256,
    ) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        for sub in source.sub_resources {
            let Some(columns) = row_columns(sub.kind) else { continue };
            let table = source.sub_table(sub.name);
            let within = if sub.name == "body" {
                "r.version_order, r.version, r._n"
            } else {
                "r._seq, r._n"
            };
            let names: Vec<String> = columns.iter().map(|c| format!("r.\"{}\"", c.name)).collect();
            let texts: Vec<String> = names.iter().map(|n| format!("{n}::VARCHAR")).collect();
            // All columns take part, so that the order never depends on DuckDB's threads.
            self.tables.run(&format!(
                "CREATE TABLE bundle.\"{table}\" AS \
                 SELECT row_number() OVER (ORDER BY s.ord, {within}, {ties}) - 1 AS ord, \
                   r.parent, {0} \
                 FROM \"{table}\" r JOIN sorted s ON s.id = r.parent ORDER BY ord",
                names.join(", "),
                ties = if sub.name == "body" { "1".to_string() } else { texts.join(", ") },
            ))?;
            let mut all = vec![Field::keyword("parent", "")];
            all.extend_from_slice(columns);
            let mut count = 0;
            self.each_row(&format!("bundle.\"{table}\""), &row_json(&all), |_, row| {
                count += 1;
                hash.update(row.as_bytes());
                hash.update(b"\n");
                Ok(())
            })?;
            counts.insert(sub.name.to_string(), count);
        }
        Ok(counts)
    }
}

/// Says in the citation of a record with a summary that its text can't be quoted.
fn add_note(record: &Map<String, Value>, citation: &mut Value) {
    if record.get(TEXT_STATUS.name).is_some_and(|status| status == SUMMARY) {
        citation["note"] = json!(SUMMARY_NOTE);
    }
}

/// Adds what every record must have: source, title and address.
fn complete(source: &Source, record: &mut Map<String, Value>) {
    record.insert("source".into(), json!(source.key));
    if record.get("url").is_none_or(|url| !url.as_str().is_some_and(|u| u.starts_with("https://")))
    {
        let url = (source.url)(record);
        record.insert("url".into(), json!(url));
    }
    if record.get(source.title).is_none_or(Value::is_null) {
        let title = (source.cite)(record);
        record.insert(source.title.into(), json!(title));
    }
}
