//! One result as it is shown: the record's own fields, its citation, and the passage that matched.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::ask::Ask;
use super::fuse::Fused;
use super::{lexical, snippet};
use crate::bundle::text::{Passage, TextIndex};
use crate::bundle::{Bundle, analyzer};
use crate::error::{Error, Result};

/// Characters of a snippet.
const SNIPPET: usize = 320;

/// A record in the final ranking, with the passage to show of it.
#[derive(Clone, Copy)]
pub struct Ranked {
    pub fused: Fused,
    pub passage: Option<u32>,
}

/// What is marked in a passage.
pub fn stems(ask: &Ask) -> Vec<String> {
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
    // A stem begins like its word; asking that first spares nearly all words the stemmer.
    let begins = |word: &str| {
        let first = word.chars().next().map(|c| c.to_ascii_lowercase());
        first.is_some_and(|c| !c.is_ascii() || stems.iter().any(|stem| stem.starts_with(c)))
    };
    let is_hit = |word: &str| begins(word) && analyzer::terms(word).iter().any(|term| stems.contains(term));
    let has_hit =
        |text: &str| text.split_whitespace().any(|word| is_hit(word.trim_matches(|c: char| !c.is_alphanumeric())));
    let lead = [passage.heading.as_str(), title].into_iter().find(|head| has_hit(head));
    let text = match lead {
        Some(head) if !has_hit(&passage.text) => format!("{head} — {}", passage.text),
        _ if passage.text.is_empty() => title.to_string(),
        _ => passage.text.clone(),
    };
    let snippet = snippet::snippet(&text, &is_hit, SNIPPET);
    if by_meaning && !snippet.contains("<mark>") { format!("<mark>{snippet}</mark>") } else { snippet }
}

pub fn result(bundle: &Bundle, index: &TextIndex, ranked: &Ranked, stems: &[String]) -> Result<Box<RawValue>> {
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
