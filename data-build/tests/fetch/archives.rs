//! Folders of bulk data: one archive first, then only what changed.

use std::process::Command;

use super::documents::BILL;
use super::support::*;

const LIST: &str = "/www.govinfo.gov/bulkdata/json/BILLSTATUS/119";
const TEXTS: &str = "/www.govinfo.gov/bulkdata/json/BILLS/119";
const FOLDER: &str = "bulkdata/BILLSTATUS/119/hr";
const ZIP: &str = "/www.govinfo.gov/bulkdata/BILLSTATUS/119/hr/BILLSTATUS-119-hr.zip";
const STORED_ZIP: &str = "bills/status/119/BILLSTATUS-119-hr.zip";
const BILLS: [&str; 2] = ["--sources", "bills"];

fn name(number: usize) -> String {
    format!("BILLSTATUS-119hr{number}.xml")
}

fn path(number: usize) -> String {
    format!("/www.govinfo.gov/{FOLDER}/{}", name(number))
}

/// A bill that says in its title which version of it this is.
fn bill(number: usize, version: &str) -> String {
    BILL.replace("<number>12<", &format!("<number>{number}<"))
        .replace("Boats Act", &format!("Boats Act {version}"))
}

/// The publisher: an archive, and bills as (number, time of change, version).
struct Folder119<'a> {
    archive: (&'a str, Reply),
    bills: Vec<(usize, &'a str, &'a str)>,
}

impl Folder119<'_> {
    fn routes(self) -> Vec<(&'static str, Route)> {
        let mut files: Vec<(String, &str)> = vec![(
            format!("https://www.govinfo.gov/{FOLDER}/BILLSTATUS-119-hr.zip"),
            self.archive.0,
        )];
        let mut routes: Vec<(&'static str, Route)> = vec![
            (LIST, always(ok(r#"{"files": [{"name": "hr", "folder": true}]}"#))),
            (TEXTS, always(ok(r#"{"files": []}"#))),
            (ZIP, always(self.archive.1)),
        ];
        for (number, changed, version) in self.bills {
            let address = format!("https://www.govinfo.gov/{FOLDER}/{}", name(number));
            files.push((address, changed));
            let reply = always(ok(bill(number, version)));
            routes.push((&*path(number).leak(), reply));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(a, t)| (a.as_str(), *t)).collect();
        routes.push(("/www.govinfo.gov/bulkdata/json/BILLSTATUS/119/hr", always(bulk(&files))));
        routes
    }
}

fn archive_of(numbers: std::ops::RangeInclusive<usize>, version: &str) -> Reply {
    let bills: Vec<(String, String)> =
        numbers.map(|number| (name(number), bill(number, version))).collect();
    let files: Vec<(&str, &str)> = bills.iter().map(|(n, b)| (n.as_str(), b.as_str())).collect();
    ok(zip_of(&files))
}

/// The paths of files, without those of lists, that were asked for.
fn asked(server: &Server) -> Vec<String> {
    let mut asked = server.targets();
    asked.retain(|target| !target.contains("/json/"));
    asked.sort();
    asked
}

/// The titles of bills that a build would read, by number.
fn titles(folder: &Folder) -> Vec<String> {
    let out = folder.0.path().join("records.jsonl");
    let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
    command.arg("read").arg("--from").arg(folder.data()).arg("--out").arg(&out);
    let run = ran(&command.output().expect("it runs"));
    assert!(run.success, "{}", run.text);
    let text = std::fs::read_to_string(&out).expect("records");
    let records = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let mut titles: Vec<(i64, String)> = records
        .filter(|record: &serde_json::Value| record["source"] == "bills")
        .map(|record| {
            let title = record["title"].as_str().unwrap_or_default().to_string();
            (record["number"].as_i64().unwrap_or_default(), title)
        })
        .collect();
    titles.sort();
    titles.into_iter().map(|(_, title)| title).collect()
}

const OLD: &str = "01-Feb-2025 10:00";
const MADE: &str = "02-Feb-2025 10:00";

/// Given a folder with an archive, when it is fetched, then the archive comes in one request; when
/// a few files changed or are new, then only these are asked for, and a build reads them instead of
/// the archive's; when many changed, then the new archive replaces the old one and the files.
#[test]
fn an_archive_comes_first_and_then_only_what_changed() {
    let all = |changed: &'static str, version: &'static str| {
        (1..=20).map(|number| (number, changed, version)).collect::<Vec<_>>()
    };
    let old = Folder119 { archive: (MADE, archive_of(1..=20, "one")), bills: all(OLD, "one") };
    let server = Server::start(old.routes());
    let folder = Folder::new();
    let run = fetch(&server, &folder, &BILLS);
    assert!(run.success, "{}", run.text);
    assert_eq!((asked(&server), folder.files()), (vec![ZIP.to_string()], vec![STORED_ZIP.into()]));

    let mut bills = all(OLD, "one");
    bills[4] = (5, "03-Feb-2025 08:00", "two");
    // In the minute in which the archive was made: it may be in it or not.
    bills.push((21, MADE, "one"));
    let daily =
        |bills| Folder119 { archive: ("03-Feb-2025 12:00", archive_of(1..=21, "two")), bills };
    server.serve(daily(bills.clone()).routes());
    let run = fetch(&server, &folder, &BILLS);
    assert!(run.success, "{}", run.text);
    assert_eq!(asked(&server), [path(21), path(5)]);
    assert_eq!(counts(&run, "bills"), [2, 0, 19, 0]);
    let mut expected = vec!["Boats Act one"; 21];
    expected[4] = "Boats Act two";
    assert_eq!(titles(&folder), expected, "each bill once, the changed one in its new version");

    server.serve(daily(bills).routes());
    assert_eq!(counts(&fetch(&server, &folder, &BILLS), "bills"), [0, 0, 21, 0]);
    assert!(asked(&server).is_empty(), "{:?}", asked(&server));

    let mut bills: Vec<_> = (1..=22).map(|n| (n, "04-Mar-2025 09:00", "three")).collect();
    bills[21] = (22, "05-Mar-2025 20:00", "three");
    let archive = ("05-Mar-2025 12:00", archive_of(1..=21, "three"));
    server.serve(Folder119 { archive, bills }.routes());
    let run = fetch(&server, &folder, &BILLS);
    assert!(run.success, "{}", run.text);
    assert_eq!(asked(&server), [ZIP.to_string(), path(22)]);
    let stored = [STORED_ZIP.to_string(), format!("bills/status/119/{}", name(22))];
    assert_eq!(folder.files(), stored, "what the new archive has is not kept twice");
    assert_eq!(titles(&folder), vec!["Boats Act three"; 22]);
    assert!(fetch(&server, &folder, &["--verify"]).success);
}

/// Given an archive that is missing, a page or damaged, when the folder is fetched, then that is a
/// failure, nothing of it is kept, and the files come one by one.
#[test]
fn without_its_archive_a_folder_comes_file_by_file() {
    let away = status(302).with("Location", "/www.govinfo.gov/error");
    let archive = archive_of(1..=3, "one").body;
    let damaged = ok(&archive[..archive.len() - 30]);
    for (reply, said) in [
        (away, "redirected to another page"),
        (page("Page Not Found"), "received a web page instead of zip"),
        (damaged, "not a readable ZIP archive"),
    ] {
        let bills = (1..=3).map(|number| (number, OLD, "one")).collect();
        let mut routes = Folder119 { archive: (MADE, reply), bills }.routes();
        routes.push(("/www.govinfo.gov/error", always(page("Page Not Found"))));
        let server = Server::start(routes);
        let folder = Folder::new();
        let run = fetch(&server, &folder, &BILLS);
        assert!(!run.success && run.text.contains(said), "{said}: {}", run.text);
        assert_eq!(counts(&run, "bills"), [3, 0, 0, 1], "{said}");
        let stored: Vec<String> =
            (1..=3).map(|n| format!("bills/status/119/{}", name(n))).collect();
        assert_eq!(folder.files(), stored, "{said}");
    }
}

/// Given a server that sends an older archive than its list states, when the folder is fetched,
/// then what changed since is asked for.
#[test]
fn an_archive_counts_from_when_it_was_made() {
    let reply = archive_of(1..=20, "one").with("Last-Modified", "Sat, 01 Feb 2025 12:00:00 GMT");
    let mut bills: Vec<_> = (1..=20).map(|number| (number, OLD, "one")).collect();
    bills[6] = (7, "01-Feb-2025 18:00", "two");
    let server = Server::start(Folder119 { archive: (MADE, reply), bills }.routes());
    let folder = Folder::new();
    assert!(fetch(&server, &folder, &BILLS).success);
    assert_eq!(asked(&server), [ZIP.to_string(), path(7)]);
}
