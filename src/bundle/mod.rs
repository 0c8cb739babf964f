//! The opened, immutable artifact: one file with a DuckDB database and memory-mapped sections behind it.
//!
//! Opening reads the footer, the manifest and DuckDB's header; its time does not grow with the file. Every hash of every
//! section is checked by `verify`, not at start.

pub mod analyzer;
mod db;
pub mod format;
mod guard;
pub mod links;
mod manifest;
pub mod names;
mod pack;
mod records;
mod sample;
mod signature;
pub mod text;
pub mod vectors;
pub mod writer;

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use quick_cache::sync::Cache;
use roaring::RoaringBitmap;
use sha2::{Digest, Sha256};

pub use db::{Database, Engine, Stop};
use format::{FOOTER_LENGTH, FORMAT, Footer, OLDEST_READABLE, PAGE, SectionKind};
use guard::GuardedMap;
pub use guard::SharedMap;
use links::Links;
pub use manifest::{FieldFacts, Manifest, ModelFacts, SectionFacts, SourceFacts};
use names::Names;
pub use records::{Entry, Records, RecordsWriter, stable_hash};
pub use sample::sample_path;
pub use signature::{Trust, generate_key, sign};
use text::TextIndex;
use vectors::Vectors;

use crate::catalog::{self, Source};
use crate::embed::{self, Model, ModelFiles};
use crate::error::{Code, Error};

/// A file that can't be used as a bundle, in words that say what to do.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("cannot read it: {0}. Check the path and its permissions")]
    Unreadable(String),
    #[error("it is a folder; give the path of a bundle file")]
    Folder,
    #[error("it is empty. Copy the bundle again")]
    Empty,
    #[error("it is too short to be a bundle. Copy the bundle again, or check that the path is right")]
    TooShort,
    #[error(
        "it is not a Josh bundle, or its end is missing. If it should be one, copy it again; \
         if it is a plain DuckDB file, build a bundle with josh-data-build"
    )]
    NotABundle,
    #[error("it is damaged: {0}. Copy the bundle again")]
    Damaged(String),
    #[error(
        "it has format {found}, and this Josh reads {OLDEST_READABLE} to {FORMAT}. Build it again with a newer josh-data-build"
    )]
    TooOld { found: u32 },
    #[error("it has format {found}, and this Josh reads {OLDEST_READABLE} to {FORMAT}. Install a newer Josh")]
    TooNew { found: u32 },
    #[error("{0}")]
    Signature(String),
}

/// A bundle, ready to serve.
pub struct Bundle {
    pub path: PathBuf,
    pub manifest: Manifest,
    pub db: Database,
    /// Length and modification time when it was opened: how a changed file is noticed.
    pub stamp: Stamp,
    engine: Engine,
    map: SharedMap,
    /// Record numbers that filters selected lately, by table and filters.
    pub selections: Cache<String, Arc<RoaringBitmap>>,
    /// Opened by the first search or by `prepare_search`, so that everything else is ready before them.
    text_index: OnceLock<Result<TextIndex, String>>,
    links: OnceLock<Result<Links, String>>,
    names: OnceLock<Result<Names, String>>,
    vectors: OnceLock<Result<Vectors, String>>,
    model: OnceLock<Result<Arc<Model>, String>>,
    records: SectionFacts,
    layout: records::Layout,
    /// The sources that both the catalog and this bundle know, each with its first record number.
    sources: Vec<(&'static Source, usize)>,
}

/// Selections that are kept: at most some 100 KB each in a bundle of a million records.
const MOST_SELECTIONS: usize = 256;

/// What a file looks like from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    modified: Option<std::time::SystemTime>,
    inode: u64,
}

impl Stamp {
    pub fn of(path: &Path) -> std::io::Result<Stamp> {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::metadata(path)?;
        Ok(Stamp { length: meta.len(), modified: meta.modified().ok(), inode: meta.ino() })
    }
}

impl Bundle {
    /// Opens and checks a bundle: format, length, footer, manifest, frames of the sections.
    pub fn open(path: &Path) -> Result<Bundle, BundleError> {
        Bundle::open_with(path, Engine::default())
    }

    /// The file as it is now, opened beside this.
    pub fn open_again(&self) -> Result<Bundle, BundleError> {
        Bundle::open_with(&self.path, self.engine.clone())
    }

    /// How often what was asked before was asked again: (cache, found, not found).
    pub fn cache_lookups(&self) -> Vec<(&'static str, u64, u64)> {
        let mut lookups = vec![("filters", self.selections.hits(), self.selections.misses())];
        if let Some(Ok(model)) = self.model.get() {
            let (hits, misses) = model.cache_lookups();
            lookups.push(("questions", hits, misses));
        }
        lookups
    }

    /// Opens it with so much for DuckDB.
    pub fn open_with(path: &Path, engine: Engine) -> Result<Bundle, BundleError> {
        let stamp = Stamp::of(path).map_err(unreadable)?;
        let (file, manifest) = read_manifest(path)?;
        let map = SharedMap(Arc::new(GuardedMap::of(&file).map_err(unreadable)?));
        let missing = |what: &str| BundleError::Damaged(format!("it has no {what} section"));
        let records = manifest.section(SectionKind::Records).ok_or_else(|| missing("records"))?.clone();
        manifest.section(SectionKind::Database).filter(|s| s.offset == 0).ok_or_else(|| missing("database"))?;
        let layout = records::Layout::read(slice(&map, &records))?;
        let db = Database::open(path, &engine)?;
        let mut first = 0;
        let mut sources = Vec::new();
        for facts in &manifest.sources {
            if let Some(source) = catalog::source(&facts.key) {
                sources.push((source, first));
            }
            first += facts.records as usize;
        }
        if map.0.torn() {
            return Err(BundleError::Damaged("it was cut short while it was opened".into()));
        }
        Ok(Bundle {
            path: path.to_path_buf(),
            engine,
            manifest,
            db,
            stamp,
            map,
            selections: Cache::new(MOST_SELECTIONS),
            text_index: OnceLock::new(),
            links: OnceLock::new(),
            names: OnceLock::new(),
            vectors: OnceLock::new(),
            model: OnceLock::new(),
            records,
            layout,
            sources,
        })
    }

    /// The sources this bundle holds, in catalog terms.
    pub fn sources(&self) -> impl Iterator<Item = (&'static Source, &SourceFacts)> {
        self.sources.iter().filter_map(|(s, _)| Some((*s, self.manifest.source(s.key)?)))
    }

    /// A source of this bundle by key.
    pub fn source(&self, key: &str) -> Option<(&'static Source, &SourceFacts)> {
        self.sources().find(|(s, _)| s.key == key)
    }

    pub fn records(&self) -> Records<'_> {
        Records { bytes: slice(&self.map, &self.records), layout: self.layout }
    }

    /// The record number of the first record of a source.
    pub fn first_number(&self, source: &Source) -> usize {
        self.sources.iter().find(|(s, _)| s.key == source.key).map_or(0, |(_, first)| *first)
    }

    /// The text index.
    pub fn text_index(&self) -> Result<&TextIndex, Error> {
        let open = || {
            let section = self.section(SectionKind::TextIndex)?;
            TextIndex::open(self.map.clone(), section).map_err(|e| format!("the text index can't be opened: {e}"))
        };
        self.part(self.text_index.get_or_init(open), "text index")
    }

    /// What hangs under each record.
    pub fn links(&self) -> Result<&Links, Error> {
        let open = || Links::open(self.map.clone(), self.section(SectionKind::Links)?);
        self.part(self.links.get_or_init(open), "list of links")
    }

    /// The index of names.
    pub fn names(&self) -> Result<&Names, Error> {
        let open = || Names::open(self.map.clone(), self.section(SectionKind::Names)?);
        self.part(self.names.get_or_init(open), "index of names")
    }

    /// Whether this bundle has vectors at all.
    pub fn has_vectors(&self) -> bool {
        self.manifest.section(SectionKind::Vectors).is_some()
    }

    /// The passage vectors. The first call checks the graph's hash: it goes to code that trusts what it reads.
    pub fn vectors(&self) -> Result<&Vectors, Error> {
        let open = || {
            let (matrix, graph) = (self.section(SectionKind::Matrix)?, self.section(SectionKind::Vectors)?);
            let said = self.manifest.section(SectionKind::Vectors).map(|s| s.sha256.as_str());
            let found = self.map.get(graph.clone()).map(|bytes| writer::hex(&Sha256::digest(bytes)));
            if said != found.as_deref() {
                return Err("the vectors do not match their hash".to_string());
            }
            Vectors::open(self.map.clone(), matrix, graph).map_err(|e| e.to_string())
        };
        self.part(self.vectors.get_or_init(open), "vectors")
    }

    /// The model that the vectors were made with: the bundle's own, or the built-in one if the bundle names it.
    pub fn model(&self) -> Result<Arc<Model>, Error> {
        let open = || match (self.section(SectionKind::Model), &self.manifest.model) {
            (Ok(section), Some(facts)) => {
                let bytes = self.map.get(section).unwrap_or_default();
                let files = pack::list(bytes).ok_or("the model has no list of files")?;
                let file = |name: &str| {
                    let found = files.iter().find(|(n, _)| n == name);
                    found.map(|(_, at)| &bytes[at.clone()]).ok_or_else(|| format!("the model has no {name}"))
                };
                let [a, b, c, d, e] = embed::FILE_NAMES.map(file);
                Model::load(&ModelFiles::new(&facts.name, [a?, b?, c?, d?, e?])).map(Arc::new)
            }
            (Err(_), Some(facts)) if facts.sha256 == embed::built_in_sha256() => embed::built_in(),
            (_, Some(facts)) => Err(format!("the vectors were made with {}, which is not in this Josh", facts.name)),
            (_, None) => Err("the bundle names no model".into()),
        };
        self.part(self.model.get_or_init(open), "embedding model").cloned()
    }

    /// Opens what searches need, so that the first one need not. The model waits for a question: it takes 100 MB.
    pub fn prepare_search(&self) {
        let _ = (self.text_index().is_ok(), self.has_vectors() && self.vectors().is_ok());
    }

    fn section(&self, kind: SectionKind) -> Result<Range<usize>, String> {
        let section = self.manifest.section(kind).ok_or_else(|| format!("there is no section {kind:?}"))?;
        // The range was checked against the file's length on opening.
        Ok(section.offset as usize..(section.offset + section.length) as usize)
    }

    fn part<'a, T>(&self, opened: &'a Result<T, String>, name: &str) -> Result<&'a T, Error> {
        opened.as_ref().map_err(|cause| {
            let message = format!("The {name} of this bundle can't be used.");
            let mut error = Error::new(Code::BundleUnavailable, message).retry_after(5);
            error.cause = Some(cause.clone());
            error
        })
    }

    /// The source whose records include this number.
    pub fn source_of_number(&self, number: usize) -> Option<&'static Source> {
        self.sources.iter().rev().find(|(_, first)| *first <= number).map(|(source, _)| *source)
    }

    /// An error if the file was cut short since it was opened. To be asked after reading, before answering.
    pub fn check_whole(&self) -> Result<(), Error> {
        if self.map.0.torn() { Err(self.unavailable()) } else { Ok(()) }
    }

    /// Tells a fault of ours from a file that was changed under us.
    pub fn blame(&self, error: Error) -> Error {
        let changed = || self.map.0.torn() || Stamp::of(&self.path).is_ok_and(|now| now != self.stamp);
        if error.code == Code::InternalError && changed() {
            return Error { cause: error.cause, ..self.unavailable() };
        }
        error
    }

    fn unavailable(&self) -> Error {
        Error::new(Code::BundleUnavailable, "The bundle file was changed while it was in use.").retry_after(5)
    }
}

/// Reads and checks the footer and the manifest, without opening the rest.
pub fn read_manifest(path: &Path) -> Result<(File, Manifest), BundleError> {
    let file = File::open(path).map_err(unreadable)?;
    let meta = file.metadata().map_err(unreadable)?;
    if meta.is_dir() {
        return Err(BundleError::Folder);
    }
    let length = meta.len();
    if length == 0 {
        return Err(BundleError::Empty);
    }
    let Some(footer_at) = length.checked_sub(FOOTER_LENGTH) else { return Err(BundleError::TooShort) };
    let mut bytes = [0u8; FOOTER_LENGTH as usize];
    file.read_exact_at(&mut bytes, footer_at).map_err(unreadable)?;
    let footer = Footer::from_bytes(&bytes, length)?;
    let mut bytes = vec![0u8; footer.manifest_length as usize];
    file.read_exact_at(&mut bytes, footer.manifest_offset).map_err(unreadable)?;
    let hash: [u8; 32] = Sha256::digest(&bytes).into();
    if hash != footer.manifest_sha256 {
        return Err(BundleError::Damaged("its manifest does not match its hash".into()));
    }
    let manifest: Manifest = serde_json::from_slice(&bytes)
        .map_err(|e| BundleError::Damaged(format!("its manifest cannot be read ({e})")))?;
    for section in &manifest.sections {
        let end = section.offset.checked_add(section.length);
        if section.offset % PAGE != 0 || end.is_none_or(|end| end > footer.manifest_offset) {
            return Err(BundleError::Damaged("a section lies outside the file".into()));
        }
    }
    Ok((file, manifest))
}

/// Checks the hash of every section; calls `progress` with each section's kind and whether it matched.
pub fn verify(path: &Path, mut progress: impl FnMut(SectionKind, bool)) -> Result<Manifest, BundleError> {
    let (file, manifest) = read_manifest(path)?;
    let mut bad = Vec::new();
    for section in &manifest.sections {
        let found = writer::hash_range(&file, section.offset, section.length).map_err(unreadable)?;
        let matches = found == section.sha256;
        progress(section.kind, matches);
        if !matches {
            bad.push(format!("{:?}", section.kind).to_lowercase());
        }
    }
    if !bad.is_empty() {
        return Err(BundleError::Damaged(format!("the bytes of section {} do not match their hash", bad.join(", "))));
    }
    Bundle::open(path)?;
    Ok(manifest)
}

fn slice<'a>(bytes: &'a [u8], section: &SectionFacts) -> &'a [u8] {
    // The range was checked against the file's length on opening.
    bytes.get(section.offset as usize..(section.offset + section.length) as usize).unwrap_or_default()
}

fn unreadable(error: std::io::Error) -> BundleError {
    BundleError::Unreadable(error.to_string())
}

/// Reads a small file whole, for keys.
pub(crate) fn read_small(path: &Path) -> Result<String, BundleError> {
    let mut text = String::new();
    File::open(path).and_then(|f| f.take(64 * 1024).read_to_string(&mut text)).map_err(unreadable)?;
    Ok(text)
}
