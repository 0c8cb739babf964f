//! From a name as people type it to the records that have it.
//!
//! Candidates come from the index of names by the trigrams they share with what was typed; `score`
//! says how well each fits, with and without the words that `hints` takes for a title, a state or
//! a year. Filters exclude records beforehand; hints only raise or lower scores. What fits too
//! badly is not returned: the nearest names are shown instead of a wrong record. Which names a
//! record has is said by its source (see `spec::Naming`).

mod facts;
mod hints;
mod score;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::query::{Cursor, LIST_PARAMETERS, ListRequest, Listing, select_fields};
use super::record;
use super::search::{Candidates, scopes};
use crate::api::argument::{LEAST_FIT, WHOLE_PAGE};
use crate::api::{Arguments, Context, Error, Notes, Outcome, Page, Result};
use crate::bundle::{Bundle, analyzer, names, stable_hash};
use crate::catalog::{Fields, Source};
use facts::RecordFacts;
use hints::Hints;
use score::{Word, telling};

/// Bytes of a name as people type it; a longer text is no name.
const LONGEST_NAME: usize = 300;

/// Names that are scored; more share only a piece or two with what was typed.
const MOST_NAMES: usize = 300;

/// Below this a name is another's. Tuned on `tests/josh/names.tsv`.
const THRESHOLD: f32 = 0.66;

/// From here on most letters are the same.
const FITS_WELL: f32 = 0.85;

/// Up to so many records are read to compare them with hints and dates. More, such as thousands of
/// filings of one client, differ too little to be worth it.
const MOST_READ: usize = 1000;

/// Names shown when none fits.
const NEAREST: usize = 5;

/// A record with a fitting name.
#[derive(Clone, Copy, Debug)]
struct Match {
    record: u32,
    score: f32,
    name: Option<u32>,
}

/// The records of a registry whose names fit, the best first, page by page. Blocks: call it on a
/// blocking thread.
pub fn resolve(
    context: &Context,
    source: &'static Source,
    listing: &Listing,
    mut arguments: Arguments,
) -> Result<Outcome> {
    let typed = arguments.take_one("q")?.map(|q| q.trim().to_string()).unwrap_or_default();
    if typed.len() > LONGEST_NAME {
        let message = format!("`q` is longer than {LONGEST_NAME} bytes, too long for a name.");
        return Err(Error::invalid("q", message).hint("max_bytes", LONGEST_NAME));
    }
    let least = match arguments.take_one(LEAST_FIT)? {
        Some(least) => least.parse().map_err(Error::internal)?,
        None => THRESHOLD,
    };
    let mut page_arguments = Arguments::default();
    for name in [WHOLE_PAGE, "limit", "cursor", "fields"] {
        if let Some(given) = arguments.take(name)? {
            page_arguments.push(name, given);
        }
    }
    let request = ListRequest::read(page_arguments, listing, &[])?;
    for (name, why) in [
        ("sort", "Names are sorted by how well they fit; leave `sort` out."),
        ("facets", "Matches of a name are not counted by field; leave `facets` or `q` out."),
    ] {
        if arguments.has(name) {
            return Err(Error::invalid(name, why));
        }
    }
    let valid: Vec<&str> = LIST_PARAMETERS.into_iter().chain(["q"]).collect();
    let scopes = scopes(&context.bundle, &[source], &arguments, &valid)?;
    let filters: String = scopes.iter().map(|scope| scope.selection.key()).collect();
    let id = &context.bundle.manifest.id;
    let list = stable_hash(format!("resolve {id} {} {typed}\n{filters}", source.key).as_bytes());
    let cursor = request.cursor.as_deref().map(|c| Cursor::decode(c, list, None)).transpose()?;
    let from = cursor.map_or(0, |cursor| cursor.ord as usize);
    let candidates = Candidates::find(context, &scopes)?;
    let (matches, nearest) = find(context, source, &typed, &candidates, least)?;
    let total = matches.len() as u64;
    let shown: Vec<&Match> = matches.iter().skip(from).take(request.limit()).collect();
    let cursor_after =
        move |items: usize| Cursor { list, ord: (from + items) as u64, key: None, total }.encode();
    let is_more = !shown.is_empty() && ((from + shown.len()) as u64) < total;
    let next_cursor = is_more.then(|| cursor_after(shown.len()));
    let bundle = &context.bundle;
    let items = shown.into_iter().map(|m| item(bundle, &request, m)).collect::<Result<Vec<_>>>()?;
    bundle.ensure_intact()?;
    let all = || listing.columns.iter().map(|c| c.name).collect();
    let mut columns: Vec<&'static str> = request.fields.clone().unwrap_or_else(all);
    columns.push("match");
    let empty = (total == 0).then(|| {
        let searched = candidates.count();
        json!({ "reason": "No name fits well enough.", "searched": searched, "nearest": nearest })
    });
    let cursor_after = Some(Arc::new(cursor_after) as _);
    let page = Page { items, columns, total, next_cursor, cursor_after, ..Page::default() };
    let mut shown = page.shown(&[]);
    let others = candidates.count().saturating_sub(total);
    if total > 0 && others > 0 && !filters.is_empty() {
        let passed = format!(
            "{others} more records pass the filters, but no name of theirs fits; leave `q` out to \
             list them all"
        );
        shown = Some(shown.map_or(passed.clone(), |shown| format!("{shown}. {passed}")));
    }
    Ok(Outcome::new(page).with(Notes { empty, shown, ..Notes::default() }))
}

/// Whom a name means.
pub enum Named {
    Clearly {
        id: String,
        name: String,
    },
    /// Ids and names of those who may be meant, the best first.
    Several(Vec<(String, String)>),
    /// Names that come near.
    Nobody(Vec<String>),
}

/// How much better than the second the first must fit to be clearly meant.
const CLEAR: f32 = 0.03;

/// Whom a name means, where that is clear: the only one whom it fits, who fits it best by far, or
/// the only one in office. Blocks: call it on a blocking thread.
pub fn named(context: &Context, source: &'static Source, typed: &str) -> Result<Named> {
    let typed = typed.trim();
    if typed.len() > LONGEST_NAME {
        return Ok(Named::Nobody(Vec::new()));
    }
    let bundle = &context.bundle;
    let scopes = scopes(bundle, &[source], &Arguments::default(), &[])?;
    let candidates = Candidates::find(context, &scopes)?;
    let (matches, nearest) = find(context, source, typed, &candidates, THRESHOLD)?;
    let Some(best) = matches.first() else { return Ok(Named::Nobody(nearest)) };
    let rivals: Vec<&Match> =
        matches.iter().take_while(|m| best.score - m.score < CLEAR).take(MOST_READ).collect();
    let of = |found: &Match| {
        let fields = fields(bundle, found.record)?;
        let current = fields.get("current").and_then(Value::as_bool).unwrap_or(false);
        let text = |name: &str| Some(fields.get(name)?.as_str()?.to_string());
        Some((text("id")?, text(source.title)?, current))
    };
    let read: Vec<(String, String, bool)> = rivals.into_iter().filter_map(of).collect();
    let in_office: Vec<&(String, String, bool)> = read.iter().filter(|r| r.2).collect();
    Ok(match (read.as_slice(), in_office.as_slice()) {
        ([(id, name, _)], _) | (_, [(id, name, _)]) => {
            Named::Clearly { id: id.clone(), name: name.clone() }
        }
        _ => Named::Several(read.into_iter().map(|(id, name, _)| (id, name)).collect()),
    })
}

/// All records that fit at least so well, the best first, and the nearest names.
fn find(
    context: &Context,
    source: &'static Source,
    typed: &str,
    candidates: &Candidates,
    least: f32,
) -> Result<(Vec<Match>, Vec<String>)> {
    let bundle = &context.bundle;
    let Some(naming) = &source.naming else {
        return Err(Error::internal(format!("{} has no names", source.key)));
    };
    let index = bundle.names()?;
    let mut found: HashMap<u32, Match> = HashMap::new();
    let mut nearest: Vec<(f32, String)> = Vec::new();
    let hints = Hints::read(typed);
    let facts = RecordFacts::of(bundle, source, naming);
    let whole = analyzer::folded_words(typed);
    let has_hints = hints.words != whole;
    let typed_words = [whole.as_slice(), hints.words.as_slice()];
    let [typed_whole, typed_bare] = typed_words.map(Word::all);
    // Who asks for better fits than usual does not want to know of those that come near.
    let is_nearest_told = least <= THRESHOLD;
    // Hints can add at most this: whatever can't reach the threshold need not be looked at record
    // by record.
    let least_bare = least - 4.0 * hints::MOST_GAIN;
    let bound = |least: f32| if is_nearest_told { 0.0 } else { least };
    for name in fitting(context, index, source, typed_words, candidates, least)? {
        context.check()?;
        let words = analyzer::folded_words(index.text(name));
        if naming.exact_kinds.contains(&index.kind(name))
            && !typed_words.into_iter().any(|typed| score::is_same(typed, &words))
        {
            continue;
        }
        let words = Word::all(&words);
        let plain = score::score(&typed_whole, &words, bound(least));
        let bare = match has_hints {
            true => score::score(&typed_bare, &words, bound(least_bare)),
            false => plain,
        };
        if is_nearest_told {
            nearest.push((plain.max(bare), index.text(name).to_string()));
        }
        if plain < least && bare < least_bare {
            continue;
        }
        for record in index.records(name).filter(|record| candidates.contains(*record)) {
            let preference = match has_hints && found.len() <= MOST_READ {
                false => 0.0,
                true => hints.preference(|field| facts.value(record, field), &naming.hints),
            };
            // A match that needs hints is less certain than a match of all words.
            let fit = plain.max((bare + preference - 0.01).min(0.99)).clamp(0.0, 1.0);
            let known =
                found.entry(record).or_insert(Match { record, score: fit, name: Some(name) });
            if fit > known.score {
                *known = Match { record, score: fit, name: Some(name) };
            }
        }
    }
    if let Some(exact) = record::known_in(bundle, source, typed)
        && let record = exact.number as u32
        && candidates.contains(record)
    {
        // Above every name, which comes to 1 at most.
        found.insert(record, Match { record, score: 2.0, name: None });
    }
    let mut matches: Vec<Match> = found.into_values().filter(|m| m.score >= least).collect();
    // Rounded, so that a hair's breadth does not decide before recency does.
    let rounded = |m: &Match| (m.score * 200.0).round() as i32;
    let read = if matches.len() <= MOST_READ { matches.as_slice() } else { &[] };
    let prominent: HashMap<u32, (bool, String)> =
        read.iter().map(|m| (m.record, facts.prominence(m.record))).collect();
    matches.sort_by(|a, b| {
        let (pa, pb) = (prominent.get(&a.record), prominent.get(&b.record));
        // Records are numbered in the default order of their source, mostly the newest first.
        rounded(b).cmp(&rounded(a)).then_with(|| pb.cmp(&pa)).then(a.record.cmp(&b.record))
    });
    nearest.sort_by(|a, b| b.0.total_cmp(&a.0));
    nearest.dedup_by(|a, b| a.1 == b.1);
    Ok((matches, nearest.into_iter().take(NEAREST).map(|(_, name)| name).collect()))
}

/// The names of candidates that share the most trigrams with what was typed.
fn fitting(
    context: &Context,
    index: &names::Names,
    source: &Source,
    [whole, bare]: [&[String]; 2],
    candidates: &Candidates,
    least: f32,
) -> Result<Vec<u32>> {
    let names = index.of_source(source.key);
    // The largest share of each name; most share nothing.
    let mut shares = vec![0.0f32; names.len()];
    for words in [whole, bare] {
        context.check()?;
        let trigrams = names::trigrams(words);
        // A name must share a quarter of the pieces, or those of its one word. One that fits well
        // shares more, but for the words that hardly count: a slip in eight letters leaves five of
        // nine, a nickname those of the family name.
        let shared = match least >= FITS_WELL {
            true => (names::trigrams(&telling(words)).len() * 2 / 5).max(1),
            false => (trigrams.len() / 4).clamp(1, 4),
        };
        for (name, count) in index.sharing(source.key, &trigrams, shared as u16) {
            let length = index.text_length(name) as f32;
            let share = f32::from(count) / (trigrams.len() as f32 + 0.2 * length);
            if let Some(known) = shares.get_mut((name - names.start) as usize) {
                *known = known.max(share);
            }
        }
        if bare == whole {
            break;
        }
    }
    let sharing = names.zip(shares).filter(|(_, share)| *share > 0.0);
    let is_borne = |name: u32| index.records(name).any(|record| candidates.contains(record));
    let mut found: Vec<(u32, f32)> = sharing.collect();
    context.check()?;
    // Without filters every name is borne by a candidate.
    let is_all = context.bundle.manifest.source(source.key).map(|facts| facts.records);
    if is_all != Some(candidates.count()) {
        found.retain(|(name, _)| is_borne(*name));
    }
    let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if found.len() > MOST_NAMES {
        found.select_nth_unstable_by(MOST_NAMES - 1, order);
        found.truncate(MOST_NAMES);
    }
    found.sort_unstable_by(order);
    Ok(found.into_iter().map(|(name, _)| name).collect())
}

fn fields(bundle: &Bundle, record: u32) -> Option<Fields> {
    serde_json::from_str(bundle.records().by_number(record as usize)?.data).ok()
}

/// The record as JSON with how it matched.
fn item(bundle: &Bundle, request: &ListRequest, found: &Match) -> Result<String> {
    let lost = || Error::internal(format!("the index of names has record {}", found.record));
    let entry = bundle.records().by_number(found.record as usize).ok_or_else(lost)?;
    let mut record = match &request.fields {
        Some(fields) => select_fields(entry.data, fields)?,
        None => entry.data.to_string(),
    };
    let index = bundle.names()?;
    let matched = match found.name {
        Some(name) => {
            let score = f64::from((found.score * 1000.0).round()) / 1000.0;
            json!({ "score": score, "matched_on": index.kind(name), "name": index.text(name) })
        }
        None => json!({ "score": 1.0, "matched_on": "id", "name": entry.id }),
    };
    record.pop();
    record.push_str(&format!(",\"match\":{matched}}}"));
    Ok(record)
}
