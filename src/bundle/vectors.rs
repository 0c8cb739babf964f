//! Passage vectors with 8 bits per number, and a graph over them, which usearch builds and `walk`
//! searches when there are too many to score. Read in place from the memory map. Whether to score
//! or to walk is decided by `policy::search::semantic`.
//!
//! The graph's file begins with the vectors, in the order in which threads added them (`graph`). So
//! a second section says which row is a passage's: as threads take passages in order, passages that
//! follow one another have rows that are close. Bundles up to format 4 have there a matrix
//! of the same vectors.
//!
//! Each vector is scaled by its own largest number before it is rounded, which does not affect
//! cosine similarity. The rounding error of a similarity is below 0.001; neighbours in a real
//! corpus differ by ten times that.

use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use numkong::Dot;
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use super::pack::PackedNumbers;
use super::walk::{Graph, prefetch};
use super::{BundleError, SharedMap, graph, pack};

/// The number of neighbours of a node, and of candidates examined while building. Higher values
/// find more and take longer.
const CONNECTIVITY: usize = 24;
const EXPANSION_ADD: usize = 160;

/// The reciprocal of each vector's length, and its row in the graph.
const NORMS: &str = "norms";
const SLOTS: &str = "slots";
/// The vectors in the order of the passages: while building, and in bundles up to format 4.
const MATRIX: &str = "matrix";

/// Passages that a thread adds before it takes others. Those of one text are each other's
/// neighbours: added at the same moment they would not see each other, and some would never be
/// found. One thread also finds in its cache what it has just compared.
const RUN: u64 = 64;

/// A vector as it is stored and searched for.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    numbers: Vec<i8>,
    /// The reciprocal of its length, 0 for a vector of zeros.
    norm: f32,
}

impl Vector {
    pub fn of(numbers: &[f32]) -> Vector {
        let largest = numbers.iter().fold(0.0f32, |largest, n| largest.max(n.abs()));
        let scale = if largest > 0.0 && largest.is_finite() { 127.0 / largest } else { 0.0 };
        Vector::from_numbers(numbers.iter().map(|n| (n * scale).round() as i8).collect())
    }

    pub fn from_numbers(numbers: Vec<i8>) -> Vector {
        let squares: i32 = numbers.iter().map(|n| i32::from(*n) * i32::from(*n)).sum();
        let norm = if squares > 0 { 1.0 / (squares as f32).sqrt() } else { 0.0 };
        Vector { numbers, norm }
    }

    pub fn numbers(&self) -> &[i8] {
        &self.numbers
    }
}

/// A passage and its cosine similarity to the query, 1 for the same direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    pub passage: u32,
    pub similarity: f32,
}

/// Orders by similarity, the highest first, then by passage.
pub fn by_similarity(a: &Near, b: &Near) -> std::cmp::Ordering {
    b.similarity.total_cmp(&a.similarity).then(a.passage.cmp(&b.passage))
}

/// The vectors of a bundle.
pub struct Vectors {
    map: SharedMap,
    dimensions: usize,
    /// All vectors, row by row.
    rows: Range<usize>,
    /// The row of each passage, unless it is its number.
    slots: Option<Range<usize>>,
    norms: Range<usize>,
    /// The section with the graph.
    section: Range<usize>,
    graph: Graph,
}

impl Vectors {
    /// Opens the two sections. Any bytes may be given.
    pub fn open(
        map: SharedMap,
        matrix: Range<usize>,
        graph: Range<usize>,
    ) -> Result<Vectors, BundleError> {
        let damaged = |what: &str| BundleError::Damaged(format!("its vectors {what}"));
        let packed =
            map.get(matrix.clone()).and_then(pack::list).ok_or_else(|| damaged("list no files"))?;
        let file = |name: &str| {
            let found = packed.iter().find(|(n, _)| n == name);
            found.map(|(_, at)| matrix.start + at.start..matrix.start + at.end)
        };
        let norms = file(NORMS).ok_or_else(|| damaged("lack the file norms"))?;
        let count = norms.len() / 4;
        let bytes = map.get(graph.clone()).ok_or_else(|| damaged("have no graph"))?;
        let (slots, rows, dimensions) = match file(SLOTS) {
            Some(slots) => {
                let (rows, row) =
                    graph::rows(bytes).ok_or_else(|| damaged("have a graph without rows"))?;
                (Some(slots), graph.start + rows.start..graph.start + rows.end, row)
            }
            None => {
                let rows = file(MATRIX).ok_or_else(|| damaged("lack the file slots"))?;
                let row = rows.len().checked_div(count).unwrap_or_default();
                (None, rows, row)
            }
        };
        let is_whole = match &slots {
            Some(slots) => slots.len() == norms.len(),
            None => dimensions * count == rows.len(),
        };
        if !is_whole {
            return Err(damaged("have a matrix of the wrong size"));
        }
        let opened = Graph::open(bytes).ok_or_else(|| damaged("have a graph without nodes"))?;
        Ok(Vectors { map, dimensions, rows, slots, norms, section: graph, graph: opened })
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Passages `0..count` have a vector, but for those that were not embedded.
    pub fn count(&self) -> u32 {
        (self.norms.len() / 4) as u32
    }

    /// The vector of a passage, if it has one.
    pub fn vector(&self, passage: u32) -> Option<Vector> {
        let (row, norm) = self.row(passage)?;
        Some(Vector { numbers: signed(row).to_vec(), norm })
    }

    /// The similarity of a passage to the query, if it has a vector.
    fn similarity(&self, query: &Vector, passage: u32) -> Option<f32> {
        let (row, norm) = self.row(passage)?;
        Some(i8::dot(&query.numbers, signed(row))? as f32 * norm * query.norm)
    }

    fn row(&self, passage: u32) -> Option<(&[u8], f32)> {
        let at = passage as usize;
        let norms = self.map.get(self.norms.clone())?;
        let norm = f32::from_le_bytes(norms.get(at * 4..at * 4 + 4)?.try_into().ok()?);
        if norm.is_nan() || norm <= 0.0 {
            return None;
        }
        let row = match &self.slots {
            Some(slots) => PackedNumbers::in_bytes(self.map.get(slots.clone())?).get(at)? as usize,
            None => at,
        };
        let rows = self.map.get(self.rows.clone())?;
        let row = rows.get(row * self.dimensions..(row + 1) * self.dimensions)?;
        Some((row, norm))
    }

    /// Asks for the memory of passages that are compared soon.
    pub fn prefetch(&self, passages: Range<u32>) {
        let rows = passages.filter_map(|passage| self.row(passage));
        rows.for_each(|(row, _)| prefetch(row));
    }

    /// The nearest of these passages.
    pub fn nearest(&self, query: &Vector, passages: Range<u32>) -> Option<Near> {
        self.scored(query, passages).min_by(by_similarity)
    }

    fn scored(
        &self,
        query: &Vector,
        passages: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = Near> {
        passages.filter_map(|passage| {
            let similarity = self.similarity(query, passage)?;
            Some(Near { passage, similarity })
        })
    }

    /// The `limit` nearest of these passages, found by scoring every one of them.
    pub fn nearest_of(
        &self,
        query: &Vector,
        passages: impl Iterator<Item = u32>,
        limit: usize,
    ) -> Vec<Near> {
        best(self.scored(query, passages), limit)
    }

    /// Approximately the `limit` nearest of the allowed passages, found by walking the graph; fewer
    /// if the walk ends early.
    pub fn walk(
        &self,
        query: &Vector,
        limit: usize,
        allowed: Option<&dyn Fn(u32) -> bool>,
    ) -> Vec<Near> {
        let bytes = self.map.get(self.section.clone()).unwrap_or_default();
        let found = self.graph.walk(bytes, &query.numbers, limit, allowed);
        // Scored again, because angles are rounded differently from `nearest_of`.
        self.nearest_of(query, found.into_iter(), limit)
    }
}

/// The `limit` best, in order, in one pass.
fn best(scored: impl Iterator<Item = Near>, limit: usize) -> Vec<Near> {
    if limit == 0 {
        return Vec::new();
    }
    let mut kept: Vec<Near> = Vec::with_capacity(2 * limit.min(1 << 16));
    let mut floor = f32::NEG_INFINITY;
    for near in scored {
        if near.similarity < floor {
            continue;
        }
        kept.push(near);
        if kept.len() >= 2 * limit {
            kept.select_nth_unstable_by(limit - 1, by_similarity);
            kept.truncate(limit);
            floor = kept[limit - 1].similarity;
        }
    }
    kept.sort_unstable_by(by_similarity);
    kept.truncate(limit);
    kept
}

pub(super) fn signed(bytes: &[u8]) -> &[i8] {
    // SAFETY: u8 and i8 have the same size and alignment, and every bit pattern is a value of both.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}

fn new_index(dimensions: usize) -> Result<Index, String> {
    let options = IndexOptions {
        dimensions,
        metric: MetricKind::Cos,
        quantization: ScalarKind::I8,
        connectivity: CONNECTIVITY,
        expansion_add: EXPANSION_ADD,
        ..Default::default()
    };
    Index::new(&options).map_err(|e| e.to_string())
}

/// Writes the two sections. Vectors are added in the order of their passages.
pub struct Builder {
    folder: PathBuf,
    dimensions: usize,
    matrix: BufWriter<std::fs::File>,
    norms: BufWriter<std::fs::File>,
    count: u64,
}

impl Builder {
    pub fn new(folder: &Path, dimensions: usize) -> io::Result<Builder> {
        std::fs::create_dir_all(folder)?;
        let file = |name: &str| {
            Ok::<_, io::Error>(BufWriter::new(std::fs::File::create(folder.join(name))?))
        };
        let (matrix, norms) = (file(MATRIX)?, file(NORMS)?);
        Ok(Builder { folder: folder.to_path_buf(), dimensions, matrix, norms, count: 0 })
    }

    /// Adds the vector of the next passage; `None` if it was not embedded.
    pub fn push(&mut self, vector: Option<&Vector>) -> io::Result<()> {
        let zeros = || Vector::from_numbers(vec![0; self.dimensions]);
        let vector = vector.cloned().unwrap_or_else(zeros);
        let bytes: Vec<u8> = vector.numbers.iter().map(|n| n.to_le_bytes()[0]).collect();
        if bytes.len() != self.dimensions {
            return Err(io::Error::other(format!(
                "a vector has {} numbers instead of {}",
                bytes.len(),
                self.dimensions
            )));
        }
        self.matrix.write_all(&bytes)?;
        self.norms.write_all(&vector.norm.to_le_bytes())?;
        self.count += 1;
        Ok(())
    }

    /// Builds the graph with this many threads and writes the sections; `progress` gets the number
    /// of vectors added so far.
    pub fn finish(
        mut self,
        matrix: &Path,
        graph: &Path,
        threads: usize,
        progress: impl Fn(u64) + Sync,
    ) -> io::Result<()> {
        self.matrix.flush()?;
        self.norms.flush()?;
        let rows = std::fs::File::open(self.folder.join(MATRIX))?;
        // SAFETY: the file is in the build's own folder and is not written to any more.
        let rows = if self.count > 0 { Some(unsafe { memmap2::Mmap::map(&rows)? }) } else { None };
        let index = new_index(self.dimensions).map_err(io::Error::other)?;
        index
            .reserve_capacity_and_threads(self.count as usize, threads)
            .map_err(|e| io::Error::other(e.to_string()))?;
        let [next, done] = [0, 0].map(std::sync::atomic::AtomicU64::new);
        let add = || -> Result<(), String> {
            let Some(rows) = &rows else { return Ok(()) };
            loop {
                let from = next.fetch_add(RUN, std::sync::atomic::Ordering::Relaxed);
                if from >= self.count {
                    return Ok(());
                }
                for at in from..(from + RUN).min(self.count) {
                    let row = signed(&rows[at as usize * self.dimensions..][..self.dimensions]);
                    if row.iter().any(|n| *n != 0) {
                        index.add(at, row).map_err(|e| e.to_string())?;
                    }
                }
                let added = done.fetch_add(RUN, std::sync::atomic::Ordering::Relaxed) + RUN;
                progress(added.min(self.count));
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(add)).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(done) => done.map_err(io::Error::other),
                Err(_) => Err(io::Error::other("a thread that builds the graph panicked")),
            })
        })?;
        let path = graph
            .to_str()
            .ok_or_else(|| io::Error::other("the path of the working folder is not UTF-8"))?;
        index.save(path).map_err(|e| io::Error::other(e.to_string()))?;
        drop(index);
        let saved = std::fs::File::open(graph)?;
        // SAFETY: as above.
        let saved = unsafe { memmap2::Mmap::map(&saved)? };
        let slots = graph::slots(&saved, self.count as usize)
            .ok_or_else(|| io::Error::other("usearch wrote a graph of another layout"))?;
        std::fs::write(self.folder.join(SLOTS), PackedNumbers::bytes_of(&slots))?;
        pack::pack(&self.folder, matrix, |name| name == SLOTS || name == NORMS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::guard::GuardedMap;

    /// Pseudorandom vectors, some of them missing.
    fn given(count: usize) -> Vec<Option<Vector>> {
        let mut state = 7u64;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let mut vector = || Vector::of(&[0; 24].map(|_| number()));
        (0..count).map(|n| (n % 7 != 3).then(&mut vector)).collect()
    }

    /// The folder of the parts, and the two sections.
    fn built(folder: &Path, given: &[Option<Vector>], threads: usize) -> [PathBuf; 3] {
        let paths = ["parts", "matrix.section", "graph"].map(|name| folder.join(name));
        let [parts, matrix, graph] = &paths;
        let mut builder = Builder::new(parts, 24).unwrap();
        given.iter().for_each(|vector| builder.push(vector.as_ref()).unwrap());
        builder.finish(matrix, graph, threads, |_| ()).unwrap();
        paths
    }

    fn open(matrix: &Path, graph: &Path) -> Vectors {
        let [a, b] = [matrix, graph].map(|path| std::fs::read(path).unwrap());
        let both = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(both.path(), [&a[..], &b[..]].concat()).unwrap();
        let map = GuardedMap::of(both.as_file()).unwrap();
        let map = SharedMap(std::sync::Arc::new(map));
        Vectors::open(map, 0..a.len(), a.len()..a.len() + b.len()).unwrap()
    }

    /// Given vectors added by several threads, when opened with the graph's rows and, as in format
    /// 4, with a matrix beside it, then each passage has its own vector, and both give the same.
    #[test]
    fn every_passage_has_its_own_vector_in_both_formats() {
        let folder = tempfile::tempdir().unwrap();
        let given = given(900);
        let [parts, matrix, graph] = built(folder.path(), &given, 4);
        let old = folder.path().join("old.section");
        pack::pack(&parts, &old, |name| name == MATRIX || name == NORMS).unwrap();
        let [old, new] = [open(&old, &graph), open(&matrix, &graph)];
        assert!(old.slots.is_none() && new.slots.is_some());
        for vectors in [&old, &new] {
            assert_eq!((vectors.count(), vectors.dimensions()), (900, 24));
            for (passage, vector) in (0..).zip(&given) {
                assert_eq!(vectors.vector(passage), *vector, "{passage}");
            }
            assert_eq!(vectors.vector(900), None);
        }
        let query = given[100].as_ref().unwrap();
        let found = |vectors: &Vectors| vectors.walk(query, 20, None);
        assert_eq!(found(&new), found(&old));
        assert_eq!(found(&new)[0].passage, 100);
        assert_eq!(new.nearest_of(query, 0..900, 5), old.nearest_of(query, 0..900, 5));
        assert_eq!(new.nearest(query, 0..900), old.nearest_of(query, 0..900, 1).first().copied());
        let size = |path: &Path| std::fs::metadata(path).unwrap().len();
        assert!(size(&matrix) < 900 * 8 + 1024, "{} bytes", size(&matrix));
    }

    /// Given a graph of usearch's, when it is walked with and without a condition, then as many of
    /// the nearest are found as usearch itself finds, all of them allowed, and no more than asked
    /// for.
    #[test]
    fn a_walk_finds_what_usearch_finds() {
        let folder = tempfile::tempdir().unwrap();
        let given = given(20_000);
        let [_, matrix, graph] = built(folder.path(), &given, 2);
        let vectors = open(&matrix, &graph);
        let usearch = new_index(24).unwrap();
        usearch.view(graph.to_str().unwrap()).unwrap();
        let every_third = |passage: u32| passage.is_multiple_of(3);
        let (mut ours, mut theirs, mut all) = (0, 0, 0);
        for query in given.iter().flatten().step_by(100) {
            for allowed in [None, Some(&every_third as &dyn Fn(u32) -> bool)] {
                let is_allowed = |passage: &u32| allowed.is_none_or(|allowed| allowed(*passage));
                let exact = vectors.nearest_of(query, (0..20_000).filter(is_allowed), 10);
                let walked = vectors.walk(query, 100, allowed);
                assert!(walked.len() == 100 && walked.iter().all(|n| is_allowed(&n.passage)));
                let found = match allowed {
                    None => usearch.search(query.numbers(), 100),
                    Some(allowed) => {
                        usearch.filtered_search(query.numbers(), 100, |key| allowed(key as u32))
                    }
                };
                let keys = found.unwrap().keys;
                ours += exact.iter().filter(|near| walked.contains(near)).count();
                theirs += exact.iter().filter(|near| keys.contains(&near.passage.into())).count();
                all += exact.len();
            }
        }
        assert!(ours * 100 >= all * 97 && ours * 100 >= theirs * 99, "{ours}, {theirs} of {all}");
        assert!(vectors.walk(given[0].as_ref().unwrap(), 0, None).is_empty());
    }

    /// Given a graph whose header names neighbours, a level or a first node that it doesn't have,
    /// when it is opened, then it is refused or the walk ends.
    #[test]
    fn a_wrong_header_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let given = given(900);
        let [_, _, graph] = built(folder.path(), &given, 1);
        let whole = std::fs::read(&graph).unwrap();
        let header = graph::rows(&whole).unwrap().0.end + graph::HEAD;
        let query = given[100].as_ref().unwrap();
        let fields = (1..=4).flat_map(|field| {
            [0, 1, 23, 1 << 16, 1 << 20, 1 << 40, u64::MAX].map(|number| (field, number))
        });
        for (field, number) in fields {
            let mut wrong = whole.clone();
            wrong[header + field * 8..][..8].copy_from_slice(&number.to_le_bytes());
            if let Some(opened) = Graph::open(&wrong) {
                assert!(opened.walk(&wrong, query.numbers(), 20, None).len() <= 20);
            }
        }
    }
}
