//! Which files are fetched, from which hosts, with which keys, and where they are written.

use std::time::Duration;

use super::support::*;

/// Given an empty folder, when a run is dry, then it says what it would fetch and makes not even
/// the folder.
#[test]
fn a_dry_run_writes_nothing() {
    let address = law_address("03");
    let server = Server::start(vec![(LAW_LIST, always(bulk(&[(&address, "03-Jan-2025 01:00")])))]);
    let folder = Folder::new();
    let run =
        fetch(&server, &folder, &["--sources", "public-laws,gao-reports,lda-filings", "--dry-run"]);
    assert!(run.success, "{}", run.text);
    assert!(
        run.text.contains(&format!("public-laws/119/PLAW-119publ03.xml {address}")),
        "{}",
        run.text
    );
    assert!(
        run.text.contains("lda-filings/2025/2025-01-03-p1.json https://lda.gov/api/v1/filings/"),
        "{}",
        run.text
    );
    assert!(!folder.data().exists());
    assert_eq!(server.targets(), [LAW_LIST], "only lists are asked for");
}

/// Given a folder that was fetched last week, when the list has one new file and one that changed,
/// then these two are fetched and no other is asked for.
#[test]
fn the_next_week_fetches_only_what_is_new() {
    let days = ["02", "03", "06"].map(law_address);
    let paths = ["02", "03", "06"].map(law_path);
    let serve = |list: Reply| -> Vec<(&str, Route)> {
        let mut routes = vec![(LAW_LIST, always(list))];
        routes.extend(paths.iter().map(|p| (p.as_str(), always(ok(format!("<pLaw>{p}</pLaw>"))))));
        routes
    };
    let server = Server::start(serve(bulk(&[
        (&days[0], "02-Jan-2025 01:00"),
        (&days[1], "03-Jan-2025 01:00"),
    ])));
    let folder = Folder::new();
    assert_eq!(counts(&fetch(&server, &folder, &LAWS), "public-laws"), [2, 0, 0, 0]);
    let newer = [
        (&*days[0], "02-Jan-2025 01:00"),
        (&*days[1], "09-Jan-2025 01:00"),
        (&*days[2], "06-Jan-2025 01:00"),
    ];
    server.serve(serve(bulk(&newer)));
    let run = fetch(&server, &folder, &LAWS);
    assert!(run.success, "{}", run.text);
    let mut asked = server.targets();
    asked.sort();
    assert_eq!(asked, [paths[1].as_str(), paths[2].as_str(), LAW_LIST]);
    assert_eq!(folder.files().len(), 3);
}

/// Given a cache that denies that a file changed, when the list says that it did, then the file is
/// asked for without a condition, so that the old one does not pass for the new one.
#[test]
fn the_list_is_believed_that_a_file_changed() {
    let (address, path) = (law_address("1"), law_path("1"));
    let serve = |changed: &str, text: &'static str| -> Vec<(&str, Route)> {
        let stale: Route = Box::new(move |request, _| match request.header("if-none-match") {
            "" => ok(text).with("ETag", "\"one\""),
            _ => status(304),
        });
        vec![(LAW_LIST, always(bulk(&[(&address, changed)]))), (&path, stale)]
    };
    let server = Server::start(serve("02-Jan-2025 01:00", "<pLaw>old</pLaw>"));
    let folder = Folder::new();
    fetch(&server, &folder, &LAWS);
    server.serve(serve("09-Jan-2025 01:00", "<pLaw>new</pLaw>"));
    assert_eq!(counts(&fetch(&server, &folder, &LAWS), "public-laws"), [0, 1, 0, 0]);
    assert_eq!(folder.read("public-laws/119/PLAW-119publ1.xml"), "<pLaw>new</pLaw>");
}

/// Given a file that was deleted or cut short by hand, when the next run comes, then it is fetched
/// again.
#[test]
fn what_went_missing_is_fetched_again() {
    let address = law_address("03");
    let path = law_path("03");
    let server = Server::start(vec![
        (LAW_LIST, always(bulk(&[(&address, "03-Jan-2025 01:00")]))),
        (&path, always(ok("<pLaw>whole</pLaw>"))),
    ]);
    let folder = Folder::new();
    fetch(&server, &folder, &LAWS);
    let file = "public-laws/119/PLAW-119publ03.xml";
    std::fs::write(folder.data().join(file), "<pLaw>").expect("damaged");
    let run = fetch(&server, &folder, &["--verify"]);
    assert!(
        !run.success && run.text.contains("PLAW-119publ03.xml: changed since it was fetched"),
        "{}",
        run.text
    );
    assert!(fetch(&server, &folder, &LAWS).success);
    assert_eq!(folder.read(file), "<pLaw>whole</pLaw>");
    assert!(fetch(&server, &folder, &["--verify"]).success);
}

/// Given no key for an API, when its sources are fetched, then they are skipped, the variable and
/// the place to get a key are said, nothing is asked and the run is content.
#[test]
fn a_missing_key_is_said() {
    let server = Server::start(vec![]);
    let run = fetch(
        &server,
        &Folder::new(),
        &["--sources", "amendments,nominations,regulations-dot-gov-dockets"],
    );
    assert!(run.success, "{}", run.text);
    let line = "skipped amendments, nominations: set CONGRESS_API_KEY to a key (free at \
                https://api.congress.gov/sign-up/)";
    assert!(run.text.contains(line), "{}", run.text);
    assert!(
        run.text.contains("skipped regulations-dot-gov-dockets: set REGULATIONS_API_KEY"),
        "{}",
        run.text
    );
    assert!(server.seen().is_empty());
}

/// Given a key, when an API is asked, then the key goes in a header to this host only, and no
/// address, file or output holds it; a redirect to elsewhere is not followed with it.
#[test]
fn a_key_goes_to_its_host_only() {
    let list = r#"{"nominations": [
        {"url": "https://api.congress.gov/v3/nomination/119/7?format=json",
            "updateDate": "2025-01-09"},
        {"url": "https://evil.example/v3/nomination/119/8", "updateDate": "2025-01-09"}]}"#;
    let elsewhere = Server::start(vec![]);
    let away = status(302).with("Location", format!("{}/steal", elsewhere.address));
    let server = Server::start(vec![
        ("/api.congress.gov/v3/nomination/119", always(ok(list))),
        ("/api.congress.gov/v3/nomination/119/7", always(away)),
    ]);
    let folder = Folder::new();
    let mut command = command(&server, &folder, &["--sources", "nominations"]);
    let run = ran(&command.env("CONGRESS_API_KEY", "s3cret").output().expect("the fetcher runs"));
    assert!(!run.success && run.text.contains("a redirect that is not followed"), "{}", run.text);
    assert!(
        run.text.contains("evil.example") && run.text.contains("is not on the host of its list"),
        "{}",
        run.text
    );
    assert!(
        server
            .seen()
            .iter()
            .all(|r| r.header("x-api-key") == "s3cret" && !r.target.contains("s3cret"))
    );
    assert!(elsewhere.seen().is_empty() && !run.text.contains("s3cret"));
    assert!(!folder.read("fetch-state.jsonl").contains("s3cret"));
}

/// Given names that lead out of the folder, when they are fetched, then everything lies inside.
#[test]
fn no_name_leads_out_of_the_folder() {
    let list = bulk(&[
        ("https://www.govinfo.gov/bulkdata/PLAW/../../../../../above.xml", "1"),
        ("https://www.govinfo.gov/bulkdata/PLAW/..%2f..%2f..%2fabove.xml", "1"),
        (r"https://www.govinfo.gov/bulkdata/PLAW/..\..\..\above.xml", "1"),
        ("https://www.govinfo.gov/bulkdata/PLAW/.hidden.xml", "1"),
        ("https://other.example/above.xml", "1"),
        ("file:///etc/passwd.xml", "1"),
    ]);
    let mut list: serde_json::Value = serde_json::from_slice(&list.body).expect("JSON");
    list["files"]
        .as_array_mut()
        .expect("files")
        .push(serde_json::json!({"name": "../../..", "folder": true}));
    let server = Server::start(vec![(LAW_LIST, always(ok(list.to_string())))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &LAWS);
    assert!(!run.success, "two addresses are refused");
    let beside: Vec<_> =
        std::fs::read_dir(folder.0.path()).expect("the folder").flatten().collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
    assert!(
        folder.files().iter().all(|f| f.starts_with("public-laws/119/")),
        "{:?}",
        folder.files()
    );
    assert!(server.targets().iter().all(|t| !t.contains("passwd")), "{:?}", server.targets());
    assert!(!run.text.contains("panicked"), "{}", run.text);
}

/// Given many files on one host, when they are fetched, then no more requests are under way at
/// once than allowed.
#[test]
fn a_host_is_not_asked_too_much_at_once() {
    let paths: Vec<String> = (1..=9).map(|n| law_path(&format!("{n:02}"))).collect();
    let addresses: Vec<String> = (1..=9).map(|n| law_address(&format!("{n:02}"))).collect();
    let list: Vec<(&str, &str)> = addresses.iter().map(|a| (a.as_str(), "1")).collect();
    let slow = Reply { slow: Duration::from_millis(10), ..ok("<pLaw>some words</pLaw>") };
    let mut routes = vec![(LAW_LIST, always(bulk(&list)))];
    routes.extend(paths.iter().map(|p| (p.as_str(), always(slow.clone()))));
    let server = Server::start(routes);
    let run = fetch(&server, &Folder::new(), &[&LAWS[..], &["--per-host", "2"]].concat());
    assert!(run.success, "{}", run.text);
    assert_eq!(server.busiest(), 2);
}

/// Given an API whose pages are the files, when they are fetched by day, then each page is kept, a
/// day that is over is not asked for again, and the answers' own addresses of the next page lead
/// on.
#[test]
fn pages_of_a_day_are_fetched_once() {
    let filing =
        |id: &str| format!(r#"{{"filing_uuid": "{id}", "client": {{"name": "Boats Inc"}}}}"#);
    let route: Route = Box::new(move |request, _| {
        let (day, page) =
            (request.target.contains("after=2025-01-03"), request.target.contains("&page=2"));
        let next =
            "https://lda.gov/api/v1/filings/?filing_dt_posted_after=2025-01-03&page_size=25&page=2";
        ok(match (day, page) {
            (true, false) => format!(r#"{{"next": "{next}", "results": [{}]}}"#, filing("a")),
            (true, true) => format!(r#"{{"next": null, "results": [{}]}}"#, filing("b")),
            _ => r#"{"next": null, "results": []}"#.to_string(),
        })
    });
    let server = Server::start(vec![("/lda.gov/api/v1/filings/", route)]);
    let folder = Folder::new();
    let args = ["--sources", "lda-filings", "--until", "2025-01-04"];
    let run = fetch(&server, &folder, &args);
    assert!(run.success, "{}", run.text);
    let names = ["2025-01-03-p1", "2025-01-03-p2", "2025-01-04-p1"]
        .map(|n| format!("lda-filings/2025/{n}.json"));
    assert_eq!((folder.files(), server.seen().len()), (names.to_vec(), 3));
    assert!(
        server.seen().iter().all(|r| r.header("authorization").is_empty()),
        "it works without a key"
    );
    let run = fetch(&server, &folder, &args);
    assert_eq!((counts(&run, "lda-filings"), server.seen().len()), (vec![0, 0, 2, 0], 3));
}
