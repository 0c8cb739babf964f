//! Walks a graph of vectors in place, as usearch wrote it (`graph` has the layout): down its levels
//! to a node near the question, then from neighbour to neighbour, with the nearest so far as the
//! way on (HNSW).
//!
//! usearch walks, too, but waits for the memory of one neighbour after the other. Here all
//! neighbours of a node are asked for before the first is compared. And this walk can't leave the
//! bytes, whatever they are, so that nothing has to read a graph before it is used.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use numkong::Angular;

use super::graph::{HEAD, HEADER, number, rows};
use super::vectors::signed;

/// Bytes of a node before its neighbours: its key and its level.
const NODE: usize = 10;
/// Far more neighbours than a node of any graph has.
const MAX_CONNECTIVITY: u64 = 1 << 16;

/// Where everything is in the bytes of a graph.
pub struct Graph {
    nodes: usize,
    /// The first vector, and the length of each.
    vectors: usize,
    dimensions: usize,
    /// The first node.
    links: usize,
    /// Bytes of a node's lowest level with what stands before it, and of each level above.
    lowest: usize,
    above: usize,
    /// For each node how many levels above the lowest the nodes before it have.
    levels_before: Vec<u32>,
    /// Where a walk begins, and the highest level there.
    entry: u32,
    top: usize,
}

/// A node and its distance, which decides the order. Distances are not negative, so that their bits
/// are in the same order.
fn at_distance(distance: f32, slot: u32) -> u64 {
    u64::from(distance.max(0.0).to_bits()) << 32 | u64::from(slot)
}

fn slot_of(near: u64) -> u32 {
    near as u32
}

impl Graph {
    pub fn open(bytes: &[u8]) -> Option<Graph> {
        let (matrix, dimensions) = rows(bytes)?;
        let header = |nth: usize| number::<8>(bytes, matrix.end + HEAD + nth * 8);
        let nodes = matrix.len().checked_div(dimensions).unwrap_or_default();
        let connectivity =
            |nth| header(nth).filter(|most| *most <= MAX_CONNECTIVITY).map(|most| most as usize);
        let (above, lowest) = (connectivity(1)?, connectivity(2)?);
        let levels = matrix.end + HEAD + HEADER;
        let entry =
            u32::try_from(header(4)?).ok().filter(|entry| (*entry as usize) < nodes.max(1))?;
        let mut levels_before = Vec::with_capacity(nodes);
        let mut before = 0u32;
        for level in bytes.get(levels..levels + nodes * 2)?.chunks_exact(2) {
            levels_before.push(before);
            before = before.checked_add(number::<2>(level, 0)? as u32)?;
        }
        Some(Graph {
            nodes,
            vectors: matrix.start,
            dimensions,
            links: levels + nodes * 2,
            lowest: NODE + 4 + lowest * 4,
            above: 4 + above * 4,
            levels_before,
            // The header says it, too, but this is what the node has.
            top: number::<2>(bytes, levels + entry as usize * 2).unwrap_or_default() as usize,
            entry,
        })
    }

    fn vector<'b>(&self, bytes: &'b [u8], slot: u32) -> &'b [u8] {
        let at = self.vectors + slot as usize * self.dimensions;
        bytes.get(at..at + self.dimensions).unwrap_or_default()
    }

    /// A node: its key, its level and its neighbours on each level.
    fn node<'b>(&self, bytes: &'b [u8], slot: u32) -> &'b [u8] {
        let Some(levels) = self.levels_before.get(slot as usize) else { return &[] };
        let at = self.links + slot as usize * self.lowest + *levels as usize * self.above;
        bytes.get(at..).unwrap_or_default()
    }

    /// The number of a node's passage.
    fn key(&self, bytes: &[u8], slot: u32) -> u32 {
        number::<8>(self.node(bytes, slot), 0).map_or(u32::MAX, |key| key as u32)
    }

    fn neighbours<'b>(
        &self,
        bytes: &'b [u8],
        slot: u32,
        level: usize,
    ) -> impl Iterator<Item = u32> + 'b {
        let (at, room) = match level {
            0 => (NODE, self.lowest - NODE),
            level => (self.lowest + (level - 1) * self.above, self.above),
        };
        let level = self.node(bytes, slot).get(at..at + room).unwrap_or_default();
        let count = number::<4>(level, 0).unwrap_or_default() as usize;
        let slots = level.get(4..).unwrap_or_default().chunks_exact(4).take(count);
        slots.map(|slot| u32::from_le_bytes([slot[0], slot[1], slot[2], slot[3]]))
    }

    fn distance(&self, bytes: &[u8], question: &[i8], slot: u32) -> f32 {
        i8::angular(question, signed(self.vector(bytes, slot))).unwrap_or(f32::INFINITY)
    }

    /// The keys of approximately the `limit` nearest nodes that are allowed, the farthest first;
    /// fewer if the walk ends early.
    pub fn walk(
        &self,
        bytes: &[u8],
        question: &[i8],
        limit: usize,
        allowed: Option<&dyn Fn(u32) -> bool>,
    ) -> Vec<u32> {
        if self.nodes == 0 || limit == 0 {
            return Vec::new();
        }
        let distance = |slot| self.distance(bytes, question, slot);
        let is_allowed = |slot| allowed.is_none_or(|allowed| allowed(self.key(bytes, slot)));
        let mut nearest = at_distance(distance(self.entry), self.entry);
        for level in (1..=self.top).rev() {
            loop {
                let near = self.neighbours(bytes, slot_of(nearest), level);
                let Some(nearer) = near.map(|slot| at_distance(distance(slot), slot)).min() else {
                    break;
                };
                if nearer >= nearest {
                    break;
                }
                nearest = nearer;
            }
        }
        let mut seen = vec![0u64; self.nodes.div_ceil(64)];
        let mut is_new = |slot: u32| {
            let bit = 1 << (slot % 64);
            seen.get_mut(slot as usize / 64).is_some_and(|bits| {
                let is_new = *bits & bit == 0;
                *bits |= bit;
                is_new
            })
        };
        is_new(slot_of(nearest));
        let mut next = BinaryHeap::from([Reverse(nearest)]);
        let mut found = BinaryHeap::new();
        let is_too_far = |found: &BinaryHeap<u64>, node: u64| {
            found.len() >= limit && found.peek().is_some_and(|farthest| node > *farthest)
        };
        if is_allowed(slot_of(nearest)) {
            found.push(nearest);
        }
        let mut near: Vec<u32> = Vec::new();
        while let Some(Reverse(node)) = next.pop() {
            if is_too_far(&found, node) {
                break;
            }
            near.clear();
            near.extend(self.neighbours(bytes, slot_of(node), 0).filter(|slot| is_new(*slot)));
            near.iter().for_each(|slot| prefetch(self.vector(bytes, *slot)));
            for slot in near.drain(..) {
                let node = at_distance(distance(slot), slot);
                if is_too_far(&found, node) {
                    continue;
                }
                prefetch(self.node(bytes, slot).get(..self.lowest).unwrap_or_default());
                next.push(Reverse(node));
                if is_allowed(slot) {
                    found.push(node);
                    if found.len() > limit {
                        found.pop();
                    }
                }
            }
        }
        found.into_iter().map(|node| self.key(bytes, slot_of(node))).collect()
    }
}

/// Asks for memory that is read soon.
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint to the processor, about an address that may be read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
