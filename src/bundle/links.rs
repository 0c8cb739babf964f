//! The links section: the sub-resources of each record, worked out at build time. It says which
//! rows of a sub-resource's table belong to a record, or which records of another source refer to
//! it, and holds these rows, so that listing a sub-resource neither scans nor counts. Read in place
//! from the memory map; `links_writer` writes it.
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
use std::ops::Range;

use super::SharedMap;
use super::pack::{self, PackedNumbers};
use super::rows::{self, Dictionary, RowBlock};

/// The links, opened from their section.
pub struct Links {
    map: SharedMap,
    /// By source and sub-resource.
    places: HashMap<String, HashMap<String, Places>>,
    /// Of sub-resources that the section lacks.
    nowhere: Places,
}

/// Where the files of a sub-resource are in the map; empty where it has no such file.
#[derive(Default)]
struct Places {
    starts: Range<usize>,
    records: Range<usize>,
    first: Range<usize>,
    first_starts: Range<usize>,
    blocks: Range<usize>,
    block_starts: Range<usize>,
    rows: Range<usize>,
    columns: Range<usize>,
    dictionary: Option<Dictionary>,
}

impl Places {
    fn add(&mut self, extension: &str, place: Range<usize>, map: &SharedMap) {
        let own = match extension {
            "" => &mut self.starts,
            "records" => &mut self.records,
            "first" => &mut self.first,
            "first_starts" => &mut self.first_starts,
            "blocks" => &mut self.blocks,
            "block_starts" => &mut self.block_starts,
            "rows" => &mut self.rows,
            "columns" => &mut self.columns,
            "dictionary" => {
                self.dictionary = map.get(place).and_then(Dictionary::new);
                return;
            }
            _ => return,
        };
        *own = place;
    }
}

impl Links {
    pub fn open(map: SharedMap, section: Range<usize>) -> Result<Links, String> {
        let listed = map.get(section.clone()).and_then(pack::list);
        let mut places: HashMap<String, HashMap<String, Places>> = HashMap::new();
        for (name, at) in listed.ok_or("the list of its files is damaged")? {
            let mut parts = name.splitn(3, '.');
            let (Some(source), Some(sub)) = (parts.next(), parts.next()) else { continue };
            let own = places.entry(source.into()).or_default().entry(sub.into()).or_default();
            let place = section.start + at.start..section.start + at.end;
            own.add(parts.next().unwrap_or_default(), place, &map);
        }
        Ok(Links { map, places, nowhere: Places::default() })
    }

    fn places(&self, source: &str, sub: &str) -> &Places {
        let found = self.places.get(source).and_then(|subs| subs.get(sub));
        found.unwrap_or(&self.nowhere)
    }

    fn bytes(&self, place: &Range<usize>) -> &[u8] {
        self.map.get(place.clone()).unwrap_or_default()
    }

    fn numbers(&self, place: &Range<usize>) -> PackedNumbers<'_> {
        PackedNumbers::in_bytes(self.bytes(place))
    }

    /// How many rows or records of a sub-resource belong to the record with this `ord`.
    pub fn count(&self, source: &str, sub: &str, ord: usize) -> usize {
        self.numbers(&self.places(source, sub).starts).span(ord).len()
    }

    /// The rows of a sub-resource that belong to the record with this `ord`.
    pub fn rows(&self, source: &str, sub: &str, ord: usize) -> Rows<'_> {
        let places = self.places(source, sub);
        let lines = self.numbers(&places.first_starts).span(ord);
        Rows {
            range: self.numbers(&places.starts).span(ord),
            first: text(self.bytes(&places.first).get(lines).unwrap_or_default()),
            blocks: self.numbers(&places.blocks).span(ord),
            block_starts: self.numbers(&places.block_starts),
            bytes: self.bytes(&places.rows),
            dictionary: places.dictionary.as_ref(),
            columns: text(self.bytes(&places.columns)),
        }
    }

    /// The `ord`s of the records of another source that refer to the record with this `ord`, in
    /// ascending order.
    pub fn records(&self, source: &str, sub: &str, ord: usize) -> Vec<u32> {
        let places = self.places(source, sub);
        let range = self.numbers(&places.starts).span(ord);
        self.numbers(&places.records).range(range).collect()
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
    use crate::bundle::links_writer::Builder;
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
