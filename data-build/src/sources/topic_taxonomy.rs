//! The vocabulary that CRS puts on bills: congress.gov's lists of policy areas and legislative
//! subjects (CSV with `uri` and `label_en`) and the hierarchies of subjects (XML of `top-term`s
//! with their `term`s).

use std::collections::HashSet;
use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::ids;

use crate::formats::people::ascii_slug;
use crate::formats::tables::Table;
use crate::formats::xml;
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "topic-taxonomy";
const LONGEST_SLUG: usize = 110;

/// The policy areas in use since the 111th Congress. They are needed to name subjects: a subject
/// that is called like a policy area gets an id of its own, and the lists come in separate files.
const POLICY_AREAS: [&str; 34] = [
    "Agriculture and Food",
    "Animals",
    "Armed Forces and National Security",
    "Arts, Culture, Religion",
    "Civil Rights and Liberties, Minority Issues",
    "Commemorations",
    "Commerce",
    "Congress",
    "Crime and Law Enforcement",
    "Economics and Public Finance",
    "Education",
    "Emergency Management",
    "Energy",
    "Environmental Protection",
    "Families",
    "Finance and Financial Sector",
    "Foreign Trade and International Finance",
    "Government Operations and Politics",
    "Health",
    "Housing and Community Development",
    "Immigration",
    "International Affairs",
    "Labor and Employment",
    "Law",
    "Native Americans",
    "Private Legislation",
    "Public Lands and Natural Resources",
    "Science, Technology, Communications",
    "Social Sciences and History",
    "Social Welfare",
    "Sports and Recreation",
    "Taxation",
    "Transportation and Public Works",
    "Water Resources Development",
];

static AREA_SLUGS: LazyLock<HashSet<String>> =
    LazyLock::new(|| POLICY_AREAS.iter().map(|name| ascii_slug(name, LONGEST_SLUG)).collect());

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension() {
        "csv" => read_list(input, out),
        "xml" => read_hierarchy(&input.text()?, out),
        _ => Ok(Outcome::Skipped),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    PolicyArea,
    Subject,
}

/// The id of a policy area.
pub fn policy_area_id(name: &str) -> Option<String> {
    ids::canonical(SOURCE, &format!("topic:{}", ascii_slug(name, LONGEST_SLUG)))
}

/// The id of a legislative subject: set apart where a policy area is called the same.
pub fn subject_id(name: &str) -> Option<String> {
    let slug = ascii_slug(name, LONGEST_SLUG);
    let suffix = if AREA_SLUGS.contains(&slug) { "-subject" } else { "" };
    ids::canonical(SOURCE, &format!("topic:{slug}{suffix}"))
}

fn topic(name: &str, kind: Kind, rank: Rank) -> Option<Record> {
    let (id, kind) = match kind {
        Kind::PolicyArea => (policy_area_id(name)?, "policy_area"),
        Kind::Subject => (subject_id(name)?, "subject"),
    };
    let mut record = Record::new(SOURCE, id, rank);
    record.set("name", name).set("kind", kind);
    Some(record)
}

fn read_list(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let mut table = Table::open(input)?;
    if !table.has(&["uri", "label_en"]) {
        return Ok(Outcome::Skipped);
    }
    while let Some(row) = table.next_readable(out) {
        let (uri, name) = (table.get(&row, "uri"), table.get(&row, "label_en"));
        let kind = if uri.contains("policy-area") { Kind::PolicyArea } else { Kind::Subject };
        match topic(name, kind, Rank::Full) {
            Some(record) => out.record(record),
            None => out.reject(
                &format!("line {}", row.line),
                &format!("no name to make an id of: {name:?}"),
            ),
        }
    }
    Ok(Outcome::Read)
}

fn read_hierarchy(text: &str, out: &mut dyn Sink) -> Result<Outcome> {
    let document = xml::parse(text)?;
    let name_of =
        |node: roxmltree::Node| node.attribute("value").unwrap_or_default().trim().to_string();
    let tops: Vec<_> =
        xml::children(document.root_element(), "top-term").map(|n| (name_of(n), n)).collect();
    if tops.is_empty() {
        return Ok(Outcome::Skipped);
    }
    // Today's vocabulary hangs subjects under policy areas; the one before it had top terms that
    // were subjects too, and its word counts for less.
    let areas = tops.iter().filter(|(name, _)| POLICY_AREAS.contains(&name.as_str())).count();
    let today = areas * 2 > tops.len();
    let rank = if today { Rank::Full } else { Rank::Partial };
    let mut seen: HashSet<String> = HashSet::new();
    for (name, _) in &tops {
        let kind = if today && POLICY_AREAS.contains(&name.as_str()) {
            Kind::PolicyArea
        } else {
            Kind::Subject
        };
        emit(name, topic(name, kind, rank), &mut seen, out);
    }
    for (top, node) in &tops {
        let parent = if today && POLICY_AREAS.contains(&top.as_str()) {
            policy_area_id(top)
        } else {
            subject_id(top)
        };
        for name in xml::children(*node, "term").map(name_of) {
            let record = topic(&name, Kind::Subject, rank).map(|mut record| {
                record.set("parent_id", parent.clone());
                record
            });
            emit(&name, record, &mut seen, out);
        }
    }
    Ok(Outcome::Read)
}

/// The first place a term stands at counts: a record has one parent, and a top term has none.
fn emit(name: &str, record: Option<Record>, seen: &mut HashSet<String>, out: &mut dyn Sink) {
    match record {
        None => out.reject("term", &format!("no name to make an id of: {name:?}")),
        Some(record) if seen.insert(record.id.clone()) => out.record(record),
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn a_subject_called_like_a_policy_area_has_its_own_id() {
        let areas = read_text(read, "t/a.csv", "uri,label_en\nhttps://x/policy-area#1,Health\n");
        let subjects = read_text(
            read,
            "t/s.csv",
            "uri,label_en\nhttps://x/legislative-subject-terms#1,Health\nhttps://x/l#2,Tea (Drink)\n",
        );
        assert_eq!(areas.ids(), ["topic:health"]);
        assert_eq!(*areas.field(0, "kind"), "policy_area");
        assert_eq!(subjects.ids(), ["topic:health-subject", "topic:tea-drink"]);
    }

    #[test]
    fn todays_subjects_hang_under_policy_areas() {
        let text = "<liv><top-term value='Health'><term value='Tea'/></top-term></liv>";
        let got = read_text(read, "t/today.xml", text);
        assert_eq!(got.ids(), ["topic:health", "topic:tea"]);
        assert_eq!(*got.field(1, "parent_id"), "topic:health");
    }

    #[test]
    fn older_top_terms_are_subjects_and_have_no_parent() {
        let text = "<liv><top-term value='Drinks'><term value='Tea'/><term value='Drinks'/></top-term>\
                    <top-term value='Plants'><term value='Tea'/><term value='Drinks'/></top-term></liv>";
        let got = read_text(read, "t/old.xml", text);
        assert_eq!(got.ids(), ["topic:drinks", "topic:plants", "topic:tea"]);
        assert!(got.field(0, "parent_id").is_null());
        assert_eq!(*got.field(2, "parent_id"), "topic:drinks");
    }
}
