//! Which sections of a bill change law that stands elsewhere, and which law. A reader who takes what such a section strikes or inserts
//! for the law as it is would be wrong.

use std::sync::LazyLock;

use regex::Regex;

/// Sources whose texts can amend.
pub const SOURCES: [&str; 3] = ["bills", "public-laws", "amendments"];

/// Laws that are listed for one section.
const MOST: usize = 10;

/// How far before "is amended" the amended law is named.
const REACH: usize = 400;

fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|e| unreachable!("the patterns are constants: {e}"))
}

static AMENDED: LazyLock<Regex> = LazyLock::new(|| {
    constant(
        r"(?i)\b(?:is|are|be)\s+(?:hereby\s+|further\s+)*(?:amended|repealed)\b|\bamended\s*[—:-]|\bby\s+(?:striking|inserting|redesignating|adding\s+at\s+the\s+end)\b|\b(?:strike|insert)\s+[“\x22‘]",
    )
});

/// The forms in which a law is named, and how each is written here.
static NAMED: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
    [
        (constant(r"(?i)\b(\d{1,2})\s*U\.?\s?S\.?\s?C\.?\s*(?:§+\s*)?(\d+[A-Za-z0-9–-]*)"), "$1 U.S.C. $2"),
        (
            constant(
                r"(?i)\bsections?\s+(\d+[A-Za-z0-9–-]*)(?:\([^)\s]+\))*\s+of\s+title\s+(\d{1,2}),?\s+United\s+States\s+Code",
            ),
            "$2 U.S.C. $1",
        ),
        (
            constant(
                r"\b(?:[Tt]he\s+)((?:[A-Z][\w’'&-]*[ ,]+(?:(?:of|and|for|the|to|in|on|with)\s+)*){0,12}(?:Act|Code)(?:\s+of\s+\d{4})?)\b",
            ),
            "$1",
        ),
    ]
});

/// Whether a section amends, and the laws that it says it amends, as they are named there, each once.
pub fn amends(text: &str) -> (bool, Vec<String>) {
    let mut laws: Vec<String> = Vec::new();
    let mut is_amendatory = false;
    for place in AMENDED.find_iter(text) {
        is_amendatory = true;
        let start = text.floor_char_boundary(place.start().saturating_sub(REACH));
        let before = &text[start..place.start()];
        // The law is named in the same sentence; "U.S.C. 12" ends none.
        let sentence = before.rfind(".\n").or_else(|| before.rfind("; ")).map_or(before, |end| &before[end + 1..]);
        for (form, written) in NAMED.iter() {
            for found in form.captures_iter(sentence) {
                let mut law = String::new();
                found.expand(written, &mut law);
                let law = law.split_whitespace().collect::<Vec<_>>().join(" ");
                if law.len() > 3 && law != "Act" && law != "Code" && !laws.contains(&law) && laws.len() < MOST {
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
        let text = "Section 6(o) of the Food and Nutrition Act of 2008 (7 U.S.C. 2015(o)) is amended by striking “50” and inserting “65”.";
        assert_eq!(amends(text), (true, vec!["7 U.S.C. 2015".into(), "Food and Nutrition Act of 2008".into()]));
        let text =
            "Section 1382(b) of title 41, United States Code, is amended—\n(1) in paragraph (1), by striking “and”";
        assert_eq!(amends(text), (true, vec!["41 U.S.C. 1382".into()]));
        let text = "Part VII of subchapter B of chapter 1 of the Internal Revenue Code of 1986 is amended by redesignating section 224 as section 225";
        assert_eq!(amends(text), (true, vec!["Internal Revenue Code of 1986".into()]));
        assert_eq!(amends("Section 101 is repealed."), (true, vec![]));
    }

    #[test]
    fn a_section_that_stands_alone_amends_nothing() {
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
