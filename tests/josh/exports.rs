//! Section 17: records, lists and numbers in other people's formats, read as their programs would.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::SAMPLE;

fn ids(path: &str) -> Vec<String> {
    let list = SAMPLE.get(path).json();
    let items = list["data"].as_array().or(list["results"].as_array()).expect(path);
    items.iter().map(|item| item["id"].as_str().expect("an id").to_string()).collect()
}

/// What `format` makes of a list, with its media type.
fn exported(path: &str, format: &str, kind: &str) -> String {
    let answer = SAMPLE.get(&format!("{path}&format={format}"));
    assert_eq!(answer.status, 200, "{format}: {}", answer.text());
    assert!(answer.header("content-type").starts_with(kind), "{}", answer.header("content-type"));
    answer.text()
}

/// Given a list and a search, when they are asked for as a feed, then it is an Atom feed with
/// their records, the newest first, each with its page here and its official one.
#[test]
fn feeds_have_the_records_of_the_list() {
    for path in ["/v1/bills?status=enacted&limit=10", "/v1/search?q=drinking+water&limit=10"] {
        let text = exported(path, "atom", "application/atom+xml");
        let feed = roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        let is = |node: &roxmltree::Node, name: &str| {
            node.has_tag_name(("http://www.w3.org/2005/Atom", name))
        };
        let entries: Vec<_> = feed.descendants().filter(|node| is(node, "entry")).collect();
        let text_of = |entry: &roxmltree::Node, name: &str| {
            let node = entry.children().find(|node| is(node, name));
            node.and_then(|node| node.text()).unwrap_or_default().to_string()
        };
        assert!(!entries.is_empty());
        // What has no date of its own comes last, with the bundle's.
        let is_dated = |day: &String| !day.starts_with("2026-09-14");
        let updated: Vec<String> =
            entries.iter().map(|entry| text_of(entry, "updated")).filter(is_dated).collect();
        assert!(updated.is_sorted_by(|a, b| a >= b), "{path}: {updated:?}");
        for entry in &entries {
            let links: Vec<&str> = entry
                .children()
                .filter(|node| is(node, "link"))
                .filter_map(|node| node.attribute("href"))
                .collect();
            assert!(links[0].starts_with("http://127.0.0.1"), "{links:?}");
            assert!(links[1].starts_with("https://"), "{links:?}");
            assert!(!text_of(entry, "title").is_empty());
        }
    }
}

/// Given a list, when it is asked for in the formats of reference managers, then every record is
/// there once, and no field breaks the format.
#[test]
fn reference_managers_get_every_record_once() {
    let path = "/v1/crs-reports?limit=20";
    let held = ids(path);
    let csl: Value = serde_json::from_str(&exported(path, "csl", "application/vnd")).expect("CSL");
    let cited: Vec<&str> =
        csl.as_array().expect("a list").iter().filter_map(|item| item["id"].as_str()).collect();
    assert_eq!(cited, held);
    let bibtex = exported(path, "bibtex", "application/x-bibtex");
    let keys: BTreeSet<&str> =
        bibtex.split("@misc{").skip(1).filter_map(|entry| entry.split(',').next()).collect();
    assert_eq!(keys.len(), held.len(), "{bibtex}");
    let depth = bibtex.chars().fold(0i32, |depth, c| match c {
        '{' => depth + 1,
        '}' => depth - 1,
        _ => depth,
    });
    assert_eq!(depth, 0, "braces are balanced");
    let ris = exported(path, "ris", "application/x-research-info-systems");
    assert_eq!(ris.matches("TY  - ").count(), held.len());
    assert_eq!(ris.matches("ER  - ").count(), held.len());
    for line in ris.lines().filter(|line| !line.is_empty()) {
        assert_eq!(line.get(2..6), Some("  - "), "{line:?}");
    }
    // One record, too.
    let one = SAMPLE.get("/v1/bills/hr:119:1?format=bibtex");
    assert!(one.text().starts_with("@"), "{}", one.text());
    let none = SAMPLE.get("/v1/bills?aggregate=count&group_by=status&format=ris");
    assert_eq!(none.status, 400, "numbers are no references");
}

/// Given a list of more than one page, when it is asked for as a file without `limit`, then every
/// record is in it, in the list's order.
#[test]
fn files_have_the_whole_list() {
    let path = "/v1/bills?sort=introduced_date";
    let bills = SAMPLE.all(path, 100);
    let held: Vec<Value> = bills.iter().map(|bill| bill["id"].clone()).collect();
    assert!(held.len() > 20, "{}", held.len());
    let csl: Value = serde_json::from_str(&exported(path, "csl", "application/vnd")).expect("CSL");
    let cited: Vec<Value> = csl.as_array().unwrap().iter().map(|item| item["id"].clone()).collect();
    assert_eq!(cited, held);
    let bibtex = exported(path, "bibtex", "application/x-bibtex");
    assert_eq!(bibtex.matches("@misc{").count(), held.len());
    let ris = exported(path, "ris", "application/x-research-info-systems");
    assert_eq!(ris.matches("TY  - ").count(), held.len());
    let calendar = exported(path, "ics", "text/calendar");
    let dated = bills.iter().filter(|bill| bill["introduced_date"].is_string()).count();
    assert_eq!(calendar.matches("BEGIN:VEVENT").count(), dated);
    for edge in ["BEGIN:VCALENDAR", "END:VCALENDAR"] {
        assert_eq!(calendar.matches(edge).count(), 1);
    }
    let lines = exported(path, "ndjson", "application/x-ndjson");
    assert_eq!(lines.lines().count(), held.len());
    let page = SAMPLE.get(&format!("{path}&format=bibtex&limit=3"));
    assert_eq!(page.text().matches("@misc{").count(), 3);
    assert_eq!(page.header("x-total-count"), held.len().to_string());
    assert!(page.header("link").contains("rel=\"next\""), "a page says that there are more");
}

/// Given hearings, when they are asked for as a calendar, then each has its day, and lines are as
/// long as the format allows.
#[test]
fn calendars_have_the_days_of_the_records() {
    let path = "/v1/hearings?limit=10";
    let list = SAMPLE.get(path).json();
    let text = exported(path, "ics", "text/calendar");
    for item in list["data"].as_array().expect("hearings") {
        if let Some(day) = item["date"].as_str() {
            let begins = format!("DTSTART;VALUE=DATE:{}", day.replace('-', ""));
            assert!(text.contains(&begins), "{begins} in {text}");
        }
    }
    assert_eq!(text.matches("BEGIN:VEVENT").count(), text.matches("END:VEVENT").count());
    assert!(text.split("\r\n").all(|line| line.len() <= 75), "{text}");
}

/// Given counts, sums and values, when they are asked for as a picture, then it is an SVG of its
/// own whose bars are as many and as long as the numbers.
#[test]
fn numbers_are_drawn() {
    for path in [
        "/v1/bills?group_by=status",
        "/v1/bills?bucket_by_time=introduced_date&time_interval=year&group_by=status",
        "/v1/statistical-series/ust:debt_outstanding:debt_outstanding_amt/observations\
         ?time_interval=year",
    ] {
        let numbers = SAMPLE.get(path).json();
        let buckets = numbers["buckets"].as_array().expect(path).clone();
        let drawn: Vec<&Value> = buckets.iter().filter(|b| b["value"] != 0).collect();
        let text = exported(path, "svg", "image/svg+xml");
        let svg = roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert!(!text.contains("class=") && !text.contains("<style"), "it stands alone");
        let number = |node: &roxmltree::Node, name: &str| -> f64 {
            node.attribute(name).and_then(|value| value.parse().ok()).unwrap_or_default()
        };
        // The first is the background; those of a legend are ten wide and high.
        let bars = svg.descendants().filter(|node| node.tag_name().name() == "rect").skip(1);
        let bars: Vec<_> = bars
            .filter(|node| (number(node, "width"), number(node, "height")) != (10.0, 10.0))
            .collect();
        // A chart over time draws up to six groups.
        let groups: BTreeSet<String> = drawn.iter().map(|b| b["key"][1].to_string()).collect();
        if groups.len() <= 6 {
            assert_eq!(bars.len(), drawn.len(), "{path}");
        }
        if path.contains("group_by=status") && !path.contains("time_interval") {
            let longest = number(&bars[0], "width");
            let most = drawn[0]["value"].as_f64().expect("a number");
            for (bar, bucket) in bars.iter().zip(&drawn) {
                let expected = bucket["value"].as_f64().expect("a number") / most * longest;
                assert!((number(bar, "width") - expected).abs() < 0.1, "{path}");
            }
        }
    }
    let none = SAMPLE.get("/v1/bills?format=svg");
    assert_eq!(none.status, 400);
    assert!(none.text().contains("group_by"), "{}", none.text());
}

/// Given the guides that agents read, then people have them as pages.
#[test]
fn guides_are_pages() {
    let html = [("accept", "text/html")];
    let all = SAMPLE.send("GET", "/guides", &html);
    for (name, title) in [("ids", "Writing ids"), ("citing", "Citing")] {
        assert!(all.text().contains(&format!("href=\"/guides/{name}\"")), "{}", all.text());
        let guide = SAMPLE.send("GET", &format!("/guides/{name}"), &html);
        assert_eq!(guide.status, 200);
        assert_eq!(guide.text().matches("<h1").count(), 1);
        assert!(guide.text().contains(title), "{}", guide.text());
    }
    let missing = SAMPLE.send("GET", "/guides/cites", &html);
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("citing"), "it suggests one: {}", missing.text());
}
