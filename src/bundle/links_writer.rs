//! Writes the links section (`links` says how it is laid out).

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::pack::{self, PackedNumbers};
use super::rows::{self, Encoder};

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
    pub fn rows(
        &self,
        source: &str,
        sub: &str,
        records: u64,
        columns: Vec<&'static str>,
    ) -> RowLinks<'_> {
        RowLinks {
            builder: self,
            name: format!("{source}.{sub}"),
            records,
            columns,
            starts: Starts::default(),
            rows: 0,
            kept: None,
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
    columns: Vec<&'static str>,
    starts: Starts,
    rows: u32,
    kept: Option<KeptRows>,
}

impl RowLinks<'_> {
    /// Adds the next row, which belongs to the record with this `ord`. With its JSON it is kept.
    pub fn add(&mut self, parent: usize, row: Option<&str>) -> io::Result<()> {
        self.starts.begin(parent, self.rows);
        self.rows += 1;
        let Some(row) = row else { return Ok(()) };
        let kept = match &mut self.kept {
            Some(kept) => kept,
            None => self.kept.insert(KeptRows::create(self.builder, &self.name)?),
        };
        kept.add(parent, row, &self.columns)
    }

    /// Writes the files and returns the number of rows.
    pub fn finish(self) -> io::Result<u64> {
        let RowLinks { builder, name, records, .. } = self;
        builder.write(&name, &self.starts.end(records, self.rows))?;
        if let Some(mut kept) = self.kept {
            kept.end_record(&self.columns)?;
            kept.write_waiting()?;
            let first_starts = kept.first_starts.end(records, kept.first.finish()?);
            builder.write(&format!("{name}.first_starts"), &first_starts)?;
            let mut block_starts = kept.block_starts;
            let record_blocks = kept.record_blocks.end(records, block_starts.len() as u32);
            builder.write(&format!("{name}.blocks"), &record_blocks)?;
            block_starts.push(kept.blocks.finish()?);
            builder.write(&format!("{name}.block_starts"), &block_starts)?;
            for (extension, text) in
                [("dictionary", kept.dictionary), ("columns", self.columns.join("\n"))]
            {
                std::fs::write(builder.folder.join(format!("{name}.{extension}")), text)?;
            }
        }
        Ok(self.rows.into())
    }
}

/// The rows that are kept, by what their record has of them.
struct KeptRows {
    /// Of the present record: rows that are in no block yet, and how many blocks it has.
    pending: Vec<String>,
    parent: usize,
    parent_blocks: usize,
    first: Growing,
    first_starts: Starts,
    blocks: Growing,
    block_starts: Vec<u32>,
    /// The first block of each record.
    record_blocks: Starts,
    /// Blocks in plain form that are not written yet: of the first ones the dictionary is made.
    waiting: Vec<String>,
    dictionary: String,
    encoder: Option<Encoder>,
}

impl KeptRows {
    fn create(builder: &Builder, name: &str) -> io::Result<KeptRows> {
        let file =
            |extension: &str| Growing::create(&builder.folder.join(format!("{name}.{extension}")));
        Ok(KeptRows {
            pending: Vec::new(),
            parent: 0,
            parent_blocks: 0,
            first: file("first")?,
            first_starts: Starts::default(),
            blocks: file("rows")?,
            block_starts: Vec::new(),
            record_blocks: Starts::default(),
            waiting: Vec::new(),
            dictionary: String::new(),
            encoder: None,
        })
    }

    fn add(&mut self, parent: usize, row: &str, columns: &[&str]) -> io::Result<()> {
        if parent != self.parent {
            self.end_record(columns)?;
            self.parent = parent;
        } else if self.pending.len() == rows::room(self.parent_blocks) {
            self.end_block(columns)?;
        }
        self.pending.push(row.to_string());
        Ok(())
    }

    /// Writes what is left of the present record.
    fn end_record(&mut self, columns: &[&str]) -> io::Result<()> {
        if self.parent_blocks > 0 {
            self.end_block(columns)?;
        } else if !self.pending.is_empty() {
            self.first_starts.begin(self.parent, self.first.end()?);
            for row in self.pending.drain(..) {
                self.first.write(row.as_bytes())?;
                self.first.write(b"\n")?;
            }
        }
        self.parent_blocks = 0;
        Ok(())
    }

    fn end_block(&mut self, columns: &[&str]) -> io::Result<()> {
        let block = self.block_starts.len() + self.waiting.len();
        self.record_blocks.begin(self.parent, block as u32);
        self.waiting.push(rows::transposed(columns, &self.pending)?);
        self.pending.clear();
        self.parent_blocks += 1;
        let is_enough = || self.waiting.iter().map(String::len).sum::<usize>() >= rows::DICTIONARY;
        if self.encoder.is_some() || is_enough() { self.write_waiting() } else { Ok(()) }
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        let encoder = match &mut self.encoder {
            Some(encoder) => encoder,
            None => {
                self.dictionary = self.waiting.concat();
                let end = self.dictionary.floor_char_boundary(rows::DICTIONARY);
                self.dictionary.truncate(end);
                self.encoder.insert(Encoder::new(&self.dictionary)?)
            }
        };
        for plain in self.waiting.drain(..) {
            self.block_starts.push(self.blocks.end()?);
            self.blocks.write(&encoder.encode(&plain)?)?;
        }
        Ok(())
    }
}

/// A file that is written from start to end, of at most 4 GiB.
struct Growing {
    path: PathBuf,
    file: io::BufWriter<std::fs::File>,
    length: u64,
}

impl Growing {
    fn create(path: &Path) -> io::Result<Growing> {
        let file = io::BufWriter::with_capacity(1 << 18, std::fs::File::create(path)?);
        Ok(Growing { path: path.to_path_buf(), file, length: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn finish(mut self) -> io::Result<u32> {
        self.file.flush()?;
        self.end()
    }

    /// Where the next bytes go.
    fn end(&self) -> io::Result<u32> {
        let too_long = |_| io::Error::other(format!("{} exceeds 4 GiB", self.path.display()));
        u32::try_from(self.length).map_err(too_long)
    }
}

/// Where the range of each record begins.
#[derive(Default)]
struct Starts(Vec<u32>);

impl Starts {
    /// The record with this `ord` and those before it that have nothing begin here, unless it has
    /// begun.
    fn begin(&mut self, ord: usize, at: u32) {
        if ord >= self.0.len() {
            self.0.resize(ord + 1, at);
        }
    }

    /// All starts, and the end of the last range.
    fn end(mut self, records: u64, end: u32) -> Vec<u32> {
        self.0.resize(records as usize + 1, end);
        self.0
    }
}
