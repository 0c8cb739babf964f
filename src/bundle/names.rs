//! The index of names: every name of every registry's records, found by the three-letter pieces it has in common with what was
//! typed, however that was misspelt. Read where it lies in the memory map.
//!
//! Names are numbered by source; each has its kind, its text and the records that bear it. A piece is three bytes of a word with
//! two blanks before and one behind it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::path::Path;

use super::pack::{self, Files, Numbers};
use super::{SharedMap, analyzer};

/// The pieces of a few words, each once.
pub fn pieces(words: &[String]) -> Vec<u32> {
    let mut found = Vec::new();
    for word in words {
        let mut padded = vec![b' ', b' '];
        padded.extend_from_slice(word.as_bytes());
        padded.push(b' ');
        found.extend(padded.windows(3).map(|w| u32::from_be_bytes([0, w[0], w[1], w[2]])));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Collects names and writes the section.
#[derive(Default)]
pub struct Builder {
    /// By source in the order of the bundle, kind and text.
    names: BTreeMap<(usize, &'static str, String), Vec<u32>>,
    sources: Vec<&'static str>,
}

impl Builder {
    pub fn add(&mut self, source: &'static str, record: u32, kind: &'static str, text: &str) {
        if self.sources.last() != Some(&source) {
            self.sources.push(source);
        }
        self.names.entry((self.sources.len(), kind, text.to_string())).or_default().push(record);
    }

    pub fn finish(self, folder: &Path, out: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut ranges: Vec<(&str, u32, u32)> = self.sources.iter().map(|s| (*s, 0, 0)).collect();
        let (mut kinds, mut kind_numbers) = (Vec::<&str>::new(), Vec::<u8>::new());
        let (mut text, mut text_starts) = (String::new(), vec![0u32]);
        let (mut records, mut record_starts) = (Vec::<u32>::new(), vec![0u32]);
        let mut postings: HashMap<u32, Vec<u32>> = HashMap::new();
        for (number, ((source, kind, name), bearers)) in self.names.iter().enumerate() {
            let number = number as u32;
            let range = &mut ranges[source - 1];
            *range = (range.0, if range.2 == 0 { number } else { range.1 }, number + 1);
            let kind = kinds.iter().position(|k| k == kind).unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            });
            kind_numbers.push(kind as u8);
            text.push_str(name);
            text_starts.push(text.len() as u32);
            records.extend(bearers);
            record_starts.push(records.len() as u32);
            for piece in pieces(&analyzer::folded_words(name)) {
                postings.entry(piece).or_default().push(number);
            }
        }
        let mut keys: Vec<u32> = postings.keys().copied().collect();
        keys.sort_unstable();
        let (mut named, mut starts) = (Vec::<u32>::new(), vec![0u32]);
        for key in &keys {
            named.extend(&postings[key]);
            starts.push(named.len() as u32);
        }
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes);
        write("about", &serde_json::to_vec(&(ranges, kinds))?)?;
        write("kinds", &kind_numbers)?;
        write("text", text.as_bytes())?;
        write("text_starts", &Numbers::bytes_of(&text_starts))?;
        write("records", &Numbers::bytes_of(&records))?;
        write("record_starts", &Numbers::bytes_of(&record_starts))?;
        write("pieces", &Numbers::bytes_of(&keys))?;
        write("piece_starts", &Numbers::bytes_of(&starts))?;
        write("piece_names", &Numbers::bytes_of(&named))?;
        pack::pack(folder, out, |_| true)
    }
}

/// The index, opened from the section.
pub struct Names {
    files: Files,
    sources: HashMap<String, Range<u32>>,
    kinds: Vec<String>,
}

impl Names {
    pub fn open(map: SharedMap, section: Range<usize>) -> Result<Names, String> {
        let files = Files::open(map, section)?;
        let (sources, kinds): (Vec<(String, u32, u32)>, Vec<String>) =
            serde_json::from_slice(files.bytes("about")).map_err(|e| format!("its first file can't be read: {e}"))?;
        let sources = sources.into_iter().map(|(key, from, to)| (key, from..to)).collect();
        Ok(Names { files, sources, kinds })
    }

    /// The numbers of a source's names.
    pub fn of_source(&self, key: &str) -> Range<u32> {
        self.sources.get(key).cloned().unwrap_or_default()
    }

    pub fn text(&self, name: u32) -> &str {
        let place = self.files.numbers("text_starts").span(name as usize);
        std::str::from_utf8(self.files.bytes("text").get(place).unwrap_or_default()).unwrap_or_default()
    }

    pub fn kind(&self, name: u32) -> &str {
        let kind = self.files.bytes("kinds").get(name as usize).map(|k| usize::from(*k));
        kind.and_then(|k| self.kinds.get(k)).map_or("name", String::as_str)
    }

    /// The records that bear a name.
    pub fn records(&self, name: u32) -> impl Iterator<Item = u32> + '_ {
        self.files.numbers("records").range(self.files.numbers("record_starts").span(name as usize))
    }

    /// Names of a source with the number of pieces that they share, those with at least `least` of them.
    pub fn sharing(&self, source: &str, pieces: &[u32], least: u16) -> Vec<(u32, u16)> {
        let range = self.of_source(source);
        let mut counts = vec![0u16; range.len()];
        let [listed, starts, named] = ["pieces", "piece_starts", "piece_names"].map(|file| self.files.numbers(file));
        for piece in pieces {
            let (mut low, mut high) = (0, listed.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if listed.get(middle).is_some_and(|p| p < *piece) { low = middle + 1 } else { high = middle }
            }
            if listed.get(low) != Some(*piece) {
                continue;
            }
            for name in named.range(starts.span(low)) {
                if let Some(count) = name.checked_sub(range.start).and_then(|at| counts.get_mut(at as usize)) {
                    *count += 1;
                }
            }
        }
        let shared = counts.iter().enumerate().filter(|(_, count)| **count >= least);
        shared.map(|(at, count)| (range.start + at as u32, *count)).collect()
    }
}
