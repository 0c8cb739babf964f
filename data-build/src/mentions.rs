//! Finds bills and public laws mentioned in text.

use std::sync::LazyLock;

use josh::catalog::ids;
use regex::Regex;

use crate::patterns::pattern;

static BILL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(H\.\s?Con\.\s?Res\.|S\.\s?Con\.\s?Res\.|H\.\s?J\.\s?Res\.|S\.\s?J\.\s?Res\.",
        r"|H\.\s?Res\.|S\.\s?Res\.|H\.\s?R\.|H\.R|HR|S\.)\s?(\d{1,5})\b",
        r"(?:\s?\(?(\d{2,3})(?:st|nd|rd|th)\s+Cong)?",
    ))
});

static LAW: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:P\.\s?L\.|Pub\.\s?L\.|Public\s+Law)\s*(?:No\.?\s*)?(\d{2,3})[-–‑](\d{1,4})\b",
    )
});

/// Distinct canonical ids of the bills mentioned in a text, in order. A bill without a stated
/// congress is assigned to `congress`, the one in session when the text was written; with `None`
/// it is left out, because its number alone is ambiguous.
pub fn bills(text: &str, congress: Option<i64>) -> Vec<String> {
    let mut found = Vec::new();
    for c in BILL.captures_iter(text) {
        let stated = c.get(3).and_then(|m| m.as_str().parse().ok());
        let Some(congress) = stated.or(congress) else { continue };
        let Some(parsed) = ids::parse(&format!("{} {}", &c[1], &c[2])) else { continue };
        if parsed.source() == "bills" {
            push_distinct(&mut found, parsed.in_congress(congress).text);
        }
    }
    found
}

/// Distinct canonical ids of the public laws mentioned in a text, in order.
pub fn laws(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for c in LAW.captures_iter(text) {
        if let Some(id) = ids::canonical("public-laws", &format!("{}-{}", &c[1], &c[2])) {
            push_distinct(&mut found, id);
        }
    }
    found
}

fn push_distinct(found: &mut Vec<String>, id: String) {
    if !found.contains(&id) {
        found.push(id);
    }
}
