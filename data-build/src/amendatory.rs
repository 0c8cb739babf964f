//! Detects sections of a bill that amend existing law, and which law. The text that such a section
//! strikes or inserts must not be mistaken for the law in force.

use std::sync::LazyLock;

use regex::Regex;

use crate::patterns::pattern;

/// Sources whose texts can amend law.
pub const SOURCES: [&str; 3] = ["bills", "public-laws", "amendments"];

/// Laws listed per section.
const MAX_LAWS: usize = 10;

/// How many bytes before "is amended" are searched for the name of the law.
const LOOKBACK: usize = 400;

static AMENDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:is|are|be)\s+(?:hereby\s+|further\s+)*(?:amended|repealed)\b|\bamended\s*[—:-]",
        r"|\bby\s+(?:striking|inserting|redesignating|adding\s+at\s+the\s+end)\b",
        r"|\b(?:strike|insert)\s+[“\x22‘]",
    ))
});

/// Ways to name a law, each with the template for its normalized form.
static CITATIONS: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
    [
        (
            pattern(r"(?i)\b(\d{1,2})\s*U\.?\s?S\.?\s?C\.?\s*(?:§+\s*)?(\d+[A-Za-z0-9–-]*)"),
            "$1 U.S.C. $2",
        ),
        (
            pattern(concat!(
                r"(?i)\bsections?\s+(\d+[A-Za-z0-9–-]*)(?:\([^)\s]+\))*\s+of\s+title\s+(\d{1,2}),?",
                r"\s+United\s+States\s+Code",
            )),
            "$2 U.S.C. $1",
        ),
        (
            pattern(concat!(
                r"\b(?:[Tt]he\s+)((?:[A-Z][\w’'&-]*[ ,]+(?:(?:of|and|for|the|to|in|on|with)\s+)*)",
                r"{0,12}(?:Act|Code)(?:\s+of\s+\d{4})?)\b",
            )),
            "$1",
        ),
    ]
});

/// Whether a section amends law, and the distinct laws that it names as amended.
pub fn amends(text: &str) -> (bool, Vec<String>) {
    let mut laws: Vec<String> = Vec::new();
    let mut is_amendatory = false;
    for verb in AMENDED.find_iter(text) {
        is_amendatory = true;
        let start = text.floor_char_boundary(verb.start().saturating_sub(LOOKBACK));
        let before = &text[start..verb.start()];
        // The law is named in the same sentence; the periods of "U.S.C. 12" don't end it.
        let sentence = before
            .rfind(".\n")
            .or_else(|| before.rfind("; "))
            .map_or(before, |end| &before[end + 1..]);
        for (citation, template) in CITATIONS.iter() {
            for found in citation.captures_iter(sentence) {
                let mut law = String::new();
                found.expand(template, &mut law);
                let law = law.split_whitespace().collect::<Vec<_>>().join(" ");
                if law.len() > 3
                    && law != "Act"
                    && law != "Code"
                    && !laws.contains(&law)
                    && laws.len() < MAX_LAWS
                {
                    laws.push(law);
                }
            }
        }
    }
    (is_amendatory, laws)
}

#[cfg(test)]
mod tests {
    use super::amends;

    #[test]
    fn the_amended_law_is_the_one_named_before_the_verb() {
        let text = "Section 6(o) of the Food and Nutrition Act of 2008 (7 U.S.C. 2015(o)) is \
                    amended by striking “50” and inserting “65”.";
        assert_eq!(
            amends(text),
            (true, vec!["7 U.S.C. 2015".into(), "Food and Nutrition Act of 2008".into()])
        );
        let text = "Section 1382(b) of title 41, United States Code, is amended—\n\
                    (1) in paragraph (1), by striking “and”";
        assert_eq!(amends(text), (true, vec!["41 U.S.C. 1382".into()]));
        let text = "Part VII of subchapter B of chapter 1 of the Internal Revenue Code of 1986 is \
                    amended by redesignating section 224 as section 225";
        assert_eq!(amends(text), (true, vec!["Internal Revenue Code of 1986".into()]));
        assert_eq!(amends("Section 101 is repealed."), (true, vec![]));
    }

    #[test]
    fn a_section_without_an_amending_verb_amends_nothing() {
        for text in [
            "",
            "This Act may be cited as the Clean Water Act.",
            "The Secretary shall report under section 5 of title 5, United States Code.",
            "The Committee on Armed Services shall meet.",
        ] {
            assert_eq!(amends(text), (false, vec![]), "{text}");
        }
    }
}
