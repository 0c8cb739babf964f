//! The layout of a bundle file, and nothing else:
//!
//! ```text
//! [DuckDB database][pad][section][pad]…[section][pad][manifest JSON][footer]
//! ```
//!
//! Sections begin on page boundaries so that they can be memory-mapped as they are. The footer is the last
//! `FOOTER_LENGTH` bytes: it finds the manifest, and its own hash tells a whole file from a torn one.

use sha2::{Digest, Sha256};

use super::BundleError;

/// The format this binary writes.
pub const FORMAT: u32 = 2;
/// The oldest format this binary reads.
pub const OLDEST_READABLE: u32 = 2;

pub const PAGE: u64 = 4096;
pub const FOOTER_LENGTH: u64 = 128;
const MAGIC: &[u8; 8] = b"JOSHBNDL";

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    /// The DuckDB database, always first.
    Database,
    /// Every record as prepared JSON, found by id or by position (see `records`).
    Records,
    /// What hangs under each record.
    Links,
    /// The tantivy index.
    TextIndex,
    /// The names of registries' records.
    Names,
    /// The passage vectors, row by row: what is scored exactly.
    Matrix,
    /// The usearch graph over them.
    Vectors,
    /// An embedding model and its tokenizer, for a bundle not made with the built-in one.
    Model,
}

/// The last bytes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footer {
    pub format: u32,
    pub oldest_reader: u32,
    pub manifest_offset: u64,
    pub manifest_length: u64,
    pub file_length: u64,
    pub manifest_sha256: [u8; 32],
}

impl Footer {
    pub fn to_bytes(&self) -> [u8; FOOTER_LENGTH as usize] {
        let mut out = [0u8; FOOTER_LENGTH as usize];
        out[..8].copy_from_slice(MAGIC);
        out[8..12].copy_from_slice(&self.format.to_le_bytes());
        out[12..16].copy_from_slice(&self.oldest_reader.to_le_bytes());
        out[16..24].copy_from_slice(&self.manifest_offset.to_le_bytes());
        out[24..32].copy_from_slice(&self.manifest_length.to_le_bytes());
        out[32..40].copy_from_slice(&self.file_length.to_le_bytes());
        out[40..72].copy_from_slice(&self.manifest_sha256);
        let hash: [u8; 32] = Sha256::digest(&out[..96]).into();
        out[96..].copy_from_slice(&hash);
        out
    }

    /// Reads and checks a footer: whose file it is, whether it is whole, whether this binary reads its format.
    pub fn from_bytes(bytes: &[u8], file_length: u64) -> Result<Footer, BundleError> {
        let Ok(bytes) = <&[u8; FOOTER_LENGTH as usize]>::try_from(bytes) else { return Err(BundleError::TooShort) };
        if &bytes[..8] != MAGIC {
            return Err(BundleError::NotABundle);
        }
        let hash: [u8; 32] = Sha256::digest(&bytes[..96]).into();
        if hash != bytes[96..] {
            return Err(BundleError::Damaged("its footer does not match its own hash".into()));
        }
        let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let mut manifest_sha256 = [0u8; 32];
        manifest_sha256.copy_from_slice(&bytes[40..72]);
        let footer = Footer {
            format: u32_at(8),
            oldest_reader: u32_at(12),
            manifest_offset: u64_at(16),
            manifest_length: u64_at(24),
            file_length: u64_at(32),
            manifest_sha256,
        };
        if footer.format < OLDEST_READABLE {
            return Err(BundleError::TooOld { found: footer.format });
        }
        if footer.oldest_reader > FORMAT {
            return Err(BundleError::TooNew { found: footer.format });
        }
        if footer.file_length != file_length {
            return Err(BundleError::Damaged(format!(
                "it is {file_length} bytes long and should be {}",
                footer.file_length
            )));
        }
        let end = footer.manifest_offset.checked_add(footer.manifest_length);
        if end != Some(file_length - FOOTER_LENGTH) {
            return Err(BundleError::Damaged("its manifest lies outside the file".into()));
        }
        Ok(footer)
    }
}

/// The next page boundary at or after `at`.
pub const fn aligned(at: u64) -> u64 {
    at.div_ceil(PAGE) * PAGE
}
