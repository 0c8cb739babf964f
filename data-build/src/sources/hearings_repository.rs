//! The House committee repository (docs.house.gov): a meeting (`committee-meeting`), and its
//! witnesses (`witness-list`), which are published apart from it.

use std::sync::LazyLock;

use josh::catalog::{ids, wording};
use regex::Regex;
use roxmltree::Node;

use super::hearings::started;
use crate::formats::documents::non_empty_list;
use crate::formats::{dates, people, xml};
use crate::mentions;
use crate::patterns::pattern;
use crate::record::{Rank, Record};

/// A document's name: "HHRG-113-GO25-Bio-CochraneJ-20140522.pdf".
static DOCUMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"/(?P<kind>H[A-Z]{3})-(?P<congress>\d{2,3})-(?P<code>[A-Z]{2}\d{2})-(?:.*-)?(?P<day>\d{8})\b",
    )
});

/// A meeting: its number is that of the event on congress.gov.
pub fn meeting(root: Node<'_, '_>) -> Option<Record> {
    let attribute = |name: &str| root.attribute(name).unwrap_or_default();
    let congress: i64 = attribute("congress-num").parse().ok()?;
    let event = attribute("meeting-id").trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let mut r = started(congress, event, Rank::Full)?;
    let details = xml::child(root, "meeting-details")?;
    let title = xml::text_at(details, &["meeting-title"]);
    let committee = xml::at(details, &["committees", "committee-name"]);
    let subcommittee = xml::at(details, &["subcommittees", "committee-name"]);
    // A meeting of both is filed under the committee.
    if let Some(named) = committee.or(subcommittee) {
        set_committee(&mut r, named.attribute("id").unwrap_or_default(), &xml::text(named));
    }
    r.set("chamber", "house").set("type", kind(attribute("meeting-type")));
    r.set("date", dates::iso(&xml::text_at(details, &["meeting-date", "calendar-date"])));
    r.set("status", status(&xml::text_at(root, &["current-status"])));
    r.set("location", xml::child(details, "meeting-location").and_then(place));
    r.set("witnesses", non_empty_list(witnesses(root)));
    r.set("bill_ids", non_empty_list(bills(root, &title, congress))).set("title", title);
    Some(r)
}

/// A list of witnesses. It names its meeting only by number; its documents say more.
pub fn witness_list(root: Node<'_, '_>) -> Option<Record> {
    let attribute = |name: &str| root.attribute(name).unwrap_or_default();
    let event = attribute("meeting-id").trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let named = root.descendants().find_map(|n| DOCUMENT.captures(n.attribute("doc-url")?));
    let congress = match &named {
        Some(c) => c["congress"].parse().ok()?,
        None => wording::congress_on(&dates::iso(attribute("create-date"))?)?,
    };
    let mut r = started(congress, event, Rank::Stub)?;
    if let Some(c) = named {
        set_committee(&mut r, &c["code"], "");
        r.set("type", kind(&c["kind"])).set("date", dates::iso(&c["day"]));
    }
    r.set("chamber", "house").set("title", format!("House committee meeting {event}"));
    r.set("witnesses", non_empty_list(witnesses(root)));
    Some(r)
}

/// The repository's code without the chamber: "RU00", "GO25".
fn set_committee(r: &mut Record, code: &str, name: &str) {
    let code = code.to_ascii_uppercase();
    let chamber_code = match code.get(..2) {
        Some("IG") => format!("HL{code}"),
        Some("EC") => code.replacen("EC", "JSEC", 1),
        Some("IT") => code.replacen("IT", "JSTX", 1),
        Some("JL") => code.replacen("JL", "JSLC", 1),
        Some("JP") => code.replacen("JP", "JSPR", 1),
        _ => format!("HS{code}"),
    };
    r.set("committee", ids::canonical("committees", &chamber_code)).set("committee_name", name);
}

fn kind(code: &str) -> &'static str {
    match code {
        "HHRG" => "hearing",
        "HMKP" => "markup",
        _ => "meeting",
    }
}

fn status(code: &str) -> Option<&'static str> {
    match code {
        "S" => Some("scheduled"),
        "R" => Some("rescheduled"),
        "P" => Some("postponed"),
        "C" => Some("canceled"),
        _ => None,
    }
}

/// What the repository's own form shows before a building is chosen.
const UNFILLED: &str = "Select one";

/// "H-313, Capitol"; elsewhere, the parts of the address in their order.
fn place(location: Node<'_, '_>) -> Option<String> {
    let leaves =
        location.descendants().filter(|n| n.is_element() && !n.children().any(|c| c.is_element()));
    let parts: Vec<String> =
        leaves.map(xml::text).filter(|text| !text.is_empty() && text != UNFILLED).collect();
    let parts = parts.iter().map(|part| match part.as_str() {
        "CAPITOL" => "Capitol",
        "CHOB" => "Cannon House Office Building",
        "LHOB" => "Longworth House Office Building",
        "RHOB" => "Rayburn House Office Building",
        other => other,
    });
    let place = parts.collect::<Vec<_>>().join(", ");
    (!place.is_empty()).then_some(place)
}

/// Those who were not removed from the list.
fn witnesses(root: Node<'_, '_>) -> Vec<String> {
    let listed = root.descendants().filter(|n| {
        n.tag_name().name() == "witness"
            && n.attribute("remove-date").unwrap_or_default().is_empty()
    });
    let mut names: Vec<String> = Vec::new();
    for witness in listed {
        let part = |name: &str| xml::text_at(witness, &[name]);
        let name = people::full_name(
            &part("firstname"),
            &part("middlename"),
            &part("lastname"),
            &part("suffix"),
        );
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Bills among the meeting's documents (type BR), then those that its title names.
fn bills(root: Node<'_, '_>, title: &str, congress: i64) -> Vec<String> {
    let documents = root.descendants().filter(|n| {
        n.tag_name().name() == "meeting-document"
            && n.attribute("type") == Some("BR")
            && n.attribute("remove-date").unwrap_or_default().is_empty()
    });
    let mut texts: Vec<String> = documents.map(|d| xml::text_at(d, &["legis-num"])).collect();
    texts.push(title.to_string());
    mentions::bills(&texts.join("; "), Some(congress))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::formats::testing::read_text;
    use crate::sources::hearings::read;

    /// The structure of HMTG102252.xml, with a title of our own.
    #[test]
    fn a_meeting_of_the_repository() {
        let text = r#"<committee-meeting congress-num="113" session-num="2" meeting-id="HMTG102252"
            meeting-type="HMTG"><current-status>S</current-status><meeting-details><committees>
            <committee-name id="RU00">Committee on Rules</committee-name></committees>
            <meeting-date><calendar-date>2014-05-19</calendar-date></meeting-date>
            <meeting-location><capitol-complex><room>H-313</room><building>CAPITOL</building>
            </capitol-complex></meeting-location><meeting-title>Tea and H.R. 4660</meeting-title>
            </meeting-details><meeting-documents><meeting-document type="BR" remove-date="">
            <legis-num>H.R. 4435</legis-num></meeting-document></meeting-documents>
            </committee-meeting>"#;
        let got = read_text(read, "hearings/HMTG102252.xml", text);
        assert_eq!(got.ids(), ["hearing:113:102252"]);
        assert_eq!(
            (got.field(0, "committee"), got.field(0, "type")),
            (&json!("HSRU"), &json!("meeting"))
        );
        assert_eq!(
            (got.field(0, "date"), got.field(0, "location")),
            (&json!("2014-05-19"), &json!("H-313, Capitol"))
        );
        assert_eq!(*got.field(0, "bill_ids"), json!(["hr:113:4435", "hr:113:4660"]));
        assert_eq!(*got.field(0, "status"), "scheduled");
    }

    #[test]
    fn witnesses_of_a_meeting() {
        let text = r#"<witness-list meeting-id="102266" create-date="2014-05-23T10:18:38.003">
            <panel sort-order="1"><witness remove-date=""><honorific>Mr.</honorific>
            <firstname>James</firstname><middlename>P.</middlename><lastname>Cochrane</lastname>
            <witness-documents><witness-document><files><file
            doc-url="http://docs.house.gov/meetings/GO/GO25/20140522/102266/HHRG-113-GO25-Bio-CochraneJ-20140522.pdf"
            /></files></witness-document></witness-documents></witness>
            <witness remove-date="2014-05-22T00:00:00"><lastname>Gone</lastname></witness></panel>
            </witness-list>"#;
        let got = read_text(read, "hearings/witness.xml", text);
        assert_eq!(got.ids(), ["hearing:113:102266"]);
        assert_eq!(*got.field(0, "witnesses"), json!(["James P. Cochrane"]));
        assert_eq!(
            (got.field(0, "committee"), got.field(0, "date")),
            (&json!("HSGO25"), &json!("2014-05-22"))
        );
        assert_eq!(*got.field(0, "type"), "hearing");
    }

    #[test]
    fn a_meeting_without_its_number_is_rejected() {
        for text in ["<committee-meeting/>", "<witness-list/>"] {
            let got = read_text(read, "hearings/x.xml", text);
            assert_eq!((got.records.len(), got.rejects.len()), (0, 1), "{text}");
        }
    }
}
