//! The links section: the sub-resources of each record, worked out at build time. It says which
//! rows of a sub-resource's table belong to a record, or which records of another source refer to
//! it, so that listing a sub-resource neither scans nor counts. Read in place from the memory map;
//! filters, sorts and later pages are left to DuckDB.
//!
//! Each sub-resource has one file, `source.sub`: for each record of the source, in order, the start
//! of its range, and one more number for the end of the last. A table's rows are stored in the
//! order of their parent records, so the range is one of row numbers. Records of another source are
//! listed in a second file, `source.sub.records`, and the range is one of places in that list. The
//! first rows of each record are also kept as JSON lines in `source.sub.first`, with their ranges
//! in `source.sub.first_starts`: most requests need no more.

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::SharedMap;
use super::pack::{self, Files, PackedNumbers};

/// How many rows of each record are kept as JSON: the default page of a list.
pub const FIRST: usize = 20;

/// Collects the links and writes the section.
pub struct Builder {
    folder: PathBuf,
}

impl Builder {
    pub fn new(folder: PathBuf) -> io::Result<Builder> {
        std::fs::create_dir_all(&folder)?;
        Ok(Builder { folder })
    }

    /// Adds a sub-resource of a source with `records` records. The pairs are the `ord` of a record
    /// and the `ord` of one of its rows or related records, sorted.
    pub fn add(
        &self,
        source: &str,
        sub: &str,
        records: u64,
        pairs: &[(u32, u32)],
        kind: LinkKind,
    ) -> io::Result<()> {
        let mut starts = Vec::with_capacity(records as usize + 1);
        for (at, (parent, _)) in pairs.iter().enumerate() {
            starts.resize(starts.len().max(*parent as usize + 1), at as u32);
        }
        starts.resize(records as usize + 1, pairs.len() as u32);
        let write = |name: String, numbers: &[u32]| {
            std::fs::write(self.folder.join(name), PackedNumbers::bytes_of(numbers))
        };
        if kind == LinkKind::Records {
            let children: Vec<u32> = pairs.iter().map(|(_, child)| *child).collect();
            write(format!("{source}.{sub}.records"), &children)?;
        }
        write(format!("{source}.{sub}"), &starts)
    }

    /// Adds the rows of a sub-resource as JSON. `each` calls its argument with every row and the
    /// `ord` of its record, in the order of the records.
    pub fn add_first<E: From<io::Error>>(
        &self,
        source: &str,
        sub: &str,
        records: u64,
        each: impl FnOnce(&mut dyn FnMut(usize, &str) -> io::Result<()>) -> Result<(), E>,
    ) -> Result<(), E> {
        let file = std::fs::File::create(self.folder.join(format!("{source}.{sub}.first")))?;
        let mut file = io::BufWriter::new(file);
        let (mut starts, mut kept, mut length) = (vec![0u32], 0, 0u32);
        each(&mut |parent, row| {
            if parent + 1 > starts.len() {
                starts.resize(parent + 1, length);
                kept = 0;
            }
            kept += 1;
            if kept <= FIRST {
                file.write_all(row.as_bytes())?;
                file.write_all(b"\n")?;
                let longer =
                    u32::try_from(row.len() + 1).ok().and_then(|more| length.checked_add(more));
                length = longer.ok_or_else(|| {
                    io::Error::other(format!("the first rows of {source}.{sub} exceed 4 GiB"))
                })?;
            }
            Ok(())
        })?;
        file.flush()?;
        starts.resize(records as usize + 1, length);
        Ok(std::fs::write(
            self.folder.join(format!("{source}.{sub}.first_starts")),
            PackedNumbers::bytes_of(&starts),
        )?)
    }

    pub fn finish(self, out: &Path) -> io::Result<()> {
        pack::pack(&self.folder, out, |_| true)
    }
}

/// What a sub-resource consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Rows of a table of its own.
    Rows,
    /// Records of another source.
    Records,
}

/// The links, opened from their section.
pub struct Links {
    files: Files,
}

impl Links {
    pub fn open(map: SharedMap, section: Range<usize>) -> Result<Links, String> {
        Ok(Links { files: Files::open(map, section)? })
    }

    /// The row numbers of a sub-resource that belong to the record with this `ord`.
    pub fn rows(&self, source: &str, sub: &str, ord: usize) -> Range<usize> {
        self.files.numbers(&format!("{source}.{sub}")).span(ord)
    }

    /// The first of these rows as JSON; empty for a sub-resource whose rows are not kept.
    pub fn first_rows(&self, source: &str, sub: &str, ord: usize) -> Vec<&str> {
        let place = self.files.numbers(&format!("{source}.{sub}.first_starts")).span(ord);
        let lines =
            self.files.bytes(&format!("{source}.{sub}.first")).get(place).unwrap_or_default();
        std::str::from_utf8(lines).unwrap_or_default().lines().collect()
    }

    /// The `ord`s of the records of another source that refer to the record with this `ord`, in
    /// ascending order.
    pub fn records(&self, source: &str, sub: &str, ord: usize) -> Vec<u32> {
        self.files
            .numbers(&format!("{source}.{sub}.records"))
            .range(self.rows(source, sub, ord))
            .collect()
    }
}
