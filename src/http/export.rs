//! Records in other people's formats: Atom for feed readers, BibTeX, RIS and CSL-JSON for
//! reference managers, iCalendar for dates. All are made from what every record has: title, date,
//! official page and citation.

use serde_json::{Map, Value, json};

use super::encode::Part;
use crate::api::{Error, Outcome, Result};
use crate::bundle::Bundle;
use crate::catalog::{self, Source};

/// A date field that is a deadline; the main date is when something happened.
const DEADLINE: &str = "comment_end_date";

/// A record as these formats need it.
pub struct Entry {
    source: &'static Source,
    id: String,
    title: String,
    date: Option<String>,
    deadline: Option<String>,
    url: String,
    citation: String,
    publisher: String,
}

/// The records of an outcome: a list, a search or one record.
pub fn entries(outcome: &Outcome, bundle: &Bundle) -> Result<Vec<Entry>> {
    let parse = |json: &str| serde_json::from_str::<Map<String, Value>>(json);
    let records: Vec<Map<String, Value>> = match outcome.output.items() {
        Some((_, items)) => items
            .iter()
            .map(|item| parse(item))
            .collect::<Result<_, _>>()
            .map_err(Error::internal)?,
        None => match outcome.output.to_value()?.get("data").and_then(Value::as_object) {
            Some(record) => vec![record.clone()],
            None => Vec::new(),
        },
    };
    let found: Vec<Entry> = records.iter().filter_map(|record| entry(bundle, record)).collect();
    if found.len() < records.len() || (found.is_empty() && outcome.output.items().is_none()) {
        let message = "Only records, lists of records and searches have this format.";
        return Err(Error::invalid("format", message));
    }
    Ok(found)
}

fn entry(bundle: &Bundle, item: &Map<String, Value>) -> Option<Entry> {
    let id = item.get("id")?.as_str()?;
    let (number, held) = bundle.records().by_id(id)?;
    let source = bundle.source_of_number(number)?;
    let record: Value = serde_json::from_str(held.data).ok()?;
    let citation: Value = serde_json::from_str(held.citation).ok()?;
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_string);
    Some(Entry {
        source,
        id: id.to_string(),
        title: text(&record[source.title]).unwrap_or_else(|| id.to_string()),
        date: source.main_date.and_then(|field| text(&record[field])),
        deadline: text(&record[DEADLINE]),
        url: text(&citation["url"]).unwrap_or_default(),
        citation: text(&citation["text"]).unwrap_or_default(),
        publisher: text(&citation["source"]).unwrap_or_default(),
    })
}

impl Entry {
    fn year(&self) -> Option<&str> {
        self.date.as_deref().and_then(|date| date.get(..4))
    }

    /// A name for it that has only letters and digits.
    fn key(&self) -> String {
        self.id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
    }
}

/// Where a feed is, and what it is about.
pub struct Feed<'a> {
    /// The server's address without a path.
    pub base: &'a str,
    /// Path and query of the feed itself.
    pub path: &'a str,
    pub as_of: &'a str,
}

/// A feed, newest first.
pub fn atom(mut entries: Vec<Entry>, feed: &Feed) -> String {
    entries.sort_by(|a, b| b.date.cmp(&a.date));
    let at = |day: &str| format!("{day}T00:00:00Z");
    let page = feed.path.strip_prefix("/v1").unwrap_or(feed.path);
    let own = xml(&format!("{}{}", feed.base, feed.path));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <title>Josh: {}</title>\n<id>{own}</id>\n<link rel=\"self\" href=\"{own}\"/>\n\
         <updated>{}</updated>\n<author><name>Josh</name></author>\n",
        xml(page),
        at(feed.as_of)
    );
    for entry in &entries {
        let path = super::explorer::record_address(entry.source.key, &entry.id);
        let address = xml(&format!("{}{path}", feed.base));
        out.push_str(&format!(
            "<entry>\n<title>{}</title>\n<id>{address}</id>\n<link href=\"{address}\"/>\n\
             <link rel=\"via\" href=\"{}\"/>\n<updated>{}</updated>\n\
             <category term=\"{}\"/>\n<summary>{}</summary>\n</entry>\n",
            xml(&entry.title),
            xml(&entry.url),
            at(entry.date.as_deref().unwrap_or(feed.as_of)),
            xml(entry.source.key),
            xml(&entry.citation)
        ));
    }
    out.push_str("</feed>\n");
    out
}

/// Text within XML. Control characters have no place there.
fn xml(text: &str) -> String {
    let allowed = text.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t');
    let mut out = String::with_capacity(text.len());
    for c in allowed {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

pub fn bibtex(entries: &[Entry]) -> String {
    let braced = |text: &str| {
        let mut out = String::new();
        for c in text.chars().filter(|c| !c.is_control()) {
            match c {
                '\\' => out.push_str("\\textbackslash{}"),
                '~' => out.push_str("\\textasciitilde{}"),
                '^' => out.push_str("\\textasciicircum{}"),
                '{' | '}' | '%' | '&' | '#' | '_' | '$' => out.extend(['\\', c]),
                c => out.push(c),
            }
        }
        out
    };
    let one = |entry: &Entry| {
        let mut fields = vec![
            format!("title = {{{{{}}}}}", braced(&entry.title)),
            format!("publisher = {{{}}}", braced(&entry.publisher)),
            format!("howpublished = {{{}}}", braced(&entry.citation)),
            // Addresses are taken as they are.
            format!("url = {{{}}}", entry.url.replace(['{', '}', '\\'], "")),
        ];
        if let (Some(year), Some(date)) = (entry.year(), &entry.date) {
            fields.push(format!("year = {{{year}}}"));
            fields.push(format!("date = {{{date}}}"));
        }
        format!("@misc{{{},\n  {}\n}}\n\n", entry.key(), fields.join(",\n  "))
    };
    entries.iter().map(one).collect()
}

pub fn ris(entries: &[Entry]) -> String {
    let line = |tag: &str, text: &str| {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if text.is_empty() { String::new() } else { format!("{tag}  - {text}\r\n") }
    };
    let one = |entry: &Entry| {
        let kind = if entry.source.key == "bills" { "BILL" } else { "GOVDOC" };
        let date = entry.date.as_deref().unwrap_or_default().replace('-', "/");
        [
            line("TY", kind),
            line("ID", &entry.id),
            line("TI", &entry.title),
            line("PB", &entry.publisher),
            line("PY", entry.year().unwrap_or_default()),
            line("DA", &date),
            line("N1", &entry.citation),
            line("UR", &entry.url),
            "ER  - \r\n".to_string(),
        ]
        .concat()
    };
    entries.iter().map(one).collect()
}

pub fn csl(entries: &[Entry], part: Part) -> String {
    let one = |entry: &Entry| {
        let kind = match entry.source.key {
            "bills" | "amendments" => "bill",
            "public-laws" | "cfr-sections" => "legislation",
            "federal-register" | "presidential-documents" => "regulation",
            "hearings" => "hearing",
            _ => "report",
        };
        let parts = entry.date.as_deref().and_then(catalog::wording::day);
        let parts = parts.map(|day| json!([[day.year(), u8::from(day.month()), day.day()]]));
        let mut item = json!({
            "id": entry.id,
            "type": kind,
            "title": entry.title,
            "publisher": entry.publisher,
            "references": entry.citation,
            "URL": entry.url,
        });
        if let Some(parts) = parts {
            item["issued"] = json!({ "date-parts": parts });
        }
        item.to_string()
    };
    let items: Vec<String> = entries.iter().map(one).collect();
    let before = match part.is_first {
        true => "[",
        false if items.is_empty() => "",
        false => ",",
    };
    format!("{before}{}{}", items.join(","), if part.is_last { "]" } else { "" })
}

/// Whole days: when something is, and until when comments are taken.
pub fn ics(entries: &[Entry], as_of: &str, part: Part) -> String {
    let stamp = format!("{}T000000Z", as_of.replace('-', ""));
    let mut out = String::new();
    if part.is_first {
        out.push_str("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Josh//EN\r\n");
    }
    let mut event = |entry: &Entry, name: &str, label: &str, day: &str| {
        let (Some(first), id) = (catalog::wording::day(day), &entry.id) else { return };
        let Some(next) = first.next_day() else { return };
        let plain = |day: time::Date| day.to_string().replace('-', "");
        for line in [
            "BEGIN:VEVENT".to_string(),
            format!("UID:{}-{name}@josh", escaped(id)),
            format!("DTSTAMP:{stamp}"),
            format!("DTSTART;VALUE=DATE:{}", plain(first)),
            format!("DTEND;VALUE=DATE:{}", plain(next)),
            format!("SUMMARY:{label}{}", escaped(&entry.title)),
            format!("DESCRIPTION:{}", escaped(&entry.citation)),
            format!("URL:{}", entry.url.replace(|c: char| c.is_control(), "")),
            "END:VEVENT".to_string(),
        ] {
            out.push_str(&folded(&line));
        }
    };
    for entry in entries {
        match (&entry.deadline, &entry.date) {
            (Some(day), _) => event(entry, "comments", "Comments due: ", day),
            (None, Some(day)) => event(entry, "date", "", day),
            (None, None) => {}
        }
    }
    if part.is_last {
        out.push_str("END:VCALENDAR\r\n");
    }
    out
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace(';', "\\;").replace(',', "\\,");
    text.replace("\r\n", "\\n").replace(['\n', '\r'], "\\n")
}

/// A line of at most 75 bytes, continued with a space.
fn folded(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while rest.len() > 74 {
        let (head, tail) = rest.split_at(rest.floor_char_boundary(74));
        out.push_str(head);
        out.push_str("\r\n ");
        rest = tail;
    }
    out.push_str(rest);
    out.push_str("\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            source: catalog::source("bills").unwrap(),
            id: "hr:119:1".into(),
            title: "A & B <Act> {of} 100%, really; a very long title that must be folded".into(),
            date: Some("2025-05-20".into()),
            deadline: None,
            url: "https://www.congress.gov/a?b=1&c=2".into(),
            citation: "H.R. 1, 119th Cong. (2025)".into(),
            publisher: "Library of Congress".into(),
        }
    }

    #[test]
    fn each_format_escapes_what_it_must() {
        let feed = Feed { base: "http://x", path: "/v1/bills?a=1&b=2", as_of: "2026-09-14" };
        let atom = atom(vec![entry()], &feed);
        assert!(atom.contains("A &amp; B &lt;Act&gt;") && atom.contains("http://x/bills/hr:119:1"));
        assert!(bibtex(&[entry()]).contains("A \\& B <Act> \\{of\\} 100\\%"));
        assert!(ris(&[entry()]).starts_with("TY  - BILL\r\nID  - hr:119:1\r\n"));
        let whole = Part { is_first: true, is_last: true };
        let csl: Value = serde_json::from_str(&csl(&[entry()], whole)).unwrap();
        assert_eq!(csl[0]["issued"]["date-parts"], json!([[2025, 5, 20]]));
        let ics = ics(&[entry()], "2026-09-14", whole);
        assert!(ics.contains("DTSTART;VALUE=DATE:20250520\r\nDTEND;VALUE=DATE:20250521"));
        assert!(ics.contains("100%\\, really\\; a") && ics.lines().all(|line| line.len() <= 75));
    }
}
