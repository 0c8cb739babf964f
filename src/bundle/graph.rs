//! Checks the bytes of a graph that usearch wrote before it is walked (`walk`): that the parts fit
//! into the file, and that every slot that a node names is that of a node on its level.
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
/// Cosine of 8-bit numbers, 64-bit keys, 32-bit slots.
const KINDS: [u8; 4] = [b'c', 23, 14, 15];
/// Far more than any model or graph has.
const MAX_DIMENSIONS: u64 = 1 << 16;
const MAX_CONNECTIVITY: u64 = 1 << 16;

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

/// Whether this is a whole graph of vectors with so many dimensions, which usearch could walk, too,
/// without leaving it. Says what is wrong otherwise. Reads as much as checking the hash does.
pub fn check(bytes: &[u8], dimensions: usize) -> Result<(), &'static str> {
    let (matrix, row) = rows(bytes).ok_or("a graph without a matrix")?;
    let (rows, head) = (number::<4>(bytes, 0).unwrap_or_default() as usize, matrix.end);
    let field = |at: usize| number::<8>(bytes, head.checked_add(at)?);
    let header = |nth: usize| field(HEAD + nth * 8).ok_or("a graph without a header");
    let kinds = head.checked_add(13).and_then(|at| bytes.get(at..at.checked_add(4)?));
    let found = field(33).filter(|found| *found <= MAX_DIMENSIONS);
    // Whether a key may have several vectors.
    let is_single = head.checked_add(41).and_then(|at| bytes.get(at)) == Some(&0);
    let (Some(found), true) = (found, is_single && kinds == Some(&KINDS)) else {
        return Err("a graph of another kind");
    };
    if header(0)? != rows as u64 {
        return Err("a graph with more or fewer nodes than vectors");
    }
    if rows == 0 {
        return Ok(());
    }
    if found != dimensions as u64 || row != dimensions {
        return Err("a graph of vectors of another length");
    }
    let (above, base) = (header(1)?, header(2)?);
    // usearch takes other numbers for a 0, and would look for the nodes elsewhere than we do.
    if !(2..=MAX_CONNECTIVITY).contains(&above) || !(above..=MAX_CONNECTIVITY).contains(&base) {
        return Err("a graph with too many neighbours, or too few");
    }
    let levels = head + HEAD + HEADER;
    let level_of = |slot: usize| {
        (slot < rows).then(|| number::<2>(bytes, levels + slot * 2)).flatten().map(|l| l as i16)
    };
    let damaged = "a graph with a damaged node";
    let mut at = levels + rows * 2;
    for slot in 0..rows {
        let level = level_of(slot).filter(|level| *level >= 0).ok_or(damaged)?;
        if number::<2>(bytes, at + 8) != Some(level as u64) {
            return Err(damaged);
        }
        at += 10;
        for level in 0..=level {
            let room = if level == 0 { base } else { above } as usize;
            let count = number::<4>(bytes, at).ok_or(damaged)? as usize;
            let slots = bytes.get(at + 4..at + 4 + count.min(room) * 4).ok_or(damaged)?;
            // A node without this level has no neighbours there to go on to.
            let has_level = |slot: &[u8]| {
                let slot = number::<4>(slot, 0).map(|slot| slot as usize);
                slot.and_then(level_of).is_some_and(|highest| highest >= level)
            };
            if count > room || !slots.chunks_exact(4).all(has_level) {
                return Err("a graph whose nodes name neighbours that don't exist");
            }
            at += 4 + room * 4;
        }
    }
    Ok(())
}

/// A little-endian number of so many bytes.
pub fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let found = bytes.get(at..at.checked_add(N)?)?;
    Some(found.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
