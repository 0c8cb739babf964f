//! GAO's RSS of its newest reports: number and address, title, day and what GAO found, in short.

use anyhow::Result;
use josh::catalog::ids;
use roxmltree::Node;

use super::gao_reports::{new_record, recommendations, set_title};
use crate::formats::outline::Outline;
use crate::formats::{dates, html, xml};
use crate::reader::Outcome;
use crate::record::{Rank, Record, Section, Sink};

const SOURCE: &str = "gao-reports";

pub fn read(text: &str, out: &mut dyn Sink) -> Result<Outcome> {
    let document = xml::parse(text)?;
    let root = document.root_element();
    let Some(channel) = xml::child(root, "channel").filter(|_| root.tag_name().name() == "rss")
    else {
        return Ok(Outcome::Skipped);
    };
    for (n, item) in xml::children(channel, "item").enumerate() {
        match record(item) {
            Some(record) => out.record(record),
            None => {
                let link = xml::text_at(item, &["link"]);
                out.reject(
                    &format!("item {}", n + 1),
                    &format!("not a GAO report number: {link:?}"),
                );
            }
        }
    }
    Ok(Outcome::Read)
}

/// An item. It is partial: the report itself says more.
fn record(item: Node<'_, '_>) -> Option<Record> {
    let text = |name: &str| xml::text_at(item, &[name]);
    let title = html::to_text(&text("title"));
    let id = [text("link"), text("guid"), title.split(',').next().unwrap_or_default().to_string()]
        .iter()
        .find_map(|stated| {
            ids::canonical(SOURCE, stated.split(['?', '#']).next()?.trim_end_matches('/'))
        })?;
    let day = dates::day_first(&text("pubDate")).or_else(|| dates::iso(&text("pubDate")));
    let summary = paragraphs(&raw(item, "description"));
    let mut record = new_record(&id, Rank::Partial);
    set_title(&mut record, bare_title(&title, &id));
    record.set("published_date", day);
    record.set("recommendations_count", recommendations(&summary));
    // Ordered before the report's own text, which then is the current one.
    record.body("summary", "", sections(&summary));
    Some(record)
}

/// The text of a child with its line breaks, which divide the paragraphs of a summary.
fn raw(item: Node<'_, '_>, name: &str) -> String {
    let texts = xml::child(item, name).into_iter().flat_map(|n| n.descendants());
    texts.filter(Node::is_text).filter_map(|n| n.text()).collect()
}

/// One line per paragraph: of HTML by its tags, of plain text by blank lines.
fn paragraphs(summary: &str) -> String {
    if summary.contains("</") {
        return html::to_text(&xml::fold(summary));
    }
    let lines: Vec<&str> = summary.lines().map(str::trim).collect();
    let found = lines.split(|line| line.is_empty()).map(|lines| html::to_text(&lines.join(" ")));
    found.filter(|paragraph| !paragraph.is_empty()).collect::<Vec<_>>().join("\n")
}

/// "GAO-25-107743, Boats: More Needed, May 20, 2025" -> "Boats: More Needed"; a title without its
/// number is left alone.
fn bare_title<'a>(title: &'a str, id: &str) -> &'a str {
    let number = id.trim_start_matches("gao:");
    let after = title.get(..number.len()).filter(|start| start.eq_ignore_ascii_case(number));
    let Some(rest) = after.and_then(|_| title[number.len()..].strip_prefix(',')) else {
        return title;
    };
    let day = rest.rmatch_indices(',').nth(1).filter(|(at, _)| is_day(&rest[at + 1..]));
    day.map_or(rest, |(at, _)| &rest[..at]).trim()
}

/// Whether this is a day and nothing else, "May 20, 2025".
fn is_day(text: &str) -> bool {
    text.split_whitespace().count() == 3 && dates::iso(text).is_some()
}

/// GAO heads the parts of its summaries in the same words.
fn sections(summary: &str) -> Vec<Section> {
    let mut outline = Outline::default();
    for line in summary.lines() {
        match line.trim_end_matches(':') {
            head @ ("What GAO Found"
            | "Why GAO Did This Study"
            | "What GAO Recommends"
            | "Highlights") => {
                outline.heading(1, "", head);
            }
            _ => outline.paragraph(line),
        }
    }
    outline.finish()
}

#[cfg(test)]
mod tests {
    use crate::formats::testing::read_text;
    use crate::reader::Outcome;
    use crate::sources::gao_reports;

    /// Written for this test in the form of GAO's feed: numbers in addresses, and also in titles
    /// as they once were.
    const FEED: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
        <rss version="2.0"><channel><title>Reports &amp; Testimonies</title>
        <item><title>Boats: Ferries &amp;amp; Others Need Care</title>
          <link>https://www.gao.gov/products/gao-25-107743?utm_source=rss</link>
          <description><![CDATA[<h2>What GAO Found</h2><p>Boats leak.</p><h2>Why GAO Did This Study</h2>
            <p>GAO is making two recommendations.</p>]]></description>
          <pubDate>Thu, 23 Jan 2025 07:26:10 -0500</pubDate></item>
        <item><title>GAO-25-106000T, Tea, and More: A Testimony, January 24, 2025</title>
          <link>https://www.gao.gov/products/gao-25-106000t</link><description>Tea is short.</description>
          <pubDate>Fri, 24 Jan 2025 10:00:00 EST</pubDate></item>
        <item><title>Matter of: Boats Inc</title><link>https://www.gao.gov/products/b-423000</link></item>
        <item/></channel></rss>"#;

    #[test]
    fn items_become_reports() {
        let read = read_text(gao_reports::read, "gao-reports/rss/2025-01-31/reports.xml", FEED);
        assert_eq!(read.ids(), ["gao:GAO-25-107743", "gao:GAO-25-106000T"]);
        assert_eq!(
            (read.field(0, "number"), read.field(0, "published_date")),
            (&"GAO-25-107743".into(), &"2025-01-23".into())
        );
        assert_eq!(read.field(0, "title"), "Boats: Ferries & Others Need Care");
        assert_eq!(read.field(1, "title"), "Tea, and More: A Testimony");
        assert_eq!(read.field(0, "recommendations_count"), 2);
        let body = &read.records[0].bodies[0];
        assert_eq!((body.version.as_str(), body.order.as_str()), ("summary", ""));
        let shown: Vec<_> =
            body.sections.iter().map(|s| (s.heading.as_str(), s.text.as_str())).collect();
        assert_eq!(shown[0], ("What GAO Found", "Boats leak."));
        assert_eq!(read.records[1].bodies[0].sections[0].text, "Tea is short.");
        assert_eq!(read.rejects.len(), 2, "{:?}", read.rejects);
        assert!(
            read.rejects[0].starts_with("item 3: ") && read.rejects[0].contains("b-423000"),
            "{:?}",
            read.rejects
        );
    }

    /// The feed of 2026 has plain text, with a blank line between paragraphs.
    #[test]
    fn paragraphs_of_plain_text_stay_apart() {
        let feed =
            "<rss version='2.0'><channel><item><title>Registers: Tribes Named Challenges</title>
            <link>https://www.gao.gov/products/gao-26-107879</link><description>
What GAO Found

Registers list places.
Officers choose them.

Tribes (T&amp;amp;E) may, too.

Why GAO Did This Study

Some asked.

</description></item></channel></rss>";
        let read = read_text(gao_reports::read, "gao-reports/reports.xml", feed);
        let shown: Vec<_> = read.records[0].bodies[0]
            .sections
            .iter()
            .map(|s| (s.heading.as_str(), s.text.as_str()))
            .collect();
        let found = "Registers list places. Officers choose them.\n\nTribes (T&E) may, too.";
        assert_eq!(shown, [("What GAO Found", found), ("Why GAO Did This Study", "Some asked.")]);
        assert_eq!(*read.field(0, "topics"), serde_json::json!(["Registers"]));
    }

    #[test]
    fn other_xml_is_passed_over() {
        for text in ["<rss/>", "<feed><channel/></feed>"] {
            assert_eq!(
                read_text(gao_reports::read, "gao-reports/x.xml", text).outcome,
                Outcome::Skipped
            );
        }
    }
}
