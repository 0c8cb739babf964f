//! What hangs under each record, prepared: which rows of a sub-resource's table are its own, which records of another source
//! name it. A list under a record then neither scans nor counts. Read where it lies in the memory map.
//!
//! One file a sub-resource, named `source.sub`: for each record of the source, in order, where its part begins, and one number
//! more for the end. Rows lie in the order of their records, so that the part is the rows themselves; records of another
//! source are listed in a second file, `source.sub.records`. The first rows of each record are kept as JSON, a line each, in
//! `source.sub.first`, found by `source.sub.first_starts`: most readers want no more.

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::SharedMap;
use super::pack::{self, Files, Numbers};

/// Rows of each record that are kept as JSON: a page of a list.
pub const FIRST: usize = 20;

/// Collects links and writes the section.
pub struct Builder {
    folder: PathBuf,
}

impl Builder {
    pub fn new(folder: PathBuf) -> io::Result<Builder> {
        std::fs::create_dir_all(&folder)?;
        Ok(Builder { folder })
    }

    /// A sub-resource of `records` records: pairs of a record's `ord` and the `ord` of what hangs under it, sorted.
    pub fn add(&self, source: &str, sub: &str, records: u64, pairs: &[(u32, u32)], kind: Kind) -> io::Result<()> {
        let mut starts = Vec::with_capacity(records as usize + 1);
        for (at, (parent, _)) in pairs.iter().enumerate() {
            starts.resize(starts.len().max(*parent as usize + 1), at as u32);
        }
        starts.resize(records as usize + 1, pairs.len() as u32);
        let write = |name: String, numbers: &[u32]| std::fs::write(self.folder.join(name), Numbers::bytes_of(numbers));
        if kind == Kind::Records {
            let children: Vec<u32> = pairs.iter().map(|(_, child)| *child).collect();
            write(format!("{source}.{sub}.records"), &children)?;
        }
        write(format!("{source}.{sub}"), &starts)
    }

    /// The rows of a sub-resource as JSON, those of one record after those of another. `each` hands over every row with the `ord` of its
    /// record.
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
                let longer = u32::try_from(row.len() + 1).ok().and_then(|more| length.checked_add(more));
                length =
                    longer.ok_or_else(|| io::Error::other(format!("the first rows of {source}.{sub} are too many")))?;
            }
            Ok(())
        })?;
        file.flush()?;
        starts.resize(records as usize + 1, length);
        Ok(std::fs::write(self.folder.join(format!("{source}.{sub}.first_starts")), Numbers::bytes_of(&starts))?)
    }

    pub fn finish(self, out: &Path) -> io::Result<()> {
        pack::pack(&self.folder, out, |_| true)
    }
}

/// What hangs under a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rows of its own.
    Rows,
    /// Records of another source.
    Records,
}

/// The links, opened from the section.
pub struct Links {
    files: Files,
}

impl Links {
    pub fn open(map: SharedMap, section: Range<usize>) -> Result<Links, String> {
        Ok(Links { files: Files::open(map, section)? })
    }

    /// The rows of a sub-resource that belong to the source's record number `ord`.
    pub fn rows(&self, source: &str, sub: &str, ord: usize) -> Range<usize> {
        self.files.numbers(&format!("{source}.{sub}")).span(ord)
    }

    /// The first of them as JSON; nothing where they are not kept.
    pub fn first_rows(&self, source: &str, sub: &str, ord: usize) -> Vec<&str> {
        let place = self.files.numbers(&format!("{source}.{sub}.first_starts")).span(ord);
        let lines = self.files.bytes(&format!("{source}.{sub}.first")).get(place).unwrap_or_default();
        std::str::from_utf8(lines).unwrap_or_default().lines().collect()
    }

    /// The records of another source that name the source's record number `ord`, in their own order.
    pub fn records(&self, source: &str, sub: &str, ord: usize) -> Vec<u32> {
        self.files.numbers(&format!("{source}.{sub}.records")).range(self.rows(source, sub, ord)).collect()
    }
}
