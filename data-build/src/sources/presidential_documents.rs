//! Presidential documents: pages of whitehouse.gov saved as Markdown, one a document, and lists of
//! the Federal Register's API. A page seldom states its number; it is
//! found in an index above it, by title and day. A proclamation or order whose number is not to be
//! found has no id and is rejected.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::ids;
use regex::Regex;
use serde_json::Value;

use super::federal_register_api as api;
use super::presidential_index::{self as index, Entry};
use crate::formats::{dates, documents, orders, presidents, prose};
use crate::input::Input;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "presidential-documents";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension() {
        "json" => register_index(input, out),
        "md" => page(input, out),
        _ => Ok(Outcome::Skipped),
    }
}

/// A list of presidential documents of the Federal Register's API.
fn register_index(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let Some(answer) = documents::value(input)? else { return Ok(Outcome::Skipped) };
    let rows = api::rows(&answer);
    let tells =
        |row: &&Value| ["executive_order_number", "subtype"].iter().any(|k| row.get(k).is_some());
    if !rows.iter().any(tells) {
        return Ok(Outcome::Skipped);
    }
    for (n, row) in rows.into_iter().enumerate() {
        match api::presidential(row) {
            Some(record) => out.record(record),
            None => out.reject(
                &format!("entry {}", n + 1),
                "neither an order, a proclamation nor another known kind with its number or day",
            ),
        }
    }
    Ok(Outcome::Read)
}

fn entry_record(entry: &Entry, rank: Rank) -> Record {
    let mut record = Record::new(SOURCE, entry.id.as_str(), rank);
    record.set("type", "executive_order").set("number", number_in(&entry.id));
    record
        .set("signed_date", entry.signed.as_deref())
        .set("publication_date", entry.published.as_deref());
    record
        .set("president", entry.president.as_str())
        .set("federal_register_id", entry.document.as_deref());
    record
}

fn number_in(id: &str) -> Option<i64> {
    id.split(':').nth(1)?.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// A saved page, as far as its own text tells.
#[derive(Clone, Debug)]
struct Page {
    title: String,
    address: String,
    day: Option<String>,
    paragraphs: Vec<String>,
}

/// Longer paragraphs are text.
const LONGEST_HEADING: usize = 80;

impl Page {
    fn of(text: &str) -> Option<Page> {
        let comment = |label: &str| {
            let (_, after) = text.split_once(&format!("<!-- {label}:"))?;
            Some(after.split("-->").next().unwrap_or_default().trim().to_string())
        };
        let (above, below) =
            text.split_once("\n# ").or_else(|| Some(("", text.strip_prefix("# ")?)))?;
        let (title, body) = below.split_once('\n').unwrap_or((below, ""));
        let is_saved_page = above.contains("<!-- source:") || comment("source").is_some();
        is_saved_page.then(|| Page {
            title: title.trim().to_string(),
            address: comment("source").unwrap_or_default(),
            day: comment("date_published").and_then(|d| dates::iso(&d)),
            paragraphs: body.split("\n\n").map(clean).filter(|p| !p.is_empty()).collect(),
        })
    }

    fn beginning(&self) -> impl Iterator<Item = &String> {
        self.paragraphs.iter().take(12)
    }

    /// Told by the form of the text; announcements, nominations and pardons are none of the three.
    /// `category` is the White House's own, which also counts permits as memoranda.
    fn kind(&self, category: &str) -> Option<&'static str> {
        let begins =
            |test: &dyn Fn(&str) -> bool| self.beginning().any(|p| test(&p.to_lowercase()));
        let says = |words: &str| self.paragraphs.iter().any(|p| p.to_lowercase().contains(words));
        if self.stated_number().is_some_and(|id| id.starts_with("eo:")) {
            return Some("executive_order");
        }
        if begins(&|p| p.lines().any(|l| l.trim() == "a proclamation"))
            || says("hereby proclaim")
            || says("do hereby ask")
        {
            return Some("proclamation");
        }
        // A longer paragraph cites another document: 13 orders of 2025 mention a memorandum early.
        let is_heading = |p: &str| p.len() <= LONGEST_HEADING;
        let addressed = |p: &str| {
            p.starts_with("memorandum for")
                || p.contains("presidential memorandum") && is_heading(p)
                || p.starts_with("subject:")
        };
        if begins(&addressed)
            || self.title.to_lowercase().starts_with("memorandum")
            || says("publish this memorandum in the federal register")
        {
            return Some("memorandum");
        }
        if says("authority vested in me")
            && (says("hereby order") || says("hereby determine and order"))
        {
            return Some("executive_order");
        }
        match category {
            "Proclamations" => Some("proclamation"),
            "Memoranda" | "Presidential Memoranda" => Some("memorandum"),
            "Executive Orders" if !self.title.contains("Clemency") => Some("executive_order"),
            _ => None,
        }
    }

    /// "Executive Order 14415" or "Proclamation 11000" on a line of its own.
    fn stated_number(&self) -> Option<String> {
        static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
            let text = r"(?i)^\W*(executive order|proclamation)\s+(?:no\.?\s*)?(\d{4,6})\W*$";
            pattern(text)
        });
        self.beginning().flat_map(|p| p.lines()).find_map(|line| {
            let c = NUMBER.captures(line)?;
            let prefix = if c[1].to_lowercase().starts_with('p') { "proc" } else { "eo" };
            ids::canonical(SOURCE, &format!("{prefix}:{}", &c[2]))
        })
    }
}

/// Emphasis is of no account to the text, and its asterisks leave gaps before marks.
fn clean(paragraph: &str) -> String {
    paragraph
        .lines()
        .map(|line| prose::fold(&line.replace('*', "")))
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_string()
}

/// The category that the list beside the pages (`metadata.md`) gives for a page.
fn category(path: &Path) -> String {
    let list = path
        .parent()
        .and_then(|folder| std::fs::read_to_string(folder.join("metadata.md")).ok())
        .unwrap_or_default();
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let entry = list
        .split("\n## ")
        .find(|e| e.lines().any(|l| l.trim() == format!("- Markdown filename: {name}")));
    let line = entry.and_then(|e| e.lines().find_map(|l| l.trim().strip_prefix("- Category: ")));
    line.unwrap_or_default().trim().to_string()
}

fn page(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let Some(page) = Page::of(&input.text()?) else { return Ok(Outcome::Skipped) };
    let listed = page.day.as_deref().and_then(|day| index::find(&input.path, &page.title, day));
    let Some(kind) =
        page.kind(&category(&input.path)).or(listed.as_ref().map(|_| "executive_order"))
    else {
        return Ok(Outcome::Skipped);
    };
    let Some(day) = page.day.clone() else {
        out.reject(&page.title, "no day");
        return Ok(Outcome::Read);
    };
    let entry = listed.filter(|_| kind == "executive_order");
    let id = match kind {
        "memorandum" => memorandum_id(&input.path, &page, &day),
        _ => page
            .stated_number()
            .or_else(|| Some(entry.as_ref()?.id.clone()))
            .or_else(|| number_of_twin(&input.path, &page)),
    };
    let Some(id) = id else {
        out.reject(
            &page.title,
            &format!("{kind} of {day} whose number is neither stated nor in an index"),
        );
        return Ok(Outcome::Read);
    };
    let mut record = match entry.filter(|e| e.id == id) {
        Some(entry) => entry_record(&entry, Rank::Full),
        None => Record::new(SOURCE, id.as_str(), Rank::Full),
    };
    let signed =
        record.fields.get("signed_date").and_then(Value::as_str).unwrap_or(&day).to_string();
    record.set("title", page.title.as_str()).set("type", kind).set("url", page.address.as_str());
    if kind != "memorandum" {
        record.set("number", number_in(&id));
    }
    record.set("signed_date", signed.as_str()).set("president", presidents::on(&signed));
    record.body("text", &signed, orders::sections(page.paragraphs.iter().map(String::as_str)));
    out.record(record);
    Ok(Outcome::Read)
}

/// Pages of the same day with their paths, wherever they lie: in this folder, and where folders
/// are years, months and days also in the folders of that day under other categories.
fn same_day(path: &Path, day: &str) -> Vec<(PathBuf, Page)> {
    let mut folders: Vec<PathBuf> = path.parent().map(Path::to_path_buf).into_iter().collect();
    let tail = day.replace('-', "/");
    if let Some(base) = path.ancestors().find(|a| path.parent().is_some_and(|p| p == a.join(&tail)))
    {
        for base in [Some(base), base.parent()].into_iter().flatten() {
            folders.push(base.join(&tail));
            folders.extend(entries(base).map(|inside| inside.join(&tail)));
        }
    }
    folders.sort();
    folders.dedup();
    let files = folders
        .iter()
        .flat_map(|f| entries(f))
        .filter(|p| p.extension().is_some_and(|e| e == "md"));
    let pages =
        files.filter_map(|p| Some((p.clone(), Page::of(&std::fs::read_to_string(&p).ok()?)?)));
    pages.filter(|(_, page)| page.day.as_deref() == Some(day)).collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path())
}

/// Memoranda have no number: the n-th of their day, in the order of their titles and addresses.
/// One published twice with the same text counts once.
fn memorandum_id(path: &Path, page: &Page, day: &str) -> Option<String> {
    let pages = same_day(path, day)
        .into_iter()
        .filter(|(p, page)| page.kind(&category(p)) == Some("memorandum"));
    let mut memoranda: Vec<Page> = pages.map(|(_, page)| page).collect();
    memoranda.sort_by_key(|p| (index::plain(&p.title), p.address.clone()));
    let mut distinct: Vec<&Page> = Vec::new();
    for memorandum in &memoranda {
        if !distinct.iter().any(|d| same_text(d, memorandum)) {
            distinct.push(memorandum);
        }
    }
    let n = distinct.iter().position(|d| same_text(d, page)).map_or(1, |i| i + 1);
    ids::canonical(SOURCE, &format!("pmemo:{day}:{n}"))
}

fn same_text(a: &Page, b: &Page) -> bool {
    index::plain(&a.title) == index::plain(&b.title) && a.paragraphs == b.paragraphs
}

/// The number that another copy of the same page states.
fn number_of_twin(path: &Path, page: &Page) -> Option<String> {
    let twins = same_day(path, page.day.as_deref()?).into_iter().map(|(_, twin)| twin);
    twins
        .filter(|p| index::plain(&p.title) == index::plain(&page.title))
        .find_map(|p| p.stated_number())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    fn saved(title: &str, body: &str) -> String {
        format!(
            "<!-- source: https://www.whitehouse.gov/x/ -->\n\
                <!-- date_published: 2026-08-03T14:20:09-04:00 -->\n\n# {title}\n\n{body}"
        )
    }

    #[test]
    fn an_order_that_states_its_number() {
        let body = concat!(
            "Executive Order 14415\n\nBy the authority vested in me as President, it is hereby ordered:\n\n",
            "Section 1. Purpose. Boats.",
        );
        let read = read_text(read, "presidential-documents/a.md", &saved("On Boats", body));
        assert_eq!(read.ids(), ["eo:14415"]);
        assert_eq!(
            (read.field(0, "type"), read.field(0, "number")),
            (&"executive_order".into(), &14415.into())
        );
        assert_eq!(read.field(0, "signed_date"), "2026-08-03");
        assert_eq!(
            read.records[0].bodies[0].sections.last().map(|s| s.section.as_str()),
            Some("1")
        );
    }

    #[test]
    fn a_proclamation_without_number_is_rejected_and_a_nomination_passed_over() {
        let body = "BY THE PRESIDENT OF THE UNITED STATES OF AMERICA\n\nA PROCLAMATION\n\nBoats.";
        let read = read_text(super::read, "presidential-documents/a.md", &saved("Boat Week", body));
        assert_eq!((read.records.len(), read.rejects.len()), (0, 1));
        let nominations = read_text(
            super::read,
            "presidential-documents/b.md",
            &saved("Nominations", "Jane Doe, of Maine."),
        );
        assert_eq!(nominations.outcome, Outcome::Skipped);
    }

    #[test]
    fn an_order_that_cites_a_memorandum() {
        let body = concat!(
            "By the authority vested in me as President, it is hereby ordered:\n\n",
            "Section 1. Purpose. The Presidential Memorandum of May 1, 2014, on the upkeep of old boats ",
            "and of their oars is revoked. It is hereby ordered that boats float.",
        );
        let page = Page::of(&saved("Boats", body)).expect("a page");
        assert_eq!(page.kind(""), Some("executive_order"));
    }

    /// A memorandum may order something without naming whom it is for.
    #[test]
    fn a_memorandum_that_calls_itself_one() {
        let body = concat!(
            "By the authority vested in me as President, I hereby order all agencies to float.\n\n",
            "The Director is directed to publish this memorandum in the *Federal Register*.",
        );
        let read = read_text(read, "presidential-documents/a.md", &saved("Boats", body));
        assert_eq!(read.ids(), ["pmemo:2026-08-03:1"]);
    }

    #[test]
    fn memoranda_are_counted_by_title() {
        let folder = std::env::temp_dir().join(format!("josh-memoranda-{}", std::process::id()));
        let day = folder.join("Memoranda/2026/08/03");
        std::fs::create_dir_all(&day).expect("a folder");
        for title in ["Boats", "Anchors"] {
            std::fs::write(
                day.join(format!("{title}.md")),
                saved(title, "MEMORANDUM FOR THE NAVY\n\nDo."),
            )
            .expect("a file");
        }
        let page = Page::of(&saved("Boats", "MEMORANDUM FOR THE NAVY\n\nDo.")).expect("a page");
        let id = memorandum_id(&day.join("Boats.md"), &page, "2026-08-03");
        std::fs::remove_dir_all(&folder).expect("the folder was just made");
        assert_eq!(id.as_deref(), Some("pmemo:2026-08-03:2"));
    }

    #[test]
    fn the_index() {
        let json = concat!(
            r#"[{"document_number":"E9-811","executive_order_number":"13484","title":"T","#,
            r#""signing_date":"2009-01-09","publication_date":"2009-01-14","#,
            r#""president":{"name":"George W. Bush"}},{"executive_order_number":null}]"#,
        );
        let read = read_text(read, "presidential-documents/i.json", json);
        assert_eq!(read.ids(), ["eo:13484"]);
        assert_eq!(read.field(0, "federal_register_id"), "E9-811");
        assert_eq!(read.rejects.len(), 1);
    }
}
