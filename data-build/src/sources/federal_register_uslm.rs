//! A daily issue of the Federal Register in USLM (root `frDoc`): rule, proposedRule, notice and
//! presidentialDoc elements. A proposed rule may also be a `rule` below `proposedRules`.

use roxmltree::Node;

use super::federal_register::Document;
use crate::formats::outline::{Outline, label};
use crate::formats::prose::{self, Role, inline};
use crate::formats::{agencies, dates, register, uslm, xml};
use crate::record::{Rank, Sink};

pub fn issue(root: Node<'_, '_>, out: &mut dyn Sink) {
    let Some(published) = dates::iso(&xml::text_at(root, &["meta", "date"])) else {
        out.reject("meta", "the issue states no day");
        return;
    };
    let volume = xml::text_at(root, &["meta", "volume"]).parse().ok();
    for node in root.descendants() {
        let Some(kind) = kind_of(node) else { continue };
        let Some(number) = number(node) else {
            out.reject(
                node.attribute("identifier").unwrap_or(node.tag_name().name()),
                "no document number",
            );
            continue;
        };
        let mut document = document(node, kind);
        document.number = number;
        document.published = published.clone();
        document.volume = volume;
        document.emit(Rank::Full, out);
    }
}

fn kind_of(node: Node<'_, '_>) -> Option<&'static str> {
    // A `rule` may also be quoted inside another document; only those with metadata of their own
    // are documents.
    xml::child(node, "meta")?;
    let proposed = || node.ancestors().any(|a| a.tag_name().name() == "proposedRules");
    Some(match node.tag_name().name() {
        "rule" if proposed() => "proposed_rule",
        "rule" => "rule",
        "proposedRule" => "proposed_rule",
        "notice" => "notice",
        "presidentialDoc" => "presidential_document",
        _ => return None,
    })
}

fn number(node: Node<'_, '_>) -> Option<String> {
    let stated = register::document_number(&xml::text_at(node, &["meta", "docNumber"]));
    stated.or_else(|| {
        register::document_number(node.attribute("identifier")?.rsplit("frdoc").next()?)
    })
}

fn document(node: Node<'_, '_>, kind: &'static str) -> Document {
    let preface = xml::child(node, "preface").unwrap_or(node);
    let styled = |style: &'static str| {
        preface.descendants().filter(move |n| uslm::style(*n) == style).map(inline)
    };
    let joined = |style: &'static str| styled(style).collect::<Vec<_>>().join("; ");
    let mut offices: Vec<String> = Vec::new();
    for name in styled("AGENCY").chain(styled("SUBAGY")).map(|n| agencies::title_case(&n)) {
        if !name.is_empty() && !offices.contains(&name) {
            offices.push(name);
        }
    }
    let days = node.descendants().filter(|n| {
        n.tag_name().name() == "statement" && matches!(uslm::style(*n), "EFFDATE" | "DATES")
    });
    let mut outline = Outline::default();
    if let Some(main) = xml::child(node, "main") {
        prose::write(main, &mut outline, &role);
    }
    let subject = joined("SUBJECT");
    Document {
        kind,
        title: if subject.is_empty() { xml::text_at(node, &["meta", "subject"]) } else { subject },
        agencies: offices,
        cfr_parts: register::cfr_parts(&joined("CFR")),
        dockets: register::docket_ids(&joined("DEPDOC")),
        rins: register::rins(&joined("RIN")),
        dates: days.map(inline).collect::<Vec<_>>().join(" "),
        pages: pages(node),
        presidential: if kind == "presidential_document" {
            xml::text_at(node, &["meta", "title"])
        } else {
            String::new()
        },
        sections: outline.finish(),
        ..Document::default()
    }
}

/// The first page is stated; each further one begins at a `<?page num="…"?>`.
fn pages(node: Node<'_, '_>) -> Option<(i64, i64)> {
    let first: i64 = xml::text_at(node, &["meta", "startingPage"]).parse().ok()?;
    let begun = node.descendants().filter_map(|n| n.pi().filter(|pi| pi.target == "page")?.value);
    let last = begun
        .filter_map(|value| value.split('"').nth(1)?.parse::<i64>().ok())
        .max()
        .unwrap_or(first);
    Some((first, (last - first + 1).max(1)))
}

fn role(node: Node<'_, '_>) -> Role {
    let parent = node.parent().map(|p| p.tag_name().name()).unwrap_or_default();
    match (node.tag_name().name(), uslm::style(node)) {
        ("heading", style)
            if style.starts_with('H') && !uslm::is_run_in(parent) && !uslm::is_division(parent) =>
        {
            let title = inline(node);
            let title = title.trim_end_matches(':');
            let depth =
                style.strip_prefix("HD").and_then(|n| n.parse::<i64>().ok()).map_or(1, |n| n + 1);
            Role::Heading { depth, label: label(title).to_string(), title: title.to_string() }
        }
        _ => uslm::role(node),
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::testing::read_text;
    use crate::sources::federal_register::read;

    #[test]
    fn a_proposed_rule() {
        let issue = r#"<frDoc xmlns="http://schemas.gpo.gov/xml/uslm" xmlns:dc="http://purl.org/dc/elements/1.1/">
            <meta><volume>83</volume><dc:date>2018-05-10</dc:date></meta><main><proposedRules>
            <rule identifier="/us/fr/83/frdoc2018-09910">
            <meta><startingPage>21707</startingPage><docNumber>2018–09910</docNumber></meta>
            <preface><?page num="21707"?><organization style="-uslm-sgm:AGENCY">BOAT AUTHORITY</organization>
            <affected style="-uslm-sgm:CFR"><ref>20 CFR Part 404</ref></affected>
            <property style="-uslm-sgm:DEPDOC">[Docket No. SSA–2017–0034]</property>
            <subject style="-uslm-sgm:SUBJECT">On Boats</subject></preface>
            <main><rulePreamble><statement style="-uslm-sgm:EFFDATE"><content>
            <heading style="-uslm-sgm:HED">DATES:</heading>
            <p>Comments must reach us by <date date="2018-06-01">June 1, 2018</date>.</p></content></statement>
            </rulePreamble><?page num="21708"?>
            <level><section style="-uslm-sgm:AMDPAR"><num>■ 1.</num><content>Revise as follows: <quotedContent>
            <section style="-uslm-sgm:SECTION">
            <num>§ 404.1</num><heading>Scope.</heading><content><p>All.</p></content></section></quotedContent>
            </content></section></level></main>
            </rule></proposedRules></main></frDoc>"#;
        let read = read_text(read, "federal-register/a.xml", issue);
        assert_eq!(read.ids(), ["2018-09910", "2018-09910"]);
        assert_eq!(read.field(0, "type"), "proposed_rule");
        assert_eq!(read.field(0, "docket_ids")[0], "docket:SSA-2017-0034");
        assert_eq!(read.field(1, "comment_end_date"), "2018-06-01");
        assert_eq!(
            (read.field(0, "start_page"), read.field(0, "page_count")),
            (&21707.into(), &2.into())
        );
        let sections = &read.records[0].bodies[0].sections;
        let shown: Vec<_> = sections
            .iter()
            .map(|s| (s.section.as_str(), s.heading.as_str(), s.text.as_str()))
            .collect();
        assert_eq!(
            shown[0],
            ("", "DATES", "Comments must reach us by June 1, 2018.\n\n■ 1. Revise as follows:")
        );
        assert_eq!(shown[1], ("404.1", "DATES > § 404.1 Scope.", "All."));
    }
}
