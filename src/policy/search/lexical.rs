//! BM25 over title, headings and text, within a set of candidate records. Exact: every match is
//! seen, so the total is right and no filter hides a result.

use roaring::RoaringBitmap;
use tantivy::query::{EnableScoring, PhraseQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Score, Term};

use super::candidates::{Candidates, Membership};
use super::query_syntax::{ParsedQuery, Phrase};
use super::union::{Union, Window};
use crate::api::{Context, Error, Result};
use crate::bundle::analyzer::terms;
use crate::bundle::text::{Fields, TextIndex};

/// A record that matched, with its best passage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub record: u32,
    pub score: Score,
    pub passage: u32,
}

/// Passages between two looks at whether anyone still waits.
const CHECKED: u32 = 4096;

/// All candidate records that match, in the order of the records.
pub fn search(
    context: &Context,
    index: &TextIndex,
    parsed: &ParsedQuery,
    candidates: &Candidates,
) -> Result<Vec<Hit>> {
    let mut union = union(index, parsed).map_err(Error::internal)?;
    let mut collector = BestPassages::new(index, candidates);
    let mut from = 0;
    while let Some(window) = union.next(from) {
        context.check()?;
        from = window.end;
        collector.take(window);
        // What lies before the next candidate is not looked at.
        let Some(record) = index.record_of(from) else { break };
        if !candidates.contains(record) {
            let Some(next) = candidates.after(record) else { break };
            from = from.max(index.passages_of(next).start);
        }
    }
    Ok(collector.finish())
}

/// Notices, once in a while, that nobody waits any more. A loop of tantivy's can't be left: what is
/// left of it is then passed over.
struct Watch<'a> {
    context: &'a Context,
    seen: u32,
    is_over: bool,
}

impl Watch<'_> {
    fn new(context: &Context) -> Watch<'_> {
        Watch { context, seen: 0, is_over: false }
    }

    fn is_over(&mut self) -> bool {
        self.seen = self.seen.wrapping_add(1);
        if self.seen.is_multiple_of(CHECKED) {
            self.is_over = self.context.check().is_err();
        }
        self.is_over
    }
}

/// The best first; ties in the order of the records.
pub fn by_score(a: &Hit, b: &Hit) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.record.cmp(&b.record))
}

/// The `most` best hits, in order, and the others in none.
pub fn split_best(mut hits: Vec<Hit>, most: usize) -> (Vec<Hit>, Vec<Hit>) {
    if most > 0 && most < hits.len() {
        hits.select_nth_unstable_by(most - 1, by_score);
    }
    let rest = hits.split_off(most.min(hits.len()));
    hits.sort_unstable_by(by_score);
    (hits, rest)
}

/// The candidates that have every phrase and nothing that is excluded, anywhere in their texts.
pub fn restrict(
    context: &Context,
    index: &TextIndex,
    query: &ParsedQuery,
    mut candidates: Candidates,
) -> Result<Candidates> {
    for phrase in &query.phrases {
        if let Some(query) = placed(phrase, &index.fields) {
            candidates = candidates.only(&records_with(context, index, query.as_ref())?);
        }
    }
    for phrase in &query.excluded {
        if let Some(query) = placed(phrase, &index.fields) {
            candidates = candidates.without(&records_with(context, index, query.as_ref())?);
        }
    }
    Ok(candidates)
}

fn records_with(context: &Context, index: &TextIndex, query: &dyn Query) -> Result<RoaringBitmap> {
    let scoring = EnableScoring::disabled_from_searcher(&index.searcher);
    let weight = query.weight(scoring).map_err(Error::internal)?;
    let mut records = RoaringBitmap::new();
    let mut record = RecordWalk::default();
    let mut watch = Watch::new(context);
    for segment in index.searcher.segment_readers() {
        let collected = weight.for_each_no_score(segment, &mut |passages| {
            for passage in passages {
                if watch.is_over() {
                    return;
                }
                records.extend(record.next(index, *passage));
            }
        });
        collected.map_err(Error::internal)?;
    }
    context.check()?;
    Ok(records)
}

/// Any of the words and phrases: what must and must not be there has narrowed the candidates
/// before.
fn union(index: &TextIndex, parsed: &ParsedQuery) -> tantivy::Result<Union> {
    let mut words: Vec<&str> = parsed.content_words();
    words.sort_unstable();
    words.dedup();
    let words = words.iter().map(|word| (*word, index.fields.all));
    let phrases =
        parsed.phrases.iter().map(|phrase| (phrase.text.as_str(), field(phrase, &index.fields)));
    let (mut single, mut several): (Vec<Term>, Vec<Box<dyn Query>>) = Default::default();
    for (text, field) in words.chain(phrases) {
        let mut terms = terms_in(text, field);
        match terms.len() {
            0 => {}
            1 => single.append(&mut terms),
            _ => several.push(Box::new(PhraseQuery::new(terms))),
        }
    }
    Union::new(index, &single, &several)
}

fn field(phrase: &Phrase, fields: &Fields) -> Field {
    if phrase.title_only { fields.title } else { fields.all }
}

/// The text as one term or, when it is several, as a phrase.
fn placed(phrase: &Phrase, fields: &Fields) -> Option<Box<dyn Query>> {
    let mut terms = terms_in(&phrase.text, field(phrase, fields));
    match terms.len() {
        0 => None,
        1 => Some(Box::new(TermQuery::new(terms.remove(0), IndexRecordOption::Basic))),
        _ => Some(Box::new(PhraseQuery::new(terms))),
    }
}

fn terms_in(text: &str, field: Field) -> Vec<Term> {
    terms(text).iter().map(|term| Term::from_field_text(field, term)).collect()
}

/// Finds the records of passages that come in order.
#[derive(Clone, Copy, Default)]
struct RecordWalk {
    record: u32,
    /// Where its passages end.
    end: u32,
}

impl RecordWalk {
    /// The record of this passage, unless it is that of the passage before.
    fn next(&mut self, index: &TextIndex, passage: DocId) -> Option<u32> {
        if passage < self.end {
            return None;
        }
        self.record = index.record_from(self.record, passage)?;
        self.end = index.passages_of(self.record).end;
        Some(self.record)
    }
}

/// Keeps the best passage of each candidate. The passages of a record are adjacent, so that needs
/// no table.
struct BestPassages<'a> {
    index: &'a TextIndex,
    candidates: Membership<'a>,
    record: RecordWalk,
    /// All bits where the record is a candidate, none where it is not.
    mask: u64,
    /// Its best passage so far.
    best: u64,
    done: Vec<Hit>,
}

/// A score and its passage as one number, larger for a higher score and, among equal ones, for the
/// earlier passage: a branch on which of two is better would be mispredicted half of the time.
/// Scores are not negative, so that their bits are in their order.
fn packed(score: Score, passage: DocId) -> u64 {
    u64::from(score.to_bits()) << 32 | u64::from(!passage)
}

fn unpacked(record: u32, packed: u64) -> Hit {
    Hit { record, score: Score::from_bits((packed >> 32) as u32), passage: !(packed as u32) }
}

impl<'a> BestPassages<'a> {
    fn new(index: &'a TextIndex, candidates: &'a Candidates) -> BestPassages<'a> {
        let (candidates, record) = (candidates.membership(), RecordWalk::default());
        BestPassages { index, candidates, record, mask: 0, best: 0, done: Vec::new() }
    }

    fn take(&mut self, window: &mut Window) {
        // Copies, which the loop can keep in registers.
        let (mut record, mut mask, mut best) = (self.record, self.mask, self.best);
        window.drain(|passage, score| {
            let last = record.record;
            if let Some(record) = record.next(self.index, passage) {
                if best != 0 {
                    self.done.push(unpacked(last, best));
                }
                best = 0;
                mask = if self.candidates.contains(record) { u64::MAX } else { 0 };
            }
            best = best.max(packed(score, passage) & mask);
        });
        (self.record, self.mask, self.best) = (record, mask, best);
    }

    fn finish(mut self) -> Vec<Hit> {
        if self.best != 0 {
            self.done.push(unpacked(self.record.record, self.best));
        }
        self.done
    }
}
