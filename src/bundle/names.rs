//! The name index: every name of every record in a registry source, with a trigram index over it,
//! so that misspelt names are found too. Read in place from the memory map; scoring the names that
//! it returns is up to `policy::resolve`.
//!
//! Names are numbered source by source. Each has a kind, a text and the list of records that have
//! this name. A trigram is three bytes of a word padded with two spaces before it and one after.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::path::Path;

use super::pack::{self, Files, PackedNumbers};
use super::{SharedMap, analyzer};

/// The distinct trigrams of some words, sorted.
pub fn trigrams(words: &[String]) -> Vec<u32> {
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

/// Collects the names and writes the section.
#[derive(Default)]
pub struct Builder {
    /// The records of each name, by source (counted from 1, in bundle order), kind and text.
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
        for (number, ((source, kind, name), bearing)) in self.names.iter().enumerate() {
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
            records.extend(bearing);
            record_starts.push(records.len() as u32);
            for trigram in trigrams(&analyzer::folded_words(name)) {
                postings.entry(trigram).or_default().push(number);
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
        // "pieces" is what the format calls trigrams.
        write("about", &serde_json::to_vec(&(ranges, kinds))?)?;
        write("kinds", &kind_numbers)?;
        write("text", text.as_bytes())?;
        write("text_starts", &PackedNumbers::bytes_of(&text_starts))?;
        write("records", &PackedNumbers::bytes_of(&records))?;
        write("record_starts", &PackedNumbers::bytes_of(&record_starts))?;
        write("pieces", &PackedNumbers::bytes_of(&keys))?;
        write("piece_starts", &PackedNumbers::bytes_of(&starts))?;
        write("piece_names", &PackedNumbers::bytes_of(&named))?;
        pack::pack(folder, out, |_| true)
    }
}

/// The name index, opened from its section.
pub struct Names {
    files: Files,
    sources: HashMap<String, Range<u32>>,
    kinds: Vec<String>,
}

impl Names {
    pub fn open(map: SharedMap, section: Range<usize>) -> Result<Names, String> {
        let files = Files::open(map, section)?;
        let (sources, kinds): (Vec<(String, u32, u32)>, Vec<String>) =
            serde_json::from_slice(files.bytes("about"))
                .map_err(|e| format!("the list of sources and kinds can't be parsed: {e}"))?;
        let count = files.numbers("text_starts").len().saturating_sub(1);
        // `sharing` allocates a counter for each name of a source.
        if sources.iter().any(|(_, _, to)| *to as usize > count) {
            return Err(format!(
                "the list of sources counts more names than the {count} there are"
            ));
        }
        let sources = sources.into_iter().map(|(key, from, to)| (key, from..to)).collect();
        Ok(Names { files, sources, kinds })
    }

    /// The range of name numbers that belong to a source.
    pub fn of_source(&self, key: &str) -> Range<u32> {
        self.sources.get(key).cloned().unwrap_or_default()
    }

    pub fn text(&self, name: u32) -> &str {
        let place = self.files.numbers("text_starts").span(name as usize);
        std::str::from_utf8(self.files.bytes("text").get(place).unwrap_or_default())
            .unwrap_or_default()
    }

    /// The bytes of a name's text.
    pub fn text_length(&self, name: u32) -> usize {
        self.files.numbers("text_starts").span(name as usize).len()
    }

    pub fn kind(&self, name: u32) -> &str {
        let kind = self.files.bytes("kinds").get(name as usize).map(|k| usize::from(*k));
        kind.and_then(|k| self.kinds.get(k)).map_or("name", String::as_str)
    }

    /// The numbers of the records that have this name.
    pub fn records(&self, name: u32) -> impl Iterator<Item = u32> + '_ {
        self.files.numbers("records").range(self.files.numbers("record_starts").span(name as usize))
    }

    /// The names of a source that share at least `least` of these trigrams, each with the number
    /// that it shares.
    pub fn sharing(&self, source: &str, trigrams: &[u32], least: u16) -> Vec<(u32, u16)> {
        let range = self.of_source(source);
        let mut counts = vec![0u16; range.len()];
        let [listed, starts, named] =
            ["pieces", "piece_starts", "piece_names"].map(|file| self.files.numbers(file));
        for trigram in trigrams {
            let at = first(listed, 0..listed.len(), *trigram);
            if listed.get(at) != Some(*trigram) {
                continue;
            }
            // The names of a trigram are in order, those of a source one behind the other.
            let all = starts.span(at);
            let from = first(named, all.clone(), range.start);
            let own = from..first(named, from..all.end, range.end);
            for name in named.range(own) {
                if let Some(count) =
                    name.checked_sub(range.start).and_then(|at| counts.get_mut(at as usize))
                {
                    // A damaged list may name it any number of times.
                    *count = count.saturating_add(1);
                }
            }
        }
        let shared = counts.iter().enumerate().filter(|(_, count)| **count >= least);
        shared.map(|(at, count)| (range.start + at as u32, *count)).collect()
    }
}

/// The first place in this range whose number is not less, among numbers in order.
fn first(numbers: PackedNumbers, range: Range<usize>, wanted: u32) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if numbers.get(middle).is_some_and(|number| number < wanted) {
            low = middle + 1
        } else {
            high = middle
        }
    }
    low
}
