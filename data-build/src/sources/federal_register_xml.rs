//! A daily issue of the Federal Register in GPO's XML (root `FEDREG`): RULE, PRORULE, NOTICE and
//! PRESDOCU elements.

use std::collections::HashMap;

use roxmltree::Node;

use super::federal_register::Document;
use crate::formats::outline::{Outline, label};
use crate::formats::prose::{self, Role, inline};
use crate::formats::{agencies, dates, register, xml};
use crate::record::{Rank, Sink};

pub fn issue(root: Node<'_, '_>, out: &mut dyn Sink) {
    let published = dates::iso(&xml::text_at(root, &["DATE"]));
    let volume = xml::text_at(root, &["VOL"]).parse().ok();
    let contents = pages_by_number(root);
    let Some(published) = published else {
        out.reject("DATE", "the issue states no day");
        return;
    };
    let mut page = None;
    for node in root.descendants() {
        if let Some(number) = page_number(node) {
            page = Some(number);
        }
        let place = || format!("{} on page {}", node.tag_name().name(), page.unwrap_or(0));
        let Some(kind) = kind_of(node) else {
            if node.tag_name().name() == "CORRECT" {
                out.reject(&place(), "it does not say what kind of document it corrects");
            }
            continue;
        };
        let mut document = document(node, kind);
        let Some(number) = frdoc(node) else {
            out.reject(&place(), "no document number");
            continue;
        };
        let inside = pages_inside(node, page);
        let listed = contents.get(&number).copied();
        document.pages = match (listed, inside) {
            // The contents count the cover of a part of the issue with its first document.
            (Some((first, count)), Some(inside)) if inside.is_own => {
                Some((inside.first, (first + count - inside.first).max(1)))
            }
            (None, Some(inside)) => Some((inside.first, inside.count)),
            (listed, _) => listed,
        };
        document.number = number;
        document.published = published.clone();
        document.volume = volume;
        document.emit(Rank::Full, out);
    }
}

fn kind_of(node: Node<'_, '_>) -> Option<&'static str> {
    Some(match node.tag_name().name() {
        "RULE" => "rule",
        "PRORULE" => "proposed_rule",
        "NOTICE" => "notice",
        "PRESDOCU" => "presidential_document",
        "CORRECT" => return kind_of_corrected(node),
        _ => return None,
    })
}

/// A correction by the Office of the Federal Register is of the kind that it corrects: "In proposed
/// rule document 2024-30578 …".
fn kind_of_corrected(node: Node<'_, '_>) -> Option<&'static str> {
    let text = node.descendants().filter(|n| n.is_text()).filter_map(|n| n.text());
    let text = text.collect::<String>().to_lowercase();
    ["proposed rule", "rule", "notice", "presidential"]
        .into_iter()
        .zip(["proposed_rule", "rule", "notice", "presidential_document"])
        .find(|(name, _)| text.contains(&format!("{name} document")))
        .map(|(_, kind)| kind)
}

fn page_number(node: Node<'_, '_>) -> Option<i64> {
    (node.tag_name().name() == "PRTPAGE").then(|| node.attribute("P")?.parse().ok())?
}

fn frdoc(node: Node<'_, '_>) -> Option<String> {
    let printed = node.descendants().rfind(|n| n.tag_name().name() == "FRDOC")?;
    register::document_number(&inline(printed))
}

/// The pages that the issue's table of contents gives for each document.
fn pages_by_number(root: Node<'_, '_>) -> HashMap<String, (i64, i64)> {
    let Some(contents) = xml::child(root, "CNTNTS") else { return HashMap::new() };
    let mut pages = None;
    let mut found = HashMap::new();
    for node in contents.descendants() {
        match node.tag_name().name() {
            "PGS" => pages = register::pages(&inline(node)),
            "FRDOCBP" => {
                if let (Some(number), Some(pages)) =
                    (register::document_number(&inline(node)), pages.take())
                {
                    found.entry(number).or_insert(pages);
                }
            }
            _ => {}
        }
    }
    found
}

/// The pages on which a document is printed, by the page numbers inside of it.
#[derive(Clone, Copy)]
struct Pages {
    first: i64,
    count: i64,
    /// Whether the document opens its first page itself.
    is_own: bool,
}

/// The pages that begin inside a document; it begins on the page open before it unless it opens
/// one itself. "Title 3— The President" stands above the first page of a presidential document.
fn pages_inside(node: Node<'_, '_>, before: Option<i64>) -> Option<Pages> {
    let above = |n: Node<'_, '_>| {
        n.parent().is_some_and(|p| matches!(p.tag_name().name(), "TITLE3" | "PRES"))
    };
    let mut said_something = false;
    let mut is_own = false;
    let mut numbers = Vec::new();
    for n in node.descendants() {
        said_something |=
            n.is_text() && !above(n) && !n.text().unwrap_or_default().trim().is_empty();
        if let Some(number) = page_number(n) {
            if numbers.is_empty() {
                is_own = !said_something;
                numbers.extend(before.filter(|_| said_something));
            }
            numbers.push(number);
        }
    }
    let first = numbers.first().copied().or(before)?;
    let last = numbers.last().copied().unwrap_or(first);
    Some(Pages { first, count: (last - first + 1).max(1), is_own })
}

fn document(node: Node<'_, '_>, kind: &'static str) -> Document {
    let preamble = xml::child(node, "PREAMB").unwrap_or(node);
    let printed = |name: &str| xml::children(preamble, name).map(inline).collect::<Vec<_>>();
    let joined = |name: &str| printed(name).join("; ");
    let mut offices: Vec<String> = Vec::new();
    for child in preamble.children().filter(|n| matches!(n.tag_name().name(), "AGENCY" | "SUBAGY"))
    {
        let name = agencies::title_case(&inline(child));
        if !name.is_empty() && !offices.contains(&name) {
            offices.push(name);
        }
    }
    let days = preamble.children().filter(|n| matches!(n.tag_name().name(), "EFFDATE" | "DATES"));
    let mut outline = Outline::default();
    prose::write(node, &mut outline, &role);
    Document {
        kind,
        title: title(node, preamble),
        agencies: offices,
        cfr_parts: register::cfr_parts(&joined("CFR")),
        dockets: register::docket_ids(&joined("DEPDOC")),
        rins: register::rins(&joined("RIN")),
        dates: days.map(inline).collect::<Vec<_>>().join(" "),
        presidential: if kind == "presidential_document" {
            name_of_presidential(node)
        } else {
            String::new()
        },
        sections: outline.finish(),
        ..Document::default()
    }
}

fn title(node: Node<'_, '_>, preamble: Node<'_, '_>) -> String {
    let subject = xml::child(preamble, "SUBJECT").map(inline).unwrap_or_default();
    if !subject.is_empty() {
        return subject;
    }
    let headings = node.descendants().filter(|n| n.tag_name().name() == "HD").map(inline);
    headings
        .filter(|h| !h.is_empty() && !h.ends_with(':'))
        .map(|h| h.to_string())
        .next()
        .unwrap_or_default()
}

/// The lines above the heading of a presidential document. One has kind, number and day:
/// "Proclamation 10701 of February 6, 2024".
fn name_of_presidential(node: Node<'_, '_>) -> String {
    let lines = node.descendants().filter(|n| n.is_element()).skip(1);
    let above = lines.take_while(|n| n.tag_name().name() != "HD");
    let names =
        above.filter(|n| n.children().all(|c| !c.is_element() || c.tag_name().name() == "PRTPAGE"));
    names.map(inline).collect::<Vec<_>>().join("; ")
}

/// What stands above or below the text and is told in fields.
const OUTSIDE: &[&str] = &[
    "AGENCY", "SUBAGY", "CFR", "DEPDOC", "RIN", "FRDOC", "FILED", "BILCOD", "TITLE3", "PRES",
    "PROC", "EXECORDR", "MEMO", "DETNO", "PNOTICE", "EDITOR", "GPH", "MATH",
];

/// Elements whose heading is the first words of a paragraph.
const RUN_IN: &[&str] =
    &["AUTH", "SOURCE", "NOTE", "EDNOTE", "EFFDNOT", "CROSSREF", "FTNT", "EXAMPLE", "SUBSCRIPT"];

/// How elements of GPO's SGML vocabulary read; the annual CFR shares it.
pub fn role(node: Node<'_, '_>) -> Role {
    let parent = node.parent().map(|p| p.tag_name().name()).unwrap_or_default();
    match node.tag_name().name() {
        name if OUTSIDE.contains(&name) => Role::Skip,
        "SUBJECT" if matches!(parent, "PREAMB" | "SECTION") => Role::Skip,
        "HD" if RUN_IN.contains(&parent) => Role::Prefix,
        "HD" => {
            let title = inline(node);
            let title = title.trim_end_matches(':');
            Role::Heading {
                depth: depth(node),
                label: label(title).to_string(),
                title: title.to_string(),
            }
        }
        "SECTNO" if parent == "SECTION" => {
            let number = inline(node);
            let subject = node.parent().map(|p| xml::text_at(p, &["SUBJECT"])).unwrap_or_default();
            let title = format!("{number} {subject}");
            Role::Heading {
                depth: 2,
                label: label(&number).to_string(),
                title: title.trim().to_string(),
            }
        }
        "ROW" | "BOXHD" => Role::Row,
        _ => Role::Auto,
    }
}

/// HED is the top, HD1 below it, and so on.
fn depth(node: Node<'_, '_>) -> i64 {
    match node.attribute("SOURCE") {
        Some("HED") => 1,
        Some(source) => {
            let number = source.strip_prefix("HD").and_then(|n| n.parse::<u8>().ok());
            number.map_or(2, |n| i64::from(n) + 1)
        }
        None => 2,
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::testing::read_text;
    use crate::record::Rank;
    use crate::sources::federal_register::read;

    const ISSUE: &str = r#"<FEDREG><VOL>91</VOL><DATE>Monday, April 6, 2026</DATE>
        <CNTNTS><AGCY><CAT><SJDENT><PGS>100-102</PGS><FRDOCBP>2026-00001</FRDOCBP></SJDENT></CAT></AGCY></CNTNTS>
        <RULES><RULE><PREAMB><PRTPAGE P="100"/><AGENCY TYPE="F">DEPARTMENT OF BOATS</AGENCY>
        <SUBAGY>Ferry Office</SUBAGY>
        <CFR>40 CFR Parts 52 and 81</CFR><DEPDOC>[Docket No. FAA-2026-0001]</DEPDOC><RIN>RIN 2120-AA64</RIN>
        <SUBJECT>On <E T="03">Ferries</E></SUBJECT>
        <EFFDATE><HD SOURCE="HED">DATES:</HD><P>Effective May 1, 2026. Comments are due by June 1, 2026.</P>
        </EFFDATE></PREAMB>
        <SUPLINF><HD SOURCE="HED">SUPPLEMENTARY INFORMATION:</HD><HD SOURCE="HD1">I. Background</HD><P>Words.</P>
        <PART><HD SOURCE="HED">PART 52—FERRIES</HD></PART>
        <REGTEXT><AUTH><HD SOURCE="HED">Authority:</HD><P>Pub. L. 114-74.</P></AUTH>
        <SECTION><SECTNO>§ 52.1</SECTNO><SUBJECT>Scope.</SUBJECT><P>All.</P></SECTION></REGTEXT></SUPLINF>
        <FRDOC>[FR Doc. 2026-00001 Filed 4-3-26; 8:45 am]</FRDOC></RULE></RULES>
        <NOTICES><NOTICE><PREAMB><SUBJECT>Lost</SUBJECT></PREAMB></NOTICE>
        <CORRECT><EDITOR>Doe</EDITOR><PREAMB><AGENCY TYPE="N">DEPARTMENT OF BOATS</AGENCY>
        <SUBJECT>Oars</SUBJECT></PREAMB><SUPLINF><HD SOURCE="HED">Correction</HD>
        <P>In proposed rule document 2026-00009, on page 90, strike the oar.</P></SUPLINF>
        <FRDOC>[FR Doc. C1-2026-00009 Filed 4-3-26; 8:45 am]</FRDOC></CORRECT></NOTICES>
        <PRESDOCS><PRESDOCU><PROCLA><PROC>Proclamation 11000 of April 2, 2026</PROC><HD SOURCE="HED">Boat Week</HD>
        <FP>Boats.</FP><FRDOC>[FR Doc. 2026-00002</FRDOC></PROCLA></PRESDOCU>
        <PRESDOCU><PRMEMO><TITLE3>Title 3—</TITLE3><PRES>The President<PRTPAGE P="105"/></PRES>
        <MEMO>Memorandum of April 1, 2026</MEMO><HD SOURCE="HED">Delegation of Boats</HD>
        <HD SOURCE="HED">Memorandum for the Secretary of Boats</HD><FP>Row.</FP>
        <FRDOC>[FR Doc. 2026-00003</FRDOC></PRMEMO></PRESDOCU>
        <PRESDOCU><DETERM><DETNO>Presidential Determination No. 2026–05 of April 1, 2026</DETNO>
        <HD SOURCE="HED">On Oars</HD><FP>Row on.</FP><FRDOC>[FR Doc. 2026-00004</FRDOC></DETERM></PRESDOCU>
        </PRESDOCS></FEDREG>"#;

    /// Found by mutations: the depth of such a heading is not known, and the build goes on.
    #[test]
    fn a_heading_of_impossible_depth() {
        let issue = ISSUE.replace("\"HD1\"", &format!("\"HD{}\"", i64::MAX));
        let found = read_text(read, "federal-register/a.xml", &issue);
        assert_eq!(found.ids(), read_text(read, "federal-register/a.xml", ISSUE).ids());
    }

    #[test]
    fn an_issue() {
        let read = read_text(read, "federal-register/a.xml", ISSUE);
        let expected = [
            "2026-00001",
            "2026-00001",
            "C1-2026-00009",
            "proc:11000",
            "2026-00002",
            "pmemo:2026-04-01:3",
            "2026-00003",
            "pmemo:2026-04-01:4",
            "2026-00004",
        ];
        assert_eq!(read.ids(), expected);
        assert_eq!(read.field(0, "agencies")[0], "Department of Boats");
        assert_eq!(read.field(0, "title"), "On Ferries");
        assert_eq!(read.field(0, "cfr_references")[1], "40 CFR 81");
        assert_eq!(
            (read.field(0, "start_page"), read.field(0, "page_count")),
            (&100.into(), &3.into())
        );
        assert_eq!(read.field(0, "law_ids")[0], "pl:114:74");
        let headings: Vec<_> =
            read.records[0].bodies[0].sections.iter().map(|s| s.heading.as_str()).collect();
        let expected = [
            "DATES",
            "SUPPLEMENTARY INFORMATION",
            "SUPPLEMENTARY INFORMATION > I. Background",
            "PART 52—FERRIES",
            "PART 52—FERRIES > § 52.1 Scope.",
        ];
        assert_eq!(headings, expected);
        assert_eq!(read.rejects, ["NOTICE on page 100: no document number"]);
    }

    /// What is inferred from the text ranks below what the API states.
    #[test]
    fn dates_are_inferred() {
        let read = read_text(read, "federal-register/a.xml", ISSUE);
        assert_eq!((read.records[0].rank, read.records[1].rank), (Rank::Full, Rank::Partial));
        assert!(read.field(0, "comment_end_date").is_null());
        assert_eq!(read.field(1, "comment_end_date"), "2026-06-01");
        assert_eq!(read.field(1, "effective_date"), "2026-05-01");
    }

    #[test]
    fn a_correction_is_of_the_kind_that_it_corrects() {
        let read = read_text(read, "federal-register/a.xml", ISSUE);
        assert_eq!(read.field(2, "type"), "proposed_rule");
        assert_eq!(read.field(2, "title"), "Oars");
    }

    #[test]
    fn presidential_documents_are_recognized() {
        let read = read_text(read, "federal-register/a.xml", ISSUE);
        assert_eq!(read.field(3, "signed_date"), "2026-04-02");
        assert_eq!(
            (read.field(5, "type"), read.field(5, "title")),
            (&"memorandum".into(), &"Delegation of Boats".into())
        );
        assert_eq!(read.field(5, "federal_register_id"), "2026-00003");
        assert!(read.field(5, "number").is_null());
        assert_eq!(read.field(7, "type"), "determination");
    }
}
