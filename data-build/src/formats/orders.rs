//! Executive orders and proclamations: splits them into sections and parses their names.

use std::sync::LazyLock;

use regex::Regex;

use super::dates;
use super::outline::Outline;
use crate::patterns::pattern;
use crate::record::Section;

/// An order or proclamation named as in "Executive Order 14113 of February 6, 2024".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedOrder {
    pub kind: &'static str,
    pub id: String,
    pub number: i64,
    pub signed: String,
}

/// Finds the order or proclamation that a heading of the Federal Register names.
pub fn named(heading: &str) -> Option<NamedOrder> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"\b(Executive Order|Proclamation)\s+(\d{4,6})(-[A-Z])?\s+of\s+([A-Z][a-z]+\s+\d{1,2},\s+\d{4})",
        )
    });
    let c = NAMED.captures(heading)?;
    let (kind, prefix) =
        if &c[1] == "Proclamation" { ("proclamation", "proc") } else { ("executive_order", "eo") };
    let letter = c.get(3).map_or("", |m| m.as_str());
    let id = josh::catalog::ids::canonical(
        "presidential-documents",
        &format!("{prefix}:{}{letter}", &c[2]),
    )?;
    Some(NamedOrder { kind, id, number: c[2].parse().ok()?, signed: dates::iso(&c[4])? })
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
    fn orders_are_recognized_in_headings() {
        let order = named("Title 3— The President Executive Order 14999 of February 6, 2026")
            .expect("an order");
        assert_eq!(
            (order.id.as_str(), order.kind, order.signed.as_str()),
            ("eo:14999", "executive_order", "2026-02-06")
        );
        assert_eq!(
            named("Proclamation 11000 of May 1, 2026").map(|n| n.id).as_deref(),
            Some("proc:11000")
        );
        assert_eq!(named("Memorandum of May 1, 2026"), None);
        assert_eq!(named("amending Executive Order 13000"), None);
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
