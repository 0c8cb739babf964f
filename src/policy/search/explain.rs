//! Why nothing was found: what each filter removed, what the sources cover. And which words no text
//! has, whatever was found: how each may have been meant.

use serde_json::{Value, json};

use super::candidates::Candidates;
use super::lexical;
use super::query_syntax::ParsedQuery;
use super::request::{Mode, SearchRequest, SearchScope};
use crate::api::{Context, Error, Result, UnknownWord};
use crate::bundle::analyzer;
use crate::bundle::text::TextIndex;
use crate::policy::query::Selection;

/// Filters that are explained: each costs a search of its own.
const MOST_EXPLAINED: usize = 8;

/// Words that are named as unknown: for each all common words are compared.
const MOST_UNKNOWN: usize = 5;

pub fn nothing(
    context: &Context,
    index: &TextIndex,
    request: &SearchRequest,
    query: &ParsedQuery,
    candidates: &Candidates,
) -> Result<Value> {
    let searched = candidates.count();
    let has_filters = !request.filters().is_empty();
    let reason = match (searched, has_filters) {
        (0, _) => "The filters leave no record to search.",
        (_, true) => "No record that the filters leave has these words.",
        (_, false) => "No record of these sources has these words.",
    };
    let facts = request.sources().filter_map(|s| context.bundle.manifest.source(s.key));
    let coverage = facts.map(|facts| {
        let (records, from, to) = (facts.records, &facts.from, &facts.to);
        json!({ "source": facts.key, "records": records, "from": from, "to": to })
    });
    let coverage: Vec<Value> = coverage.collect();
    let mut why = json!({ "reason": reason, "searched": searched, "sources": coverage });
    if has_filters {
        why["filters"] = filters(context, index, request, query)?;
    }
    let meant = spelling(context, index, query)?;
    if !meant.is_empty() {
        why["did_you_mean"] = json!(meant);
    }
    Ok(why)
}

/// For each filter: how many records it leaves by itself, and how many results there would be
/// without it.
fn filters(
    context: &Context,
    index: &TextIndex,
    request: &SearchRequest,
    query: &ParsedQuery,
) -> Result<Value> {
    let narrowed = |change: &dyn Fn(&Selection) -> Selection| -> Result<Candidates> {
        let scope = |scope: &SearchScope| SearchScope {
            source: scope.source,
            selection: change(&scope.selection),
        };
        Candidates::find(context, &request.scopes.iter().map(scope).collect::<Vec<_>>())
    };
    let mut explained = Vec::new();
    for (at, filter) in request.filters().into_iter().enumerate().take(MOST_EXPLAINED) {
        let leaves = narrowed(&|selection| selection.only(at))?.count();
        let others = narrowed(&|selection| selection.without(at))?;
        let results = match request.mode {
            Mode::Semantic => others.count(),
            _ => lexical::search(context, index, query, &others)?.len() as u64,
        };
        let row = json!({ "filter": filter, "leaves": leaves, "results_without_it": results });
        explained.push(row);
    }
    Ok(explained.into())
}

/// For each word that is not a common one, the nearest one that is.
fn spelling(
    context: &Context,
    index: &TextIndex,
    query: &ParsedQuery,
) -> Result<serde_json::Map<String, Value>> {
    let mut meant = serde_json::Map::new();
    for word in words(query) {
        context.check()?;
        if let Some(known) = nearest(index, &word) {
            meant.insert(word, json!(known));
        }
    }
    Ok(meant)
}

/// The words that no text has.
pub fn unknown_words(
    context: &Context,
    index: &TextIndex,
    query: &ParsedQuery,
) -> Result<Vec<UnknownWord>> {
    let mut unknown: Vec<UnknownWord> = Vec::new();
    for word in words(query) {
        let is_listed = unknown.iter().any(|listed| listed.word == word);
        if is_listed || index.has_word(&word).map_err(Error::internal)? {
            continue;
        }
        context.check()?;
        let did_you_mean = nearest(index, &word).map(str::to_string);
        unknown.push(UnknownWord { word, did_you_mean });
        if unknown.len() == MOST_UNKNOWN {
            break;
        }
    }
    Ok(unknown)
}

/// The words that are looked for, as they are compared.
fn words(query: &ParsedQuery) -> impl Iterator<Item = String> {
    let phrases = query.phrases.iter().flat_map(|phrase| phrase.text.split(' '));
    query.content_words().into_iter().chain(phrases).flat_map(analyzer::plain_words)
}

/// The common word that is nearest to another one: at most two slips away, the more frequent of
/// equals. Nothing for one that is common itself.
fn nearest<'i>(index: &'i TextIndex, word: &str) -> Option<&'i str> {
    let slips = if word.len() < 6 { 1 } else { 2 };
    let own = letters(word);
    let near = |known: &str| {
        // A slip changes one letter into another at most: few words have to be compared.
        let close = known.len().abs_diff(word.len()) <= slips
            && (letters(known) ^ own).count_ones() as usize <= 2 * slips;
        close.then(|| strsim::damerau_levenshtein(known, word)).filter(|n| *n <= slips)
    };
    // Words come the most frequent first, and `min_by_key` keeps the first of equals.
    let best =
        index.words().filter_map(|known| Some((near(known)?, known))).min_by_key(|(n, _)| *n);
    best.filter(|(slips, _)| *slips > 0).map(|(_, known)| known)
}

/// The set of the letters of a word.
fn letters(word: &str) -> u64 {
    word.chars().fold(0, |set, letter| set | 1 << (u32::from(letter) % u64::BITS))
}
