//! A build that notices: what fails it, what it says about gaps, and what is counted and what is
//! not: numbers outside of what a bundle covers, and reports that later ones replace.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use josh::api::{Arguments, Context, Meta};
use josh::bundle::{Bundle, SourceFacts, read_manifest};
use josh::toolsets::Toolsets;
use serde_json::{Value, json};

struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Case {
        Case { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: impl AsRef<str>) -> &Case {
        let path = self.path("in").join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text.as_ref()).expect("it is written");
        self
    }

    /// House bills with these numbers, in one file.
    fn bills(&self, numbers: impl IntoIterator<Item = u32>) -> &Case {
        let line = |n: u32| {
            let day = format!("2025-01-{:02}", n % 28 + 1);
            json!({ "id": format!("hr:119:{n}"), "congress": 119, "type": "hr", "number": n,
                    "introduced_date": day })
        };
        let lines: Vec<String> = numbers.into_iter().map(|n| line(n).to_string()).collect();
        self.file("bills.josh.jsonl", lines.join("\n"))
    }

    fn build(&self, out: &str, more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
        command.args(["build", "--embed", "none", "--from"]).arg(self.path("in"));
        command.arg("--out").arg(self.path(out)).arg("--cache").arg(self.path("cache"));
        command.args(more).output().expect("the builder runs")
    }

    fn built(&self, out: &str, more: &[&str]) -> PathBuf {
        let output = self.build(out, more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.path(out)
    }

    /// Asserts that the build fails, says why, and writes nothing.
    fn fails(&self, more: &[&str], why: &[&str]) {
        let output = self.build("failed.db", more);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(why.iter().all(|why| said.contains(why)), "{said} does not say {why:?}");
        assert!(!self.path("failed.db").exists());
    }
}

fn facts(bundle: &Path, source: &str) -> SourceFacts {
    let manifest = read_manifest(bundle).expect("a bundle").1;
    manifest.source(source).expect("the source").clone()
}

/// The answer to a request, with its `meta`.
fn get(bundle: &Path, source: &str, query: &str) -> Value {
    let bundle = Arc::new(Bundle::open(bundle).expect("a bundle"));
    let context = Arc::new(Context::unbounded(bundle.clone()));
    let arguments = Arguments::from_query(&format!("{{source}}={source}&{query}"));
    let name = if query.contains("aggregate") { "aggregate_records" } else { "list_records" };
    let outcome = Toolsets::default().run(name, arguments.expect("a query"), &context);
    let outcome = outcome.expect("an answer");
    let mut answer = Value::Object(outcome.output.to_value().expect("JSON"));
    let started = std::time::Instant::now();
    let meta = Meta::new("test", &bundle, started, &outcome.notes);
    answer["meta"] = serde_json::to_value(meta).expect("JSON");
    answer
}

/// Given a large source without faults and a small one with many, when built, then the small one
/// fails the build, however small its share of everything is.
#[test]
fn each_source_has_its_own_thresholds() {
    let case = Case::new();
    case.bills(1..=200).file("saps.josh.jsonl", "{\"id\":\"nonsense\"}\n");
    case.fails(&[], &["saps", "1 of 1 records", "--max-rejected"]);
    case.file("saps.josh.jsonl", "");
    case.fails(&[], &["saps", "gave no record"]);

    let case = Case::new();
    case.bills(1..=200).file("saps/a.md", "# x").file("saps/b.md", "# y");
    case.fails(&[], &["saps", "2 of 2 files", "--max-skipped"]);
    case.built("out.db", &["--max-skipped", "100"]);
}

/// Given a previous bundle, when a source lost more than a twentieth of its records or is gone,
/// then the build fails unless told otherwise.
#[test]
fn a_source_that_shrinks_fails_the_build() {
    let case = Case::new();
    let sap = "{\"id\":\"sap:119:hr:1:2025-05-20\",\"date\":\"2025-05-20\"}";
    case.bills(1..=100).file("saps.josh.jsonl", sap);
    let old = case.built("old.db", &[]);
    let old = old.to_str().expect("UTF-8");
    case.bills(1..=95);
    case.built("new.db", &["--previous", old]);
    case.bills(1..=94);
    std::fs::remove_file(case.path("in/saps.josh.jsonl")).expect("it is removed");
    case.fails(
        &["--previous", old],
        &["bills: 94 records, 100 before", "saps: 0 records", "--allow-shrink bills,saps"],
    );
    case.fails(&["--previous", old, "--allow-shrink", "bills"], &["saps: 0 records, 1 before"]);
    case.built("new.db", &["--previous", old, "--allow-shrink", "bills,saps"]);
    case.built("new.db", &["--previous", old, "--allow-shrink", "all"]);
    case.fails(&["--previous", old, "--allow-shrink", "bils"], &["got \"bils\""]);
}

/// Given bills with gaps in their numbers and a record of when they were fetched, when built, then
/// the manifest says so, and a missing record's error, too.
#[test]
fn the_manifest_says_what_is_missing() {
    let case = Case::new();
    let fetched = json!({ "path": "bills/a.xml", "got": { "url": "https://example.gov/a.xml",
        "sha256": "", "bytes": 1, "fetched": "2026-11-01" } });
    let run = json!({ "source": "bills", "fetched": "2026-11-01", "ran": { "since": "2026-10-01",
        "until": "2026-11-01", "failed": 2, "gaps": ["no texts before 2013"] } });
    case.bills([2, 3, 6]).file("fetch-state.jsonl", format!("{fetched}\n{run}\n"));
    let coverage = facts(&case.built("out.db", &[]), "bills").coverage.expect("a coverage");
    assert_eq!(coverage.fetched.as_deref(), Some("2026-11-01"));
    let failed = "2 files or lists failed in the last run";
    assert_eq!(coverage.not_fetched, ["no texts before 2013", failed]);
    let congress = &coverage.congresses[0];
    assert_eq!((congress.congress, congress.records), (119, 3));
    let series = &coverage.series[0];
    assert_eq!((series.prefix.as_str(), series.highest, series.missing), ("hr:119:", 6, 3));
    assert_eq!(series.first_missing, ["hr:119:1", "hr:119:4", "hr:119:5"]);
    let count = get(&case.path("out.db"), "bills", "aggregate=count&congress=119");
    let note = count["meta"]["not_covered"].as_str().expect("a note");
    assert!(note.contains("at least 3 of 6 "), "{note}");
}

fn filing(n: u32, kind: &str, posted: &str, income: Value) -> Value {
    json!({
        "filing_uuid": format!("00000000-0000-0000-0000-{n:012}"), "filing_type": kind,
        "filing_year": 2023, "filing_period": "first_quarter", "income": income,
        "dt_posted": posted, "registrant": { "id": 7, "name": "FIRM" },
        "client": { "id": 8, "name": "TEA CO" }, "lobbying_activities": [],
    })
}

/// Given a report with two amendments, when amounts are summed and counted, then the newest alone
/// counts, which the answer says; a filter brings the others back, and lists show all.
#[test]
fn superseded_reports_are_counted_on_request_only() {
    let case = Case::new();
    let filings = [
        filing(1, "RR", "2023-01-02T09:00:00-05:00", Value::Null),
        filing(2, "Q1", "2023-04-12T01:40:00-04:00", json!("60000.00")),
        // Clocks go back an hour between these: the first is the newer one.
        filing(3, "1A", "2023-11-05T01:10:00-05:00", json!("50000.00")),
        filing(4, "1A", "2023-11-05T01:50:00-04:00", json!("40000.00")),
    ];
    case.file("lda-filings/page.json", json!({ "results": filings }).to_string());
    let bundle = case.built("out.db", &[]);
    let list = get(&bundle, "lda-filings", "fields=superseded,superseded_by");
    let newest = "lda:00000000-0000-0000-0000-000000000003";
    let marks: Vec<(bool, Option<&str>)> = list["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|r| (r["superseded"].as_bool().expect("a flag"), r["superseded_by"].as_str()))
        .collect();
    let mut expected = [(false, None), (true, Some(newest)), (true, Some(newest)), (false, None)];
    expected.sort();
    let mut sorted = marks.clone();
    sorted.sort();
    assert_eq!(sorted, expected);

    let sum = "aggregate=sum&sum_field=amount";
    let answer = get(&bundle, "lda-filings", sum);
    assert_eq!(answer["value"], 50_000);
    let note = answer["meta"]["left_out"].as_str().expect("a note");
    assert!(note.contains("2 filings") && note.contains("superseded=true,false"), "{note}");
    for (filter, value, count) in
        [("superseded=true", 100_000, 2), ("superseded=true,false", 150_000, 4)]
    {
        let answer = get(&bundle, "lda-filings", &format!("{sum}&{filter}"));
        assert_eq!((&answer["value"], answer["meta"].get("left_out")), (&json!(value), None));
        let answer = get(&bundle, "lda-filings", &format!("aggregate=count&{filter}"));
        assert_eq!(answer["value"], count);
    }
    assert_eq!(
        get(&bundle, "lda-filings", "aggregate=count&group_by=client")["buckets"][0]["value"],
        2
    );
}

/// Given records of 2019 and from 2023 on, when numbers are asked for, then years without any data
/// are absent and not 0, and the answer says what is not covered.
#[test]
fn what_is_not_covered_is_absent_and_not_zero() {
    let case = Case::new();
    let record = |day: &str, congress: i64, n: u32| {
        json!({ "id": format!("hr:{congress}:{n}"), "congress": congress, "type": "hr",
                "number": n, "introduced_date": day })
        .to_string()
    };
    let lines = [
        record("2019-05-01", 116, 1),
        record("2019-05-02", 116, 2),
        record("2023-02-01", 118, 1),
        record("2025-01-15", 119, 1),
    ];
    case.file("bills.josh.jsonl", lines.join("\n"));
    let bundle = case.built("out.db", &[]);
    let ask = |query: &str| get(&bundle, "bills", query);

    let years = ask("aggregate=count&bucket_by_time=introduced_date&time_interval=year");
    let shown: Vec<(&str, i64)> = years["buckets"]
        .as_array()
        .expect("buckets")
        .iter()
        .map(|b| (b["label"].as_str().expect("a year"), b["value"].as_i64().expect("a number")))
        .collect();
    // 2024 lies between two days of 2023 and 2025 that are more than a year apart.
    assert_eq!(shown, [("2019", 2), ("2023", 1), ("2025", 1)]);
    let note = years["meta"]["not_covered"].as_str().expect("a note");
    assert!(note.contains("2019-05-03 to 2023-01-31"), "{note}");

    let none = ask("aggregate=count&congress=117");
    assert_eq!(none.get("value"), None);
    assert!(none["meta"]["not_covered"].as_str().expect("a note").contains("117"));
    assert_eq!(ask("aggregate=count&since=2010&until=2012").get("value"), None);
    let part = ask("aggregate=count&since=2010");
    assert_eq!(part["value"], 4);
    assert!(part["meta"]["not_covered"].as_str().expect("a note").contains("2010-01-01 to"));
    let some = ask("aggregate=count&congress=117,119");
    assert_eq!(some["value"], 1);
    let inside = ask("aggregate=count&congress=118,119&type=hr");
    assert_eq!((&inside["value"], inside["meta"].get("not_covered")), (&json!(2), None));
}
