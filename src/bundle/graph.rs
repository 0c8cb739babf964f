//! The layout of the graphs that usearch writes and `walk` walks.
//!
//! ```text
//! rows u32, bytes of a row u32, rows
//! head: magic, versions, kinds of metric, numbers, keys and slots, counts, dimensions    64 bytes
//! size, connectivity, connectivity of level 0, highest level, first slot                 u64 each
//! levels: highest level of each node i16
//! nodes: key u64, level i16, then for each level: count u32, slots u32 (as many as may be)
//! ```
//!
//! Rows and nodes are in the order of their slots, in which threads added them. The key of a node
//! is the number of its passage.

use std::ops::Range;

pub const HEAD: usize = 64;
pub const HEADER: usize = 40;

/// The node of a passage that has none.
pub const NO_SLOT: u32 = u32::MAX;

/// Where the rows are, and the bytes of each. Says nothing about the rest.
pub fn rows(bytes: &[u8]) -> Option<(Range<usize>, usize)> {
    let (rows, row) = (number::<4>(bytes, 0)? as usize, number::<4>(bytes, 4)? as usize);
    let range = 8..rows.checked_mul(row)?.checked_add(8)?;
    bytes.get(range.clone()).map(|_| (range, row))
}

/// The slots of the passages `0..passages`, of a graph that usearch has just written.
pub fn slots(bytes: &[u8], passages: usize) -> Option<Vec<u32>> {
    let (matrix, row) = rows(bytes)?;
    let nodes = matrix.len().checked_div(row).unwrap_or_default();
    let header = |nth: usize| number::<8>(bytes, matrix.end + HEAD + nth * 8);
    let (above, base) = (header(1)? as usize, header(2)? as usize);
    let mut slots = vec![NO_SLOT; passages];
    let mut at = matrix.end + HEAD + HEADER + nodes * 2;
    for slot in 0..nodes {
        let (key, level) = (number::<8>(bytes, at)?, number::<2>(bytes, at + 8)? as usize);
        *slots.get_mut(usize::try_from(key).ok()?)? = slot as u32;
        at += 10 + (4 + base * 4) + level * (4 + above * 4);
    }
    (at == bytes.len()).then_some(slots)
}

/// A little-endian number of so many bytes.
pub fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let found = bytes.get(at..at.checked_add(N)?)?;
    Some(found.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
