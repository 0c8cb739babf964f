//! Series that are asked for by code: the Bank of Japan's databases, and the Bureau of Labor
//! Statistics. All values are invented.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Folder, Reply, Request, Route, Server, command, counts, fetch, ok, ran, status,
};

const API: &str = "/www.stat-search.boj.or.jp/api/v1";
const BLS: &str = "/api.bls.gov/publicAPI/v2/timeseries/data/";
const SERIES: [&str; 2] = ["--sources", "statistical-series"];
/// Series of each page of values, as if they were long.
const ON_A_PAGE: usize = 3;

fn parameter<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let (_, query) = request.target.split_once('?')?;
    query.split('&').find_map(|pair| pair.split_once('=').filter(|(n, _)| *n == name)).map(|p| p.1)
}

/// The list of a database: a heading and so many daily and monthly series.
fn list(database: &str, series: usize, changed: &str) -> Value {
    let mut rows = vec![json!({ "SERIES_CODE": "", "NAME_OF_TIME_SERIES": "Tea", "FREQUENCY": "",
        "LAYER1": 1, "LAYER2": 0, "LAYER3": 0, "LAYER4": 0, "LAYER5": 0 })];
    for (frequency, letter) in [("DAILY", "D"), ("MONTHLY", "M")] {
        rows.extend((1..=series).map(|n| {
            json!({ "SERIES_CODE": format!("TEA{n}@{letter}"), "FREQUENCY": frequency,
                "NAME_OF_TIME_SERIES": format!("Tea {n}"), "LAST_UPDATE": changed,
                "LAYER1": 1, "LAYER2": n, "LAYER3": 0, "LAYER4": 0, "LAYER5": 0 })
        }));
    }
    json!({ "STATUS": 200, "MESSAGEID": "M181000I", "DB": database, "RESULTSET": rows })
}

/// Values of the codes that were asked for, a few on each page.
fn values(request: &Request) -> Reply {
    let codes = parameter(request, "code").unwrap_or_default().replace("%40", "@");
    let codes: Vec<&str> = codes.split(',').collect();
    let database = parameter(request, "db").expect("a database");
    let start: usize = parameter(request, "startPosition").map_or(1, |n| n.parse().expect("n"));
    let next = start + ON_A_PAGE;
    let rows = codes.iter().skip(start - 1).take(ON_A_PAGE).map(|code| {
        let (frequency, period) =
            if code.ends_with('D') { ("DAILY", 20240131) } else { ("MONTHLY", 202401) };
        format!(
            r#"{{"SERIES_CODE":"{code}","FREQUENCY":"{frequency}","LAST_UPDATE":20240201,
               "VALUES":{{"SURVEY_DATES":[{period}],"VALUES":[1.10]}}}}"#
        )
    });
    let rows: Vec<String> = rows.collect();
    let next = if next > codes.len() { "null".to_string() } else { next.to_string() };
    ok(format!(
        r#"{{"STATUS":200,"MESSAGEID":"M181000I","PARAMETER":{{"DB":"{database}"}},
            "NEXTPOSITION":{next},"RESULTSET":[{}]}}"#,
        rows.join(",")
    ))
}

/// The Bank, with so many series of each frequency in every database.
pub fn bank(series: usize) -> Vec<(&'static str, Route)> {
    changed_bank(series, "20240201")
}

fn changed_bank(series: usize, changed: &'static str) -> Vec<(&'static str, Route)> {
    let metadata: Route = Box::new(move |request, _| {
        let database = parameter(request, "db").expect("a database");
        ok(list(database, series, changed).to_string())
    });
    let data: Route = Box::new(|request, _| values(request));
    vec![
        (&*format!("{API}/getMetadata").leak(), metadata),
        (&*format!("{API}/getDataCode").leak(), data),
    ]
}

fn asked_for_values(server: &Server) -> usize {
    server.targets().iter().filter(|target| target.contains("getDataCode")).count()
}

/// Given a database whose values take several pages, when it is fetched, then every series is there
/// once with the digits that were published; fetched again, nothing but the list is asked for until
/// the list says that something changed.
#[test]
fn a_database_is_fetched_whole_and_then_only_what_changed() {
    let (server, folder) = (Server::start(bank(7)), Folder::new());
    let only = [&SERIES[..], &["--boj-databases", "fm01"]].concat();
    // No route of the Treasury: those files fail, the Bank's are there.
    let run = fetch(&server, &folder, &only);
    // A list, and three pages for each frequency.
    assert_eq!(counts(&run, "statistical-series")[0], 7, "{}", run.text);
    let mut codes = Vec::new();
    for path in
        folder.files().iter().filter(|path| path.contains("boj/FM01/") && path.contains("-p"))
    {
        let text = folder.read(path);
        assert!(text.contains("[1.10]"), "{text}");
        let page: Value = serde_json::from_str(&text).expect("JSON");
        let rows = page["RESULTSET"].as_array().expect("rows").clone();
        codes.extend(rows.iter().map(|row| row["SERIES_CODE"].as_str().expect("code").to_string()));
    }
    codes.sort();
    let mut expected: Vec<String> =
        (1..=7).flat_map(|n| [format!("TEA{n}@D"), format!("TEA{n}@M")]).collect();
    expected.sort();
    assert_eq!(codes, expected);
    for target in server.targets().iter().filter(|target| target.contains("getDataCode")) {
        assert!(target.contains("db=FM01") && target.contains("TEA1%40"), "{target}");
    }

    server.serve(bank(7));
    fetch(&server, &folder, &only);
    assert_eq!(asked_for_values(&server), 0);
    server.serve(changed_bank(7, "20240202"));
    fetch(&server, &folder, &only);
    assert_eq!(asked_for_values(&server), 6);
    // Fewer series, fewer files.
    server.serve(changed_bank(1, "20240203"));
    fetch(&server, &folder, &only);
    let left = folder.files().into_iter().filter(|path| path.contains("boj/FM01/")).count();
    assert_eq!(left, 3, "the list and one page of each frequency");
}

/// Given a Bank that breaks off in the middle, when the fetch is run again, then what is missing
/// comes, and nothing passes for complete before.
#[test]
fn a_cut_fetch_is_taken_up_again() {
    let (server, folder) = (Server::start(vec![]), Folder::new());
    let mut routes = bank(7);
    routes[1].1 = Box::new(|request, n| if n == 1 { status(400) } else { values(request) });
    server.serve(routes);
    let only = [&SERIES[..], &["--boj-databases", "FM01"]].concat();
    let run = fetch(&server, &folder, &only);
    assert!(!run.success && run.text.contains("400"), "{}", run.text);
    server.serve(bank(7));
    fetch(&server, &folder, &only);
    assert_eq!(asked_for_values(&server), 6);
}

/// Given the largest list that the Bank has, 99 MB, when it is fetched, then it lies on the disk
/// whole, and took hardly more memory than a short one.
#[test]
fn a_list_of_99_megabytes_takes_no_more_memory_than_a_short_one() {
    let with_headings = |headings: usize| -> Vec<(&'static str, Route)> {
        let mut routes = bank(1);
        routes[0].1 = Box::new(move |_, _| {
            let short = list("FM01", 1, "20240201").to_string();
            let heading = json!({ "SERIES_CODE": "", "NAME_OF_TIME_SERIES": "Tea", "LAYER1": 1,
                "NOTES": "A note on tea. ".repeat(60) });
            ok(short.replacen('[', &format!("[{}", format!("{heading},").repeat(headings)), 1))
        });
        routes
    };
    let peak = |headings: usize| {
        let (server, folder) = (Server::start(with_headings(headings)), Folder::new());
        let only = [&SERIES[..], &["--boj-databases", "FM01", "--timeout", "60"]].concat();
        let mut child = command(&server, &folder, &only)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the fetcher runs");
        let mut highest = 0;
        while child.try_wait().expect("a child").is_none() {
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
            let line = status.iter().flat_map(|s| s.lines()).find_map(|l| l.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|l| l.split_whitespace().next()?.parse::<usize>().ok());
            highest = highest.max(kilobytes.unwrap_or(0) / 1000);
            std::thread::sleep(Duration::from_millis(5));
        }
        let files = folder.files();
        let list = files.iter().find(|path| path.contains("boj/FM01/") && !path.contains("-p"));
        let length = folder.read(list.expect("the list")).len();
        assert_eq!(asked_for_values(&server), 2, "one page of each frequency");
        (highest, length / 1_000_000)
    };
    let (short, _) = peak(0);
    let (long, megabytes) = peak(103_000);
    assert!((99..110).contains(&megabytes), "{megabytes} MB");
    assert!(short > 0 && long < short + 40, "{short} MB, then {long} MB");
}

/// Given databases that nobody has, and answers that are none, then the message says so.
#[test]
fn wrong_databases_and_errors_of_the_bank_are_loud() {
    let (server, folder) = (Server::start(vec![]), Folder::new());
    let wrong = fetch(&server, &folder, &[&SERIES[..], &["--boj-databases", "FM1"]].concat());
    assert!(!wrong.success && wrong.text.contains("did you mean FM01"), "{}", wrong.text);
    let error = r#"{"STATUS":400,"MESSAGEID":"M181005E","MESSAGE":"Invalid database name"}"#;
    let metadata = &*format!("{API}/getMetadata").leak();
    server.serve(vec![(metadata, Box::new(move |_, _| ok(error)))]);
    let only = [&SERIES[..], &["--boj-databases", "FM01"]].concat();
    let run = fetch(&server, &folder, &only);
    assert!(run.text.contains("the Bank answered with status 400"), "{}", run.text);
    assert!(!folder.files().iter().any(|path| path.contains("FM01")), "{:?}", folder.files());
}

/// Given a key, when series of the Bureau of Labor Statistics are fetched, then one request asks
/// for all of them over twenty years, the key is in that request and in no file, and a series
/// without values is a failure that names it. Without a key, the message says where to get one.
#[test]
fn labor_statistics_take_one_request_with_a_key() {
    let answer: Route = Box::new(|request, _| {
        let asked: Value = serde_json::from_str(&request.body).expect("JSON");
        let codes = asked["seriesid"].as_array().expect("codes").clone();
        let series = codes.iter().map(|code| {
            let row = json!({ "year": "2024", "period": "M01", "value": "1.10" });
            let data = if code == "LNS14000000" { vec![] } else { vec![row] };
            json!({ "seriesID": code, "data": data })
        });
        let series: Vec<Value> = series.collect();
        let body = json!({ "status": "REQUEST_SUCCEEDED", "message": [],
            "Results": { "series": series } });
        ok(body.to_string())
    });
    let (server, folder) = (Server::start(vec![(BLS, answer)]), Folder::new());
    let only = [&SERIES[..], &["--boj-databases", "none"]].concat();
    let without = fetch(&server, &folder, &only);
    assert!(without.text.contains("set BLS_API_KEY"), "{}", without.text);
    assert!(!server.targets().iter().any(|target| target == BLS));

    let mut with = command(&server, &folder, &only);
    let run = ran(&with.env("BLS_API_KEY", "k-3cr3t").output().expect("the fetcher runs"));
    assert!(run.text.contains("no values for LNS14000000"), "{}", run.text);
    assert!(!run.text.contains("k-3cr3t"), "{}", run.text);
    let seen: Vec<Request> = server.seen().into_iter().filter(|r| r.target == BLS).collect();
    let asked: Value = serde_json::from_str(&seen[0].body).expect("JSON");
    assert_eq!((seen.len(), &asked["registrationkey"]), (1, &json!("k-3cr3t")));
    let year = |name: &str| asked[name].as_str().expect(name).parse::<i64>().expect(name);
    assert_eq!(year("endyear") - year("startyear"), 19);
    assert!(folder.read("statistical-series/bls/series.json").contains("CUUR0000SA0"));
    for path in folder.files() {
        assert!(!folder.read(&path).contains("k-3cr3t"), "{path}");
    }
}
