//! A bundle: one immutable file with a DuckDB database and memory-mapped sections behind it.
//!
//! This file holds the opened bundle and hands out its parts, each opened when it is first used.
//! It knows neither requests nor what is served. `open` opens files, `format` is their layout,
//! `writer` writes them.

pub mod analyzer;
pub mod columns;
mod db;
mod error;
pub mod format;
mod graph;
mod guard;
pub mod links;
pub mod links_writer;
mod manifest;
pub mod names;
mod open;
mod pack;
mod records;
pub mod rows;
mod sample;
mod signature;
pub mod text;
pub mod text_writer;
pub mod vectors;
mod walk;
mod watchdog;
pub mod writer;

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use quick_cache::sync::Cache;
use roaring::RoaringBitmap;
use sha2::{Digest, Sha256};

use columns::Columns;
pub use db::{
    Database, DuckDbLimits, QueryError, Row, SqlValue, days_since_1970, tell_duckdb_of_the_machine,
};
pub use error::BundleError;
use format::SectionKind;
pub use guard::SharedMap;
use links::Links;
pub use manifest::{
    CongressFacts, Coverage, DayFacts, FieldFacts, Manifest, ModelFacts, SectionFacts, SeriesFacts,
    SourceFacts,
};
use names::Names;
pub use open::{OpenOptions, SignatureState, read_manifest, verify};
pub use records::{RecordEntry, Records, RecordsWriter, stable_hash};
pub use sample::{is_sample, sample_path};
pub use signature::{Trust, generate_key, sign};
use text::TextIndex;
use vectors::Vectors;
pub use watchdog::Interrupt;

use crate::catalog::Source;
use crate::embed::{self, LazyModel, LoadedModel, Model, ModelFiles};
use crate::stamp::Stamp;

/// A bundle, ready to serve.
pub struct Bundle {
    pub path: PathBuf,
    pub manifest: Manifest,
    pub db: Database,
    /// The file as it was when it was opened.
    pub stamp: Stamp,
    /// What is known about its signature.
    pub signature: SignatureState,
    options: OpenOptions,
    /// Kept open to notice that it is written to, whatever its path leads to by then.
    file: File,
    changed_in_place: AtomicBool,
    map: SharedMap,
    /// The record numbers that recent filters selected, by table and filters.
    pub selections: Cache<String, Arc<RoaringBitmap>>,
    /// How many rows of a list have each value of a field, by table, filters and field.
    pub value_counts: Cache<String, Arc<ValueCounts>>,
    /// These are opened by their first use or by `prepare_search`, so that records are served
    /// before they are ready.
    text_index: OnceLock<Result<TextIndex, String>>,
    links: OnceLock<Result<Links, String>>,
    columns: OnceLock<Result<Columns, String>>,
    names: OnceLock<Result<Names, String>>,
    vectors: OnceLock<Result<Vectors, String>>,
    model: LazyModel,
    records: SectionFacts,
    layout: records::Layout,
    /// The sources that both the catalog and this bundle have, each with its first record number.
    sources: Vec<(&'static Source, usize)>,
}

/// The most frequent values of a field, and how many values there are.
pub struct ValueCounts {
    pub values: Vec<(String, u64)>,
    pub distinct: u64,
}

/// Cached counts. Each takes about a kilobyte.
const MAX_VALUE_COUNTS: usize = 4096;

/// Cached selections. Each takes at most about 100 KB in a bundle of a million records.
const MAX_SELECTIONS: usize = 256;

impl Bundle {
    /// Hits and misses of each cache: (cache, hits, misses).
    pub fn cache_lookups(&self) -> Vec<(&'static str, u64, u64)> {
        let mut lookups = vec![("filters", self.selections.hits(), self.selections.misses())];
        if let Some(Ok(model)) = self.model.get() {
            let (hits, misses) = model.cache_lookups();
            lookups.push(("questions", hits, misses));
        }
        lookups
    }

    /// The sources that this bundle holds and the catalog describes.
    pub fn sources(&self) -> impl Iterator<Item = (&'static Source, &SourceFacts)> {
        self.sources.iter().filter_map(|(s, _)| Some((*s, self.manifest.source(s.key)?)))
    }

    /// A source of this bundle, by its key.
    pub fn source(&self, key: &str) -> Option<(&'static Source, &SourceFacts)> {
        let (source, _) = self.sources.iter().find(|(source, _)| source.key == key)?;
        Some((*source, self.manifest.source(key)?))
    }

    /// The prepared records.
    pub fn records(&self) -> Records<'_> {
        Records { bytes: slice(&self.map, &self.records), layout: self.layout }
    }

    /// The number of the first record of a source.
    pub fn first_number(&self, source: &Source) -> usize {
        self.sources.iter().find(|(s, _)| s.key == source.key).map_or(0, |(_, first)| *first)
    }

    /// The full-text index.
    pub fn text_index(&self) -> Result<&TextIndex, Unavailable> {
        let open = || {
            let section = self.section(SectionKind::TextIndex)?;
            TextIndex::open(self.map.clone(), section)
                .map_err(|e| format!("the text index can't be opened: {e}"))
        };
        self.part(self.text_index.get_or_init(open), "text index")
    }

    /// The sub-resources of each record.
    pub fn links(&self) -> Result<&Links, Unavailable> {
        let open = || Links::open(self.map.clone(), self.section(SectionKind::Links)?);
        self.part(self.links.get_or_init(open), "links section")
    }

    /// The fields of all records; nothing in a bundle that was written before there were any.
    pub fn columns(&self) -> Result<Option<&Columns>, Unavailable> {
        let Ok(section) = self.section(SectionKind::Columns) else { return Ok(None) };
        let open = || Columns::open(self.map.clone(), section);
        self.part(self.columns.get_or_init(open), "columns section").map(Some)
    }

    /// The name index.
    pub fn names(&self) -> Result<&Names, Unavailable> {
        let open = || Names::open(self.map.clone(), self.section(SectionKind::Names)?);
        self.part(self.names.get_or_init(open), "name index")
    }

    /// Whether this bundle was built with vectors.
    pub fn has_vectors(&self) -> bool {
        self.manifest.section(SectionKind::Vectors).is_some()
    }

    /// The passage vectors. The first call checks the hash of the graph: accidental damage is
    /// noticed before any of it is used.
    pub fn vectors(&self) -> Result<&Vectors, Unavailable> {
        let open = || {
            let (matrix, graph) =
                (self.section(SectionKind::Matrix)?, self.section(SectionKind::Vectors)?);
            let expected = self.manifest.section(SectionKind::Vectors).map(|s| s.sha256.as_str());
            let found = self.map.get(graph.clone()).map(|bytes| hex::encode(Sha256::digest(bytes)));
            if expected != found.as_deref() {
                return Err("the vectors do not match their hash".to_string());
            }
            Vectors::open(self.map.clone(), matrix, graph).map_err(|e| e.to_string())
        };
        self.part(self.vectors.get_or_init(open), "vectors")
    }

    /// The model that the vectors were made with: the one in the bundle, or the built-in one if the
    /// manifest names that. The first call loads it; a caller that is abandoned meanwhile gets an
    /// error.
    pub fn model(&self, is_abandoned: &dyn Fn() -> bool) -> Result<Arc<Model>, Unavailable> {
        if let Some(loaded) = self.model.get() {
            return self.part(loaded, "embedding model").cloned();
        }
        let (section, facts) = (self.section(SectionKind::Model), self.manifest.model.clone());
        let map = self.map.clone();
        let load = move || match (section, facts) {
            (Ok(section), Some(facts)) => load_model(&map, section, &facts.name),
            (Err(_), Some(facts)) if facts.sha256 == embed::built_in_sha256() => embed::built_in(),
            (_, Some(facts)) => {
                Err(format!("the vectors were made with {}, which is not in this Josh", facts.name))
            }
            (_, None) => Err("the bundle names no model".into()),
        };
        match self.model.wait(load, is_abandoned) {
            Some(loaded) => self.part(loaded, "embedding model").cloned(),
            None => Err(Unavailable {
                message: "The embedding model is still being loaded.".into(),
                cause: None,
            }),
        }
    }

    /// Opens what a search needs, so that the first one is not slow. The model is left to the first
    /// query that needs it: it takes 100 MB.
    pub fn prepare_search(&self) {
        let _ = (self.text_index().is_ok(), self.has_vectors() && self.vectors().is_ok());
    }

    fn section(&self, kind: SectionKind) -> Result<Range<usize>, String> {
        let section = self
            .manifest
            .section(kind)
            .ok_or_else(|| format!("the bundle has no section {kind:?}"))?;
        // The range was checked against the file's length on opening.
        Ok(section.offset as usize..(section.offset + section.length) as usize)
    }

    fn part<'a, T>(&self, opened: &'a Result<T, String>, name: &str) -> Result<&'a T, Unavailable> {
        opened.as_ref().map_err(|cause| Unavailable {
            message: format!("The {name} of this bundle can't be used."),
            cause: Some(cause.clone()),
        })
    }

    /// The source whose records include this number.
    pub fn source_of_number(&self, number: usize) -> Option<&'static Source> {
        self.sources.iter().rev().find(|(_, first)| *first <= number).map(|(source, _)| *source)
    }

    /// An error if the file is known to have been truncated or written to since it was opened. To
    /// be called after reading and before answering: what was read may be neither the old data nor
    /// the new. Costs two atomic loads.
    pub fn ensure_intact(&self) -> Result<(), Unavailable> {
        match self.map.0.truncated() || self.changed_in_place.load(Ordering::Acquire) {
            true => Err(Unavailable::changed()),
            false => Ok(()),
        }
    }

    /// Whether the file was changed since it was opened: what fails then is not our fault.
    pub fn is_changed(&self) -> bool {
        self.map.0.truncated() || self.mark_changed_in_place()
    }

    /// Whether the file was written to since it was opened. Once it was, this bundle stays unusable
    /// until the file is opened again. A file renamed over it changes nothing: this bundle keeps
    /// the old one. Costs one `fstat`.
    pub fn mark_changed_in_place(&self) -> bool {
        if self.changed_in_place.load(Ordering::Acquire) {
            return true;
        }
        let is_changed = Stamp::of_file(&self.file).is_ok_and(|now| now != self.stamp);
        if is_changed && !self.changed_in_place.swap(true, Ordering::AcqRel) {
            tracing::error!(
                path = %self.path.display(),
                "the bundle file was written to while in use; nothing is served from it until it \
                 is opened again. Replace a bundle by renaming a new file over it"
            );
        }
        is_changed
    }
}

/// A bundle, or a part of it, that can't be read now.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Unavailable {
    pub message: String,
    /// For the log only.
    pub cause: Option<String>,
}

impl Unavailable {
    pub fn changed() -> Unavailable {
        let message = "The bundle file was changed while it was in use.".into();
        Unavailable { message, cause: None }
    }
}

/// Loads a model from the files in a bundle's section.
fn load_model(map: &SharedMap, section: Range<usize>, name: &str) -> LoadedModel {
    let bytes = map.get(section).unwrap_or_default();
    let files = pack::list(bytes).ok_or("the list of the model's files is damaged")?;
    let file = |name: &str| {
        let found = files.iter().find(|(n, _)| n == name);
        found
            .map(|(_, at)| &bytes[at.clone()])
            .ok_or_else(|| format!("the model lacks its file {name}"))
    };
    let [a, b, c, d, e] = embed::FILE_NAMES.map(file);
    Model::load(&ModelFiles::new(name, [a?, b?, c?, d?, e?])).map(Arc::new)
}

fn slice<'a>(bytes: &'a [u8], section: &SectionFacts) -> &'a [u8] {
    // The range was checked against the file's length on opening.
    bytes
        .get(section.offset as usize..(section.offset + section.length) as usize)
        .unwrap_or_default()
}
