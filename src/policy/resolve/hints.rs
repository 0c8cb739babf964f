//! Words around a name that are not part of it: a title, a state, a party, a chamber, a year. They
//! raise or lower a record's score and never exclude it. With which fields of a record they are
//! compared is said by its source (see `spec::HintFields`).

use serde_json::Value;

use crate::bundle::analyzer::folded_words;
use crate::catalog::spec::HintFields;
use crate::catalog::vocabulary::{PARTIES, STATES};

/// What a record gains by one hint that fits it.
pub const MOST_GAIN: f32 = 0.05;

/// What a record loses by one hint that contradicts it.
const LOSS: f32 = 0.12;

/// What the words around a name say, and the words that are left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hints {
    pub chamber: Option<&'static str>,
    pub party: Option<&'static str>,
    pub state: Option<&'static str>,
    pub year: Option<i64>,
    pub words: Vec<String>,
}

const SENATE: &[&str] = &["sen", "senator", "senate", "senators"];
const HOUSE: &[&str] = &[
    "rep",
    "representative",
    "congressman",
    "congresswoman",
    "congressperson",
    "congressmember",
    "house",
    "delegate",
    "reps",
];
const TITLES: &[&str] = &[
    "mr",
    "mrs",
    "ms",
    "miss",
    "dr",
    "hon",
    "honorable",
    "chair",
    "chairman",
    "chairwoman",
    "ranking",
    "member",
    "leader",
    "speaker",
    "president",
    "gentleman",
    "gentlewoman",
    "from",
    "the",
    "of",
    "former",
    "current",
    "us",
];
impl Hints {
    pub fn read(typed: &str) -> Hints {
        let mut hints = Hints::default();
        let words = folded_words(typed);
        // Two capital letters are a state; the same letters in lower case may be a name.
        let capitals: Vec<String> = typed
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| w.len() == 2 && w.chars().all(|c| c.is_ascii_uppercase()))
            .map(str::to_lowercase)
            .collect();
        let mut at = 0;
        while at < words.len() {
            let rest = &words[at..];
            let word = rest[0].as_str();
            if let Some((length, code)) = state(rest, &capitals) {
                hints.state.get_or_insert(code);
                at += length;
                continue;
            }
            let next_is_state = rest.len() > 1 && state(&rest[1..], &capitals).is_some();
            let party = PARTIES.iter().find(|(code, names)| {
                names.contains(&word) || (next_is_state && code.eq_ignore_ascii_case(word))
            });
            match (word, party) {
                (_, Some((code, _))) => hints.party = Some(code),
                (w, _) if SENATE.contains(&w) => hints.chamber = Some("senate"),
                (w, _) if HOUSE.contains(&w) => hints.chamber = Some("house"),
                (w, _) if TITLES.contains(&w) => {}
                (w, _)
                    if w.len() == 4
                        && (w.starts_with("19") || w.starts_with("20"))
                        && w.bytes().all(|b| b.is_ascii_digit()) =>
                {
                    hints.year = w.parse().ok();
                }
                _ => hints.words.push(word.to_string()),
            }
            at += 1;
        }
        hints
    }

    /// What a record gains or loses by the hints; `held` gives the values of its fields. A hint
    /// about which it says nothing is ignored.
    pub fn preference(&self, held: impl Fn(&str) -> Option<Value>, compared: &HintFields) -> f32 {
        let fits = |wanted: Option<&str>, field: Option<&str>| {
            let wanted = wanted?;
            Some(held(field?)?.as_str()?.eq_ignore_ascii_case(wanted))
        };
        let year = || compared.year.iter().find_map(|field| year_of(&held(field)?));
        [
            fits(self.chamber, compared.chamber),
            fits(self.party, compared.party),
            fits(self.state, compared.state),
            self.year.and_then(|wanted| Some(year()? == wanted)),
        ]
        .into_iter()
        .flatten()
        .map(|fits| if fits { MOST_GAIN } else { -LOSS })
        .sum()
    }
}

/// The year of a number or a date.
fn year_of(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.get(..4)?.parse().ok())
}

/// The state that the words begin with, and how many words it takes.
fn state(words: &[String], capitals: &[String]) -> Option<(usize, &'static str)> {
    STATES.iter().find_map(|(code, name, short)| {
        let named: Vec<&str> = name.split(' ').collect();
        if words.len() >= named.len() && words.iter().zip(&named).all(|(a, b)| a == b) {
            return Some((named.len(), *code));
        }
        let first = words[0].as_str();
        let is_code = code.eq_ignore_ascii_case(first) && capitals.iter().any(|c| c == first);
        (is_code || (!short.is_empty() && first == *short)).then_some((1, *code))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given a filing, when hints are compared with it, then those that fit raise it, those that
    /// contradict it lower it, and those about which it says nothing leave it as it is.
    #[test]
    fn hints_are_compared_with_the_fields_that_the_source_says() {
        let naming = crate::catalog::source("lda-filings").and_then(|s| s.naming.as_ref()).unwrap();
        let filing = serde_json::json!({
            "filing_year": 2024, "filed_date": "2025-01-20", "client_state": "OH",
        });
        let preference = |typed: &str| {
            Hints::read(typed).preference(|field| filing.get(field).cloned(), &naming.hints)
        };
        assert_eq!(preference("Acme 2024"), MOST_GAIN);
        assert_eq!(preference("Acme 2025"), -LOSS);
        assert_eq!(preference("Acme of Ohio"), MOST_GAIN);
        assert_eq!(preference("Senator Acme"), 0.0);
        let undated = serde_json::json!({ "filed_date": "2025-01-20" });
        let hints = Hints::read("Acme 2025");
        let held = |field: &str| undated.get(field).cloned();
        assert_eq!(hints.preference(held, &naming.hints), MOST_GAIN);
    }

    #[test]
    fn words_around_a_name_are_told_from_it() {
        let read = |typed: &str| {
            let h = Hints::read(typed);
            (h.words.join(" "), h.chamber, h.party, h.state)
        };
        assert_eq!(
            read("Sen. Markley from Mass."),
            ("markley".into(), Some("senate"), None, Some("MA"))
        );
        assert_eq!(
            read("Rep. Smith (D-WA)"),
            ("smith".into(), Some("house"), Some("D"), Some("WA"))
        );
        assert_eq!(
            read("Senator Kaine of West Virginia"),
            ("kaine".into(), Some("senate"), None, Some("WV"))
        );
        assert_eq!(read("Ma, Yo-Yo"), ("ma yo yo".into(), None, None, None));
        assert_eq!(read("Republican Cruz"), ("cruz".into(), None, Some("R"), None));
        assert_eq!(Hints::read("Pfizer 2024").year, Some(2024));
    }
}
