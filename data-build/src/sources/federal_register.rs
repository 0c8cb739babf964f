//! The Federal Register: daily issues in official XML (FEDREG and USLM) and answers of its API (see
//! the files beside this one), JSONL split from the daily issue's text (agency, type and title
//! there are guesses), and the list of executive orders in CSV.

use anyhow::Result;
use josh::catalog::ids;
use serde_json::Value;

use super::{
    federal_register_api as api, federal_register_uslm as uslm, federal_register_xml as fedreg,
};
use crate::formats::documents::{self, non_empty_list};
use crate::formats::json::{items_at, str_at};
use crate::formats::orders::{self, NamedDocument};
use crate::formats::tables::Table;
use crate::formats::{dates, presidents, register, split_text, xml};
use crate::input::Input;
use crate::mentions;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Section, Sink};

pub const SOURCE: &str = "federal-register";
pub const PRESIDENTIAL: &str = "presidential-documents";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension() {
        "jsonl" => split_issue(input, out),
        "xml" => issue(input, out),
        "csv" => executive_orders(input, out),
        "json" => {
            Ok(documents::value(input)?.map_or(Outcome::Skipped, |answer| api::read(&answer, out)))
        }
        _ => Ok(Outcome::Skipped),
    }
}

fn issue(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let text = input.text()?;
    let document = xml::parse(&text)?;
    let root = document.root_element();
    match root.tag_name().name() {
        "FEDREG" => fedreg::issue(root, out),
        "frDoc" => uslm::issue(root, out),
        _ => return Ok(Outcome::Skipped),
    }
    Ok(Outcome::Read)
}

/// One document, whatever the format it came in.
#[derive(Default)]
pub struct Document {
    pub number: String,
    pub kind: &'static str,
    pub title: String,
    pub agencies: Vec<String>,
    pub cfr_parts: Vec<String>,
    pub dockets: Vec<String>,
    pub rins: Vec<String>,
    /// The text of DATES.
    pub dates: String,
    pub published: String,
    pub volume: Option<i64>,
    /// First page and number of pages.
    pub pages: Option<(i64, i64)>,
    /// The line that names a presidential document.
    pub presidential: String,
    pub sections: Vec<Section>,
}

impl Document {
    /// Hands over the document, and what it prints if that is a presidential document.
    pub fn emit(mut self, rank: Rank, out: &mut dyn Sink) {
        let named = if self.kind == "presidential_document" {
            orders::named(&self.presidential, &self.number)
        } else {
            None
        };
        if self.kind == "presidential_document" {
            let paragraphs = self.sections.iter().flat_map(|s| s.text.split("\n\n"));
            self.sections = orders::sections(paragraphs);
        }
        if let Some(named) = named {
            out.record(self.presidential_record(&named, rank));
        }
        let inferred = self.inferred();
        let mut record = self.record(rank);
        match rank {
            Rank::Full if !inferred.fields.is_empty() => {
                out.record(record);
                out.record(inferred);
            }
            _ => {
                record.fields.extend(inferred.fields);
                out.record(record);
            }
        }
    }

    /// What the text leads to conclude. The API states the same, so this ranks below it.
    fn inferred(&self) -> Record {
        let mut record = Record::new(SOURCE, self.number.as_str(), Rank::Partial);
        record.set("comment_end_date", register::comment_end_date(&self.dates, &self.published));
        if self.kind != "presidential_document" {
            record.set("effective_date", register::effective_date(&self.dates));
        }
        if matches!(self.kind, "rule" | "proposed_rule") {
            record.set("significant", register::significant(&self.text()));
        }
        record
    }

    fn text(&self) -> String {
        self.sections.iter().map(|s| s.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    fn record(self, rank: Rank) -> Record {
        let mut record = Record::new(SOURCE, self.number.as_str(), rank);
        if matches!(self.kind, "rule" | "proposed_rule") {
            record.set("law_ids", non_empty_list(mentions::laws(&self.text())));
        }
        record
            .set("document_number", self.number.as_str())
            .set("type", self.kind)
            .set("title", self.title.as_str());
        record
            .set("agencies", non_empty_list(self.agencies))
            .set("publication_date", self.published.as_str());
        record
            .set("cfr_references", non_empty_list(self.cfr_parts))
            .set("docket_ids", non_empty_list(self.dockets))
            .set("rins", non_empty_list(self.rins));
        record.set("volume", self.volume.or_else(|| register::volume(&self.published)));
        record
            .set("start_page", self.pages.map(|p| p.0))
            .set("page_count", self.pages.map(|p| p.1));
        record.body("text", &self.published, self.sections);
        record
    }

    fn presidential_record(&self, named: &NamedDocument, rank: Rank) -> Record {
        let mut record = Record::new(PRESIDENTIAL, named.id.as_str(), rank);
        record
            .set("title", self.title.as_str())
            .set("type", named.kind)
            .set("number", named.number);
        record
            .set("signed_date", named.signed.as_str())
            .set("president", presidents::on(&named.signed));
        record
            .set("publication_date", self.published.as_str())
            .set("federal_register_id", self.number.as_str());
        record.body("text", &named.signed, self.sections.clone());
        record
    }
}

fn split_issue(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let mut outcome = Outcome::Skipped;
    for (number, line) in documents::lines(input)? {
        let read = line.and_then(|value| {
            split_document(&value)?.emit(Rank::Partial, out);
            Ok(())
        });
        match read {
            Ok(()) => outcome = Outcome::Read,
            Err(reason) => out.reject(&format!("line {number}"), &reason),
        }
    }
    Ok(outcome)
}

fn split_document(value: &Value) -> Result<Document, String> {
    let stated = str_at(value, &["document_number"]);
    let number =
        ids::canonical(SOURCE, &stated).ok_or(format!("not a document number: {stated:?}"))?;
    let published =
        dates::iso(&str_at(value, &["publication_date"])).ok_or("no day of publication")?;
    let text = str_at(value, &["text"]);
    let split = split_text::SplitText::of(&text);
    let kind = match (split.kind_by_action(), str_at(value, &["type"]).as_str()) {
        (_, kind) if kind.starts_with("Presidential") => "presidential_document",
        (Some(kind), _) => kind,
        (None, "Rule") => "rule",
        (None, "Proposed Rule") => "proposed_rule",
        (None, "Notice") => "notice",
        (None, other) => return Err(format!("unknown type {other:?}")),
    };
    let presidential = kind == "presidential_document";
    let header = split.header(presidential);
    let strings = |name: &str| {
        items_at(value, &[name]).iter().filter_map(|v| v.as_str()).collect::<Vec<_>>().join("; ")
    };
    let toc_title = str_at(value, &["toc_title"]);
    Ok(Document {
        title: split.title(presidential).unwrap_or(toc_title),
        agencies: if presidential {
            Vec::new()
        } else {
            printed_agencies(&split, str_at(value, &["agency"]))
        },
        cfr_parts: register::cfr_parts(&strings("cfr_references")),
        dockets: register::docket_ids(&format!(
            "{}; {}",
            strings("docket_ids"),
            split.docket_line()
        )),
        rins: register::rins(&strings("rins")),
        dates: split.part("DATES:"),
        pages: register::pages(&str_at(value, &["pages"])),
        presidential: header,
        sections: split.sections(presidential),
        number,
        kind,
        published,
        volume: None,
    })
}

/// The agencies as printed above the title; the split's own guess only where none are printed.
fn printed_agencies(split: &split_text::SplitText, guess: String) -> Vec<String> {
    let printed = split.agencies();
    if printed.is_empty() && !guess.is_empty() { vec![guess] } else { printed }
}

/// The disposition list of executive orders: number, where it is printed, day of signing, document
/// number.
fn executive_orders(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let mut table = Table::open(input)?;
    if !table.has(&["number", "citation", "signing_date", "document_number"]) {
        return Ok(Outcome::Skipped);
    }
    while let Some(row) = table.next_readable(out) {
        let Some(id) = ids::canonical(PRESIDENTIAL, &format!("eo:{}", table.get(&row, "number")))
        else {
            out.reject(&format!("line {}", row.line), "not a number of an executive order");
            continue;
        };
        let signed = dates::iso(table.get(&row, "signing_date"));
        let mut record = Record::new(PRESIDENTIAL, id.as_str(), Rank::Partial);
        record
            .set("type", "executive_order")
            .set("number", table.get(&row, "number").trim().parse::<i64>().ok());
        record
            .set("president", signed.as_deref().and_then(presidents::on))
            .set("signed_date", signed);
        record
            .set("federal_register_id", ids::canonical(SOURCE, table.get(&row, "document_number")));
        out.record(record);
    }
    Ok(Outcome::Read)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn a_rule_split_from_the_issue() {
        let text = concat!(
            "DEPARTMENT OF BOATS\n14 CFR Part 39\n[Docket No. FAA-2024-2670]\nRIN 2120-AA64\n",
            "Boat Directives; All Boats\nAGENCY:\nBoats (B).\nACTION:\nFinal rule.\nDATES:\n",
            "This rule is effective May 1, 2025.\nSUPPLEMENTARY INFORMATION:\nI. Background\nSee the\n",
            "Federal Register\n. Under Public Law 114-74.",
        );
        let line = json!({
            "document_number": "2024-31500", "publication_date": "2025-01-02", "agency": "Boats", "type": "Notice",
            "toc_title": "All Boats", "pages": "14-17", "cfr_references": ["14 CFR 39"], "text": text,
        });
        let line = format!("{line}\n{{\"document_number\":\"x\"}}\n");
        let read = read_text(read, "federal-register/a.jsonl", &line);
        assert_eq!(read.ids(), ["2024-31500"]);
        assert_eq!(read.field(0, "type"), "rule");
        assert_eq!(read.field(0, "agencies")[0], "Department of Boats");
        assert_eq!(read.field(0, "title"), "Boat Directives; All Boats");
        assert_eq!(read.field(0, "effective_date"), "2025-05-01");
        assert_eq!(read.field(0, "law_ids")[0], "pl:114:74");
        assert_eq!(read.field(0, "docket_ids")[0], "docket:FAA-2024-2670");
        assert_eq!((read.field(0, "volume"), read.field(0, "page_count")), (&90.into(), &4.into()));
        let last = read.records[0].bodies[0].sections.last().expect("sections");
        assert_eq!(
            (last.heading.as_str(), last.section.as_str()),
            ("SUPPLEMENTARY INFORMATION > I. Background", "I")
        );
        assert_eq!(last.text, "See the Federal Register. Under Public Law 114-74.");
        assert_eq!(read.rejects.len(), 1);
    }

    #[test]
    fn an_order_is_also_a_presidential_document() {
        let line = concat!(
            r#"{"document_number":"2025-00622","publication_date":"2025-01-13","#,
            r#""agency":"Selective Service System","type":"Presidential","toc_title":"Short (EO 14140)","#,
            r#""text":"90\n7\nMonday, January 13,"#,
            r#" 2025\nPresidential Documents\nExecutive Order 14140 of January 8,"#,
            r#" 2025\nOn Boats\nBy the authority\net seq\n.,"#,
            r#" it is ordered:\nSection 1\n.\nPolicy\n. Boats float."}"#,
        );
        let read = read_text(read, "federal-register/a.jsonl", line);
        assert_eq!(read.ids(), ["eo:14140", "2025-00622"]);
        assert_eq!(read.field(0, "president"), "Joseph R. Biden Jr.");
        assert_eq!(read.field(0, "title"), "On Boats");
        assert_eq!(read.field(0, "federal_register_id"), "2025-00622");
        assert_eq!(read.records[0].bodies[0].sections[1].heading, "Sec. 1. Policy.");
        assert!(read.field(1, "agencies").is_null());
    }

    #[test]
    fn the_list_of_orders() {
        let csv = "number,citation,signing_date,document_number,notes\n12890, 59 FR 499,1993-12-30,94-290,\"two\nlines\"\n";
        let read = read_text(read, "federal-register/eo.csv", csv);
        assert_eq!(read.ids(), ["eo:12890"]);
        assert_eq!(read.field(0, "president"), "William J. Clinton");
    }
}
