//! CBO cost estimates: JSONL rows taken from bill status files (bill, title, day, address). An
//! estimate printed in a committee report does not carry CBO's publication number, so such an
//! excerpt is no estimate of its own.

use anyhow::Result;
use josh::catalog::ids;
use serde_json::Value;

use super::cbo_estimates_text;
use crate::formats::json::str_at;
use crate::formats::{committee_names, documents, eastern, html, measures};
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
    let mut record = Record::new(SOURCE, id.as_str(), Rank::Partial);
    record.set("number", id.trim_start_matches("cbo:").parse::<i64>().ok());
    record.set("bill_id", measures::bill_id(&str_at(row, &["bill_id"]), None));
    record.set("published_date", eastern::day(&str_at(row, &["pubDate"])));
    set_subject(&mut record, &str_at(row, &["title"]), &str_at(row, &["description"]));
    record.set("url", url);
    Some(record)
}

/// Sets what CBO's title and description say: the bill's name, its stage, the committee. Titles
/// come from CBO's web pages and keep their character references.
pub fn set_subject(record: &mut Record, title: &str, description: &str) {
    let title = html::decode_references(title);
    record
        .set("stage", stage(&title, description))
        .set("committee", committee(&title, description));
    record.set("title", title);
}

/// The stage of the bill: "As ordered reported by …" as the description begins, or "…, as passed
/// by the Senate" in the title. A letter that mentions a stage on the way is not an estimate of it.
fn stage(title: &str, description: &str) -> Option<&'static str> {
    const STAGES: [(&str, &str); 8] = [
        ("ordered reported", "ordered_reported"),
        ("ordered to be reported", "ordered_reported"),
        ("reported", "reported"),
        ("introduced", "introduced"),
        ("passed by the house", "passed_house"),
        ("passed by the senate", "passed_senate"),
        ("enacted", "enacted"),
        ("cleared", "cleared"),
    ];
    let known = |text: &str| STAGES.iter().find(|(start, _)| text.starts_with(start)).map(|s| s.1);
    let (title, description) = (title.to_lowercase(), description.trim().to_lowercase());
    let of_law = || description.strip_prefix("public law ")?.split_once(" as ");
    let described = description.strip_prefix("as ").or_else(|| of_law().map(|(_, rest)| rest));
    let in_title =
        || title.match_indices(", as ").find_map(|(at, as_)| known(&title[at + as_.len()..]));
    described.and_then(known).or_else(in_title)
}

/// The committee whose version is estimated: named with its chamber in the title or the
/// description.
fn committee(title: &str, description: &str) -> Option<&'static str> {
    [title, description].iter().find_map(|text| {
        let named = |chamber: &str, words: &str| {
            text.split_once(words).and_then(|(_, n)| committee_names::code_at_start(chamber, n))
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
    fn the_stage_is_what_the_description_begins_with_or_the_title_adds() {
        for (title, description, expected) in [
            ("H.R. 5, Lake Act", "", None),
            ("H.R. 5, as Passed by the Senate on May 1", "", Some("passed_senate")),
            (
                "S. 5",
                "As ordered reported by the Senate Committee on Finance",
                Some("ordered_reported"),
            ),
            ("S. 5", "As ordered to be reported on May 1", Some("ordered_reported")),
            ("H.R. 5", "As cleared by the Congress on June 9", Some("cleared")),
            ("H.R. 5", "Public Law 119-21 as enacted on July 4", Some("enacted")),
            ("H.R. 5", "A letter on section 2 of the bill as passed by the Senate", None),
            ("H.R. 5", "As posted on the website of the House Committee on Rules", None),
        ] {
            assert_eq!(stage(title, description), expected, "{title}: {description}");
        }
    }

    #[test]
    fn character_references_in_titles_are_decoded() {
        let mut record = Record::new(SOURCE, "cbo:1", Rank::Partial);
        set_subject(&mut record, "H.R. 5, as the &quot;Doe Post Office&quot;", "");
        assert_eq!(record.fields["title"], "H.R. 5, as the \"Doe Post Office\"");
    }
}
