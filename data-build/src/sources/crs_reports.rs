//! CRS reports: pages of congress.gov saved as Markdown (number, version, authors, topics, text),
//! the CSV lists that its search page exports, with or without their header line, and answers of
//! its API.

use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::{ids, wording};
use regex::Regex;

use super::crs_reports_api;
use crate::formats::documents::{self, non_empty_list};
use crate::formats::outline::Outline;
use crate::formats::tables::Rows;
use crate::formats::{dates, outline};
use crate::input::Input;
use crate::mentions;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Section, Sink};

const SOURCE: &str = "crs-reports";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension() {
        "md" => report(&input.text()?, out),
        "csv" => index(input, out),
        "json" => documents::value(input)?
            .map_or(Ok(Outcome::Skipped), |answer| crs_reports_api::read(&answer, out)),
        _ => Ok(Outcome::Skipped),
    }
}

/// CRS's own number; the oldest ones are also written without their hyphen.
pub fn number(text: &str) -> Option<String> {
    let text = text.trim();
    let old = text.len() == 5 && text.bytes().all(|b| b.is_ascii_digit());
    ids::canonical(
        SOURCE,
        &if old { format!("{}-{}", &text[..2], &text[2..]) } else { text.to_string() },
    )
}

pub fn type_of(number: &str) -> &'static str {
    match number.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "IF" => "in_focus",
        "IN" => "insight",
        "IG" => "infographic",
        "LSB" => "legal_sidebar",
        "TE" => "testimony",
        _ => "report",
    }
}

fn split_list(text: &str) -> Vec<String> {
    text.split(';').map(str::trim).filter(|s| !s.is_empty()).map(str::to_string).collect()
}

/// Rows are told by what they hold, since some exports lack the header and begin with notes on the
/// search.
fn index(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let mut outcome = Outcome::Skipped;
    for row in Rows::open(input)? {
        let row = match row {
            Ok(row) => row,
            Err(reason) => {
                out.reject("a row", &reason);
                continue;
            }
        };
        let [product, title, url, date, authors, topics, ..] = &row.cells[..] else { continue };
        if !url.contains("crs-product") && !url.contains("crsreports") {
            continue;
        }
        let Some(number) = number(product) else {
            out.reject(&format!("line {}", row.line), "no CRS number");
            continue;
        };
        outcome = Outcome::Read;
        let mut record = Record::new(SOURCE, number.as_str(), Rank::Partial);
        record
            .set("number", number.as_str())
            .set("type", type_of(&number))
            .set("title", title.as_str());
        record
            .set("updated_date", dates::iso(date))
            .set("authors", non_empty_list(split_list(authors)));
        record.set("topics", non_empty_list(split_list(topics))).set("url", url.as_str());
        out.record(record);
    }
    Ok(outcome)
}

fn report(text: &str, out: &mut dyn Sink) -> Result<Outcome> {
    let page = Page::of(text);
    let stated = page.value(&["Report No.", "CRS Product Number"]);
    if stated.is_empty() {
        return Ok(Outcome::Skipped);
    }
    let Some(number) = number(stated) else {
        out.reject(stated, "not a CRS number");
        return Ok(Outcome::Read);
    };
    let version = page.value(&["Version"]).parse().ok().or_else(|| pdf_version(text, &number));
    let updated = dates::iso(page.value(&["Publication Date"]));
    let mut record = Record::new(SOURCE, number.as_str(), Rank::Full);
    record
        .set("number", number.as_str())
        .set("type", type_of(&number))
        .set("title", page.title)
        .set("version", version);
    record.set(
        "authors",
        non_empty_list(split_list(page.value(&["Author(s)", "Authors", "Author"]))),
    );
    record.set("topics", non_empty_list(split_list(page.value(&["Topics", "Topic"]))));
    record.set("published_date", first_published(text, version, updated.as_deref()));
    record.set("updated_date", updated.as_deref());
    record.set("bill_ids", non_empty_list(bills(report_text(text, &number), updated.as_deref())));
    let label = version.map_or("text".to_string(), |v| format!("v{v}"));
    let order = version.map_or_else(|| updated.clone().unwrap_or_default(), |v| format!("{v:04}"));
    record.body(&label, &order, sections(report_text(text, &number)));
    out.record(record);
    Ok(Outcome::Read)
}

/// The labelled values above the text: `**Version:** 7` and, in congress.gov's overview, `|
/// **Topics:** | …`.
struct Page<'a> {
    title: &'a str,
    values: Vec<(&'a str, &'a str)>,
}

impl<'a> Page<'a> {
    /// How far down the labels stand.
    const HEAD_LINES: usize = 60;

    fn of(text: &'a str) -> Self {
        let head = || text.lines().take(Self::HEAD_LINES);
        let labelled = |line: &'a str| {
            let (label, value) =
                line.trim_start_matches(['|', ' ']).strip_prefix("**")?.split_once(":**")?;
            Some((label.trim(), value.trim_matches(['|', ' '])))
        };
        Page {
            title: head().find_map(|l| l.strip_prefix("# ")).unwrap_or_default().trim(),
            values: head().filter_map(labelled).collect(),
        }
    }

    fn value(&self, labels: &[&str]) -> &'a str {
        self.values
            .iter()
            .find(|(label, value)| labels.contains(label) && !value.is_empty())
            .map_or("", |(_, value)| value)
    }
}

/// The version of the PDF that the page offers, "98-317.22.pdf", for pages that state none.
fn pdf_version(text: &str, number: &str) -> Option<i64> {
    let after = text.split(&format!("/{number}.")).nth(1)?;
    after.split('.').next()?.parse().ok()
}

/// The day of version 1, where the page's version history goes back that far.
fn first_published(text: &str, version: Option<i64>, updated: Option<&str>) -> Option<String> {
    if version == Some(1) {
        return updated.map(str::to_string);
    }
    let line = text.lines().take(200).find(|l| l.contains("- Version: 1)"))?;
    dates::iso(line)
}

/// The page without what surrounds the report: it begins after the date line and ends before the
/// disclaimer.
fn report_text<'a>(text: &'a str, number: &str) -> &'a str {
    let start = text
        .match_indices(&format!("({number})"))
        .find(|(at, _)| ends_with_year(&text[..*at]))
        .map(|(at, found)| at + found.len());
    let start = start.or_else(|| text.find("\n---").map(|at| at + 4)).unwrap_or(0);
    let text = &text[start..];
    let end = text.rfind("Disclaimer:").filter(|at| line_of(text, *at).trim() == "Disclaimer:");
    &text[..end.unwrap_or(text.len())]
}

/// The date runs into the title before it, "… Splits in March 2026April 20, 2026", so only its
/// year is looked at.
fn ends_with_year(before: &str) -> bool {
    let before = before.trim_end().as_bytes();
    before.len() > 6
        && before[before.len() - 4..].iter().all(u8::is_ascii_digit)
        && before[before.len() - 6] == b','
}

fn line_of(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
    &text[start..end]
}

static LINK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\[([^\]\[]*)\]\(([^()\s]*(?:\([^()]*\)[^()\s]*)*)\)"));

fn without_links(line: &str) -> String {
    LINK.replace_all(line, "$1").replace("**", "")
}

/// Bills that the report discusses. A link to congress.gov names the congress; a bare number is
/// judged by the congress named in its paragraph, then by the report's date; where the paragraph
/// is about earlier years only, a number is left out, since it may be of any congress.
pub fn bills(text: &str, updated: Option<&str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for link in LINK.captures_iter(text) {
        let url = link[2].replace("crsreports.congress.gov", "www.congress.gov");
        found.extend(ids::canonical("bills", &url).filter(|_| url.contains("/bill/")));
    }
    let linked: Vec<String> = found.iter().map(|id| without_congress(id)).collect();
    let current = updated.and_then(wording::congress_on);
    for line in text.lines() {
        let line = LINK.replace_all(line, "");
        let bare = mentions::bills_looking_back(&line, current);
        found.extend(bare.into_iter().filter(|id| !linked.contains(&without_congress(id))));
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|id| seen.insert(id.clone()));
    found
}

fn without_congress(id: &str) -> String {
    let mut parts = id.split(':');
    format!("{}:{}", parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default())
}

/// congress.gov's Markdown marks few headings: those listed in the report's contents are taken,
/// and in products without contents short lines that stand alone above a paragraph.
fn sections(text: &str) -> Vec<Section> {
    let contents = contents(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut outline = Outline::default();
    let mut listing = false;
    for (i, line) in lines.iter().enumerate() {
        if let Some(title) = line.strip_prefix("# ") {
            listing = is_listing(title);
            if !listing {
                outline.heading(1, "", title.trim());
            }
            continue;
        }
        listing &= line.trim().is_empty() || line.starts_with("- ");
        let chrome =
            line.starts_with("[Jump to") || line.starts_with("[Listen]") || line.starts_with("---");
        if listing || chrome {
            continue;
        }
        let plain = without_links(line.trim());
        let heading = if contents.is_empty() {
            stands_alone(&lines, i)
        } else {
            contents.contains(&plain) || plain == "Summary"
        };
        if heading {
            outline.heading(1, outline::label(&plain), &plain);
        } else {
            outline.paragraph(&plain);
        }
    }
    outline.finish()
}

fn is_listing(title: &str) -> bool {
    matches!(
        title.trim(),
        "Contents" | "Tables" | "Figures" | "Appendixes" | "Appendices" | "Contacts"
    )
}

/// The headings in the report's table of contents and its list of appendixes.
fn contents(text: &str) -> Vec<String> {
    let mut listing = false;
    let mut out = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("# ") {
            listing = matches!(title.trim(), "Contents" | "Appendixes" | "Appendices");
        } else if listing && let Some(entry) = line.trim_start().strip_prefix("- ") {
            out.push(without_links(entry.trim()));
        }
    }
    out
}

/// The longest heading seen in the short products is well below this.
const LONGEST_HEADING: usize = 110;

fn stands_alone(lines: &[&str], i: usize) -> bool {
    let line = lines[i].trim();
    let blank = |j: Option<usize>| j.and_then(|j| lines.get(j)).is_none_or(|l| l.trim().is_empty());
    let is_caption = |l: &str| l.starts_with("Table ") || l.starts_with("Figure ");
    let before = lines[..i].iter().rev().find(|l| !l.trim().is_empty()).unwrap_or(&"");
    let after = lines[i + 1..].iter().find(|l| !l.trim().is_empty()).unwrap_or(&"");
    (3..=LONGEST_HEADING).contains(&line.chars().count())
        && line.starts_with(char::is_uppercase)
        && !line.ends_with(['.', ',', ';', ':', ')', '|'])
        && blank(i.checked_sub(1))
        && blank(Some(i + 1))
        && !is_caption(line)
        && !is_caption(before)
        && after.chars().count() > LONGEST_HEADING
        && !after.starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    const HEAD: &str = concat!(
        "# Ferries\n\n**Report No.:** R40000\n**Version:** 3\n**Publication Date:** 04/02/2026\n",
        "**Author(s):** Doe, Jane; Roe, R.\n\n---\nchrome\nFerriesUpdated April 2, 2026      (R40000)\n",
    );

    #[test]
    fn a_report_and_its_sections() {
        let text = format!(
            "{HEAD}\n# Contents\n\n- [Scope](https://x#_1)\n\nSummary\n\nShort.\n\nScope\n\nIt floats.\n\
                \n   Disclaimer:  \n legal"
        );
        let read = read_text(read, "crs-reports/a.md", &text);
        assert_eq!(read.ids(), ["R40000"]);
        assert_eq!(read.field(0, "updated_date"), "2026-04-02");
        assert_eq!(read.field(0, "authors")[1], "Roe, R.");
        let body = &read.records[0].bodies[0];
        assert_eq!((body.version.as_str(), body.order.as_str()), ("v3", "0003"));
        let shown: Vec<_> =
            body.sections.iter().map(|s| (s.heading.as_str(), s.text.as_str())).collect();
        assert_eq!(shown, [("Summary", "Short."), ("Scope", "It floats.")]);
    }

    #[test]
    fn the_oldest_numbers_get_their_hyphen_and_a_version_from_the_pdf() {
        let text = concat!(
            "# T\n\n**Report No.:** 98317\n\n---\n[PDF](https://x/98-317/98-317.22.pdf)\nUpdated May 1, ",
            "2026 (98-317)\nText.",
        );
        let read = read_text(read, "crs-reports/98317.md", text);
        assert_eq!((read.ids()[0], read.field(0, "version").as_i64()), ("98-317", Some(22)));
    }

    #[test]
    fn a_bare_number_is_judged_by_congress_and_date() {
        let text = concat!(
            "See [H.R. 5](https://crsreports.congress.gov/bill/118th-congress/house-bill/5) and H.R. 5.\n",
            "S. 7 is pending.\nIn the 116th Congress, S. 8 passed.\nThe 2021 bill was H.R. 9.",
        );
        assert_eq!(bills(text, Some("2026-04-02")), ["hr:118:5", "s:119:7", "s:116:8"]);
        assert_eq!(bills("S. 7 is pending.", None), [""; 0]);
    }

    #[test]
    fn lists_come_with_and_without_header() {
        let csv = concat!(
            "Downloaded on,04/14/2026,,,,\n",
            "98-317,Hearings,https://www.congress.gov/crs-product/98-317,04/13/2026,\"Doe, J.\",A; B\n,,,,,\n",
        );
        let read = read_text(read, "crs-reports/x.csv", csv);
        assert_eq!(read.ids(), ["98-317"]);
        assert_eq!(read.field(0, "topics")[1], "B");
        assert!(read.rejects.is_empty());
    }
}
