//! Statements of Administration Policy: the archive's YAML lists (bills, title, congress, day,
//! address) and texts taken from the PDFs. A statement on several bills is one record for each.

use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::{ids, wording};
use regex::Regex;
use serde_json::Value;

use crate::formats::json::{int_at, items_at, str_at};
use crate::formats::{dates, documents, measures, presidents};
use crate::input::Input;
use crate::mentions;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Section, Sink};

const SOURCE: &str = "saps";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension() {
        "yaml" | "yml" => archive(input, out),
        "txt" => statement(input, out),
        // A statement in the list. Its text is not read.
        "pdf" => Ok(Outcome::Read),
        _ => Ok(Outcome::Skipped),
    }
}

/// The record of a statement on one bill, or nothing when the bill's id is not one.
fn record_for(bill_id: &str, date: &str, rank: Rank) -> Option<Record> {
    let (kind, congress, number) = match bill_id.split(':').collect::<Vec<_>>()[..] {
        [kind, congress, number] => (kind, congress, number),
        _ => return None,
    };
    let id = ids::canonical(SOURCE, &format!("sap:{congress}:{kind}:{number}:{date}"))?;
    let mut record = Record::new(SOURCE, id, rank);
    record.set("bill_id", bill_id).set("congress", congress.parse::<i64>().ok()).set("date", date);
    record.set("president", presidents::on(date));
    Some(record)
}

fn archive(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let Some(Value::Array(rows)) = documents::value(input)? else { return Ok(Outcome::Skipped) };
    if !rows.iter().any(|row| row.get("date_issued").is_some() && row.get("bills").is_some()) {
        return Ok(Outcome::Skipped);
    }
    for (n, row) in rows.iter().enumerate() {
        if let Err(reason) = archived(row, out) {
            out.reject(&format!("row {}", n + 1), &reason);
        }
    }
    Ok(Outcome::Read)
}

fn archived(row: &Value, out: &mut dyn Sink) -> Result<(), String> {
    let stated = str_at(row, &["date_issued"]);
    let date = dates::iso(&stated).ok_or(format!("no day: {stated:?}"))?;
    let congress = int_at(row, &["congress"]).or_else(|| wording::congress_on(&date));
    let keys: Vec<&str> = items_at(row, &["bills"]).into_iter().filter_map(Value::as_str).collect();
    if keys.is_empty() {
        return Err(format!("names no bill: {}", str_at(row, &["document_title"])));
    }
    let address = ["url", "fetched_from_url"]
        .iter()
        .map(|key| str_at(row, &[key]))
        .find(|url| !url.is_empty());
    for key in keys {
        let bill_id = measures::bill_id(key, congress).ok_or(format!("not a bill: {key:?}"))?;
        let mut record =
            record_for(&bill_id, &date, Rank::Partial).ok_or(format!("no id: {bill_id} {date}"))?;
        record
            .set("title", clean_title(&str_at(row, &["document_title"])))
            .set("url", address.clone());
        record
            .set("position", stated_position(row))
            .set("chamber", chamber_in(&str_at(row, &["chamber"])));
        out.record(record);
    }
    Ok(())
}

/// A position that an archive gives itself, in the catalog's words.
fn stated_position(row: &Value) -> Option<&'static str> {
    let text = str_at(row, &["position"]).to_lowercase();
    ["would_veto", "supports", "opposes", "none_stated"]
        .into_iter()
        .find(|known| text.replace(' ', "_") == *known)
}

fn clean_title(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn statement(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let text = input.text()?;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let Some(start) =
        lines.iter().position(|l| l.eq_ignore_ascii_case("STATEMENT OF ADMINISTRATION POLICY"))
    else {
        return Ok(Outcome::Skipped);
    };
    let (head, rest) = (&lines[..start], &lines[start + 1..]);
    let name = input.file_name().trim_end_matches(".zst").trim_end_matches(".txt");
    // The archive files a statement under its day of issue, which may be later than the day it
    // bears; its list does the same, so the file's day is what ties the two.
    let Some(date) = name
        .split_once('_')
        .and_then(|(day, _)| dates::iso(day))
        .or_else(|| printed_date(head, rest))
    else {
        out.reject(name, "no day");
        return Ok(Outcome::Read);
    };
    let (titles, body) = titles_and_body(rest);
    let congress = wording::congress_on(&date);
    let mut bills: Vec<(String, &str)> = Vec::new();
    for title in &titles {
        bills.extend(
            mentions::bills(leading_measures(title), congress)
                .into_iter()
                .map(|bill| (bill, title.as_str())),
        );
    }
    if bills.is_empty() {
        let keys = name.split_once('_').map_or("", |(_, keys)| keys);
        let title = titles.first().map_or("", String::as_str);
        bills.extend(
            keys.split(',')
                .filter_map(|key| measures::bill_id(key, congress))
                .map(|bill| (bill, title)),
        );
    }
    if bills.is_empty() {
        out.reject(name, "names no bill");
    }
    let paragraphs = paragraphs(body);
    let stance = position(&paragraphs.join(" "));
    for (bill_id, title) in bills {
        let Some(mut record) = record_for(&bill_id, &date, Rank::Full) else { continue };
        record.set("title", title).set("position", stance).set("chamber", chamber_of(head, rest));
        record.body(
            "text",
            &date,
            vec![Section { text: paragraphs.join("\n\n"), ..Section::default() }],
        );
        out.record(record);
    }
    Ok(Outcome::Read)
}

/// The bills a title begins with; one named later on in it is what the first does something to.
fn leading_measures(title: &str) -> &str {
    title.split([':', '–', '—']).next().unwrap_or(title).split(" - ").next().unwrap_or(title)
}

fn printed_date(head: &[&str], rest: &[&str]) -> Option<String> {
    head.iter().chain(rest.iter().take(3)).find_map(|line| dates::iso(line))
}

/// "(House)", "(House Rules)" or "(Senate)" on a line of its own: the chamber that has the bill.
fn chamber_of(head: &[&str], rest: &[&str]) -> Option<&'static str> {
    head.iter()
        .chain(rest.iter().take(3))
        .filter(|l| l.starts_with('('))
        .find_map(|line| chamber_in(line))
}

fn chamber_in(text: &str) -> Option<&'static str> {
    match text.trim_start_matches('(').to_lowercase() {
        t if t.starts_with("house") => Some("house"),
        t if t.starts_with("senate") => Some("senate"),
        _ => None,
    }
}

/// Titles take a few lines at most.
const LONGEST_TITLE: usize = 10;

/// Above the text stand a title and its sponsor in brackets, for each of the bills.
fn titles_and_body<'a>(lines: &'a [&'a str]) -> (Vec<String>, &'a [&'a str]) {
    let is_sponsor = |l: &&str| {
        l.starts_with('(') && (l.contains("Rep.") || l.contains("Sen.") || l.contains("sponsor"))
    };
    let begins_text = |l: &&str| {
        l.starts_with("The Administration")
            || l.starts_with("The President")
            || l.starts_with("President ")
    };
    let mut titles = Vec::new();
    let mut rest = lines;
    loop {
        let end = rest.iter().take(LONGEST_TITLE).position(|l| is_sponsor(l) || begins_text(l));
        let end = end.unwrap_or(if titles.is_empty() { 1 } else { 0 }).min(rest.len());
        let lines = rest[..end].iter().filter(|l| chamber_in(l).is_none() || !l.starts_with('('));
        let mut title = String::new();
        for line in lines {
            if begins_measure(line) && !title.is_empty() {
                titles.push(clean_title(&std::mem::take(&mut title)));
            }
            title.push_str(line);
            title.push(' ');
        }
        titles.push(clean_title(&title));
        rest = &rest[end..];
        if rest.first().is_some_and(is_sponsor) {
            // A sponsor line may wrap; it ends with its bracket.
            let closed = rest.iter().position(|l| l.ends_with(')')).unwrap_or(0);
            rest = &rest[closed + 1..];
        }
        // Another title follows only where a measure begins the line and a sponsor comes before
        // the text.
        let another = rest.first().is_some_and(|l| begins_measure(l))
            && rest.iter().take(LONGEST_TITLE).take_while(|l| !begins_text(l)).any(is_sponsor);
        if !another {
            return (titles, rest);
        }
    }
}

/// "H.R. 5 – Boat Act": a measure and a dash.
fn begins_measure(line: &str) -> bool {
    (line.starts_with("H.") || line.starts_with("S.")) && leading_measures(line).len() < line.len()
}

/// A line that ends a sentence well before the margin ends its paragraph.
const MARGIN: usize = 80;

fn paragraphs(lines: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    for line in lines.iter().filter(|l| !l.chars().all(|c| c == '*' || c == ' ')) {
        match out.last_mut() {
            Some(last) if open => {
                last.push(' ');
                last.push_str(line);
            }
            _ => out.push(line.to_string()),
        }
        open = !(line.ends_with(['.', ':', '”', '?']) && line.chars().count() < MARGIN);
    }
    out
}

/// How far into a statement its stance on the bill as a whole is taken; objections to single
/// provisions come later.
const OPENING: usize = 700;

/// What the statement says of the bill: a verb with the bill as its object, or what the President
/// would do with it. The first stance is the one on the bill as a whole, so support that goes on to
/// threaten a veto of some amendment is support. Praise of parts of a bill is no position.
pub fn position(text: &str) -> &'static str {
    static VETO: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:recommend(?:ed)?|would|will|shall|intends\s+to)\b[^.]{0,60}\bveto(?:es|ed)?\b|\bveto\s+threat\b",
        )
    });
    static SIGN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"(?i)\b(?:recommend(?:ed)?|would|will|intends\s+to)\b[^.]{0,60}\bsign\b")
    });
    const WHO: &str = r"\b(?:Administration|President)\b[^.;]{0,60}?\b";
    const AGAINST: &str = concat!(
        r"(?:opposes|opposed\s+to|objects\s+to|(?:does\s+not|cannot|can\s+not)\s+support|urges[^.]{0,",
        r"40}\b(?:against|reject|oppose))",
    );
    const FOR: &str = r"(?:supports|urges|endorses)";
    const BILL: &str = concat!(
        r"[^.;]{0,25}?(?:\b(?:passage|enactment|adoption)\b|\b(?:H|S)\.\s?[A-Z0-9]|\bth(?:e|is|ese)\s+",
        r"(?:bill|resolution|legislation|measure|joint|(?:House|Senate)\s+Amendment)|\bthe\s+[A-Z]",
        r"[^.;]{0,60}?\bAct\b)",
    );
    static OPPOSES_BILL: LazyLock<Regex> =
        LazyLock::new(|| pattern(&format!("(?i:{WHO}{AGAINST}){BILL}")));
    static SUPPORTS_BILL: LazyLock<Regex> =
        LazyLock::new(|| pattern(&format!("(?i:{WHO}{FOR}){BILL}")));
    static OPPOSES: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("(?i:{WHO}{AGAINST})")));
    let opening = text.char_indices().nth(OPENING).map_or(text, |(end, _)| &text[..end]);
    let at = |regex: &Regex, text: &str| regex.find(text).map(|m| m.start());
    match (at(&OPPOSES_BILL, opening), at(&SUPPORTS_BILL, opening)) {
        (opposed, Some(supported)) if opposed.is_none_or(|at| supported < at) => "supports",
        // The sentence at the end: what advisors would recommend.
        (None, _) if SIGN.is_match(text) => "supports",
        _ if VETO.is_match(text) => "would_veto",
        (None, _) if !OPPOSES.is_match(opening) => "none_stated",
        _ => "opposes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn positions() {
        assert_eq!(position("The Administration strongly supports passage of H.R. 1."), "supports");
        assert_eq!(position("The Administration opposes S. 2, which would tax boats."), "opposes");
        assert_eq!(
            position(
                "The Administration opposes S. 2. If presented, his advisors would recommend that he veto it."
            ),
            "would_veto"
        );
        assert_eq!(
            position(
                "The Administration supports H.R. 1. If amended, advisors would recommend a veto."
            ),
            "supports"
        );
        assert_eq!(
            position("If S.J. Res. 1 were presented to the President, he would veto it."),
            "would_veto"
        );
        assert_eq!(position("The Administration does not support H.R. 3."), "opposes");
        assert_eq!(position("The Administration urges the House to reject H.R. 3."), "opposes");
        assert_eq!(position("The Administration has no objection to H.R. 4."), "none_stated");
        assert_eq!(
            position(
                "President Doe opposes a shutdown and the Administration supports passage of H.R. 5."
            ),
            "supports"
        );
        assert_eq!(position("His advisors would recommend that he sign the bill."), "supports");
        assert_eq!(
            position(
                "The Administration welcomes the House's consideration of bills on boats and \
                 looks forward to working with the Congress."
            ),
            "none_stated"
        );
        assert_eq!(
            position("The Administration supports building boats. Section 5 is a concern."),
            "none_stated"
        );
        let late =
            format!("The bill is about boats. {}He would sign it into law.", "Words. ".repeat(200));
        assert_eq!(position(&late), "supports");
    }

    #[test]
    fn a_list_with_several_bills_and_none() {
        let yaml = concat!(
            "- bills: [hjres38, hjres36]\n  document_title: 'Two  Rules'\n  congress: 115\n",
            "  date_issued: '2017-02-01'\n  url: https://x/y\n- bills: []\n  document_title: None\n",
            "  congress: 115\n  date_issued: '2017-02-02'\n",
        );
        let read = read_text(read, "saps/a.yaml", yaml);
        assert_eq!(read.ids(), ["sap:115:hjres:38:2017-02-01", "sap:115:hjres:36:2017-02-01"]);
        assert_eq!(read.field(0, "president"), "Donald Trump");
        assert_eq!(read.rejects.len(), 1);
        assert_eq!(
            read_text(super::read, "saps/p.yaml", "40-Reagan:\n  id: 1\n").outcome,
            Outcome::Skipped
        );
    }

    #[test]
    fn a_text_with_a_title_for_each_bill() {
        let text = concat!(
            "June 3, 2025\n(House Rules)\nSTATEMENT OF ADMINISTRATION POLICY\nH.R. 31 – Boat Act\n(Rep. Doe, ",
            "R-ME)\nH.R. 66 – Repeal of H.R. 7\nH.R. 67 - Other Act\n(Rep. Roe, R-TX)\n",
            "The Administration supports H.R. 31 and H.R. 66.\n",
        );
        let read = read_text(read, "saps/x.txt", text);
        assert_eq!(
            read.ids(),
            ["sap:119:hr:31:2025-06-03", "sap:119:hr:66:2025-06-03", "sap:119:hr:67:2025-06-03"]
        );
        assert_eq!(read.field(1, "title"), "H.R. 66 – Repeal of H.R. 7");
    }

    #[test]
    fn a_text() {
        let text = concat!(
            "EXECUTIVE OFFICE OF THE PRESIDENT\nJuly 30, 2025\n(Senate)\nSTATEMENT OF ADMINISTRATION POLICY\n",
            "S.J. Res. 34, S.J. Res. 41 - Joint Resolutions on\nBoats\n(Sen. Doe, I-ME, and one\ncosponsor)\n",
            "The Administration opposes passage of both.\n*******\n",
        );
        let read = read_text(read, "saps/x.txt", text);
        assert_eq!(read.ids(), ["sap:119:sjres:34:2025-07-30", "sap:119:sjres:41:2025-07-30"]);
        assert_eq!(
            read.field(0, "title"),
            "S.J. Res. 34, S.J. Res. 41 - Joint Resolutions on Boats"
        );
        assert_eq!(
            (read.field(0, "position"), read.field(0, "chamber")),
            (&"opposes".into(), &"senate".into())
        );
        assert_eq!(
            read.records[0].bodies[0].sections[0].text,
            "The Administration opposes passage of both."
        );
    }
}
