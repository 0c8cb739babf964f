//! One search: candidates, the two halves, one ranking, a page of it.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ask::{self, Ask, Phrase};
use super::candidates::Candidates;
use super::fuse::{self, Fused};
use super::request::{Mode, SearchRequest, meaningful};
use super::semantic::Wanted;
use super::{explain, lexical, semantic, snippet};
use crate::bundle::text::{Passage, TextIndex};
use crate::bundle::vectors::Vector;
use crate::bundle::{Bundle, analyzer};
use crate::catalog::{Source, ids};
use crate::error::{Error, Result};
use crate::query::{Cursor, Params};

/// Characters of a snippet.
const SNIPPET: usize = 320;

/// How deep the halves are fused. Below that a rank adds less than a tenth of what the first place gives, and results go
/// on in lexical order.
const LEXICAL_DEPTH: usize = 1000;
const SEMANTIC_DEPTH: usize = 200;

/// Records that the half by meaning adds to a fusion at least: a page of them. More come with them as they do.
const SEMANTIC_LEAST: usize = 20;

/// A page of results.
pub struct Results {
    pub results: Vec<Box<RawValue>>,
    pub total: u64,
    pub next_cursor: Option<String>,
    pub degraded: Option<Value>,
    pub empty: Option<Value>,
}

/// A record in the final ranking, with the passage to show of it.
struct Ranked {
    fused: Fused,
    passage: Option<u32>,
}

/// Runs the search. Blocks: call it on a blocking thread.
pub fn search(bundle: &Bundle, request: &SearchRequest) -> Result<Results> {
    let index = bundle.text_index()?;
    let hash = request.hash(bundle);
    let from = request.cursor.as_deref().map(|c| Cursor::decode(c, hash)).transpose()?.map_or(0, |c| c.ord as usize);
    let ask = ask::read(&request.question);
    let candidates = candidates(bundle, index, request, &ask)?;
    let found = Found::of(bundle, index, request, &ask, &candidates, from + request.limit)?;
    let total = found.total();
    let stems = stems(&ask);
    let page = found.page(from, request.limit);
    let results = page.iter().map(|ranked| result(bundle, index, ranked, &stems)).collect::<Result<_>>()?;
    bundle.check_whole()?;
    let next = (from + page.len()) as u64;
    let more = !page.is_empty() && next < total;
    let next_cursor = more.then(|| Cursor { list: hash, ord: next, key: None, total }.encode());
    let empty = if total == 0 { Some(explain::nothing(bundle, index, request, &ask, &candidates)?) } else { None };
    Ok(Results { results, total, next_cursor, degraded: found.degraded, empty })
}

/// The ids of the best records, in order: what an evaluation needs of a search.
pub fn ranking(bundle: &Bundle, request: &SearchRequest, most: usize) -> Result<Vec<u32>> {
    let index = bundle.text_index()?;
    let ask = ask::read(&request.question);
    let found = Found::of(bundle, index, request, &ask, &candidates(bundle, index, request, &ask)?, most)?;
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

/// What is searched: what filters leave, less what the question itself rules out. That holds for both halves, since nobody who writes
/// `-theft` wants it back for its meaning.
fn candidates(bundle: &Bundle, index: &TextIndex, request: &SearchRequest, ask: &Ask) -> Result<Candidates> {
    let filtered = Candidates::find(bundle, &request.sources, &request.filters)?;
    lexical::restrict(index, ask, filtered).map_err(Error::internal)
}

/// Everything that was found: the fused head, and the lexical hits behind it, not sorted yet.
struct Found {
    mode: Mode,
    head: Vec<Ranked>,
    /// Lexical hits below the depth of the fusion; some may stand in the head for their meaning.
    rest: Vec<lexical::Hit>,
    in_head: HashSet<u32>,
    /// How many records a search by meaning ranks.
    nearest: u64,
    degraded: Option<Value>,
}

impl Found {
    fn of(
        bundle: &Bundle,
        index: &TextIndex,
        request: &SearchRequest,
        ask: &Ask,
        candidates: &Candidates,
        end: usize,
    ) -> Result<Found> {
        let mode = request.mode;
        let words = match mode {
            Mode::Semantic => Vec::new(),
            _ => lexical::search(index, ask, candidates).map_err(Error::internal)?,
        };
        let (meaning, degraded) = match mode {
            Mode::Lexical => (Vec::new(), None),
            Mode::Semantic => {
                let wanted = Wanted { least: end.min(SEMANTIC_DEPTH), most: SEMANTIC_DEPTH };
                (by_meaning(bundle, index, request, ask, candidates, wanted)?, None)
            }
            Mode::Hybrid => by_meaning_where_possible(bundle, index, request, ask, candidates)?,
        };
        let (best, rest) = lexical::split_best(words, LEXICAL_DEPTH);
        let mut head = rank(mode, &best, &meaning);
        if mode == Mode::Hybrid {
            lead_with_identifiers(bundle, &request.question, candidates, &mut head);
        }
        let in_head: HashSet<u32> = match rest.is_empty() {
            true => HashSet::new(),
            false => head.iter().map(|r| r.fused.record).collect(),
        };
        // By meaning every candidate is a result; only so many are ranked, and no more of them than this page needs.
        let nearest = match mode {
            Mode::Semantic => candidates.within(bundle, &meaningful(bundle, &request.sources)).count(),
            _ => 0,
        };
        Ok(Found { mode, head, rest, in_head, nearest: nearest.min(SEMANTIC_DEPTH as u64), degraded })
    }

    fn total(&self) -> u64 {
        if self.mode == Mode::Semantic {
            return self.nearest;
        }
        let again = self.rest.iter().filter(|hit| self.in_head.contains(&hit.record)).count();
        (self.head.len() + self.rest.len() - again) as u64
    }

    fn page(&self, from: usize, limit: usize) -> Vec<Ranked> {
        let copy = |r: &Ranked| Ranked { fused: r.fused, passage: r.passage };
        let mut page: Vec<Ranked> = self.head.iter().skip(from).take(limit).map(copy).collect();
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
    let by_words: HashMap<u32, &lexical::Hit> = words.iter().map(|hit| (hit.record, hit)).collect();
    let by_meaning: HashMap<u32, &semantic::Hit> = meaning.iter().map(|hit| (hit.record, hit)).collect();
    let records = |hits: &[lexical::Hit]| hits.iter().map(|hit| hit.record).collect::<Vec<_>>();
    let fused = fuse::fuse(&records(words), &meaning.iter().map(|hit| hit.record).collect::<Vec<_>>());
    let ranked = fused.into_iter().map(|mut fused| {
        let (word, near) = (by_words.get(&fused.record), by_meaning.get(&fused.record));
        match mode {
            Mode::Hybrid => {}
            Mode::Lexical => fused.score = word.map_or(0.0, |hit| hit.score),
            Mode::Semantic => fused.score = near.map_or(0.0, |hit| hit.similarity),
        }
        Ranked { fused, passage: word.map(|hit| hit.passage).or(near.map(|hit| hit.passage)) }
    });
    ranked.collect()
}

fn by_meaning(
    bundle: &Bundle,
    index: &TextIndex,
    request: &SearchRequest,
    ask: &Ask,
    candidates: &Candidates,
    wanted: Wanted,
) -> Result<Vec<semantic::Hit>> {
    let candidates = candidates.within(bundle, &meaningful(bundle, &request.sources));
    if candidates.count() == 0 {
        return Ok(Vec::new());
    }
    let vectors = bundle.vectors()?;
    let question = bundle.model()?.question(&ask.positive(&request.question)).map_err(Error::internal)?;
    let question = Vector::of(&question);
    semantic::search(index, vectors, &question, &candidates, wanted).map_err(Error::internal)
}

/// The half by meaning, and what is said when some or all of the sources have none.
fn by_meaning_where_possible(
    bundle: &Bundle,
    index: &TextIndex,
    request: &SearchRequest,
    ask: &Ask,
    candidates: &Candidates,
) -> Result<(Vec<semantic::Hit>, Option<Value>)> {
    let possible = meaningful(bundle, &request.sources);
    let degraded = |reason: &str, sources: Vec<&str>| {
        (!sources.is_empty()).then(|| json!({ "mode": "lexical", "reason": reason, "sources": sources }))
    };
    let all = || request.sources.iter().map(|s| s.key).collect::<Vec<_>>();
    if !bundle.has_vectors() {
        return Ok((Vec::new(), degraded("This bundle holds no vectors.", all())));
    }
    let lacking = request.sources.iter().filter(|s| !possible.iter().any(|p| p.key == s.key)).map(|s| s.key).collect();
    let wanted = Wanted { least: SEMANTIC_LEAST, most: SEMANTIC_DEPTH };
    match by_meaning(bundle, index, request, ask, candidates, wanted) {
        Ok(hits) => Ok((hits, degraded("There are no vectors of these sources.", lacking))),
        Err(error) => {
            tracing::warn!(cause = error.cause.as_deref(), "{}", error.message);
            Ok((Vec::new(), degraded(&error.message, all())))
        }
    }
}

/// "HR 1" or "40 CFR 122.26" in a question means that record, before any that mentions it.
fn lead_with_identifiers(bundle: &Bundle, question: &str, candidates: &Candidates, head: &mut Vec<Ranked>) {
    for (place, record) in identified(bundle, question).into_iter().enumerate() {
        if !candidates.contains(record) {
            continue;
        }
        let mut ranked = match head.iter().position(|r| r.fused.record == record) {
            Some(at) => head.remove(at),
            None => {
                let fused = Fused { record, score: 0.0, lexical: None, semantic: None };
                Ranked { fused, passage: None }
            }
        };
        // Above everything that ranks can give, and in the order of the question.
        ranked.fused.score += 1.0 / (place + 1) as f32;
        head.insert(place.min(head.len()), ranked);
    }
}

/// The records whose ids stand in the question, each once, in its order. An id is at most six words: "H. R. 1 (119th Congress)".
fn identified(bundle: &Bundle, question: &str) -> Vec<u32> {
    let words: Vec<&str> = question.split_whitespace().take(64).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let lengths = (1..=6.min(words.len() - at)).rev();
        let id = lengths.map(|n| (n, words[at..at + n].join(" "))).find_map(|(n, text)| {
            let text = text.trim_matches(|c: char| "\"'“”?!,;()".contains(c) && c != ')');
            let has_number = text.bytes().any(|b| b.is_ascii_digit());
            if !has_number || ids::parse(text).is_none() {
                return None;
            }
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

/// What is marked in a passage.
fn stems(ask: &Ask) -> Vec<String> {
    let phrases = ask.phrases.iter().map(|p| p.text.as_str());
    lexical::telling_words(ask).chain(phrases).flat_map(analyzer::terms).collect()
}

/// One result as JSON, made of the prepared record's own JSON.
#[derive(serde::Serialize)]
struct Shown<'a> {
    id: &'a str,
    source: &'static str,
    title: Option<&'a RawValue>,
    url: Option<&'a RawValue>,
    date: Option<&'a RawValue>,
    snippet: String,
    section: String,
    heading: String,
    score: f32,
    ranks: Ranks,
    citation: &'a RawValue,
}

#[derive(serde::Serialize)]
struct Ranks {
    lexical: Option<usize>,
    semantic: Option<usize>,
}

/// The passage with the question's words marked. When they stand only in its heading or in the title, these lead; when they stand
/// nowhere, it was the meaning of the passage that matched, and all of it is the match.
fn snippet_of(title: &str, passage: &Passage, stems: &[String], by_meaning: bool) -> String {
    let is_hit = |word: &str| analyzer::terms(word).iter().any(|term| stems.contains(term));
    let joined =
        |head: &str| [head, &passage.text].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" — ");
    let texts = [passage.text.clone(), joined(&passage.heading), joined(title)];
    let snippets = texts.iter().map(|text| snippet::snippet(text, &is_hit, SNIPPET));
    if let Some(marked) = snippets.into_iter().find(|snippet| snippet.contains("<mark>")) {
        return marked;
    }
    let whole = if passage.text.is_empty() { title } else { &passage.text };
    let plain = snippet::snippet(whole, &|_| false, SNIPPET);
    if by_meaning { format!("<mark>{plain}</mark>") } else { plain }
}

fn result(bundle: &Bundle, index: &TextIndex, ranked: &Ranked, stems: &[String]) -> Result<Box<RawValue>> {
    let Fused { record, score, lexical, semantic } = ranked.fused;
    let lost = || Error::internal(format!("the index names record {record}"));
    let entry = bundle.records().by_number(record as usize).ok_or_else(lost)?;
    let source = bundle.source_of_number(record as usize).ok_or_else(lost)?;
    let fields: HashMap<&str, &RawValue> = serde_json::from_str(entry.data).map_err(Error::internal)?;
    let field = |name: &str| fields.get(name).copied();
    let title = field(source.title);
    let passage = match ranked.passage.or_else(|| index.passages_of(record).next()) {
        Some(number) => index.passage(number).map_err(Error::internal)?,
        None => Default::default(),
    };
    let own_title: String = title.and_then(|t| serde_json::from_str(t.get()).ok()).unwrap_or_default();
    let snippet = snippet_of(&own_title, &passage, stems, semantic.is_some());
    let citation: &RawValue = serde_json::from_str(entry.citation).map_err(Error::internal)?;
    let shown = Shown {
        id: entry.id,
        source: source.key,
        title,
        url: field("url"),
        date: source.main_date.and_then(field),
        snippet,
        section: passage.section,
        heading: passage.heading,
        score,
        ranks: Ranks { lexical, semantic },
        citation,
    };
    serde_json::value::to_raw_value(&shown).map_err(Error::internal)
}
