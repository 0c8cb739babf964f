//! One field of a source: its distinct values in order, the value of each record, and the records
//! of each value. The records of all values, one value after the other, are the order of the
//! records by this field.
//!
//! ```text
//! header: 16 words u32
//! keys          i64 each, or the starts of texts u32, one more than there are values
//! key bytes     texts
//! folded starts, folded bytes, folded order                  only where texts have capitals
//! codes         of each record, 1, 2 or 4 bytes; of lists: their starts u32, one more
//! list codes    1, 2 or 4 bytes
//! index         for each code: start of its records u32, how many u32
//! records       u32 each, or bits (see `ords`)
//! ```
//!
//! A code is the place of a value in the order of the values, counted from 1; 0 is the code of
//! records without a value. Numbers are numbers, days are counted from 1970, flags are 0 and 1.

use std::cmp::Ordering;
use std::ops::Range;

use super::ords::{OrdBits, Ords, are_bits, bit_bytes};
use crate::bundle::pack::PackedNumbers;

pub(super) const MAGIC: u32 = 0x314c_4f43;
pub(super) const HEADER: usize = 64;
pub(super) const PARTS: usize = 9;
pub(super) const IS_TEXT: u32 = 1;
pub(super) const IS_LIST: u32 = 2;
pub(super) const HAS_REPEATS: u32 = 4;

/// A view of a column. Every read checks bounds: damage makes values disappear and never panics.
#[derive(Clone, Copy)]
pub struct Column<'a> {
    pub records: u32,
    /// How many distinct values there are.
    pub values: u32,
    is_text: bool,
    pub is_list: bool,
    /// Whether a list names a value twice.
    pub has_repeats: bool,
    width: usize,
    keys: &'a [u8],
    key_bytes: &'a [u8],
    folded_starts: &'a [u8],
    folded_bytes: &'a [u8],
    folded_order: &'a [u8],
    codes: &'a [u8],
    list_codes: &'a [u8],
    index: &'a [u8],
    ords: &'a [u8],
}

impl<'a> Column<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Option<Column<'a>> {
        let words = PackedNumbers::in_bytes(bytes.get(..HEADER)?);
        let word = |at: usize| words.get(at);
        if word(0)? != MAGIC {
            return None;
        }
        let (flags, records, values, width) = (word(1)?, word(2)?, word(3)?, word(4)? as usize);
        let mut start = HEADER;
        let mut parts = [&[][..]; PARTS];
        for (at, part) in parts.iter_mut().enumerate() {
            let end = word(5 + at)? as usize;
            *part = bytes.get(start..end)?;
            start = end;
        }
        let [
            keys,
            key_bytes,
            folded_starts,
            folded_bytes,
            folded_order,
            codes,
            list_codes,
            index,
            ords,
        ] = parts;
        let (is_text, is_list) = (flags & IS_TEXT != 0, flags & IS_LIST != 0);
        let (all, of_values) = (records as usize, values as usize);
        let key_length = if is_text { (of_values + 1) * 4 } else { of_values * 8 };
        let code_length = if is_list { (all + 1) * 4 } else { all * width };
        let fits = matches!(width, 1 | 2 | 4)
            && keys.len() == key_length
            && codes.len() == code_length
            && index.len() == (of_values + 1) * 8;
        fits.then_some(Column {
            records,
            values,
            is_text,
            is_list,
            has_repeats: flags & HAS_REPEATS != 0,
            width,
            keys,
            key_bytes,
            folded_starts,
            folded_bytes,
            folded_order,
            codes,
            list_codes,
            index,
            ords,
        })
    }

    /// The code of a record's value; 0 where it has none. Not for lists.
    #[inline]
    pub fn code(&self, ord: u32) -> u32 {
        read_code(self.codes, self.width, ord as usize)
    }

    /// The records whose code is in this range, found by looking at all of them. Not for lists.
    pub fn ords_within(&self, codes: &Range<u32>) -> OrdBits {
        let (first, count) = (codes.start, codes.end.saturating_sub(codes.start));
        // No branches: they would be mispredicted half of the time.
        fn words<const WIDTH: usize>(
            codes: &[u8],
            is_inside: impl Fn([u8; WIDTH]) -> bool,
        ) -> Vec<u64> {
            let (codes, _) = codes.as_chunks::<WIDTH>();
            let word = |codes: &[[u8; WIDTH]]| {
                let bits = codes.iter().enumerate();
                bits.fold(0, |word, (at, code)| word | u64::from(is_inside(*code)) << at)
            };
            codes.chunks(64).map(word).collect()
        }
        let is_inside = |code: u32| code.wrapping_sub(first) < count;
        OrdBits::of_words(match self.width {
            1 => words(self.codes, |[code]| is_inside(code.into())),
            2 => words(self.codes, |code| is_inside(u16::from_le_bytes(code).into())),
            _ => words(self.codes, |code| is_inside(u32::from_le_bytes(code))),
        })
    }

    /// The codes of a record's list, in its order.
    pub fn list(&self, ord: u32) -> impl Iterator<Item = u32> + 'a {
        let (codes, width) = (self.list_codes, self.width);
        let place = PackedNumbers::in_bytes(self.codes).span(ord as usize);
        // The end is checked once, so that damage makes no long loop.
        let end = place.end.min(codes.len() / width);
        (place.start..end).map(move |at| read_code(codes, width, at))
    }

    /// The number with this code.
    #[inline]
    pub fn number(&self, code: u32) -> Option<i64> {
        let at = (code.checked_sub(1)? as usize) * 8;
        let bytes = self.keys.get(at..at + 8).filter(|_| !self.is_text)?;
        Some(i64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// The number of a record.
    #[inline]
    pub fn number_of(&self, ord: u32) -> Option<i64> {
        self.number(self.code(ord))
    }

    /// The text with this code.
    pub fn text(&self, code: u32) -> Option<&'a str> {
        let at = code.checked_sub(1).filter(|_| self.is_text)? as usize;
        let place = PackedNumbers::in_bytes(self.keys).span(at);
        std::str::from_utf8(self.key_bytes.get(place)?).ok()
    }

    /// The text with this code in small letters.
    pub fn folded(&self, code: u32) -> Option<&'a str> {
        if self.folded_starts.is_empty() {
            return self.text(code);
        }
        let at = code.checked_sub(1)? as usize;
        let place = PackedNumbers::in_bytes(self.folded_starts).span(at);
        std::str::from_utf8(self.folded_bytes.get(place)?).ok()
    }

    /// The first code whose text is not less, and the first whose text is greater.
    pub fn text_codes(&self, text: &str) -> Range<u32> {
        let text = text.as_bytes();
        self.codes_by(|code| self.text(code).unwrap_or_default().as_bytes().cmp(text))
    }

    /// The same of numbers.
    pub fn number_codes(&self, number: i64) -> Range<u32> {
        self.codes_by(|code| self.number(code).unwrap_or_default().cmp(&number))
    }

    /// The codes of texts that are this one in small letters.
    pub fn folded_codes(&self, folded: &str) -> Vec<u32> {
        if self.folded_starts.is_empty() {
            return self.text_codes(folded).collect();
        }
        let order = PackedNumbers::in_bytes(self.folded_order);
        let code = |at: u32| order.get(at as usize - 1).unwrap_or_default();
        let places = self.codes_by(|at| {
            self.folded(code(at)).unwrap_or_default().as_bytes().cmp(folded.as_bytes())
        });
        places.map(code).collect()
    }

    /// The range of codes that compare as equal, among codes in order.
    fn codes_by(&self, compare: impl Fn(u32) -> Ordering) -> Range<u32> {
        let first = |is_before: &dyn Fn(Ordering) -> bool| {
            let (mut low, mut high) = (1, self.values + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if is_before(compare(middle)) { low = middle + 1 } else { high = middle }
            }
            low
        };
        first(&|order| order == Ordering::Less)..first(&|order| order != Ordering::Greater)
    }

    /// How many records have the value with this code.
    pub fn count(&self, code: u32) -> u32 {
        PackedNumbers::in_bytes(self.index).get(code as usize * 2 + 1).unwrap_or_default()
    }

    /// The records that have the value with this code.
    pub fn ords(&self, code: u32) -> Ords<'a> {
        let start = PackedNumbers::in_bytes(self.index).get(code as usize * 2).unwrap_or_default();
        let (start, count) = (start as usize, self.count(code));
        if are_bits(count, self.records) {
            return Ords::Bits(
                self.ords.get(start..start + bit_bytes(self.records)).unwrap_or_default(),
            );
        }
        let bytes = self.ords.get(start..start.saturating_add(count as usize * 4));
        Ords::Listed(PackedNumbers::in_bytes(bytes.unwrap_or_default()))
    }
}

#[inline]
fn read_code(codes: &[u8], width: usize, at: usize) -> u32 {
    match width {
        1 => codes.get(at).map_or(0, |code| u32::from(*code)),
        2 => codes
            .get(at * 2..at * 2 + 2)
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, |bytes| u32::from(u16::from_le_bytes(bytes))),
        _ => codes
            .get(at * 4..at * 4 + 4)
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u32::from_le_bytes),
    }
}
