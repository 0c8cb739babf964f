//! Builds the search sections of a bundle: the text index from the parts that `text_parts` makes,
//! and, beside it, the vectors of passages (`passage_vectors`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use josh::bundle::text_writer::{self, Part};

use crate::embedding::Embedding;
use crate::machine;
use crate::passage_vectors::PassageVectors;
use crate::text_parts::{FinishedPart, RecordText, TextParts};

/// Collects texts and builds the sections.
pub struct Texts<'a> {
    folder: PathBuf,
    parts: TextParts,
    /// Finished parts of the index, by number.
    index: BTreeMap<usize, Part>,
    vectors: Option<PassageVectors<'a>>,
    counts: BTreeMap<&'static str, TextCounts>,
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
            vectors: embedding
                .map(|embedding| PassageVectors::new(folder, embedding))
                .transpose()?,
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
        self.collect_rest()?;
        let Texts { folder, index, vectors, counts, .. } = self;
        let text = folder.join("text.section");
        let parts: Vec<Part> = index.into_values().collect();
        let vectors = std::thread::scope(|scope| {
            // It is one thread's work; the cores embed meanwhile.
            let merged =
                scope.spawn(|| text_writer::merge(&parts, records, &folder.join("index"), &text));
            let vectors = vectors.map(PassageVectors::finish).transpose()?;
            merged.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            Ok::<_, anyhow::Error>(vectors)
        })?;
        Ok(Sections { text, vectors, counts })
    }

    /// Embeds new texts into the cache, and returns their number.
    pub fn embed(mut self) -> Result<u64> {
        self.collect_rest()?;
        self.vectors.as_mut().map_or(Ok(0), PassageVectors::embed)
    }

    fn collect_rest(&mut self) -> Result<()> {
        let Texts { parts, index, vectors, counts, .. } = self;
        let mut collect = Collect { index, vectors, counts };
        parts.finish()?.into_iter().try_for_each(|part| collect.part(part))
    }
}

/// Where finished parts go.
struct Collect<'c, 'a> {
    index: &'c mut BTreeMap<usize, Part>,
    vectors: &'c mut Option<PassageVectors<'a>>,
    counts: &'c mut BTreeMap<&'static str, TextCounts>,
}

impl Collect<'_, '_> {
    fn part(&mut self, part: FinishedPart) -> Result<()> {
        for (source, passages) in part.passages {
            let counts = self.counts.entry(source).or_default();
            counts.passages += passages;
            let has_vectors = |v: &PassageVectors| v.embedding.sources.contains(&source);
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
