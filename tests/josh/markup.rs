//! Every text of a bundle as markup: the sample, built again with elements in each of its texts. No
//! page makes an element of one, and every text is still there to be read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use josh::catalog::spec::BODY;
use josh::catalog::{Field, Kind, SOURCES, SubResourceKind};
use serde_json::{Map, Value};

use crate::explorer::{BROWSER, links, tags};
use crate::support::{JOSH, Server};

/// An element, an attribute's end and a script around a text, with the name of its field.
fn marked(name: &str, text: &str) -> String {
    format!("<i data-of=\"{name}\">{text}'\"&amp;</i><script>alert()</script>")
}

/// How the beginning of that reads in a page that escapes it.
fn shown(name: &str) -> String {
    format!("&lt;i data-of=&quot;{name}&quot;&gt;")
}

/// Names beside the id of a record that the bundle holds: pages show that record's own name.
const BY_RECORD: [&str; 4] =
    ["amendments.sponsor_name", "bills.sponsor_name", "candidates.name", "subjects.name"];

/// Marks prose, and keywords of several words: others are codes that the builder reads.
fn mark(item: &mut Map<String, Value>, fields: &[Field], of: &str, names: &mut BTreeSet<String>) {
    for field in fields {
        let name = format!("{of}.{}", field.name);
        let is_wording = |text: &str| match field.kind {
            Kind::Text => !text.is_empty() && !text.starts_with("http"),
            Kind::Keyword | Kind::Keywords => text.contains(' '),
            _ => false,
        };
        let mut change = |value: &mut Value| {
            if let Some(text) = value.as_str().filter(|text| is_wording(text)) {
                *value = marked(&name, text).into();
                names.insert(name.clone());
            }
        };
        match item.get_mut(field.name) {
            Some(Value::Array(values)) => values.iter_mut().for_each(&mut change),
            Some(value) => change(value),
            None => {}
        }
    }
}

/// Writes the sample's records with marks, and gives the names of all fields that have one.
fn write_marked(folder: &Path) -> BTreeSet<String> {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/sample");
    let mut names = BTreeSet::new();
    for source in SOURCES {
        let file = format!("{}.josh.jsonl", source.key);
        let Ok(text) = std::fs::read_to_string(sample.join(&file)) else { continue };
        let mut out = String::new();
        for line in text.lines() {
            let mut record: Map<String, Value> = serde_json::from_str(line).unwrap();
            mark(&mut record, &source.columns(), source.key, &mut names);
            let rows = record.get_mut("rows").and_then(Value::as_object_mut).into_iter().flatten();
            for (sub, items) in rows {
                let fields = source.sub_resource(sub).map(|sub| sub.kind);
                let Some(SubResourceKind::Rows(fields)) = fields else { continue };
                for item in items.as_array_mut().into_iter().flatten() {
                    mark(item.as_object_mut().unwrap(), fields, sub, &mut names);
                }
            }
            for part in record.get_mut("body").and_then(Value::as_array_mut).into_iter().flatten() {
                mark(part.as_object_mut().unwrap(), BODY, "body", &mut names);
            }
            out.push_str(&serde_json::to_string(&record).unwrap());
            out.push('\n');
        }
        std::fs::write(folder.join(file), out).unwrap();
    }
    names
}

/// The builder, which the tests of the workspace build beside the binary.
fn builder() -> Option<PathBuf> {
    let path = Path::new(JOSH).with_file_name("josh-data-build");
    path.exists().then_some(path)
}

/// Given a bundle with markup in every text, when its pages are read, then none of it is an
/// element, and each field's text is on a page.
#[test]
fn markup_in_any_text_stays_text() {
    let Some(builder) = builder() else {
        println!("SKIPPED markup: josh-data-build is not built here (cargo build --workspace)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (input, bundle) = (folder.path().join("in"), folder.path().join("marked.db"));
    std::fs::create_dir(&input).unwrap();
    let names = write_marked(&input);
    assert!(names.len() > 60, "{names:?}");
    let mut build = Command::new(builder);
    build.args(["build", "--embed", "none", "--from"]).arg(&input).arg("--out").arg(&bundle);
    let built = build.arg("--cache").arg(folder.path().join("cache")).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let server = Server::start(&["--bundle", bundle.to_str().unwrap()]);
    let mut seen = BTreeSet::new();
    let mut read = |path: &str| -> Vec<String> {
        let answer = server.send("GET", path, BROWSER);
        let html = answer.text();
        assert_eq!(answer.status, 200, "{path}: {html}");
        let tags = tags(&html);
        let of_a_text = tags.iter().find(|tag| {
            tag.name == "i"
                || tag.get("data-of").is_some()
                || (tag.name == "script" && tag.get("src").is_none())
        });
        assert!(of_a_text.is_none(), "{path}: {of_a_text:?}");
        seen.extend(names.iter().filter(|name| html.contains(&shown(name))).cloned());
        links(&tags)
    };
    read("/");
    read("/search?q=water");
    for source in server.sources() {
        let key = source["key"].as_str().unwrap();
        let records = format!("/{key}/");
        let listed = read(&format!("/{key}?limit=100"));
        let listed: BTreeSet<&String> = listed
            .iter()
            .filter(|link| link.starts_with(&records) && !link.contains(['?', '#']))
            .collect();
        let mut subs: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for record in &listed {
            let below = format!("{record}/");
            for link in read(record).into_iter().filter(|link| link.starts_with(&below)) {
                let sub = link[below.len()..].split(['?', '#']).next().unwrap().to_string();
                subs.entry(sub).or_default().push(link);
            }
        }
        for links in subs.values() {
            links.iter().step_by(links.len().div_ceil(3)).for_each(|link| drop(read(link)));
        }
        let described = server.get(&format!("/v1/sources/{key}")).json();
        for field in described["data"]["aggregation"]["group_by"].as_array().unwrap() {
            let query = format!("{key}?group_by={}", field.as_str().unwrap());
            read(&format!("/{query}"));
            let picture = server.get(&format!("/v1/{query}&format=svg")).text();
            if !picture.starts_with("{\"error\"") {
                roxmltree::Document::parse(&picture).unwrap_or_else(|e| panic!("{query}: {e}"));
            }
        }
        let feed = server.get(&format!("/v1/{key}?format=atom")).text();
        roxmltree::Document::parse(&feed).unwrap_or_else(|e| panic!("{key}: {e}"));
    }
    let missing: BTreeSet<&str> = names.difference(&seen).map(String::as_str).collect();
    assert!(missing.is_subset(&BTreeSet::from(BY_RECORD)), "on no page: {missing:?}");
}
