//! Passage vectors, in 8 bits a number: a matrix to score exactly, and a usearch graph over the same vectors to walk when there are
//! too many. Both are read where they lie in the memory map.
//!
//! A vector is scaled by its own largest number before it is rounded, which cosine similarity does not see: the error of a
//! similarity stays below 0.001, where neighbours in a real corpus differ by ten times that.

use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use numkong::Dot;
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use super::{BundleError, SharedMap, pack};

/// Neighbours of a node, and how many candidates building looks at: higher finds more and takes longer.
const CONNECTIVITY: usize = 24;
const EXPANSION_ADD: usize = 160;

const MATRIX: &str = "matrix";
const NORMS: &str = "norms";

/// A vector as it is stored and asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    numbers: Vec<i8>,
    /// One over its length.
    norm: f32,
}

impl Vector {
    pub fn of(numbers: &[f32]) -> Vector {
        let most = numbers.iter().fold(0.0f32, |most, n| most.max(n.abs()));
        let scale = if most > 0.0 && most.is_finite() { 127.0 / most } else { 0.0 };
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

/// A passage and its similarity to the question, 1 for the same direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    pub passage: u32,
    pub similarity: f32,
}

/// The most similar first; equals in the order of the passages.
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
    /// Opens the two sections. The graph's bytes go to code that trusts them, so the caller has checked their hash.
    pub fn open(map: SharedMap, matrix: Range<usize>, graph: Range<usize>) -> Result<Vectors, BundleError> {
        let damaged = |what: &str| BundleError::Damaged(format!("its vectors {what}"));
        let packed = map.get(matrix.clone()).and_then(pack::list).ok_or_else(|| damaged("have no list"))?;
        let file = |name: &str| {
            let found = packed.iter().find(|(n, _)| n == name).ok_or_else(|| damaged(&format!("lack their {name}")))?;
            Ok::<_, BundleError>(matrix.start + found.1.start..matrix.start + found.1.end)
        };
        let (matrix, norms) = (file(MATRIX)?, file(NORMS)?);
        let count = norms.len() / 4;
        let dimensions = matrix.len().checked_div(count).unwrap_or_default();
        if dimensions * count != matrix.len() {
            return Err(damaged("do not fill their matrix"));
        }
        let bytes = map.get(graph).ok_or_else(|| damaged("have no graph"))?;
        let index = new_index(dimensions.max(1)).map_err(|e| damaged(&format!("can't be indexed ({e})")))?;
        // SAFETY: the bytes lie in the map, which `Vectors` holds for as long as the index; it is never written or moved.
        unsafe { index.view_from_buffer(bytes) }
            .map_err(|e| damaged(&format!("have a graph that can't be read ({e})")))?;
        Ok(Vectors { map, dimensions, matrix, norms, graph: index })
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Passages `0..count` have a row; one that was not embedded has a row of zeros.
    pub fn count(&self) -> u32 {
        (self.norms.len() / 4) as u32
    }

    /// The vector of a passage, if it has one.
    pub fn vector(&self, passage: u32) -> Option<Vector> {
        let (row, norm) = self.row(passage)?;
        Some(Vector { numbers: row.to_vec(), norm })
    }

    /// The similarity of a passage to the question, if it has a vector.
    fn similarity(&self, question: &Vector, passage: u32) -> Option<f32> {
        let (row, norm) = self.row(passage)?;
        Some(i8::dot(&question.numbers, row)? as f32 * norm * question.norm)
    }

    fn row(&self, passage: u32) -> Option<(&[i8], f32)> {
        let at = passage as usize;
        let norms = self.map.get(self.norms.clone())?;
        let norm = f32::from_le_bytes(norms.get(at * 4..at * 4 + 4)?.try_into().ok()?);
        let rows = self.map.get(self.matrix.clone())?;
        let row = rows.get(at * self.dimensions..(at + 1) * self.dimensions)?;
        (norm > 0.0).then_some((signed(row), norm))
    }

    /// The `most` nearest of these passages, found by scoring each of them.
    pub fn nearest_of(&self, question: &Vector, passages: impl Iterator<Item = u32>, most: usize) -> Vec<Near> {
        let scored = passages.filter_map(|passage| {
            let similarity = self.similarity(question, passage)?;
            Some(Near { passage, similarity })
        });
        best(scored, most)
    }

    /// About the `most` nearest passages of those allowed, found by walking the graph; fewer where the walk ends early.
    pub fn walk(
        &self,
        question: &Vector,
        most: usize,
        allowed: Option<&dyn Fn(u32) -> bool>,
    ) -> Result<Vec<Near>, String> {
        if most == 0 || self.graph.size() == 0 {
            return Ok(Vec::new());
        }
        let found = match allowed {
            None => self.graph.search(&question.numbers, most),
            Some(allowed) => self.graph.filtered_search(&question.numbers, most, |key| allowed(key as u32)),
        };
        let found = found.map_err(|e| e.to_string())?;
        // Scored again: the graph's own distances are rounded otherwise than those of `nearest_of`.
        Ok(self.nearest_of(question, found.keys.into_iter().map(|key| key as u32), most))
    }
}

/// The `most` best, in order, in one pass.
fn best(scored: impl Iterator<Item = Near>, most: usize) -> Vec<Near> {
    if most == 0 {
        return Vec::new();
    }
    let mut kept: Vec<Near> = Vec::with_capacity(2 * most.min(1 << 16));
    let mut floor = f32::NEG_INFINITY;
    for near in scored {
        if near.similarity < floor {
            continue;
        }
        kept.push(near);
        if kept.len() >= 2 * most {
            kept.select_nth_unstable_by(most - 1, by_similarity);
            kept.truncate(most);
            floor = kept[most - 1].similarity;
        }
    }
    kept.sort_unstable_by(by_similarity);
    kept.truncate(most);
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

/// Writes the two sections. Vectors come in the order of their passages.
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
        let file = |name: &str| Ok::<_, io::Error>(BufWriter::new(std::fs::File::create(folder.join(name))?));
        let (matrix, norms) = (file(MATRIX)?, file(NORMS)?);
        Ok(Builder { folder: folder.to_path_buf(), dimensions, matrix, norms, count: 0 })
    }

    /// The next passage's vector; `None` for one that has none.
    pub fn push(&mut self, vector: Option<&Vector>) -> io::Result<()> {
        let zeros = || Vector::from_numbers(vec![0; self.dimensions]);
        let vector = vector.cloned().unwrap_or_else(zeros);
        let bytes: Vec<u8> = vector.numbers.iter().map(|n| n.to_le_bytes()[0]).collect();
        if bytes.len() != self.dimensions {
            return Err(io::Error::other(format!("a vector of {} numbers, not {}", bytes.len(), self.dimensions)));
        }
        self.matrix.write_all(&bytes)?;
        self.norms.write_all(&vector.norm.to_le_bytes())?;
        self.count += 1;
        Ok(())
    }

    /// Builds the graph with so many threads and writes the sections; `progress` gets the number of vectors done.
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
        // SAFETY: the file is ours alone, in the build's own folder, and is not written any more.
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
                Err(_) => Err(io::Error::other("a thread that builds the graph failed")),
            })
        })?;
        let path = graph.to_str().ok_or_else(|| io::Error::other("the working folder's name is not UTF-8"))?;
        index.save(path).map_err(|e| io::Error::other(e.to_string()))?;
        pack::pack(&self.folder, matrix, |name| name == MATRIX || name == NORMS)
    }
}
