//! Several files as one section: a list of names and places, then the files, each on a boundary that any of them can be
//! read from in place.
//!
//! `[length of the list u64][list of (name, offset, length) as JSON][file]…`, offsets from the start of the section.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// Files begin at multiples of this within the section: a cache line, and more than any number in them needs.
const ALIGN: usize = 64;

/// Writes the files of a folder that `wanted` names into one, sorted by name.
pub fn pack(folder: &Path, out: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<()> {
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if wanted(&name) {
            names.push(name);
        }
    }
    names.sort();
    // The list's own length moves the files: make room for the longest it can be.
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

/// The packed files of a section: their names and where in the section they lie. Nothing when the list is damaged.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_found_again_and_damage_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b"), b"second").unwrap();
        std::fs::write(folder.path().join("a"), vec![7; 1000]).unwrap();
        std::fs::write(folder.path().join("not"), b"x").unwrap();
        let out = folder.path().join("packed");
        pack(folder.path(), &out, |name| name.len() == 1).unwrap();
        let bytes = std::fs::read(&out).unwrap();
        let files = list(&bytes).unwrap();
        let found: Vec<_> = files.iter().map(|(name, at)| (name.as_str(), &bytes[at.clone()])).collect();
        assert_eq!(found, [("a", &[7; 1000][..]), ("b", b"second")]);
        assert!(files.iter().all(|(_, at)| at.start % ALIGN == 0));
        for cut in [0, 7, 8, 40, bytes.len() - 1] {
            assert!(list(&bytes[..cut]).is_none(), "cut at {cut}");
        }
        assert!(list(&[0xff; 64]).is_none());
    }
}
