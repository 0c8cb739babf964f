//! Packs several files into one section: a list of their names and positions, then the files, each
//! aligned so that it can be read in place. It knows nothing of what the files contain.
//!
//! `[length of the list u64][list of (name, offset, length) as JSON][file]…`, with offsets from the
//! start of the section.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use super::SharedMap;

/// Files begin at multiples of this within the section: a cache line, which is more than any number
/// type needs.
const ALIGN: usize = 64;

/// Packs the files of a folder whose names `wanted` accepts, sorted by name, into the file `out`.
pub fn pack(folder: &Path, out: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<()> {
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if wanted(&name) {
            names.push(name);
        }
    }
    names.sort();
    // The offsets in the list depend on its own length: leave room for the longest it can be.
    let mut at = (8 + names.iter().map(|n| n.len() + 64).sum::<usize>()).next_multiple_of(ALIGN);
    let mut list = Vec::new();
    for name in &names {
        let length = std::fs::metadata(folder.join(name))?.len() as usize;
        list.push((name.as_str(), at, length));
        at = (at + length).next_multiple_of(ALIGN);
    }
    let json = serde_json::to_vec(&list)?;
    let mut file = io::BufWriter::with_capacity(1 << 20, std::fs::File::create(out)?);
    file.write_all(&(json.len() as u64).to_le_bytes())?;
    file.write_all(&json)?;
    let mut written = 8 + json.len();
    for (name, offset, length) in list {
        file.write_all(&vec![0; offset - written])?;
        io::copy(&mut std::fs::File::open(folder.join(name))?, &mut file)?;
        written = offset + length;
    }
    file.flush()
}

/// The names of a section's packed files and their ranges in the section, or `None` if the list is
/// damaged.
pub fn list(section: &[u8]) -> Option<Vec<(String, Range<usize>)>> {
    let length = u64::from_le_bytes(section.get(..8)?.try_into().ok()?);
    let end = usize::try_from(length).ok()?.checked_add(8)?;
    let listed: Vec<(String, usize, usize)> = serde_json::from_slice(section.get(8..end)?).ok()?;
    let place = |(name, at, length): (String, usize, usize)| {
        let range = at..at.checked_add(length)?;
        section.get(range.clone()).map(|_| (name, range))
    };
    listed.into_iter().map(place).collect()
}

/// The packed files of a section, read in place from the memory map.
pub struct Files {
    map: SharedMap,
    places: HashMap<String, Range<usize>>,
}

impl Files {
    pub fn open(map: SharedMap, section: Range<usize>) -> Result<Files, String> {
        let listed =
            map.get(section.clone()).and_then(list).ok_or("the list of its files is damaged")?;
        let place = |at: Range<usize>| section.start + at.start..section.start + at.end;
        let places = listed.into_iter().map(|(name, at)| (name, place(at))).collect();
        Ok(Files { map, places })
    }

    /// A file's bytes; empty if there is no such file.
    pub fn bytes(&self, name: &str) -> &[u8] {
        self.places.get(name).and_then(|at| self.map.get(at.clone())).unwrap_or_default()
    }

    /// A file as an array of numbers.
    pub fn numbers(&self, name: &str) -> PackedNumbers<'_> {
        PackedNumbers(self.bytes(name))
    }
}

/// An array of little-endian 32-bit numbers. Reading outside of it gives nothing and never panics.
#[derive(Clone, Copy)]
pub struct PackedNumbers<'a>(&'a [u8]);

impl<'a> PackedNumbers<'a> {
    pub fn in_bytes(bytes: &'a [u8]) -> PackedNumbers<'a> {
        PackedNumbers(bytes)
    }

    pub fn bytes_of(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
    }

    pub fn len(self) -> usize {
        self.0.len() / 4
    }

    pub fn get(self, at: usize) -> Option<u32> {
        let bytes = self.0.get(at.checked_mul(4)?..at.checked_mul(4)?.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// The range from this start to the next one; empty if they are missing or out of order.
    pub fn span(self, at: usize) -> Range<usize> {
        match (self.get(at), self.get(at + 1)) {
            (Some(from), Some(to)) if from <= to => from as usize..to as usize,
            _ => 0..0,
        }
    }

    /// The numbers in this range; none if part of it lies outside.
    pub fn range(self, range: Range<usize>) -> impl Iterator<Item = u32> + 'a {
        let bytes = range
            .start
            .checked_mul(4)
            .zip(range.end.checked_mul(4))
            .and_then(|(from, to)| self.0.get(from..to));
        bytes
            .unwrap_or_default()
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_files_are_found_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b"), b"second").unwrap();
        std::fs::write(folder.path().join("a"), vec![7; 1000]).unwrap();
        std::fs::write(folder.path().join("not"), b"x").unwrap();
        let out = folder.path().join("packed");
        pack(folder.path(), &out, |name| name.len() == 1).unwrap();
        let bytes = std::fs::read(&out).unwrap();
        let files = list(&bytes).unwrap();
        let found: Vec<_> =
            files.iter().map(|(name, at)| (name.as_str(), &bytes[at.clone()])).collect();
        assert_eq!(found, [("a", &[7; 1000][..]), ("b", b"second")]);
        assert!(files.iter().all(|(_, at)| at.start % ALIGN == 0));
        for cut in [0, 7, 8, 40, bytes.len() - 1] {
            assert!(list(&bytes[..cut]).is_none(), "cut at {cut}");
        }
        assert!(list(&[0xff; 64]).is_none());
    }
}
