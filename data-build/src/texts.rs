//! Builds the search sections of a bundle: cuts texts into passages, indexes and embeds them, and
//! builds the vector graph.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use anyhow::{Context, Result};
use josh::bundle::text::{self, PassageEntry};
use josh::bundle::vectors;

use crate::embedding::Embedding;
use crate::passages::{self, Passage};
use crate::progress;
use crate::record::Section;
use crate::vector_cache::{Key, VectorCache, key};

/// Texts that a thread embeds before the vectors are saved: a few seconds of work, which is what
/// an interruption can lose.
const BATCH: usize = 32;

/// Texts sorted by length together, so that a batch has texts of similar length.
const SORTED: usize = 4096;

/// Collects texts and builds the sections.
pub struct Texts<'a> {
    folder: PathBuf,
    index: text::Builder,
    vectors: Option<Vectors<'a>>,
}

/// Collects passages to embed.
struct Vectors<'a> {
    embedding: &'a Embedding,
    cache: VectorCache,
    dimensions: usize,
    /// Cache key of each passage; `None` for a passage without a vector.
    keys: Vec<Option<Key>>,
    /// Texts that are not in the cache, one JSON string per line.
    missing: BufWriter<File>,
    missing_keys: HashSet<Key>,
}

/// Paths of the written sections.
pub struct Sections {
    pub text: PathBuf,
    /// Matrix and graph.
    pub vectors: Option<(PathBuf, PathBuf)>,
}

impl<'a> Texts<'a> {
    pub fn new(folder: &Path, embedding: Option<&'a Embedding>) -> Result<Texts<'a>> {
        let index = text::Builder::new(&folder.join("index"))?;
        let vectors = embedding.map(|embedding| Vectors::new(folder, embedding)).transpose()?;
        Ok(Texts { folder: folder.to_path_buf(), index, vectors })
    }

    /// Adds a record's text; a record without text is still indexed by its title. Returns the
    /// numbers of passages and vectors.
    pub fn add(
        &mut self,
        source: &str,
        record: u64,
        title: &str,
        sections: &[Section],
    ) -> Result<(u64, u64)> {
        let mut passages = passages::cut(title, sections);
        if passages.is_empty() {
            passages.push(Passage {
                section: String::new(),
                heading: String::new(),
                text: String::new(),
            });
        }
        let mut embedded = 0;
        for passage in &passages {
            let Passage { section, heading, text } = passage;
            self.index.add(&PassageEntry { record, title, section, heading, text })?;
            if let Some(vectors) = &mut self.vectors {
                let text = vectors
                    .embedding
                    .sources
                    .contains(&source)
                    .then(|| passages::model_text(title, passage));
                embedded += u64::from(text.is_some());
                vectors.add(text)?;
            }
        }
        Ok((passages.len() as u64, embedded))
    }

    /// Embeds new texts and writes the sections.
    pub fn finish(self, records: u64) -> Result<Sections> {
        let text = self.folder.join("text.section");
        self.index.finish(records, &text)?;
        let vectors = self.vectors.map(|vectors| vectors.finish(&self.folder)).transpose()?;
        Ok(Sections { text, vectors })
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
            keys: Vec::new(),
            missing,
            missing_keys: HashSet::new(),
        })
    }

    /// Adds the next passage: the model's input, or `None` for no vector.
    fn add(&mut self, text: Option<String>) -> Result<()> {
        self.keys.push(text.as_deref().map(key));
        if let (Some(text), Some(Some(key))) = (text, self.keys.last())
            && !self.cache.contains(key)
            && self.missing_keys.insert(*key)
        {
            serde_json::to_writer(&mut self.missing, &text)?;
            self.missing.write_all(b"\n")?;
        }
        Ok(())
    }

    fn finish(mut self, folder: &Path) -> Result<(PathBuf, PathBuf)> {
        self.missing.flush()?;
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        self.embed_missing(folder, threads)?;
        let (matrix, graph) = (folder.join("matrix.section"), folder.join("graph.section"));
        let mut builder = vectors::Builder::new(&folder.join("vectors"), self.dimensions)?;
        // Passages after the last one with a vector need no row.
        let rows = self.keys.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        for key in &self.keys[..rows] {
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
