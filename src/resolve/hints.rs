//! Words around a name that are not part of it: a title, a state, a party, a chamber, a year. They prefer records, they do not exclude any.

use serde_json::Value;

use crate::bundle::analyzer::folded_words;
use crate::catalog::Fields;

/// What a record gains by one hint that fits it.
pub const MOST_GAIN: f32 = 0.05;

/// What the words around a name say, and the words that are left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hints {
    pub chamber: Option<&'static str>,
    pub party: Option<&'static str>,
    pub state: Option<&'static str>,
    pub year: Option<i64>,
    pub words: Vec<String>,
}

/// (code, name, how it is abbreviated in print)
const STATES: &[(&str, &str, &str)] = &[
    ("AL", "alabama", "ala"),
    ("AK", "alaska", ""),
    ("AZ", "arizona", "ariz"),
    ("AR", "arkansas", "ark"),
    ("CA", "california", "calif"),
    ("CO", "colorado", "colo"),
    ("CT", "connecticut", "conn"),
    ("DE", "delaware", "del"),
    ("FL", "florida", "fla"),
    ("GA", "georgia", ""),
    ("HI", "hawaii", ""),
    ("ID", "idaho", ""),
    ("IL", "illinois", "ill"),
    ("IN", "indiana", "ind"),
    ("IA", "iowa", ""),
    ("KS", "kansas", "kans"),
    ("KY", "kentucky", "ky"),
    ("LA", "louisiana", ""),
    ("ME", "maine", ""),
    ("MD", "maryland", "md"),
    ("MA", "massachusetts", "mass"),
    ("MI", "michigan", "mich"),
    ("MN", "minnesota", "minn"),
    ("MS", "mississippi", "miss"),
    ("MO", "missouri", "mo"),
    ("MT", "montana", "mont"),
    ("NE", "nebraska", "neb"),
    ("NV", "nevada", "nev"),
    ("NH", "new hampshire", "nh"),
    ("NJ", "new jersey", "nj"),
    ("NM", "new mexico", "nm"),
    ("NY", "new york", "ny"),
    ("NC", "north carolina", "nc"),
    ("ND", "north dakota", "nd"),
    ("OH", "ohio", ""),
    ("OK", "oklahoma", "okla"),
    ("OR", "oregon", "ore"),
    ("PA", "pennsylvania", "penn"),
    ("RI", "rhode island", "ri"),
    ("SC", "south carolina", "sc"),
    ("SD", "south dakota", "sd"),
    ("TN", "tennessee", "tenn"),
    ("TX", "texas", "tex"),
    ("UT", "utah", ""),
    ("VT", "vermont", "vt"),
    ("VA", "virginia", ""),
    ("WA", "washington", "wash"),
    ("WV", "west virginia", "wva"),
    ("WI", "wisconsin", "wis"),
    ("WY", "wyoming", "wyo"),
    ("DC", "district of columbia", "dc"),
    ("PR", "puerto rico", ""),
    ("GU", "guam", ""),
    ("VI", "virgin islands", ""),
    ("AS", "american samoa", ""),
    ("MP", "northern mariana islands", ""),
];

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
const PARTIES: &[(&str, &[&str])] = &[
    ("D", &["democrat", "democratic", "dem", "democrats"]),
    ("R", &["republican", "gop", "republicans"]),
    ("I", &["independent"]),
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
            let party = PARTIES
                .iter()
                .find(|(code, names)| names.contains(&word) || (next_is_state && code.eq_ignore_ascii_case(word)));
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

    /// What a record gains or loses by them.
    pub fn preference(&self, record: &Fields) -> f32 {
        let text =
            |names: &[&str]| names.iter().find_map(|n| record.get(*n).and_then(Value::as_str)).map(str::to_string);
        let year = || {
            text(&["date", "filed_date", "received_date", "opened_date", "last_term_end"])
                .and_then(|d| d.get(..4)?.parse::<i64>().ok())
        };
        let given = [
            self.chamber.map(|c| (c.to_string(), text(&["chamber"]))),
            self.party.map(|p| (p.to_string(), text(&["party"]))),
            self.state.map(|s| (s.to_string(), text(&["state", "client_state"]))),
            self.year.map(|y| {
                (y.to_string(), record.get("filing_year").and_then(Value::as_i64).or_else(year).map(|y| y.to_string()))
            }),
        ];
        given
            .into_iter()
            .flatten()
            .map(|(wanted, has)| match has {
                Some(has) if has.eq_ignore_ascii_case(&wanted) => MOST_GAIN,
                Some(_) => -0.12,
                None => 0.0,
            })
            .sum()
    }
}

/// A state at the head of the words, and how many words it takes.
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

    #[test]
    fn what_stands_around_a_name_is_told_from_it() {
        let read = |typed: &str| {
            let h = Hints::read(typed);
            (h.words.join(" "), h.chamber, h.party, h.state)
        };
        assert_eq!(read("Sen. Markley from Mass."), ("markley".into(), Some("senate"), None, Some("MA")));
        assert_eq!(read("Rep. Smith (D-WA)"), ("smith".into(), Some("house"), Some("D"), Some("WA")));
        assert_eq!(read("Senator Kaine of West Virginia"), ("kaine".into(), Some("senate"), None, Some("WV")));
        assert_eq!(read("Ma, Yo-Yo"), ("ma yo yo".into(), None, None, None));
        assert_eq!(read("Republican Cruz"), ("cruz".into(), None, Some("R"), None));
        assert_eq!(Hints::read("Pfizer 2024").year, Some(2024));
    }
}
