//! Committee reports as GPO prints them: the text of one report, and the lists of reports filed
//! that the Congressional Record prints ("(Rept. 119-21)").

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::{ids, wording};
use regex::Regex;
use serde_json::Value;

use super::committee_reports::{add_bill, chamber, cited, known_or, with_part};
use crate::formats::json::str_at;
use crate::formats::outline::{Outline, label};
use crate::formats::plain::{self, Block};
use crate::formats::{committee_names, dates, html};
use crate::mentions;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Section, Sink};

/// The part that a citation in an action names: "H. Rept. 119-19, Part I" -> "I".
pub fn part(text: &str) -> Option<String> {
    static PART: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"\b(?:Rept|Report)\.?\s[^()]{0,20}\d-\s?\d+,?\s+(?:Part|Pt\.)\s*([IVX]+|\d+)\b")
    });
    PART.captures(text).map(|c| c[1].to_string())
}

/// The part as the head of a report prints it, below the number: "{ Part 2".
fn part_in_head(head: &str) -> Option<String> {
    static PART: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"[{}]\s*(?:Part|PART|Pt\.)\s+([IVX]+|\d+)\s*\n"));
    // Other reports may be cited once the text begins.
    let head = head.split("submitted the following").next().unwrap_or_default();
    PART.captures(head).map(|c| c[1].to_string())
}

// The text of a report

pub fn report(text: &str, out: &mut dyn Sink) -> Result<Outcome> {
    static STATED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"\[?((?:House|Senate|Executive|Senate Executive|Exec\.) (?:Report|Rept\.) \d{2,3}-\d{1,5})",
        )
    });
    let text = html::decode_references(text);
    let head: String = text.chars().take(6000).collect();
    let Some(stated) = STATED.captures(&head) else { return Ok(Outcome::Skipped) };
    let citation = with_part(&stated[1], part_in_head(&head).as_deref());
    let Some(mut record) = cited(&citation, Rank::Full) else {
        out.reject(&citation, "not a report");
        return Ok(Outcome::Read);
    };
    let (chamber, congress) = (chamber(&record.id), record.fields.get("congress"));
    let congress = congress.and_then(Value::as_i64);
    let pre = text
        .split_once("<pre>")
        .map_or(text.as_str(), |(_, rest)| rest)
        .split("</pre>")
        .next()
        .unwrap_or_default();
    let filed = filed_on(&head);
    record.set("title", title(&head)).set("report_date", filed.as_deref());
    record.set("committee", committee(&head, chamber));
    for bill in accompanied(&head, congress) {
        add_bill(&mut record, Some(bill));
    }
    record.body("text", filed.as_deref().unwrap_or_default(), sections(pre));
    out.record(record);
    Ok(Outcome::Read)
}

/// The page's title after "House Report 119-1 - ".
fn title(head: &str) -> String {
    let line = head
        .split_once("<title>")
        .and_then(|(_, rest)| rest.split("</title>").next())
        .unwrap_or_default();
    line.split_once(" - ").map_or("", |(_, title)| title.trim()).to_string()
}

/// "January 21, 2025.--Referred to the House Calendar" gives the day; a Senate report is "Ordered
/// to be printed".
fn filed_on(head: &str) -> Option<String> {
    static FILED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"([A-Z][a-z]+ \d{1,2}(?: \(legislative day, [^)]*\))?, \d{4})\.?\s?--\s?(?:Referred|Ordered|Committed)",
        )
    });
    FILED.captures(head).and_then(|c| dates::iso(&c[1]))
}

fn committee(head: &str, chamber: &str) -> Option<&'static str> {
    static FROM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"from\s+the\s+(?:(?:Permanent\s+)?Select\s+)?Committee\s+on\s+([^.]{3,80}?),\s+submitted",
        )
    });
    FROM.captures(head).and_then(|c| committee_names::code(chamber, &c[1]))
}

/// The bills in "[To accompany H.R. 1 and S. 2]".
fn accompanied(head: &str, congress: Option<i64>) -> Vec<String> {
    let Some((_, after)) = head.split_once("[To accompany ") else { return Vec::new() };
    let named = after
        .split(']')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    mentions::bills(&named, congress)
}

fn sections(text: &str) -> Vec<Section> {
    let mut outline = Outline::default();
    for block in plain::blocks(text) {
        match block {
            Block::Heading(title) => outline.heading(1, label(&title), &title),
            Block::Paragraph(paragraph) => outline.paragraph(&paragraph),
        }
    }
    outline.finish()
}

// Lists in the Record

static FILED_AS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\((?:(Exec)\. )?Rept\. (?:No\. )?(\d{2,3})-\s?(\d{1,5})(?:,? (?:Part|Pt\.) ?(\w+))?\)",
    )
});

/// Reports filed in a granule of the Record: House lists begin each entry with "Mr. DOE: Committee
/// on X.", Senate ones head several with "By Mr. DOE, from the Committee on X:".
pub fn listed(granule: &Value, reports: &mut BTreeMap<String, Record>) {
    let chamber = str_at(granule, &["section"]).to_lowercase();
    let Some(date) = dates::iso(&str_at(granule, &["date"])) else { return };
    // A note quotes the misprint that the text no longer has.
    static NOTE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"={3,} NOTE ={3,}.*?={3,} END NOTE ={3,}"));
    let text = one_line(&str_at(granule, &["text"]));
    let text = NOTE.replace_all(&text, " ");
    for group in text.split("Committee on ").skip(1) {
        let committee = committee_names::code_at_start(&chamber, group);
        // Past the committee's name, with what is done to the bill.
        let after =
            if chamber == "senate" { group.split_once(':') } else { group.split_once(". ") };
        let mut rest = after.map_or("", |(_, rest)| rest);
        while let Some(c) = FILED_AS.captures(rest) {
            let (Some(whole), kind) =
                (c.get(0), if c.get(1).is_some() { "Exec. Rept." } else { kind_of(&chamber) })
            else {
                break;
            };
            let citation =
                with_part(&format!("{kind} {}-{}", &c[2], &c[3]), c.get(4).map(|m| m.as_str()));
            if let Some(found) = cited(&citation, Rank::Partial) {
                let record = known_or(found, reports);
                let (bill, title) = entry(&rest[..whole.start()], wording::congress_on(&date));
                add_bill(record, bill);
                record
                    .set("title", title)
                    .set("report_date", date.as_str())
                    .set("committee", committee);
            }
            rest = &rest[whole.end()..];
        }
    }
}

fn kind_of(chamber: &str) -> &'static str {
    if chamber == "house" { "H. Rept." } else { "S. Rept." }
}

fn one_line(text: &str) -> String {
    let lines = text.lines().filter(|l| !l.trim_start().starts_with("[[Page "));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// A report without a bill is named in a few words; more is text that was not understood.
const LONGEST_TITLE: usize = 300;

/// (bill, title) of "H.R. 747. A bill to …" or of "Special Report entitled ``…''". Measures
/// reported without a report may stand before the one that has it, so the last is taken.
fn entry(text: &str, congress: Option<i64>) -> (Option<String>, String) {
    static MEASURE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(concat!(
            r"((?:House|Senate) (?:Joint |Concurrent )?Resolution \d+|[HS]\.(?: ?(?:R|J|Con|",
            r"Res)\.)* ?\d+)\. ((?:A|An|Resolution|Joint|Concurrent|Message)\b)",
        ))
    });
    if let Some(c) = MEASURE.captures_iter(text).last()
        && let (Some(parsed), Some(title), Some(congress)) =
            (ids::parse_for("bills", &c[1]), c.get(2), congress)
    {
        let title = text[title.start()..].split("; with ").next().unwrap_or_default();
        // A misprint: "H. Res. 5. A bill to …" is one or the other.
        let misprint = c[1].contains("Res") && title.starts_with("A bill");
        return (
            Some(parsed.in_congress(congress).text).filter(|_| !misprint),
            title.trim().to_string(),
        );
    }
    let text = text.trim_start_matches(['.', ' ']);
    let title = text
        .rsplit_once("``")
        .map_or(text, |(_, rest)| rest.split("''").next().unwrap_or_default());
    (
        None,
        if title.len() <= LONGEST_TITLE {
            title.trim().trim_end_matches('.').to_string()
        } else {
            String::new()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;
    use crate::sources::committee_reports::read;

    #[test]
    fn a_printed_report() {
        let page = concat!(
            "<html>\n<title>House Report 119-1 - ON BOATS &amp; SHIPS</title>\n<body><pre>\n",
            "[House Report 119-1]\n\n  January 21, 2025.--Referred to the House Calendar and ordered to be \n",
            "                                printed\n\n       Mr. Doe of Maine, ",
            "from the Committee on Rules, \n                        submitted the following\n\n",
            "                       [To accompany H. Res. 53]\n\n",
            "                        SUMMARY OF THE RESOLUTION\n\n    It provides for H.R. 471.\n",
            "</pre></body></html>",
        );
        let read = read_text(read, "committee-reports/a.htm", page);
        assert_eq!(read.ids(), ["hrpt:119:1"]);
        assert_eq!(
            (read.field(0, "title"), read.field(0, "committee")),
            (&"ON BOATS & SHIPS".into(), &"HSRU".into())
        );
        assert_eq!(read.field(0, "report_date"), "2025-01-21");
        assert_eq!(*read.field(0, "bill_ids"), serde_json::json!(["hres:119:53"]));
        let last = read.records[0].bodies[0].sections.last().expect("sections");
        assert_eq!(
            (last.heading.as_str(), last.text.as_str()),
            ("SUMMARY OF THE RESOLUTION", "It provides for H.R. 471.")
        );
    }

    /// The structure of CRPT-119hrpt494-pt2.htm.
    #[test]
    fn a_part_is_printed_below_the_number() {
        let page = concat!(
            "<html>\n<title>House Report 119-494 - BOATS ACT</title>\n<body><pre>\n[House Report 119-494]\n\n",
            "119th Congress }                                       { Rept. 119-494\n",
            "                        HOUSE OF REPRESENTATIVES\n",
            "  2d Session   }                                       {    Part 2\n\n",
            " September 8, 2026.--Committed to the Committee of the Whole House\n\n",
            "      Mr. Walberg, from the Committee on Education and Workforce,\n",
            "                        submitted the following\n\n",
            "                        [To accompany H.R. 3495]\n\n",
            "    It corrects the first one (H. Rept. \n119-494, Part 1).\n</pre></body></html>",
        );
        let read = read_text(read, "committee-reports/a.htm", page);
        assert_eq!(read.ids(), ["hrpt:119:494-2"]);
        assert_eq!(
            (read.field(0, "part"), read.field(0, "committee")),
            (&"2".into(), &"HSED".into())
        );
        assert_eq!(*read.field(0, "bill_ids"), serde_json::json!(["hr:119:3495"]));
    }

    #[test]
    fn a_list_of_the_house() {
        let granule = serde_json::json!({"granule_id": "x", "date": "2025-03-01", "section": "HOUSE", "text":
        concat!(
            "Mr. DOE: Committee on Financial Services. H.R. \n 747. A bill on boats; with an amendment ",
            "(Rept. \n[[Page H1]]\n 119-\n 19, Pt. 1). Referred. Mr. ROE: Committee on Rules. House ",
            "Resolution 53. Resolution on ships (Rept. 119-1). ========= NOTE ========= On page H1 the ",
            "following appeared: Committee on Rules. Ships (Rept. 119-11). The online version has been ",
            "corrected to read: Ships (Rept. 119-1). ========= END NOTE =========",
        )});
        let mut reports = BTreeMap::new();
        listed(&granule, &mut reports);
        assert_eq!(reports.len(), 2, "a misprint is no report");
        let first = &reports["hrpt:119:19"].fields;
        assert_eq!(
            (&first["bill_ids"][0], &first["part"], &first["title"]),
            (&"hr:119:747".into(), &"1".into(), &"A bill on boats".into())
        );
        assert_eq!(reports["hrpt:119:1"].fields["bill_ids"][0], "hres:119:53");
        assert_eq!(reports["hrpt:119:1"].fields["committee"], "HSRU");
    }

    #[test]
    fn what_an_entry_names() {
        assert_eq!(
            entry("House Resolution 5. A bill on boats", Some(119)),
            (None, "A bill on boats".to_string())
        );
        assert_eq!(entry("Report on boats ", Some(119)), (None, "Report on boats".to_string()));
    }

    #[test]
    fn a_list_of_the_senate() {
        let granule = serde_json::json!({"granule_id": "x", "date": "2025-03-01", "section": "SENATE", "text":
        concat!(
            "By Mr. DOE, from the Select Committee on Intelligence: Special Report entitled ``On Boats'' ",
            "(Rept. No. 119-1). By Mr. ROE, from the Committee on Commerce, Science, and Transportation, ",
            "without amendment: S. 9. A bill on fish. S. 195. A bill on boats (Rept. No. 119-4).",
        )});
        let mut reports = BTreeMap::new();
        listed(&granule, &mut reports);
        assert_eq!(reports["srpt:119:1"].fields["title"], "On Boats");
        assert_eq!(reports["srpt:119:1"].fields["committee"], "SLIN");
        assert_eq!(reports["srpt:119:4"].fields["bill_ids"], serde_json::json!(["s:119:195"]));
    }
}
