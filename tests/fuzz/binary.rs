//! Mutations of files that are made of numbers and positions.

use crate::mutate::{Random, bytes};

/// Mostly a number of 4 or 8 bytes at a place that a number may have: starts, counts, lengths.
pub fn mutated(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    if random.one_in(3) {
        return bytes(random, corpus, &["[", "\"", ",", "records", "0"]);
    }
    let mut section = random.of(corpus).clone();
    for _ in 0..=random.below(3) {
        let number = match random.below(4) {
            0 => u64::MAX - random.below(9) as u64,
            1 => random.next() >> random.below(64),
            2 => section.len() as u64,
            _ => random.below(9) as u64,
        };
        let length = if random.one_in(2) { 4 } else { 8 };
        let at = random.below(section.len()) / 4 * 4;
        for (there, byte) in section.iter_mut().skip(at).zip(&number.to_le_bytes()[..length]) {
            *there = *byte;
        }
    }
    section
}
