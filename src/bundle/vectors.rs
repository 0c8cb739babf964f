//! Passage vectors with 8 bits per number: a matrix for exact scoring, and a usearch graph over the
//! same vectors for searching when there are too many to score. Both are read in place from the
//! memory map. Which of the two to use is decided by `policy::search::semantic`.
//!
//! Each vector is scaled by its own largest number before it is rounded, which does not affect
//! cosine similarity. The rounding error of a similarity is below 0.001; neighbours in a real
//! corpus differ by ten times that.

use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use numkong::Dot;
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use super::{BundleError, SharedMap, graph, pack};

/// The number of neighbours of a node, and of candidates examined while building. Higher values
/// find more and take longer.
const CONNECTIVITY: usize = 24;
const EXPANSION_ADD: usize = 160;

const MATRIX: &str = "matrix";
const NORMS: &str = "norms";

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
    matrix: Range<usize>,
    norms: Range<usize>,
    graph: Index,
}

impl Vectors {
    /// Opens the two sections. Any bytes may be given: usearch gets only a graph that it can walk
    /// without leaving it.
    pub fn open(
        map: SharedMap,
        matrix: Range<usize>,
        graph: Range<usize>,
    ) -> Result<Vectors, BundleError> {
        let damaged = |what: &str| BundleError::Damaged(format!("its vectors {what}"));
        let packed =
            map.get(matrix.clone()).and_then(pack::list).ok_or_else(|| damaged("list no files"))?;
        let file = |name: &str| {
            let found = packed
                .iter()
                .find(|(n, _)| n == name)
                .ok_or_else(|| damaged(&format!("lack the file {name}")))?;
            Ok::<_, BundleError>(matrix.start + found.1.start..matrix.start + found.1.end)
        };
        let (matrix, norms) = (file(MATRIX)?, file(NORMS)?);
        let count = norms.len() / 4;
        let dimensions = matrix.len().checked_div(count).unwrap_or_default();
        if dimensions * count != matrix.len() {
            return Err(damaged("have a matrix of the wrong size"));
        }
        let bytes = map.get(graph).ok_or_else(|| damaged("have no graph"))?;
        graph::check(bytes, dimensions).map_err(|what| damaged(&format!("have {what}")))?;
        let index = new_index(dimensions.max(1))
            .map_err(|e| damaged(&format!("have dimensions that usearch refuses ({e})")))?;
        // SAFETY: the bytes lie in the map, which `Vectors` holds for as long as the index; it is
        // never written or moved. usearch follows what they say, which was just checked.
        unsafe { index.view_from_buffer(bytes) }
            .map_err(|e| damaged(&format!("have a graph that usearch can't load ({e})")))?;
        Ok(Vectors { map, dimensions, matrix, norms, graph: index })
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The number of rows. Passages `0..count` have one each, a row of zeros if they were not
    /// embedded.
    pub fn count(&self) -> u32 {
        (self.norms.len() / 4) as u32
    }

    /// The vector of a passage, if it has one.
    pub fn vector(&self, passage: u32) -> Option<Vector> {
        let (row, norm) = self.row(passage)?;
        Some(Vector { numbers: row.to_vec(), norm })
    }

    /// The similarity of a passage to the query, if it has a vector.
    fn similarity(&self, query: &Vector, passage: u32) -> Option<f32> {
        let (row, norm) = self.row(passage)?;
        Some(i8::dot(&query.numbers, row)? as f32 * norm * query.norm)
    }

    fn row(&self, passage: u32) -> Option<(&[i8], f32)> {
        let at = passage as usize;
        let norms = self.map.get(self.norms.clone())?;
        let norm = f32::from_le_bytes(norms.get(at * 4..at * 4 + 4)?.try_into().ok()?);
        let rows = self.map.get(self.matrix.clone())?;
        let row = rows.get(at * self.dimensions..(at + 1) * self.dimensions)?;
        (norm > 0.0).then_some((signed(row), norm))
    }

    /// The `limit` nearest of these passages, found by scoring every one of them.
    pub fn nearest_of(
        &self,
        query: &Vector,
        passages: impl Iterator<Item = u32>,
        limit: usize,
    ) -> Vec<Near> {
        let scored = passages.filter_map(|passage| {
            let similarity = self.similarity(query, passage)?;
            Some(Near { passage, similarity })
        });
        best(scored, limit)
    }

    /// Approximately the `limit` nearest of the allowed passages, found by walking the graph; fewer
    /// if the walk ends early.
    pub fn walk(
        &self,
        query: &Vector,
        limit: usize,
        allowed: Option<&dyn Fn(u32) -> bool>,
    ) -> Result<Vec<Near>, String> {
        if limit == 0 || self.graph.size() == 0 {
            return Ok(Vec::new());
        }
        let found = match allowed {
            None => self.graph.search(&query.numbers, limit),
            Some(allowed) => {
                self.graph.filtered_search(&query.numbers, limit, |key| allowed(key as u32))
            }
        };
        let found = found.map_err(|e| e.to_string())?;
        // Scored again, because usearch rounds distances differently from `nearest_of`.
        Ok(self.nearest_of(query, found.keys.into_iter().map(|key| key as u32), limit))
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

fn signed(bytes: &[u8]) -> &[i8] {
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
        let next = std::sync::atomic::AtomicU64::new(0);
        let add = || -> Result<(), String> {
            let Some(rows) = &rows else { return Ok(()) };
            loop {
                let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if at >= self.count {
                    return Ok(());
                }
                let row = signed(&rows[at as usize * self.dimensions..][..self.dimensions]);
                if row.iter().any(|n| *n != 0) {
                    index.add(at, row).map_err(|e| e.to_string())?;
                }
                progress(at + 1);
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
        pack::pack(&self.folder, matrix, |name| name == MATRIX || name == NORMS)
    }
}
