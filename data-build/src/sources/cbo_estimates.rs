//! CBO cost estimates: JSONL rows taken from bill status files (bill, title, day, address). An
//! estimate printed in a committee report does not carry CBO's publication number, so such an
//! excerpt is no estimate of its own.

use anyhow::Result;
use josh::catalog::ids;
use serde_json::Value;

use super::cbo_estimates_text;
use crate::formats::json::str_at;
use crate::formats::{agencies, dates, documents, measures};
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "cbo-estimates";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension() {
        "jsonl" => {}
        "txt" => return cbo_estimates_text::read(input, out),
        _ => return Ok(Outcome::Skipped),
    }
    for (number, row) in documents::lines(input)? {
        let place = format!("line {number}");
        match row {
            Ok(row) => match estimate(&row) {
                Some(record) => out.record(record),
                None => out.reject(&place, "no address of a CBO publication"),
            },
            Err(reason) => out.reject(&place, &reason),
        }
    }
    Ok(Outcome::Read)
}

fn estimate(row: &Value) -> Option<Record> {
    let url = str_at(row, &["url"]);
    let id = ids::canonical(SOURCE, &url)?;
    let (title, description) = (str_at(row, &["title"]), str_at(row, &["description"]));
    let mut record = Record::new(SOURCE, id.as_str(), Rank::Partial);
    record.set("number", id.trim_start_matches("cbo:").parse::<i64>().ok());
    record.set("bill_id", measures::bill_id(&str_at(row, &["bill_id"]), None));
    record
        .set("title", title.as_str())
        .set("published_date", dates::iso(&str_at(row, &["pubDate"])));
    record
        .set("stage", stage(&format!("{title} {description}")))
        .set("committee", committee(&title, &description));
    record.set("url", url);
    Some(record)
}

/// The stage of the bill, where the title or CBO's description says it.
fn stage(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let stages = [
        ("ordered reported", "ordered_reported"),
        ("ordered to be reported", "ordered_reported"),
        ("as reported", "reported"),
        ("as introduced", "introduced"),
        ("passed by the house", "passed_house"),
        ("passed by the senate", "passed_senate"),
        ("as enacted", "enacted"),
        ("as cleared", "cleared"),
    ];
    stages.iter().find(|(words, _)| text.contains(words)).map(|(_, stage)| *stage)
}

/// The committee whose version is estimated: named with its chamber in the title or the
/// description.
fn committee(title: &str, description: &str) -> Option<&'static str> {
    [title, description].iter().find_map(|text| {
        let named = |chamber: &str, words: &str| {
            text.split_once(words).and_then(|(_, n)| agencies::committee_at_start(chamber, n))
        };
        named("house", "House Committee on ").or_else(|| named("senate", "Senate Committee on "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn rows_and_a_row_without_address() {
        let lines = concat!(
            "{\"bill_id\":\"hr1-117\",\"pubDate\":\"2021-03-01T16:40:00Z\",\"title\":\"H.R. 1, Some Act, as ",
            "ordered reported by the House Committee on the ",
            "Judiciary\",\"url\":\"https://www.cbo.gov/publication/57035\",\"description\":null}\n",
            "{\"bill_id\":\"hr2-117\"}\n",
        );
        let read = read_text(read, "cbo-estimates/a.jsonl", lines);
        assert_eq!(read.ids(), ["cbo:57035"]);
        assert_eq!(read.field(0, "bill_id"), "hr:117:1");
        assert_eq!(read.field(0, "stage"), "ordered_reported");
        assert_eq!(read.field(0, "committee"), "HSJU");
        assert_eq!(read.rejects.len(), 1);
    }

    #[test]
    fn a_title_that_says_no_stage() {
        assert_eq!(stage("H.R. 5, Lake Act"), None);
        assert_eq!(stage("H.R. 5, as Passed by the Senate on May 1"), Some("passed_senate"));
    }
}
