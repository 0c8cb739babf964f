//! Writes the bundle from the working tables: sorts them, prepares every record as JSON with its
//! citation, builds the sections and hashes the content for the bundle ID.

mod coverage;
mod facts;
mod record_links;
mod records;
mod stream;
mod summaries;
mod texts;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use josh::bundle::format::{FORMAT, SectionKind};
use josh::bundle::{Manifest, RecordsWriter, SourceFacts, columns, links_writer, names, writer};
use josh::catalog::names::names_of;
use josh::catalog::{SOURCES, Shape, Source};
use josh::embed::FILE_NAMES;
use sha2::{Digest, Sha256};

use crate::checks::Limits;
use crate::embedding::Embedding;
use crate::fetch::Fetched;
use crate::progress;
use crate::tables::Tables;
use crate::texts::Texts;

/// Sources whose main date may be in the future, so that it can't date the data.
const FUTURE_DATED: &[&str] = &["hearings"];

/// The inputs of a bundle.
pub struct BundleOutput<'a> {
    pub tables: &'a Tables,
    /// For temporary files.
    pub folder: &'a Path,
    pub as_of: Option<String>,
    pub data_version: Option<String>,
    /// When each source was fetched, and what was not.
    pub fetched: BTreeMap<String, Fetched>,
    pub limits: &'a Limits,
    pub embedding: Option<&'a Embedding>,
}

/// What is collected while records and texts are written.
struct Collected<'a> {
    as_of: String,
    database: PathBuf,
    records: PathBuf,
    store: RecordsWriter<BufWriter<File>>,
    facts: Vec<SourceFacts>,
    texts: Texts<'a>,
    names: names::Builder,
    links: links_writer::Builder,
    columns: columns::Builder,
    hash: Sha256,
}

impl<'a> BundleOutput<'a> {
    /// Embeds the passages of the bundle into the cache, without writing it, and returns how many
    /// were not there before.
    pub fn embed(&self) -> Result<u64> {
        self.collect()?.texts.embed()
    }

    /// Writes records, texts and tables.
    fn collect(&self) -> Result<Collected<'a>> {
        let sources = self.sources_with_records()?;
        let as_of = match &self.as_of {
            Some(day) => day.clone(),
            None => self.newest_day(&sources)?,
        };
        let spinner = progress::spinner("writing records");
        let (database, records) = (self.folder.join("bundle.duckdb"), self.folder.join("records"));
        let attach = database.display().to_string().replace('\'', "''");
        // Only the bundle is worth compressing. Smaller blocks than usual: the last of each column
        // is rarely full.
        self.tables.run(&format!(
            "ATTACH '{attach}' AS bundle (BLOCK_SIZE 65536); SET force_compression = 'auto'"
        ))?;
        let mut hash = Sha256::new();
        hash.update(format!(
            "josh {FORMAT} {as_of} {}\n",
            self.data_version.as_deref().unwrap_or_default()
        ));
        if let Some(embedding) = self.embedding {
            hash.update(format!("{} {}\n", embedding.facts().sha256, embedding.sources.join(" ")));
        }
        let mut store =
            RecordsWriter::new(BufWriter::with_capacity(1 << 20, File::create(&records)?))?;
        let mut facts: Vec<SourceFacts> = Vec::new();
        let mut texts = Texts::new(self.folder, self.embedding)?;
        let mut names = names::Builder::default();
        let links = links_writer::Builder::new(self.folder.join("links"))?;
        let columns = columns::Builder::new(self.folder.join("columns"))?;
        for &source in &sources {
            let first: u64 = facts.iter().map(|f| f.records).sum();
            self.mark_texts(source)?;
            let mut source_columns = columns.source(source);
            self.write_records(source, &as_of, &mut store, &mut hash, |ord, record| {
                source_columns.add(record);
                if source.shape == Shape::Registry {
                    for (kind, name) in names_of(source, record) {
                        names.add(source.key, (first + ord) as u32, kind, &name);
                    }
                }
            })?;
            source_columns.finish()?;
            let mut source_facts = self.facts(source)?;
            if let Some(fetched) = self.fetched.get(source.key) {
                let coverage = source_facts.coverage.get_or_insert_default();
                coverage.fetched.clone_from(&fetched.day);
                coverage.not_fetched.clone_from(&fetched.missing);
            }
            let records = source_facts.records;
            source_facts.rows = self.write_rows(source, records, &links, &mut hash)?;
            if source.shape.has_body() {
                let sections =
                    self.write_texts(source, first, records, &links, &mut hash, &mut texts)?;
                source_facts.rows.insert("body".into(), sections);
            }
            facts.push(source_facts);
        }
        spinner.finish_and_clear();
        Ok(Collected { as_of, database, records, store, facts, texts, names, links, columns, hash })
    }

    /// Writes the bundle and returns its manifest.
    pub fn write(&self, out: &Path) -> Result<Manifest> {
        let Collected {
            as_of,
            database,
            records,
            store,
            mut facts,
            texts,
            names,
            links,
            columns,
            hash,
        } = self.collect()?;
        self.limits.check_previous(&facts)?;
        let all_records = facts.iter().map(|f| f.records).sum();
        let links_section = self.folder.join("links.section");
        let columns_section = self.folder.join("columns.section");
        columns.finish(&columns_section)?;
        // The text index is put together while DuckDB looks for links.
        let sections = std::thread::scope(|scope| {
            let sections = scope.spawn(move || texts.finish(all_records));
            self.link_records(&facts, &links)?;
            links.finish(&links_section)?;
            self.tables.run("CHECKPOINT bundle; DETACH bundle")?;
            sections.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        for source in &mut facts {
            let counts = sections.counts.get(source.key.as_str()).copied().unwrap_or_default();
            (source.passages, source.vectors) = (counts.passages, counts.vectors);
        }
        store.finish()?.into_inner().map_err(|e| e.into_error())?.sync_all()?;
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
            model: self.embedding.map(Embedding::facts),
            sections: Vec::new(),
            signature: None,
        };
        let mut parts = vec![
            (SectionKind::Database, database.as_path()),
            (SectionKind::Records, records.as_path()),
            (SectionKind::Links, links_section.as_path()),
            (SectionKind::Columns, columns_section.as_path()),
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
}
