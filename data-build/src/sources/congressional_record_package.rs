//! A day of the Congressional Record as GPO packs it: each granule's text in HTML, and one MODS
//! file that says of every granule what its title is, who speaks and which measures it names. A
//! reader sees one member of the archive at a time, so the two hand over records of their own
//! under the same id: MODS ranks higher, and only HTML has text.

use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::{ids, wording};
use regex::Regex;
use roxmltree::Node;

use super::amendment_texts;
use super::congressional_record::{chamber_and_section, sections, without_tags};
use crate::formats::documents::non_empty_list;
use crate::formats::plain::{self, Block};
use crate::formats::{congress, dates, html, xml};
use crate::input::Input;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "congressional-record";

/// How far down the head of a page stands.
const HEAD: usize = 2000;

/// The canonical id. Days with two issues have packages that also bear a volume or a number,
/// "CREC-2025-01-03-v171".
fn id_of(granule_id: &str) -> Option<String> {
    static ISSUE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^(CREC-\d{4}-\d{2}-\d{2})-[vi]\d+-"));
    ids::canonical(SOURCE, &ISSUE.replace(granule_id, "$1-"))
}

/// A granule with what its id says: "crec:2025-01-03:H12-3" is on page H12.
fn new_record(id: &str, granule_id: &str, rank: Rank) -> Record {
    let mut parts = id.split(':').skip(1);
    let (date, place) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut record = Record::new(SOURCE, id, rank);
    record
        .set("granule_id", granule_id)
        .set("date", date)
        .set("congress", wording::congress_on(date));
    record.set("page", place.split('-').next().unwrap_or_default());
    record
}

// The text

/// Reads a granule's page. It does not name itself, so its id comes from the file's name.
pub fn text(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    static VOLUME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\[Congressional Record Volume (\d+),"));
    static SECTION: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?m)^\[(House|Senate|Extensions of Remarks|Daily Digest)\]"));
    let page = input.text()?;
    let head: String = page.chars().take(HEAD).collect();
    let Some(volume) = VOLUME.captures(&head) else { return Ok(Outcome::Skipped) };
    let granule_id = input.uncompressed_name().rsplit('/').next().unwrap_or_default();
    let granule_id = granule_id.rsplit_once('.').map_or(granule_id, |(stem, _)| stem);
    if is_matter(granule_id) {
        return Ok(Outcome::Skipped);
    }
    let (Some(id), Some(text)) = (id_of(granule_id), preformatted(&page)) else {
        out.reject(granule_id, "no granule id in the file's name, or no text in <pre>");
        return Ok(Outcome::Read);
    };
    let mut record = new_record(&id, granule_id, Rank::Partial);
    let title = first_heading(&text);
    record.set("volume", volume[1].parse::<i64>().ok()).set("title", title.clone());
    if let Some(section) = SECTION.captures(&head) {
        let (chamber, section) = chamber_and_section(&section[1]);
        record.set("chamber", chamber).set("section", section);
    }
    let date = id.split(':').nth(1).unwrap_or_default();
    record.body("text", date, sections(&text));
    let amendments = amendment_texts::records(&title.unwrap_or_default(), &text, date);
    amendments.into_iter().chain([record]).for_each(|record| out.record(record));
    Ok(Outcome::Read)
}

/// Title pages and the like, which are no granules.
fn is_matter(granule_id: &str) -> bool {
    ["-FrontMatter", "-BackMatter"].iter().any(|end| granule_id.contains(end))
}

/// The text between `<pre>` and `</pre>` with tags taken out and characters decoded; not trimmed,
/// since indents tell headings.
fn preformatted(page: &str) -> Option<String> {
    let (_, after) = page.split_once("<pre>")?;
    let text = after.rsplit_once("</pre>").map_or(after, |(text, _)| text);
    // A mark of the printers', before remarks that were not spoken.
    Some(html::decode_references(&without_tags(text)).replace("<bullet>", ""))
}

fn first_heading(text: &str) -> Option<String> {
    plain::blocks(text).into_iter().find_map(|block| match block {
        Block::Heading(title) => Some(title),
        Block::Paragraph(_) => None,
    })
}

// What is said of it

/// Reads the package's MODS: every constituent is a granule.
pub fn metadata(text: &str, out: &mut dyn Sink) -> Result<Outcome> {
    if !text.contains("<mods") && !text.contains(":mods") {
        return Ok(Outcome::Skipped);
    }
    let document = xml::parse(text)?;
    let root = document.root_element();
    if root.tag_name().name() != "mods" {
        return Ok(Outcome::Skipped);
    }
    let issue = Issue { congress: number(root, "congress"), volume: number(root, "volume") };
    let constituents = root.descendants().filter(|n| {
        n.tag_name().name() == "relatedItem" && n.attribute("type") == Some("constituent")
    });
    for (n, granule) in constituents.enumerate() {
        let granule_id = granule_id(granule);
        match id_of(&granule_id) {
            Some(id) => out.record(described(&id, &granule_id, granule, &issue)),
            None if is_matter(&granule_id) => {}
            None => out.reject(
                &format!("relatedItem {}", n + 1),
                &format!("not a granule id: {granule_id:?}"),
            ),
        }
    }
    Ok(Outcome::Read)
}

/// What the package says for all its granules. On 3 January two Congresses can sit, so the day
/// alone does not tell.
struct Issue {
    congress: Option<i64>,
    volume: Option<i64>,
}

/// The elements of this name in the extensions of a node: GPO writes more than one `extension`.
fn extended<'a, 'd: 'a>(node: Node<'a, 'd>, name: &'a str) -> impl Iterator<Item = Node<'a, 'd>> {
    xml::children(node, "extension")
        .flat_map(move |e| e.children().filter(move |n| n.tag_name().name() == name))
}

fn number(node: Node<'_, '_>, name: &str) -> Option<i64> {
    extended(node, name).find_map(|n| xml::text(n).parse().ok())
}

/// `accessId`, or the element's own id without "id-".
fn granule_id(granule: Node<'_, '_>) -> String {
    let own = || granule.attribute("ID").unwrap_or_default();
    let own = || own().strip_prefix("id-").unwrap_or(own()).to_string();
    extended(granule, "accessId").map(xml::text).find(|id| !id.is_empty()).unwrap_or_else(own)
}

fn described(id: &str, granule_id: &str, granule: Node<'_, '_>, issue: &Issue) -> Record {
    let class = extended(granule, "granuleClass").map(xml::text).next().unwrap_or_default();
    let (chamber, section) = chamber_and_section(&class);
    let mut record = new_record(id, granule_id, Rank::Full);
    record
        .set("title", xml::text_at(granule, &["titleInfo", "title"]))
        .set("congress", issue.congress);
    record.set("date", extended(granule, "granuleDate").find_map(|n| dates::iso(&xml::text(n))));
    record.set("chamber", chamber).set("section", section);
    record.set("page", xml::text_at(granule, &["part", "extent", "start"]));
    record.set("volume", cited_volume(granule).or(issue.volume));
    record.set(
        "speakers",
        non_empty_list(each_once(extended(granule, "congMember").filter_map(speaker))),
    );
    record.set("bill_ids", non_empty_list(each_once(extended(granule, "bill").filter_map(bill))));
    record
}

/// The volume in the citation, "171 Cong. Rec. H12".
fn cited_volume(granule: Node<'_, '_>) -> Option<i64> {
    let cited = xml::children(granule, "identifier")
        .map(xml::text)
        .find(|text| text.contains(" Cong. Rec. "))?;
    cited.split(' ').next()?.parse().ok()
}

/// Those who speak; the same element names those who submit, or are voted on.
fn speaker(member: Node<'_, '_>) -> Option<String> {
    let speaks = member.attribute("role").is_some_and(|role| role.eq_ignore_ascii_case("SPEAKING"));
    member.attribute("bioGuideId").filter(|_| speaks).and_then(congress::bioguide)
}

fn bill(named: Node<'_, '_>) -> Option<String> {
    let number = |name: &str| named.attribute(name)?.trim().parse::<i64>().ok();
    congress::bill_id(named.attribute("type")?, number("congress")?, number("number")?)
}

fn each_once(ids: impl Iterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for id in ids {
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::formats::testing::read_text;
    use crate::reader::Outcome;
    use crate::sources::congressional_record::read;

    /// Written for this test in the form of GPO's packages.
    const GRANULE: &str = concat!(
        "<html>\n<head>\n<title>Congressional Record, Volume 171 Issue 5</title>\n</head>\n<body><pre>\n",
        "[Congressional Record Volume 171, Number 5 (Thursday, January 9, 2025)]\n[House]\n[Page H87]\n",
        "From the Congressional Record Online through the Government Publishing Office ",
        "[<a href=\"https://www.gpo.gov\">www.gpo.gov</a>]\n\n\n\n\n[[Page H87]]\n\n",
        "                                 BOATS\n\n",
        "  Mr. DOE of Maine. Mr. Speaker, boats &amp; ferries float, and I rise to say\nso.\n",
        "  The SPEAKER pro tempore. Without objection.\n\n[[Page H88]]\n\n  Ms. ROE. I object to &lt;that&gt;.\n",
        "</pre></body>\n</html>\n",
    );

    const MODS: &str = r#"<mods xmlns="http://www.loc.gov/mods/v3" xmlns:xlink="http://www.w3.org/1999/xlink">
        <extension><congress>119</congress><volume>171</volume></extension>
        <relatedItem type="constituent" ID="id-CREC-2025-01-09-pt1-PgH87-2">
          <titleInfo><title>BOATS</title></titleInfo>
          <relatedItem type="otherFormat" xlink:href="https://www.govinfo.gov/x.htm"/>
          <identifier type="congressional record citation">171 Cong. Rec. H87</identifier>
          <part type="article"><extent unit="pages"><start>H87</start><end>H88</end></extent></part>
          <extension><accessId>CREC-2025-01-09-pt1-PgH87-2</accessId><granuleClass>HOUSE</granuleClass>
            <granuleDate>2025-01-09</granuleDate>
            <congMember bioGuideId="D000001" chamber="H" congress="119" role="SPEAKING" state="ME">
              <name type="parsed">Mr. DOE</name></congMember>
            <congMember bioGuideId="D000001" role="SPEAKING"/><congMember bioGuideId="R000001" role="SUBMITTING"/>
            <congMember role="SPEAKING"/>
            <bill congress="119" context="TITLE" number="12" type="HR"/><bill congress="119" number="12" type="HR"/>
            <bill congress="118" number="7" type="SJRES"/><bill congress="x" number="7" type="S"/></extension>
        </relatedItem>
        <relatedItem type="constituent" ID="id-CREC-2025-01-09-v171-pt1-PgD20"><titleInfo><title>Daily Digest</title>
          </titleInfo><extension><granuleClass>DAILYDIGEST</granuleClass></extension></relatedItem>
        <relatedItem type="constituent" ID="id-CREC-2025-01-09-FrontMatter"/>
        <relatedItem type="constituent" ID="id-nonsense"/></mods>"#;

    const NAME: &str = "congressional-record/2025/CREC-2025-01-09.zip/CREC-2025-01-09/html/CREC-2025-01-09-pt1-PgH87-2.htm";

    #[test]
    fn a_granules_text_without_the_heads_of_pages() {
        let found = read_text(read, NAME, GRANULE);
        assert_eq!((found.ids(), found.rejects.len()), (vec!["crec:2025-01-09:H87-2"], 0));
        assert_eq!(
            (found.field(0, "title"), found.field(0, "chamber")),
            (&json!("BOATS"), &json!("house"))
        );
        assert_eq!(
            (found.field(0, "volume"), found.field(0, "congress")),
            (&json!(171), &json!(119))
        );
        assert_eq!(
            (found.field(0, "page"), found.field(0, "date")),
            (&json!("H87"), &json!("2025-01-09"))
        );
        let sections = &found.records[0].bodies[0].sections;
        let headings: Vec<_> = sections.iter().map(|s| s.heading.as_str()).collect();
        assert_eq!(headings, ["BOATS", "BOATS > Mr. DOE of Maine", "BOATS > Ms. ROE"]);
        let said = "Mr. DOE of Maine. Mr. Speaker, boats & ferries float, and I rise to say so.";
        assert!(sections[1].text.starts_with(said), "{}", sections[1].text);
        assert_eq!(sections[2].text, "Ms. ROE. I object to <that>.");
    }

    #[test]
    fn what_mods_says_of_a_granule() {
        let found =
            read_text(read, "congressional-record/2025/a.zip/CREC-2025-01-09/mods.xml", MODS);
        assert_eq!(found.ids(), ["crec:2025-01-09:H87-2", "crec:2025-01-09:D20"]);
        assert_eq!(
            (found.field(0, "section"), found.field(1, "section")),
            (&json!("House"), &json!("Daily Digest"))
        );
        assert_eq!(*found.field(0, "speakers"), json!(["D000001"]));
        assert_eq!(*found.field(0, "bill_ids"), json!(["hr:119:12", "sjres:118:7"]));
        assert_eq!(
            (found.field(0, "volume"), found.field(1, "volume")),
            (&json!(171), &json!(171))
        );
        assert_eq!(
            (found.field(0, "page"), found.field(1, "page")),
            (&json!("H87"), &json!("D20"))
        );
        assert!(found.records.iter().all(|r| r.bodies.is_empty()));
        assert_eq!(found.rejects.len(), 1, "{:?}", found.rejects);
    }

    #[test]
    fn both_are_about_the_same_record() {
        let (text, mods) = (
            read_text(read, NAME, GRANULE),
            read_text(read, "congressional-record/mods.xml", MODS),
        );
        assert_eq!(text.records[0].id, mods.records[0].id);
        assert!(text.records[0].rank < mods.records[0].rank);
    }

    #[test]
    fn what_is_no_granule_is_passed_over_or_rejected() {
        for (name, text) in [
            ("x/html/CREC-2025-01-09-FrontMatter.htm", GRANULE),
            ("x/CREC-2025-01-09-pt1-PgH1.htm", "<html>Page not found</html>"),
            ("x/premis.xml", "<premis/>"),
            ("x/CREC-2025-01-09.pdf", "%PDF"),
        ] {
            assert_eq!(read_text(read, name, text).outcome, Outcome::Skipped, "{name}");
        }
        let without_text = GRANULE.replace("<pre>", "").replace("</pre>", "");
        for (name, text) in [("x/other.htm", GRANULE), (NAME, without_text.as_str())] {
            let found = read_text(read, name, text);
            assert_eq!((found.records.len(), found.rejects.len()), (0, 1), "{name}");
        }
    }
}
