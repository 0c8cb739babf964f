//! Opens and checks bundle files.
//!
//! Opening reads the footer, the manifest, the header of the records section and DuckDB's header,
//! so its time does not grow with the file. Only `verify`, and opening with a key, read everything.
//!
//! DuckDB opens the path by itself. If the file is replaced in between, the database would be of
//! another edition than the rest, so the path is compared with the opened file afterwards.

use std::fs::{File, Metadata};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};

use super::format::{FOOTER_LENGTH, Footer, PAGE, SectionKind};
use super::{
    Bundle, BundleError, Database, DuckDbLimits, MAX_SELECTIONS, MAX_VALUE_COUNTS, Manifest,
    SharedMap, Stamp, Trust, records, slice, writer,
};
use crate::catalog;
use crate::embed::LazyModel;

/// How often a file that changes while it is opened is tried, and the pause before the next try.
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_millis(50);

/// How a bundle is opened, and opened again when its file changes.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    pub duckdb: DuckDbLimits,
    /// The public key whose signature it must have. Every section is then compared with its signed
    /// hash before anything of it is used, which reads the whole file.
    pub verify_key: Option<PathBuf>,
}

/// What is known about the signature of an opened bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureState {
    /// It is of the operator's key, and every section has the signed hash.
    Verified,
    /// It was not checked: the operator gave no key.
    Unverified,
    Unsigned,
}

impl SignatureState {
    pub const fn name(self) -> &'static str {
        match self {
            SignatureState::Verified => "verified",
            SignatureState::Unverified => "unverified",
            SignatureState::Unsigned => "unsigned",
        }
    }
}

impl Bundle {
    /// Opens a bundle with the default limits for DuckDB, whoever signed it.
    pub fn open(path: &Path) -> Result<Bundle, BundleError> {
        Bundle::open_with(path, OpenOptions::default())
    }

    /// Opens the file that now has this bundle's path, in the same way.
    pub fn open_again(&self) -> Result<Bundle, BundleError> {
        Bundle::open_with(&self.path, self.options.clone())
    }

    /// Opens a bundle. Blocks, for longer if the file changes meanwhile or must be verified.
    pub fn open_with(path: &Path, options: OpenOptions) -> Result<Bundle, BundleError> {
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            let file = File::open(path).map_err(BundleError::unreadable)?;
            let metadata = file.metadata().map_err(BundleError::unreadable)?;
            let opened = Bundle::open_file(path, file, Stamp::of_metadata(&metadata), &options);
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
        options: &OpenOptions,
    ) -> Result<Bundle, BundleError> {
        let manifest = manifest_of(&file)?;
        let signature = signature_state(&file, &manifest, options.verify_key.as_deref())?;
        let map = SharedMap::of(&file).map_err(BundleError::unreadable)?;
        let missing = |what: &str| BundleError::Damaged(format!("it has no {what} section"));
        let records =
            manifest.section(SectionKind::Records).ok_or_else(|| missing("records"))?.clone();
        manifest
            .section(SectionKind::Database)
            .filter(|s| s.offset == 0)
            .ok_or_else(|| missing("database"))?;
        let layout = records::Layout::read(slice(&map, &records))?;
        let db = Database::open(path, &options.duckdb)?;
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
            options: options.clone(),
            signature,
            file,
            changed_in_place: AtomicBool::new(false),
            map,
            selections: Cache::new(MAX_SELECTIONS),
            value_counts: Cache::new(MAX_VALUE_COUNTS),
            text_index: OnceLock::new(),
            links: OnceLock::new(),
            columns: OnceLock::new(),
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
    if !manifest.has_possible_counts() {
        return Err(BundleError::Damaged("its manifest has a count that cannot be".into()));
    }
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
    check_sections(&file, &manifest, &mut progress)?;
    if Bundle::open(path)?.stamp != stamp {
        return Err(BundleError::Replaced);
    }
    Ok(manifest)
}

/// Checks the signature if there is a key to check it with, and then every section.
fn signature_state(
    file: &File,
    manifest: &Manifest,
    key: Option<&Path>,
) -> Result<SignatureState, BundleError> {
    match (key, &manifest.signature) {
        (None, None) => Ok(SignatureState::Unsigned),
        (None, Some(_)) => Ok(SignatureState::Unverified),
        (Some(key), _) => {
            if !manifest.check_signature(&Trust::Key(key))? {
                return Err(BundleError::Signature("it is not signed".into()));
            }
            check_sections(file, manifest, &mut |_, _| {})?;
            Ok(SignatureState::Verified)
        }
    }
}

/// Compares every section with its hash. Calls `progress` with the kind of each and whether it
/// matches.
fn check_sections(
    file: &File,
    manifest: &Manifest,
    progress: &mut impl FnMut(SectionKind, bool),
) -> Result<(), BundleError> {
    let mut bad = Vec::new();
    for section in &manifest.sections {
        let found = writer::hash_range(file, section.offset, section.length)
            .map_err(BundleError::unreadable)?;
        let matches = found == section.sha256;
        progress(section.kind, matches);
        if !matches {
            bad.push(format!("{:?}", section.kind).to_lowercase());
        }
    }
    match bad.is_empty() {
        true => Ok(()),
        false => Err(BundleError::Damaged(format!(
            "the bytes of section {} do not match their hash",
            bad.join(", ")
        ))),
    }
}
