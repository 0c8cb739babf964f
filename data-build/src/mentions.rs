//! Bills and laws named in running text.

use std::sync::LazyLock;

use josh::catalog::ids;
use regex::Regex;

fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|e| unreachable!("the patterns are constants: {e}"))
}

static BILL: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"\b(H\.\s?Con\.\s?Res\.|S\.\s?Con\.\s?Res\.|H\.\s?J\.\s?Res\.|S\.\s?J\.\s?Res\.|H\.\s?Res\.|S\.\s?Res\.|H\.\s?R\.|H\.R|HR|S\.)\s?(\d{1,5})\b(?:\s?\(?(\d{2,3})(?:st|nd|rd|th)\s+Cong)?",
    )
});

static LAW: LazyLock<Regex> = LazyLock::new(|| {
    constant(r"(?i)\b(?:P\.\s?L\.|Pub\.\s?L\.|Public\s+Law)\s*(?:No\.?\s*)?(\d{2,3})[-–‑](\d{1,4})\b")
});

/// Canonical ids of the bills named in a text, in order, each once. A bill named with no congress is taken to be of
/// `congress`, the one that sat when the text was written; with `None` it is left out, since a number alone can be wrong.
pub fn bills(text: &str, congress: Option<i64>) -> Vec<String> {
    let mut found = Vec::new();
    for c in BILL.captures_iter(text) {
        let said = c.get(3).and_then(|m| m.as_str().parse().ok());
        let Some(congress) = said.or(congress) else { continue };
        let Some(parsed) = ids::parse(&format!("{} {}", &c[1], &c[2])) else { continue };
        if parsed.source() == "bills" {
            push_new(&mut found, parsed.in_congress(congress).text);
        }
    }
    found
}

/// Canonical ids of the public laws named in a text, in order, each once.
pub fn laws(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for c in LAW.captures_iter(text) {
        if let Some(id) = ids::canonical("public-laws", &format!("{}-{}", &c[1], &c[2])) {
            push_new(&mut found, id);
        }
    }
    found
}

fn push_new(found: &mut Vec<String>, id: String) {
    if !found.contains(&id) {
        found.push(id);
    }
}
