//! The records section: every record as the JSON that a response contains, so that serving one is
//! a look-up in the memory map, without SQL and without parsing JSON.
//!
//! ```text
//! magic, count, offset of the index, offset of the positions        32 bytes
//! entries: id length u32, data length u32, id, data, citation       no padding
//! index: hash of id u64, record number u64                          sorted by hash
//! positions: start of entry u64                                     count + 1, by record number
//! ```
//!
//! Records are numbered through all sources, in manifest order. Within a source they follow its
//! default order: the number is the `ord` column of its table plus the source's first number. All
//! integers are little-endian.

use std::io::{self, Write};

use super::BundleError;

const MAGIC: &[u8; 8] = b"JOSHREC1";
const HEADER: usize = 32;

/// One record, borrowed from the map.
#[derive(Clone, Copy, Debug)]
pub struct RecordEntry<'a> {
    pub id: &'a str,
    /// The record as JSON.
    pub data: &'a str,
    /// Its citation as JSON.
    pub citation: &'a str,
}

/// Where the parts of the section are. Checked once and kept with the map.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    count: usize,
    index: usize,
    positions: usize,
}

impl Layout {
    /// Checks the header, not every entry: opening must not read the whole section.
    pub fn read(bytes: &[u8]) -> Result<Self, BundleError> {
        let header = || {
            let magic = bytes.get(..8)? == MAGIC;
            let (count, index, positions) = (word(bytes, 8)?, word(bytes, 16)?, word(bytes, 24)?);
            let index_end = index.checked_add(count.checked_mul(16)?)?;
            let end = positions.checked_add(count.checked_add(1)?.checked_mul(8)?)?;
            let fits = magic && index >= HEADER && index_end == positions && end == bytes.len();
            fits.then_some(Layout { count, index, positions })
        };
        header()
            .ok_or_else(|| BundleError::Damaged("its records section has no valid header".into()))
    }
}

/// A view of the section. Every look-up checks bounds: damage makes a record disappear and never
/// panics.
#[derive(Clone, Copy)]
pub struct Records<'a> {
    pub bytes: &'a [u8],
    pub layout: Layout,
}

impl<'a> Records<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, BundleError> {
        Ok(Records { bytes, layout: Layout::read(bytes)? })
    }

    /// The record with this number.
    pub fn by_number(&self, number: usize) -> Option<RecordEntry<'a>> {
        if number >= self.layout.count {
            return None;
        }
        let at = self.layout.positions + number * 8;
        let entry = self.bytes.get(word(self.bytes, at)?..word(self.bytes, at + 8)?)?;
        let id_length = u32::from_le_bytes(entry.get(..4)?.try_into().ok()?) as usize;
        let data_length = u32::from_le_bytes(entry.get(4..8)?.try_into().ok()?) as usize;
        let (id, rest) = entry.get(8..)?.split_at_checked(id_length)?;
        let (data, citation) = rest.split_at_checked(data_length)?;
        let text = |bytes| std::str::from_utf8(bytes).ok();
        Some(RecordEntry { id: text(id)?, data: text(data)?, citation: text(citation)? })
    }

    /// The id of the record with this number, without reading the record.
    pub fn id(&self, number: usize) -> Option<&'a str> {
        if number >= self.layout.count {
            return None;
        }
        let start = word(self.bytes, self.layout.positions + number * 8)?;
        let length = self.bytes.get(start..start.checked_add(4)?)?;
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        let from = start.checked_add(8)?;
        std::str::from_utf8(self.bytes.get(from..from.checked_add(length)?)?).ok()
    }

    /// The record with this id, and its number.
    pub fn by_id(&self, id: &str) -> Option<(usize, RecordEntry<'a>)> {
        let wanted = stable_hash(id.as_bytes());
        let hash_at = |i: usize| word(self.bytes, self.layout.index + i * 16).map(|h| h as u64);
        let (mut low, mut high) = (0, self.layout.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if hash_at(middle)? < wanted { low = middle + 1 } else { high = middle }
        }
        (low..self.layout.count).take_while(|i| hash_at(*i) == Some(wanted)).find_map(|i| {
            let number = word(self.bytes, self.layout.index + i * 16 + 8)?;
            self.by_number(number).filter(|e| e.id == id).map(|e| (number, e))
        })
    }
}

/// Writes the section record by record, in the order of their numbers. Keeps 24 bytes per record in
/// memory.
pub struct RecordsWriter<W: Write> {
    out: W,
    at: u64,
    starts: Vec<u64>,
    index: Vec<(u64, u64)>,
}

impl<W: Write + io::Seek> RecordsWriter<W> {
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&[0; HEADER])?;
        Ok(RecordsWriter { out, at: HEADER as u64, starts: Vec::new(), index: Vec::new() })
    }

    pub fn push(&mut self, id: &str, data: &str, citation: &str) -> io::Result<()> {
        let too_long = |_| io::Error::other(format!("{id}: the record is longer than 4 GiB"));
        let id_length = u32::try_from(id.len()).map_err(too_long)?;
        let data_length = u32::try_from(data.len()).map_err(too_long)?;
        self.index.push((stable_hash(id.as_bytes()), self.starts.len() as u64));
        self.starts.push(self.at);
        self.out.write_all(&id_length.to_le_bytes())?;
        self.out.write_all(&data_length.to_le_bytes())?;
        for part in [id, data, citation] {
            self.out.write_all(part.as_bytes())?;
        }
        self.at += (8 + id.len() + data.len() + citation.len()) as u64;
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<W> {
        self.index.sort_unstable();
        let positions = self.at + self.index.len() as u64 * 16;
        for (hash, number) in &self.index {
            self.out.write_all(&hash.to_le_bytes())?;
            self.out.write_all(&number.to_le_bytes())?;
        }
        for start in self.starts.iter().chain([&self.at]) {
            self.out.write_all(&start.to_le_bytes())?;
        }
        self.out.seek(io::SeekFrom::Start(0))?;
        self.out.write_all(MAGIC)?;
        for word in [self.index.len() as u64, self.at, positions] {
            self.out.write_all(&word.to_le_bytes())?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(8)?)?;
    usize::try_from(u64::from_le_bytes(word.try_into().ok()?)).ok()
}

/// FNV-1a: good for short keys and the same on every machine and in every version, which the
/// standard library's hasher does not promise. Collisions are resolved by comparing ids.
pub fn stable_hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn section(ids: &[&str]) -> Vec<u8> {
        let mut writer = RecordsWriter::new(Cursor::new(Vec::new())).unwrap();
        for id in ids {
            writer.push(id, &format!("{{\"id\":\"{id}\"}}"), "{}").unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn every_record_is_found_by_id_and_by_number() {
        let ids: Vec<String> = (0..1000).map(|n| format!("hr:119:{n}")).collect();
        let bytes = section(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        let records = Records::read(&bytes).unwrap();
        for (number, id) in ids.iter().enumerate() {
            let (found, entry) = records.by_id(id).unwrap();
            assert_eq!((found, entry.id), (number, id.as_str()));
            assert_eq!(records.id(number), Some(id.as_str()));
            assert_eq!(records.by_number(number).unwrap().data, format!("{{\"id\":\"{id}\"}}"));
        }
        assert!(records.by_id("hr:118:1").is_none());
        assert!(records.by_number(1000).is_none());
    }

    #[test]
    fn an_empty_section_has_no_records() {
        let bytes = section(&[]);
        let records = Records::read(&bytes).unwrap();
        assert!(records.by_id("hr:119:1").is_none());
    }

    #[test]
    fn damage_hides_records_but_never_panics() {
        let whole = section(&["hr:119:1", "hr:119:2", "s:119:5"]);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            if let Ok(records) = Records::read(&bytes) {
                let _ = (records.by_id("hr:119:1"), records.by_number(0), records.by_number(2));
                let _ = (records.id(0), records.id(2));
            }
            assert!(Records::read(&whole[..at]).is_err(), "cut at {at}");
        }
    }
}
