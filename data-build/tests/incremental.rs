//! Building again: what did not change is taken from the last build, and the bundle is the one
//! that a build from scratch would give.

use std::path::{Path, PathBuf};
use std::process::Command;

use josh::bundle::read_manifest;
use serde_json::Value;

struct Case {
    folder: tempfile::TempDir,
}

/// A build's id and how many of its files were unchanged.
#[derive(Debug, PartialEq)]
struct Built {
    id: String,
    unchanged: u64,
    report: String,
}

impl Case {
    fn new() -> Case {
        let case = Case { folder: tempfile::tempdir().expect("it is done") };
        std::fs::create_dir_all(case.path("in/bills")).expect("it is done");
        std::fs::create_dir_all(case.path("in/committee-reports")).expect("it is done");
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn bill(&self, number: u32, title: &str) {
        let text = format!(
            "<billStatus><bill><type>HR</type><number>{number}</number>\
             <congress>119</congress><title>{title}</title>\
             <introducedDate>2025-01-03</introducedDate><actions><item>\
             <actionDate>2025-02-01</actionDate><text>Referred.</text>\
             </item></actions><laws><item>\
             <type>Public Law</type><number>119-{number}</number></item></laws>\
             </bill></billStatus>"
        );
        std::fs::write(self.path(&format!("in/bills/{number}.xml")), text).expect("it is done");
    }

    fn build(&self, out: &str, cache: &str) -> Built {
        let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
        command
            .args(["build", "--embed", "none", "--max-rejected", "100", "--from"])
            .arg(self.path("in"));
        let output = command
            .arg("--out")
            .arg(self.path(out))
            .arg("--cache")
            .arg(self.path(cache))
            .output()
            .expect("it is done");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report = String::from_utf8(output.stdout).expect("it is done");
        let said = report.lines().find(|l| l.starts_with("time")).expect("a time");
        let unchanged = said
            .split_once('(')
            .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok())
            .expect("a number");
        // What a build counts and lists is the same, whether it read or took again.
        let report = report.split("bundle ").next().unwrap_or_default().to_string();
        Built { id: read_manifest(&self.path(out)).expect("a bundle").1.id, unchanged, report }
    }

    fn entries(&self, cache: &str) -> Vec<PathBuf> {
        let listed = |path: &Path| {
            std::fs::read_dir(path)
                .into_iter()
                .flatten()
                .flatten()
                .map(|e| e.path())
                .collect::<Vec<_>>()
        };
        listed(&self.path(cache).join("records")).iter().flat_map(|shard| listed(shard)).collect()
    }
}

/// Given a build, when some inputs change, come and go, then only these are read and the bundle is
/// that of a fresh build.
#[test]
fn a_rebuild_reads_what_changed_and_gives_the_same_bundle() {
    let case = Case::new();
    (1..=20).for_each(|n| case.bill(n, "Of old"));
    let broken = case.path("in/bills/broken.xml");
    std::fs::write(&broken, "<billStatus>").expect("it is done");
    std::fs::write(case.path("in/bills/notes.txt"), "nothing").expect("it is done");
    let text = "{\"id\":\"hr:119:90\",\"introduced_date\":\"2025-01-03\",\
                \"body\":[{\"version\":\"ih\",\"order\":\"1\",\
                \"section\":\"1\",\"text\":\"As in H.R. 3 and Public Law 119-2, \
                section 5 of the Act is amended.\"}]}\n";
    std::fs::write(case.path("in/bills.josh.jsonl"), text).expect("it is done");

    let first = case.build("first.db", "cache");
    assert_eq!(first.unchanged, 0);
    let again = case.build("again.db", "cache");
    assert_eq!((&again.id, again.unchanged, &again.report), (&first.id, 23, &first.report));

    case.bill(7, "Of late");
    case.bill(0, "Never read");
    case.bill(21, "New");
    std::fs::remove_file(case.path("in/bills/4.xml")).expect("it is done");
    let rebuilt = case.build("rebuilt.db", "cache");
    let fresh = case.build("fresh.db", "another-cache");
    assert_eq!((&rebuilt.id, &rebuilt.report), (&fresh.id, &fresh.report));
    assert_eq!((rebuilt.unchanged, fresh.unchanged), (21, 0));
    assert_ne!(rebuilt.id, first.id);

    // The same bytes under another name are another file: the name can decide.
    std::fs::rename(case.path("in/bills/1.xml"), case.path("in/bills/renamed.xml"))
        .expect("it is done");
    assert_eq!(case.build("renamed.db", "cache").unchanged, rebuilt.unchanged + 3 - 1);

    diff_says_what_changed(&case);
}

/// Given two editions, when compared as JSON, then every id that came, went or changed is there by
/// source.
fn diff_says_what_changed(case: &Case) {
    let josh = Path::new(env!("CARGO_BIN_EXE_josh-data-build")).with_file_name("josh");
    let diff = |old: &str, new: &str| {
        let output = Command::new(&josh)
            .args(["bundle", "diff", "--json"])
            .arg(case.path(old))
            .arg(case.path(new))
            .output();
        let output = output.expect("josh stands beside the builder: build with --workspace");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let bills = &diff("first.db", "rebuilt.db")["sources"]["bills"];
    assert_eq!(
        (&bills["added"], &bills["removed"]),
        (&serde_json::json!(["hr:119:21"]), &serde_json::json!(["hr:119:4"]))
    );
    assert!(
        bills["changed"].as_array().is_some_and(|ids| ids.contains(&"hr:119:7".into())),
        "{bills}"
    );
    let same = diff("first.db", "again.db");
    assert_eq!((&same["same"], &same["sources"]), (&true.into(), &serde_json::json!({})));
    assert_eq!(same["old"]["id"], same["new"]["id"]);

    // A text is part of the record, even where no field tells.
    let text = std::fs::read_to_string(case.path("in/bills.josh.jsonl")).expect("it is done");
    std::fs::write(case.path("in/bills.josh.jsonl"), text.replace("section 5", "section 6"))
        .expect("it is done");
    case.build("retold.db", "cache");
    assert_eq!(
        diff("renamed.db", "retold.db")["sources"]["bills"]["changed"],
        serde_json::json!(["hr:119:90"])
    );
}

/// Given a cache with damaged entries, when built, then they are not believed.
#[test]
fn a_damaged_entry_is_read_anew() {
    let case = Case::new();
    (1..=6).for_each(|n| case.bill(n, "Title"));
    let first = case.build("first.db", "cache");
    let entries = case.entries("cache");
    assert_eq!(entries.len(), 6);
    for (n, entry) in entries.iter().enumerate() {
        let mut bytes = std::fs::read(entry).expect("it is done");
        match n {
            0 => bytes.clear(),
            1 => bytes.truncate(20),
            2 => bytes.truncate(bytes.len() - 1),
            3 => bytes[10] ^= 1,
            4 => bytes.extend_from_slice(b"more"),
            _ => continue,
        }
        std::fs::write(entry, bytes).expect("it is done");
    }
    let again = case.build("again.db", "cache");
    assert_eq!((&again.id, &again.report, again.unchanged), (&first.id, &first.report, 1));
    assert_eq!(case.build("third.db", "cache").unchanged, 6);
}

/// Given a cache folder that can't be made, when built, then the build says so and goes on.
#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let case = Case::new();
    case.bill(1, "Title");
    std::fs::write(case.path("cache"), "a file").expect("it is done");
    assert_eq!(case.build("out.db", "cache").unchanged, 0);
}

/// Given pages whose numbers stand in an index beside them, when only the index changes, then the
/// pages are read again.
#[test]
fn a_reader_that_looks_around_is_not_fooled() {
    let case = Case::new();
    case.bill(1, "Title");
    std::fs::create_dir_all(case.path("in/presidential-documents")).expect("it is done");
    let page = "<!-- source: https://www.whitehouse.gov/x -->\n\
                <!-- date_published: 2025-02-03 -->\n\n\
                # Ending A Thing\n\n\
                By the authority vested in me, it is hereby ordered: hereby order.";
    std::fs::write(case.path("in/presidential-documents/page.md"), page).expect("it is done");
    let index = |number: u32| {
        let text = format!(
            "[{{\"executive_order_number\":\"{number}\",\"title\":\"Ending A Thing\",\
             \"signing_date\":\"2025-02-03\"}}]"
        );
        std::fs::write(case.path("in/presidential-documents/index.json"), text)
            .expect("it is done");
    };
    index(14_200);
    case.build("first.db", "cache");
    index(14_201);
    assert_eq!(case.build("second.db", "cache").id, case.build("fresh.db", "none").id);
}
