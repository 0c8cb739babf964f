//! Committee reports, executive orders and proclamations, CFR sections, documents of the Federal
//! Register and CRS reports in text.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::Citation;
use super::boundaries::{begins, joins, number_ends, window_after, window_before, word_before};
use super::congress::stated_after;
use crate::catalog::ids::spelling::compile;

/// The ranges and ids that a pattern finds where a citation may begin.
fn matches<'t>(pattern: &'static Regex, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
    pattern.captures_iter(text).filter(|c| c.get(0).is_some_and(|m| begins(text, m.start())))
}

fn group<'t>(captures: &Captures<'t>, name: &str) -> &'t str {
    captures.name(name).map_or("", |m| m.as_str())
}

/// "H. Rept. 119-106", "S. Rep. No. 94-75", "House Report 118-553", "S. Rep. No. 75, 94th Cong."
pub fn committee_reports(text: &str) -> Vec<Citation> {
    static REPORT: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"(?:(?:(?P<house>house|(?-i:H)\.?(?:\s?(?-i:R)\.?)?)|(?P<senate>senate|(?-i:S)\.?))\s*)?",
            r"(?:(?P<executive>exec(?:utive|\.)|ex\.)\s*)?(?:conf(?:erence|\.)\s*)?",
            r"(?:report|(?-i:Rept?|Rpt|REPT)\.?)\s*(?:no\.?\s*)?",
            r"(?P<first>[0-9]{1,4})(?:\s?[-–‑]\s?(?P<second>[0-9]{1,5}))?",
        ))
    });
    matches(&REPORT, text)
        .filter_map(|c| {
            let whole = c.get(0)?;
            let kind = match (c.name("house"), c.name("senate"), c.name("executive")) {
                (None, _, Some(_)) => "erpt",
                (Some(_), _, None) => "hrpt",
                (_, Some(_), None) => "srpt",
                _ => return None,
            };
            let (range, congress, number) = match c.name("second") {
                Some(n) => (whole.range(), group(&c, "first").to_string(), n.as_str()),
                // The form before reports were numbered with their congress.
                None => {
                    let (congress, end) = stated_after(text, whole.end())?;
                    (whole.start()..end, congress.to_string(), group(&c, "first"))
                }
            };
            let is_whole = c.name("second").is_none() || number_ends(text, range.end);
            let id = format!("{kind}:{congress}:{number}");
            Citation::of(range, "committee-reports", &id).filter(|_| is_whole)
        })
        .collect()
}

/// "Executive Order 14110", "E.O. 14110", "Proclamation No. 10701", "Executive Orders 12866 and
/// 13563". Orders of governors have a year or fewer digits.
pub fn orders(text: &str) -> Vec<Citation> {
    static ORDER: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"(?:(?P<order>exec(?:utive|\.)\s+orders?|(?-i:E\.\s?O\.|EOs?))|proclamations?)",
            r"\s*(?:(?:nos?|numbers?)\b\.?\s*)?(?P<n>[0-9]{4,5})",
        ))
    });
    static NEXT: LazyLock<Regex> = LazyLock::new(|| {
        compile(r"^(?:\s?,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+|\s*&\s*)(?P<n>[0-9]{5})")
    });
    let mut found = Vec::new();
    for captures in matches(&ORDER, text) {
        let Some(whole) = captures.get(0) else { continue };
        let prefix = if captures.name("order").is_some() { "eo" } else { "proc" };
        let by_governor = word_before(text, whole.start()).is_some_and(|(word, _)| {
            let word = word.trim_end_matches("'s").trim_end_matches("’s");
            matches!(word, "Governor" | "governor" | "Gubernatorial" | "gubernatorial")
        });
        if by_governor {
            continue;
        }
        let (mut range, mut n) = (whole.range(), group(&captures, "n"));
        while number_ends(text, range.end) {
            found.extend(Citation::of(
                range.clone(),
                "presidential-documents",
                &format!("{prefix}:{n}"),
            ));
            let after = window_after(text, range.end, 40);
            let Some(next) = NEXT.captures(after).and_then(|c| c.name("n")) else { break };
            range = range.end + next.start()..range.end + next.end();
            n = next.as_str();
        }
    }
    found
}

/// "40 CFR 122.26(b)", "12 C.F.R. §§ 1026.35, 1026.36". A part alone is no record.
pub fn cfr_sections(text: &str) -> Vec<Citation> {
    static SECTION: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"(?P<title>[0-9]{1,2})\s?(?:(?-i:CFR)|(?-i:C)\.\s?(?-i:F)\.\s?(?-i:R)\.)\s*",
            r"(?P<several>§\s?§|sections|secs\.)?(?:(?:§|section|sec\.)\s*)?\s*",
            r"(?P<section>[0-9]{1,5}[a-z]{0,2}\.[0-9a-z](?:[0-9a-z.()-]{0,38}[0-9a-z)])?)",
        ))
    });
    static NEXT: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"^(?:\s?,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+|\s+through\s+)(?:§\s*)?",
            r"(?P<section>[0-9]{1,5}[a-z]{0,2}\.[0-9a-z](?:[0-9a-z.()-]{0,38}[0-9a-z)])?)",
        ))
    });
    let mut found = Vec::new();
    for captures in matches(&SECTION, text) {
        let Some(whole) = captures.get(0) else { continue };
        let (title, several) = (group(&captures, "title"), captures.name("several").is_some());
        let (mut range, mut section) = (whole.range(), group(&captures, "section"));
        loop {
            // "(see 40 CFR 122.26)" closes what it did not open.
            let open = section.matches('(').count();
            let close = section.matches(')').count();
            if close > open {
                range.end -= 1;
                section = &section[..section.len() - 1];
            }
            found.extend(Citation::of(
                range.clone(),
                "cfr-sections",
                &format!("cfr:{title}:{section}"),
            ));
            let after = window_after(text, range.end, 60);
            let Some(next) = NEXT.captures(after).and_then(|c| c.name("section")) else { break };
            // A number after a single section may be anything unless it is of the same part.
            let part = |s: &str| s.split('.').next().map(str::to_string);
            if !several && part(next.as_str()) != part(section) {
                break;
            }
            range = range.end + next.start()..range.end + next.end();
            section = next.as_str();
        }
    }
    found
}

/// "FR Doc. 2026-08558". Page citations such as "91 FR 12345" are no ids.
pub fn federal_register(text: &str) -> Vec<Citation> {
    static DOCUMENT: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"\bFR\s+doc(?:ument|\.)?\s*(?:no|number)?[.:]?\s*",
            r"(?P<n>[a-z0-9]{1,4}[-–‑][0-9]{2,6}(?:[-–‑][0-9]{4,6})?)",
        ))
    });
    let cited = |c: Captures<'_>| {
        let n = c.name("n")?;
        Citation::of(c.get(0)?.range(), "federal-register", n.as_str())
            .filter(|_| number_ends(text, n.end()))
    };
    matches(&DOCUMENT, text).filter_map(cited).collect()
}

/// "CRS Report R47892", "CRS In Focus IF12345": a number of CRS where CRS is named before it or
/// another of its numbers stands beside it.
pub fn crs_reports(text: &str) -> Vec<Citation> {
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| compile(r"(?-i)(?:RL|RS|IF|IN|IG|LSB|TE|R)[0-9]{5}"));
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"(?-i)(?:CRS|Congressional\s+Research\s+Service|Cong\.\s+Rsch\.\s+Serv\.),?",
            r"(?:\s+\w+){0,3}[\s(]*(?:No\.\s*)?$",
        ))
    });
    let mut found: Vec<Citation> = Vec::new();
    for m in NUMBER.find_iter(text) {
        if !begins(text, m.start()) || !number_ends(text, m.end()) {
            continue;
        }
        let named = NAMED.is_match(window_before(text, m.start(), 80));
        let beside = found.last().is_some_and(|last| joins(&text[last.range.end..m.start()]));
        if named || beside {
            found.extend(Citation::of(m.range(), "crs-reports", m.as_str()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(found: Vec<Citation>) -> Vec<String> {
        found.into_iter().map(|c| c.cited.in_congress(0).text).collect()
    }

    #[test]
    fn committee_reports_are_found() {
        let text = "H. Rept. 119-106, H.R. Rep. No. 94-1487, S.Rept. 115-139, \
                    House Report 118-553, \
                    S. Rep. No. 75, 94th Cong., H.R. Conf. Rep. No. 104-458, S. Exec. Rept. 118-1";
        let expected = [
            "hrpt:119:106",
            "hrpt:94:1487",
            "srpt:115:139",
            "hrpt:118:553",
            "srpt:94:75",
            "hrpt:104:458",
            "erpt:118:1",
        ];
        assert_eq!(ids(committee_reports(text)), expected);
        assert_eq!(ids(committee_reports("Report 118-3; S. Hrg. 118-22; S. Rep. No. 3")), [""; 0]);
    }

    #[test]
    fn orders_are_found_in_lists() {
        let text =
            "Executive Orders 12866, 13563, and 14094; E.O. 13132 and Proclamation No. 10701";
        let expected = ["eo:12866", "eo:13563", "eo:14094", "eo:13132", "proc:10701"];
        assert_eq!(ids(orders(text)), expected);
        let others =
            "Executive Order 2020-12, Governor's Executive Order 1234, Secretary's Order 3401";
        assert_eq!(ids(orders(others)), [""; 0]);
    }

    #[test]
    fn sections_are_found_without_their_paragraphs() {
        let text =
            "(see 40 CFR 122.26(b)(2) and 122.27), 12 C.F.R. §§ 1026.35, 1080.6; 5 CFR part 900";
        let expected = ["cfr:40:122.26", "cfr:40:122.27", "cfr:12:1026.35", "cfr:12:1080.6"];
        assert_eq!(ids(cfr_sections(text)), expected);
        assert_eq!(ids(cfr_sections("40 CFR 122.26 and 3.5 percent")), ["cfr:40:122.26"]);
        assert_eq!(ids(cfr_sections("26 CFR 1.401(k)-1.")), ["cfr:26:1.401(k)-1"]);
    }

    #[test]
    fn numbers_need_their_publisher() {
        let text = "[FR Doc. 2026-08558 Filed 5-1-26] and FR Doc. No. E9-811, 91 FR 12345";
        assert_eq!(ids(federal_register(text)), ["2026-08558", "E9-811"]);
        let text = "CRS Report R47892 and IF12345; unit R47000 was sold";
        assert_eq!(ids(crs_reports(text)), ["R47892", "IF12345"]);
    }
}
