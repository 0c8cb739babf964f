//! Builds the search sections of a bundle: the text index from the parts that `text_parts` makes,
//! the vectors of passages, and the graph over them.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use anyhow::{Context, Result};
use josh::bundle::text_writer::{self, Part};
use josh::bundle::vectors;

use crate::embedding::Embedding;
use crate::text_parts::{FinishedPart, RecordText, TextParts};
use crate::vector_cache::{Key, VectorCache, key};
use crate::{machine, progress};

/// Texts that a thread embeds before the vectors are saved: a few seconds of work, which is what
/// an interruption can lose.
const BATCH: usize = 32;

/// Texts sorted by length together, so that a batch has texts of similar length.
const SORTED: usize = 4096;

/// Collects texts and builds the sections.
pub struct Texts<'a> {
    folder: PathBuf,
    parts: TextParts,
    /// Finished parts of the index, by number.
    index: BTreeMap<usize, Part>,
    vectors: Option<Vectors<'a>>,
    counts: BTreeMap<&'static str, TextCounts>,
}

/// Collects passages to embed.
struct Vectors<'a> {
    embedding: &'a Embedding,
    cache: VectorCache,
    dimensions: usize,
    /// Cache keys of the passages of each part; `None` for a passage without a vector.
    keys: BTreeMap<usize, Vec<Option<Key>>>,
    /// Texts that are not in the cache, one JSON string per line.
    missing: BufWriter<File>,
    missing_keys: HashSet<Key>,
}

/// Passages of a source, and how many of them have a vector.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextCounts {
    pub passages: u64,
    pub vectors: u64,
}

/// The written sections.
pub struct Sections {
    pub text: PathBuf,
    /// Matrix and graph.
    pub vectors: Option<(PathBuf, PathBuf)>,
    pub counts: BTreeMap<&'static str, TextCounts>,
}

impl<'a> Texts<'a> {
    pub fn new(folder: &Path, embedding: Option<&'a Embedding>) -> Result<Texts<'a>> {
        let embedded = embedding.map(|embedding| embedding.sources.as_slice());
        Ok(Texts {
            folder: folder.to_path_buf(),
            parts: TextParts::new(folder, machine::cores(), embedded),
            index: BTreeMap::new(),
            vectors: embedding.map(|embedding| Vectors::new(folder, embedding)).transpose()?,
            counts: BTreeMap::new(),
        })
    }

    /// Adds a record's text; a record without text is still indexed by its title.
    pub fn add(&mut self, record: RecordText) -> Result<()> {
        self.parts.add(record)?;
        let finished: Vec<_> = self.parts.finished().collect();
        let mut collect = Collect {
            index: &mut self.index,
            vectors: &mut self.vectors,
            counts: &mut self.counts,
        };
        finished.into_iter().try_for_each(|part| collect.part(part?))
    }

    /// Embeds new texts and writes the sections of a bundle with `records` records.
    pub fn finish(mut self, records: u64) -> Result<Sections> {
        let mut collect = Collect {
            index: &mut self.index,
            vectors: &mut self.vectors,
            counts: &mut self.counts,
        };
        self.parts.finish()?.into_iter().try_for_each(|part| collect.part(part))?;
        let text = self.folder.join("text.section");
        let parts: Vec<Part> = self.index.into_values().collect();
        text_writer::merge(&parts, records, &self.folder.join("index"), &text)?;
        let vectors = self.vectors.map(|vectors| vectors.finish(&self.folder)).transpose()?;
        Ok(Sections { text, vectors, counts: self.counts })
    }
}

/// Where finished parts go.
struct Collect<'c, 'a> {
    index: &'c mut BTreeMap<usize, Part>,
    vectors: &'c mut Option<Vectors<'a>>,
    counts: &'c mut BTreeMap<&'static str, TextCounts>,
}

impl Collect<'_, '_> {
    fn part(&mut self, part: FinishedPart) -> Result<()> {
        for (source, passages) in part.passages {
            let counts = self.counts.entry(source).or_default();
            counts.passages += passages;
            let has_vectors = |v: &Vectors| v.embedding.sources.contains(&source);
            counts.vectors +=
                if self.vectors.as_ref().is_some_and(has_vectors) { passages } else { 0 };
        }
        self.index.insert(part.number, part.index);
        match self.vectors {
            Some(vectors) => vectors.add(part.number, part.model_texts),
            None => Ok(()),
        }
    }
}

impl<'a> Vectors<'a> {
    fn new(folder: &Path, embedding: &'a Embedding) -> Result<Vectors<'a>> {
        let probe = embedding.worker()?.embed(&["a".to_string()])?;
        let dimensions = probe.first().map_or(0, |v| v.numbers().len());
        let cache = VectorCache::open(&embedding.cache.join(embedding.cache_name()), dimensions)?;
        let missing = BufWriter::new(File::create(folder.join("missing.jsonl"))?);
        Ok(Vectors {
            embedding,
            cache,
            dimensions,
            keys: BTreeMap::new(),
            missing,
            missing_keys: HashSet::new(),
        })
    }

    /// Adds the passages of a part: the model's input of each, or `None` for no vector.
    fn add(&mut self, part: usize, texts: Vec<Option<String>>) -> Result<()> {
        let mut keys = Vec::with_capacity(texts.len());
        for text in texts {
            keys.push(text.as_deref().map(key));
            if let (Some(text), Some(Some(key))) = (text, keys.last())
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

    fn finish(mut self, folder: &Path) -> Result<(PathBuf, PathBuf)> {
        self.missing.flush()?;
        let threads = machine::cores();
        self.embed_missing(folder, threads)?;
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

    /// Embeds missing texts on all cores. Finished batches are cached at once.
    fn embed_missing(&mut self, folder: &Path, threads: usize) -> Result<()> {
        if self.missing_keys.is_empty() {
            return Ok(());
        }
        let bar = progress::rate_bar(self.missing_keys.len() as u64, "embedding passages");
        let batches = Mutex::new(Batches {
            lines: BufReader::new(File::open(folder.join("missing.jsonl"))?).lines(),
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
                bar.inc(pairs.len() as u64);
            }
            Ok::<_, anyhow::Error>(())
        })?;
        bar.finish_and_clear();
        Ok(())
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
