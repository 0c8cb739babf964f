//! Splits sections of regulations at their first-level paragraphs: (a), (b), … (z), (aa).

use std::sync::LazyLock;

use regex::Regex;

use crate::patterns::pattern;
use crate::record::Section;

/// Groups the paragraphs of a section by (a), (b) …. Text before them stays with the section.
pub fn sections(number: &str, heading: &str, paragraphs: &[String]) -> Vec<Section> {
    let whole =
        |text: String| Section { section: number.into(), heading: heading.into(), level: 1, text };
    let starts = first_level(paragraphs);
    if starts.len() < 2 {
        return vec![whole(paragraphs.join("\n\n"))];
    }
    let mut out = Vec::new();
    let before = paragraphs[..starts[0].0].join("\n\n");
    if !before.is_empty() {
        out.push(whole(before));
    }
    for (i, (start, letter)) in starts.iter().enumerate() {
        let end = starts.get(i + 1).map_or(paragraphs.len(), |next| next.0);
        out.push(Section {
            section: format!("{number}({letter})"),
            heading: format!("{heading} > ({letter})"),
            level: 2,
            text: paragraphs[*start..end].join("\n\n"),
        });
    }
    out
}

/// Index and letter of the paragraphs that start a first-level division, in alphabetical order.
fn first_level(paragraphs: &[String]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut expected = "a".to_string();
    let mut previous = String::new();
    for (i, paragraph) in paragraphs.iter().enumerate() {
        let marks = designators(paragraph);
        let Some(first) = marks.first() else { continue };
        if *first == expected && !is_numeral_after(first, &previous) {
            found.push((i, expected.clone()));
            expected = next(&expected);
        }
        previous = marks.last().cloned().unwrap_or_default();
    }
    found
}

/// (i) after (1), (v) after (iv) and (x) after (ix) are Roman numerals of a deeper level.
fn is_numeral_after(letter: &str, previous: &str) -> bool {
    match letter {
        "i" => previous.bytes().all(|b| b.is_ascii_digit()) && !previous.is_empty(),
        "v" => previous == "iv",
        "x" => previous == "ix",
        _ => false,
    }
}

fn next(letter: &str) -> String {
    let last = letter.bytes().next().unwrap_or(b'z');
    if last == b'z' {
        "a".repeat(letter.len() + 1)
    } else {
        ((last + 1) as char).to_string().repeat(letter.len())
    }
}

/// The designators at the start of a paragraph: "(a)(1) Text" -> a, 1.
fn designators(paragraph: &str) -> Vec<String> {
    static MARK: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*\(([A-Za-z]{1,5}|\d{1,3})\)"));
    let mut rest = paragraph;
    let mut out = Vec::new();
    while let Some(c) = MARK.captures(rest) {
        out.push(c[1].to_string());
        rest = &rest[c[0].len()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(paragraphs: &[&str]) -> Vec<String> {
        let paragraphs: Vec<String> = paragraphs.iter().map(|p| p.to_string()).collect();
        sections("1.1", "§ 1.1 X", &paragraphs).into_iter().map(|s| s.section).collect()
    }

    #[test]
    fn roman_numerals_are_not_first_level_letters() {
        let text = [
            "Intro",
            "(a) A",
            "(b) B",
            "(c) C",
            "(d) D",
            "(e) E",
            "(f) F",
            "(g) G",
            "(h)(1) H",
            "(i) roman",
            "(ii) roman",
            "(i) letter",
        ];
        let expected = [
            "1.1", "1.1(a)", "1.1(b)", "1.1(c)", "1.1(d)", "1.1(e)", "1.1(f)", "1.1(g)", "1.1(h)",
            "1.1(i)",
        ];
        assert_eq!(labels(&text), expected);
    }

    #[test]
    fn a_single_paragraph_is_not_split() {
        assert_eq!(labels(&["(a) Only one."]), ["1.1"]);
        assert_eq!(next("z"), "aa");
        assert_eq!(next("aa"), "bb");
    }
}
