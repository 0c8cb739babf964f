//! Sections of the CFR from eCFR XML (see the file beside this one), the annual edition's XML
//! (CFRGRANULE or CFRDOC) and USLM (cfrDoc). Appendices have no section number and are passed over;
//! so are sections that are only reserved.

use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::ids;
use regex::Regex;
use roxmltree::Node;

use super::{cfr_sections_ecfr as ecfr, federal_register_xml as gpo};
use crate::formats::documents::non_empty_list;
use crate::formats::outline::Outline;
use crate::formats::prose::{self, Role, inline};
use crate::formats::{agencies, dates, designators, uslm, xml};
use crate::input::Input;
use crate::mentions;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "cfr-sections";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    if input.extension() != "xml" {
        return Ok(Outcome::Skipped);
    }
    let text = input.text()?;
    let document = xml::parse(&text)?;
    let root = document.root_element();
    match root.tag_name().name() {
        "CFRGRANULE" | "CFRDOC" => annual(root, out),
        "cfrDoc" => uslm_volume(root, out),
        _ if root.descendants().any(ecfr::is_section) => ecfr::read(root, out),
        _ => return Ok(Outcome::Skipped),
    }
    Ok(Outcome::Read)
}

/// A section as any of the formats gives it.
#[derive(Default)]
pub struct Found {
    /// The number of the title; empty if the file does not tell.
    pub title: String,
    /// As printed: "§ 122.26".
    pub number: String,
    pub heading: String,
    pub chapter: String,
    /// The heading of the chapter.
    pub agency: String,
    pub authority: String,
    pub as_of: Option<String>,
    pub paragraphs: Vec<String>,
}

impl Found {
    /// Hands over the section. One that is only reserved holds no rule, and "§§ 1.5-1.9" are such.
    pub fn emit(self, out: &mut dyn Sink) {
        if self.heading.to_lowercase().contains("[reserved]") || self.number.contains("§§") {
            return;
        }
        let number = number_of(&self.number);
        let place = format!("{} CFR {number}", self.title);
        if self.title.is_empty() {
            return out.reject(&format!("§ {number}"), "the title of the CFR is not stated");
        }
        if self.paragraphs.is_empty() {
            return out.reject(&place, "a section without text that is not reserved");
        }
        let Some(id) = ids::canonical(SOURCE, &format!("cfr:{}:{number}", self.title)) else {
            return out.reject(&place, "not a section number");
        };
        let heading = self.heading.trim_end_matches('.').trim();
        let part = number.split('.').next().unwrap_or_default();
        let mut record = Record::new(SOURCE, id, Rank::Full);
        record
            .set("name", format!("{} CFR {number} {heading}", self.title).trim())
            .set("title", self.title.parse::<i64>().ok());
        record
            .set("chapter", self.chapter)
            .set("part", format!("{} CFR {part}", self.title))
            .set("section", number.as_str());
        record
            .set("heading", heading)
            .set("agency", agency(&self.agency))
            .set("as_of", self.as_of.as_deref());
        record
            .set("law_ids", non_empty_list(mentions::laws(&self.authority)))
            .set("authority", self.authority);
        let sections =
            designators::sections(&number, &format!("§ {number} {heading}"), &self.paragraphs);
        record.body("text", self.as_of.as_deref().unwrap_or_default(), sections);
        out.record(record);
    }
}

/// "§ 1026.35" or "§ 1.1." -> the number alone.
pub fn number_of(printed: &str) -> String {
    let printed = prose::plain_dashes(printed);
    let text = printed.trim_start_matches(['§', ' ', '\u{a0}', '\u{2009}']);
    text.split_whitespace().next().unwrap_or_default().trim_end_matches('.').to_string()
}

/// The heading of a chapter names its agency: "CHAPTER IV—CENTERS FOR …", with a hyphen in older
/// files, or without its number. A chapter of "Miscellaneous agencies" names none.
fn agency(chapter_heading: &str) -> String {
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)^\s*chapter\s+[IVXLC0-9]+[A-Z]?\s*[—–-]*\s*"));
    let name = NUMBER.replace(chapter_heading, "");
    let name = name.split(" (CONTINUED)").next().unwrap_or_default();
    let name = agencies::title_case(name.trim());
    if name.to_lowercase().contains("miscellaneous") || name.to_lowercase().contains("[reserved]") {
        String::new()
    } else {
        name
    }
}

/// Ancestors from the element itself upwards, that have a child of this name: the nearest one's
/// child.
pub fn nearest<'a, 'd>(node: Node<'a, 'd>, child: &str) -> Option<Node<'a, 'd>> {
    node.ancestors().find_map(|n| xml::child(n, child))
}

pub fn without_caption(text: &str) -> &str {
    text.strip_prefix("Authority:").unwrap_or(text).trim()
}

pub fn paragraphs(node: Node<'_, '_>, role: &dyn Fn(Node<'_, '_>) -> Role) -> Vec<String> {
    let mut outline = Outline::default();
    prose::write(node, &mut outline, role);
    outline.finish().iter().flat_map(|s| s.text.split("\n\n")).map(str::to_string).collect()
}

// The annual edition

fn annual(root: Node<'_, '_>, out: &mut dyn Sink) {
    let first = |name: &str| {
        root.descendants().find(|n| n.tag_name().name() == name).map(inline).unwrap_or_default()
    };
    let stated = xml::text_at(root, &["FDSYS", "CFRTITLE"]);
    let digits = |text: String| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let title = if stated.is_empty() { digits(first("TITLENUM")) } else { stated };
    let as_of = dates::iso(&xml::text_at(root, &["FDSYS", "DATE"]))
        .or_else(|| dates::iso(&first("REVISED")));
    let above = xml::at(root, &["FDSYS", "ANCESTORS"]).into_iter().flat_map(|a| a.children());
    let parent =
        above.rev().find(|p| p.attribute("HEADING").is_some_and(|h| h.starts_with("CHAPTER")));
    for node in root
        .descendants()
        .filter(|n| n.tag_name().name() == "SECTION" && xml::child(*n, "SECTNO").is_some())
    {
        let (chapter, agency) = match parent {
            Some(p) => (p.attribute("HEADING").unwrap_or_default().to_string(), inline(p)),
            None => chapter_above(node),
        };
        let found = Found {
            title: title.clone(),
            number: xml::text_at(node, &["SECTNO"]),
            heading: ["SUBJECT", "RESERVED"]
                .iter()
                .filter_map(|n| xml::child(node, n))
                .map(inline)
                .collect::<Vec<_>>()
                .join(" "),
            chapter: chapter.trim_start_matches("CHAPTER").trim().to_string(),
            agency,
            authority: nearest(node, "AUTH")
                .map(inline)
                .map(|t| without_caption(&t).to_string())
                .unwrap_or_default(),
            as_of: as_of.clone(),
            paragraphs: paragraphs(node, &annual_role),
        };
        found.emit(out);
    }
}

/// ("CHAPTER I", "OFFICE OF …") from the heading "CHAPTER I—OFFICE OF …" of the chapter around a
/// section.
fn chapter_above(node: Node<'_, '_>) -> (String, String) {
    let Some(chapter) = node.ancestors().find(|n| n.tag_name().name() == "CHAPTER") else {
        return Default::default();
    };
    let heading = chapter
        .descendants()
        .filter(|n| n.tag_name().name() == "HD")
        .map(inline)
        .find(|h| h.starts_with("CHAPTER"));
    let heading = heading.unwrap_or_default();
    heading.split_once('—').map_or((heading.clone(), String::new()), |(number, name)| {
        (number.trim().to_string(), name.to_string())
    })
}

fn annual_role(node: Node<'_, '_>) -> Role {
    match node.tag_name().name() {
        "SECTNO" | "SUBJECT" | "RESERVED" => Role::Skip,
        _ => match gpo::role(node) {
            Role::Heading { .. } => Role::Paragraph,
            role => role,
        },
    }
}

// USLM

fn uslm_volume(root: Node<'_, '_>, out: &mut dyn Sink) {
    let title: String =
        xml::text_at(root, &["meta", "docNumber"]).chars().filter(char::is_ascii_digit).collect();
    let as_of = dates::iso(&xml::text_at(root, &["meta", "docReleasePoint"]));
    let quoted = |n: Node<'_, '_>| n.ancestors().any(|a| a.tag_name().name() == "quotedContent");
    for node in root.descendants().filter(|n| {
        n.tag_name().name() == "section" && xml::child(*n, "num").is_some() && !quoted(*n)
    }) {
        let chapter = node.ancestors().find(|n| n.tag_name().name() == "chapter");
        let found = Found {
            title: title.clone(),
            number: xml::child(node, "num").map(inline).unwrap_or_default(),
            heading: xml::child(node, "heading").map(inline).unwrap_or_default(),
            chapter: chapter
                .and_then(|c| xml::child(c, "num")?.attribute("value"))
                .unwrap_or_default()
                .to_string(),
            agency: chapter.and_then(|c| xml::child(c, "heading")).map(inline).unwrap_or_default(),
            authority: nearest(node, "authority")
                .map(inline)
                .map(|t| without_caption(&t).to_string())
                .unwrap_or_default(),
            as_of: as_of.clone(),
            paragraphs: paragraphs(node, &|n| uslm_role(n, node)),
        };
        found.emit(out);
    }
}

fn uslm_role(node: Node<'_, '_>, section: Node<'_, '_>) -> Role {
    let own = node.parent() == Some(section) && matches!(node.tag_name().name(), "num" | "heading");
    match uslm::role(node) {
        _ if own => Role::Skip,
        Role::Heading { .. } => Role::Paragraph,
        role => role,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn annual_sections() {
        let xml = r#"<CFRGRANULE><FDSYS><CFRTITLE>12</CFRTITLE><DATE>2017-01-01</DATE><ANCESTORS>
            <PARENT HEADING="Title 12">Banks</PARENT>
            <PARENT HEADING="CHAPTER X">BUREAU OF BOATS (CONTINUED)</PARENT></ANCESTORS></FDSYS><PART><CONTENTS>
            <SECTNO>1080.1</SECTNO></CONTENTS>
            <AUTH><HD SOURCE="HED">Authority:</HD><P>12 U.S.C. 1.</P></AUTH><SUBPART><SECTION>
            <SECTNO>§ 1080.1</SECTNO><SUBJECT>Scope.</SUBJECT><P>All.</P></SECTION>
            <SECTION><SECTNO>§§ 1080.2-1080.9</SECTNO><RESERVED>[Reserved]</RESERVED></SECTION></SUBPART></PART>
            </CFRGRANULE>"#;
        let read = read_text(read, "cfr-sections/a.xml", xml);
        assert_eq!(read.ids(), ["cfr:12:1080.1"]);
        assert_eq!(
            (read.field(0, "chapter"), read.field(0, "agency")),
            (&"X".into(), &"Bureau of Boats".into())
        );
        assert_eq!(read.field(0, "authority"), "12 U.S.C. 1.");
        assert!(read.rejects.is_empty());
    }

    #[test]
    fn uslm_sections() {
        let xml = r#"<cfrDoc xmlns="u"><meta><docNumber>27</docNumber><docReleasePoint>2017-04-01</docReleasePoint>
            </meta><main><chapter>
            <num value="II">CHAPTER II—</num><heading>BOATS, DEPARTMENT OF FERRIES</heading><part>
            <num>PART 447—</num><heading>X</heading>
            <authority><heading>Authority:</heading> <ref>22 U.S.C. 2778</ref>.</authority><section>
            <num value="447.1">§ 447.1</num><heading>General.</heading>
            <paragraph><num>(a)</num><content> Words <ref>here</ref>.</content></paragraph></section></part>
            </chapter></main></cfrDoc>"#;
        let read = read_text(read, "cfr-sections/a.xml", xml);
        assert_eq!(read.ids(), ["cfr:27:447.1"]);
        assert_eq!(read.field(0, "authority"), "22 U.S.C. 2778.");
        assert_eq!(read.field(0, "chapter"), "II");
        assert_eq!(read.records[0].bodies[0].sections[0].text, "(a) Words here.");
    }
}
