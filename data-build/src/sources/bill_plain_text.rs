//! A bill's text as a data set keeps it: one JSON object a version, the text as lines with `####`
//! before sections and bare numerals ("I", "A") before titles and subtitles, or as print with SEC.
//! and TITLE headings.
//!
//! The data set lost the quotation marks that GPO's XML has as markup. Where they were can't be
//! told for sure, so none are added; the spaces that they left before punctuation stay, and such a
//! text has the status `extract`.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::bill_versions;
use crate::formats::congress;
use crate::formats::json::str_at;
use crate::formats::outline::Outline;
use crate::formats::{dates, measures, plain, prose};
use crate::patterns::pattern;
use crate::record::{Rank, Record, Section};

/// Depths of the headings; a level that a bill leaves out takes no room in the outline.
const DIVISION: i64 = 1;
const TITLE: i64 = 2;
const SUBTITLE: i64 = 3;
const PART: i64 = 4;
const SECTION: i64 = 5;

/// Ends the order of a text that lost its quotation marks, by which it is known.
pub const EXTRACT_ORDER: &str = " extract";

/// Headings in print: "SEC. 101. SHORT TITLE.", "SECTION 1. …", "TITLE I—…".
static PRINTED: LazyLock<Regex> = LazyLock::new(|| {
    let section = r"(?:SEC\.|SECTION) (?P<section>\d+[A-Z]?(?:-\d+)?|_+)\.";
    let level =
        r"(?P<word>DIVISION|TITLE|SUBTITLE|Subtitle|PART) (?P<n>[IVXLC]+|[A-Z]|\d+)(?:--|—|-)";
    pattern(&format!(r"^\s*(?:{section}|{level})"))
});

/// The record that holds this version of the text.
pub fn record(value: &Value) -> Result<Record, String> {
    let key = str_at(value, &["bill_id"]);
    let id = measures::bill_id(&key, None).ok_or_else(|| format!("not a bill: {key:?}"))?;
    let (kind, congress, number) =
        congress::parts(&id).ok_or_else(|| format!("not a bill: {key:?}"))?;
    let (name, url) = (str_at(value, &["version"]), str_at(value, &["url"]));
    let version = bill_versions::code(&name)
        .or_else(|| bill_versions::code_in_file_name(&url))
        .ok_or_else(|| format!("{id}: unknown version {name:?}"))?;
    let date = dates::iso(&str_at(value, &["date"])).unwrap_or_default();
    let mut record = Record::new("bills", id.as_str(), Rank::Partial);
    record
        .set("congress", congress)
        .set("type", kind)
        .set("number", number)
        .set("chamber", congress::chamber(kind));
    let order = format!("{}{EXTRACT_ORDER}", bill_versions::order(kind, &version, &date));
    record.body(&version, &order, sections(&str_at(value, &["text"])));
    Ok(record)
}

/// Cuts the text along its headings.
pub fn sections(text: &str) -> Vec<Section> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let marked = lines.iter().any(|l| l.starts_with("#### "));
    let mut outline = Outline::default();
    let mut open = Open::default();
    let mut prefix = String::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let heading = if marked { open.numeral(&lines, at - 1) } else { printed(line) };
        if let Some(Heading { depth, label, title, lines }) = heading {
            outline.heading(depth, &label, &title);
            at += lines;
        } else if let Some(rest) = line.strip_prefix("#### ") {
            outline.paragraph(std::mem::take(&mut prefix).trim());
            let (label, title) = section_heading(rest);
            outline.heading(SECTION, &label, &title);
        } else if let Some(enumerator) = enumerator(line) {
            // "**(1)**" stands on a line of its own before the text that it counts.
            prefix.push_str(&enumerator);
            if !enumerator.ends_with('—') {
                prefix.push(' ');
            }
        } else {
            let text = format!("{}{line}", std::mem::take(&mut prefix));
            outline.paragraph(&plain::collapse_spaces(&text));
        }
    }
    outline.paragraph(&prefix);
    outline.finish()
}

/// "101. Short title" -> ("101", "SEC. 101. Short title"); a heading without a number is kept as
/// it is.
fn section_heading(text: &str) -> (String, String) {
    let text = text.trim();
    let number = text.split_whitespace().next().unwrap_or_default().trim_end_matches('.');
    if number.starts_with(|c: char| c.is_ascii_digit()) {
        let word = if number == "1" { "SECTION" } else { "SEC." };
        return (number.to_string(), format!("{word} {text}"));
    }
    (String::new(), text.to_string())
}

/// "##### (a) In general" and "**(1) Plan**" -> "(a) In general.—"; "**(1)**" -> "(1)".
fn enumerator(line: &str) -> Option<String> {
    let bare = match line.strip_prefix("##### ") {
        Some(rest) => rest,
        None => line.strip_prefix("**")?.strip_suffix("**")?,
    };
    let bare = bare.trim();
    let only_number = bare.ends_with(')') && !bare.contains(' ');
    Some(if only_number || bare.ends_with(['.', '—', ':']) {
        bare.to_string()
    } else {
        format!("{bare}.—")
    })
}

struct Heading {
    depth: i64,
    label: String,
    title: String,
    /// How many lines after this one belong to the heading.
    lines: usize,
}

fn printed(line: &str) -> Option<Heading> {
    let c = PRINTED.captures(line)?;
    let title = prose::fold(line);
    if let Some(number) = c.name("section") {
        // "SEC. __." leaves the number open.
        let label = number.as_str().trim_matches('_').to_string();
        return Some(Heading { depth: SECTION, label, title, lines: 0 });
    }
    let word = &c["word"];
    let depth = match word {
        "DIVISION" => DIVISION,
        "TITLE" => TITLE,
        "PART" => PART,
        _ => SUBTITLE,
    };
    Some(Heading { depth, label: format!("{} {}", capitalized(word), &c["n"]), title, lines: 0 })
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    format!("{first}{}", rest.to_ascii_lowercase())
}

/// Which divisions, titles, subtitles and parts are open, to tell a numeral that counts on from a
/// stray one in a table.
#[derive(Default)]
struct Open {
    division: Option<u32>,
    title: Option<u32>,
    subtitle: Option<u32>,
    part: Option<u32>,
}

impl Open {
    /// The heading that a bare numeral on line `at` begins. The print's first lines carry a
    /// distribution code ("II").
    fn numeral(&mut self, lines: &[&str], at: usize) -> Option<Heading> {
        let token = lines[at];
        if at < 3 || !is_numeral(token) {
            return None;
        }
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let titled = is_heading(next);
        let before_title_one = lines.get(at + 1 + usize::from(titled)) == Some(&"I");
        let (depth, word) = self.place(token, before_title_one)?;
        let mut title = format!("{word} {token}");
        if titled {
            title.push_str(&format!("—{}", prose::fold(next)));
        }
        Some(Heading {
            depth,
            label: format!("{} {token}", capitalized(word)),
            title,
            lines: usize::from(titled),
        })
    }

    fn place(&mut self, token: &str, before_title_one: bool) -> Option<(i64, &'static str)> {
        let (letter, numeral, digits) = (letter(token), roman(token), token.parse::<u32>().ok());
        let follows =
            |open: Option<u32>, n: Option<u32>| n.is_some() && n == Some(open.unwrap_or(0) + 1);
        let next_division = follows(self.division, letter) && before_title_one;
        if self.subtitle.is_some() && follows(self.subtitle, letter) && !next_division {
            (self.subtitle, self.part) = (letter, None);
            return Some((SUBTITLE, "SUBTITLE"));
        }
        if self.part.is_some() && follows(self.part, numeral.or(digits))
            || self.subtitle.is_some() && numeral == Some(1)
        {
            self.part = numeral.or(digits);
            return Some((PART, "PART"));
        }
        if follows(self.title, numeral) {
            (self.title, self.subtitle, self.part) = (numeral, None, None);
            return Some((TITLE, "TITLE"));
        }
        if next_division || (self.division.is_some() && follows(self.division, letter)) {
            *self = Open { division: letter, ..Open::default() };
            return Some((DIVISION, "DIVISION"));
        }
        if letter == Some(1) {
            (self.subtitle, self.part) = (letter, None);
            return Some((SUBTITLE, "SUBTITLE"));
        }
        if digits == Some(1) && self.subtitle.is_some() {
            self.part = digits;
            return Some((PART, "PART"));
        }
        None
    }
}

fn is_numeral(token: &str) -> bool {
    token.len() <= 6
        && (letter(token).is_some() || roman(token).is_some() || token.parse::<u32>().is_ok())
}

/// A line that can be a heading: short, not marked, no sentence.
fn is_heading(line: &str) -> bool {
    !line.is_empty()
        && line.len() < 200
        && !line.starts_with(['#', '*'])
        && !line.ends_with('.')
        && !is_numeral(line)
}

fn letter(token: &str) -> Option<u32> {
    match token.as_bytes() {
        [b @ b'A'..=b'Z'] => Some(u32::from(b - b'A') + 1),
        _ => None,
    }
}

fn roman(token: &str) -> Option<u32> {
    let digit = |c| {
        Some(match c {
            'I' => 1,
            'V' => 5,
            'X' => 10,
            'L' => 50,
            _ => return None,
        })
    };
    let digits =
        token.chars().map(digit).collect::<Option<Vec<i64>>>().filter(|d| !d.is_empty())?;
    let signed =
        digits.iter().enumerate().map(|(i, d)| if digits.get(i + 1) > Some(d) { -d } else { *d });
    u32::try_from(signed.sum::<i64>()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outline(text: &str) -> Vec<(String, String, String)> {
        sections(text).into_iter().map(|s| (s.section, s.heading, s.text)).collect()
    }

    #[test]
    fn titles_are_rebuilt_from_bare_numerals() {
        let text = "II\n119th CONGRESS\nS. 9\nA BILL\n#### 1. Short title\nThis is it.\nI\nMoney\nA\nRates\n\
                    #### 101. Rate\n**(1)**\nup;\nB\nOther\n#### 111. More\n\
                    ##### (a) In general\nText.\nII\nRest\n#### 201. End\nDone.";
        let found: Vec<_> =
            outline(text).into_iter().map(|(label, heading, _)| (label, heading)).collect();
        let expected = [
            ("", ""),
            ("1", "SECTION 1. Short title"),
            ("Title I", "TITLE I—Money"),
            ("Subtitle A", "TITLE I—Money > SUBTITLE A—Rates"),
            ("101", "TITLE I—Money > SUBTITLE A—Rates > SEC. 101. Rate"),
            ("Subtitle B", "TITLE I—Money > SUBTITLE B—Other"),
            ("111", "TITLE I—Money > SUBTITLE B—Other > SEC. 111. More"),
            ("Title II", "TITLE II—Rest"),
            ("201", "TITLE II—Rest > SEC. 201. End"),
        ];
        assert_eq!(found, expected.map(|(a, b)| (a.to_string(), b.to_string())));
    }

    #[test]
    fn enumerators_join_the_text_they_count() {
        let text = "#### 2. Rule\n##### (a) In general\nIt is so—\n**(1)**\nhere ; and\n**(2) There**\nas well.";
        let found = outline(text);
        assert_eq!(
            found[0].2,
            "(a) In general.—It is so—\n\n(1) here ; and\n\n(2) There.—as well."
        );
    }

    #[test]
    fn a_number_in_a_table_is_no_title() {
        let found = outline("a\nb\nc\n#### 1. Rates\n8401\nT\n42 U.S.C. 1\n#### 2. End\nDone.");
        assert_eq!(found.iter().filter(|f| !f.1.is_empty()).count(), 2);
    }

    #[test]
    fn print_is_cut_at_its_headings() {
        let found = outline(
            "A BILL\nSECTION 1. SHORT TITLE.\nThis.\nTITLE I--MONEY\nSEC. 101. RATE.\nThat.",
        );
        assert_eq!(found[1].1, "SECTION 1. SHORT TITLE.");
        assert_eq!(found[3].1, "TITLE I--MONEY > SEC. 101. RATE.");
    }

    #[test]
    fn a_version_without_a_known_name_takes_the_one_of_its_file() {
        let url = "https://www.govinfo.gov/bulkdata/BILLS/119/1/hr/BILLS-119hr7ih.xml";
        let text = "#### 1. A\nB.";
        let value = |version| json!({"bill_id": "hr7-119", "version": version, "date": "", "text": text, "url": url});
        for name in ["Introduced in House", "IH", "Somehow printed"] {
            let record = record(&value(name)).expect("a text");
            assert_eq!((record.id.as_str(), record.bodies[0].version.as_str()), ("hr:119:7", "ih"));
            assert_eq!(record.bodies[0].order, "10 extract");
        }
    }
}
