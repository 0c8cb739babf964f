//! Embeds the passages of a bundle, those that the cache lacks, on all cores, and builds the graph
//! over the vectors.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use anyhow::{Context, Result};
use josh::bundle::vectors;
use josh::output::note;

use crate::embedding::Embedding;
use crate::estimate::Estimate;
use crate::vector_cache::{Key, VectorCache, key};
use crate::{machine, progress};

/// Texts that a thread embeds before the vectors are saved: a second of work or so, which is what
/// an interruption can lose.
const BATCH: usize = 32;

/// Texts sorted by length together, so that a batch has texts of similar length.
const SORTED: usize = 4096;

/// Collects passages to embed.
pub struct PassageVectors<'a> {
    pub embedding: &'a Embedding,
    folder: PathBuf,
    cache: VectorCache,
    dimensions: usize,
    /// Cache keys of the passages of each part; `None` for a passage without a vector.
    keys: BTreeMap<usize, Vec<Option<Key>>>,
    /// Texts that are not in the cache, one JSON string per line.
    missing: BufWriter<File>,
    missing_keys: HashSet<Key>,
}

impl<'a> PassageVectors<'a> {
    pub fn new(folder: &Path, embedding: &'a Embedding) -> Result<PassageVectors<'a>> {
        let dimensions = embedding.dimensions()?;
        let cache = VectorCache::open(&embedding.cache_files(), embedding.shard, dimensions)?;
        Ok(PassageVectors {
            embedding,
            folder: folder.to_path_buf(),
            cache,
            dimensions,
            keys: BTreeMap::new(),
            missing: BufWriter::new(File::create(folder.join("missing.jsonl"))?),
            missing_keys: HashSet::new(),
        })
    }

    /// Adds the passages of a part: the model's input of each, or `None` for no vector.
    pub fn add(&mut self, part: usize, texts: Vec<Option<String>>) -> Result<()> {
        let mut keys = Vec::with_capacity(texts.len());
        for text in texts {
            keys.push(text.as_deref().map(key));
            if let (Some(text), Some(Some(key))) = (text, keys.last())
                && self.embedding.shard.is_none_or(|shard| shard.contains(key))
                && !self.cache.contains(key)
                && self.missing_keys.insert(*key)
            {
                serde_json::to_writer(&mut self.missing, &text)?;
                self.missing.write_all(b"\n")?;
            }
        }
        self.keys.insert(part, keys);
        Ok(())
    }

    /// Embeds what is missing and writes matrix and graph.
    pub fn finish(mut self) -> Result<(PathBuf, PathBuf)> {
        self.embed()?;
        let threads = machine::cores();
        let folder = &self.folder;
        let (matrix, graph) = (folder.join("matrix.section"), folder.join("graph.section"));
        let mut builder = vectors::Builder::new(&folder.join("vectors"), self.dimensions)?;
        // Passages after the last one with a vector need no row.
        let keys: Vec<Option<Key>> =
            std::mem::take(&mut self.keys).into_values().flatten().collect();
        let rows = keys.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        for key in &keys[..rows] {
            let vector = match key {
                Some(key) => {
                    Some(self.cache.get(key)?.context("a vector is missing in the cache")?)
                }
                None => None,
            };
            builder.push(vector.as_ref())?;
        }
        let bar = progress::rate_bar(rows as u64, "building the vector graph");
        builder.finish(&matrix, &graph, threads, |done| bar.set_position(done))?;
        bar.finish_and_clear();
        Ok((matrix, graph))
    }

    /// Embeds missing texts on all cores, and returns their number. Finished batches are cached at
    /// once.
    pub fn embed(&mut self) -> Result<u64> {
        self.missing.flush()?;
        let count = self.missing_keys.len() as u64;
        if count == 0 {
            return Ok(0);
        }
        let threads = machine::cores();
        note!("josh-data-build: {}", Estimate::measure(self.embedding, count)?);
        let mut progress = progress::Embedded::new(count);
        let batches = Mutex::new(Batches {
            lines: BufReader::new(File::open(self.folder.join("missing.jsonl"))?).lines(),
            ready: Vec::new(),
        });
        let (sender, embedded) = sync_channel(2 * threads);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (sender, batches, embedding) = (sender.clone(), &batches, self.embedding);
                scope.spawn(move || {
                    let work = || -> Result<()> {
                        let mut worker = embedding.worker()?;
                        loop {
                            let texts = batches
                                .lock()
                                .map_err(|_| anyhow::anyhow!("another thread failed"))?
                                .next_batch()?;
                            if texts.is_empty() {
                                return Ok(());
                            }
                            let vectors = worker.embed(&texts)?;
                            let pairs =
                                texts.iter().map(|text| key(text)).zip(vectors).collect::<Vec<_>>();
                            if sender.send(Ok(pairs)).is_err() {
                                return Ok(());
                            }
                        }
                    };
                    if let Err(error) = work() {
                        let _ = sender.send(Err(error));
                    }
                });
            }
            drop(sender);
            // Leaving this loop early drops the receiver, which makes the threads stop.
            for pairs in embedded {
                let pairs = pairs?;
                self.cache.add(&pairs)?;
                progress.add(pairs.len() as u64);
            }
            Ok::<_, anyhow::Error>(())
        })?;
        progress.finish();
        Ok(count)
    }
}

/// Batches of missing texts with similar lengths.
struct Batches<R: BufRead> {
    lines: std::io::Lines<R>,
    ready: Vec<String>,
}

impl<R: BufRead> Batches<R> {
    /// The next batch; empty at the end.
    fn next_batch(&mut self) -> Result<Vec<String>> {
        if self.ready.is_empty() {
            for line in self.lines.by_ref().take(SORTED) {
                self.ready.push(serde_json::from_str(&line?)?);
            }
            self.ready.sort_by_key(String::len);
        }
        Ok(self.ready.split_off(self.ready.len().saturating_sub(BATCH)))
    }
}
