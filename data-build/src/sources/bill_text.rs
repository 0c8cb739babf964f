//! One version of a bill's text in XML: the older bill DTD (`bill`, `resolution`, `amendment-doc`)
//! and USLM (the same and `engrossedAmendment`).

use josh::catalog::ids;
use roxmltree::Node;

use super::bill_versions;
use crate::formats::{congress, dates, legislative_xml, xml};
use crate::record::{Rank, Record, Sink};

/// Which bill and which version a document is.
#[derive(Debug, PartialEq)]
struct Print {
    id: String,
    version: String,
    date: String,
}

/// Reads a document; `file` is its name, the last resort for a print that does not say its version.
pub fn read(root: Node<'_, '_>, file: &str, out: &mut dyn Sink) {
    let print = match identified(root, file) {
        Ok(print) => print,
        Err(reason) => return out.reject(root.tag_name().name(), &reason),
    };
    let Some((kind, congress, number)) = congress::parts(&print.id) else { return };
    // The official title is a bill's only until a display title is known, so it goes in a record
    // of lower rank.
    let mut named = Record::new("bills", print.id.as_str(), Rank::Stub);
    named
        .set("congress", congress)
        .set("type", kind)
        .set("number", number)
        .set("chamber", congress::chamber(kind));
    named.set("title", official_title(root));
    out.record(named);
    let mut text = Record::new("bills", print.id.as_str(), Rank::Full);
    let order = bill_versions::order(kind, &print.version, &print.date);
    text.body(&print.version, &order, legislative_xml::sections(root));
    if text.bodies.is_empty() {
        out.reject(&print.id, "a print without text");
    }
    out.record(text);
}

fn identified(root: Node<'_, '_>, file: &str) -> Result<Print, String> {
    let cited = cited(root);
    let id = cited
        .as_ref()
        .map(|(id, _)| id.clone())
        .or_else(|| numbered(root))
        .ok_or("no congress, type and number")?;
    let version = cited
        .and_then(|(_, version)| version)
        .or_else(|| bill_versions::code(&stage(root)))
        .or_else(|| bill_versions::code_in_file_name(file))
        .ok_or_else(|| format!("{id}: unknown version {:?}", stage(root)))?;
    Ok(Print { id, version, date: newest_date(root) })
}

/// "116 HR 1865 EAH", as USLM cites itself and as the title of the older form begins ("119 HR 23
/// IH: …").
fn cited(root: Node<'_, '_>) -> Option<(String, Option<String>)> {
    let meta = ["meta", "amendMeta"].iter().find_map(|m| xml::child(root, m));
    let citations = meta
        .into_iter()
        .flat_map(|m| xml::children(m, "citableAs").map(xml::text).collect::<Vec<_>>());
    let title = xml::text_at(root, &["metadata", "dublinCore", "title"]);
    let titles = title.split_once(':').map(|(cite, _)| cite.to_string());
    citations.chain(titles).find_map(|text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [congress, kind, number, version @ ..] = &words[..] else { return None };
        let id = congress::bill_id(kind, congress.parse().ok()?, number.parse().ok()?)?;
        Some((id, bill_versions::code(&version.concat())))
    })
}

/// From the elements of the print: "119th CONGRESS", "H. R. 23".
fn numbered(root: Node<'_, '_>) -> Option<String> {
    let head = ["preface", "amendPreface", "form", "engrossed-amendment-form"]
        .iter()
        .find_map(|f| xml::child(root, f))?;
    let congress = xml::child(head, "congress").or_else(|| xml::at(root, &["meta", "congress"]))?;
    let digits: String = xml::text(congress).chars().take_while(char::is_ascii_digit).collect();
    let written = match xml::text_at(head, &["legis-num"]) {
        number if !number.is_empty() => number,
        _ => format!("{} {}", xml::text_at(head, &["type"]), xml::text_at(head, &["docNumber"])),
    };
    let parsed = ids::parse(&written.replace(". ", "."))?;
    (parsed.source() == "bills").then(|| digits.parse().ok().map(|n| parsed.in_congress(n).text))?
}

/// The stage as the document states it.
fn stage(root: Node<'_, '_>) -> String {
    let attribute =
        ["bill-stage", "resolution-stage", "amend-stage"].iter().find_map(|a| root.attribute(*a));
    let stated = || {
        ["meta", "amendMeta"].iter().find_map(|m| xml::at(root, &[m, "docStage"])).map(xml::text)
    };
    attribute.map(str::to_string).or_else(stated).unwrap_or_default()
}

/// The newest date in the head of the print, which lists what happened to the bill so far.
fn newest_date(root: Node<'_, '_>) -> String {
    let heads = ["preface", "amendPreface", "form", "engrossed-amendment-form", "metadata"];
    let dated =
        heads.iter().filter_map(|h| xml::child(root, h)).flat_map(|head| head.descendants());
    let dates =
        dated.filter(|n| matches!(n.tag_name().name(), "date" | "action-date")).filter_map(|n| {
            n.attribute("date").and_then(dates::iso).or_else(|| dates::iso(&xml::text(n)))
        });
    dates.max().unwrap_or_default()
}

fn official_title(root: Node<'_, '_>) -> String {
    let title = root
        .descendants()
        .find(|n| matches!(n.tag_name().name(), "officialTitle" | "official-title"));
    title.map(legislative_xml::inline).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::formats::testing::{Collected, read_text};
    use crate::sources::bills;

    fn read(name: &str, text: &str) -> Collected {
        read_text(bills::read, name, text)
    }

    #[test]
    fn the_older_form_says_its_stage_in_an_attribute() {
        let found = read(
            "bills/x.xml",
            "<!DOCTYPE bill PUBLIC \"-//US Congress//DTDs/bill.dtd//EN\" \"bill.dtd\">
            <bill bill-stage='Introduced-in-House'><form>
            <congress>119th CONGRESS</congress><legis-num>H. R. 23</legis-num>
            <action><action-date date='20250103'>January 3, 2025</action-date></action>
            <official-title>To do.</official-title></form><legis-body><section><enum>1.</enum>
            <text>Do.</text></section></legis-body></bill>",
        );
        assert_eq!(found.ids(), ["hr:119:23", "hr:119:23"]);
        assert_eq!(found.field(0, "title"), "To do.");
        let body = &found.records[1].bodies[0];
        assert_eq!((body.version.as_str(), body.order.as_str()), ("ih", "10 2025-01-03"));
    }

    #[test]
    fn uslm_cites_itself_with_the_number_of_the_print() {
        let found = read(
            "bills/x.xml",
            "<engrossedAmendment xmlns='u'><amendMeta><docStage>Engrossed Amendment Senate</docStage>
            <citableAs>115 HR 1 EAS 2</citableAs></amendMeta><amendMain><section>
            <content>Strike it.</content></section></amendMain></engrossedAmendment>",
        );
        assert_eq!(found.records[1].bodies[0].version, "eas2");
    }

    #[test]
    fn a_print_that_is_no_bill_is_rejected() {
        let found = read("bills/x.xml", "<bill><legis-body/></bill>");
        assert_eq!((found.records.len(), found.rejects.len()), (0, 1));
    }
}
