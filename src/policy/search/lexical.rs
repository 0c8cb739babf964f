//! BM25 over title, headings and text, within a set of candidate records. Exact: every match is
//! seen, so the total is right and no filter hides a result.

use roaring::RoaringBitmap;
use tantivy::query::{
    BooleanQuery, EmptyQuery, EnableScoring, Occur, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Score, TERMINATED, Term};

use super::candidates::Candidates;
use super::query_syntax::{ParsedQuery, Phrase};
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
    let scoring = EnableScoring::enabled_from_searcher(&index.searcher);
    let weight = query(parsed, &index.fields).weight(scoring).map_err(Error::internal)?;
    let mut collector = BestPassages::default();
    let mut watch = Watch::new(context);
    for segment in index.searcher.segment_readers() {
        let mut scorer = weight.scorer(segment, 1.0).map_err(Error::internal)?;
        let mut passage = scorer.doc();
        while passage != TERMINATED && !watch.is_over() {
            if passage >= collector.end {
                let record = index.record_of(passage).unwrap_or(u32::MAX);
                if !candidates.contains(record) {
                    // What lies between is neither scored nor looked at.
                    let Some(next) = candidates.after(record) else { break };
                    let start = index.passages_of(next).start;
                    passage = scorer.seek(start.max(passage + 1));
                    continue;
                }
                collector.next(record, index.passages_of(record).end.max(passage + 1));
            }
            collector.passage(passage, scorer.score());
            passage = scorer.advance();
        }
    }
    context.check()?;
    collector.next(0, 0);
    Ok(collector.done)
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
    let mut watch = Watch::new(context);
    for segment in index.searcher.segment_readers() {
        let collected = weight.for_each_no_score(segment, &mut |passages| {
            for passage in passages {
                if watch.is_over() {
                    return;
                }
                records.extend(index.record_of(*passage));
            }
        });
        collected.map_err(Error::internal)?;
    }
    context.check()?;
    Ok(records)
}

/// Any of the words and phrases: what must and must not be there has narrowed the candidates
/// before.
fn query(parsed: &ParsedQuery, fields: &Fields) -> Box<dyn Query> {
    let mut words: Vec<&str> = parsed.content_words();
    words.sort_unstable();
    words.dedup();
    let mut clauses: Vec<Box<dyn Query>> =
        words.iter().filter_map(|word| in_field(word, fields.all)).collect();
    clauses.extend(parsed.phrases.iter().filter_map(|phrase| placed(phrase, fields)));
    if clauses.is_empty() {
        return Box::new(EmptyQuery);
    }
    Box::new(BooleanQuery::new(clauses.into_iter().map(|query| (Occur::Should, query)).collect()))
}

fn placed(phrase: &Phrase, fields: &Fields) -> Option<Box<dyn Query>> {
    in_field(&phrase.text, if phrase.title_only { fields.title } else { fields.all })
}

/// The text as one term or, when it is several, as a phrase.
fn in_field(text: &str, field: Field) -> Option<Box<dyn Query>> {
    let mut terms: Vec<Term> =
        terms(text).iter().map(|t| Term::from_field_text(field, t)).collect();
    match terms.len() {
        0 => None,
        1 => Some(Box::new(TermQuery::new(terms.remove(0), IndexRecordOption::WithFreqs))),
        _ => Some(Box::new(PhraseQuery::new(terms))),
    }
}

/// Keeps the best passage of each record. The passages of a record are adjacent, so that needs no
/// table.
#[derive(Default)]
struct BestPassages {
    /// Where its passages end.
    end: u32,
    record: u32,
    hit: Option<Hit>,
    done: Vec<Hit>,
}

impl BestPassages {
    fn next(&mut self, record: u32, end: u32) {
        self.done.extend(self.hit.take());
        (self.record, self.end) = (record, end);
    }

    fn passage(&mut self, passage: DocId, score: Score) {
        if self.hit.is_none_or(|best| score > best.score) {
            self.hit = Some(Hit { record: self.record, score, passage });
        }
    }
}
