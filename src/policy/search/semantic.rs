//! Search by meaning: the passages whose vectors are nearest to the question's, within a set of
//! candidate records.
//!
//! Few candidates are scored one by one, which misses none. Many are found by walking the graph
//! with the candidates as its condition; when the walk comes back with too little, they are scored
//! one by one after all.

use super::candidates::Candidates;
use crate::api::{Context, Result};
use crate::bundle::text::TextIndex;
use crate::bundle::vectors::{Near, Vector, Vectors, by_similarity};

/// Up to so many passages are scored one by one: a few milliseconds.
const FEW: u64 = 30_000;
/// So are more of them where they are less than this share of all: the walk then visits most of
/// the graph in vain (`benches/README.md`).
const SMALL_SHARE: u64 = 8;

/// Among more passages than this a walk must look for more of them to miss as few of the nearest
/// (`benches/README.md`).
const WALKED: f64 = 250_000.0;

/// Records between two looks at whether anyone still waits.
const CHECKED: usize = 1024;

/// How many records ahead vectors are asked for, so that they are there when they are compared.
const AHEAD: usize = 4;

/// A record with its nearest passage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub record: u32,
    pub similarity: f32,
    pub passage: u32,
}

/// How many records to find.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// At least so many, where they exist.
    pub least: usize,
    pub most: usize,
    /// Passages that a walk of the graph looks for: with more of them it misses fewer and takes
    /// longer.
    pub walked: usize,
}

/// The records whose passages are nearest, the nearest first.
pub fn search(
    context: &Context,
    index: &TextIndex,
    vectors: &Vectors,
    question: &Vector,
    candidates: &Candidates,
    Wanted { least, most, walked }: Wanted,
) -> Result<Vec<Hit>> {
    let passages = candidates.passages(index);
    let everything = u64::from(vectors.count());
    if passages <= FEW || passages * SMALL_SHARE <= everything {
        return exact(context, index, vectors, question, candidates, most);
    }
    // A record can have many near passages: ask for more until there are enough records.
    // A filter dilutes the walk: it passes so many passages for each that counts.
    let diluted = everything as f64 / passages as f64;
    let mut length =
        (walked as f64 * diluted * (everything as f64 / WALKED).cbrt().max(1.0)) as usize;
    loop {
        context.check()?;
        let allowed = |passage: u32| {
            index.record_of(passage).is_some_and(|record| candidates.contains(record))
        };
        let condition: Option<&dyn Fn(u32) -> bool> =
            if passages >= everything { None } else { Some(&allowed) };
        let near = vectors.walk(question, length, condition);
        let is_short = near.len() < length;
        let hits = by_record(index, near);
        if hits.len() >= least {
            return Ok(hits.into_iter().take(most).collect());
        }
        if is_short || length as u64 >= everything / 4 {
            return exact(context, index, vectors, question, candidates, most);
        }
        length *= 4;
    }
}

/// Scores every passage of every candidate.
pub fn exact(
    context: &Context,
    index: &TextIndex,
    vectors: &Vectors,
    question: &Vector,
    candidates: &Candidates,
    most: usize,
) -> Result<Vec<Hit>> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut ahead = candidates.iter().skip(AHEAD);
    for (at, record) in candidates.iter().enumerate() {
        if at.is_multiple_of(CHECKED) {
            context.check()?;
        }
        if let Some(soon) = ahead.next() {
            vectors.prefetch(index.passages_of(soon));
        }
        let nearest = vectors.nearest(question, index.passages_of(record));
        hits.extend(nearest.map(|n| Hit { record, similarity: n.similarity, passage: n.passage }));
    }
    if most > 0 && most < hits.len() {
        hits.select_nth_unstable_by(most - 1, order);
    }
    hits.truncate(most);
    hits.sort_unstable_by(order);
    Ok(hits)
}

fn order(a: &Hit, b: &Hit) -> std::cmp::Ordering {
    let near = |hit: &Hit| Near { passage: hit.passage, similarity: hit.similarity };
    by_similarity(&near(a), &near(b))
}

/// The nearest passage of each record; they come nearest first.
fn by_record(index: &TextIndex, near: Vec<Near>) -> Vec<Hit> {
    let mut seen = std::collections::HashSet::new();
    let hit = |n: Near| {
        Some(Hit {
            record: index.record_of(n.passage)?,
            similarity: n.similarity,
            passage: n.passage,
        })
    };
    near.into_iter().filter_map(hit).filter(|hit| seen.insert(hit.record)).collect()
}
