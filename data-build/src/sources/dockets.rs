//! Dockets of Regulations.gov: answers of its v4 API (dockets, documents, one document in detail;
//! also several answers in one list) and JSONL of document objects. Documents are gathered by
//! docket within a file; comments are passed over.

use std::collections::BTreeMap;

use anyhow::Result;
use josh::catalog::ids;
use serde_json::{Map, Value, json};

use crate::formats::documents::{self, non_empty};
use crate::formats::eastern;
use crate::formats::json::{items_at, str_at};
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "regulations-dot-gov-dockets";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let mut found = Found::default();
    if matches!(input.extension(), "jsonl" | "ndjson") {
        for (line, value) in documents::lines(input)? {
            match value {
                Ok(value) => found.take(&value, &format!("line {line}"), out),
                Err(reason) => out.reject(&format!("line {line}"), &reason),
            }
        }
    } else if let Some(document) = documents::value(input)? {
        for (i, answer) in items_at(&document, &[]).into_iter().enumerate() {
            found.take(answer, &format!("answer {}", i + 1), out);
        }
    }
    let outcome = if found.dockets.is_empty() { Outcome::Skipped } else { Outcome::Read };
    for (id, docket) in found.dockets {
        out.record(docket.into_record(id));
    }
    Ok(outcome)
}

/// The dockets of one file by canonical id.
#[derive(Default)]
struct Found {
    dockets: BTreeMap<String, Docket>,
}

#[derive(Default)]
struct Docket {
    /// The id as Regulations.gov writes it.
    own_id: String,
    agency: String,
    /// What the docket's own page states, where the file holds it.
    described: Option<Record>,
    /// (day posted, document id) -> row, oldest first.
    documents: BTreeMap<(String, String), Map<String, Value>>,
}

impl Found {
    /// Takes an answer of the API apart down to the objects it holds.
    fn take(&mut self, value: &Value, place: &str, out: &mut dyn Sink) {
        match str_at(value, &["type"]).as_str() {
            "dockets" => self.docket(value, place, out),
            "documents" => self.document(value, place, out),
            "" => {
                for item in items_at(value, &["data"]) {
                    self.take(item, place, out);
                }
            }
            _ => {}
        }
    }

    fn entry(&mut self, own_id: &str) -> Option<&mut Docket> {
        let id = ids::canonical(SOURCE, &format!("docket:{own_id}"))?;
        let docket = self.dockets.entry(id).or_default();
        docket.own_id = own_id.to_string();
        Some(docket)
    }

    fn docket(&mut self, value: &Value, place: &str, out: &mut dyn Sink) {
        let own_id = str_at(value, &["id"]);
        let Some(docket) = self.entry(&own_id) else {
            return out.reject(place, &format!("no docket id: {own_id:?}"));
        };
        let text = |key: &str| str_at(value, &["attributes", key]);
        let mut r = Record::new(SOURCE, "", Rank::Full);
        r.set("title", text("title")).set("docket_type", text("docketType").to_ascii_lowercase());
        r.set("rin", Some(text("rin")).filter(|rin| rin.contains('-')));
        docket.agency = text("agencyId");
        docket.described = Some(r);
    }

    fn document(&mut self, value: &Value, place: &str, out: &mut dyn Sink) {
        let text = |key: &str| str_at(value, &["attributes", key]);
        let own_id = text("docketId");
        if own_id.is_empty() {
            // Some agencies post documents outside any docket.
            return;
        }
        let Some(docket) = self.entry(&own_id) else {
            return out.reject(place, &format!("no docket id: {own_id:?}"));
        };
        if docket.agency.is_empty() {
            docket.agency = text("agencyId");
        }
        let (id, posted) = (str_at(value, &["id"]), eastern::entered_day(&text("postedDate")));
        let row = json!({
            "document_id": non_empty(&id),
            "title": non_empty(&text("title")),
            "type": non_empty(&text("documentType")),
            "posted_date": posted,
            "federal_register_id": ids::canonical("federal-register", &text("frDocNum")),
            "comment_end_date": eastern::last_day(&text("commentEndDate")),
        });
        if let Value::Object(row) = row {
            docket.documents.insert((posted.unwrap_or_default(), id), row);
        }
    }
}

impl Docket {
    fn into_record(self, id: String) -> Record {
        let catch_all = self.own_id.contains("_FRDOC_");
        let mut r = self.described.unwrap_or_else(|| Record::new(SOURCE, "", Rank::Partial));
        r.id = id;
        r.set("docket_id", self.own_id.as_str()).set("agency", self.agency);
        if !r.fields.contains_key("title") {
            // Known by its documents alone, a docket goes by the first of them; one that only
            // collects what an agency prints in the Federal Register goes by its id.
            let first = self
                .documents
                .values()
                .find_map(|row| row["title"].as_str())
                .filter(|_| !catch_all);
            r.set("title", first.unwrap_or(&self.own_id));
        }
        let of =
            |name: &'static str| self.documents.values().filter_map(move |row| row[name].as_str());
        r.set("opened_date", of("posted_date").min())
            .set("last_activity_date", of("posted_date").max());
        r.set("comment_end_date", of("comment_end_date").max());
        if !self.documents.is_empty() {
            r.set("document_count", self.documents.len() as i64);
        }
        for row in self.documents.into_values() {
            r.row("documents", Value::Object(row));
        }
        r
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    fn document(id: &str, docket: &str, posted: &str) -> String {
        format!(
            r#"{{"id": "{id}", "type": "documents", "attributes": {{"docketId": "{docket}",
            "agencyId": "TEA", "title": "Doc {id}",
            "postedDate": "{posted}", "frDocNum": "2021-12345", "commentEndDate": "2021-03-02T04:59:59Z"}}}}"#
        )
        .replace('\n', " ")
    }

    #[test]
    fn documents_of_one_docket_are_gathered() {
        let lines = [
            document("TEA-2021-0001-0002", "tea-2021-0001", "2021-02-01T05:00:00Z"),
            document("TEA-2021-0001-0001", "TEA-2021-0001", "2021-01-04T05:00:00Z"),
            document("TEA_FRDOC_0001-0007", "TEA_FRDOC_0001", "2021-01-04T05:00:00Z"),
            r#"{"id": "TEA-9", "type": "documents", "attributes": {"docketId": null}}"#.to_string(),
        ];
        let got = read_text(read, "d/documents.jsonl", &lines.join("\n"));
        assert_eq!(got.ids(), ["docket:TEA-2021-0001", "docket:TEA_FRDOC_0001"]);
        assert_eq!(
            *got.field(0, "title"),
            "Doc TEA-2021-0001-0001",
            "named after its oldest document"
        );
        assert_eq!(*got.field(1, "title"), "TEA_FRDOC_0001");
        assert_eq!(
            (got.field(0, "document_count"), got.field(0, "opened_date")),
            (&json!(2), &json!("2021-01-04"))
        );
        assert_eq!(*got.field(0, "comment_end_date"), "2021-03-01", "midnight in Washington");
        assert_eq!(got.records[0].rows[0].1["federal_register_id"], "2021-12345");
    }

    /// Documents that are not from the Federal Register have midnight in UTC.
    #[test]
    fn a_posted_day_is_the_day_as_written() {
        let line = document("DHS-2021-0025-0001", "DHS-2021-0025", "2021-05-25T00:00:00Z");
        let got = read_text(read, "d/documents.jsonl", &line);
        assert_eq!(*got.field(0, "opened_date"), "2021-05-25");
        assert_eq!(got.records[0].rows[0].1["posted_date"], "2021-05-25");
    }

    #[test]
    fn a_described_docket_keeps_its_own_title() {
        let text = format!(
            r#"[{{"data": {{"id": "TEA-2021-0001", "type": "dockets", "attributes": {{"title": "Tea",
            "docketType": "Rulemaking",
            "agencyId": "TEA", "rin": "Not Assigned"}}}}}}, {{"data": [{}]}}, {{"errors": [{{"status": "400"}}]}}]"#,
            document("TEA-2021-0001-0001", "TEA-2021-0001", "2021-01-04T05:00:00Z")
        );
        let got = read_text(read, "d/dockets.json", &text);
        assert_eq!((got.records.len(), got.records[0].rank), (1, Rank::Full));
        assert_eq!(
            (got.field(0, "title"), got.field(0, "docket_type")),
            (&json!("Tea"), &json!("rulemaking"))
        );
        assert!(got.field(0, "rin").is_null());
    }

    #[test]
    fn comments_are_passed_over() {
        let text =
            r#"{"data": [{"id": "TEA-2021-0001-0004", "type": "comments", "attributes": {}}]}"#;
        assert_eq!(read_text(read, "d/comments.json", text).outcome, Outcome::Skipped);
    }
}
