//! Texts on their way into the search sections: cut into passages, put into the text index, embedded, put into the graph.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use anyhow::{Context, Result};
use josh::bundle::text::{self, Entry};
use josh::bundle::vectors;

use crate::embedding::Embedding;
use crate::passages::{self, Passage};
use crate::progress;
use crate::record::Section;
use crate::vector_cache::{Key, VectorCache, key};

/// Texts that a thread embeds before it hands them over: a few seconds of work, which is what a break can lose.
const SHARE: usize = 32;

/// Texts sorted by length together, so that those of about one length meet in a batch.
const SORTED: usize = 4096;

/// Everything that is searched, on its way.
pub struct Texts<'a> {
    folder: PathBuf,
    index: text::Builder,
    vectors: Option<Vectors<'a>>,
}

/// Vectors on their way.
struct Vectors<'a> {
    embedding: &'a Embedding,
    cache: VectorCache,
    dimensions: usize,
    /// Of each passage so far; `None` for one without a vector.
    keys: Vec<Option<Key>>,
    /// Texts that no vector is known of, one JSON string a line.
    missing: BufWriter<File>,
    waiting: HashSet<Key>,
}

/// Where the sections were written.
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

    /// Adds a record's text; one without a text is found by its title. Gives the passages and vectors it makes.
    pub fn add(&mut self, source: &str, record: u64, title: &str, sections: &[Section]) -> Result<(u64, u64)> {
        let mut passages = passages::cut(title, sections);
        if passages.is_empty() {
            passages.push(Passage { section: String::new(), heading: String::new(), text: String::new() });
        }
        let mut embedded = 0;
        for passage in &passages {
            let Passage { section, heading, text } = passage;
            self.index.add(&Entry { record, title, section, heading, text })?;
            if let Some(vectors) = &mut self.vectors {
                let text = vectors.embedding.sources.contains(&source).then(|| passages::model_text(title, passage));
                embedded += u64::from(text.is_some());
                vectors.note(text)?;
            }
        }
        Ok((passages.len() as u64, embedded))
    }

    /// Embeds what is new and writes the sections.
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
        Ok(Vectors { embedding, cache, dimensions, keys: Vec::new(), missing, waiting: HashSet::new() })
    }

    /// The next passage, as the model would read it.
    fn note(&mut self, text: Option<String>) -> Result<()> {
        self.keys.push(text.as_deref().map(key));
        if let (Some(text), Some(Some(key))) = (text, self.keys.last())
            && !self.cache.contains(key)
            && self.waiting.insert(*key)
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
        // Passages behind the last one with a vector need no row.
        let rows = self.keys.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        for key in &self.keys[..rows] {
            let vector = match key {
                Some(key) => Some(self.cache.get(key)?.context("a vector was lost")?),
                None => None,
            };
            builder.push(vector.as_ref())?;
        }
        let bar = progress::rated(rows as u64, "linking vectors");
        builder.finish(&matrix, &graph, threads, |done| bar.set_position(done))?;
        bar.finish_and_clear();
        Ok((matrix, graph))
    }

    /// Embeds what has no vector, on all cores. What is done is kept, whatever happens next.
    fn embed_missing(&mut self, folder: &Path, threads: usize) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let bar = progress::rated(self.waiting.len() as u64, "embedding passages");
        let lines = Mutex::new(Shares {
            lines: BufReader::new(File::open(folder.join("missing.jsonl"))?).lines(),
            ready: Vec::new(),
        });
        let (sender, made) = sync_channel(2 * threads);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (sender, lines, embedding) = (sender.clone(), &lines, self.embedding);
                scope.spawn(move || {
                    let work = || -> Result<()> {
                        let mut worker = embedding.worker()?;
                        loop {
                            let texts = lines.lock().map_err(|_| anyhow::anyhow!("another thread failed"))?.take()?;
                            if texts.is_empty() {
                                return Ok(());
                            }
                            let vectors = worker.embed(&texts)?;
                            let pairs = texts.iter().map(|text| key(text)).zip(vectors).collect::<Vec<_>>();
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
            // Leaving this loop early drops the receiver, and with it the threads' reason to go on.
            for pairs in made {
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

/// Texts that wait, handed out in shares of about one length.
struct Shares<R: BufRead> {
    lines: std::io::Lines<R>,
    ready: Vec<String>,
}

impl<R: BufRead> Shares<R> {
    fn take(&mut self) -> Result<Vec<String>> {
        if self.ready.is_empty() {
            for line in self.lines.by_ref().take(SORTED) {
                self.ready.push(serde_json::from_str(&line?)?);
            }
            self.ready.sort_by_key(String::len);
        }
        Ok(self.ready.split_off(self.ready.len().saturating_sub(SHARE)))
    }
}
