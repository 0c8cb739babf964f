//! From a name as people type it to the records that bear it.
//!
//! Candidates come from the index of names by the pieces they share with what was typed; `score` says how well each fits, with and
//! without the words that `hints` takes for a title, a state or a year. Filters narrow before that and exclude; hints prefer.
//! What fits too badly is not returned: the nearest names are shown instead of a wrong record.

mod hints;
mod score;

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::bundle::{Bundle, analyzer, names, stable_hash};
use crate::catalog::{Fields, Source};
use crate::error::Result;
use crate::query::{Cursor, ListRequest, Page, Params, Table, narrow};
use crate::record;
use crate::search::Candidates;
use hints::Hints;

/// Names that are scored; more share only a piece or two with what was typed.
const MOST_NAMES: usize = 300;

/// Below this a name is another's. Tuned on `tests/josh/names.tsv`.
const THRESHOLD: f32 = 0.66;

/// Records that are read to prefer one to another. A name that thousands of filings bear has no record to prefer.
const MOST_READ: usize = 1000;

/// Names shown when none fits.
const NEAREST: usize = 5;

/// A record that bears a fitting name.
#[derive(Clone, Copy, Debug)]
struct Match {
    record: u32,
    score: f32,
    name: Option<u32>,
}

/// The records of a registry whose names fit, the best first, page by page. Blocks: call it on a blocking thread.
pub fn resolve(
    bundle: &Bundle,
    source: &'static Source,
    table: &Table,
    params: &Params,
) -> Result<(ListRequest, Page)> {
    let mut typed = String::new();
    let (mut filters, mut others) = (Params::default(), Params::default());
    for (name, value) in params.iter() {
        match name {
            "q" => typed = value.trim().to_string(),
            "limit" | "cursor" | "fields" | "format" => others.push(name, value),
            _ => filters.push(name, value),
        }
    }
    let request = ListRequest::read(&others, table, &|target, id| record::canonical(bundle, target, id))?;
    let mut key = format!("resolve {} {} {typed}", bundle.manifest.id, source.key);
    filters.iter().for_each(|(name, value)| key.push_str(&format!("\n{name}={value}")));
    let list = stable_hash(key.as_bytes());
    let from = request.cursor().map(|c| Cursor::decode(c, list, None)).transpose()?.map_or(0, |c| c.ord as usize);
    let candidates = Candidates::find(bundle, &[source], &filters)?;
    let (matches, nearest) = find(bundle, source, &typed, &candidates)?;
    let total = matches.len() as u64;
    let shown: Vec<&Match> = matches.iter().skip(from).take(request.limit()).collect();
    let next = (from + shown.len()) as u64;
    let next_cursor =
        (!shown.is_empty() && next < total).then(|| Cursor { list, ord: next, key: None, total }.encode());
    let items = shown.into_iter().map(|m| item(bundle, &request, m)).collect::<Result<Vec<_>>>()?;
    bundle.check_whole()?;
    let mut columns = request.fields.clone().unwrap_or_else(|| table.columns.iter().map(|c| c.name).collect());
    columns.push("match");
    let empty = (total == 0)
        .then(|| json!({ "reason": "No name fits well enough.", "searched": candidates.count(), "nearest": nearest }));
    Ok((request, Page { items, columns, total, next_cursor, empty, ..Page::default() }))
}

/// All records that fit, the best first, and the nearest names.
fn find(
    bundle: &Bundle,
    source: &'static Source,
    typed: &str,
    candidates: &Candidates,
) -> Result<(Vec<Match>, Vec<String>)> {
    let index = bundle.names()?;
    let mut found: HashMap<u32, Match> = HashMap::new();
    let mut nearest: Vec<(f32, String)> = Vec::new();
    let hints = Hints::read(typed);
    let whole = analyzer::folded_words(typed);
    for name in fitting(index, source, &whole, &hints.words, candidates) {
        let words = analyzer::folded_words(index.text(name));
        let plain = score::score(&whole, &words);
        let bare = if hints.words == whole { plain } else { score::score(&hints.words, &words) };
        // An acronym or a number is meant letter by letter.
        let exact_only = matches!(index.kind(name), "acronym" | "lis_id" | "rin" | "docket_id");
        if exact_only && ![&whole, &hints.words].into_iter().any(|typed| score::is_same(typed, &words)) {
            continue;
        }
        nearest.push((plain.max(bare), index.text(name).to_string()));
        // Hints can add at most this: whatever can't reach the threshold need not be looked at record by record.
        if plain.max(bare + 4.0 * hints::MOST_GAIN) < THRESHOLD {
            continue;
        }
        for record in index.records(name).filter(|record| candidates.contains(*record)) {
            let preference = match hints.words == whole || found.len() > MOST_READ {
                true => 0.0,
                false => fields(bundle, record).map_or(0.0, |fields| hints.preference(&fields)),
            };
            // Whoever is meant by words around the name is meant less surely than whoever bears all of them.
            let fit = plain.max((bare + preference - 0.01).min(0.99)).clamp(0.0, 1.0);
            let known = found.entry(record).or_insert(Match { record, score: fit, name: Some(name) });
            if fit > known.score {
                *known = Match { record, score: fit, name: Some(name) };
            }
        }
    }
    if let Ok(exact) = record::find_in(bundle, source, typed)
        && let Some((number, _)) = bundle.records().by_id(exact.entry.id)
        && candidates.contains(number as u32)
    {
        // Above every name, which comes to 1 at most.
        found.insert(number as u32, Match { record: number as u32, score: 2.0, name: None });
    }
    let mut matches: Vec<Match> = found.into_values().filter(|m| m.score >= THRESHOLD).collect();
    // Rounded, so that a hair's breadth does not decide before recency does.
    let rounded = |m: &Match| (m.score * 200.0).round() as i32;
    let read = if matches.len() <= MOST_READ { matches.as_slice() } else { &[] };
    let prominent: HashMap<u32, (bool, String)> =
        read.iter().map(|m| (m.record, prominence(bundle, source, m.record))).collect();
    matches.sort_by(|a, b| {
        let (pa, pb) = (prominent.get(&a.record), prominent.get(&b.record));
        // Records are numbered in the default order of their source, mostly the newest first.
        rounded(b).cmp(&rounded(a)).then_with(|| pb.cmp(&pa)).then(a.record.cmp(&b.record))
    });
    nearest.sort_by(|a, b| b.0.total_cmp(&a.0));
    nearest.dedup_by(|a, b| a.1 == b.1);
    Ok((matches, nearest.into_iter().take(NEAREST).map(|(_, name)| name).collect()))
}

/// The names that share the most pieces with what was typed and that a candidate bears.
fn fitting(
    index: &names::Names,
    source: &Source,
    whole: &[String],
    bare: &[String],
    candidates: &Candidates,
) -> Vec<u32> {
    let mut found: HashMap<u32, f32> = HashMap::new();
    for words in [whole, bare] {
        let pieces = names::pieces(words);
        // A name must share a quarter of the pieces, or those of its one word.
        let least = (pieces.len() as u16 / 4).clamp(1, 4);
        for (name, count) in index.sharing(source.key, &pieces, least) {
            let share = f32::from(count) / (pieces.len() as f32 + 0.2 * index.text(name).len() as f32);
            let known = found.entry(name).or_insert(share);
            *known = known.max(share);
        }
        if bare == whole {
            break;
        }
    }
    let mut found: Vec<(u32, f32)> = found.into_iter().collect();
    found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let borne = |name: &u32| index.records(*name).any(|record| candidates.contains(record));
    found.into_iter().map(|(name, _)| name).filter(borne).take(MOST_NAMES).collect()
}

fn fields(bundle: &Bundle, record: u32) -> Option<Fields> {
    serde_json::from_str(bundle.records().by_number(record as usize)?.data).ok()
}

/// Whether it is current, and how new it is: what decides between equals.
fn prominence(bundle: &Bundle, source: &Source, record: u32) -> (bool, String) {
    let Some(fields) = fields(bundle, record) else { return Default::default() };
    let current = fields.get("current").and_then(Value::as_bool).unwrap_or(false);
    let date = ["last_term_end"].into_iter().chain(source.main_date).find_map(|d| fields.get(d)?.as_str());
    (current, date.unwrap_or_default().to_string())
}

/// The record as JSON with how it matched.
fn item(bundle: &Bundle, request: &ListRequest, found: &Match) -> Result<String> {
    let lost = || crate::error::Error::internal(format!("the index of names has record {}", found.record));
    let entry = bundle.records().by_number(found.record as usize).ok_or_else(lost)?;
    let mut record = match &request.fields {
        Some(fields) => narrow(entry.data, fields)?,
        None => entry.data.to_string(),
    };
    let index = bundle.names()?;
    let matched = match found.name {
        Some(name) => {
            json!({ "score": f64::from((found.score * 1000.0).round()) / 1000.0, "matched_on": index.kind(name), "name": index.text(name) })
        }
        None => json!({ "score": 1.0, "matched_on": "id", "name": entry.id }),
    };
    record.pop();
    record.push_str(&format!(",\"match\":{matched}}}"));
    Ok(record)
}
