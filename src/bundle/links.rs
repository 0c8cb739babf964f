//! The links section: the sub-resources of each record, worked out at build time. It says which
//! rows of a sub-resource's table belong to a record, or which records of another source refer to
//! it, and holds these rows, so that listing a sub-resource neither scans nor counts. Read in place
//! from the memory map.
//!
//! Each sub-resource has one file, `source.sub`: for each record of the source, in order, the start
//! of its range, and one more number for the end of the last. A table's rows are stored in the
//! order of their parent records, so the range is one of row numbers. Records of another source are
//! listed in a second file, `source.sub.records`, and the range is one of places in that list.
//!
//! The rows themselves, of all sub-resources but texts, are kept in one of two forms. A record with
//! at most [`rows::FIRST`] of them has them as JSON lines in `source.sub.first`, with their ranges
//! in `source.sub.first_starts`. A record with more has them in blocks (see `rows`):
//! `source.sub.rows` are all blocks, `source.sub.block_starts` says where each begins,
//! `source.sub.blocks` which is the first of each record, `source.sub.dictionary` is what they were
//! compressed with, and `source.sub.columns` names the columns.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::SharedMap;
use super::pack::{self, Files, PackedNumbers};
use super::rows::{self, Dictionary, Encoder, RowBlock};

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

/// The links, opened from their section.
pub struct Links {
    files: Files,
    /// By the names of their files.
    dictionaries: HashMap<String, Dictionary>,
}

impl Links {
    pub fn open(map: SharedMap, section: Range<usize>) -> Result<Links, String> {
        let files = Files::open(map, section)?;
        let names = files.names().filter(|name| name.ends_with(".dictionary"));
        let dictionary = |name: &str| Dictionary::new(files.bytes(name));
        let dictionaries =
            names.filter_map(|name| Some((name.to_string(), dictionary(name)?))).collect();
        Ok(Links { files, dictionaries })
    }

    /// How many rows or records of a sub-resource belong to the record with this `ord`.
    pub fn count(&self, source: &str, sub: &str, ord: usize) -> usize {
        self.files.numbers(&format!("{source}.{sub}")).span(ord).len()
    }

    /// The rows of a sub-resource that belong to the record with this `ord`.
    pub fn rows(&self, source: &str, sub: &str, ord: usize) -> Rows<'_> {
        let name = format!("{source}.{sub}");
        let file = |extension: &str| format!("{name}.{extension}");
        let lines = self.files.numbers(&file("first_starts")).span(ord);
        let blocks = self.files.numbers(&file("blocks")).span(ord);
        let block_starts = self.files.numbers(&file("block_starts"));
        Rows {
            range: self.files.numbers(&name).span(ord),
            first: text(self.files.bytes(&file("first")).get(lines).unwrap_or_default()),
            blocks,
            block_starts,
            bytes: self.files.bytes(&file("rows")),
            dictionary: self.dictionaries.get(&file("dictionary")),
            columns: text(self.files.bytes(&file("columns"))),
        }
    }

    /// The `ord`s of the records of another source that refer to the record with this `ord`, in
    /// ascending order.
    pub fn records(&self, source: &str, sub: &str, ord: usize) -> Vec<u32> {
        self.files
            .numbers(&format!("{source}.{sub}.records"))
            .range(self.files.numbers(&format!("{source}.{sub}")).span(ord))
            .collect()
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// The rows of one record, as far as they are kept.
pub struct Rows<'a> {
    /// Their numbers in the table.
    pub range: Range<usize>,
    /// JSON lines: all rows of a record without blocks, in older bundles the first ones of any.
    first: &'a str,
    /// The blocks of the record, and where each block begins.
    blocks: Range<usize>,
    block_starts: PackedNumbers<'a>,
    bytes: &'a [u8],
    dictionary: Option<&'a Dictionary>,
    columns: &'a str,
}

impl<'a> Rows<'a> {
    /// The rows at these places of the record as JSON. Nothing where some of them are not kept.
    pub fn json(&self, places: Range<usize>) -> Option<Vec<String>> {
        let places = places.start.min(self.range.len())..places.end.min(self.range.len());
        if self.blocks.is_empty() {
            let lines = self.first.lines().skip(places.start).take(places.len());
            let found: Vec<String> = lines.map(str::to_string).collect();
            return (found.len() == places.len()).then_some(found);
        }
        let mut found = Vec::new();
        for block in rows::block_of(places.start)..=rows::block_of(places.end.saturating_sub(1)) {
            let held = rows::places(block, self.range.len());
            let wanted = places.start.max(held.start)..places.end.min(held.end);
            if !wanted.is_empty() {
                let rows = self.block(block)?;
                found.extend(wanted.map(|place| rows.json(place - held.start)));
            }
        }
        Some(found)
    }

    /// All rows, block by block. Nothing where they are not kept.
    pub fn all(&self) -> Option<Vec<RowBlock<'a>>> {
        if !self.blocks.is_empty() {
            let blocks = rows::block_of(self.range.len().saturating_sub(1)) + 1;
            return (0..blocks).map(|block| self.block(block)).collect();
        }
        let lines: Vec<&str> = self.first.lines().collect();
        if lines.len() != self.range.len() || self.columns.is_empty() {
            return None;
        }
        Some(vec![RowBlock::of_json(&self.names(), &lines)?])
    }

    fn block(&self, block: usize) -> Option<RowBlock<'a>> {
        let held = rows::places(block, self.range.len());
        let number = self.blocks.clone().nth(block)?;
        let bytes = self.bytes.get(self.block_starts.span(number))?;
        RowBlock::decode(&self.names(), held.len(), bytes, self.dictionary?)
    }

    fn names(&self) -> Vec<&'a str> {
        self.columns.lines().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::guard::GuardedMap;
    use crate::bundle::rows::FIRST;

    /// Given records with none, few and many rows, when they are written and opened, then every
    /// place gives its row, alone and with others.
    #[test]
    fn rows_are_found_by_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let builder = Builder::new(folder.path().join("links")).unwrap();
        let counts = [0, 3, FIRST, 0, FIRST + 1, 1_600, 1, 0];
        let row = |record: usize, at: usize| format!(r#"{{"of":{record},"at":"{at}"}}"#);
        let mut rows = builder.rows("bills", "actions", counts.len() as u64, vec!["of", "at"]);
        for (record, count) in counts.into_iter().enumerate() {
            (0..count).for_each(|at| rows.add(record, Some(&row(record, at))).unwrap());
        }
        rows.finish().unwrap();
        let out = folder.path().join("section");
        builder.finish(&out).unwrap();
        let map = GuardedMap::of(&std::fs::File::open(&out).unwrap()).unwrap();
        let map = SharedMap(std::sync::Arc::new(map));
        let end = map.len();
        let links = Links::open(map, 0..end).unwrap();
        let mut before = 0;
        for (record, count) in counts.into_iter().enumerate() {
            let rows = links.rows("bills", "actions", record);
            assert_eq!(rows.range, before..before + count);
            assert_eq!(links.count("bills", "actions", record), count);
            before += count;
            let expected: Vec<String> = (0..count).map(|at| row(record, at)).collect();
            assert_eq!(rows.json(0..count).unwrap(), expected);
            for (from, to) in [(0, 1), (15, 25), (19, 21), (500, 1_100), (1_590, 9_000)] {
                let within = from.min(count)..to.min(count);
                assert_eq!(rows.json(from..to).unwrap(), expected[within], "{record} {from}");
            }
            let all: Vec<String> = rows
                .all()
                .unwrap()
                .iter()
                .flat_map(|block| (0..block.rows).map(|at| block.json(at)).collect::<Vec<_>>())
                .collect();
            assert_eq!(all, expected);
        }
        assert!(links.rows("bills", "cosponsors", 1).range.is_empty());
    }
}
