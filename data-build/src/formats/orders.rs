//! Presidential documents: splits them into sections and parses the names under which the Federal
//! Register prints them.

use std::sync::LazyLock;

use josh::catalog::ids;
use regex::Regex;

use super::dates;
use super::outline::Outline;
use crate::patterns::pattern;
use crate::record::Section;

const SOURCE: &str = "presidential-documents";

/// A presidential document named as in "Executive Order 14113 of February 6, 2024" or "Memorandum
/// of January 3, 2025".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDocument {
    pub kind: &'static str,
    pub id: String,
    /// Orders and proclamations have one.
    pub number: Option<i64>,
    pub signed: String,
}

const DATE: &str = r"\s+of\s+([A-Z][a-z]+\s+\d{1,2},\s+\d{4})";

/// Finds the presidential document that a heading of the Federal Register names, printed under this
/// document number. One without a number of its own is known by the day and by the serial number of
/// the Federal Register's document, which no other of that day has.
pub fn named(heading: &str, document: &str) -> Option<NamedDocument> {
    // A correction prints the heading of what it corrects.
    if document.starts_with('C') {
        return None;
    }
    numbered(heading).or_else(|| unnumbered(heading, document))
}

fn numbered(heading: &str) -> Option<NamedDocument> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(&format!(r"\b(Executive Order|Proclamation)\s+(\d{{4,6}})(-[A-Z])?{DATE}"))
    });
    let c = NAMED.captures(heading)?;
    let (kind, prefix) =
        if &c[1] == "Proclamation" { ("proclamation", "proc") } else { ("executive_order", "eo") };
    let letter = c.get(3).map_or("", |m| m.as_str());
    let id = ids::canonical(SOURCE, &format!("{prefix}:{}{letter}", &c[2]))?;
    Some(NamedDocument { kind, id, number: c[2].parse().ok(), signed: dates::iso(&c[4])? })
}

fn unnumbered(heading: &str, document: &str) -> Option<NamedDocument> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        let kinds =
            r"(Memorandum|Notice|Order|Presidential\s+Determination)(?:\s+No\.?\s*[\d–-]+)?";
        pattern(&format!(r"\b{kinds}{DATE}(\s*[—–-])?"))
    });
    // "Notice of July 25, 2025—Continuation" is an entry in the contents of a part of the issue.
    let c = NAMED.captures_iter(heading).find(|c| c.get(3).is_none())?;
    let kind = match &c[1] {
        "Memorandum" => "memorandum",
        "Notice" => "notice",
        "Order" => "order",
        _ => "determination",
    };
    let signed = dates::iso(&c[2])?;
    let serial = document.rsplit('-').next()?;
    let id = ids::canonical(SOURCE, &format!("pmemo:{signed}:{serial}"))?;
    Some(NamedDocument { kind, id, number: None, signed })
}

/// Splits paragraphs at "Section 1. Purpose." or "Sec. 2."; text before the first is a section of
/// its own.
pub fn sections<'a>(paragraphs: impl Iterator<Item = &'a str>) -> Vec<Section> {
    static START: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^\W{0,3}(?:Section|SECTION|Sec\.|SEC\.)\s+(\d{1,3}[A-Za-z]?)\s*\.\W*(?:([A-Z][^.]{1,150})\.)?",
        )
    });
    let mut outline = Outline::default();
    for paragraph in paragraphs {
        if let Some(c) = START.captures(paragraph) {
            let title = c
                .get(2)
                .map(|m| m.as_str().trim())
                .filter(|t| is_title(t))
                .map_or(String::new(), |t| format!(" {t}."));
            outline.heading(1, &c[1], &format!("Sec. {}.{title}", &c[1]));
        }
        outline.paragraph(paragraph);
    }
    outline.finish()
}

/// Whether all longer words are capitalized. A section without a title starts with a sentence.
fn is_title(text: &str) -> bool {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 4).collect();
    text.len() <= 120 && words.iter().all(|w| !w.starts_with(char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_recognized_in_headings() {
        let known = |heading: &str| {
            named(heading, "2026-00663").map(|n| (n.id, n.kind, n.number, n.signed))
        };
        let expected = |id: &str, kind, number, signed: &str| {
            Some((id.to_string(), kind, number, signed.to_string()))
        };
        assert_eq!(
            known("Title 3— The President Executive Order 14999 of February 6, 2026"),
            expected("eo:14999", "executive_order", Some(14999), "2026-02-06")
        );
        assert_eq!(
            known("Proclamation 11000 of May 1, 2026"),
            expected("proc:11000", "proclamation", Some(11000), "2026-05-01")
        );
        assert_eq!(
            known("Memorandum of May 1, 2026"),
            expected("pmemo:2026-05-01:663", "memorandum", None, "2026-05-01")
        );
        assert_eq!(
            known("Presidential Determination No. 2026–05 of May 1, 2026"),
            expected("pmemo:2026-05-01:663", "determination", None, "2026-05-01")
        );
        assert_eq!(
            known("Notice of May 2, 2026—Boats; Title 3— The President; Order of May 1, 2026"),
            expected("pmemo:2026-05-01:663", "order", None, "2026-05-01")
        );
        assert_eq!(known("amending Executive Order 13000"), None);
        assert_eq!(named("Executive Order 14999 of February 6, 2026", "C1-2026-00663"), None);
    }

    #[test]
    fn orders_are_split_at_numbered_sections() {
        let text = [
            "By the authority:",
            "Section 1. Purpose. To do it.",
            "(a) First.",
            "Sec. 2. (a) Then.",
            "Sec. 3. Offices shall be closed. So.",
        ];
        let shown: Vec<_> =
            sections(text.into_iter()).into_iter().map(|s| (s.section, s.heading)).collect();
        let expected = [("", ""), ("1", "Sec. 1. Purpose."), ("2", "Sec. 2."), ("3", "Sec. 3.")];
        assert_eq!(shown, expected.map(|(a, b)| (a.to_string(), b.to_string())));
    }
}
