//! Sets of records by their `ord`: as they are stored with a value, and the bits that are worked
//! with.

use crate::bundle::pack::PackedNumbers;

/// Whether so many of all records are stored as bits, which then take less room than a list. That
/// is how roaring bitmaps choose; a source has few records enough to need only one container.
pub(super) const fn are_bits(count: u32, records: u32) -> bool {
    count as u64 * 32 > records as u64
}

/// The bytes of the bits of so many records.
pub(super) const fn bit_bytes(records: u32) -> usize {
    (records as usize).div_ceil(64) * 8
}

/// The records of one value, in ascending order, borrowed from the map.
#[derive(Clone, Copy)]
pub enum Ords<'a> {
    Listed(PackedNumbers<'a>),
    Bits(&'a [u8]),
}

impl<'a> Ords<'a> {
    pub fn iter(self) -> OrdIter<'a> {
        match self {
            Ords::Listed(list) => OrdIter::Listed { list, at: 0 },
            Ords::Bits(bytes) => OrdIter::Bits { words: Words::Stored(bytes), at: 0, left: 0 },
        }
    }
}

/// A set of records as one bit for each.
pub struct OrdBits {
    words: Vec<u64>,
}

impl OrdBits {
    pub fn new(records: u32) -> OrdBits {
        OrdBits { words: vec![0; (records as usize).div_ceil(64)] }
    }

    /// Those whose bits are set, from the lowest of the first word on.
    pub(super) fn of_words(words: Vec<u64>) -> OrdBits {
        OrdBits { words }
    }

    pub fn insert(&mut self, ord: u32) {
        if let Some(word) = self.words.get_mut(ord as usize / 64) {
            *word |= 1 << (ord % 64);
        }
    }

    pub fn contains(&self, ord: u32) -> bool {
        self.words.get(ord as usize / 64).is_some_and(|word| word & (1 << (ord % 64)) != 0)
    }

    pub fn len(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Adds the records of a value.
    pub fn add(&mut self, ords: Ords) {
        match ords {
            Ords::Listed(_) => ords.iter().for_each(|ord| self.insert(ord)),
            Ords::Bits(bytes) => {
                for (word, stored) in self.words.iter_mut().zip(bytes.chunks_exact(8)) {
                    *word |= word_of(stored);
                }
            }
        }
    }

    /// Keeps what is also in the other set.
    pub fn keep(&mut self, other: &OrdBits) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    pub fn iter(&self) -> OrdIter<'_> {
        OrdIter::Bits { words: Words::Own(&self.words), at: 0, left: 0 }
    }
}

#[derive(Clone, Copy)]
pub enum Words<'a> {
    Stored(&'a [u8]),
    Own(&'a [u64]),
}

impl Words<'_> {
    fn get(self, at: usize) -> Option<u64> {
        match self {
            Words::Stored(bytes) => bytes.get(at * 8..at * 8 + 8).map(word_of),
            Words::Own(words) => words.get(at).copied(),
        }
    }
}

fn word_of(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// The records of a set in ascending order.
pub enum OrdIter<'a> {
    Listed {
        list: PackedNumbers<'a>,
        at: usize,
    },
    /// `at` is the next word, `left` what is left of the one before it.
    Bits {
        words: Words<'a>,
        at: usize,
        left: u64,
    },
}

impl Iterator for OrdIter<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            OrdIter::Listed { list, at } => {
                *at += 1;
                list.get(*at - 1)
            }
            OrdIter::Bits { words, at, left } => {
                while *left == 0 {
                    *left = words.get(*at)?;
                    *at += 1;
                }
                let bit = left.trailing_zeros();
                *left &= *left - 1;
                Some((*at as u32 - 1) * 64 + bit)
            }
        }
    }
}
