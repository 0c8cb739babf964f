//! Writes the bundle from the working tables: sorts them, prepares every record as JSON with its
//! citation, builds the sections and hashes the content for the bundle ID.

mod facts;
mod links;
mod records;
mod summaries;
mod texts;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context, Result};
use josh::bundle::format::{FORMAT, SectionKind};
use josh::bundle::{Manifest, RecordsWriter, SourceFacts, names, writer};
use josh::catalog::names::names_of;
use josh::catalog::{SOURCES, Shape, Source};
use josh::embed::FILE_NAMES;
use sha2::{Digest, Sha256};

use crate::embedding::Embedding;
use crate::progress;
use crate::tables::Tables;
use crate::texts::Texts;

/// Rows per query: bounds memory.
const BATCH: u64 = 5_000;

/// Sources whose main date may be in the future, so that it can't date the data.
const FUTURE_DATED: &[&str] = &["hearings"];

/// The inputs of a bundle.
pub struct BundleOutput<'a> {
    pub tables: &'a Tables,
    /// For temporary files.
    pub folder: &'a Path,
    pub as_of: Option<String>,
    pub data_version: Option<String>,
    pub embedding: Option<&'a Embedding>,
}

impl BundleOutput<'_> {
    /// Writes the bundle and returns its manifest.
    pub fn write(&self, out: &Path) -> Result<Manifest> {
        let sources = self.sources_with_records()?;
        let as_of = match &self.as_of {
            Some(day) => day.clone(),
            None => self.newest_day(&sources)?,
        };
        let spinner = progress::spinner("writing records");
        let (database, records) = (self.folder.join("bundle.duckdb"), self.folder.join("records"));
        let attach = database.display().to_string().replace('\'', "''");
        self.tables.run(&format!("ATTACH '{attach}' AS bundle"))?;
        let mut hash = Sha256::new();
        let model = self.embedding.map(Embedding::facts);
        hash.update(format!(
            "josh {FORMAT} {as_of} {}\n",
            self.data_version.as_deref().unwrap_or_default()
        ));
        if let (Some(embedding), Some(model)) = (self.embedding, &model) {
            hash.update(format!("{} {}\n", model.sha256, embedding.sources.join(" ")));
        }
        let mut store =
            RecordsWriter::new(BufWriter::with_capacity(1 << 20, File::create(&records)?))?;
        let mut facts: Vec<SourceFacts> = Vec::new();
        let mut texts = Texts::new(self.folder, self.embedding)?;
        let mut names = names::Builder::default();
        for source in &sources {
            let first: u64 = facts.iter().map(|f| f.records).sum();
            self.mark_summaries(source)?;
            self.write_records(source, &as_of, &mut store, &mut hash, |ord, record| {
                if source.shape == Shape::Registry {
                    for (kind, name) in names_of(source, record) {
                        names.add(source.key, (first + ord) as u32, kind, &name);
                    }
                }
            })?;
            let rows = self.write_rows(source, &mut hash)?;
            let mut source_facts = self.facts(source, rows)?;
            if source.shape.has_body() {
                (source_facts.passages, source_facts.vectors) =
                    self.add_texts(source, first, &mut texts)?;
            }
            facts.push(source_facts);
        }
        let links = self.folder.join("links.section");
        self.links(&facts)?.finish(&links)?;
        store.finish()?.into_inner().map_err(|e| e.into_error())?.sync_all()?;
        self.tables.run("CHECKPOINT bundle; DETACH bundle")?;
        spinner.finish_and_clear();
        let sections = texts.finish(facts.iter().map(|f| f.records).sum())?;
        let names_section = self.folder.join("names.section");
        names.finish(&self.folder.join("names"), &names_section)?;
        self.count_summaries(&mut facts)?;
        let manifest = Manifest {
            format: FORMAT,
            id: hex::encode(&hash.finalize()[..16]),
            data_version: self.data_version.clone().unwrap_or_else(|| as_of.clone()),
            as_of,
            built_by: format!("josh-data-build {}", env!("CARGO_PKG_VERSION")),
            notice: summaries::notice(&facts),
            congresses: self.congresses()?,
            sources: facts,
            model,
            sections: Vec::new(),
            signature: None,
        };
        let mut parts = vec![
            (SectionKind::Database, database.as_path()),
            (SectionKind::Records, records.as_path()),
            (SectionKind::Links, links.as_path()),
            (SectionKind::TextIndex, sections.text.as_path()),
            (SectionKind::Names, names_section.as_path()),
        ];
        if let Some((matrix, graph)) = &sections.vectors {
            parts.extend([
                (SectionKind::Matrix, matrix.as_path()),
                (SectionKind::Vectors, graph.as_path()),
            ]);
        }
        let model_section = self.folder.join("model.section");
        if let Some(model) = self.embedding.and_then(Embedding::model_folder) {
            writer::pack(model, &model_section, |name| FILE_NAMES.contains(&name))?;
            parts.push((SectionKind::Model, model_section.as_path()));
        }
        writer::write(out, &parts, manifest)
            .with_context(|| format!("cannot write {}", out.display()))
    }

    fn sources_with_records(&self) -> Result<Vec<&'static Source>> {
        let mut present = Vec::new();
        for source in SOURCES {
            if self.tables.number(&format!("SELECT count(*) FROM \"{}\"", source.table()))? > 0 {
                present.push(*source);
            }
        }
        Ok(present)
    }

    fn newest_day(&self, sources: &[&Source]) -> Result<String> {
        let mut newest = String::new();
        for source in sources.iter().filter(|s| !FUTURE_DATED.contains(&s.key)) {
            if let Some(date) = source.main_date {
                let day = self.tables.text(&format!(
                    "SELECT max(\"{date}\")::VARCHAR FROM \"{}\"",
                    source.table()
                ))?;
                newest = newest.max(day.unwrap_or_default());
            }
        }
        anyhow::ensure!(
            !newest.is_empty(),
            "no record has a date; give the date of the data with --as-of"
        );
        Ok(newest)
    }

    fn congresses(&self) -> Result<Vec<i64>> {
        let listed = self.tables.text(
            "SELECT to_json(list_reverse_sort(list(DISTINCT congress)))::VARCHAR FROM bills",
        )?;
        Ok(listed.and_then(|l| serde_json::from_str(&l).ok()).unwrap_or_default())
    }

    /// Calls `f` with the JSON of every row of a table in the order of `ord`, reading in batches.
    fn each_row(
        &self,
        table: &str,
        json: &str,
        mut f: impl FnMut(u64, &str) -> Result<()>,
    ) -> Result<()> {
        let end = self.tables.number(&format!("SELECT count(*) FROM {table}"))?;
        let sql = format!(
            "SELECT ord::UBIGINT, {json} FROM {table} WHERE ord >= ? AND ord < ? ORDER BY ord"
        );
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
}
