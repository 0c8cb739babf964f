//! The builder over the real public files in `../shared/data` and `../shared/more-data`. Developers
//! and CI have them, users do not: without them the test runner counts every test of this file as
//! ignored.
//!
//! The standard test harness can't ignore a test at run time, so this file brings its own `main`.

mod embedding;
mod golden;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::LazyLock;

use josh::bundle::{Bundle, Interrupt};
use josh::catalog::{Shape, ids};
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;

struct Built {
    bundle: Bundle,
    report: String,
    _folder: tempfile::TempDir,
}

fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let is_there = ["data", "more-data"].iter().all(|name| path.join(name).is_dir());
    is_there.then_some(path)
}

/// Built once for all tests: every file, as a user would.
static BUILT: LazyLock<Built> = LazyLock::new(|| build("data"));
static MORE: LazyLock<Built> = LazyLock::new(|| build("more-data"));

fn build(name: &str) -> Built {
    let from = shared().expect("these tests need ../shared").join(name);
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("federal.db");
    let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
    // Embedding all of it takes half a day on two cores; vectors have tests of their own.
    let output = command
        .args(["build", "--ignore-unknown-folders", "--embed", "none"])
        // These folders hold documentation and other formats, too, and pages without numbers.
        .args(["--max-skipped", "100", "--max-rejected", "12", "--from"])
        .arg(from)
        .arg("--out")
        .arg(&out)
        .arg("--cache")
        .arg(folder.path().join("cache"))
        .output();
    let output = output.expect("the builder runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = String::from_utf8(output.stdout).expect("a report");
    let bundle = Bundle::open(&out).expect("a bundle");
    Built { bundle, report, _folder: folder }
}

type Test = (&'static str, fn(&Built));

const TESTS: &[Test] = &[
    ("shared_data_fills_every_source", shared_data_fills_every_source),
    ("shared_data_links_hold", shared_data_links_hold),
    ("shared_data_holds_the_chain_of_s_5", shared_data_holds_the_chain_of_s_5),
    ("shared_data_traps_are_avoided", shared_data_traps_are_avoided),
    (
        "shared_data_records_are_all_found_under_their_own_ids",
        shared_data_records_are_all_found_under_their_own_ids,
    ),
    ("shared_data_agrees_with_golden_records", shared_data_agrees_with_golden_records),
    ("shared_data_is_built_within_two_gigabytes", shared_data_is_built_within_two_gigabytes),
    (
        "shared_data_laws_amendments_names_and_topics_agree",
        shared_data_laws_amendments_names_and_topics_agree,
    ),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let is_present = shared().is_some();
    if !is_present {
        eprintln!("../shared is missing: the tests that need it are ignored.");
    }
    let trials = TESTS.iter().map(|(name, test)| {
        let run = move || {
            test(&BUILT);
            Ok(())
        };
        Trial::test(*name, run).with_ignored_flag(!is_present)
    });
    let embedding = Trial::test("shared_data_vectors_are_those_of_fastembed", || {
        embedding::shared_data_vectors_are_those_of_fastembed();
        Ok(())
    });
    let trials = trials.chain([embedding.with_ignored_flag(!is_present)]).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

impl Built {
    fn record(&self, id: &str) -> Value {
        let (_, entry) = self.bundle.records().by_id(id).unwrap_or_else(|| panic!("no {id}"));
        serde_json::from_str(entry.data).expect("JSON")
    }

    fn number(&self, sql: &str) -> u64 {
        let sql = format!("SELECT ({sql})::UBIGINT");
        let rows = self.bundle.db.query(&sql, &[], &Interrupt::never(), |row| row.get(0));
        rows.expect("a number")[0]
    }

    /// (in the bundle, all) of a line of the report's table of links.
    fn links(&self, name: &str) -> (u64, u64) {
        let line = self
            .report
            .lines()
            .find(|l| l.split_whitespace().next() == Some(name))
            .unwrap_or_else(|| panic!("no {name}"));
        let numbers: Vec<u64> =
            line.split_whitespace().skip(1).map(|n| n.parse().expect("a number")).collect();
        (numbers[0], numbers[1])
    }
}

fn shared_data_fills_every_source(built: &Built) {
    for (key, least) in [
        ("bills", 16_310),
        ("amendments", 4_186),
        ("public-laws", 91),
        ("committee-reports", 719),
        ("crs-reports", 90),
        ("cbo-estimates", 60),
        ("gao-reports", 31),
        ("federal-register", 3_500),
        ("cfr-sections", 2_500),
        ("congressional-record", 9_500),
        ("presidential-documents", 700),
        ("saps", 5_500),
        ("legislators", 12_700),
        ("committees", 230),
        ("staff-directories", 10_000),
        ("lda-filings", 19_000),
        ("roll-call-votes", 675),
        ("hearings", 1_059),
        ("regulations-dot-gov-dockets", 8_129),
        ("topic-taxonomy", 4_658),
        ("nominations", 20),
    ] {
        let records = built.bundle.manifest.source(key).map_or(0, |s| s.records);
        assert!(records >= least, "{key}: {records} of {least}");
    }
}

fn shared_data_links_hold(built: &Built) {
    for (link, least) in [
        ("bills.sponsor", 16_310),
        ("bills/cosponsors.bioguide", 153_994),
        ("bills/committees.committee", 19_982),
        ("roll-call-votes/positions.bioguide", 223_119),
        ("legislators/votes.vote_id", 223_119),
    ] {
        let (inside, all) = built.links(link);
        assert!(inside == all && all >= least, "{link}: {inside} of {all}, at least {least}");
    }
    let (inside, all) = built.links("congressional-record.bill_ids");
    assert!(inside * 100 >= all * 93, "{inside} of {all}");
}

/// S. 5, the Laken Riley Act: bill, texts, amendments, five votes, P.L. 119-1, floor debate,
/// H.Res. 53, H. Rept. 119-1.
fn shared_data_holds_the_chain_of_s_5(built: &Built) {
    let bill = built.record("s:119:5");
    assert_eq!(
        (&bill["status"], &bill["law_id"], &bill["is_law"]),
        (&"enacted".into(), &"pl:119:1".into(), &true.into())
    );
    assert!(bill["text_versions"].as_array().expect("versions").contains(&"enr".into()));
    assert_eq!(built.record("pl:119:1")["bill_id"], "s:119:5");
    assert!(
        built.number("SELECT count(*)::VARCHAR FROM amendments WHERE bill_id = 's:119:5'") >= 2
    );
    assert!(
        built.number("SELECT count(*)::VARCHAR FROM roll_call_votes WHERE bill_id = 's:119:5'")
            >= 5
    );
    assert!(
        built.number(
            "SELECT count(*)::VARCHAR FROM congressional_record \
             WHERE list_contains(bill_ids, 's:119:5')"
        ) >= 5
    );
    assert_eq!(built.record("hres:119:53")["source"], "bills");
    assert_eq!(built.record("hrpt:119:1")["source"], "committee-reports");
}

fn shared_data_traps_are_avoided(built: &Built) {
    // The newest action is really the newest.
    let stale = "SELECT count(*)::VARCHAR FROM bills b WHERE latest_action_date < \
        (SELECT max(date) FROM bills_actions a WHERE a.parent = b.id)";
    assert_eq!(built.number(stale), 0);
    // Senate positions are mapped from LIS ids, original cosponsors are told from later ones,
    // versions have one spelling.
    // Only the Vice President has no bioguide id.
    assert_eq!(
        built.number("SELECT count(*) FROM roll_call_votes_positions WHERE bioguide IS NULL"),
        built.number("SELECT count(*) FROM roll_call_votes WHERE tie_breaker_vote IS NOT NULL")
    );
    assert!(built.number("SELECT count(*)::VARCHAR FROM bills_cosponsors WHERE original") > 10_000);
    assert!(
        built.number("SELECT count(*)::VARCHAR FROM bills_cosponsors WHERE NOT original") > 10_000
    );
    assert_eq!(
        built.number(
            "SELECT count(*)::VARCHAR FROM bills_body \
             WHERE version <> lower(version) OR version LIKE '% %'"
        ),
        0
    );
    // Five bills are absent; links to them are kept and said to lead outside.
    assert!(built.bundle.records().by_id("hr:119:1").is_none());
    let unmarked = "SELECT count(*)::VARCHAR FROM amendments \
        WHERE bill_id = 'hr:119:1' AND NOT list_contains(outside_bundle, 'hr:119:1')";
    assert_eq!(built.number(unmarked), 0);
    // A body has one current version.
    let several = "SELECT count(*)::VARCHAR FROM (SELECT parent FROM bills_body WHERE current \
        GROUP BY parent HAVING count(DISTINCT version) > 1)";
    assert_eq!(built.number(several), 0);
}

fn shared_data_records_are_all_found_under_their_own_ids(built: &Built) {
    for (source, facts) in built.bundle.sources() {
        let first = built.bundle.first_number(source);
        for number in first..first + facts.records as usize {
            let entry = built.bundle.records().by_number(number).expect("a record");
            assert_eq!(ids::canonical(source.key, entry.id).as_deref(), Some(entry.id));
            assert_eq!(
                built.bundle.records().by_id(entry.id).map(|(n, _)| n),
                Some(number),
                "{}",
                entry.id
            );
            let record: Value = serde_json::from_str(entry.data).expect("JSON");
            assert!(
                record["url"].as_str().is_some_and(|u| u.starts_with("https://")),
                "{}",
                entry.id
            );
            assert!(
                record[source.title].as_str().is_some_and(|t| !t.trim().is_empty()),
                "{}",
                entry.id
            );
        }
        if source.shape != Shape::Registry && source.key != "cbo-estimates" {
            assert!(facts.rows["body"] > 0, "{} have texts", source.key);
        }
    }
}

fn shared_data_agrees_with_golden_records(built: &Built) {
    golden::check(&golden::Bundles { data: &built.bundle.path, more: &MORE.bundle.path });
}

fn shared_data_is_built_within_two_gigabytes(built: &Built) {
    let line = built
        .report
        .lines()
        .find_map(|l| l.strip_prefix("memory"))
        .expect("the report says how much memory");
    let megabytes: f64 =
        line.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number");
    assert!(megabytes < 2000.0, "{megabytes} MB");
}

fn shared_data_laws_amendments_names_and_topics_agree(built: &Built) {
    let count = |from: &str| built.number(&format!("SELECT count(*) FROM {from}"));
    // 91 public laws and 2 private ones, by status, flag and number alike.
    for condition in ["status = 'enacted'", "is_law", "law_number IS NOT NULL"] {
        assert_eq!(
            count(&format!("bills WHERE congress = 119 AND {condition}")),
            93,
            "{condition}"
        );
    }
    assert_eq!(count("bills WHERE congress = 119 AND law_type = 'private' AND law_id IS NULL"), 2);
    // Each sponsor has one name.
    let names = "(SELECT sponsor FROM bills WHERE congress = 119 GROUP BY sponsor \
        HAVING count(DISTINCT sponsor_name) > 1)";
    assert_eq!(count(names), 0);
    let titles = "bills_cosponsors WHERE name LIKE '%Rescom.%' OR name LIKE '%Del.%'";
    assert_eq!(count(titles), 0);
    // 145 amendments of this Congress were voted on; the files of earlier ones have more.
    let voted = "(SELECT DISTINCT parent FROM amendments_actions \
        WHERE vote_id IS NOT NULL AND parent LIKE '%:119:%')";
    assert_eq!(count(voted), 145);
    // The Record of January to March 2025 prints the texts of 1,288 amendments.
    assert_eq!(count("(SELECT DISTINCT parent FROM amendments_body)"), 1_288);
    // A subject that is called like a policy area is not linked to it.
    let crossed = "bills_subjects s JOIN topic_taxonomy t ON t.id = s.topic_id \
        WHERE s.kind <> t.kind OR s.name <> t.name";
    assert_eq!(count(crossed), 0);
}
