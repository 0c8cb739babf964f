//! The pages, over real HTTP: every page that a link leads to, what each must have and must not
//! have, and hostile text.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::FileExt;

use serde_json::Value;

use crate::support::{Answer, SAMPLE, Server, sample};

pub const BROWSER: &[(&str, &str)] = &[("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];

fn page(server: &Server, path: &str) -> Answer {
    server.send("GET", path, BROWSER)
}

/// A tag with its attributes. The pages are written by one template engine, so this is enough.
#[derive(Debug)]
pub struct Tag {
    pub name: String,
    attributes: BTreeMap<String, String>,
}

impl Tag {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }
}

pub fn unescaped(text: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    entities.iter().fold(text.to_string(), |text, (entity, c)| text.replace(entity, c))
}

pub fn tags(html: &str) -> Vec<Tag> {
    let opening = html.split('<').skip(1).filter(|part| !part.starts_with(['/', '!']));
    let read = |part: &str| {
        let inside = &part[..part.find('>').unwrap_or_else(|| panic!("a tag never ends: {part}"))];
        let name_end = inside.find(|c: char| c.is_whitespace()).unwrap_or(inside.len());
        let mut attributes = BTreeMap::new();
        let mut rest = inside[name_end..].trim_start();
        while !rest.is_empty() {
            let end = rest.find(['=', ' ']).unwrap_or(rest.len());
            let name = rest[..end].to_string();
            rest = &rest[end..];
            let value = match rest.strip_prefix("=\"") {
                Some(behind) => {
                    let end = behind.find('"').expect("a quoted value ends");
                    rest = &behind[end + 1..];
                    unescaped(&behind[..end])
                }
                None => match rest.strip_prefix('=') {
                    Some(behind) => {
                        let end = behind.find(' ').unwrap_or(behind.len());
                        rest = &behind[end..];
                        unescaped(&behind[..end])
                    }
                    None => String::new(),
                },
            };
            attributes.insert(name, value);
            rest = rest.trim_start();
        }
        Tag { name: inside[..name_end].to_string(), attributes }
    };
    opening.map(read).collect()
}

/// The internal links of a page.
pub fn links(tags: &[Tag]) -> Vec<String> {
    let hrefs = tags.iter().filter(|t| t.name == "a").filter_map(|t| t.get("href"));
    hrefs.filter(|href| href.starts_with('/')).map(str::to_string).collect()
}

/// What every page must be, whatever it shows.
fn check(path: &str, answer: &Answer) {
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    assert!(answer.header("content-type").starts_with("text/html"), "{path}");
    let policy = answer.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}");
    let html = answer.text();
    assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{path}");
    assert!(!html.contains("{{"), "{path}");
    let tags = tags(&html);
    let count = |name: &str| tags.iter().filter(|tag| tag.name == name).count();
    for name in ["h1", "title", "main", "header", "footer"] {
        // `title` is also an element of a drawing.
        let most = if name == "title" { usize::MAX } else { 1 };
        assert!((1..=most).contains(&count(name)), "{path} has {} <{name}>", count(name));
    }
    // The tables of guides stand under a heading that names them.
    let is_named = path.starts_with("/guides/");
    assert!(is_named || count("table") == count("caption"), "{path}");
    assert_eq!(count("style"), 0, "{path}");
    let mut ids = BTreeSet::new();
    for tag in &tags {
        for (name, value) in &tag.attributes {
            assert!(name != "style" && !name.starts_with("on"), "{path}: {tag:?}");
            let is_outside = value.starts_with("http:") || value.starts_with("https:");
            let is_allowed =
                tag.name == "a" && name == "href" && tag.get("rel") == Some("noreferrer");
            let is_address = ["href", "src", "action"].contains(&name.as_str());
            assert!(!is_address || !is_outside || is_allowed, "{path} loads {value}");
            assert!(!is_address || !value.starts_with("javascript"), "{path}: {value}");
        }
        if tag.name == "script" {
            assert!(tag.get("src").is_some_and(|src| src.starts_with("/static/")), "{path}");
        }
        if let Some(id) = tag.get("id") {
            assert!(ids.insert(id.to_string()), "{path} has two {id}");
        }
    }
    let labelled: BTreeSet<&str> =
        tags.iter().filter(|t| t.name == "label").filter_map(|t| t.get("for")).collect();
    for field in tags.iter().filter(|t| ["input", "select"].contains(&t.name.as_str())) {
        let is_labelled = field.get("type") == Some("hidden")
            || field.get("id").is_some_and(|id| labelled.contains(id));
        assert!(is_labelled, "{path}: {field:?} has no label");
    }
}

/// The pages and the data that this page leads to. Facets and sorts multiply without end: links
/// between addresses with parameters are not followed, and of the others with any, charts and one
/// in eight.
fn leads_to(path: &str) -> (Vec<String>, Vec<String>) {
    let answer = page(&SAMPLE, path);
    if answer.status == 303 {
        assert!(path.starts_with("/go?"), "{path}");
        return Default::default();
    }
    check(path, &answer);
    let found = links(&tags(&answer.text())).into_iter();
    let found = found.map(|link| link.split('#').next().unwrap().to_string());
    let plain = ["/openapi.json", "/health", "/mcp/manifest.json"];
    let (data, pages): (Vec<String>, Vec<String>) =
        found.partition(|link| link.starts_with("/v1/") || plain.contains(&link.as_str()));
    let is_chart = |link: &str| link.contains("group_by=") || link.contains("bucket_by_time=");
    let is_followed = |link: &String| {
        let is_chosen =
            is_chart(link) || josh::bundle::stable_hash(link.as_bytes()).is_multiple_of(8);
        !link.contains('?') || (!path.contains('?') && is_chosen)
    };
    (pages.into_iter().filter(is_followed).collect(), data)
}

/// Given the home page, when links are followed until there are no more, then each leads to a page
/// of its own that is whole.
#[test]
fn every_link_leads_to_a_page() {
    let mut seen = BTreeSet::from(["/".to_string()]);
    let mut data = BTreeSet::new();
    let mut round = vec!["/".to_string()];
    while !round.is_empty() {
        let parts: Vec<&[String]> = round.chunks(round.len().div_ceil(4)).collect();
        let found: Vec<(Vec<String>, Vec<String>)> = std::thread::scope(|scope| {
            let read = |part: &[String]| part.iter().map(|p| leads_to(p)).collect::<Vec<_>>();
            let workers: Vec<_> =
                parts.into_iter().map(|part| scope.spawn(move || read(part))).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("whole pages")).collect()
        });
        round = Vec::new();
        for (pages, named) in found {
            data.extend(named);
            round.extend(pages.into_iter().filter(|page| seen.insert(page.clone())));
        }
    }
    assert!(seen.len() > 1_000 && data.len() > 500, "{} pages, {} data", seen.len(), data.len());
    // Each kind of page of each source.
    for source in SAMPLE.sources() {
        let key = source["key"].as_str().unwrap();
        assert!(seen.contains(&format!("/{key}")), "the list of {key}");
        assert!(seen.contains(&format!("/sources/{key}")), "the fields of {key}");
        let record = format!("/{key}/");
        assert!(seen.iter().any(|p| p.starts_with(&record) && p.split('/').count() == 3), "{key}");
        let group = format!("/{key}?group_by=");
        let described = SAMPLE.get(&format!("/v1/sources/{key}")).json();
        let has_groups = described["data"]["aggregation"]["group_by"] != serde_json::json!([]);
        assert_eq!(seen.iter().any(|p| p.starts_with(&group)), has_groups, "charts of {key}");
    }
    // Every address as data that a page names answers as well; a few of each are enough.
    for link in data.iter().step_by(7) {
        assert_eq!(SAMPLE.get(link).status, 200, "{link}");
    }
}

/// Given a list and a search, when the page and REST are asked alike, then totals and facets agree,
/// and the CSV that the page links has every record.
#[test]
fn a_page_its_json_and_its_csv_agree() {
    for (path, query) in
        [("/bills", "status=enacted"), ("/search", "q=water"), ("/legislators", "")]
    {
        let html = page(&SAMPLE, &format!("{path}?{query}")).text();
        let rest = SAMPLE.get(&format!("/v1{path}?{query}")).json();
        let total = rest["total"].as_u64().unwrap();
        assert!(total > 3, "{path}");
        let shown = [format!("of {total} "), format!("{total} result"), format!("{total} Legis")];
        assert!(shown.iter().any(|text| html.contains(text)), "{path} has not {total}");
        let csv = links(&tags(&html)).into_iter().find(|l| l.contains("format=csv")).unwrap();
        let table = SAMPLE.get(&csv);
        let lines = csv_lines(&table.text());
        assert_eq!(lines as u64, total, "{csv}");
        assert_eq!(table.header("x-total-count"), total.to_string());
    }
}

/// Records of a CSV, without its header.
fn csv_lines(text: &str) -> usize {
    let mut in_quotes = false;
    let ends = text.chars().filter(|c| {
        in_quotes ^= *c == '"';
        *c == '\n' && !in_quotes
    });
    ends.count() - 1
}

/// Given `facets`, when a list and a search are asked, then their counts are those of the filters.
#[test]
fn facets_count_what_their_filters_leave() {
    for path in ["/v1/bills?", "/v1/bills?status=enacted&", "/v1/search?q=water&mode=lexical&"] {
        let answer = SAMPLE.get(&format!("{path}limit=1&facets=chamber,year,congress")).json();
        let facets = answer["facets"].as_array().unwrap();
        assert_eq!(facets.len(), 3);
        let values = |field: &str| -> Vec<(String, u64)> {
            let facet = facets.iter().find(|f| f["field"] == field).unwrap();
            let values = facet["values"].as_array().unwrap().iter();
            let pair = |v: &Value| {
                (v["value"].as_str().unwrap().to_string(), v["count"].as_u64().unwrap())
            };
            values.map(pair).collect()
        };
        for (value, count) in values("chamber") {
            let narrowed = SAMPLE.get(&format!("{path}chamber={value}")).json();
            assert_eq!(narrowed["total"], count, "{path} chamber={value}");
        }
        for (year, count) in values("year") {
            let dates = format!("since={year}-01-01&until={year}-12-31");
            let narrowed = SAMPLE.get(&format!("{path}{dates}")).json();
            assert_eq!(narrowed["total"], count, "{path} {dates}");
        }
    }
    let by_source = SAMPLE.get("/v1/search?q=water&mode=lexical&facets=source").json();
    let counts = by_source["facets"][0]["values"].as_array().unwrap().iter();
    let sum: u64 = counts.map(|v| v["count"].as_u64().unwrap()).sum();
    assert_eq!(by_source["total"], sum);
    // The rows of a record have facets of their own.
    let positions = "/v1/roll-call-votes/house:119:1:190/positions?facets=position,party";
    assert!(SAMPLE.get(positions).json()["facets"][0]["values"][0]["count"].as_u64() > Some(0));
    for (wrong, said) in [
        ("/v1/bills?facets=nonsense", "chamber"),
        ("/v1/search?q=water&facets=chamer", "chamber"),
        ("/v1/legislators?q=markey&facets=party", "leave `facets`"),
    ] {
        let answer = SAMPLE.get(wrong);
        assert_eq!(
            (answer.status, answer.json()["error"]["field"].as_str()),
            (400, Some("facets"))
        );
        assert!(answer.text().contains(said), "{wrong}: {}", answer.text());
    }
    assert_eq!(SAMPLE.get("/v1/bills?%7Blimit%7D=100000").status, 400, "no way round the limit");
}

/// Given addresses of nothing, when a browser asks, then it gets a page with the hint; a program
/// gets the envelope.
#[test]
fn errors_are_pages_for_people() {
    for (path, status, said) in [
        ("/bilsl", 404, "href=\"/bills\""),
        ("/bills/hr:119:999999", 404, "This bundle holds no bill hr:119:999999"),
        ("/bills/%3Cscript%3E", 400, "&lt;script&gt;"),
        ("/bills?statu=enacted", 400, "status"),
        ("/search?q=water&mode=%3Cb%3E", 400, "&lt;b&gt;"),
        ("/go?id=nonsense", 400, "IDs by source"),
        ("/bills/hr:119:1/nothing", 404, "cosponsors"),
        ("/bills?cursor=x", 400, "Start again"),
        ("/static/josh-00000000.css", 404, "Not found"),
    ] {
        let answer = page(&SAMPLE, path);
        assert_eq!(answer.status, status, "{path}");
        let html = answer.text();
        assert!(html.contains("<h1>") && html.contains(said), "{path}: {html}");
        assert!(html.contains("role=\"search\""), "{path}");
        let plain = SAMPLE.get(path);
        assert_eq!((plain.status, plain.json()["error"]["code"].is_string()), (status, true));
    }
    let go = page(&SAMPLE, "/go?id=H.R.+1");
    assert_eq!((go.status, go.header("location")), (303, "/bills/hr:119:1"));
    assert_eq!(page(&SAMPLE, "/fetch/hr:119:1").header("location"), "/bills/hr:119:1");
    assert_eq!(page(&SAMPLE, "/bills/hr:119:1/dossier").header("location"), "/bills/hr:119:1");
}

/// Given a record of each interesting kind, then its page shows what an analyst looks for.
#[test]
fn record_pages_show_what_matters() {
    for (path, shown) in [
        (
            "/bills/hr:119:1",
            &["class=\"tracker\"", "aria-current=\"step\"", "H.R. 1, 119th Cong."][..],
        ),
        (
            "/bills/hr:119:1/actions",
            &["aria-label=\"Resolving differences\"", "/roll-call-votes/house:119:1:190"],
        ),
        (
            "/bills/hr:119:1/body",
            &["aria-label=\"Contents\"", "Amends another law", "id=\"s10102\""],
        ),
        ("/bills/hr:119:1/body?section=10102", &["The whole text", "10102"]),
        ("/roll-call-votes/house:119:1:190", &["Tally", "class=\"members\"", "bar-3"]),
        ("/bills?group_by=status", &["class=\"bars\"", "href=\"/bills?status=enacted\""]),
        (
            "/bills?bucket_by_time=introduced_date&time_interval=month",
            &["class=\"chart\"", "href=\"/bills?introduced_date=2025-01\"", "The numbers"],
        ),
        ("/search?q=Markey", &["Names", "/legislators/M000133"]),
        ("/search?q=%22%3E%3Cscript%3E", &["&quot;&gt;&lt;script&gt;"]),
        ("/legislators?q=markey", &["/legislators/M000133"]),
        ("/sources/bills", &["introduced_date", "Library of Congress"]),
    ] {
        let html = page(&SAMPLE, path).text();
        for text in shown {
            assert!(html.contains(text), "{path} has not {text}");
        }
    }
}

/// Given one style sheet and one script with hashes in their names, then they are small and may be
/// kept for good; a page may be kept until the next bundle.
#[test]
fn assets_are_small_and_kept() {
    let home = page(&SAMPLE, "/");
    let all = tags(&home.text());
    let assets: Vec<&str> = all
        .iter()
        .filter_map(|t| t.get("src").or(t.get("href")))
        .filter(|path| path.starts_with("/static/"))
        .collect();
    assert_eq!(assets.len(), 2, "{assets:?}");
    let mut bytes = 0;
    for path in assets {
        let asset = SAMPLE.get(path);
        assert_eq!(asset.status, 200);
        assert!(asset.header("cache-control").contains("immutable"));
        bytes += asset.bytes.len();
    }
    assert!(bytes < 40_000, "{bytes}");
    assert!(page(&SAMPLE, "/search?q=water").bytes.len() < 60_000);
    let bills = page(&SAMPLE, "/bills");
    let again = SAMPLE.send("GET", "/bills", &[("if-none-match", bills.header("etag"))]);
    assert_eq!(again.status, 304);
}

/// Given a bundle whose prose is full of markup, when its pages are read, then none of it becomes
/// an element.
#[test]
fn hostile_text_stays_text() {
    use josh::bundle::{read_manifest, writer};
    let folder = tempfile::tempdir().unwrap();
    let (file, manifest) = read_manifest(&sample()).unwrap();
    let hostile: [(&[u8], &[u8]); 4] = [
        (b"One Big Beautiful Bill Act", b"<script>alert(11)</script>"),
        (b" the ", b"<b>x "),
        (b" of ", b"'><i"),
        (b"https://www.congress.gov/bill/119th", b"javascript:alert(1)//ess.gov/bill/1"),
    ];
    let mut parts = Vec::new();
    let mut changes = 0;
    for (n, section) in manifest.sections.iter().enumerate() {
        let mut bytes = vec![0; section.length as usize];
        file.read_exact_at(&mut bytes, section.offset).unwrap();
        if ["Records", "Links"].contains(&format!("{:?}", section.kind).as_str()) {
            for (plain, marked) in hostile {
                assert_eq!(plain.len(), marked.len());
                let mut at = 0;
                while let Some(found) =
                    bytes[at..].windows(plain.len()).position(|window| window == plain)
                {
                    bytes[at + found..at + found + plain.len()].copy_from_slice(marked);
                    at += found + plain.len();
                    changes += 1;
                }
            }
        }
        let path = folder.path().join(format!("part{n}"));
        std::fs::write(&path, bytes).unwrap();
        parts.push((section.kind, path));
    }
    assert!(changes > 1_000, "{changes}");
    let parts: Vec<_> = parts.iter().map(|(kind, path)| (*kind, path.as_path())).collect();
    let out = folder.path().join("hostile.db");
    writer::write(&out, &parts, manifest).unwrap();
    let server = Server::start(&["--bundle", out.to_str().unwrap()]);
    let title = page(&server, "/bills/hr:119:1").text();
    assert!(title.contains("<h1>&lt;script&gt;alert(11)&lt;/script&gt;</h1>"));
    let mut paths: Vec<String> = ["/", "/search?q=water+act"].map(String::from).to_vec();
    for source in SAMPLE.sources() {
        let key = source["key"].as_str().unwrap();
        paths.push(format!("/{key}"));
        let first = links(&tags(&page(&server, &format!("/{key}")).text()));
        let record = format!("/{key}/");
        let records = first.into_iter().filter(|link| link.starts_with(&record)).take(6);
        for path in records.collect::<Vec<_>>() {
            let below = links(&tags(&page(&server, &path).text()));
            paths.extend(below.into_iter().filter(|l| l.starts_with(&path) && !l.contains('?')));
            paths.push(path);
        }
    }
    assert!(paths.len() > 150, "{}", paths.len());
    for path in paths {
        let answer = page(&server, &path);
        check(&path, &answer);
        let html = answer.text();
        let own = ["script", "b", "i", "img"];
        let found = tags(&html)
            .into_iter()
            .find(|tag| own.contains(&tag.name.as_str()) && tag.get("src").is_none());
        assert!(found.is_none(), "{path}: {found:?}");
    }
}
