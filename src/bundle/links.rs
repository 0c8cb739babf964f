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

    /// Adds records of another source that refer to the records of a source with `records` of
    /// them. The pairs are the `ord` of a record and the `ord` of one that refers to it, sorted.
    pub fn add_records(
        &self,
        source: &str,
        sub: &str,
        records: u64,
        pairs: &[(u32, u32)],
    ) -> io::Result<()> {
        let mut starts = Starts::default();
        for (at, (parent, _)) in pairs.iter().enumerate() {
            starts.begin(*parent as usize, at as u32);
        }
        let children: Vec<u32> = pairs.iter().map(|(_, child)| *child).collect();
        self.write(&format!("{source}.{sub}.records"), &children)?;
        self.write(&format!("{source}.{sub}"), &starts.end(records, pairs.len() as u32))
    }

    /// Starts the rows of a sub-resource of a source with `records` records.
    pub fn rows(&self, source: &str, sub: &str, records: u64) -> RowLinks<'_> {
        RowLinks {
            builder: self,
            name: format!("{source}.{sub}"),
            records,
            starts: Starts::default(),
            rows: 0,
            first: None,
        }
    }

    fn write(&self, name: &str, numbers: &[u32]) -> io::Result<()> {
        std::fs::write(self.folder.join(name), PackedNumbers::bytes_of(numbers))
    }

    pub fn finish(self, out: &Path) -> io::Result<()> {
        pack::pack(&self.folder, out, |_| true)
    }
}

/// Collects the rows of one sub-resource, in the order of their records.
pub struct RowLinks<'a> {
    builder: &'a Builder,
    name: String,
    records: u64,
    starts: Starts,
    rows: u32,
    first: Option<FirstRows>,
}

/// The first rows of each record, as JSON lines.
struct FirstRows {
    file: io::BufWriter<std::fs::File>,
    starts: Starts,
    kept: usize,
    length: u32,
}

impl RowLinks<'_> {
    /// Adds the next row, which belongs to the record with this `ord`. With its JSON it can be
    /// among the rows that are kept.
    pub fn add(&mut self, parent: usize, row: Option<&str>) -> io::Result<()> {
        let is_new = self.starts.begin(parent, self.rows);
        self.rows += 1;
        let Some(row) = row else { return Ok(()) };
        let first = match &mut self.first {
            Some(first) => first,
            None => self.first.insert(FirstRows::create(self.builder, &self.name)?),
        };
        first.kept = if is_new { 1 } else { first.kept + 1 };
        first.starts.begin(parent, first.length);
        if first.kept > FIRST {
            return Ok(());
        }
        first.file.write_all(row.as_bytes())?;
        first.file.write_all(b"\n")?;
        let length = u32::try_from(row.len() + 1).ok().and_then(|n| first.length.checked_add(n));
        let too_long = || io::Error::other(format!("the first rows of {} exceed 4 GiB", self.name));
        first.length = length.ok_or_else(too_long)?;
        Ok(())
    }

    /// Writes the files and returns the number of rows.
    pub fn finish(self) -> io::Result<u64> {
        self.builder.write(&self.name, &self.starts.end(self.records, self.rows))?;
        if let Some(FirstRows { mut file, starts, length, .. }) = self.first {
            file.flush()?;
            let starts = starts.end(self.records, length);
            self.builder.write(&format!("{}.first_starts", self.name), &starts)?;
        }
        Ok(self.rows.into())
    }
}

impl FirstRows {
    fn create(builder: &Builder, name: &str) -> io::Result<FirstRows> {
        let file = std::fs::File::create(builder.folder.join(format!("{name}.first")))?;
        let file = io::BufWriter::with_capacity(1 << 18, file);
        Ok(FirstRows { file, starts: Starts::default(), kept: 0, length: 0 })
    }
}

/// Where the range of each record begins.
#[derive(Default)]
struct Starts(Vec<u32>);

impl Starts {
    /// The record with this `ord` and those before it that have nothing begin here. Returns whether
    /// the record had not begun.
    fn begin(&mut self, ord: usize, at: u32) -> bool {
        let is_new = ord >= self.0.len();
        if is_new {
            self.0.resize(ord + 1, at);
        }
        is_new
    }

    /// All starts, and the end of the last range.
    fn end(mut self, records: u64, end: u32) -> Vec<u32> {
        self.0.resize(records as usize + 1, end);
        self.0
    }
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
