//! Why nothing was found: what each filter took away, what the sources cover, how a word may have been meant.

use serde_json::{Value, json};

use super::ask::Ask;
use super::candidates::Candidates;
use super::lexical;
use super::request::{Mode, SearchRequest};
use crate::bundle::Bundle;
use crate::bundle::analyzer;
use crate::bundle::text::TextIndex;
use crate::error::{Error, Result};
use crate::query::Params;

pub fn nothing(
    bundle: &Bundle,
    index: &TextIndex,
    request: &SearchRequest,
    ask: &Ask,
    candidates: &Candidates,
) -> Result<Value> {
    let searched = candidates.count();
    let reason = match (searched, request.filters.is_empty()) {
        (0, _) => "The filters leave no record to search.",
        (_, false) => "No record that the filters leave has these words.",
        (_, true) => "No record of these sources has these words.",
    };
    let facts = request.sources.iter().filter_map(|s| bundle.manifest.source(s.key));
    let coverage: Vec<Value> =
        facts.map(|f| json!({ "source": f.key, "records": f.records, "from": f.from, "to": f.to })).collect();
    let mut why = json!({ "reason": reason, "searched": searched, "sources": coverage });
    if !request.filters.is_empty() {
        why["filters"] = filters(bundle, index, request, ask)?;
    }
    let meant = spelling(index, ask);
    if !meant.is_empty() {
        why["did_you_mean"] = json!(meant);
    }
    Ok(why)
}

/// For each filter: how many records it leaves by itself, and how many results there would be without it.
fn filters(bundle: &Bundle, index: &TextIndex, request: &SearchRequest, ask: &Ask) -> Result<Value> {
    let results = |filters: &Params| -> Result<u64> {
        let candidates = Candidates::find(bundle, &request.sources, filters)?;
        if request.mode == Mode::Semantic {
            return Ok(candidates.count());
        }
        Ok(lexical::search(index, ask, &candidates).map_err(Error::internal)?.len() as u64)
    };
    let given: Vec<(&str, &str)> = request.filters.iter().collect();
    let mut said = Vec::new();
    for (at, (name, value)) in given.iter().enumerate() {
        let (mut alone, mut others) = (Params::default(), Params::default());
        alone.push(name, value);
        given.iter().enumerate().filter(|(n, _)| *n != at).for_each(|(_, (name, value))| others.push(name, value));
        let leaves = Candidates::find(bundle, &request.sources, &alone)?.count();
        said.push(
            json!({ "filter": format!("{name}={value}"), "leaves": leaves, "results_without_it": results(&others)? }),
        );
    }
    Ok(said.into())
}

/// For each word that no text has, the nearest one that some have: at most two slips away, the more frequent of equals.
fn spelling(index: &TextIndex, ask: &Ask) -> serde_json::Map<String, Value> {
    let mut meant = serde_json::Map::new();
    let phrases = ask.phrases.iter().flat_map(|p| p.text.split(' '));
    for word in lexical::telling_words(ask).chain(phrases).flat_map(analyzer::plain_words) {
        let slips = if word.len() < 6 { 1 } else { 2 };
        let near = |known: &str| {
            let close = known.len().abs_diff(word.len()) <= slips;
            close.then(|| strsim::damerau_levenshtein(known, &word)).filter(|n| *n <= slips)
        };
        // Words come the most frequent first, and `min_by_key` keeps the first of equals.
        let best = index.words().filter_map(|known| Some((near(known)?, known))).min_by_key(|(n, _)| *n);
        if let Some((1.., known)) = best {
            meant.insert(word, json!(known));
        }
    }
    meant
}
