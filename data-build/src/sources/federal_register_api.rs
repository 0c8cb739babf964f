//! Documents of the Federal Register as federalregister.gov's API describes them: an answer with
//! `results`, a list of documents, or one document. The API states what the readers of the printed
//! issue have to infer: whether a rule is significant, when it takes effect, until when comments
//! are taken. It has no texts but abstracts.

use josh::catalog::ids;
use serde_json::Value;

use super::federal_register::{PRESIDENTIAL, SOURCE};
use crate::formats::documents::non_empty_list;
use crate::formats::json::{int_at, items_at, str_at};
use crate::formats::{agencies, dates, presidents, register};
use crate::reader::Outcome;
use crate::record::{Rank, Record, Section, Sink};

pub fn read(answer: &Value, out: &mut dyn Sink) -> Outcome {
    let documents = rows(answer);
    let is_answer = answer.get("results").is_some_and(Value::is_array);
    if !is_answer && !documents.iter().any(|d| d.get("document_number").is_some()) {
        return Outcome::Skipped;
    }
    for (n, document) in documents.into_iter().enumerate() {
        match record(document) {
            Ok(record) => {
                if let Some(presidential) = presidential(document) {
                    out.record(presidential);
                }
                out.record(record);
            }
            Err(reason) => out.reject(&format!("document {}", n + 1), &reason),
        }
    }
    Outcome::Read
}

/// The documents of an answer.
pub fn rows(answer: &Value) -> Vec<&Value> {
    items_at(answer, if answer.get("results").is_some() { &["results"] } else { &[] })
}

fn record(document: &Value) -> Result<Record, String> {
    let text = |key: &str| str_at(document, &[key]);
    let number = ids::canonical(SOURCE, &text("document_number"))
        .ok_or_else(|| format!("not a document number: {:?}", text("document_number")))?;
    let published = dates::iso(&text("publication_date")).ok_or("no day of publication")?;
    let kind = kind(&text("type")).ok_or_else(|| format!("unknown type {:?}", text("type")))?;
    let mut r = Record::new(SOURCE, number.as_str(), Rank::Full);
    r.set("document_number", number).set("type", kind).set("title", text("title"));
    if kind != "presidential_document" {
        r.set("agencies", non_empty_list(agency_names(document)));
    }
    r.set("publication_date", published.as_str())
        .set("effective_date", dates::iso(&text("effective_on")))
        .set("comment_end_date", dates::iso(&text("comments_close_on")));
    r.set("cfr_references", non_empty_list(cfr_parts(document)));
    r.set("docket_ids", non_empty_list(register::docket_ids(&strings(document, "docket_ids"))));
    r.set("rins", non_empty_list(register::rins(&strings(document, "regulation_id_numbers"))));
    let first = int_at(document, &["start_page"]);
    let last = int_at(document, &["end_page"]);
    let pages = first.zip(last).map(|(first, last)| last - first + 1).filter(|n| *n > 0);
    r.set("volume", int_at(document, &["volume"]).or_else(|| register::volume(&published)))
        .set("start_page", first)
        .set("page_count", int_at(document, &["page_length"]).or(pages));
    // Null for documents that are not reviewed under E.O. 12866: absent, not false.
    r.set("significant", document.get("significant").and_then(Value::as_bool));
    r.set("url", text("html_url"));
    let heading = "Abstract".to_string();
    let section = Section { heading, level: 1, text: text("abstract"), ..Section::default() };
    // Ordered before the printed text, which then is the current one.
    r.body("abstract", "", vec![section]);
    Ok(r)
}

fn kind(stated: &str) -> Option<&'static str> {
    Some(match stated {
        "Rule" | "RULE" => "rule",
        "Proposed Rule" | "PRORULE" => "proposed_rule",
        "Notice" | "NOTICE" | "Sunshine Act Document" | "SUNSHINE" => "notice",
        "Presidential Document" | "PRESDOCU" => "presidential_document",
        _ => return None,
    })
}

/// As printed above the document, where the API tells.
fn agency_names(document: &Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for agency in items_at(document, &["agencies"]) {
        let printed = agencies::title_case(&str_at(agency, &["raw_name"]));
        let name = if printed.is_empty() { str_at(agency, &["name"]) } else { printed };
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn cfr_parts(document: &Value) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for reference in items_at(document, &["cfr_references"]) {
        let (title, part) = (str_at(reference, &["title"]), str_at(reference, &["part"]));
        let cited = format!("{title} CFR {part}");
        if !title.is_empty() && !part.is_empty() && !parts.contains(&cited) {
            parts.push(cited);
        }
    }
    parts
}

fn strings(document: &Value, key: &str) -> String {
    items_at(document, &[key]).iter().filter_map(|v| v.as_str()).collect::<Vec<_>>().join("; ")
}

/// What a presidential document is, where the answer has the fields that tell.
pub fn presidential(document: &Value) -> Option<Record> {
    let text = |key: &str| str_at(document, &[key]);
    let register_id = ids::canonical(SOURCE, &text("document_number"));
    let signed = dates::iso(&text("signing_date"));
    let (order, proclamation) = (text("executive_order_number"), text("proclamation_number"));
    let (kind, id) = match text("subtype").as_str() {
        _ if !order.is_empty() => ("executive_order", format!("eo:{order}")),
        _ if !proclamation.is_empty() => ("proclamation", format!("proc:{proclamation}")),
        subtype => {
            let kind = match subtype {
                "Memorandum" => "memorandum",
                "Notice" => "notice",
                "Determination" => "determination",
                "Presidential Order" => "order",
                _ => return None,
            };
            let serial = register_id.as_deref()?.rsplit('-').next()?;
            (kind, format!("pmemo:{}:{serial}", signed.as_deref()?))
        }
    };
    let is_correction = register_id.as_deref().is_some_and(|id| id.starts_with('C'));
    let id = ids::canonical(PRESIDENTIAL, &id).filter(|_| !is_correction)?;
    let mut r = Record::new(PRESIDENTIAL, id, Rank::Partial);
    let president = Some(str_at(document, &["president", "name"])).filter(|name| !name.is_empty());
    r.set("type", kind).set("title", text("title")).set("url", text("html_url"));
    let number = |text: &str| text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok();
    r.set("number", number(&order).or_else(|| number(&proclamation)).map(|n: i64| Value::from(n)));
    r.set("president", president.or_else(|| Some(presidents::on(signed.as_deref()?)?.to_string())));
    r.set("signed_date", signed)
        .set("publication_date", dates::iso(&text("publication_date")))
        .set("federal_register_id", register_id);
    let topics = items_at(document, &["topics"]).into_iter().map(|t| str_at(t, &[]));
    r.set("subjects", non_empty_list(topics.filter(|t| !t.is_empty()).collect()));
    Some(r)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::formats::testing::read_text;
    use crate::reader::Outcome;
    use crate::sources::federal_register::read;

    #[test]
    fn an_answer_with_the_fields_that_are_asked_for() {
        let answer = json!({"count": 2, "total_pages": 1, "results": [{
            "document_number": "2024-31500", "type": "Rule", "title": "On Ferries",
            "abstract": "Ferries must float.", "publication_date": "2025-01-02",
            "agencies": [{"raw_name": "DEPARTMENT OF BOATS", "name": "Boats Department", "id": 1},
                         {"raw_name": "Ferry Office", "name": "Ferry Office"}],
            "effective_on": "2025-02-03", "comments_close_on": null, "significant": false,
            "cfr_references": [{"title": 46, "part": 15, "chapter": null}],
            "docket_ids": ["Docket No. USCG-2024-0123"], "regulation_id_numbers": ["1625-AC12"],
            "volume": 90, "start_page": 14, "end_page": 17, "page_length": 4,
            "html_url": "https://www.federalregister.gov/documents/2025/01/02/2024-31500/on-ferries",
        }, {"document_number": "2024-31501", "type": "Advertisement",
            "publication_date": "2025-01-02"}]});
        let read = read_text(read, "federal-register/a.json", &answer.to_string());
        assert_eq!(read.ids(), ["2024-31500"]);
        assert_eq!(read.field(0, "agencies"), &json!(["Department of Boats", "Ferry Office"]));
        assert_eq!(read.field(0, "significant"), &json!(false));
        assert_eq!(read.field(0, "effective_date"), "2025-02-03");
        assert_eq!(read.field(0, "cfr_references"), &json!(["46 CFR 15"]));
        assert_eq!(read.field(0, "docket_ids"), &json!(["docket:USCG-2024-0123"]));
        assert_eq!(read.field(0, "page_count"), &json!(4));
        assert_eq!(read.records[0].bodies[0].version, "abstract");
        assert_eq!(read.rejects, [r#"document 2: unknown type "Advertisement""#]);
    }

    #[test]
    fn presidential_documents_of_every_kind() {
        let row = |number: &str, more: serde_json::Value| {
            let mut row = json!({"document_number": number, "type": "Presidential Document",
                "title": "On Boats", "publication_date": "2025-01-13",
                "signing_date": "2025-01-03", "president": {"name": "Joseph R. Biden Jr."}});
            if let (Some(row), Some(more)) = (row.as_object_mut(), more.as_object()) {
                row.extend(more.clone());
            }
            row
        };
        let list = json!([
            row("2025-00595", json!({"executive_order_number": 14134, "topics": ["Boats"]})),
            row("2025-00649", json!({"proclamation_number": "10880"})),
            row("2025-00663", json!({"subtype": "Memorandum"})),
            row("2025-00621", json!({"subtype": "Presidential Order"})),
            row("2025-00700", json!({})),
            row("C1-2025-00595", json!({"executive_order_number": 14134})),
        ]);
        let read = read_text(read, "federal-register/a.json", &list.to_string());
        let ids: Vec<&str> = read.ids().into_iter().filter(|id| id.contains(':')).collect();
        let expected = ["eo:14134", "proc:10880", "pmemo:2025-01-03:663", "pmemo:2025-01-03:621"];
        assert_eq!(ids, expected);
        assert_eq!(read.field(0, "subjects"), &json!(["Boats"]));
        assert_eq!(
            (read.field(4, "type"), read.field(6, "type")),
            (&json!("memorandum"), &json!("order"))
        );
        assert_eq!(read.records.len(), 10);
    }

    #[test]
    fn other_json_is_skipped() {
        let read = read_text(read, "federal-register/a.json", r#"{"agencies": []}"#);
        assert_eq!(read.outcome, Outcome::Skipped);
    }
}
