//! Why a file can't be used as a bundle, in words that say what to do. Each message continues a
//! sentence that begins with the path; the caller adds the full stop.

use super::format::{FORMAT, OLDEST_READABLE};
use crate::signing::KeyError;

#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("cannot read it: {0}. Check the path and its permissions")]
    Unreadable(String),
    #[error("it is a folder; give the path of a bundle file")]
    Folder,
    #[error("it is empty. Copy the bundle again")]
    Empty,
    #[error(
        "it is too short to be a bundle. Copy the bundle again, or check that the path is right"
    )]
    TooShort,
    #[error(
        "it is not a Josh bundle, or its end is missing. If it should be one, copy it again; \
         if it is a plain DuckDB file, build a bundle with josh-data-build"
    )]
    NotABundle,
    #[error("it is damaged: {0}. Copy the bundle again")]
    Damaged(String),
    /// Damage, or something that was in DuckDB's way.
    #[error("it is damaged: DuckDB cannot open it ({0}). Copy the bundle again")]
    Database(String),
    #[error(
        "it was replaced or written to while it was being read. Wait until it has been copied, \
         then try again"
    )]
    Replaced,
    #[error(
        "it has format {found}, and this Josh reads {OLDEST_READABLE} to {FORMAT}. \
         Build it again with a newer josh-data-build"
    )]
    TooOld { found: u32 },
    #[error(
        "it has format {found}, and this Josh reads {OLDEST_READABLE} to {FORMAT}. \
         Install a newer Josh"
    )]
    TooNew { found: u32 },
    #[error("{0}")]
    Signature(String),
    /// About the file of a key, not about the bundle.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl BundleError {
    /// Whether the same file may be usable later: too many files were open, say.
    pub fn may_pass(&self) -> bool {
        use BundleError::{Database, Replaced, Unreadable};
        matches!(self, Unreadable(_) | Database(_) | Replaced)
    }

    pub(super) fn unreadable(error: std::io::Error) -> BundleError {
        BundleError::Unreadable(error.to_string())
    }
}
