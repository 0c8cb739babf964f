//! Public laws in text: "Pub. L. 119-21", "Public Laws 111-148 and 111-152".

use std::sync::LazyLock;

use regex::Regex;

use super::Citation;
use super::boundaries::{begins, number_ends, window_after};
use crate::catalog::ids::spelling::compile;

/// Laws are numbered by congress since the 57th. Below are the legislatures of territories, whose
/// laws look alike: "Guam Public Law 32-68".
const FIRST_CONGRESS: u32 = 57;
const LAST_CONGRESS: u32 = 170;

static LAW: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?-i)(?:P\.\s?L\.|PL|Pub\.?\s?L\.|PUB\.\s?L\.|(?:Public|PUBLIC|public)\s+(?i:laws?))",
        r"[\s,]*(?:(?i:nos?)\b[.:]?\s*)?",
        r"(?P<congress>[0-9]{2,3})\s?[-–—‑]\s?(?P<n>[0-9]{1,4})",
    ))
});

static NEXT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^\s?(?:,\s*(?:and\s+|or\s+)?|and\s+|or\s+|&\s*)(?P<congress>[0-9]{2,3})[-–‑](?P<n>[0-9]{1,4})",
    )
});

pub fn find(text: &str) -> Vec<Citation> {
    let mut found = Vec::new();
    for captures in LAW.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        if !begins(text, whole.start()) {
            continue;
        }
        let mut end = whole.end();
        let mut start = whole.start();
        let mut captures = captures;
        while let Some(law) = read(text, start..end, &captures) {
            found.push(law);
            let Some(next) = NEXT.captures(window_after(text, end, 40)) else { break };
            let (Some(all), Some(congress)) = (next.get(0), next.name("congress")) else { break };
            start = end + congress.start();
            end += all.end();
            captures = next;
        }
    }
    found
}

fn read(text: &str, range: std::ops::Range<usize>, captures: &regex::Captures) -> Option<Citation> {
    let number = |name: &str| captures.name(name)?.as_str().parse::<u32>().ok();
    let (congress, n) = (number("congress")?, number("n")?);
    let is_law =
        (FIRST_CONGRESS..=LAST_CONGRESS).contains(&congress) && number_ends(text, range.end);
    Citation::of(range, "public-laws", &format!("pl:{congress}:{n}")).filter(|_| is_law)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_are_found_in_every_spelling() {
        let found = |text: &str| -> Vec<String> {
            find(text).into_iter().map(|c| c.cited.in_congress(0).text).collect()
        };
        for text in [
            "P.L. 119-21",
            "P. L. 119–21",
            "Pub. L. No. 119-21",
            "Pub.L. 119-21",
            "Public Law No: 119-21.",
            "PUBLIC LAW 119-21",
            "PL 119-21",
            "Public\nLaw 119-\n21",
        ] {
            assert_eq!(found(text), ["pl:119:21"], "{text}");
        }
        assert_eq!(found("Public Laws 111-148 and 111-152"), ["pl:111:148", "pl:111:152"]);
        for text in ["Guam Public Law 32-68", "P.L. 480", "NPL 119-21", "P.L. 119-21-4"] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
