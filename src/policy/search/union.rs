//! The BM25 scores of all passages that have any of some words and phrases, a window of passages at
//! a time: each posting list is read once, block by block, and adds into the scores of its window.
//! tantivy's own union asks each list for one passage after the other, which takes several times as
//! long, and is made for the best few of a search that need not know of the others.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::query::{Bm25Weight, EnableScoring, Query, Scorer};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Score, TERMINATED, Term};

use crate::bundle::text::TextIndex;

/// Passages of a window; a power of two. Their scores fit into the first-level cache.
pub const WINDOW: u32 = 4096;

/// The passages that have any of these, with the sum of what each adds.
pub struct Union {
    words: Vec<Word>,
    phrases: Vec<Box<dyn Scorer>>,
    window: Window,
}

impl Union {
    pub fn new(
        index: &TextIndex,
        words: &[Term],
        phrases: &[Box<dyn Query>],
    ) -> tantivy::Result<Union> {
        let mut union = Union { words: Vec::new(), phrases: Vec::new(), window: Window::new() };
        let Some(segment) = index.searcher.segment_readers().first() else { return Ok(union) };
        for term in words {
            let lists = segment.inverted_index(term.field())?;
            let Some(info) = lists.get_term_info(term)? else { continue };
            let option = IndexRecordOption::WithFreqs;
            let postings = lists.read_block_postings_from_terminfo(&info, option)?;
            let passages = u64::from(segment.max_doc());
            let length = lists.total_num_tokens() as Score / passages as Score;
            let frequency = u64::from(info.doc_freq);
            let bm25 = Bm25Weight::for_one_term_without_explain(frequency, passages, length);
            let lengths = segment.get_fieldnorms_reader(term.field())?;
            union.words.push(Word { postings, at: 0, lengths, bm25 });
        }
        let scoring = EnableScoring::enabled_from_searcher(&index.searcher);
        for phrase in phrases {
            union.phrases.push(phrase.weight(scoring)?.scorer(segment, 1.0)?);
        }
        Ok(union)
    }

    /// Scores a window of passages that starts at the first one from `from` on that has any of
    /// them. Windows are asked for in ascending order, and each is read before the next.
    pub fn next(&mut self, from: DocId) -> Option<&mut Window> {
        let words = self.words.iter_mut().map(|word| word.seek(from));
        let phrases = self.phrases.iter_mut().map(|phrase| match phrase.doc() < from {
            true => phrase.seek(from),
            false => phrase.doc(),
        });
        let start = words.chain(phrases).min().filter(|first| *first != TERMINATED)?;
        let window = &mut self.window;
        (window.start, window.end) = (start, start.saturating_add(WINDOW).min(TERMINATED));
        for word in &mut self.words {
            word.add_to(window);
        }
        for phrase in &mut self.phrases {
            let end = window.end;
            window.add(std::iter::from_fn(|| {
                let passage = phrase.doc();
                if passage >= end {
                    return None;
                }
                let score = phrase.score();
                phrase.advance();
                Some((passage, score))
            }));
        }
        Some(window)
    }
}

/// The scores of some consecutive passages.
pub struct Window {
    start: DocId,
    pub end: DocId,
    scores: Box<[Score; WINDOW as usize]>,
    /// One bit for each passage that has a score.
    is_scored: [u64; WINDOW as usize / 64],
}

impl Window {
    fn new() -> Window {
        let (scores, is_scored) = (Box::new([0.0; WINDOW as usize]), [0; WINDOW as usize / 64]);
        Window { start: 0, end: 0, scores, is_scored }
    }

    /// Adds to the scores of passages within the window, which come in order.
    fn add(&mut self, scored: impl Iterator<Item = (DocId, Score)>) {
        // Bits are collected before they are written: the passages of a frequent word share them.
        let (mut at, mut bits) = (0, 0);
        for (passage, score) in scored {
            // The mask changes nothing: it spares a check of the bounds.
            let place = (passage.wrapping_sub(self.start) & (WINDOW - 1)) as usize;
            self.scores[place] += score;
            if place / 64 != at {
                self.is_scored[at] |= std::mem::take(&mut bits);
                at = place / 64;
            }
            bits |= 1 << (place % 64);
        }
        self.is_scored[at] |= bits;
    }

    /// Takes out the scored passages, in ascending order.
    pub fn drain(&mut self, mut take: impl FnMut(DocId, Score)) {
        for (nth, bits) in self.is_scored.iter_mut().enumerate() {
            let mut left = std::mem::take(bits);
            while left != 0 {
                let place = nth * 64 + left.trailing_zeros() as usize;
                take(self.start + place as u32, std::mem::take(&mut self.scores[place]));
                left &= left - 1;
            }
        }
    }
}

/// The passages with a word.
struct Word {
    postings: BlockSegmentPostings,
    /// The place of the next passage in its block.
    at: usize,
    lengths: FieldNormReader,
    bm25: Bm25Weight,
}

impl Word {
    /// The first passage from `from` on.
    fn seek(&mut self, from: DocId) -> DocId {
        let next = |word: &Word| word.postings.docs().get(word.at).copied().unwrap_or(TERMINATED);
        if next(self) < from {
            self.at = self.postings.seek(from);
        }
        next(self)
    }

    fn add_to(&mut self, window: &mut Window) {
        loop {
            let (passages, times) = (self.postings.docs(), self.postings.freqs());
            let inside = passages.partition_point(|passage| *passage < window.end);
            let here = passages[..inside].iter().zip(times).skip(self.at);
            window.add(here.map(|(passage, times)| {
                (*passage, self.bm25.score(self.lengths.fieldnorm_id(*passage), *times))
            }));
            self.at = inside;
            // The block after the last one is empty.
            if inside < passages.len() || passages.is_empty() {
                return;
            }
            self.postings.advance();
            self.at = 0;
        }
    }
}
