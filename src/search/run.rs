//! One search: candidates, the two halves, one ranking, a page of it.

use std::collections::HashSet;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ask::{self, Ask, Phrase};
use super::candidates::Candidates;
use super::fuse::{self, Fused};
use super::request::{Mode, SearchRequest, meaningful};
use super::semantic::Wanted;
use super::shown::{Ranked, result, stems};
use super::{explain, lexical, semantic};
use crate::bundle::Bundle;
use crate::bundle::text::TextIndex;
use crate::bundle::vectors::Vector;
use crate::catalog::{Source, ids};
use crate::error::{Error, Result};
use crate::metrics::METRICS;
use crate::query::{Cursor, Params};

/// How deep the halves are fused. Below that a rank adds less than a tenth of what the first place gives, and results go
/// on in lexical order.
const LEXICAL_DEPTH: usize = 1000;
const FUSED: Wanted = Wanted { least: 10, most: 60, walked: 60 };

/// Records that a search by meaning alone ranks.
const SEMANTIC_DEPTH: usize = 200;

/// A page of results.
pub struct Results {
    pub results: Vec<Box<RawValue>>,
    pub total: u64,
    pub next_cursor: Option<String>,
    pub degraded: Option<Value>,
    pub empty: Option<Value>,
}

/// Runs the search. Blocks: call it on a blocking thread.
pub fn search(bundle: &Bundle, request: &SearchRequest) -> Result<Results> {
    let hash = request.hash(bundle);
    let from =
        request.cursor.as_deref().map(|c| Cursor::decode(c, hash, None)).transpose()?.map_or(0, |c| c.ord as usize);
    let asked = Asked::of(bundle, request)?;
    let found = asked.find(from + request.limit)?;
    let total = found.total();
    let stems = stems(&asked.ask);
    let page = found.page(from, request.limit);
    let results = page.iter().map(|ranked| result(bundle, asked.index, ranked, &stems)).collect::<Result<_>>()?;
    bundle.check_whole()?;
    let next = (from + page.len()) as u64;
    let more = !page.is_empty() && next < total;
    let next_cursor = more.then(|| Cursor { list: hash, ord: next, key: None, total }.encode());
    let empty = match total {
        0 => Some(explain::nothing(bundle, asked.index, request, &asked.ask, &asked.candidates)?),
        _ => None,
    };
    Ok(Results { results, total, next_cursor, degraded: found.degraded, empty })
}

/// The numbers of the best records, in order: what an evaluation needs of a search.
pub fn ranking(bundle: &Bundle, request: &SearchRequest, most: usize) -> Result<Vec<u32>> {
    let found = Asked::of(bundle, request)?.find(most)?;
    Ok(found.page(0, most).iter().map(|ranked| ranked.fused.record).collect())
}

/// The numbers of a source's records whose texts have all of these words and phrases: a count of what matches must not count
/// everything that has one of the words.
pub fn matching(bundle: &Bundle, source: &'static Source, question: &str) -> Result<Vec<u32>> {
    let index = bundle.text_index()?;
    let asked = ask::read(question);
    let words = lexical::telling_words(&asked).map(|word| Phrase { text: word.to_string(), title_only: false });
    let all = Ask { phrases: words.chain(asked.phrases.iter().cloned()).collect(), ..asked.clone() };
    let records = Candidates::find(bundle, &[source], &Params::default())?;
    let found = lexical::restrict(index, &all, records).map_err(Error::internal)?;
    Ok(found.iter().collect())
}

/// A search, read and narrowed to its candidates.
struct Asked<'a> {
    bundle: &'a Bundle,
    index: &'a TextIndex,
    request: &'a SearchRequest,
    ask: Ask,
    /// What filters leave, less what the question itself rules out. That holds for both halves, since nobody who writes `-theft` wants it
    /// back for its meaning.
    candidates: Candidates,
}

impl<'a> Asked<'a> {
    fn of(bundle: &'a Bundle, request: &'a SearchRequest) -> Result<Asked<'a>> {
        let index = bundle.text_index()?;
        let ask = ask::read(&request.question);
        let filtered = Candidates::find(bundle, &request.sources, &request.filters)?;
        let candidates = lexical::restrict(index, &ask, filtered).map_err(Error::internal)?;
        Ok(Asked { bundle, index, request, ask, candidates })
    }

    /// Ranks what was found, as far as `end` at least.
    fn find(&self, end: usize) -> Result<Found> {
        let mode = self.request.mode;
        METRICS.searches.with_label_values(&[mode.name()]).inc();
        let words = match mode {
            Mode::Semantic => Vec::new(),
            _ => lexical::search(self.index, &self.ask, &self.candidates).map_err(Error::internal)?,
        };
        let (meaning, degraded) = match mode {
            Mode::Lexical => (Vec::new(), None),
            Mode::Semantic => {
                let least = end.min(SEMANTIC_DEPTH);
                (self.by_meaning(Wanted { least, most: SEMANTIC_DEPTH, walked: 2 * SEMANTIC_DEPTH })?, None)
            }
            Mode::Hybrid => self.by_meaning_where_possible()?,
        };
        // Hits come in the order of their records.
        let is_hit = |record: u32| words.binary_search_by_key(&record, |hit| hit.record).is_ok();
        let near_hits: HashSet<u32> = meaning.iter().map(|near| near.record).filter(|record| is_hit(*record)).collect();
        let (best, rest) = lexical::split_best(words, LEXICAL_DEPTH);
        let mut head = rank(mode, &best, &meaning);
        if mode == Mode::Hybrid {
            self.lead_with_identifiers(&mut head);
        }
        let in_head = head.iter().map(|r| r.fused).filter(|f| f.lexical.is_none() && near_hits.contains(&f.record));
        let in_head: HashSet<u32> = in_head.map(|f| f.record).collect();
        // By meaning every candidate is a result; only so many are ranked, and no more of them than this page needs.
        let nearest = if mode == Mode::Semantic { self.with_vectors().count() } else { 0 };
        Ok(Found { mode, head, rest, in_head, nearest: nearest.min(SEMANTIC_DEPTH as u64), degraded })
    }

    fn with_vectors(&self) -> Candidates {
        self.candidates.within(self.bundle, &meaningful(self.bundle, &self.request.sources))
    }

    fn by_meaning(&self, wanted: Wanted) -> Result<Vec<semantic::Hit>> {
        let candidates = self.with_vectors();
        if candidates.count() == 0 {
            return Ok(Vec::new());
        }
        let vectors = self.bundle.vectors()?;
        let question = self.ask.positive(&self.request.question);
        let question = Vector::of(&self.bundle.model()?.question(&question).map_err(Error::internal)?);
        semantic::search(self.index, vectors, &question, &candidates, wanted).map_err(Error::internal)
    }

    /// The half by meaning, and what is said when some or all of the sources have none.
    fn by_meaning_where_possible(&self) -> Result<(Vec<semantic::Hit>, Option<Value>)> {
        let sources = &self.request.sources;
        let possible = meaningful(self.bundle, sources);
        let degraded = |reason: &str, sources: Vec<&str>| {
            (!sources.is_empty()).then(|| json!({ "mode": "lexical", "reason": reason, "sources": sources }))
        };
        let all = || sources.iter().map(|s| s.key).collect::<Vec<_>>();
        if !self.bundle.has_vectors() {
            return Ok((Vec::new(), degraded("This bundle holds no vectors.", all())));
        }
        let lacking = sources.iter().filter(|s| !possible.iter().any(|p| p.key == s.key)).map(|s| s.key).collect();
        match self.by_meaning(FUSED) {
            Ok(hits) => Ok((hits, degraded("There are no vectors of these sources.", lacking))),
            Err(error) => {
                tracing::warn!(cause = error.cause.as_deref(), "{}", error.message);
                Ok((Vec::new(), degraded(&error.message, all())))
            }
        }
    }

    /// "HR 1" or "40 CFR 122.26" in a question means that record, before any that mentions it.
    fn lead_with_identifiers(&self, head: &mut Vec<Ranked>) {
        let named = identified(self.bundle, &self.request.question);
        let named = named.into_iter().filter(|record| self.candidates.contains(*record));
        for (place, record) in named.enumerate() {
            let unranked = Fused { record, score: 0.0, lexical: None, semantic: None };
            let mut ranked = match head.iter().position(|r| r.fused.record == record) {
                Some(at) => head.remove(at),
                None => Ranked { fused: unranked, passage: None },
            };
            // Above everything that ranks can give, and in the order of the question.
            ranked.fused.score += 1.0 / (place + 1) as f32;
            head.insert(place.min(head.len()), ranked);
        }
    }
}

/// Everything that was found: the fused head, and the lexical hits behind it, not sorted yet.
struct Found {
    mode: Mode,
    head: Vec<Ranked>,
    /// Lexical hits below the depth of the fusion, and those of them that stand in the head for their meaning.
    rest: Vec<lexical::Hit>,
    in_head: HashSet<u32>,
    /// How many records a search by meaning ranks.
    nearest: u64,
    degraded: Option<Value>,
}

impl Found {
    fn total(&self) -> u64 {
        if self.mode == Mode::Semantic {
            return self.nearest;
        }
        (self.head.len() + self.rest.len() - self.in_head.len()) as u64
    }

    fn page(&self, from: usize, limit: usize) -> Vec<Ranked> {
        let mut page: Vec<Ranked> = self.head.iter().skip(from).take(limit).copied().collect();
        if page.len() < limit && !self.rest.is_empty() {
            let behind = from.saturating_sub(self.head.len());
            let (sorted, _) = lexical::split_best(self.rest.clone(), behind + limit + self.in_head.len());
            let ranked = sorted.iter().enumerate().map(|(at, hit)| {
                let rank = LEXICAL_DEPTH + at + 1;
                let score = if self.mode == Mode::Lexical { hit.score } else { fuse::share(rank) };
                let fused = Fused { record: hit.record, score, lexical: Some(rank), semantic: None };
                Ranked { fused, passage: Some(hit.passage) }
            });
            let new = ranked.filter(|r| !self.in_head.contains(&r.fused.record));
            page.extend(new.skip(behind).take(limit - page.len()));
        }
        page
    }
}

/// The two halves as one ranking. A half alone keeps its own scores, which say more than reciprocal ranks.
fn rank(mode: Mode, words: &[lexical::Hit], meaning: &[semantic::Hit]) -> Vec<Ranked> {
    let records: Vec<u32> = words.iter().map(|hit| hit.record).collect();
    let fused = fuse::fuse(&records, &meaning.iter().map(|hit| hit.record).collect::<Vec<_>>());
    let ranked = fused.into_iter().map(|mut fused| {
        let word = fused.lexical.and_then(|rank| words.get(rank - 1));
        let near = fused.semantic.and_then(|rank| meaning.get(rank - 1));
        match mode {
            Mode::Hybrid => {}
            Mode::Lexical => fused.score = word.map_or(0.0, |hit| hit.score),
            Mode::Semantic => fused.score = near.map_or(0.0, |hit| hit.similarity),
        }
        Ranked { fused, passage: word.map(|hit| hit.passage).or(near.map(|hit| hit.passage)) }
    });
    ranked.collect()
}

/// The records whose ids stand in the question, each once, in its order. An id is at most six words: "H. R. 1 (119th Congress)".
fn identified(bundle: &Bundle, question: &str) -> Vec<u32> {
    let words: Vec<&str> = question.split_whitespace().take(64).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let has_number = |n: &usize| words[at..at + n].iter().any(|word| word.bytes().any(|b| b.is_ascii_digit()));
        let lengths = (1..=6.min(words.len() - at)).rev().filter(has_number);
        let id = lengths.map(|n| (n, words[at..at + n].join(" "))).find_map(|(n, text)| {
            let text = text.trim_matches(|c: char| "\"'“”?!,;()".contains(c) && c != ')');
            ids::parse(text)?;
            let entry = crate::record::fetch(bundle, text).ok()?.entry;
            bundle.records().by_id(entry.id).map(|(number, _)| (n, number as u32))
        });
        match id {
            Some((length, record)) => {
                if !found.contains(&record) {
                    found.push(record);
                }
                at += length;
            }
            None => at += 1,
        }
    }
    found
}
