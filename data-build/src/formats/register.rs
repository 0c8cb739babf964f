//! Parses the wording of Federal Register documents: dates, dockets, CFR parts, identifiers.

use std::sync::LazyLock;

use josh::catalog::ids;
use regex::Regex;

use super::dates;
use crate::patterns::pattern;

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:January|February|March|April|May|June|July|August|September|October|November|",
        r"December)\s+\d{1,2},\s+\d{4}|\b\d{1,2}/\d{1,2}/\d{4}",
    ))
});

/// The effective date in the DATES section, if there is exactly one.
pub fn effective_date(dates_text: &str) -> Option<String> {
    static EFFECTIVE: LazyLock<Regex> = LazyLock::new(|| {
        let weekday = r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,\s+)?";
        let lead = concat!(
            r"(?i)\beffective(?:\s+date)?(?:\s+of\s+this\s+[a-z ]{1,30}?)?\s*[:—-]?\s*(?:is\s+|on\s+|",
            r"as\s+of\s+|beginning\s+|starting\s+|\d{3,4}\s+UTC,\s+)*",
        );
        pattern(&format!("{lead}{weekday}({})", DATE.as_str()))
    });
    only(EFFECTIVE.captures_iter(dates_text).filter_map(|c| dates::iso(&c[1])))
}

/// The last day for comments in the DATES section, if there is exactly one. A day before
/// publication belongs to another document.
pub fn comment_end_date(dates_text: &str, published: &str) -> Option<String> {
    static VERB: LazyLock<Regex> = LazyLock::new(|| {
        pattern(concat!(
            r"(?i)\b(?:receiv|submi|due\b|clos|end|must|postmark|accept|send|sent|provid|fil(?:e|ing)|",
            r"consider|by\b|before\b)",
        ))
    });
    let candidates = sentences(dates_text).into_iter().filter_map(|sentence| {
        let about_comments =
            sentence.to_lowercase().contains("comment") && VERB.is_match(&sentence);
        about_comments
            .then(|| only(DATE.find_iter(&sentence).filter_map(|m| dates::iso(m.as_str()))))?
    });
    only(candidates.filter(|date| date.as_str() > published))
}

/// The value, if all values are equal and there is one.
fn only(values: impl Iterator<Item = String>) -> Option<String> {
    let mut distinct: Vec<String> = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    if distinct.len() == 1 { distinct.pop() } else { None }
}

fn sentences(text: &str) -> Vec<String> {
    let text =
        text.replace("p.m.", "pm").replace("a.m.", "am").replace("U.S.", "US").replace("No.", "No");
    let mut out = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(open) = out.last_mut() else { break };
        open.push_str(word);
        open.push(' ');
        if word.ends_with(['.', ';']) {
            out.push(String::new());
        }
    }
    out
}

/// Dockets of Regulations.gov in the bracketed line below the agency: AGENCY-YEAR-NUMBER, possibly
/// with more parts. Project and amendment numbers look similar but continue ("AD-2024-00055-T").
pub fn docket_ids(text: &str) -> Vec<String> {
    static DOCKET: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"\b[A-Z]{2,}[A-Z0-9]*(?:[-_][A-Z0-9]+)*?-(?:19|20)\d{2}-(?:[A-Z]{1,6}-)?\d{4,5}\b")
    });
    let text = super::prose::plain_dashes(text);
    let mut found: Vec<String> = Vec::new();
    for m in DOCKET.find_iter(&text) {
        let mut after = text[m.end()..].chars();
        let continues =
            after.next() == Some('-') && after.next().is_some_and(|c| c.is_ascii_alphabetic());
        let docket =
            ids::canonical("regulations-dot-gov-dockets", &format!("docket:{}", m.as_str()));
        if let Some(id) = docket.filter(|id| !continues && !found.contains(id)) {
            found.push(id);
        }
    }
    found
}

/// "40 CFR Parts 52 and 81" -> "40 CFR 52", "40 CFR 81". A whole chapter has no parts.
pub fn cfr_parts(text: &str) -> Vec<String> {
    static CITED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(concat!(
            r"(?i)\b(\d{1,2})\s+CFR\s+(?:parts?\s+)?((?:\d{1,4}[a-z]?(?:\s*[,–-]\s*(?:and\s+)?|\s+and\s+|",
            r"\s+through\s+)?)+)",
        ))
    });
    static PART: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d{1,4}[a-zA-Z]?\b"));
    let mut found: Vec<String> = Vec::new();
    for c in CITED.captures_iter(text) {
        for part in PART.find_iter(&c[2]) {
            let cited = format!("{} CFR {}", &c[1], part.as_str());
            if !found.contains(&cited) {
                found.push(cited);
            }
        }
    }
    found
}

/// Regulation identifier numbers, "2120-AA64".
pub fn rins(text: &str) -> Vec<String> {
    static RIN: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\d{4}-[A-Z]{1,2}[A-Z0-9]{2,3}\b"));
    let mut found: Vec<String> = Vec::new();
    for m in RIN.find_iter(&super::prose::plain_dashes(text)) {
        if !found.iter().any(|f| f == m.as_str()) {
            found.push(m.as_str().to_string());
        }
    }
    found
}

/// Whether a rule calls itself a significant regulatory action; `None` if it says neither or both.
pub fn significant(text: &str) -> Option<bool> {
    static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(concat!(
            r#"(?i)\b(?:this|the|these)\s+(?:\w+\s+){0,4}?(?:is|are|was|were)\s+(not\s+)?(?:considered\s+|"#,
            r#"deemed\s+|determined\s+to\s+be\s+)?(?:an?\s+)?["“]?(?:economically\s+)"#,
            r#"?significant["”]?\s+(?:regulatory\s+actions?|rule)"#,
        ))
    });
    let stated: Vec<bool> = STATEMENT.captures_iter(text).map(|c| c.get(1).is_none()).collect();
    let first = *stated.first()?;
    stated.iter().all(|s| *s == first).then_some(first)
}

/// The document number in "[FR Doc. 2024-02930 Filed 2-8-24; 2:00 pm]".
pub fn document_number(text: &str) -> Option<String> {
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)FR\s+Doc\.?\s*(?:No\.?:?\s*)?([A-Z0-9]+-[A-Z0-9-]*[0-9])"));
    let text = super::prose::plain_dashes(text);
    let number = NUMBER.captures(&text).map_or(text.trim().to_string(), |c| c[1].to_string());
    ids::canonical("federal-register", &number)
}

/// First page and number of pages of "9834" or "22271-22272". Roman numerals are front matter.
pub fn pages(text: &str) -> Option<(i64, i64)> {
    let text = super::prose::plain_dashes(text).replace(',', "");
    let mut parts = text.trim().split('-');
    let first: i64 = parts.next()?.trim().parse().ok()?;
    let last = parts.next().map_or(Some(first), |p| p.trim().parse().ok())?;
    (last >= first).then_some((first, last - first + 1))
}

/// The volume by year of publication: volume 1 is 1936.
pub fn volume(published: &str) -> Option<i64> {
    published.get(..4)?.parse::<i64>().ok().map(|year| year - 1935).filter(|v| *v > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effective_date_must_be_unambiguous() {
        assert_eq!(
            effective_date("This rule is effective on May 1, 2026.").as_deref(),
            Some("2026-05-01")
        );
        assert_eq!(effective_date("Effective Date: June 3, 2026.").as_deref(), Some("2026-06-03"));
        let others = "This AD is effective May 1, 2026. An emergency AD issued on April 2, 2026, \
                      was effective earlier.";
        assert_eq!(effective_date(others).as_deref(), Some("2026-05-01"));
        assert_eq!(
            effective_date("Part A is effective May 1, 2026; part B is effective May 2, 2026."),
            None
        );
        assert_eq!(
            effective_date("The effective date of the rule published May 1, 2026 is delayed."),
            None
        );
    }

    #[test]
    fn the_comment_deadline_must_be_unambiguous() {
        let end = |text: &str| comment_end_date(text, "2026-04-01");
        assert_eq!(
            end("We must get comments by 5 p.m. Eastern Time on May 1, 2026.").as_deref(),
            Some("2026-05-01")
        );
        let reopened = concat!(
            "The comment period of the rule published on March 2, 2026, ",
            "is reopened and comments are due. Comments received by May 9, 2026 count.",
        );
        assert_eq!(end(reopened).as_deref(), Some("2026-05-09"));
        assert_eq!(end("Comments are due May 1, 2026, and reply comments June 1, 2026."), None);
        assert_eq!(end("The meeting is on May 1, 2026."), None);
    }

    #[test]
    fn docket_ids_are_told_from_similar_numbers() {
        let line = "[Docket No. FAA–2024–0224; Project Identifier AD-2024-00055-T; \
                    EPA-HQ-OAR-2023-0314-0001; FDA-2023-N-0119; ED-2016-ICCD-0016; OLP 176]";
        let expected = [
            "docket:FAA-2024-0224",
            "docket:EPA-HQ-OAR-2023-0314",
            "docket:FDA-2023-N-0119",
            "docket:ED-2016-ICCD-0016",
        ];
        assert_eq!(docket_ids(line), expected);
    }

    #[test]
    fn cfr_parts_are_listed_separately() {
        assert_eq!(
            cfr_parts("8 CFR Parts 270, 274a, and 280"),
            ["8 CFR 270", "8 CFR 274a", "8 CFR 280"]
        );
        assert_eq!(cfr_parts("34 CFR Chapter II"), [""; 0]);
        assert_eq!(cfr_parts("14 CFR 39"), ["14 CFR 39"]);
    }

    #[test]
    fn document_numbers_and_pages_are_parsed() {
        assert_eq!(rins("RIN 1601–AB16 and 0648-XE570"), ["1601-AB16", "0648-XE570"]);
        assert_eq!(
            document_number("[FR Doc. 2018–09910 Filed 5–9–18]").as_deref(),
            Some("2018-09910")
        );
        assert_eq!(document_number("[FR Doc. E9-811 Filed 1-13-09]").as_deref(), Some("E9-811"));
        assert_eq!(pages("22271-22272"), Some((22271, 2)));
        assert_eq!(pages("iii"), None);
        assert_eq!(volume("2025-01-02"), Some(90));
    }

    #[test]
    fn significance_must_be_stated() {
        assert_eq!(
            significant("This rule is not a “significant regulatory action” under E.O. 12866."),
            Some(false)
        );
        assert_eq!(
            significant("OMB says this final rule is a significant regulatory action."),
            Some(true)
        );
        assert_eq!(significant("If it is significant, OMB reviews it."), None);
    }
}
