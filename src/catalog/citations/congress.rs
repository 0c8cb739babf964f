//! The congress of a cited bill: stated beside the number, or judged by what stands around it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::boundaries::{window_after, window_before};
use crate::catalog::ids::spelling::compile;
use crate::catalog::wording::first_year;

/// How far around a citation its sentence is looked for.
const SENTENCE_BYTES: usize = 600;

/// The same of its paragraph. A text without line breaks would otherwise be read once for each of
/// its citations.
const PARAGRAPH_BYTES: usize = 2 * 1024;

/// "118th" alone is a congress only from here on; lower ordinals are days.
const FIRST_WITHOUT_THE_WORD: i64 = 57;

/// When a text was written and what it looks at: decides the congress of a bill that states none.
#[derive(Clone, Copy, Debug)]
pub enum Setting {
    /// A document of a congress, or one about its current business: a bill is of that congress
    /// unless its sentence names another.
    During(i64),
    /// A text of that time that may look back: the congress that the paragraph names counts, and a
    /// paragraph about earlier years only leaves it open.
    LookingBack(i64),
    /// Nothing is known: only what the paragraph names counts.
    Unknown,
}

/// The congress that follows a bill's number directly, and where that ends: "(118th Congress)",
/// ", 105th Cong.", "—105th Congress", " (118th)".
pub fn stated_after(text: &str, end: usize) -> Option<(i64, usize)> {
    static AFTER: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"^\s?(?:[,–—-]\s?)?(?:[(\[]\s?)?(?:of\s+|in\s+)?(?:the\s+)?(?:",
            r"([0-9]{1,3})(?:st|nd|rd|th|d)?\s+cong(?:ress\b|\.)",
            r"|([0-9]{2,3})(?:st|nd|rd|th)\))",
        ))
    });
    let captures = AFTER.captures(window_after(text, end, 60))?;
    let number = captures.iter().skip(1).flatten().next()?.as_str().parse().ok()?;
    if captures.get(1).is_none() && number < FIRST_WITHOUT_THE_WORD {
        return None;
    }
    let stated = captures.get(0)?.as_str().trim_end_matches(')');
    is_congress(number).then_some((number, end + stated.len()))
}

/// The congress that stands directly before a bill: "119th Congress, H.R. 1", "118th H.J. Res.
/// 13". In "H.R. 2 of the 118th Congress, H.R. 1" it is that of the bill before, which ends at
/// `from`.
pub fn stated_before(text: &str, from: usize, start: usize) -> Option<i64> {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"\b([0-9]{1,3})(?:st|nd|rd|th|d)(?:\s+cong(?:ress[,:;]?|\.?[,:;])\s*[(\[]?",
            r"|(\s))$",
        ))
    });
    let before = window_before(text, start, 60.min(start.saturating_sub(from)));
    let captures = BEFORE.captures(before)?;
    let number = captures[1].parse().ok()?;
    let has_word = captures.get(2).is_none();
    (is_congress(number) && (has_word || number >= FIRST_WITHOUT_THE_WORD)).then_some(number)
}

/// Whether a citation ends with a congress that it may share with bills before it: "of the 92nd
/// Cong."
pub fn is_shared(citation: &str) -> bool {
    static SHARED: LazyLock<Regex> =
        LazyLock::new(|| compile(r"\b(?:of|in)\s+(?:the\s+)?[0-9]{1,3}[a-z]*\s+cong(?:ress|\.)$"));
    SHARED.is_match(citation)
}

/// Bills have been numbered by congress since the First; the limit leaves room for a century.
fn is_congress(number: i64) -> bool {
    (1..=170).contains(&number)
}

/// The congress of a bill that states none.
pub fn judge(text: &str, citation: &Range<usize>, setting: Setting) -> Option<i64> {
    if let Some(congress) = law_beside(text, citation) {
        return Some(congress);
    }
    let around = match setting {
        Setting::During(_) => sentence(text, citation),
        Setting::LookingBack(_) | Setting::Unknown => paragraph(text, citation),
    };
    let mut named = named(around);
    named.sort_unstable();
    named.dedup();
    match (&named[..], setting) {
        ([one], _) => Some(*one),
        ([], Setting::During(current)) => Some(current),
        ([], Setting::LookingBack(current)) => {
            (!is_about_years_before(around, first_year(current))).then_some(current)
        }
        _ => None,
    }
}

/// The congress of a public law that shares a parenthesis: "(Pub. L. 106-554; H.R. 5658)", "Public
/// Law 116-315 (H.R. 7105". One that only stands beside may be another: "Public Law 96-517, HR
/// 209".
fn law_beside(text: &str, citation: &Range<usize>) -> Option<i64> {
    const LAW: &str = concat!(
        r"(?:p\.\s?l\.|pl|pub\.\s?l\.|public\s+law)\s*(?:no\.?:?\s*)?",
        r"([0-9]{2,3})[-–‑][0-9]{1,4}",
    );
    static BEFORE: LazyLock<Regex> =
        LazyLock::new(|| compile(&format!(r"(?:\(\s?{LAW}\s?[;,]|\b{LAW}\s?\()\s?$")));
    static AFTER: LazyLock<Regex> = LazyLock::new(|| compile(&format!(r"^\s?\(\s?{LAW}")));
    let before = BEFORE.captures(window_before(text, citation.start, 40));
    let law = before.or_else(|| AFTER.captures(window_after(text, citation.end, 40)))?;
    let congress = law.iter().skip(1).flatten().next()?;
    congress.as_str().parse().ok().filter(|n| is_congress(*n))
}

/// Every congress that a text names, also by the number of a committee report.
fn named(text: &str) -> Vec<i64> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"\b(?:([0-9]{2,3})(?:st|nd|rd|th|d)\s+(?:and|or|to|through)\s+(?:the\s+)?)?",
            r"([0-9]{2,3})(?:st|nd|rd|th|d)?\s+cong(?:ress(?:es)?\b|\.)",
            r"|\b(?:rep\.|rept\.|report)\s*(?:no\.\s*)?([0-9]{2,3})[-–][0-9]{1,4}\b",
        ))
    });
    let numbers = NAMED.captures_iter(text).flat_map(|c| [c.get(1), c.get(2), c.get(3)]);
    let numbers = numbers.flatten().filter_map(|n| n.as_str().parse().ok());
    numbers.filter(|n| is_congress(*n)).collect()
}

fn is_about_years_before(text: &str, first: i64) -> bool {
    static YEAR: LazyLock<Regex> = LazyLock::new(|| compile(r"\b(?:FY\s?)?((?:19|20)[0-9]{2})\b"));
    let mut years = YEAR.captures_iter(text).filter_map(|c| c[1].parse::<i64>().ok()).peekable();
    years.peek().is_some() && years.all(|year| year < first)
}

fn paragraph<'t>(text: &'t str, citation: &Range<usize>) -> &'t str {
    let before = window_before(text, citation.start, PARAGRAPH_BYTES);
    let after = window_after(text, citation.end, PARAGRAPH_BYTES);
    let start = citation.start - before.len() + before.rfind('\n').map_or(0, |at| at + 1);
    let end = citation.end + after.find('\n').unwrap_or(after.len());
    &text[start..end]
}

/// The sentence of a citation as far as punctuation tells, within a window.
fn sentence<'t>(text: &'t str, citation: &Range<usize>) -> &'t str {
    /// Words that end with a stop inside of a citation.
    const ABBREVIATIONS: &[&str] =
        &["Rep", "Rept", "Cong", "Sess", "Stat", "Res", "Con", "Doc", "Conf", "Exec", "Sen", "Pub"];
    static END: LazyLock<Regex> =
        LazyLock::new(|| compile(r#"(?-i)([\p{L}0-9)\]”"]{3,})[.?!;]\s+[\p{Lu}“"]"#));
    let ends = |within: &'t str| {
        END.captures_iter(within)
            .filter(|c| !ABBREVIATIONS.contains(&&c[1]))
            .filter_map(|c| c.get(1).map(|word| word.end() + 1))
    };
    let before = window_before(text, citation.start, SENTENCE_BYTES);
    let after = window_after(text, citation.end, SENTENCE_BYTES);
    let start = citation.start - before.len() + ends(before).last().unwrap_or(0);
    let end = citation.end + ends(after).next().unwrap_or(after.len());
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::super::scan_for;
    use super::*;

    fn ids(text: &str, setting: Setting) -> Vec<String> {
        scan_for("bills", text).iter().filter_map(|c| c.id(text, setting)).collect()
    }

    /// Given a long text without line breaks, when a congress is judged, then not all of it is read
    /// for each citation.
    #[test]
    fn a_paragraph_has_a_largest_size() {
        let text = "S. 9, 21-2995/S and 3; ".repeat(20_000);
        let at = text.len() / 2;
        assert_eq!(paragraph(&text, &(at..at + 4)).len(), 2 * PARAGRAPH_BYTES + 4);
        assert_eq!(paragraph("a\nb S. 9 c\nd", &(4..8)), "b S. 9 c");
        assert_eq!(paragraph("S. 9", &(0..4)), "S. 9");
    }

    #[test]
    fn a_congress_beside_the_number_is_stated() {
        for text in [
            "H.R. 3684 (117th Congress) (2021)",
            "H.R. 3684, 117th Cong.",
            "H.R. 3684 - 117TH CONGRESS",
            "H.R.3684—117th Congress",
            "H.R. 3684 (117th)",
            "H.R. 3684 of the 117th Congress",
            "117th Congress, H.R. 3684",
            "(117th Congress; H.R. 3684)",
            "H.R. 3684, 117 Cong., 1 sess.",
        ] {
            assert_eq!(ids(text, Setting::Unknown), ["hr:117:3684"], "{text}");
            assert_eq!(ids(text, Setting::During(119)), ["hr:117:3684"], "{text}");
        }
    }

    #[test]
    fn a_document_of_a_congress_means_its_own_bills() {
        let during = |text: &str| ids(text, Setting::During(119));
        assert_eq!(during("A bill (S. 7) to amend the Code of 1986."), ["s:119:7"]);
        assert_eq!(during("It passed in the 118th Congress. Now H.R. 8 is up."), ["hr:119:8"]);
        assert_eq!(during("In the 118th Congress we passed H.R. 8."), ["hr:118:8"]);
        assert_eq!(during("In the 117th and the 118th Congress it was H.R. 8."), [""; 0]);
        assert_eq!(during("On January 15th H.R. 8 passed."), ["hr:119:8"]);
    }

    #[test]
    fn a_text_that_looks_back_leaves_open_what_it_does_not_tell() {
        let back = |text: &str| ids(text, Setting::LookingBack(119));
        assert_eq!(back("S. 7 is pending."), ["s:119:7"]);
        assert_eq!(back("The 2021 bill was H.R. 9."), [""; 0]);
        assert_eq!(back("The 118th Congress met. H.R. 8 passed."), ["hr:118:8"]);
        assert_eq!(back("Report to accompany S. 249, S. Rep. No. 94-75."), ["s:94:249"]);
        assert_eq!(back("the Act (Pub. L. 106-554; H.R. 5658))"), ["hr:106:5658"]);
        assert_eq!(back("Public Law 96-517, HR 209 (Act of 2000)"), [""; 0]);
        assert_eq!(back("under Public Law 116-315 (H.R.7105—Act of 2020"), ["hr:116:7105"]);
        assert_eq!(ids("S. 7 is pending.", Setting::Unknown), [""; 0]);
    }
}
