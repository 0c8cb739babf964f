//! CRS reports as congress.gov's API tells of them: number, version, day, authors, topics, what
//! they are about and their summary, one report a file or a list of them. The API has no full
//! text.

use anyhow::Result;
use serde_json::Value;

use super::crs_reports::{bills, number, type_of};
use crate::formats::documents::non_empty_list;
use crate::formats::json::{int_at, items_at, str_at};
use crate::formats::outline::Outline;
use crate::formats::{congress, eastern, html};
use crate::reader::Outcome;
use crate::record::{Rank, Record, Section, Sink};

/// Reads an answer of the API, of one report or of the list.
pub fn read(document: &Value, out: &mut dyn Sink) -> Result<Outcome> {
    let reports = match (document.get("CRSReport"), document.get("CRSReports")) {
        (Some(report), _) => vec![report],
        (_, Some(_)) => items_at(document, &["CRSReports"]),
        _ => return Ok(Outcome::Skipped),
    };
    for (n, report) in reports.into_iter().enumerate() {
        let stated = str_at(report, &["id"]);
        match number(&stated) {
            Some(number) => out.record(record(&number, report)),
            None => {
                out.reject(&format!("report {}", n + 1), &format!("not a CRS number: {stated:?}"))
            }
        }
    }
    Ok(Outcome::Read)
}

/// A report. It is partial: a page that holds the full text knows its own version better.
fn record(number: &str, report: &Value) -> Record {
    let (version, day) =
        (int_at(report, &["version"]), eastern::entered_day(&str_at(report, &["publishDate"])));
    let summary = html::to_text(&str_at(report, &["summary"]));
    let mut record = Record::new("crs-reports", number, Rank::Partial);
    record
        .set("number", number)
        .set("type", type_of(number))
        .set("title", str_at(report, &["title"]));
    record.set("version", version).set("updated_date", day.as_deref());
    // The day is of this version; `updateDate` is when the Library last touched its entry.
    record.set("published_date", day.as_deref().filter(|_| version == Some(1)));
    record.set("authors", non_empty_list(named(report, "authors", "author")));
    record.set("topics", non_empty_list(named(report, "topics", "topic")));
    record.set("bill_ids", non_empty_list(about(report, &summary, day.as_deref())));
    // Ordered before every full text, which then is the current one.
    record.body("summary", "", sections(&summary));
    record
}

/// The names in a list: `[{"author": "Jane Doe"}]`, also written as bare strings.
fn named(report: &Value, field: &str, name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for item in items_at(report, &[field]) {
        let text =
            item.as_str().map_or_else(|| str_at(item, &[name]), |text| text.trim().to_string());
        if !text.is_empty() && !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// The bills that the API relates to the report, then those that its summary names. Laws have
/// types of their own.
fn about(report: &Value, summary: &str, day: Option<&str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let related = items_at(report, &["relatedMaterials"]).into_iter().filter_map(congress::bill_of);
    for id in related.chain(bills(summary, day)) {
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

fn sections(summary: &str) -> Vec<Section> {
    let mut outline = Outline::default();
    outline.heading(1, "", "Summary");
    summary.lines().for_each(|line| outline.paragraph(line));
    outline.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::formats::testing::read_text;
    use crate::reader::Outcome;
    use crate::sources::crs_reports;

    /// Written for this test in the form that the Library documents.
    const REPORT: &str = r#"{"CRSReport": {"id": "R48000", "title": "Boats", "status": "Active", "version": 3,
        "publishDate": "2025-07-16T04:00:00Z", "updateDate": "2025-07-18T22:38:55Z", "contentType": "Reports",
        "authors": [{"author": "Jane Doe"}, {"author": "Al Roe"}, {"author": null}],
        "topics": [{"topic": "Boats & Ferries"}],
        "relatedMaterials": [{"congress": 118, "number": "12", "type": "HR", "title": "Boats Act",
            "URL": "https://api.congress.gov/v3/bill/118/hr/12"}, {"congress": 118, "number": "5", "type": "PUB"}],
        "formats": [{"format": "PDF", "url": "https://www.congress.gov/crs_external_products/R/PDF/R48000.pdf"}],
        "summary": "<p>Boats float.</p><p>H.R. 12 (118th Congress) died.</p><p>S. 7 &amp; others would float them.</p>",
        "url": "congress.gov/crs-report/R48000"}}"#;

    #[test]
    fn a_report_with_its_summary() {
        let read = read_text(crs_reports::read, "crs-reports/api/crsreport-R48000.json", REPORT);
        assert_eq!((read.ids(), read.rejects.len()), (vec!["R48000"], 0));
        assert_eq!(
            (read.field(0, "type"), read.field(0, "version")),
            (&json!("report"), &json!(3))
        );
        assert_eq!(read.field(0, "updated_date"), "2025-07-16");
        assert!(read.field(0, "published_date").is_null());
        assert_eq!(*read.field(0, "authors"), json!(["Jane Doe", "Al Roe"]));
        assert_eq!(*read.field(0, "bill_ids"), json!(["hr:118:12", "s:119:7"]));
        let body = &read.records[0].bodies[0];
        assert_eq!((body.version.as_str(), body.order.as_str()), ("summary", ""));
        assert_eq!(body.sections[0].heading, "Summary");
        assert!(
            body.sections[0].text.starts_with("Boats float.\n\nH.R. 12"),
            "{}",
            body.sections[0].text
        );
    }

    #[test]
    fn a_list_with_a_bad_entry() {
        let list = r#"{"CRSReports": [{"id": "IF12345", "title": "Tea", "version": 1,
            "publishDate": "2025-02-05T00:00:00Z"}, {"id": "nonsense"}, 7]}"#;
        let read = read_text(crs_reports::read, "crs-reports/list.json", list);
        assert_eq!((read.ids(), read.rejects.len()), (vec!["IF12345"], 2));
        assert_eq!(
            (read.field(0, "published_date"), read.field(0, "type")),
            (&json!("2025-02-05"), &json!("in_focus"))
        );
        assert!(read.records[0].bodies.is_empty());
    }

    #[test]
    fn other_json_is_passed_over() {
        let read = read_text(crs_reports::read, "crs-reports/x.json", r#"{"CRSReport": null}"#);
        assert_eq!((read.records.len(), read.rejects.len()), (0, 1));
        for text in ["[]", "{}", "7", r#"{"error": "over the limit"}"#] {
            assert_eq!(
                read_text(crs_reports::read, "crs-reports/x.json", text).outcome,
                Outcome::Skipped
            );
        }
    }
}
