//! Opens and checks bundle files.
//!
//! Opening reads the footer, the manifest, the header of the records section and DuckDB's header,
//! so its time does not grow with the file. Only `verify` reads everything.
//!
//! DuckDB opens the path by itself. If the file is replaced in between, the database would be of
//! another edition than the rest, so the path is compared with the opened file afterwards.

use std::fs::{File, Metadata};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};

use super::format::{FOOTER_LENGTH, Footer, PAGE, SectionKind};
use super::guard::GuardedMap;
use super::{
    Bundle, BundleError, Database, DuckDbLimits, MAX_SELECTIONS, MAX_VALUE_COUNTS, Manifest,
    SharedMap, Stamp, records, slice, writer,
};
use crate::catalog;
use crate::embed::LazyModel;

/// How often a file that changes while it is opened is tried, and the pause before the next try.
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_millis(50);

impl Bundle {
    /// Opens a bundle with the default limits for DuckDB.
    pub fn open(path: &Path) -> Result<Bundle, BundleError> {
        Bundle::open_with(path, DuckDbLimits::default())
    }

    /// Opens the file that now has this bundle's path, with the same limits.
    pub fn open_again(&self) -> Result<Bundle, BundleError> {
        Bundle::open_with(&self.path, self.engine.clone())
    }

    /// Opens a bundle with these limits for DuckDB. Blocks, for longer if the file changes
    /// meanwhile.
    pub fn open_with(path: &Path, engine: DuckDbLimits) -> Result<Bundle, BundleError> {
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            let file = File::open(path).map_err(BundleError::unreadable)?;
            let metadata = file.metadata().map_err(BundleError::unreadable)?;
            let opened = Bundle::open_file(path, file, Stamp::of_metadata(&metadata), &engine);
            // An error counts only if it is one of this file, and not of a mix of two.
            if is_unchanged(path, &metadata) {
                return opened;
            }
        }
        Err(BundleError::Replaced)
    }

    fn open_file(
        path: &Path,
        file: File,
        stamp: Stamp,
        engine: &DuckDbLimits,
    ) -> Result<Bundle, BundleError> {
        let manifest = manifest_of(&file)?;
        let map = SharedMap(Arc::new(GuardedMap::of(&file).map_err(BundleError::unreadable)?));
        let missing = |what: &str| BundleError::Damaged(format!("it has no {what} section"));
        let records =
            manifest.section(SectionKind::Records).ok_or_else(|| missing("records"))?.clone();
        manifest
            .section(SectionKind::Database)
            .filter(|s| s.offset == 0)
            .ok_or_else(|| missing("database"))?;
        let layout = records::Layout::read(slice(&map, &records))?;
        let db = Database::open(path, engine)?;
        let mut first = 0usize;
        let mut sources = Vec::new();
        for facts in &manifest.sources {
            if let Some(source) = catalog::source(&facts.key) {
                sources.push((source, first));
            }
            first = first.saturating_add(facts.records as usize);
        }
        if map.0.truncated() {
            return Err(BundleError::Damaged("it was truncated while it was opened".into()));
        }
        Ok(Bundle {
            path: path.to_path_buf(),
            manifest,
            db,
            stamp,
            engine: engine.clone(),
            file,
            changed_in_place: AtomicBool::new(false),
            map,
            selections: Cache::new(MAX_SELECTIONS),
            value_counts: Cache::new(MAX_VALUE_COUNTS),
            text_index: OnceLock::new(),
            links: OnceLock::new(),
            names: OnceLock::new(),
            vectors: OnceLock::new(),
            model: LazyModel::default(),
            records,
            layout,
            sources,
        })
    }
}

/// Whether the path still leads to the file with this metadata, and nothing happened to it since.
/// The change time tells a file that was moved away and back again meanwhile.
fn is_unchanged(path: &Path, opened: &Metadata) -> bool {
    let state = |m: &Metadata| (Stamp::of_metadata(m), m.ctime(), m.ctime_nsec());
    std::fs::metadata(path).is_ok_and(|now| state(&now) == state(opened))
}

/// Reads and checks the footer and the manifest, without opening the rest.
pub fn read_manifest(path: &Path) -> Result<(File, Manifest), BundleError> {
    let file = File::open(path).map_err(BundleError::unreadable)?;
    let manifest = manifest_of(&file)?;
    Ok((file, manifest))
}

fn manifest_of(file: &File) -> Result<Manifest, BundleError> {
    let metadata = file.metadata().map_err(BundleError::unreadable)?;
    if metadata.is_dir() {
        return Err(BundleError::Folder);
    }
    let length = metadata.len();
    if length == 0 {
        return Err(BundleError::Empty);
    }
    let Some(footer_at) = length.checked_sub(FOOTER_LENGTH) else {
        return Err(BundleError::TooShort);
    };
    let mut bytes = [0u8; FOOTER_LENGTH as usize];
    file.read_exact_at(&mut bytes, footer_at).map_err(BundleError::unreadable)?;
    // The footer limits the manifest's length: to the file, and to what may be allocated.
    let footer = Footer::from_bytes(&bytes, length)?;
    let mut bytes = vec![0u8; footer.manifest_length as usize];
    file.read_exact_at(&mut bytes, footer.manifest_offset).map_err(BundleError::unreadable)?;
    let hash: [u8; 32] = Sha256::digest(&bytes).into();
    if hash != footer.manifest_sha256 {
        return Err(BundleError::Damaged("its manifest does not match its hash".into()));
    }
    let manifest: Manifest = serde_json::from_slice(&bytes)
        .map_err(|e| BundleError::Damaged(format!("its manifest cannot be parsed ({e})")))?;
    for section in &manifest.sections {
        let end = section.offset.checked_add(section.length);
        if section.offset % PAGE != 0 || end.is_none_or(|end| end > footer.manifest_offset) {
            return Err(BundleError::Damaged("a section lies outside the file".into()));
        }
    }
    Ok(manifest)
}

/// Checks the hash of every section and opens the bundle. Calls `progress` with the kind of each
/// section and whether it matches its hash.
pub fn verify(
    path: &Path,
    mut progress: impl FnMut(SectionKind, bool),
) -> Result<Manifest, BundleError> {
    let (file, manifest) = read_manifest(path)?;
    let stamp = Stamp::of_file(&file).map_err(BundleError::unreadable)?;
    let mut bad = Vec::new();
    for section in &manifest.sections {
        let found = writer::hash_range(&file, section.offset, section.length)
            .map_err(BundleError::unreadable)?;
        let matches = found == section.sha256;
        progress(section.kind, matches);
        if !matches {
            bad.push(format!("{:?}", section.kind).to_lowercase());
        }
    }
    if !bad.is_empty() {
        return Err(BundleError::Damaged(format!(
            "the bytes of section {} do not match their hash",
            bad.join(", ")
        )));
    }
    if Bundle::open(path)?.stamp != stamp {
        return Err(BundleError::Replaced);
    }
    Ok(manifest)
}
