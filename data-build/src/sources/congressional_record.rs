//! Granules of the Congressional Record: as JSONL (GPO's granule id, day, section, page, title,
//! speakers with their bioguide ids, measures and the text), and GPO's own packages of a day.

use std::borrow::Cow;
use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::{ids, wording};
use regex::Regex;
use serde_json::Value;

use super::{amendment_texts, congressional_record_package};
use crate::formats::dates;
use crate::formats::documents::{self, non_empty_list};
use crate::formats::json::{items_at, str_at};
use crate::formats::outline::Outline;
use crate::formats::plain::{self, Block};
use crate::input::Input;
use crate::mentions;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Section, Sink};

const SOURCE: &str = "congressional-record";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension() {
        "jsonl" => granules(input, out),
        "htm" | "html" => congressional_record_package::text(input, out),
        "xml" => congressional_record_package::metadata(&input.text()?, out),
        _ => Ok(Outcome::Skipped),
    }
}

fn granules(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    for (number, line) in documents::lines(input)? {
        match line.and_then(|value| granule(&value)) {
            Ok(records) => records.into_iter().for_each(|record| out.record(record)),
            Err(reason) => out.reject(&format!("line {number}"), &reason),
        }
    }
    Ok(Outcome::Read)
}

/// The granule, and the amendments whose texts it prints.
fn granule(value: &Value) -> Result<Vec<Record>, String> {
    let granule_id = str_at(value, &["granule_id"]);
    let id =
        ids::canonical(SOURCE, &granule_id).ok_or(format!("not a granule id: {granule_id:?}"))?;
    let date = dates::iso(&str_at(value, &["date"]))
        .or_else(|| dates::iso(id.split(':').nth(1)?))
        .ok_or("no day")?;
    let congress = wording::congress_on(&date);
    let (chamber, section) = chamber_and_section(&str_at(value, &["section"]));
    let measures = items_at(value, &["measures"])
        .iter()
        .filter_map(|m| m.as_str())
        .collect::<Vec<_>>()
        .join("; ");
    let mut record = Record::new(SOURCE, id, Rank::Full);
    record
        .set("title", str_at(value, &["title"]))
        .set("date", date.as_str())
        .set("congress", congress);
    record
        .set("chamber", chamber)
        .set("section", section)
        .set("granule_id", granule_id)
        .set("page", str_at(value, &["page"]));
    record
        .set("speakers", non_empty_list(speakers(value)))
        .set("bill_ids", non_empty_list(mentions::bills(&measures, congress)));
    record.set(
        "volume",
        str_at(value, &["citation"]).split(' ').next().and_then(|v| v.parse::<i64>().ok()),
    );
    // Not trimmed: the first line is told to be a heading by its indent.
    let text = without_tags(value.get("text").and_then(Value::as_str).unwrap_or_default());
    record.body("text", &date, sections(&text));
    let mut records = amendment_texts::records(&str_at(value, &["title"]), &text, &date);
    records.push(record);
    Ok(records)
}

pub fn chamber_and_section(code: &str) -> (Option<&'static str>, Option<&'static str>) {
    let (chamber, section) = match code.to_ascii_uppercase().replace([' ', '_'], "").as_str() {
        "HOUSE" => ("house", "House"),
        "SENATE" => ("senate", "Senate"),
        "EXTENSIONS" | "EXTENSIONSOFREMARKS" => ("extensions", "Extensions of Remarks"),
        "DAILYDIGEST" => ("daily_digest", "Daily Digest"),
        _ => return (None, None),
    };
    (Some(chamber), Some(section))
}

/// The Digest's pages hide addresses in marks of their own: `\0 <span class="__cf_email__"
/// …>[email protected]</span>`.
pub fn without_tags(text: &str) -> Cow<'_, str> {
    static TAG: LazyLock<Regex> = LazyLock::new(|| pattern(r"\x00 ?|</?(?:span|a)(?:\s[^<>]*)?>"));
    TAG.replace_all(text, "")
}

/// Each speaker once, in the order of the granule.
fn speakers(value: &Value) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for speaker in items_at(value, &["speakers"]) {
        let bioguide = ids::canonical("legislators", &str_at(speaker, &["bioguide"]));
        found.extend(bioguide.filter(|b| !found.contains(b)));
    }
    found
}

/// The text cut at centred headings and where another member takes the floor; the chair's words
/// stay where they fall.
pub fn sections(text: &str) -> Vec<Section> {
    static TURN: LazyLock<Regex> = LazyLock::new(|| {
        let text = concat!(
            r"^((?:Mr|Mrs|Ms|Miss|Dr)\. (?:[A-Z][\w'’]*[A-Z]{2}[\w'’-]*|",
            r"[A-Z]{2}[\w'’-]*)(?: [A-Z][\w'’-]*[A-Z]\b)*(?: of [A-Z][a-z]+(?: [A-Z][a-z]+)*)?)\. ",
        );
        pattern(text)
    });
    let mut outline = Outline::default();
    let mut speaking = String::new();
    for block in plain::blocks(text) {
        match block {
            Block::Heading(title) => {
                speaking.clear();
                outline.heading(1, "", &title);
            }
            Block::Paragraph(paragraph) => {
                let turn = TURN.captures(&paragraph).map(|c| c[1].to_string());
                if let Some(speaker) = turn.filter(|s| *s != speaking) {
                    outline.heading(2, "", &speaker);
                    speaking = speaker;
                }
                outline.paragraph(&paragraph);
            }
        }
    }
    outline.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn tags_that_slipped_into_the_text_are_taken_out() {
        let text = "E-Mail, \0 <span class=\"__cf_email__\" data-cfemail=\"93\">[email protected]</span>, a < b";
        assert_eq!(without_tags(text), "E-Mail, [email protected], a < b");
    }

    #[test]
    fn a_granule() {
        let line = concat!(
            r#"{"granule_id":"CREC-2025-05-21-pt1-PgH2210-3","date":"2025-05-21","section":"HOUSE","#,
            r#""page":"H2210","citation":"171 Cong. Rec. H2210","title":"BOATS","measures":["H.R. 1","#,
            r#""S.J.Res. 13","S.Amdt. 4"],"speakers":[{"bioguide":"S000033"},{"bioguide":null},"#,
            r#"{"bioguide":"S000033"}],"#,
            r#""text":"                                 BOATS\n\n  Mr. McCOY of Maine. Mr. Speaker,"#,
            r#" I rise.\n  Boats float.\n  The SPEAKER pro tempore. Without objection.\n  Ms. DOE. I object."}"#,
        );
        let read = read_text(read, "congressional-record/a.jsonl", &format!("{line}\nnot json\n"));
        assert_eq!(read.ids(), ["crec:2025-05-21:H2210-3"]);
        assert_eq!(read.field(0, "congress"), 119);
        assert_eq!(read.field(0, "volume"), 171);
        assert_eq!(*read.field(0, "speakers"), serde_json::json!(["S000033"]));
        assert_eq!(*read.field(0, "bill_ids"), serde_json::json!(["hr:119:1", "sjres:119:13"]));
        let headings: Vec<_> =
            read.records[0].bodies[0].sections.iter().map(|s| s.heading.as_str()).collect();
        assert_eq!(headings, ["BOATS", "BOATS > Mr. McCOY of Maine", "BOATS > Ms. DOE"]);
        assert_eq!(read.rejects.len(), 1);
    }

    /// Given the granule that prints amendments, then each amendment gets its text.
    #[test]
    fn texts_of_amendments() {
        let line = serde_json::json!({
            "granule_id": "CREC-2025-01-15-pt1-PgS170-1", "date": "2025-01-15",
            "section": "SENATE", "page": "S170", "title": "TEXT OF AMENDMENTS",
            "text": "                           TEXT OF AMENDMENTS\n\n  SA 8. Mr. DOE submitted an \
                     amendment intended to be proposed by him to the bill S. 5, to count boats; as \
                     follows:\n\n       At the end, add the following:\n\n     SEC. 4. BOATS.\n\n       \
                     Boats shall be counted.\n",
        });
        let read = read_text(read, "congressional-record/b.jsonl", &format!("{line}\n"));
        let amendment = read.records.iter().find(|r| r.id == "samdt:119:8").expect("an amendment");
        assert_eq!(amendment.source, "amendments");
        let text: String = amendment.bodies[0].sections.iter().map(|s| s.text.as_str()).collect();
        assert!(text.contains("Boats shall be counted."), "{text}");
    }
}
