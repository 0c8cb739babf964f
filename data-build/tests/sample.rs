//! The builder, over the sample's own text files: reproducible, honest about what it can't read.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use josh::bundle::{Bundle, read_manifest};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn build(from: &Path, out: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
    command
        .args(["build", "--from"])
        .arg(from)
        .arg("--out")
        .arg(out)
        // A folder of its own, so that vectors are made and not found; hidden, as some tests
        // build in the input folder.
        .arg("--cache")
        .arg(out.with_file_name(format!(".{}", out.file_name().unwrap_or_default().display())))
        .args(more)
        .output()
        .expect("the builder runs")
}

fn id(bundle: &Path) -> String {
    read_manifest(bundle).expect("a bundle").1.id
}

#[test]
fn the_committed_sample_is_what_its_text_files_give() {
    let folder = tempfile::tempdir().unwrap();
    let built = folder.path().join("built.db");
    let output = build(&root().join("assets/sample"), &built, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = String::from_utf8(output.stdout).unwrap();
    for line in ["bills", "links", "id ", "size", "time", "memory"] {
        assert!(report.lines().any(|l| l.starts_with(line)), "the report lacks {line}:\n{report}");
    }
    let committed = folder.path().join("committed.db");
    let packed = std::fs::File::open(root().join("assets/sample.db.zst")).unwrap();
    zstd::stream::copy_decode(packed, std::fs::File::create(&committed).unwrap()).unwrap();
    assert_eq!(
        id(&built),
        id(&committed),
        "rebuild assets/sample.db.zst: ARCHITECTURE.md says how"
    );
}

#[test]
fn the_same_files_give_the_same_id_and_other_files_another() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    std::fs::create_dir(&input).unwrap();
    let bill = |title: &str| {
        let line = format!(
            "{{\"id\":\"hr:119:1\",\"title\":\"{title}\",\"congress\":119,\
             \"introduced_date\":\"2025-05-20\"}}\n"
        );
        std::fs::write(input.join("bills.josh.jsonl"), line).unwrap();
    };
    let built = |name: &str| {
        let out = folder.path().join(name);
        let output = build(&input, &out, &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        id(&out)
    };
    bill("One");
    let (first, again) = (built("a.db"), built("b.db"));
    bill("Two");
    let other = built("c.db");
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn a_record_that_cannot_be_read_is_reported_with_its_file_and_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    std::fs::create_dir(&input).unwrap();
    let good: String = (1..=40)
        .map(|n| format!("{{\"id\":\"hr:119:{n}\",\"introduced_date\":\"2025-01-03\"}}\n"))
        .collect();
    std::fs::write(input.join("bills.josh.jsonl"), format!("{good}not json\n")).unwrap();
    let out = folder.path().join("out.db");
    let output = build(&input, &out, &[]);
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && report.contains("bills.josh.jsonl (line 41)"), "{report}");

    let output = build(&input, &folder.path().join("strict.db"), &["--max-rejected", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--max-rejected"));
    assert!(!folder.path().join("strict.db").exists(), "no bundle is left behind");
}

#[test]
fn an_input_without_records_is_an_error_that_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let output = build(folder.path(), &folder.path().join("out.db"), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("federal-register"));
}

/// Given a bundle with bills only, when asked for anything else, then it is not offered.
#[test]
fn a_source_that_a_bundle_does_not_hold_is_not_offered() {
    use josh::api::error::Code;
    use josh::api::{Arguments, Context};
    use josh::toolsets::Toolsets;
    use std::sync::Arc;
    let folder = tempfile::tempdir().unwrap();
    let line = "{\"id\":\"hr:119:1\",\"introduced_date\":\"2025-05-20\",\"sponsor\":\"A000375\"}\n";
    std::fs::write(folder.path().join("bills.josh.jsonl"), line).unwrap();
    let out = folder.path().join("out.db");
    assert!(build(folder.path(), &out, &[]).status.success());
    let context = Arc::new(Context::unbounded(Arc::new(Bundle::open(&out).unwrap())));
    let bundle = &context.bundle;
    let toolsets = Toolsets::default();
    let run = |name: &str, query: &str| {
        let outcome = toolsets.run(name, Arguments::from_query(query).unwrap(), &context)?;
        outcome.output.to_value()
    };
    let sources = run("list_sources", "").unwrap();
    let keys = sources["data"].as_array().unwrap().iter().map(|s| s["key"].clone());
    assert_eq!(keys.collect::<Vec<_>>(), ["bills"]);
    let code = |name: &str, query: &str| run(name, query).unwrap_err().code;
    assert_eq!(code("list_records", "{source}=legislators"), Code::UnknownSource);
    let sub = "list_sub_resource";
    assert_eq!(code(sub, "{source}=bills&{id}=hr:119:1&{sub}=votes"), Code::RouteNotFound);
    assert!(run(sub, "{source}=bills&{id}=hr:119:1&{sub}=actions").is_ok());
    let api = josh::http::openapi_document(bundle, &toolsets).to_string();
    assert!(
        api.contains("/v1/bills/{id}/actions")
            && !api.contains("/v1/legislators")
            && !api.contains("/votes")
    );
    let (_, entry) = bundle.records().by_id("hr:119:1").unwrap();
    assert!(entry.data.contains("\"outside_bundle\":[\"A000375\"]"), "{}", entry.data);
}

#[test]
fn garbage_in_every_folder_is_reported_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    for source in josh::catalog::SOURCES {
        let below: PathBuf = input.join(source.key);
        std::fs::create_dir_all(&below).unwrap();
        for (name, bytes) in [
            ("a.json", &b"{\"bill\": [1, {\"x\": null}]}"[..]),
            ("b.jsonl", b"{}\n[]\n{\"id\": 5}\n\xff\xfe\n"),
            ("c.xml", b"<billStatus><bill><number>x</number></bill>"),
            (
                "d.xml",
                b"<?xml version=\"1.0\"?><FEDREG><RULE><FRDOC>[FR Doc. x]</FRDOC></RULE></FEDREG>",
            ),
            ("e.csv", b"a,b\n\"unclosed,1\n"),
            ("f.md", b"---\ntitle: [\n---\n# x\n"),
            ("g.yaml", b"- a: &x\n  b: *y\n"),
            ("h.jsonl.zst", b"\x28\xb5\x2f\xfd broken"),
            ("i.txt", b"\x00\x01\x02"),
        ] {
            std::fs::write(below.join(name), bytes).unwrap();
        }
    }
    std::fs::write(
        input.join("bills.josh.jsonl"),
        "{\"id\":\"hr:119:1\",\"introduced_date\":\"2025-01-03\"}\n",
    )
    .unwrap();
    let out = folder.path().join("out.db");
    let output = build(&input, &out, &["--max-rejected", "100"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // Every source whose files gave too little is named, and no bundle pretends to hold it.
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("panicked") && !out.exists(), "{said}");
    for source in josh::catalog::SOURCES.iter().filter(|source| source.key != "bills") {
        assert!(said.contains(&format!("  {}: ", source.key)), "no {} in {said}", source.key);
    }
}

/// Given official texts, then nothing speaks of summaries; given one text that is a summary beside
/// them, then its record, its sections, its citation and the manifest say so, and only its own.
#[test]
fn only_summaries_are_marked_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    std::fs::create_dir_all(input.join("saps")).unwrap();
    let text = "January 22, 2025\n(House)\nSTATEMENT OF ADMINISTRATION POLICY\n\
                S. 5 - Boat Act\n(Sen. Doe, R-ME)\nThe Administration supports S. 5.\n";
    std::fs::write(input.join("saps/2025-01-22_s5.txt"), text).unwrap();
    let built = |name: &str| {
        let out = folder.path().join(name);
        let output = build(&input, &out, &["--embed", "none"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Bundle::open(&out).unwrap()
    };
    let read = |bundle: &Bundle, id: &str| {
        let (_, entry) = bundle.records().by_id(id).unwrap();
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let sql = format!("SELECT text_status FROM saps_body WHERE parent = '{id}'");
        let never = josh::bundle::Interrupt::never();
        let rows = bundle.db.query(&sql, &[], &never, |row| row.get::<Option<String>>(0)).unwrap();
        (json(entry.data)["text_status"].clone(), json(entry.citation)["note"].clone(), rows)
    };
    let (official, null) = ("sap:119:s:5:2025-01-22", serde_json::Value::Null);
    let bundle = built("official.db");
    assert_eq!((&bundle.manifest.notice, bundle.manifest.sources[0].summaries), (&None, 0));
    assert_eq!(read(&bundle, official), (null.clone(), null.clone(), vec![None]));

    let line = "{\"id\":\"sap:119:hr:1:2025-05-20\",\"date\":\"2025-05-20\",\"body\":\
                [{\"version\":\"summary\",\"order\":\"1\",\"text\":\"It is welcome.\"}]}\n";
    std::fs::write(input.join("saps.josh.jsonl"), line).unwrap();
    let bundle = built("mixed.db");
    assert_eq!(bundle.manifest.sources[0].summaries, 1);
    assert!(bundle.manifest.notice.as_ref().unwrap().starts_with("The text of 1 record"));
    assert_eq!(read(&bundle, official), (null.clone(), null, vec![None]));
    let (status, note, rows) = read(&bundle, "sap:119:hr:1:2025-05-20");
    assert_eq!((status, rows), ("summary".into(), vec![Some("summary".to_string())]));
    assert!(note.as_str().unwrap().contains("not the official wording"));
}
