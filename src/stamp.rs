//! What a file looks like from outside, to notice that it was replaced or written to. It never
//! reads the content.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

/// Which file it is, its length and when it was last written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// The stamp of the file that this path leads to now.
    pub fn of(path: &Path) -> io::Result<Stamp> {
        Ok(Stamp::of_metadata(&std::fs::metadata(path)?))
    }

    /// The stamp of an open file, wherever its path leads by now.
    pub fn of_file(file: &File) -> io::Result<Stamp> {
        Ok(Stamp::of_metadata(&file.metadata()?))
    }

    pub(super) fn of_metadata(metadata: &Metadata) -> Stamp {
        Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}
