//! Words that people use for the values of fields: states, parties, chambers, quarters. Must not
//! name a source: a word counts only where the field has the value that it stands for.

/// (code, name, how it is abbreviated in print)
pub const STATES: &[(&str, &str, &str)] = &[
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

/// (code, what people call its members)
pub const PARTIES: &[(&str, &[&str])] = &[
    ("D", &["democrat", "democratic", "dem", "democrats"]),
    ("R", &["republican", "gop", "republicans"]),
    ("I", &["independent"]),
];

/// (value as bundles have it, what people write for it), beyond differences of case, spacing and
/// punctuation.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("house", &["house of representatives", "us house", "representatives", "lower chamber"]),
    ("senate", &["us senate", "upper chamber"]),
    ("yea", &["yes", "aye", "ayes", "yeas", "for", "in favor"]),
    ("nay", &["no", "noes", "nays", "against"]),
    ("not_voting", &["absent", "did not vote", "missed"]),
    ("rule", &["final rule", "final rules", "rules"]),
    ("proposed_rule", &["proposed rules", "nprm", "proposal"]),
    ("notice", &["notices"]),
    ("executive_order", &["eo", "executive orders"]),
    ("proclamation", &["proclamations"]),
    ("memorandum", &["memo", "memoranda", "presidential memorandum"]),
    ("first_quarter", &["q1", "1st quarter", "1"]),
    ("second_quarter", &["q2", "2nd quarter", "2"]),
    ("third_quarter", &["q3", "3rd quarter", "3"]),
    ("fourth_quarter", &["q4", "4th quarter", "4"]),
    ("enacted", &["law", "became law", "signed", "signed into law"]),
    ("vetoed", &["veto"]),
    ("would_veto", &["veto", "veto threat", "threatens veto"]),
    ("opposes", &["oppose", "opposed", "against"]),
    ("supports", &["support", "supported", "for"]),
    ("confirmed", &["approved"]),
    ("hr", &["house bill"]),
    ("s", &["senate bill"]),
    ("F", &["female", "woman", "women"]),
    ("M", &["male", "man", "men"]),
];

/// The letters and digits of a text in lower case: "Proposed Rule" and `proposed_rule` are one.
pub fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Which of these values is meant: as it is written, whatever its case and spacing, or by a word
/// that people use for it.
pub fn meant<'v>(values: impl Iterator<Item = &'v str> + Clone, given: &str) -> Option<&'v str> {
    let lower = given.to_lowercase();
    if let Some(value) = values.clone().find(|value| value.to_lowercase() == lower) {
        return Some(value);
    }
    let folded_given = folded(given);
    if folded_given.is_empty() {
        return None;
    }
    if let Some(value) = values.clone().find(|value| folded(value) == folded_given) {
        return Some(value);
    }
    let stands_for = |value: &str| {
        let is_word = |words: &[&str]| words.iter().any(|word| folded(word) == folded_given);
        let is_value = |canonical: &str| canonical.eq_ignore_ascii_case(value);
        let mut tables = SYNONYMS.iter().chain(PARTIES);
        tables.any(|(canonical, words)| is_value(canonical) && is_word(words))
            || state(given).is_some_and(is_value)
    };
    values.clone().find(|value| stands_for(value))
}

/// The two letters of a state given by name.
pub fn state(given: &str) -> Option<&'static str> {
    let given = folded(given);
    let is_meant = |(_, name, short): &&(&str, &str, &str)| {
        folded(name) == given || (!short.is_empty() && folded(short) == given)
    };
    STATES.iter().find(is_meant).map(|(code, _, _)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_however_they_are_written() {
        let types = ["notice", "proposed_rule", "rule"];
        let meant =
            |values: &[&'static str], given: &str| super::meant(values.iter().copied(), given);
        for (given, value) in [
            ("Rule", Some("rule")),
            ("final rule", Some("rule")),
            ("Proposed Rule", Some("proposed_rule")),
            ("proposed-rule", Some("proposed_rule")),
            ("executive order", None),
            ("--", None),
        ] {
            assert_eq!(meant(&types, given), value, "{given}");
        }
        assert_eq!(meant(&["D", "R"], "Republican"), Some("R"));
        assert_eq!(meant(&["first_quarter", "second_quarter"], "Q2"), Some("second_quarter"));
        assert_eq!(meant(&["MA", "ME"], "Massachusetts"), Some("MA"));
        assert_eq!(meant(&["yea", "nay"], "no"), Some("nay"));
        // A word counts only where the field has the value it stands for.
        assert_eq!(meant(&["supports", "opposes"], "no"), None);
        assert_eq!(state("W.Va."), Some("WV"));
    }
}
