//! The layout of a bundle file. It knows nothing of what the sections contain:
//!
//! ```text
//! [DuckDB database][pad][section][pad]…[section][pad][manifest JSON][footer]
//! ```
//!
//! Sections begin on page boundaries so that they can be used from a memory map. The footer, the
//! last `FOOTER_LENGTH` bytes, says where the manifest is and how long the file should be, and its
//! hash shows whether the footer itself is intact.

use sha2::{Digest, Sha256};

use super::BundleError;

/// The format that this binary writes.
pub const FORMAT: u32 = 5;
/// The oldest format that this binary reads. Format 3 has no columns section; DuckDB answers then.
/// Up to format 4 vectors are kept twice.
pub const OLDEST_READABLE: u32 = 3;
/// The oldest format whose readers can read what this binary writes: older ones don't know all of
/// its sections.
pub const OLDEST_READER: u32 = 5;

pub const PAGE: u64 = 4096;
pub const FOOTER_LENGTH: u64 = 128;
const MAGIC: &[u8; 8] = b"JOSHBNDL";

/// A manifest is read into memory whole. Real ones have some 100 KB; this only keeps a forged
/// footer from allocating the length of a large file.
pub const MAX_MANIFEST_LENGTH: u64 = 64 << 20;

/// What a section contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    /// The DuckDB database, always first.
    Database,
    /// Every record as prepared JSON, by id and by number (see `records`).
    Records,
    /// The sub-resources of each record (see `links`).
    Links,
    /// The fields of all records, for filters, sorts and counts (see `columns`).
    Columns,
    /// The tantivy index (see `text`).
    TextIndex,
    /// The names of the records of registry sources (see `names`).
    Names,
    /// Where the vector of each passage is among the vectors (see `vectors`).
    Matrix,
    /// The usearch graph, with the vectors.
    Vectors,
    /// An embedding model and its tokenizer, unless the vectors are by the built-in one.
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

    /// Parses and checks a footer: that the file is a bundle, is complete, and has a format that
    /// this binary reads.
    pub fn from_bytes(bytes: &[u8], file_length: u64) -> Result<Footer, BundleError> {
        let Ok(bytes) = <&[u8; FOOTER_LENGTH as usize]>::try_from(bytes) else {
            return Err(BundleError::TooShort);
        };
        if &bytes[..8] != MAGIC {
            return Err(BundleError::NotABundle);
        }
        let hash: [u8; 32] = Sha256::digest(&bytes[..96]).into();
        if hash != bytes[96..] {
            return Err(BundleError::Damaged("its footer does not match its own hash".into()));
        }
        let u32_at = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
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
        if footer.manifest_length > MAX_MANIFEST_LENGTH {
            return Err(BundleError::Damaged(format!(
                "its manifest is {} bytes long, more than the {MAX_MANIFEST_LENGTH} allowed",
                footer.manifest_length
            )));
        }
        Ok(footer)
    }
}

/// The next page boundary at or after `at`.
pub const fn aligned(at: u64) -> u64 {
    at.div_ceil(PAGE) * PAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_limited_by_the_file_and_by_a_maximum() {
        let parse = |manifest_length: u64, file_length: u64| {
            let footer = Footer {
                format: FORMAT,
                oldest_reader: OLDEST_READER,
                manifest_offset: PAGE,
                manifest_length,
                file_length,
                manifest_sha256: [7; 32],
            };
            let parsed = Footer::from_bytes(&footer.to_bytes(), file_length);
            parsed.map(|parsed| assert_eq!(parsed, footer)).map_err(|e| e.to_string())
        };
        let fitting = |length: u64| parse(length, PAGE + length + FOOTER_LENGTH);
        assert_eq!(fitting(100), Ok(()));
        assert_eq!(fitting(MAX_MANIFEST_LENGTH), Ok(()));
        let too_long = fitting(MAX_MANIFEST_LENGTH + 1).unwrap_err();
        assert!(too_long.contains("67108865 bytes long, more than the 67108864"), "{too_long}");
        for length in [99, 101, u64::MAX - PAGE, u64::MAX] {
            let outside = parse(length, PAGE + 100 + FOOTER_LENGTH).unwrap_err();
            assert!(outside.contains("outside the file"), "{length}: {outside}");
        }
    }
}
