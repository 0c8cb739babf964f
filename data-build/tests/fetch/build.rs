//! From the publishers to a bundle: what is fetched can be built.

use std::path::Path;
use std::process::Command;

use josh::bundle::{Bundle, read_manifest};

use super::publishers::publishers;
use super::support::*;

/// Given all publishers with a few documents in their own forms, when they are fetched and built,
/// then the bundle holds every source; and when they are fetched again, nothing is new and the
/// bundle is the same.
#[test]
fn what_is_fetched_can_be_built() {
    let server = Server::start(publishers());
    let folder = Folder::new();
    let fetch = || {
        let mut command = command(&server, &folder, &[]);
        let keys = command.env("CONGRESS_API_KEY", "k").env("REGULATIONS_API_KEY", "k");
        ran(&keys.output().expect("the fetcher runs"))
    };
    let run = fetch();
    assert!(run.success, "{}", run.text);
    assert_eq!(counts(&run, "bills"), [2, 0, 0, 0], "{}", run.text);
    assert_eq!(counts(&run, "roll-call-votes"), [2, 0, 0, 0]);
    assert!(
        folder.read("nominations/119/nomination-119-7.json").contains("Committee on the Judiciary")
    );
    assert!(folder.read("amendments/119/amendment-119-samdt-8.json").contains("by Voice Vote"));
    assert!(
        folder
            .read("regulations-dot-gov-dockets/documents/2025/2025-01-06-p2.json")
            .contains("TEA-2025-0001")
    );
    assert!(folder.read("presidential-documents/executive-orders/2025-p1.json").starts_with("[{"));
    let first = build(&folder, "one.db");
    let held: Vec<&str> =
        first.sources.iter().filter(|s| s.records > 0).map(|s| s.key.as_str()).collect();
    assert_eq!(held, josh::catalog::SOURCES.iter().map(|s| s.key).collect::<Vec<_>>());
    let records = |key: &str| first.sources.iter().find(|s| s.key == key).map_or(0, |s| s.records);
    assert_eq!((records("bills"), records("cbo-estimates"), records("legislators")), (1, 1, 2));
    assert_eq!(
        (records("roll-call-votes"), records("federal-register"), records("hearings")),
        (2, 1, 2)
    );

    assert_eq!((records("congressional-record"), records("staff-directories")), (1, 2));
    assert_merged(&folder.0.path().join("one.db"));

    let run = fetch();
    assert!(run.success, "{}", run.text);
    assert_eq!(counts(&run, "bills"), [0, 0, 2, 0]);
    assert_eq!(counts(&run, "nominations"), [0, 0, 1, 0]);
    assert_eq!(first.id, build(&folder, "two.db").id);
}

/// What several files say of one record is in the bundle together.
fn assert_merged(path: &Path) {
    let bundle = Bundle::open(path).expect("a bundle");
    let record = |id: &str| -> serde_json::Value {
        let (_, entry) = bundle.records().by_id(id).unwrap_or_else(|| panic!("no {id}"));
        serde_json::from_str(entry.data).expect("JSON")
    };
    let text = |table: &str, id: &str| {
        let sql = format!("SELECT text FROM {table} WHERE parent = '{id}' ORDER BY ALL");
        let interrupt = josh::bundle::Interrupt::never();
        let texts = bundle.db.query(&sql, &[], &interrupt, |row| row.get::<String>(0));
        texts.expect("texts").join(" ")
    };
    // Two pages of one series.
    let debt = record("ust:debt_to_penny:tot_pub_debt_out_amt");
    assert_eq!(
        (&debt["observation_count"], &debt["last_period"]),
        (&2.into(), &"2005-12-07".into())
    );
    let granule = record("crec:2025-01-03:H5-2");
    assert_eq!(
        (&granule["title"], &granule["volume"]),
        (&"ON BOATS".into(), &171.into()),
        "MODS, and the page's head"
    );
    assert_eq!(
        (&granule["speakers"][0], &granule["bill_ids"][0]),
        (&"D000001".into(), &"hr:119:12".into())
    );
    assert_eq!(
        text("congressional_record_body", "crec:2025-01-03:H5-2").trim(),
        "Ms. DOE. Boats float."
    );
    assert_eq!(text("crs_reports_body", "R48000"), "Boats float. The Boats Act would float more.");
    assert_eq!(record("gao:GAO-25-107743")["published_date"], "2025-01-23");
    // Whose office it is comes from the summary of the same quarter.
    let clerk = record("staff:2025q1-house-hon-ada-doe-al-roe-clerk");
    assert_eq!((&clerk["name"], &clerk["bioguide"]), (&"Al Roe".into(), &"D000001".into()));
}

/// Builds as people do: above the folder that `fetch` filled, without naming it.
fn build(folder: &Folder, name: &str) -> josh::bundle::Manifest {
    let here = folder.0.path();
    let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
    let output = command
        .current_dir(here)
        .env("XDG_CACHE_HOME", here.join("cache"))
        .args(["build", "--embed", "none", "--out", name])
        .output()
        .expect("it runs");
    let run = ran(&output);
    assert!(run.success, "{}", run.text);
    read_manifest(&here.join(name)).expect("a bundle").1
}
