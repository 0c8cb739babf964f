//! Bills and resolutions in text: "H.R. 1", "S.J. Res. 3", "House Resolution 5", lists and ranges.

use std::sync::LazyLock;

use regex::Regex;

use super::Citation;
use super::boundaries::{begins, joins, number_ends, window_after, word_after, word_before};
use super::congress::{is_shared, stated_after, stated_before};
use crate::catalog::ids::spelling::compile;
use crate::catalog::ids::{self, Parsed};

/// The most bills that a range such as "H.R. 469-521" stands for. A busy day of the House has 120.
const LONGEST_RANGE: u32 = 200;

/// Type and number. Types are capitalized in prose, so that "24 hr 5" is none.
static BILL: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?-i)(?:(?P<type>",
        r"(?:House|HOUSE|Senate|SENATE)\s+(?i:(?:joint|concurrent)\s+)?(?i:resolution)",
        r"|[HS]\.?\s{0,2}(?:(?i:con|j)\.?\s{0,2})?(?i:res)\.?",
        r"|H\.\s{0,2}R\.?|HR\.?",
        r")\s*(?:(?i:no)\.?\s*)?|(?P<senate>S\.?)\s*)(?P<n>[0-9]{1,5})",
    ))
});

/// Words before "S." that make it a letter of a series: "subpart S. 21" ends a sentence, and a
/// footnote follows.
const LETTERED: &str = concat!(
    "annex appendix class exhibit form manual paragraph part schedule section subpart ",
    "table",
);

/// Words after a number that is counted, measured or a street: no bill.
const COUNTED: &str = concat!(
    "acres ave avenue billion days deg degrees dollars e east feet highway hours ",
    "miles million minutes months others pages people percent points road shares st ",
    "street times votes w weeks west years",
);

/// States whose legislatures have resolutions of the same names.
const STATES: &str = concat!(
    "Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida ",
    "Georgia Hawaii Idaho Illinois Indiana Iowa Kansas Kentucky Louisiana Maine ",
    "Maryland Massachusetts Michigan Minnesota Mississippi Missouri Montana Nebraska ",
    "Nevada Hampshire Jersey Mexico York Carolina Dakota Ohio Oklahoma Oregon ",
    "Pennsylvania Island Tennessee Texas Utah Vermont Virginia Washington Wisconsin ",
    "Wyoming Guam state State",
);

fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|w| w == word)
}

/// A type and number as matched, before it is known to be a bill.
struct Candidate<'t> {
    start: usize,
    end: usize,
    kind: &'t str,
    number: u32,
}

pub fn find(text: &str) -> Vec<Citation> {
    let mut found: Vec<Citation> = Vec::new();
    let mut undotted: Vec<Candidate> = Vec::new();
    for captures in BILL.captures_iter(text) {
        let (Some(whole), Some(n)) = (captures.get(0), captures.name("n")) else { continue };
        let Some(kind) = captures.name("type").or(captures.name("senate")) else { continue };
        let Ok(number) = n.as_str().parse() else { continue };
        let candidate =
            Candidate { start: whole.start(), end: whole.end(), kind: kind.as_str(), number };
        if candidate.kind == "S" {
            undotted.push(candidate);
        } else if candidate.is_bill(text) {
            candidate.cite_with_list(text, &mut found);
        }
    }
    add_companions(text, undotted, &mut found);
    share_congress(text, &mut found);
    found
}

impl Candidate<'_> {
    fn is_bill(&self, text: &str) -> bool {
        if !begins(text, self.start) || is_footnote(text, self) {
            return false;
        }
        let counted = word_after(text, self.end)
            .is_some_and(|word| is_in(COUNTED, &word.to_ascii_lowercase()));
        let before = word_before(text, self.start);
        let is_misplaced = match before {
            Some((word, breaks)) if self.kind == "S." => is_letter_of(word, breaks),
            Some((word, _)) if self.kind.len() > 8 => is_in(STATES, word),
            _ => false,
        };
        !counted && !is_misplaced
    }

    /// Adds the bill and those of the same type that follow by number only.
    fn cite_with_list(&self, text: &str, found: &mut Vec<Citation>) {
        let mut items = vec![(self.number, self.start, self.end)];
        let mut end = self.end;
        let mut stated = stated_after(text, end);
        if stated.is_none() {
            end = add_range(text, end, self.number, &mut items);
            end = add_list(text, end, &mut items);
            if !number_ends(text, end) {
                return;
            }
            stated = stated_after(text, end);
        }
        let previous = found.last().map_or(0, |c| c.range.end);
        let before = || stated_before(text, previous, self.start);
        let congress = stated.map(|(congress, _)| congress).or_else(before);
        let Some(first) = ids::parse_for("bills", &format!("{} {}", self.kind, self.number)) else {
            return;
        };
        let last = items.len() - 1;
        for (i, (number, start, end)) in items.into_iter().enumerate().filter(|i| i.1.0 > 0) {
            let end = stated.filter(|_| i == last).map_or(end, |(_, to)| to);
            found.push(Citation::new(start..end, numbered(&first, number, congress)));
        }
    }
}

/// The bill of the same type with this number, and with the congress if one is stated.
fn numbered(bill: &Parsed, number: u32, congress: Option<i64>) -> Parsed {
    let bill = match bill {
        Parsed::AnyCongress { source, kind, .. } => {
            Parsed::AnyCongress { source, kind: kind.clone(), number: number.to_string() }
        }
        Parsed::Id(_) => bill.clone(),
    };
    congress.map_or(bill.clone(), |congress| Parsed::Id(bill.in_congress(congress)))
}

/// Whether "S." after this word is an initial or the letter of a part: "U. S. 113", "subpart S.
/// 21".
fn is_letter_of(word: &str, breaks: bool) -> bool {
    let letters = word.trim_start_matches(['(', '[', '“', '"']);
    let initials = letters.ends_with('.')
        && letters.split_terminator('.').all(|l| matches!(l.as_bytes(), [b'A'..=b'Z']));
    // Beside "S." a number is of a street or a survey, unless it ends a title: "Act of 2023 S. 5".
    // On the line above it belongs to a footnote.
    let year = word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    let numbered = !breaks && !year && word.bytes().all(|b| b.is_ascii_digit());
    initials || numbered || is_in(LETTERED, &word.to_ascii_lowercase())
}

/// Whether the number is that of a footnote on a line of its own after a sentence that ends with
/// the letter.
fn is_footnote(text: &str, candidate: &Candidate) -> bool {
    let matched = &text[candidate.start..candidate.end];
    let between = matched.trim_end_matches(|c: char| c.is_ascii_digit());
    between.ends_with('\n') && text[candidate.end..].starts_with('\n')
}

/// "-521" after a first number: every bill up to the last. Returns where it ends.
fn add_range(text: &str, end: usize, first: u32, items: &mut Vec<(u32, usize, usize)>) -> usize {
    static RANGE: LazyLock<Regex> = LazyLock::new(|| compile(r"^[-–]([0-9]{1,5})"));
    let Some(captures) = RANGE.captures(window_after(text, end, 12)) else { return end };
    let Some(last) = captures.get(1) else { return end };
    let (start, to) = (end + last.start(), end + last.end());
    let Ok(last) = last.as_str().parse::<u32>() else { return end };
    if last <= first || last - first > LONGEST_RANGE || !number_ends(text, to) {
        return end;
    }
    items.extend((first + 1..=last).map(|number| (number, start, to)));
    to
}

/// ", 2, and 3" after a number. A list ends with "and" or "or"; a single "and 3" counts only
/// before a mark, since "H.R. 1 and 3 others" goes on. Ranges alone are a list where other bills
/// follow, as in the Daily Digest; elsewhere they are votes. Returns where it ends.
fn add_list(text: &str, end: usize, items: &mut Vec<(u32, usize, usize)>) -> usize {
    static LIST: LazyLock<Regex> = LazyLock::new(|| {
        compile(concat!(
            r"^(?P<middle>(?:\s?,\s*[0-9]{1,5}(?:[-–][0-9]{1,5})?)*)",
            r"(?:\s?,)?\s+(?:and|or|&)\s+[0-9]{1,5}(?:[-–][0-9]{1,5})?",
            r"|^(?P<ranges>(?:\s?,\s*[0-9]{1,5}[-–][0-9]{1,5})+)",
            r"[,;]\s+(?:and\s+)?(?:(?-i:[HS])\.|[0-9]+\s+(?:resolution|private|public))",
        ))
    });
    static ITEM: LazyLock<Regex> = LazyLock::new(|| compile(r"([0-9]{1,5})(?:[-–]([0-9]{1,5}))?"));
    let Some(list) = LIST.captures(window_after(text, end, 400)) else { return end };
    let to = end + list.name("ranges").or(list.get(0)).map_or(0, |m| m.end());
    let is_pair = list.name("middle").is_some_and(|middle| middle.is_empty());
    let before_mark = text[to..].chars().next().is_none_or(|c| ".,;:)]".contains(c));
    let counted = word_after(text, to)
        .is_some_and(|word| word.starts_with(char::is_uppercase) || is_in(COUNTED, word));
    if !number_ends(text, to) || (is_pair && !before_mark) || counted {
        return end;
    }
    let mut added = Vec::new();
    for item in ITEM.captures_iter(&text[end..to]) {
        let (Some(whole), Ok(first)) = (item.get(0), item[1].parse::<u32>()) else { return end };
        let last = item.get(2).and_then(|m| m.as_str().parse().ok()).unwrap_or(first);
        if last < first || last - first > LONGEST_RANGE {
            return end;
        }
        let place = (end + whole.start(), end + whole.end());
        added.extend((first..=last).map(|number| (number, place.0, place.1)));
    }
    items.append(&mut added);
    to
}

/// "S 2587" and "S2587", which are bills only beside another one: "HR 4365/S 2587".
fn add_companions(text: &str, undotted: Vec<Candidate>, found: &mut Vec<Citation>) {
    for candidate in undotted {
        if !begins(text, candidate.start)
            || !number_ends(text, candidate.end)
            || text[candidate.start..candidate.end].contains('\n')
        {
            continue;
        }
        let next = found.partition_point(|c| c.range.start < candidate.start);
        let follows = next > 0
            && text
                .get(found[next - 1].range.end..candidate.start)
                .is_some_and(|between| joins(between) && !between.is_empty());
        let precedes = found
            .get(next)
            .is_some_and(|c| text.get(candidate.end..c.range.start).is_some_and(joins));
        if !follows && !precedes {
            continue;
        }
        let Some(senate) = ids::parse_for("bills", &format!("S. {}", candidate.number)) else {
            continue;
        };
        let congress = stated_after(text, candidate.end).map(|(congress, _)| congress);
        let cited = numbered(&senate, candidate.number, congress);
        found.insert(next, Citation::new(candidate.start..candidate.end, cited));
    }
}

/// Gives the bills of "H.R. 1, H.R. 2 and S. 3 of the 92nd Congress" the congress of the last.
fn share_congress(text: &str, found: &mut [Citation]) {
    let mut shared: Option<i64> = None;
    let mut next = text.len();
    for citation in found.iter_mut().rev() {
        let between = text.get(citation.range.end..next).unwrap_or(";");
        if !joins(between) || between.contains(';') {
            shared = None;
        }
        if let Parsed::Id(id) = &citation.cited {
            let congress = id.text.split(':').nth(1).and_then(|c| c.parse().ok());
            shared = congress.filter(|_| is_shared(&text[citation.range.clone()]));
        } else if let Some(congress) = shared {
            citation.cited = Parsed::Id(citation.cited.in_congress(congress));
        }
        next = citation.range.start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let show = |c: Citation| match c.cited {
            Parsed::Id(id) => id.text,
            Parsed::AnyCongress { kind, number, .. } => format!("{kind}:{number}"),
        };
        find(text).into_iter().map(show).collect()
    }

    #[test]
    fn lists_and_ranges_give_every_bill() {
        assert_eq!(
            found("under H.R. 1, 2, and 3 (118th Congress)"),
            ["hr:118:1", "hr:118:2", "hr:118:3"]
        );
        assert_eq!(found("S. 9, 21-23, S.J. Res. 1."), ["s:9", "s:21", "s:22", "s:23", "sjres:1"]);
        assert_eq!(found("H. Res. 58-60; and"), ["hres:58", "hres:59", "hres:60"]);
        assert_eq!(found("See H.R. 5 and 6."), ["hr:5", "hr:6"]);
        assert_eq!(found("H.R. 5 and 6 others"), ["hr:5"]);
        assert_eq!(found("S. Res. 179, 95-1, notwithstanding"), ["sres:179"]);
        assert_eq!(found("H.R. 469-100000; S. 7-09-22"), [""; 0]);
    }

    #[test]
    fn a_congress_belongs_to_the_bills_before_it() {
        let text = "S.Res. 598 and H.Res. 339 in the 115th Cong.; S.Res. 284 and H.Res. 454 in the \
                    116th Cong.; S. 5, S. 6 (118th Congress)";
        let expected =
            ["sres:115:598", "hres:115:339", "sres:116:284", "hres:116:454", "s:5", "s:118:6"];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn an_undotted_senate_bill_needs_a_companion() {
        assert_eq!(found("HR 4365/S 2587, S763"), ["hr:4365", "s:2587", "s:763"]);
        assert_eq!(found("H.R. 5 (S 6)"), ["hr:5", "s:6"]);
        assert_eq!(found("[[Page S47]] and S 763, and 2200 S 216th Street"), [""; 0]);
    }
}
