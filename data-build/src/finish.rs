//! The last step: tables in their final order, every record as prepared JSON with its citation, a hash of it all, one file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use josh::bundle::format::{FORMAT, SectionKind};
use josh::bundle::{FieldFacts, Manifest, RecordsWriter, SourceFacts, links, names, writer};
use josh::catalog::names::names_of;
use josh::catalog::{Field, Kind, SOURCES, Shape, Source, SubKind};
use josh::embed::FILE_NAMES;
use josh::query::row_json;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::embedding::Embedding;
use crate::progress;
use crate::record::Section;
use crate::stage::LONGEST_LINE;
use crate::tables::{Tables, row_columns};
use crate::texts::Texts;

/// Rows fetched at a time: what bounds memory while everything passes by.
const BATCH: u64 = 5_000;

/// A keyword with more different values than this has no list of them.
const MOST_VALUES: usize = 100;

/// Sources whose main date lies ahead of the data: they do not say how new the data are.
const LOOKS_AHEAD: &[&str] = &["hearings"];

pub struct Finish<'a> {
    pub tables: &'a Tables,
    pub folder: &'a Path,
    pub as_of: Option<String>,
    pub data_version: Option<String>,
    pub embedding: Option<&'a Embedding>,
}

impl Finish<'_> {
    /// Writes the bundle and gives its manifest back.
    pub fn write(&self, out: &Path) -> Result<Manifest> {
        let sources = self.sources_with_records()?;
        let as_of = match &self.as_of {
            Some(day) => day.clone(),
            None => self.newest_day(&sources)?,
        };
        let steps = progress::spinner("writing records");
        let (database, records) = (self.folder.join("bundle.duckdb"), self.folder.join("records"));
        let attach = database.display().to_string().replace('\'', "''");
        self.tables.run(&format!("ATTACH '{attach}' AS bundle"))?;
        let mut hash = Sha256::new();
        let model = self.embedding.map(Embedding::facts);
        hash.update(format!("josh {FORMAT} {as_of} {}\n", self.data_version.as_deref().unwrap_or_default()));
        if let (Some(embedding), Some(model)) = (self.embedding, &model) {
            hash.update(format!("{} {}\n", model.sha256, embedding.sources.join(" ")));
        }
        let mut store = RecordsWriter::new(BufWriter::with_capacity(1 << 20, File::create(&records)?))?;
        let mut facts: Vec<SourceFacts> = Vec::new();
        let mut texts = Texts::new(self.folder, self.embedding)?;
        let mut names = names::Builder::default();
        for source in &sources {
            let first: u64 = facts.iter().map(|f| f.records).sum();
            self.write_records(source, &as_of, &mut store, &mut hash, |ord, record| {
                if source.shape == Shape::Registry {
                    for (kind, name) in names_of(source, record) {
                        names.add(source.key, (first + ord) as u32, kind, &name);
                    }
                }
            })?;
            let rows = self.write_rows(source, &mut hash)?;
            let mut of_source = self.facts(source, rows)?;
            if source.shape.has_body() {
                (of_source.passages, of_source.vectors) = self.add_texts(source, first, &mut texts)?;
            }
            facts.push(of_source);
        }
        let linked = self.folder.join("links.section");
        self.links(&facts)?.finish(&linked)?;
        store.finish()?.into_inner().map_err(|e| e.into_error())?.sync_all()?;
        self.tables.run("CHECKPOINT bundle; DETACH bundle")?;
        steps.finish_and_clear();
        let sections = texts.finish(facts.iter().map(|f| f.records).sum())?;
        let named = self.folder.join("names.section");
        names.finish(&self.folder.join("names"), &named)?;
        let manifest = Manifest {
            format: FORMAT,
            id: writer::hex(&hash.finalize()[..16]),
            data_version: self.data_version.clone().unwrap_or_else(|| as_of.clone()),
            as_of,
            built_by: format!("josh-data-build {}", env!("CARGO_PKG_VERSION")),
            congresses: self.congresses()?,
            sources: facts,
            model,
            sections: Vec::new(),
            signature: None,
        };
        let mut parts = vec![
            (SectionKind::Database, database.as_path()),
            (SectionKind::Records, records.as_path()),
            (SectionKind::Links, linked.as_path()),
            (SectionKind::TextIndex, sections.text.as_path()),
            (SectionKind::Names, named.as_path()),
        ];
        if let Some((matrix, graph)) = &sections.vectors {
            parts.extend([(SectionKind::Matrix, matrix.as_path()), (SectionKind::Vectors, graph.as_path())]);
        }
        let packed = self.folder.join("model.section");
        if let Some(model) = self.embedding.and_then(Embedding::model_folder) {
            writer::pack(model, &packed, |name| FILE_NAMES.contains(&name))?;
            parts.push((SectionKind::Model, packed.as_path()));
        }
        writer::write(out, &parts, manifest).with_context(|| format!("cannot write {}", out.display()))
    }

    fn sources_with_records(&self) -> Result<Vec<&'static Source>> {
        let mut held = Vec::new();
        for source in SOURCES {
            if self.tables.number(&format!("SELECT count(*) FROM \"{}\"", source.table()))? > 0 {
                held.push(*source);
            }
        }
        anyhow::ensure!(!held.is_empty(), "no record was read: is this the folder with one folder a source?");
        Ok(held)
    }

    fn newest_day(&self, sources: &[&Source]) -> Result<String> {
        let mut newest = String::new();
        for source in sources.iter().filter(|s| !LOOKS_AHEAD.contains(&s.key)) {
            if let Some(date) = source.main_date {
                let day = self.tables.text(&format!("SELECT max(\"{date}\")::VARCHAR FROM \"{}\"", source.table()))?;
                newest = newest.max(day.unwrap_or_default());
            }
        }
        anyhow::ensure!(!newest.is_empty(), "no record has a date: say with --as-of which day the data are of");
        Ok(newest)
    }

    fn congresses(&self) -> Result<Vec<i64>> {
        let listed =
            self.tables.text("SELECT to_json(list_reverse_sort(list(DISTINCT congress)))::VARCHAR FROM bills")?;
        Ok(listed.and_then(|l| serde_json::from_str(&l).ok()).unwrap_or_default())
    }

    /// Puts a source's records into their default order, with address, title and citation, into table and section.
    fn write_records(
        &self,
        source: &Source,
        as_of: &str,
        store: &mut RecordsWriter<BufWriter<File>>,
        hash: &mut Sha256,
        mut also: impl FnMut(u64, &Map<String, Value>),
    ) -> Result<()> {
        let table = source.table();
        let columns = source.columns();
        let mut order: Vec<String> = source
            .order
            .iter()
            .map(|(name, descending)| format!("\"{name}\" {} NULLS LAST", if *descending { "DESC" } else { "ASC" }))
            .collect();
        order.extend(["length(id)".to_string(), "id".to_string()]);
        self.tables.run(&format!(
            "CREATE OR REPLACE TABLE sorted AS SELECT row_number() OVER (ORDER BY {}) - 1 AS ord, * FROM \"{table}\"",
            order.join(", ")
        ))?;
        let lines = self.folder.join(format!("{table}.final.ndjson"));
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&lines)?);
        let json = row_json(&columns);
        self.each("sorted", &json, |ord, row| {
            let mut record: Map<String, Value> = serde_json::from_str(row)?;
            complete(source, &mut record);
            let cited = (source.cite)(&record);
            let citation = json!({ "text": cited, "url": record["url"], "as_of": as_of, "source": source.publisher });
            let (id, data) = (record["id"].as_str().unwrap_or_default().to_string(), serde_json::to_string(&record)?);
            store.push(&id, &data, &citation.to_string())?;
            also(ord, &record);
            hash.update(data.as_bytes());
            hash.update(b"\n");
            record.insert("ord".into(), json!(ord));
            serde_json::to_writer(&mut file, &record)?;
            Ok(file.write_all(b"\n")?)
        })?;
        file.flush()?;
        drop(file);
        let types: Vec<String> = columns.iter().map(|c| format!("\"{}\": '{}'", c.name, c.kind.sql())).collect();
        self.tables.run(&format!(
            "CREATE TABLE bundle.\"{table}\" AS SELECT * FROM read_json('{}', format = 'newline_delimited', \
             maximum_object_size = {LONGEST_LINE}, columns = {{ord: 'BIGINT', {}}}) ORDER BY ord",
            lines.display().to_string().replace('\'', "''"),
            types.join(", ")
        ))?;
        std::fs::remove_file(lines)?;
        Ok(())
    }

    /// Writes the tables of a source's sub-resources, in the order of their parents. Gives the number of rows of each.
    fn write_rows(&self, source: &Source, hash: &mut Sha256) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        for sub in source.subs {
            let Some(columns) = row_columns(sub.kind) else { continue };
            let table = source.sub_table(sub.name);
            let within = if sub.name == "body" { "r.version_order, r.version, r._n" } else { "r._seq, r._n" };
            let names: Vec<String> = columns.iter().map(|c| format!("r.\"{}\"", c.name)).collect();
            let texts: Vec<String> = names.iter().map(|n| format!("{n}::VARCHAR")).collect();
            // The row's own text breaks ties, so that the order never depends on threads.
            self.tables.run(&format!(
                "CREATE TABLE bundle.\"{table}\" AS SELECT row_number() OVER (ORDER BY s.ord, {within}, {ties}) - 1 AS ord, r.parent, {0} \
                 FROM \"{table}\" r JOIN sorted s ON s.id = r.parent ORDER BY ord",
                names.join(", "),
                ties = if sub.name == "body" { "1".to_string() } else { texts.join(", ") },
            ))?;
            let mut all = vec![Field::keyword("parent", "")];
            all.extend_from_slice(columns);
            let mut count = 0;
            self.each(&format!("bundle.\"{table}\""), &row_json(&all), |_, row| {
                count += 1;
                hash.update(row.as_bytes());
                hash.update(b"\n");
                Ok(())
            })?;
            counts.insert(sub.name.to_string(), count);
        }
        Ok(counts)
    }

    /// Finds what hangs under each record: rows of its own, and records of other sources that name it.
    fn links(&self, facts: &[SourceFacts]) -> Result<links::Builder> {
        let builder = links::Builder::new(self.folder.join("links"))?;
        let held = |key: &str| facts.iter().find(|f| f.key == key);
        for (source, records) in SOURCES.iter().filter_map(|s| Some((s, held(s.key)?.records))) {
            let parents = source.table();
            for sub in source.subs {
                let (children, kind) = match sub.kind {
                    SubKind::Toc => continue,
                    SubKind::Rows(_) | SubKind::Body => {
                        let rows = source.sub_table(sub.name);
                        (format!("SELECT parent AS named, ord FROM bundle.\"{rows}\""), links::Kind::Rows)
                    }
                    SubKind::Records { source: other, field } => {
                        let Some((other, field)) = SOURCES
                            .iter()
                            .find(|s| s.key == other && held(other).is_some())
                            .and_then(|other| Some((other.table(), other.field(field)?)))
                        else {
                            continue;
                        };
                        let named = if field.kind.is_list() {
                            format!("unnest(list_distinct(\"{}\"))", field.name)
                        } else {
                            format!("\"{}\"", field.name)
                        };
                        (format!("SELECT {named} AS named, ord FROM bundle.\"{other}\""), links::Kind::Records)
                    }
                };
                let pairs = self.tables.pairs(&format!(
                    "SELECT p.ord, c.ord FROM ({children}) c JOIN bundle.\"{parents}\" p ON p.id = c.named ORDER BY p.ord, c.ord"
                ))?;
                builder.add(source.key, sub.name, records, &pairs, kind)?;
                if let SubKind::Rows(columns) = sub.kind {
                    let table = format!("bundle.\"{}\"", source.sub_table(sub.name));
                    builder.add_first(source.key, sub.name, records, |add| {
                        self.each(&table, &row_json(columns), |ord, row| {
                            let (parent, _) = pairs.get(ord as usize).context("a row without its record")?;
                            Ok(add(*parent as usize, row)?)
                        })
                    })?;
                }
            }
        }
        Ok(builder)
    }

    /// Hands over a source's current texts. Gives the passages and vectors that they make.
    fn add_texts(&self, source: &Source, first: u64, texts: &mut Texts) -> Result<(u64, u64)> {
        let (table, body) = (source.table(), source.sub_table("body"));
        let sql = format!(
            "SELECT r.ord::UBIGINT, r.\"{}\", b.section, b.heading, b.text FROM bundle.\"{table}\" r LEFT JOIN bundle.\"{body}\" b \
             ON b.parent = r.id AND b.current WHERE r.ord >= ? AND r.ord < ? ORDER BY r.ord, b.ord",
            source.title
        );
        let end = self.tables.number(&format!("SELECT count(*) FROM bundle.\"{table}\""))?;
        let mut statement = self.tables.db.prepare(&sql).with_context(|| format!("in: {sql}"))?;
        let (mut passages, mut vectors) = (0, 0);
        let mut add = |(ord, title, sections): &(u64, String, Vec<Section>)| -> Result<()> {
            let (more_passages, more_vectors) = texts.add(source.key, first + ord, title, sections)?;
            passages += more_passages;
            vectors += more_vectors;
            Ok(())
        };
        for from in (0..end).step_by(BATCH as usize) {
            let mut rows = statement.query([from, from + BATCH])?;
            let mut open: Option<(u64, String, Vec<Section>)> = None;
            while let Some(row) = rows.next()? {
                let (ord, title): (u64, Option<String>) = (row.get(0)?, row.get(1)?);
                let text = |n: usize| Ok::<_, duckdb::Error>(row.get::<_, Option<String>>(n)?.unwrap_or_default());
                let section = Section { section: text(2)?, heading: text(3)?, level: 1, text: text(4)? };
                match &mut open {
                    Some((current, _, sections)) if *current == ord => sections.push(section),
                    _ => {
                        let new = (ord, title.unwrap_or_default(), vec![section]);
                        if let Some(done) = open.replace(new) {
                            add(&done)?;
                        }
                    }
                }
            }
            if let Some(done) = open {
                add(&done)?;
            }
        }
        Ok((passages, vectors))
    }

    /// Calls `f` with every row of a table in the order of `ord`, a batch at a time.
    fn each(&self, table: &str, json: &str, mut f: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
        let end = self.tables.number(&format!("SELECT count(*) FROM {table}"))?;
        let sql = format!("SELECT ord::UBIGINT, {json} FROM {table} WHERE ord >= ? AND ord < ? ORDER BY ord");
        let mut statement = self.tables.db.prepare(&sql).with_context(|| format!("in: {sql}"))?;
        let mut from = 0;
        while from < end {
            let mut rows = statement.query([from, from + BATCH])?;
            while let Some(row) = rows.next()? {
                f(row.get(0)?, &row.get::<_, String>(1)?)?;
            }
            from += BATCH;
        }
        Ok(())
    }

    fn facts(&self, source: &Source, rows: BTreeMap<String, u64>) -> Result<SourceFacts> {
        let table = format!("bundle.\"{}\"", source.table());
        let edge = |which: &str| match source.main_date {
            Some(date) => self.tables.text(&format!("SELECT {which}(\"{date}\")::VARCHAR FROM {table}")),
            None => Ok(None),
        };
        let mut fields = BTreeMap::new();
        for column in source.columns() {
            fields.insert(column.name.to_string(), FieldFacts { values: self.values(&table, &column)? });
        }
        Ok(SourceFacts {
            key: source.key.into(),
            records: self.tables.number(&format!("SELECT count(*) FROM {table}"))?,
            from: edge("min")?,
            to: edge("max")?,
            publisher: source.publisher.into(),
            licence: source.licence.into(),
            fields,
            rows,
            passages: 0,
            vectors: 0,
        })
    }

    /// All values of a keyword, if they are few and it is one to group by: others are names, not choices.
    fn values(&self, table: &str, column: &Field) -> Result<Option<Vec<String>>> {
        let value = match column.kind {
            Kind::Keyword if column.group => format!("\"{}\"", column.name),
            Kind::Keywords if column.group => format!("unnest(\"{}\")", column.name),
            _ => return Ok(None),
        };
        let sql = format!(
            "SELECT to_json(list_sort(list(v)))::VARCHAR FROM (SELECT DISTINCT v FROM (SELECT {value} AS v FROM {table}) \
             WHERE v IS NOT NULL LIMIT {})",
            MOST_VALUES + 1
        );
        let values: Vec<String> = match self.tables.text(&sql)? {
            Some(list) if list != "null" => serde_json::from_str(&list)?,
            _ => Vec::new(),
        };
        Ok((values.len() <= MOST_VALUES).then_some(values))
    }
}

/// What every record has: its source, a title, an address.
fn complete(source: &Source, record: &mut Map<String, Value>) {
    record.insert("source".into(), json!(source.key));
    if record.get("url").is_none_or(|url| !url.as_str().is_some_and(|u| u.starts_with("https://"))) {
        let url = (source.url)(record);
        record.insert("url".into(), json!(url));
    }
    if record.get(source.title).is_none_or(Value::is_null) {
        let title = (source.cite)(record);
        record.insert(source.title.into(), json!(title));
    }
}
