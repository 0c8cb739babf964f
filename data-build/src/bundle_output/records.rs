//! Writes records and the rows of their sub-resources, in the bundle's order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Result;
use josh::bundle::{RecordsWriter, links_writer};
use josh::catalog::spec::{TEXT_STATUS, TextStatus};
use josh::catalog::{Field, Source, SubResourceKind};
use josh::policy::query::row_json;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::BundleOutput;
use super::stream::{Parents, each_batch, each_row, texts};
use crate::stage::MAX_STAGED_LINE;

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
            "CREATE OR REPLACE TABLE sorted AS SELECT row_number() OVER () - 1 AS ord, * \
             FROM (SELECT * FROM \"{table}\" ORDER BY {})",
            order.join(", ")
        ))?;
        let lines = self.folder.join(format!("{table}.final.ndjson"));
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&lines)?);
        let json = row_json(&columns);
        each_row(&self.tables.db, "sorted", &json, |ord, row| {
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
            write!(file, "{{\"ord\":{ord},")?;
            file.write_all(&data.as_bytes()[1..])?;
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

    /// Writes the tables of a source's sub-resources of rows, sorted like their parents, with the
    /// links to them. Returns the number of rows of each.
    pub(super) fn write_rows(
        &self,
        source: &Source,
        records: u64,
        links: &links_writer::Builder,
        hash: &mut Sha256,
    ) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        for sub in source.sub_resources {
            let SubResourceKind::Rows(columns) = sub.kind else { continue };
            let table = source.sub_table(sub.name);
            // All columns take part, so that the order never depends on DuckDB's threads.
            let ties = columns.iter().map(|c| format!("r.\"{}\"::VARCHAR", c.name));
            let ties: Vec<String> = ties.collect();
            self.write_sorted(&table, columns, &format!("r._seq, r._n, {}", ties.join(", ")))?;

            let other = self.tables.db.try_clone()?;
            let mut ids = other.prepare(&self.parents_sql(source))?;
            let mut parents = Parents::new(ids.stream_arrow([])?);
            let names = columns.iter().map(|column| column.name).collect();
            let mut rows = links.rows(source.key, sub.name, records, names);
            let (mut ord, mut id) = (0, String::new());
            let sql = format!("SELECT parent, {} FROM bundle.\"{table}\"", row_json(columns));
            each_batch(&self.tables.db, &sql, |batch| {
                let (owners, found) = (texts(batch, 0)?, texts(batch, 1)?);
                for at in 0..batch.num_rows() {
                    let (owner, row) = (owners.value(at), found.value(at));
                    if owner != id {
                        ord = parents.find(owner)?;
                        owner.clone_into(&mut id);
                    }
                    rows.add(ord as usize, Some(row))?;
                    for part in [owner, " ", row, "\n"] {
                        hash.update(part.as_bytes());
                    }
                }
                Ok(())
            })?;
            counts.insert(sub.name.to_string(), rows.finish()?);
        }
        Ok(counts)
    }

    /// Writes a table of rows to the bundle, in the order of their parents and then as `within`
    /// says.
    pub(super) fn write_sorted(&self, table: &str, columns: &[Field], within: &str) -> Result<()> {
        let names: Vec<String> = columns.iter().map(|c| format!("r.\"{}\"", c.name)).collect();
        self.tables.run(&format!(
            "CREATE TABLE bundle.\"{table}\" AS SELECT row_number() OVER () - 1 AS ord, * FROM \
             (SELECT r.parent, {} FROM \"{table}\" r JOIN sorted s ON s.id = r.parent \
              ORDER BY s.ord, {within})",
            names.join(", ")
        ))
    }

    /// Selects what `Parents` needs of a source's records.
    pub(super) fn parents_sql(&self, source: &Source) -> String {
        format!("SELECT id, \"{}\" FROM bundle.\"{}\"", source.title, source.table())
    }
}

/// Says in the citation of a record whose text is not the official one to the character that it
/// can't be quoted.
fn add_note(record: &Map<String, Value>, citation: &mut Value) {
    let status = record.get(TEXT_STATUS.name).and_then(Value::as_str);
    if let Some(status) = status.and_then(TextStatus::named) {
        citation["note"] = json!(status.note);
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
