//! The eCFR's XML (DIV elements): GPO's bulk files and answers of ecfr.gov's API.
//!
//! In the bulk files a `DIV1` of type TITLE is a volume and its `N` the number of the volume. The
//! title is what the `NODE` of every division begins with (`5:1.0.1.1` is in title 5) and what the
//! header's `IDNO` says. The API has neither; each division has its place as `hierarchy_metadata`.

use std::sync::LazyLock;

use regex::Regex;
use roxmltree::Node;

use super::cfr_sections::{Found, nearest, number_of, paragraphs, without_caption};
use crate::formats::prose::{Role, inline};
use crate::formats::{dates, xml};
use crate::patterns::pattern;
use crate::record::Sink;

pub fn is_section(node: Node<'_, '_>) -> bool {
    node.tag_name().name() == "DIV8" && node.attribute("TYPE") == Some("SECTION")
}

pub fn read(root: Node<'_, '_>, out: &mut dyn Sink) {
    let in_header = title_in_header(root);
    for node in root.descendants().filter(|n| is_section(*n)) {
        let chapter = node.ancestors().find(|n| n.attribute("TYPE") == Some("CHAPTER"));
        let printed = node.attribute("N").unwrap_or_default();
        let head = xml::child(node, "HEAD").map(inline).unwrap_or_default();
        let number = if printed.is_empty() { number_of(&head) } else { number_of(printed) };
        let heading = head.split_once(number.as_str()).map_or(head.as_str(), |(_, rest)| rest);
        let found = Found {
            title: title_of(node).or_else(|| in_header.clone()).unwrap_or_default(),
            heading: heading.trim().to_string(),
            chapter: chapter.and_then(|c| c.attribute("N")).unwrap_or_default().to_string(),
            agency: chapter.map(|c| xml::text_at(c, &["HEAD"])).unwrap_or_default(),
            authority: nearest(node, "AUTH")
                .map(inline)
                .map(|t| without_caption(&t).to_string())
                .unwrap_or_default(),
            as_of: nearest(node, "AMDDATE").and_then(|n| dates::iso(&inline(n))),
            paragraphs: paragraphs(node, &role),
            number: if printed.contains("§§") { printed.to_string() } else { number },
        };
        found.emit(out);
    }
}

/// The title that the section or a division around it states, the innermost first.
fn title_of(node: Node<'_, '_>) -> Option<String> {
    // The braces and quotes of the JSON are escaped once or twice.
    static PLACE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"/title-(\d{1,2})\b|[^\d](\d{1,2}) CFR\b"));
    node.ancestors().find_map(|n| {
        let by_node = n.attribute("NODE").and_then(|path| path.split_once(':')).map(|(t, _)| t);
        let by_place = || {
            let captures = PLACE.captures(n.attribute("hierarchy_metadata")?)?;
            captures.get(1).or(captures.get(2)).map(|m| m.as_str())
        };
        by_node.filter(|t| is_title(t)).or_else(by_place).map(str::to_string)
    })
}

/// `<IDNO TYPE="title">42</IDNO>`, or the heading of a volume, "Title 42—Public Health--Volume 4".
fn title_in_header(root: Node<'_, '_>) -> Option<String> {
    static HEAD: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)^\s*title\s+(\d{1,2})\b"));
    let stated = root
        .descendants()
        .find(|n| n.tag_name().name() == "IDNO" && n.attribute("TYPE") == Some("title"))
        .map(|n| inline(n).trim().to_string())
        .filter(|t| is_title(t));
    stated.or_else(|| {
        let volume = root.descendants().find(|n| n.attribute("TYPE") == Some("TITLE"))?;
        Some(HEAD.captures(&xml::text_at(volume, &["HEAD"]))?[1].to_string())
    })
}

fn is_title(text: &str) -> bool {
    text.parse::<u8>().is_ok_and(|n| (1..=50).contains(&n))
}

fn role(node: Node<'_, '_>) -> Role {
    match node.tag_name().name() {
        "HEAD" => Role::Skip,
        "HED" => Role::Prefix,
        "TR" => Role::Row,
        _ => Role::Auto,
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::testing::read_text;
    use crate::sources::cfr_sections::read;

    /// Two volumes of a title in the form of the bulk data, where N counts volumes.
    fn volumes(title: &str, part: &str) -> String {
        let volume = |n: u8, sections: &str| {
            format!(
                r#"<ECFRBRWS><AMDDATE>Dec. 29, 2022(fm)
                </AMDDATE><DIV1 N="{n}" NODE="{title}:{n}" TYPE="TITLE">
                <HEAD>Title {title}—Boats--Volume {n}</HEAD>
                <DIV3 N="I" NODE="{title}:{n}.0.1" TYPE="CHAPTER">
                <HEAD> CHAPTER I—BOAT OFFICE</HEAD><DIV5 N="{part}" NODE="{title}:{n}.0.1.1.1" TYPE="PART">
                <HEAD>PART {part}—BOATS</HEAD>
                <AUTH><HED>Authority:</HED><PSPACE>Pub. L. 111-203; 1 U.S.C. 1.</PSPACE></AUTH>
                {sections}</DIV5></DIV3></DIV1></ECFRBRWS>"#
            )
        };
        let first = format!(
            r#"<DIV8 N="§ {part}.26" NODE="{title}:1.0.1.1.1.0.1.1" TYPE="SECTION">
            <HEAD>§ {part}.26   Boats.</HEAD><P>(a) <I>One.</I> Two.</P><P>(1) Sub.</P><P>(b) Three.</P></DIV8>
            <DIV8 N="§ {part}.27" NODE="{title}:1.0.1.1.1.0.1.2" TYPE="SECTION">
            <HEAD>§ {part}.27   [Reserved]</HEAD></DIV8>
            <DIV8 N="§§ {part}.28-{part}.40" NODE="{title}:1.0.1.1.1.0.1.3" TYPE="SECTION">
            <HEAD>§§ {part}.28-{part}.40   [Reserved]</HEAD></DIV8>"#
        );
        let second = format!(
            r#"<DIV8 N="§ {part}.41" NODE="{title}:2.0.1.1.1.0.1.1" TYPE="SECTION">
            <HEAD>§ {part}.41   Oars.</HEAD><P>Row.</P></DIV8>"#
        );
        format!(
            r#"<DLPSTEXTCLASS><HEADER><FILEDESC><PUBLICATIONSTMT><IDNO TYPE="title">
            {title}</IDNO></PUBLICATIONSTMT></FILEDESC></HEADER><TEXT><BODY>{}{}</BODY></TEXT></DLPSTEXTCLASS>"#,
            volume(1, &first),
            volume(2, &second)
        )
    }

    /// Given two titles with the same parts in several volumes, when they are read, then no id of
    /// one is an id of the other.
    #[test]
    fn volumes_are_not_titles() {
        let (five, forty) = (volumes("5", "122"), volumes("40", "122"));
        let five = read_text(read, "cfr-sections/ECFR-title5.xml", &five);
        let forty = read_text(read, "cfr-sections/ECFR-title40.xml", &forty);
        assert_eq!(five.ids(), ["cfr:5:122.26", "cfr:5:122.41"]);
        assert_eq!(forty.ids(), ["cfr:40:122.26", "cfr:40:122.41"]);
        assert_eq!((five.rejects.len(), forty.rejects.len()), (0, 0));
    }

    #[test]
    fn a_section_with_all_its_fields() {
        let read = read_text(read, "cfr-sections/a.xml", &volumes("40", "122"));
        assert_eq!(read.field(0, "name"), "40 CFR 122.26 Boats");
        assert_eq!(
            (read.field(0, "part"), read.field(0, "chapter")),
            (&"40 CFR 122".into(), &"I".into())
        );
        assert_eq!(
            (read.field(0, "agency"), read.field(0, "as_of")),
            (&"Boat Office".into(), &"2022-12-29".into())
        );
        assert_eq!(read.field(0, "law_ids")[0], "pl:111:203");
        let sections = &read.records[0].bodies[0].sections;
        let labels: Vec<_> = sections.iter().map(|s| s.section.as_str()).collect();
        assert_eq!(labels, ["122.26(a)", "122.26(b)"]);
        assert_eq!(sections[0].text, "(a) One. Two.\n\n(1) Sub.");
    }

    /// Without NODE the header tells the title, and an older head has a hyphen instead of a dash.
    #[test]
    fn an_older_volume_without_nodes() {
        let xml = r#"<DLPSTEXTCLASS><HEADER><IDNO TYPE="title">42</IDNO></HEADER><TEXT><BODY><ECFRBRWS>
            <AMDDATE>Jan. 13, 2018</AMDDATE><DIV1 N="4" TYPE="TITLE">
            <HEAD>Title 42 - Public Boats--Volume 4</HEAD><DIV3 N="IV" TYPE="CHAPTER">
            <HEAD> CHAPTER IV - CENTERS FOR BOATS &amp; FERRIES, DEPARTMENT OF RIVERS (CONTINUED)</HEAD>
            <DIV5 N="430" TYPE="PART"><DIV8 N="§ 430.0" TYPE="SECTION"><HEAD>§ 430.0   Scope.</HEAD><P>All.</P></DIV8>
            <DIV8 N="§ 430.5" TYPE="SECTION"><HEAD>§ 430.5   Terms.</HEAD></DIV8>
            </DIV5></DIV3></DIV1></ECFRBRWS></BODY></TEXT></DLPSTEXTCLASS>"#;
        let read = read_text(read, "cfr-sections/a.xml", xml);
        assert_eq!(read.ids(), ["cfr:42:430.0"]);
        assert_eq!(read.field(0, "agency"), "Centers for Boats & Ferries, Department of Rivers");
        assert_eq!(read.rejects, ["42 CFR 430.5: a section without text that is not reserved"]);
    }

    /// A part as ecfr.gov's API answers it: the title is only in the metadata, escaped once or twice.
    #[test]
    fn a_part_of_the_api() {
        let xml = r#"<?xml version='1.0' encoding='utf-8'?>
            <DIV5 N="18" TYPE="PART" VOLUME="1"
            hierarchy_metadata="{&amp;quot;path&amp;quot;:&amp;quot;/on/_SUBSTITUTE_DATE_/title-1/part-18&amp;quot;,
            &amp;quot;citation&amp;quot;:&amp;quot;1 CFR Part 18&amp;quot;}">
            <HEAD>PART 18—BOATS</HEAD><AUTH><HED>Authority:</HED><PSPACE>44 U.S.C. 1506.</PSPACE></AUTH>
            <DIV8 N="18.1" TYPE="SECTION"
            hierarchy_metadata="{&quot;path&quot;:&quot;/on/_SUBSTITUTE_DATE_/title-1/section-18.1&quot;,
            &quot;citation&quot;:&quot;1 CFR 18.1&quot;}">
            <HEAD>§ 18.1 Oars required.</HEAD><P>Bring two.</P></DIV8>
            <DIV8 N="18.2" TYPE="SECTION"><HEAD>§ 18.2 Sails.</HEAD><P>None.</P></DIV8></DIV5>"#;
        let read = read_text(read, "cfr-sections/title-1-part-18.xml", xml);
        assert_eq!(read.ids(), ["cfr:1:18.1", "cfr:1:18.2"]);
        assert_eq!(
            (read.field(0, "heading"), read.field(0, "authority")),
            (&"Oars required".into(), &"44 U.S.C. 1506.".into())
        );
    }

    #[test]
    fn a_volume_alone_does_not_tell_its_title() {
        let xml = r#"<BODY><DIV1 N="4" TYPE="TITLE"><DIV8 N="§ 1.1" TYPE="SECTION">
            <HEAD>§ 1.1 A.</HEAD><P>B.</P></DIV8></DIV1></BODY>"#;
        let read = read_text(read, "cfr-sections/a.xml", xml);
        assert_eq!(read.rejects, ["§ 1.1: the title of the CFR is not stated"]);
    }
}
