//! One search: candidates, the two halves, one ranking, a page of it.

use std::collections::HashSet;
use std::sync::Arc;

use super::candidates::Candidates;
use super::fuse::{self, Fused, Scored};
use super::query_syntax::{self, ParsedQuery, Phrase};
use super::request::{Mode, SearchRequest, scopes, sources_with_vectors};
use super::result::{Degraded, Ranked, SearchResults, result, stems};
use super::semantic::Wanted;
use super::{explain, facets, lexical, semantic};
use crate::api::page::shown;
use crate::api::{Arguments, Code, Context, Error, Notes, Outcome, Result};
use crate::bundle::Bundle;
use crate::bundle::text::TextIndex;
use crate::bundle::vectors::Vector;
use crate::catalog::{Shape, Source, ids};
use crate::policy::query::Cursor;
use crate::policy::record;

/// How deep the halves are fused. Below that a rank adds less than a tenth of what the first place
/// gives, and results continue in lexical order.
const LEXICAL_DEPTH: usize = 1000;
const FUSED: Wanted = Wanted { least: 10, most: 60, walked: 60 };

/// Below this cosine a passage has nothing to do with the question: passages picked at random have
/// about 0.1.
pub const FAR: f32 = 0.2;

/// Records that a search by meaning alone ranks.
const SEMANTIC_DEPTH: usize = 200;

/// Runs the search. Blocks: call it on a blocking thread.
pub fn search(context: &Context, request: &SearchRequest) -> Result<Outcome> {
    let list = request.hash(&context.bundle);
    let cursor = request.cursor.as_deref().map(|c| Cursor::decode(c, list, None)).transpose()?;
    let from = cursor.map_or(0, |cursor| cursor.ord as usize);
    let run = SearchRun::new(context, request)?;
    // What is counted must be found, not only what is shown.
    let least = if request.facets.is_empty() { 0 } else { SEMANTIC_DEPTH };
    let ranking = run.rank((from + request.limit).max(least))?;
    let total = ranking.total();
    let stems = stems(&run.query);
    let page = ranking.page(from, request.limit);
    let shown_of = |ranked: &Ranked| result(&context.bundle, run.index, ranked, &stems);
    let results = page.iter().map(shown_of).collect::<Result<Vec<_>>>()?;
    context.bundle.ensure_intact()?;
    let empty = match total {
        0 => Some(explain::nothing(context, run.index, request, &run.query, &run.candidates)?),
        _ => None,
    };
    let unknown_words = match request.mode {
        Mode::Semantic => Vec::new(),
        _ => explain::unknown_words(context, run.index, &run.query)?,
    };
    let cursor_after =
        move |items: usize| Cursor { list, ord: (from + items) as u64, key: None, total }.encode();
    let is_more = !results.is_empty() && ((from + results.len()) as u64) < total;
    let narrowing = ["source", "since", "until"];
    let shown = shown(results.len(), total, &narrowing, is_more);
    let output = SearchResults {
        next_cursor: is_more.then(|| cursor_after(results.len())),
        results,
        total,
        took_ms: context.took_ms(),
        facets: facets::count(context, request, &ranking.found)?,
        degraded: ranking.degraded,
        cursor_after: Arc::new(cursor_after),
    };
    let understood = request.understood.clone();
    let notes = Notes { empty, shown, understood, unknown_words, ..Notes::default() };
    Ok(Outcome::new(output).with(notes))
}

/// The numbers of the best records, in order: what an evaluation needs of a search.
pub fn ranking(context: &Context, request: &SearchRequest, most: usize) -> Result<Vec<(u32, f32)>> {
    let ranking = SearchRun::new(context, request)?.rank(most)?;
    let page = ranking.page(0, most);
    Ok(page.iter().map(|ranked| (ranked.fused.record, ranked.fused.score)).collect())
}

/// The numbers of a source's records whose texts have all of these words and phrases: a count of
/// what matches must not count everything that has one of the words.
pub fn matching(context: &Context, source: &'static Source, question: &str) -> Result<Vec<u32>> {
    let bundle = &context.bundle;
    let parsed = query_syntax::parse(question);
    let words = parsed
        .content_words()
        .into_iter()
        .map(|word| Phrase { text: word.to_string(), title_only: false });
    let phrases = words.chain(parsed.phrases.iter().cloned()).collect();
    let all = ParsedQuery { phrases, ..parsed.clone() };
    let scopes = scopes(bundle, &[source], &Arguments::default(), &[])?;
    let records = Candidates::find(context, &scopes)?;
    let found = lexical::restrict(context, bundle.text_index()?, &all, records)?;
    Ok(found.iter().collect())
}

/// A search, narrowed to its candidates.
struct SearchRun<'a> {
    context: &'a Context,
    bundle: &'a Bundle,
    index: &'a TextIndex,
    request: &'a SearchRequest,
    query: ParsedQuery,
    /// What filters leave, less what the question itself rules out. That holds for both halves,
    /// since nobody who writes `-theft` wants it back for its meaning.
    candidates: Candidates,
}

impl<'a> SearchRun<'a> {
    fn new(context: &'a Context, request: &'a SearchRequest) -> Result<SearchRun<'a>> {
        let bundle = &*context.bundle;
        let index = bundle.text_index()?;
        let query = query_syntax::parse(&request.question);
        let filtered = Candidates::find(context, &request.scopes)?;
        let candidates = lexical::restrict(context, index, &query, filtered)?;
        Ok(SearchRun { context, bundle, index, request, query, candidates })
    }

    /// Ranks what was found, as far as `end` at least.
    fn rank(&self, end: usize) -> Result<Ranking> {
        let mode = self.request.mode;
        let words = match mode {
            Mode::Semantic => Vec::new(),
            _ => lexical::search(self.context, self.index, &self.query, &self.candidates)?,
        };
        let (meaning, degraded) = match mode {
            Mode::Lexical => (Vec::new(), None),
            Mode::Semantic => {
                let least = end.min(SEMANTIC_DEPTH);
                let walked = 2 * SEMANTIC_DEPTH;
                (self.by_meaning(Wanted { least, most: SEMANTIC_DEPTH, walked })?, None)
            }
            Mode::Hybrid => self.by_meaning_where_possible()?,
        };
        let mut found: Vec<u32> = match self.request.facets.is_empty() {
            true => Vec::new(),
            false => words.iter().map(|hit| hit.record).collect(),
        };
        // Hits come in the order of their records.
        let is_hit = |record: u32| words.binary_search_by_key(&record, |hit| hit.record).is_ok();
        let near_hits: HashSet<u32> =
            meaning.iter().map(|near| near.record).filter(|record| is_hit(*record)).collect();
        let (best, rest) = lexical::split_best(words, LEXICAL_DEPTH);
        let mut head = rank(mode, &best, &meaning);
        if mode == Mode::Hybrid {
            self.lead_with_identifiers(&mut head);
        }
        if !self.request.facets.is_empty() {
            found.extend(head.iter().map(|ranked| ranked.fused.record));
            // Two runs: the hits, which are in order, and the head. A stable sort merges them.
            found.sort();
            found.dedup();
        }
        let is_below = |f: &Fused| f.lexical.is_none() && near_hits.contains(&f.record);
        let in_head = head.iter().map(|r| r.fused).filter(is_below).map(|f| f.record).collect();
        // By meaning every candidate is a result; only so many are ranked, and no more of them than
        // this page needs.
        let nearest = if mode == Mode::Semantic { self.with_vectors().count() } else { 0 };
        let nearest = nearest.min(SEMANTIC_DEPTH as u64);
        Ok(Ranking { mode, head, rest, in_head, found, nearest, degraded })
    }

    fn with_vectors(&self) -> Candidates {
        self.candidates.within(self.bundle, &sources_with_vectors(self.bundle))
    }

    fn by_meaning(&self, wanted: Wanted) -> Result<Vec<semantic::Hit>> {
        let candidates = self.with_vectors();
        if candidates.count() == 0 {
            return Ok(Vec::new());
        }
        let vectors = self.bundle.vectors()?;
        let question = self.query.subject(&self.request.question);
        let is_over = || self.context.check().is_err();
        let model = self.bundle.model(&is_over);
        // A question that was given up while the model was loaded or busy is not a fault.
        self.context.check()?;
        let question = model?.embed_query(&question, &is_over).map_err(Error::internal);
        self.context.check()?;
        let question = Vector::of(&question?);
        semantic::search(self.context, self.index, vectors, &question, &candidates, wanted)
    }

    /// The half by meaning, and what is said when some or all of the sources have none.
    fn by_meaning_where_possible(&self) -> Result<(Vec<semantic::Hit>, Option<Degraded>)> {
        let degraded = |reason: &str, sources: Vec<&'static str>| {
            let reason = reason.to_string();
            (!sources.is_empty()).then_some(Degraded { mode: "lexical", reason, sources })
        };
        let all = || self.request.sources().map(|s| s.key).collect::<Vec<_>>();
        if !self.bundle.has_vectors() {
            return Ok((Vec::new(), degraded("This bundle holds no vectors.", all())));
        }
        let possible: Vec<&str> = sources_with_vectors(self.bundle).iter().map(|s| s.key).collect();
        // Short texts never have vectors: that is worth a word only where they were asked for.
        let is_expected =
            |source: &&'static Source| self.request.is_named || source.shape == Shape::BodyBearing;
        let lacking = self.request.sources().filter(is_expected).map(|source| source.key);
        let lacking = lacking.filter(|key| !possible.contains(key)).collect();
        match self.by_meaning(FUSED) {
            Ok(mut hits) => {
                // What is far from the question is no result of a search that also looks for words.
                hits.retain(|hit| hit.similarity >= FAR);
                Ok((hits, degraded("These sources have no vectors.", lacking)))
            }
            Err(error) if error.code == Code::AnswerTimeout => Err(error),
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
struct Ranking {
    mode: Mode,
    head: Vec<Ranked>,
    /// Lexical hits below the depth of the fusion, and those of them that are in the head for their
    /// meaning.
    rest: Vec<lexical::Hit>,
    in_head: HashSet<u32>,
    /// Every record that was found, each once, in ascending order, where they are counted.
    found: Vec<u32>,
    /// How many records a search by meaning ranks.
    nearest: u64,
    degraded: Option<Degraded>,
}

impl Ranking {
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
            let (sorted, _) =
                lexical::split_best(self.rest.clone(), behind + limit + self.in_head.len());
            let ranked = sorted.iter().enumerate().map(|(at, hit)| {
                let rank = LEXICAL_DEPTH + at + 1;
                let score = if self.mode == Mode::Lexical { hit.score } else { fuse::share(rank) };
                let fused =
                    Fused { record: hit.record, score, lexical: Some(rank), semantic: None };
                Ranked { fused, passage: Some(hit.passage) }
            });
            let new = ranked.filter(|r| !self.in_head.contains(&r.fused.record));
            page.extend(new.skip(behind).take(limit - page.len()));
        }
        page
    }
}

/// The two halves as one ranking. A half alone keeps its own scores, which say more than
/// reciprocal ranks.
fn rank(mode: Mode, words: &[lexical::Hit], meaning: &[semantic::Hit]) -> Vec<Ranked> {
    let by_words: Vec<Scored> = words.iter().map(|hit| (hit.record, hit.score)).collect();
    let by_meaning: Vec<Scored> = meaning.iter().map(|hit| (hit.record, hit.similarity)).collect();
    let fused = fuse::fuse(&by_words, &by_meaning);
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

/// The records whose ids stand in the question, each once, in its order. An id is at most six
/// words: "H. R. 1 (119th Congress)".
fn identified(bundle: &Bundle, question: &str) -> Vec<u32> {
    let words: Vec<&str> = question.split_whitespace().take(64).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let has_number = |n: &usize| {
            words[at..at + n].iter().any(|word| word.bytes().any(|b| b.is_ascii_digit()))
        };
        let lengths = (1..=6.min(words.len() - at)).rev().filter(has_number);
        let id = lengths.map(|n| (n, words[at..at + n].join(" "))).find_map(|(n, text)| {
            let text = text.trim_matches(|c: char| "\"'“”?!,;()".contains(c) && c != ')');
            ids::parse(text)?;
            record::fetch(bundle, text).ok().map(|found| (n, found.number as u32))
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
