//! Public laws: a list of which bill became which (JSONL), and the laws in USLM with their text.
//! A private law is not a record of its own: its number is set on its bill.

use anyhow::Result;
use josh::catalog::ids;
use roxmltree::Node;
use serde_json::Value;

use super::bill_law::Law;
use crate::formats::json::str_at;
use crate::formats::{congress, dates, documents, legislative_xml, measures, xml};
use crate::input::Input;
use crate::mentions;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

/// Reads one file below `public-laws`.
pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension().to_ascii_lowercase().as_str() {
        "jsonl" => read_list(input, out),
        "xml" => read_law(input, out),
        _ => Ok(Outcome::Skipped),
    }
}

fn read_list(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    for (number, line) in documents::lines(input)? {
        let place = format!("line {number}");
        match line {
            Ok(value) => {
                let is_private = str_at(&value, &["type"]) == "Private Law";
                match if is_private { listed_private(&value) } else { listed(&value) } {
                    Some(record) => out.record(record),
                    None => out.reject(&place, "no law's number"),
                }
            }
            Err(reason) => out.reject(&place, &reason),
        }
    }
    Ok(Outcome::Read)
}

fn listed(value: &Value) -> Option<Record> {
    let id = ids::canonical("public-laws", &str_at(value, &["number"]))?;
    let mut record = numbered(&id, Rank::Partial)?;
    record
        .set("bill_id", measures::bill_id(&str_at(value, &["bill_id"]), None))
        .set("title", str_at(value, &["title"]));
    Some(record)
}

fn listed_private(value: &Value) -> Option<Record> {
    let law = Law::listed("Private Law", &str_at(value, &["number"]))?;
    let bill = measures::bill_id(&str_at(value, &["bill_id"]), None)?;
    bill_of_private(&bill, &law, &str_at(value, &["title"]))
}

/// What a private law proves about its bill.
fn bill_of_private(id: &str, law: &Law, title: &str) -> Option<Record> {
    let (kind, congress, number) = congress::parts(id)?;
    let mut bill = Record::new("bills", id, Rank::Stub);
    bill.set("congress", congress).set("type", kind).set("number", number);
    bill.set("chamber", congress::chamber(kind)).set("title", title);
    law.set_on_bill(&mut bill);
    Some(bill)
}

fn numbered(id: &str, rank: Rank) -> Option<Record> {
    let (_, congress, number) = congress::parts(id)?;
    let mut record = Record::new("public-laws", id, rank);
    record.set("congress", congress).set("number", number);
    Some(record)
}

fn read_law(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let text = input.text()?;
    let document = xml::parse(&text)?;
    let root = document.root_element();
    let meta = xml::child(root, "meta");
    let Some(meta) = meta.filter(|_| root.tag_name().name() == "pLaw") else {
        return Ok(Outcome::Skipped);
    };
    let is_private = xml::text_at(meta, &["publicPrivate"]) == "private";
    match if is_private { private_law(root, meta) } else { law(root, meta) } {
        Some(record) => out.record(record),
        None if is_private => out.reject("meta", "a private law without number or bill"),
        None => out.reject("meta", "no congress and number"),
    }
    Ok(Outcome::Read)
}

/// "115-9". The number is "9" in the newer files and "115–9" in some of the older.
fn number_in(meta: Node<'_, '_>) -> Option<String> {
    let number = xml::text_at(meta, &["docNumber"]);
    let number = number.rsplit(['-', '–']).next()?.trim().to_string();
    Some(format!("{}-{number}", xml::text_at(meta, &["congress"])))
}

fn private_law(root: Node<'_, '_>, meta: Node<'_, '_>) -> Option<Record> {
    let law = Law::listed("Private Law", &number_in(meta)?)?;
    bill_of_private(&Origin::of(root, meta).bill?, &law, &official_title(root, meta))
}

fn law(root: Node<'_, '_>, meta: Node<'_, '_>) -> Option<Record> {
    let id = ids::canonical("public-laws", &number_in(meta)?)?;
    let mut record = numbered(&id, Rank::Full)?;
    let cited: Vec<String> = xml::children(meta, "citableAs").map(xml::text).collect();
    record.set("statutes_at_large", cited.into_iter().find(|c| c.contains("Stat.")));
    let short = short_title(root);
    record.set("title", short.clone().unwrap_or_else(|| official_title(root, meta)));
    record.set("short_title", short);
    let origin = Origin::of(root, meta);
    record.body(
        "text",
        origin.enacted.as_deref().unwrap_or_default(),
        legislative_xml::sections(root),
    );
    record.set("bill_id", origin.bill).set("enacted_date", origin.enacted);
    Some(record)
}

fn official_title(root: Node<'_, '_>, meta: Node<'_, '_>) -> String {
    match root.descendants().find(|n| n.tag_name().name() == "officialTitle") {
        Some(title) => legislative_xml::inline(title),
        // "Public Law 115–9: To designate …"
        None => xml::text_at(meta, &["title"])
            .split_once(": ")
            .map(|(_, t)| t.to_string())
            .unwrap_or_default(),
    }
}

/// The short title of the act as a whole stands before the first title or division; later ones
/// name its parts, and those in quoted text are of other laws.
fn short_title(root: Node<'_, '_>) -> Option<String> {
    let first = root.descendants().find(|n| n.tag_name().name() == "section")?;
    let in_parts = first.ancestors().any(|a| matches!(a.tag_name().name(), "title" | "division"));
    let named = first.descendants().find(|n| {
        n.tag_name().name() == "shortTitle"
            && n.ancestors().all(|a| a.tag_name().name() != "quotedContent")
    })?;
    Some(legislative_xml::inline(named).trim_matches(['“', '”', ' ']).to_string())
        .filter(|t| !in_parts && !t.is_empty())
}

/// The bill and the day of approval, which stand in the margin, in the history or at the end.
struct Origin {
    bill: Option<String>,
    enacted: Option<String>,
}

impl Origin {
    fn of(root: Node<'_, '_>, meta: Node<'_, '_>) -> Origin {
        let margin = xml::at(root, &["main", "longTitle", "sidenote"]);
        let margin =
            margin.or_else(|| root.descendants().find(|n| n.tag_name().name() == "sidenote"));
        let near = margin
            .into_iter()
            .chain(root.descendants().find(|n| n.tag_name().name() == "legislativeHistory"));
        let bill = near.flat_map(|n| n.descendants()).find_map(|n| bill_in(n.attribute("href")?));
        let congress = xml::text_at(meta, &["congress"]).parse().ok();
        let bill =
            bill.or_else(|| mentions::bills(&xml::text(margin?), congress).into_iter().next());
        let stated = ["approvedDate", "date"]
            .iter()
            .find_map(|name| dates::iso(&xml::text_at(meta, &[name])));
        let approved = || {
            root.descendants().filter(|n| {
                n.tag_name().name() == "actionDescription" || n.tag_name().name() == "action"
            })
        };
        let at_end = || {
            approved()
                .map(xml::text)
                .filter(|t| t.contains("Approved"))
                .find_map(|t| dates::iso(&t))
        };
        Origin {
            bill,
            enacted: stated
                .or_else(at_end)
                .or_else(|| margin.and_then(|m| dates::iso(&xml::text(m)))),
        }
    }
}

/// "/us/bill/115/hr/609" -> `hr:115:609`.
fn bill_in(href: &str) -> Option<String> {
    let mut parts = href.strip_prefix("/us/bill/")?.split('/');
    let (congress, kind, number) = (parts.next()?, parts.next()?, parts.next()?);
    congress::bill_id(kind, congress.parse().ok()?, number.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn a_list_of_laws() {
        let lines = [
            json!({"bill_id": "hjres104-119", "title": "Providing.", "number": "119-48", "type": "Public Law"}),
            json!({"bill_id": "hr1-119", "number": "119-1", "type": "Private Law"}),
            json!({"number": "none", "type": "Public Law"}),
        ];
        let found =
            read_text(read, "public-laws/l.jsonl", &lines.map(|l| l.to_string()).join("\n"));
        assert_eq!((found.ids(), found.rejects.len()), (vec!["pl:119:48", "hr:119:1"], 1));
        assert_eq!(found.field(0, "bill_id"), "hjres:119:104");
        assert_eq!(found.field(1, "law_number"), "Private Law 119-1");
        assert!(found.field(1, "law_id").is_null());
    }

    #[test]
    fn a_law_in_uslm() {
        let law = "<pLaw xmlns='u'><meta><docNumber>9</docNumber><citableAs>Public Law 115–9</citableAs>
        <citableAs>131 Stat. 16</citableAs>
            <congress>115</congress><publicPrivate>public</publicPrivate></meta><main><longTitle>
            <officialTitle>To name it.</officialTitle>
            <sidenote><p>Mar. 13, 2017</p><p>[<ref href='/us/bill/115/hr/609'>H.R. 609</ref>]</p></sidenote></longTitle>
            <section><num value='1'>SECTION 1. </num>
            <content>It is named “Representa\u{ad}tives”.</content></section></main></pLaw>";
        let found = read_text(read, "public-laws/l.xml", law);
        assert_eq!(found.ids(), ["pl:115:9"]);
        assert_eq!(
            (found.field(0, "bill_id"), found.field(0, "enacted_date")),
            (&json!("hr:115:609"), &json!("2017-03-13"))
        );
        assert_eq!(
            (found.field(0, "title"), found.field(0, "statutes_at_large")),
            (&json!("To name it."), &json!("131 Stat. 16"))
        );
        assert_eq!(found.records[0].bodies[0].sections[1].text, "It is named “Representatives”.");
        let private = read_text(read, "public-laws/p.xml", &law.replace(">public<", ">private<"));
        assert_eq!(private.ids(), ["hr:115:609"]);
        assert_eq!(private.field(0, "law_number"), "Private Law 115-9");
    }
}
