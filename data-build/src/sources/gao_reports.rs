//! GAO reports: reports as Markdown (title, a line with number and date, text under headings), a
//! catalog in JSON, and GAO's RSS.

use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::ids;
use regex::Regex;
use serde_json::Value;

use super::{gao_reports_rss, gao_reports_subject as subject};
use crate::formats::json::str_at;
use crate::formats::{dates, documents, markdown};
use crate::input::Input;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "gao-reports";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension() {
        "md" => report(&input.text()?, out),
        "json" => catalog(input, out),
        "xml" => gao_reports_rss::read(&input.text()?, out),
        _ => Ok(Outcome::Skipped),
    }
}

pub fn new_record(id: &str, rank: Rank) -> Record {
    let mut record = Record::new(SOURCE, id, rank);
    record.set("number", id.trim_start_matches("gao:"));
    record
}

/// The title, with the subject that heads it.
pub fn set_title(record: &mut Record, title: &str) {
    record.set("title", title).set("topics", subject::topic(title).map(|topic| vec![topic]));
}

fn catalog(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let Some(Value::Array(entries)) = documents::value(input)? else { return Ok(Outcome::Skipped) };
    if !entries.iter().any(|e| e.get("report_id").is_some()) {
        return Ok(Outcome::Skipped);
    }
    for (n, entry) in entries.iter().enumerate() {
        let stated = str_at(entry, &["report_id"]);
        let Some(id) = ids::canonical(SOURCE, &stated) else {
            out.reject(
                &format!("entry {}", n + 1),
                &format!("not a GAO report number: {stated:?}"),
            );
            continue;
        };
        let mut record = new_record(&id, Rank::Partial);
        set_title(&mut record, &str_at(entry, &["title"]));
        record.set("published_date", dates::iso(&str_at(entry, &["pub_date"])));
        record.set("url", str_at(entry, &["url"]));
        out.record(record);
    }
    Ok(Outcome::Read)
}

fn report(text: &str, out: &mut dyn Sink) -> Result<Outcome> {
    let Some((head, rest)) = text.split_once("\n---") else { return Ok(Outcome::Skipped) };
    let stated = labelled(head, "Report");
    if stated.is_empty() {
        return Ok(Outcome::Skipped);
    }
    let Some(id) = ids::canonical(SOURCE, stated) else {
        out.reject(stated, "not a GAO report number");
        return Ok(Outcome::Read);
    };
    let published = dates::iso(labelled(head, "Published"));
    let mut record = new_record(&id, Rank::Full);
    let title = head.lines().find_map(|l| l.strip_prefix("# ")).unwrap_or_default();
    set_title(&mut record, title.trim());
    record.set("agency", subject::agency(rest));
    record
        .set("published_date", published.as_deref())
        .set("recommendations_count", recommendations(rest));
    record.body(
        "text",
        published.as_deref().unwrap_or_default(),
        markdown::sections(rest.trim_start_matches('-')),
    );
    out.record(record);
    Ok(Outcome::Read)
}

/// `**Report:** GAO-26-107682 | **Published:** …` -> the value after a label.
fn labelled<'a>(head: &'a str, label: &str) -> &'a str {
    let Some((_, after)) = head.split_once(&format!("**{label}:**")) else { return "" };
    after.split(['|', '\n']).next().unwrap_or_default().trim()
}

/// How many recommendations GAO says it makes, where it says so in one way only.
pub fn recommendations(text: &str) -> Option<i64> {
    static SAID: LazyLock<Regex> = LazyLock::new(|| {
        let text = concat!(
            r"(?i)\b(?:GAO|we)\s+(?:is|are)\s+making\s+(?:a\s+total\s+of\s+)?([a-z]+|",
            r"\d+)\s+(?:\w+\s+)?recommendations?\b",
        );
        pattern(text)
    });
    let mut counts: Vec<i64> = SAID.captures_iter(text).filter_map(|c| count(&c[1])).collect();
    counts.dedup();
    if let [one] = counts[..] { Some(one) } else { None }
}

fn count(word: &str) -> Option<i64> {
    const WORDS: [&str; 21] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    let word = word.to_ascii_lowercase();
    word.parse().ok().or_else(|| WORDS.iter().position(|w| *w == word).map(|n| n as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn a_report() {
        let text = concat!(
            "# Bridges: More Needed\n\n",
            "**Report:** GAO-26-100001 | **Published:** 2026-03-03 | **Source:** [GAO](x)\n\n---\n\n",
            "## Highlights\n\nGAO is making two\nrecommendations to DOT.\n\nThe Secretary of ",
            "Transportation should mend them. (Recommendation 1)",
        );
        let read = read_text(read, "gao-reports/a.md", text);
        assert_eq!(read.ids(), ["gao:GAO-26-100001"]);
        assert_eq!(read.field(0, "number"), "GAO-26-100001");
        assert_eq!(read.field(0, "published_date"), "2026-03-03");
        assert_eq!(read.field(0, "recommendations_count"), 2);
        assert_eq!(read.field(0, "agency"), "Department of Transportation");
        assert_eq!(*read.field(0, "topics"), serde_json::json!(["Bridges"]));
        assert_eq!(read.records[0].bodies[0].sections[0].heading, "Highlights");
    }

    #[test]
    fn contradicting_counts_state_nothing() {
        assert_eq!(
            recommendations("We are making 3 recommendations. GAO is making four recommendations."),
            None
        );
        assert_eq!(recommendations("GAO is making seven priority recommendations"), Some(7));
        assert_eq!(recommendations("GAO made many recommendations"), None);
    }

    #[test]
    fn a_catalog_with_a_bad_entry() {
        let json =
            r#"[{"report_id":"gao-07-106","title":"T","pub_date":"2006-12-01"},{"report_id":"x"}]"#;
        let read = read_text(read, "gao-reports/catalog.json", json);
        assert_eq!(read.ids(), ["gao:GAO-07-106"]);
        assert_eq!(read.rejects.len(), 1);
    }
}
