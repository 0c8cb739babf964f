//! Bills: congress.gov's API objects and their texts as JSONL, BILLSTATUS XML, and bill texts in
//! XML.

use anyhow::Result;
use serde_json::Value;

use super::bill_record::Bill;
use super::{bill_plain_text, bill_status, bill_text};
use crate::formats::{documents, xml};
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::Sink;

/// Reads one file below `bills`.
pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension().to_ascii_lowercase().as_str() {
        "jsonl" => read_lines(input, out),
        "json" => read_document(input, out),
        "xml" => read_xml(input, out),
        _ => Ok(Outcome::Skipped),
    }
}

/// Bills and bill texts may stand in one file: each line says by its keys what it is.
fn read_lines(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    for (number, line) in documents::lines(input)? {
        let place = format!("line {number}");
        match line {
            Ok(value) => read_object(&value, &place, out),
            Err(reason) => out.reject(&place, &reason),
        }
    }
    Ok(Outcome::Read)
}

/// An API answer on its own, or a list of them.
fn read_document(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let Some(document) = documents::value(input)? else { return Ok(Outcome::Skipped) };
    let items = match &document {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    if !items.iter().any(|i| i.get("bill").is_some()) {
        return Ok(Outcome::Skipped);
    }
    for (number, item) in items.iter().enumerate() {
        read_object(item, &format!("item {}", number + 1), out);
    }
    Ok(Outcome::Read)
}

fn read_object(value: &Value, place: &str, out: &mut dyn Sink) {
    if let Some(bill) = Bill::from_api(value) {
        match bill.id() {
            Some(id) => bill.emit(&id, out),
            None => out.reject(place, "a bill without type, congress and number"),
        }
    } else if value.get("text").is_some_and(Value::is_string) && value.get("version").is_some() {
        match bill_plain_text::record(value) {
            Ok(record) => out.record(record),
            Err(reason) => out.reject(place, &reason),
        }
    } else {
        out.reject(place, "neither a bill nor a bill's text");
    }
}

fn read_xml(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let text = input.text()?;
    let document = xml::parse(&text)?;
    let root = document.root_element();
    match root.tag_name().name() {
        "billStatus" => bill_status::read(root, out),
        "bill" | "resolution" | "amendment-doc" | "engrossedAmendment" => {
            bill_text::read(root, input.uncompressed_name(), out)
        }
        _ => return Ok(Outcome::Skipped),
    }
    Ok(Outcome::Read)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats::testing::{Collected, read_text};

    fn read_json(value: &Value) -> Collected {
        read_text(read, "bills/b.jsonl", &value.to_string())
    }

    fn bill(extra: Value) -> Value {
        let mut bill = json!({"bill": {
            "congress": 119, "type": "HR", "number": "7", "title": "To do a thing.", "introducedDate": "2025-01-03",
            "latestAction": {"actionDate": "2025-01-03", "text": "Introduced in House"},
            "sponsors": [{"bioguideId": "D000001", "fullName": "Rep. Doe, Jane [D-CA-1]", "party": "D",
            "state": "CA"}],
        }});
        for (key, value) in extra.as_object().expect("an object") {
            bill[key] = value.clone();
        }
        bill
    }

    #[test]
    fn the_newest_action_beats_a_stale_latest_action() {
        let actions = json!({"actions": {"actions": [
            {"actionDate": "2025-01-03", "text": "Introduced in House", "actionCode": "1000"},
            {"actionDate": "2025-03-04", "text": "Passed/agreed to in House: On passage.", "actionCode": "8000",
             "recordedVotes": [{"chamber": "House", "congress": "119", "sessionNumber": "1", "rollNumber": "9"}]}]}});
        let read = read_json(&bill(actions));
        assert_eq!(read.field(0, "latest_action_date"), "2025-03-04");
        assert_eq!(read.field(0, "status"), "passed_house");
        let (sub, row) = &read.records[0].rows[0];
        assert_eq!(
            (*sub, &row["vote_id"], &row["chamber"]),
            ("actions", &json!("house:119:1:9"), &json!("house"))
        );
    }

    #[test]
    fn withdrawn_cosponsors_are_rows_but_not_cosponsors() {
        let cosponsors = json!({"cosponsors": {"cosponsors": [
            {"bioguideId": "A000001", "fullName": "Rep. A, B [R-TX-1]", "isOriginalCosponsor": "True"},
            {"bioguideId": "C000001", "fullName": "Rep. C, D [R-TX-2]", "sponsorshipWithdrawnDate": "2025-02-11"}]}});
        let read = read_json(&bill(cosponsors));
        assert_eq!(*read.field(0, "cosponsors"), json!(["A000001"]));
        assert_eq!(*read.field(0, "cosponsor_count"), json!(1));
        assert_eq!(read.records[0].rows.len(), 2);
        assert_eq!(read.records[0].rows[0].1["original"], json!(true));
    }

    #[test]
    fn an_item_is_an_object_or_a_list_and_subcommittees_count() {
        let committees = json!({"committees": {"committees": [{"systemCode": "hsju00", "chamber": "House",
        "name": "J",
            "activities": {"item": {"name": "Referred To", "date": "2025-01-03T16:18:45Z"}},
            "subcommittees": {"item": {"systemCode": "hsju08", "name": "C",
                "activities": {"item": [{"name": "Referred to"}, {"name": "Reported by"}]}}}}]},
            "subjects": {"subjects": [{"legislativeSubjects": {"item": {"name": "Civil actions"}}, "policyArea":
            {"name": "Law"}}]}});
        let read = read_json(&bill(committees));
        assert_eq!(*read.field(0, "committees"), json!(["HSJU", "HSJU08"]));
        assert_eq!(*read.field(0, "subjects"), json!(["Civil actions"]));
        assert_eq!(read.field(0, "policy_area"), "Law");
        let topics: Vec<_> = read.records[0]
            .rows
            .iter()
            .filter(|r| r.0 == "subjects")
            .map(|r| &r.1["topic_id"])
            .collect();
        assert_eq!(topics, ["topic:law", "topic:civil-actions"]);
    }

    #[test]
    fn a_law_is_handed_over_with_its_bill() {
        let law = json!({"laws": {"laws": [{"number": "119-48", "type": "Public Law"}]},
            "actions": {"actions": [{"actionDate": "2025-12-01", "actionCode": "36000",
            "text": "Became Public Law No: 119-48."}]}});
        let read = read_json(&bill(law));
        assert_eq!(read.ids(), ["pl:119:48", "hr:119:7"]);
        assert_eq!(
            (read.field(0, "enacted_date"), read.field(0, "bill_id")),
            (&json!("2025-12-01"), &json!("hr:119:7"))
        );
        assert_eq!(
            (read.field(1, "law_id"), read.field(1, "status")),
            (&json!("pl:119:48"), &json!("enacted"))
        );
    }

    #[test]
    fn the_short_title_is_not_that_of_a_part() {
        let titles = json!({"titles": {"titles": [
            {"titleType": "Display Title", "title": "Whole Act"},
            {"titleType": "Short Title(s) as Introduced", "title": "Early Act"},
            {"titleType": "Short Title(s) as Passed House", "title": "Whole Act"},
            {"titleType": "Short Title(s) as Passed House for portions of this bill", "title": "Part Act"}]}});
        let read = read_json(&bill(titles));
        assert_eq!(
            (read.field(0, "title"), read.field(0, "short_title")),
            (&json!("Whole Act"), &json!("Whole Act"))
        );
    }

    #[test]
    fn a_bad_line_is_rejected_and_the_rest_goes_on() {
        let text = format!("{{\n{}\n{}", json!({"bill": {"title": "no number"}}), bill(json!({})));
        let read = read_text(read, "bills/b.jsonl", &text);
        assert_eq!((read.ids(), read.rejects.len()), (vec!["hr:119:7"], 2));
    }

    #[test]
    fn unknown_formats_are_skipped() {
        assert_eq!(read_text(read, "bills/guide.md", "# Guide").outcome, Outcome::Skipped);
        assert_eq!(read_text(read, "bills/x.xml", "<other/>").outcome, Outcome::Skipped);
    }
}
