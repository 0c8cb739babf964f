//! BM25 over title, headings and text, within a set of candidate records. Exact: every match is seen, so the total is right and no
//! filter hides a result.

use roaring::RoaringBitmap;
use tantivy::query::{BooleanQuery, EmptyQuery, EnableScoring, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Score, Term};

use super::ask::{Ask, Phrase};
use super::candidates::Candidates;
use crate::bundle::analyzer::{is_stop_word, terms};
use crate::bundle::text::{Fields, TextIndex};

/// A record that matched, with its best passage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub record: u32,
    pub score: Score,
    pub passage: u32,
}

/// All candidate records that match, in the order of the records.
pub fn search(index: &TextIndex, ask: &Ask, candidates: &Candidates) -> tantivy::Result<Vec<Hit>> {
    let weight = query(ask, &index.fields).weight(EnableScoring::enabled_from_searcher(&index.searcher))?;
    let mut passing = Passing::default();
    for segment in index.searcher.segment_readers() {
        weight.for_each(segment, &mut |passage, score| {
            if passage >= passing.end {
                let record = index.record_of(passage).unwrap_or(u32::MAX);
                let end = index.passages_of(record).end.max(passage + 1);
                passing.next(record, end, candidates.contains(record));
            }
            passing.passage(passage, score);
        })?;
    }
    passing.next(0, 0, false);
    Ok(passing.done)
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

/// The words that are looked for: "what is the law of water" means "law water".
pub fn telling_words(ask: &Ask) -> impl Iterator<Item = &str> {
    let all_stop = ask.phrases.is_empty() && ask.words.iter().all(|word| is_stop_word(word));
    ask.words.iter().map(String::as_str).filter(move |word| all_stop || !is_stop_word(word))
}

/// The candidates that have every phrase and nothing that is excluded, anywhere in their texts.
pub fn restrict(index: &TextIndex, ask: &Ask, mut candidates: Candidates) -> tantivy::Result<Candidates> {
    for phrase in &ask.phrases {
        if let Some(query) = placed(phrase, &index.fields) {
            candidates = candidates.only(&records_with(index, query.as_ref())?);
        }
    }
    for phrase in &ask.without {
        if let Some(query) = placed(phrase, &index.fields) {
            candidates = candidates.without(&records_with(index, query.as_ref())?);
        }
    }
    Ok(candidates)
}

fn records_with(index: &TextIndex, query: &dyn Query) -> tantivy::Result<RoaringBitmap> {
    let weight = query.weight(EnableScoring::disabled_from_searcher(&index.searcher))?;
    let mut records = RoaringBitmap::new();
    for segment in index.searcher.segment_readers() {
        weight.for_each_no_score(segment, &mut |passages| {
            records.extend(passages.iter().filter_map(|passage| index.record_of(*passage)));
        })?;
    }
    Ok(records)
}

/// Any of the words and phrases: what must and must not be there has narrowed the candidates before.
fn query(ask: &Ask, fields: &Fields) -> Box<dyn Query> {
    let mut words: Vec<&str> = telling_words(ask).collect();
    words.sort_unstable();
    words.dedup();
    let mut clauses: Vec<Box<dyn Query>> = words.iter().filter_map(|word| in_field(word, fields.all)).collect();
    clauses.extend(ask.phrases.iter().filter_map(|phrase| placed(phrase, fields)));
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
    let mut terms: Vec<Term> = terms(text).iter().map(|t| Term::from_field_text(field, t)).collect();
    match terms.len() {
        0 => None,
        1 => Some(Box::new(TermQuery::new(terms.remove(0), IndexRecordOption::WithFreqs))),
        _ => Some(Box::new(PhraseQuery::new(terms))),
    }
}

/// The record whose passages are passing by, and those that have passed. The passages of a record stand together, so
/// keeping the best one of each needs no table.
#[derive(Default)]
struct Passing {
    /// Where its passages end.
    end: u32,
    record: u32,
    is_candidate: bool,
    hit: Option<Hit>,
    done: Vec<Hit>,
}

impl Passing {
    fn next(&mut self, record: u32, end: u32, is_candidate: bool) {
        self.done.extend(self.hit.take());
        (self.record, self.end, self.is_candidate) = (record, end, is_candidate);
    }

    fn passage(&mut self, passage: DocId, score: Score) {
        if self.is_candidate && self.hit.is_none_or(|best| score > best.score) {
            self.hit = Some(Hit { record: self.record, score, passage });
        }
    }
}
