//! Results as they are shown: the record's own fields, its citation, and the passage that matched.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::fuse::Fused;
use super::query_syntax::ParsedQuery;
use super::snippet;
use crate::api::outcome::append;
use crate::api::page::{CursorAfter, fitting, shown};
use crate::api::{Error, Output, Result};
use crate::bundle::text::{Passage, TextIndex};
use crate::bundle::{Bundle, analyzer};
use crate::catalog::spec::{TEXT_STATUS, TextStatus};
use crate::policy::query::FacetCounts;
use crate::policy::schemas::Citation;

/// Characters of a snippet.
const SNIPPET: usize = 320;

/// A record in the final ranking, with the passage to show of it.
#[derive(Clone, Copy)]
pub struct Ranked {
    pub fused: Fused,
    pub passage: Option<u32>,
}

/// What is marked in a passage.
pub fn stems(ask: &ParsedQuery) -> Vec<String> {
    let phrases = ask.phrases.iter().map(|p| p.text.as_str());
    ask.content_words().into_iter().chain(phrases).flat_map(analyzer::terms).collect()
}

/// A page of results: `{"results", "total", "took_ms", "next_cursor"?, "degraded"?}`.
#[derive(Serialize, JsonSchema)]
pub struct SearchResults {
    #[schemars(with = "Vec<SearchResult>")]
    pub results: Vec<Box<RawValue>>,
    /// Exact for words; by meaning at most 200 records are ranked
    pub total: u64,
    pub took_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Degraded")]
    pub degraded: Option<Degraded>,
    /// Counts of the values of fields over all results, with `facets`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<FacetCounts>,
    #[serde(skip)]
    pub cursor_after: CursorAfter,
}

/// The part of the search that ran by words alone
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Degraded {
    pub mode: &'static str,
    pub reason: String,
    pub sources: Vec<&'static str>,
}

impl Output for SearchResults {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        append(out, self)
    }

    fn items(&self) -> Option<(Vec<&'static str>, Vec<Cow<'_, str>>)> {
        let items = self.results.iter().map(|result| Cow::Borrowed(result.get())).collect();
        Some((COLUMNS.to_vec(), items))
    }

    fn page(&self) -> Option<(u64, Option<&str>)> {
        Some((self.total, self.next_cursor.as_deref()))
    }

    fn shortened(&self, bytes: usize) -> Option<(Arc<dyn Output>, String)> {
        let kept = fitting(self.results.iter().map(|result| result.get().len()), bytes);
        if kept >= self.results.len() {
            return None;
        }
        let shorter = SearchResults {
            results: self.results[..kept].to_vec(),
            next_cursor: Some((self.cursor_after)(kept)),
            degraded: self.degraded.clone(),
            facets: self.facets.clone(),
            cursor_after: self.cursor_after.clone(),
            ..*self
        };
        Some((Arc::new(shorter), shown(kept, self.total, &[], true)?))
    }
}

/// Columns of a table of results.
const COLUMNS: [&str; 10] = [
    "id",
    "source",
    "title",
    "url",
    "date",
    "snippet",
    "section",
    "heading",
    "text_status",
    "score",
];

/// One result, made of the prepared record's own JSON.
#[derive(Serialize, JsonSchema)]
pub struct SearchResult<'a> {
    pub id: &'a str,
    pub source: &'static str,
    #[schemars(with = "Option<String>")]
    title: Option<&'a RawValue>,
    #[schemars(with = "String", extend("format" = "uri"))]
    url: Option<&'a RawValue>,
    #[schemars(with = "Option<String>", extend("format" = "date"))]
    date: Option<&'a RawValue>,
    /// HTML: the best passage, matches in <mark>, everything else escaped
    snippet: String,
    /// Section of the text that the passage is from; goes into body?section=
    section: String,
    heading: String,
    /// `summary` or `extract` where the text is not the official one to the character
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    text_status: Option<&'static str>,
    /// BM25, cosine or the sum of reciprocal ranks, depending on the mode
    score: f32,
    ranks: Ranks,
    #[schemars(with = "Citation")]
    citation: &'a RawValue,
}

#[derive(Serialize, JsonSchema)]
struct Ranks {
    lexical: Option<usize>,
    semantic: Option<usize>,
}

/// The passage with the question's words marked. When they stand only in its heading or in the
/// title, these lead; when they stand nowhere, it was the meaning of the passage that matched, and
/// the sentence whose wording is nearest is marked.
fn snippet_of(title: &str, passage: &Passage, stems: &[String]) -> String {
    // A stem begins like its word; asking that first spares nearly all words the stemmer.
    let begins = |word: &str| stems.iter().any(|stem| begin_alike(word, stem));
    let is_hit =
        |word: &str| begins(word) && analyzer::terms(word).iter().any(|term| stems.contains(term));
    let has_hit = |text: &str| {
        text.split_whitespace()
            .any(|word| is_hit(word.trim_matches(|c: char| !c.is_alphanumeric())))
    };
    let lead = [passage.heading.as_str(), title].into_iter().find(|head| has_hit(head));
    let text = match lead {
        Some(head) if !has_hit(&passage.text) => format!("{head} — {}", passage.text),
        _ if passage.text.is_empty() => title.to_string(),
        _ => passage.text.clone(),
    };
    let snippet = snippet::snippet(&text, &is_hit, SNIPPET);
    match snippet.contains("<mark>") {
        true => snippet,
        false => mark_nearest(&snippet, stems),
    }
}

/// Whether a word can have this stem: the stemmer keeps the first two letters, but for "dying" and
/// its like, which become "die".
fn begin_alike(word: &str, stem: &str) -> bool {
    let same = |a: char, b: char| match (a.to_ascii_lowercase(), b) {
        // Accents are taken off.
        (a, _) if !a.is_ascii_alphanumeric() => true,
        ('y' | 'i', 'y' | 'i') => true,
        (a, b) => a == b,
    };
    word.chars().zip(stem.chars()).take(2).all(|(a, b)| same(a, b))
}

/// Marks the sentence of a snippet that shares the most runs of three letters with the question.
fn mark_nearest(snippet: &str, stems: &[String]) -> String {
    let runs = |word: &str| -> Vec<String> {
        let letters: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
        letters.windows(3).map(|run| run.iter().collect()).collect()
    };
    let wanted: Vec<String> = stems.iter().flat_map(|stem| runs(stem)).collect();
    let near = |sentence: &str| {
        let lower = sentence.to_lowercase();
        wanted.iter().filter(|run| lower.contains(run.as_str())).count()
    };
    let mut best: Option<(usize, &str)> = None;
    for sentence in snippet.split_inclusive(". ").filter(|s| !s.trim().is_empty()) {
        let score = near(sentence);
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, sentence));
        }
    }
    match best {
        Some((_, sentence)) => {
            let sentence = sentence.trim();
            snippet.replacen(sentence, &format!("<mark>{sentence}</mark>"), 1)
        }
        None => snippet.to_string(),
    }
}

pub fn result(
    bundle: &Bundle,
    index: &TextIndex,
    ranked: &Ranked,
    stems: &[String],
) -> Result<Box<RawValue>> {
    let Fused { record, score, lexical, semantic } = ranked.fused;
    let lost = || Error::internal(format!("the index names record {record}"));
    let entry = bundle.records().by_number(record as usize).ok_or_else(lost)?;
    let source = bundle.source_of_number(record as usize).ok_or_else(lost)?;
    let fields: HashMap<&str, &RawValue> =
        serde_json::from_str(entry.data).map_err(Error::internal)?;
    let field = |name: &str| fields.get(name).copied();
    let title = field(source.title);
    let passage = match ranked.passage.or_else(|| index.passages_of(record).next()) {
        Some(number) => index.passage(number).map_err(Error::internal)?,
        None => Default::default(),
    };
    let own_title: String =
        title.and_then(|t| serde_json::from_str(t.get()).ok()).unwrap_or_default();
    let mut snippet = snippet_of(&own_title, &passage, stems);
    let status = field(TEXT_STATUS.name).and_then(|s| serde_json::from_str::<&str>(s.get()).ok());
    let status = status.and_then(TextStatus::named);
    if let Some(status) = status {
        snippet.insert_str(0, status.mark);
    }
    let citation: &RawValue = serde_json::from_str(entry.citation).map_err(Error::internal)?;
    let found = SearchResult {
        id: entry.id,
        source: source.key,
        title,
        url: field("url"),
        date: source.main_date.and_then(field),
        snippet,
        section: passage.section,
        heading: passage.heading,
        text_status: status.map(|status| status.name),
        score,
        ranks: Ranks { lexical, semantic },
        citation,
    };
    serde_json::value::to_raw_value(&found).map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_found(word: &str) {
        if let Some(stem) = analyzer::terms(word).first() {
            assert!(begin_alike(word, stem), "{word} {stem}");
        }
    }

    #[test]
    fn a_word_begins_like_its_stem() {
        for word in "dying lying tying skies skis idly gently ugly early only singly news Yes yet \
                     by dry Élan naïve ÉTÉ o'er it's U.S. 2nd x generously communication arsenal"
            .split_whitespace()
        {
            is_found(word);
        }
    }

    proptest! {
        #[test]
        fn any_word_begins_like_its_stem(word in "[a-zA-Zéïü]{1,12}(ies|ied|ying|s|ly|edly|'s)?") {
            is_found(&word);
        }
    }
}
