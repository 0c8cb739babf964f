//! Committee reports: report-to-bill links as JSONL, a catalog of GPO packages in JSON, and (in
//! the file beside this one) GPO's texts and the Record's lists of reports of committees.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::ids;
use regex::Regex;
use serde_json::{Value, json};

use super::committee_reports_text as text;
use crate::formats::json::str_at;
use crate::formats::{committee_names, dates, documents, measures};
use crate::input::Input;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "committee-reports";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension() {
        "jsonl" => lines(input, out),
        "json" => catalog(input, out),
        // The metadata of a package, which say nothing that the text does not.
        "xml" if input.file_name() == "mods.xml" => Ok(Outcome::Read),
        "htm" | "html" | "txt" => text::report(&input.text()?, out),
        _ => Ok(Outcome::Skipped),
    }
}

/// A record with what its id says.
pub fn new_record(id: &str, rank: Rank) -> Record {
    let mut parts = id.split(':');
    let (kind, congress) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let number = parts.next().unwrap_or_default();
    let (number, part) = number.split_once('-').unwrap_or((number, ""));
    let mut record = Record::new(SOURCE, id, rank);
    record
        .set("type", kind)
        .set("congress", congress.parse::<i64>().ok())
        .set("number", number.parse::<i64>().ok())
        .set("part", part)
        .set("chamber", chamber(id));
    record
}

/// The record of a report as cited: "H. Rept. 119-19, Part 2", "CRPT-119hrpt19-pt2".
pub fn cited(citation: &str, rank: Rank) -> Option<Record> {
    static PART: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)(?:\b(?:part|pt\.)\s?|-pt)(?:\d+|[ivx]+)\s*$"));
    let mut record = new_record(&ids::canonical(SOURCE, citation)?, rank);
    // The first part has the id of the whole, which does not say that there are parts.
    if !record.fields.contains_key("part") && PART.is_match(citation) {
        record.set("part", "1");
    }
    Some(record)
}

pub fn chamber(id: &str) -> &'static str {
    if id.starts_with("hrpt") { "house" } else { "senate" }
}

/// Adds a bill to those a report reports: a report may be named once for each of its bills.
pub fn add_bill(record: &mut Record, bill_id: Option<String>) {
    let Some(bill_id) = bill_id else { return };
    let bills = record.fields.entry("bill_ids").or_insert_with(|| json!([]));
    if let Value::Array(bills) = bills
        && !bills.iter().any(|b| b.as_str() == Some(bill_id.as_str()))
    {
        bills.push(Value::from(bill_id));
    }
}

/// A file of links or of granules of the Record. Lines about the same report make one record.
fn lines(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let mut reports: BTreeMap<String, Record> = BTreeMap::new();
    let mut outcome = Outcome::Skipped;
    for (number, line) in documents::lines(input)? {
        let read = line.and_then(|value| {
            if value.get("granule_id").is_some() {
                text::listed(&value, &mut reports);
                Ok(())
            } else if value.get("report").is_some() {
                link(&value, &mut reports)
            } else {
                Err("neither a report nor a granule".to_string())
            }
        });
        match read {
            Ok(()) => outcome = Outcome::Read,
            Err(reason) => out.reject(&format!("line {number}"), &reason),
        }
    }
    reports.into_values().for_each(|record| out.record(record));
    Ok(outcome)
}

fn link(value: &Value, reports: &mut BTreeMap<String, Record>) -> Result<(), String> {
    let stated = str_at(value, &["report"]);
    let action = str_at(value, &["action_text"]);
    let citation = with_part(&stated, text::part(&action).as_deref());
    let found = cited(&citation, Rank::Partial).ok_or(format!("not a report: {stated:?}"))?;
    let record = known_or(found, reports);
    add_bill(record, measures::bill_id(&str_at(value, &["bill_id"]), None));
    record.set("report_date", dates::iso(&str_at(value, &["date"])));
    let chamber = chamber(&record.id);
    record.set(
        "committee",
        action
            .split_once("Committee on ")
            .and_then(|(_, n)| committee_names::code_at_start(chamber, n)),
    );
    Ok(())
}

/// The record of a report that was found once more. That it has parts may be said only now.
pub fn known_or(found: Record, reports: &mut BTreeMap<String, Record>) -> &mut Record {
    let part = found.fields.get("part").cloned();
    let record = reports.entry(found.id.clone()).or_insert(found);
    record.set("part", part);
    record
}

pub fn with_part(citation: &str, part: Option<&str>) -> String {
    part.map_or(citation.to_string(), |part| format!("{citation}, Part {part}"))
}

fn catalog(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let Some(Value::Array(entries)) = documents::value(input)? else { return Ok(Outcome::Skipped) };
    let mut outcome = Outcome::Skipped;
    for (n, entry) in entries.iter().enumerate() {
        let package = str_at(entry, &["package_id"]);
        // Other packages in the list (committee prints, CPRT) are not reports.
        if !package.starts_with("CRPT-") {
            continue;
        }
        outcome = Outcome::Read;
        let Some(mut record) = cited(&package, Rank::Partial) else {
            out.reject(&format!("entry {}", n + 1), &format!("not a report: {package:?}"));
            continue;
        };
        let title = str_at(entry, &["title"]);
        record
            .set("report_date", dates::iso(&str_at(entry, &["date_issued"])))
            .set("url", str_at(entry, &["html_url"]));
        // Bills to appropriate are reported by one committee only; the list itself names
        // subcommittees.
        if str_at(entry, &["stage"]) == "committee"
            && title.to_uppercase().contains("APPROPRIATION")
        {
            let chamber = chamber(&record.id);
            record.set("committee", committee_names::code(chamber, "Appropriations"));
        }
        record.set("title", title);
        out.record(record);
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn links_to_one_report_are_one_record() {
        let lines = concat!(
            "{\"report\":\"H. Rept. ",
            "119-1\",\"bill_id\":\"hres53-119\",\"date\":\"2025-01-21\",\"action_text\":\"The House ",
            "Committee on Rules reported an original measure, H. Rept. 119-1, by Mr. Doe.\"}\n",
            "{\"report\":\"H. Rept. ",
            "119-1\",\"bill_id\":\"hr2-119\",\"date\":\"2025-01-21\",\"action_text\":\"Reported by the ",
            "Committee on Rules. H. Rept. 119-1, Part I.\"}\n{\"report\":\"?\"}\n",
        );
        let read = read_text(read, "committee-reports/a.jsonl", lines);
        assert_eq!(read.ids(), ["hrpt:119:1"]);
        assert_eq!(*read.field(0, "bill_ids"), json!(["hres:119:53", "hr:119:2"]));
        assert_eq!(
            (read.field(0, "committee"), read.field(0, "part")),
            (&"HSRU".into(), &"1".into())
        );
        assert_eq!(read.rejects.len(), 1);
    }

    #[test]
    fn parts_of_a_report_are_records_of_their_own() {
        let line = |part: &str, date: &str| {
            format!(
                r#"{{"report":"H. Rept. 119-494","bill_id":"hr3495-119","date":"{date}","action_text":
                "Reported by the Committee on Ways and Means. H. Rept. 119-494, Part {part}."}}"#
            )
            .replace('\n', "")
        };
        let lines = format!("{}\n{}\n", line("I", "2026-02-09"), line("II", "2026-09-08"));
        let read = read_text(read, "committee-reports/a.jsonl", &lines);
        assert_eq!(read.ids(), ["hrpt:119:494", "hrpt:119:494-2"]);
        assert_eq!((read.field(0, "part"), read.field(1, "part")), (&"1".into(), &"2".into()));
        assert_eq!(
            (read.field(1, "number"), read.field(1, "bill_ids")),
            (&494.into(), &json!(["hr:119:3495"]))
        );
    }

    #[test]
    fn a_catalog_of_packages() {
        let json = concat!(
            r#"[{"package_id":"CRPT-114srpt97","title":"BOATS APPROPRIATIONS BILL, 2016","stage":"committee","#,
            r#""date_issued":"2015-07-30"},{"package_id":"CPRT-114HPRT98155"}]"#,
        );
        let read = read_text(read, "committee-reports/a.json", json);
        assert_eq!(read.ids(), ["srpt:114:97"]);
        assert_eq!(read.field(0, "committee"), "SSAP");
        assert!(read.rejects.is_empty());
    }
}
