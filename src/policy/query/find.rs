//! `find`: the sections of a text in which words occur, with the sentences around them instead of
//! the whole section.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::page::ListRow;
use crate::api::{Context, Error, Result};
use crate::bundle::analyzer;

/// Places that are shown of one section, and the length of each.
const MOST_PLACES: usize = 3;
const LONGEST_PLACE: usize = 600;

/// Rows between two looks at whether anyone still waits.
const CHECKED: usize = 64;

/// Keeps the sections that have all of the words; `text` gives way to `found`.
pub(super) fn sections(
    context: &Context,
    rows: Vec<ListRow>,
    question: &str,
) -> Result<Vec<ListRow>> {
    let is_content = |word: &&str| !analyzer::is_stop_word(word);
    let content: Vec<&str> = question.split_whitespace().filter(is_content).collect();
    let wanted: HashSet<String> = analyzer::terms(&content.join(" ")).into_iter().collect();
    if wanted.is_empty() {
        return Err(Error::invalid("find", "`find` names no word to look for."));
    }
    let mut kept = Vec::new();
    for (at, row) in rows.into_iter().enumerate() {
        if at.is_multiple_of(CHECKED) {
            context.check()?;
        }
        kept.extend(section(row, &wanted)?);
    }
    Ok(kept)
}

fn section(mut row: ListRow, wanted: &HashSet<String>) -> Result<Option<ListRow>> {
    let Some(json) = &row.json else { return Ok(None) };
    let mut fields: Map<String, Value> = serde_json::from_str(json).map_err(Error::internal)?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let has = |text: &str| -> HashSet<String> {
        analyzer::terms(text).into_iter().filter(|term| wanted.contains(term)).collect()
    };
    let body = text("text").to_string();
    let mut all = has(text("heading"));
    all.extend(has(&body));
    if all.len() < wanted.len() {
        return Ok(None);
    }
    let found = places(&body, |sentence| has(sentence).len());
    // In the order of the columns: where `text` was.
    if let Some(text) = fields.get_mut("text") {
        *text = Value::Null;
    }
    fields.insert("found".into(), found.into());
    let json = Some(serde_json::to_string(&fields).map_err(Error::internal)?);
    row.json = json;
    Ok(Some(row))
}

/// The sentences with the most of the words, each with its neighbours, in the text's order.
fn places(text: &str, count: impl Fn(&str) -> usize) -> Vec<String> {
    let sentences = sentences(text);
    let mut hits: Vec<(usize, usize)> =
        sentences.iter().map(|s| count(s)).enumerate().filter(|(_, n)| *n > 0).collect();
    hits.sort_by_key(|(at, n)| (std::cmp::Reverse(*n), *at));
    hits.truncate(MOST_PLACES);
    hits.sort_unstable();
    let mut places: Vec<String> = Vec::new();
    let mut shown = 0;
    for (at, _) in hits {
        let (from, to) = (at.saturating_sub(1).max(shown), (at + 2).min(sentences.len()));
        if from >= to {
            continue;
        }
        let whole = sentences[from..to].join(" ");
        let place = if whole.len() > LONGEST_PLACE { sentences[at] } else { &whole };
        places.push(match place.len() > LONGEST_PLACE {
            true => format!("{} […]", &place[..place.floor_char_boundary(LONGEST_PLACE)]),
            false => place.to_string(),
        });
        shown = to;
    }
    places
}

/// Sentences and lines; a section number or an abbreviation may end one too early, which only makes
/// it shorter.
fn sentences(text: &str) -> Vec<&str> {
    text.split('\n')
        .flat_map(|line| line.split_inclusive(". "))
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_sentences_with_their_neighbours() {
        let text = "One is first. Two has water in it. Three follows. Four is far. Five is last.";
        let count = |sentence: &str| usize::from(sentence.contains("water"));
        assert_eq!(places(text, count), ["One is first. Two has water in it. Three follows."]);
        let long = format!("water {}", "x".repeat(5_000));
        let found = places(&long, count);
        assert!(found[0].len() < 700 && found[0].ends_with("[…]"));
        assert!(places("", count).is_empty());
    }
}
