//! Section 15 with the real server and a real browser: pictures and results over MCP and REST,
//! nobody's data anywhere, and no browser left behind however a run ends. These tests need
//! Chromium; without it they count as ignored (`tests/forms/run`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::forms::{post, ssa};
use crate::forms_runs::alone;
use crate::forms_site::{Site, chromium, in_time, script, seconds};
use crate::mcp::{block_on, connect, eras, once, tools};
use crate::operations::metric;
use crate::support::Server;

pub const RUNS: &str = "/v1/forms/ssa-quick-calculator/runs";

/// What the log says of a browser that passed its test.
pub const WORKS: &str = "the browser for forms works";

/// A server that runs forms against a site of ours and has tried its browser.
fn start(site: &Site, more: &[&str]) -> Server {
    start_politely(site, "0", more)
}

fn start_politely(site: &Site, per_hour: &str, more: &[&str]) -> Server {
    let mut flags = vec!["--forms-per-hour", per_hour, "--log", "trace"];
    flags.extend(more);
    let server = start_with(site, &flags, &[]);
    in_time("the browser was tried", || server.logged(WORKS));
    server
}

/// The same before it has tried its browser.
pub fn start_with(site: &Site, more: &[&str], variables: &[(&str, &str)]) -> Server {
    let setting = site.setting();
    let mut flags = vec!["--forms", "run", "--toolsets", "policy,forms", "--forms-no-sandbox"];
    flags.extend(["--forms-test-site", &setting, "--log-format", "json"]);
    flags.extend(more);
    Server::start_with(&flags, variables)
}

/// The folders in /proc of browsers that the server with this ID started.
pub fn browser_processes(server: u32) -> Vec<PathBuf> {
    let mine = format!("josh-forms-{server}-");
    let is_mine = |process: &PathBuf| {
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&mine)
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes.filter(is_mine).collect()
}

/// Their command lines.
pub fn browsers(server: u32) -> Vec<String> {
    let read = |process: PathBuf| std::fs::read(process.join("cmdline")).ok();
    let lines = browser_processes(server).into_iter().filter_map(read);
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| !line.is_empty()).collect()
}

pub fn profiles(server: u32) -> Vec<PathBuf> {
    let mine = format!("josh-forms-{server}-");
    let folders = [Path::new("/dev/shm").to_path_buf(), std::env::temp_dir()];
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|p| p.file_name().unwrap().to_string_lossy().starts_with(&mine)).collect()
}

pub fn gone_within_two_seconds(server: u32) {
    let end = Instant::now() + seconds(2);
    while !browsers(server).is_empty() {
        assert!(Instant::now() < end, "still there: {:?}", browsers(server));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Sockets of this machine that wait for connections, by their numbers.
fn listening_sockets() -> BTreeSet<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
    let listening = |line: &str| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        (columns.get(3) == Some(&"0A")).then(|| columns[9].to_string())
    };
    tables.iter().flatten().flat_map(|table| table.lines().filter_map(listening)).collect()
}

/// Open sockets of processes.
fn sockets(processes: &[PathBuf]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for process in processes {
        let Ok(entries) = std::fs::read_dir(process.join("fd")) else { continue };
        let links = entries.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
        found.extend(links.filter_map(|link| {
            let name = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(name.to_string())
        }));
    }
    found
}

/// The scheduling policy that takes a core only when nobody else wants it.
const IDLE: &str = "5";

/// The policies of all threads of processes.
fn policies(processes: &[PathBuf]) -> Vec<String> {
    let threads = processes.iter().filter_map(|one| std::fs::read_dir(one.join("task")).ok());
    let stats = threads.flatten().flatten().filter_map(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).ok()?;
        // Behind the name in brackets, which may hold anything, stand the fields from the third.
        stat.rsplit_once(") ")?.1.split(' ').nth(41 - 3).map(str::to_string)
    });
    stats.collect()
}

/// Sends a run and does not wait for its answer.
fn begin(server: &Server, data: &Value) -> std::net::TcpStream {
    use std::io::Write;
    let host = server.url.trim_start_matches("http://");
    let body = json!({ "user_data": data }).to_string();
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    let head = format!(
        "POST {RUNS} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    stream
}

/// [27], [28] Given the official client, when a form is run, then images come first, one for each
/// page, then the result with its source and provenance; REST says the same; metrics count it.
#[test]
#[ignore = "needs Chromium"]
fn a_run_over_mcp_and_rest() {
    let _alone = alone();
    let site = Site::start();
    let server = start(&site, &[]);
    let call = json!({ "wizard_id": "ssa-quick-calculator", "user_data": ssa() });
    let listed = tools(&server);
    let execute = listed.iter().find(|tool| tool.name == "federalrunner_execute_wizard").unwrap();
    let output = Value::Object((**execute.output_schema.as_ref().unwrap()).clone());
    let output = jsonschema::validator_for(&output).unwrap();
    let called = once(&server, "federalrunner_execute_wizard", call);
    assert_eq!(called.is_error, Some(false), "{called:?}");
    let kinds: Vec<String> = called
        .content
        .iter()
        .map(|block| serde_json::to_value(block).unwrap()["type"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(kinds, ["image", "image", "text"]);
    let told = called.structured_content.clone().unwrap();
    assert!(output.is_valid(&told), "{told}");
    for key in ["success", "wizard_id", "results", "pages_completed", "execution_time_ms"] {
        assert!(told.get(key).is_some(), "{key}");
    }
    assert_eq!(
        (&told["outcome"], &told["screenshots_included"]),
        (&json!("three_ages"), &json!(2))
    );
    assert_eq!(told["provenance"]["status"], "described");
    assert_eq!(told["source"]["agency"], "Social Security Administration");
    assert_eq!(told["source"]["url"], "https://www.ssa.gov/cgi-bin/benefit6.cgi");
    assert!(told["note"].as_str().unwrap().contains("estimate"));
    assert!(told["warnings"][0].as_str().unwrap().contains("test site"));
    assert!(told.to_string().len() < 10_000, "no picture in it");
    let answer = post(&server, RUNS, None, &json!({ "user_data": ssa(), "screenshots": "final" }));
    let got = answer.json();
    assert_eq!((answer.status, &got["results"]), (200, &told["results"]), "{}", answer.text());
    assert_eq!(got["screenshots"].as_array().unwrap().len(), 1);
    assert_eq!(got["screenshots"][0]["mime_type"], "image/jpeg");
    let line = "josh_form_runs_total{result=\"three_ages\",wizard=\"ssa-quick-calculator\"}";
    assert_eq!(metric(&server, line), 2.0);
    // Seven pages with pictures stay far below what hosts take.
    let info =
        once(&server, "federalrunner_get_wizard_info", json!({ "wizard_id": "fsa-estimator" }));
    let data = info.structured_content.unwrap()["example_user_data"].clone();
    let call = json!({ "wizard_id": "fsa-estimator", "user_data": data });
    let called = once(&server, "federalrunner_execute_wizard", call);
    assert_eq!(called.is_error, Some(false), "{:?}", called.structured_content);
    assert_eq!(called.content.len(), 9);
    assert!(serde_json::to_string(&called).unwrap().len() < 1_000_000);
    site.switch("drift", "renamed");
    let call = json!({ "wizard_id": "ssa-quick-calculator", "user_data": ssa() });
    let called = once(&server, "federalrunner_execute_wizard", call);
    assert_eq!(called.is_error, Some(true));
    let told = called.structured_content.unwrap();
    assert!(output.is_valid(&told), "{told}");
    assert_eq!(
        (&told["success"], &told["error_code"]),
        (&json!(false), &json!("wizard_page_changed"))
    );
    assert_eq!((&told["page"], &told["screenshots_included"]), (&json!("form"), &json!(1)));
    let failed = post(&server, RUNS, None, &json!({ "user_data": ssa() }));
    assert_eq!((failed.status, failed.code().as_str()), (502, "wizard_page_changed"));
    assert_eq!(failed.json()["result"]["screenshots"].as_array().unwrap().len(), 1);
    assert!(failed.json()["error"]["hint"]["found"][0].is_string());
}

/// [15], [16], [19], [22] Given a run that goes on, when the server is killed, then no browser is
/// there two seconds later, and its profile is removed by the next server. Meanwhile it listens
/// nowhere, and none of its threads takes a core from a search.
#[test]
#[ignore = "needs Chromium"]
fn a_killed_server_leaves_no_browser() {
    let _alone = alone();
    let site = Site::start();
    site.switch("slow", "15000");
    let mut server = start(&site, &[]);
    let id = server.id();
    let _open = begin(&server, &ssa());
    in_time("the browser runs", || browsers(id).len() > 2 && site.requests() > 0);
    let listening = listening_sockets();
    assert!(!sockets(&["/proc/self".into()]).is_disjoint(&listening), "the site listens");
    let own = sockets(&browser_processes(id));
    assert!(!own.is_empty() && own.is_disjoint(&listening), "the browser does not");
    assert!(!profiles(id).is_empty());
    let policies = policies(&browser_processes(id));
    assert!(policies.len() > 10 && policies.iter().all(|one| one == IDLE), "{policies:?}");
    server.signal("KILL");
    server.wait();
    gone_within_two_seconds(id);
    let next = start(&site, &[]);
    assert!(profiles(id).is_empty(), "swept at the next start");
    drop(next);
}

/// [20] Given a run that goes on, when its caller goes away, its time is up or the server is
/// stopped, then the browser is gone within two seconds and the next run can begin.
#[test]
#[ignore = "needs Chromium"]
fn a_run_ends_with_its_caller_its_time_and_its_server() {
    let _alone = alone();
    let site = Site::start();
    let mut server = start(&site, &["--forms-ms", "6000"]);
    let id = server.id();
    let running = |n: usize| site.requests() > n && !browsers(id).is_empty();
    site.switch("slow", "15000");
    let before = site.requests();
    let open = begin(&server, &ssa());
    in_time("it runs", || running(before));
    drop(open);
    gone_within_two_seconds(id);
    // Cancelled by an MCP client that no longer waits.
    let before = site.requests();
    block_on(async {
        let client = connect(&server.url, eras()[0].clone()).await;
        let with = json!({ "wizard_id": "ssa-quick-calculator", "user_data": ssa() });
        let call = rmcp::model::CallToolRequestParams::new("federalrunner_execute_wizard");
        let call = call.with_arguments(with.as_object().cloned().unwrap());
        let _ = tokio::time::timeout(Duration::from_secs(4), client.call_tool(call)).await;
    });
    assert!(site.requests() > before);
    gone_within_two_seconds(id);
    // Out of time: a report, and no browser.
    let late = post(&server, RUNS, None, &json!({ "user_data": ssa() }));
    assert_eq!((late.status, late.code().as_str()), (504, "wizard_timeout"), "{}", late.text());
    gone_within_two_seconds(id);
    let before = site.requests();
    let _open = begin(&server, &ssa());
    in_time("it runs", || running(before));
    server.signal("TERM");
    gone_within_two_seconds(id);
    assert!(server.wait().success());
    assert!(profiles(id).is_empty());
}

/// [22] Given one run at a time, when a second comes, then it waits, and is told to come back.
#[test]
#[ignore = "needs Chromium"]
fn one_run_at_a_time() {
    let _alone = alone();
    let site = Site::start();
    site.switch("slow", "4000");
    let server = start(&site, &["--queue-ms", "500"]);
    let _open = begin(&server, &ssa());
    in_time("it runs", || site.requests() > 0);
    let second = post(&server, RUNS, None, &json!({ "user_data": ssa() }));
    assert_eq!((second.status, second.code().as_str()), (503, "overloaded"), "{}", second.text());
    assert!(!second.header("retry-after").is_empty());
    assert_eq!(server.get("/v1/search?q=water").status, 200, "searches do not wait for forms");
    let polite = start_politely(&site, "1", &[]);
    site.without_switches();
    assert_eq!(post(&polite, RUNS, None, &json!({ "user_data": ssa() })).status, 200);
    let again = post(&polite, RUNS, None, &json!({ "user_data": ssa() }));
    assert_eq!((again.status, again.code().as_str()), (429, "rate_limited"));
}

/// [23] Given no browser, one that ends at once and one that hangs, when a form is run, then the
/// error says so within ten seconds.
#[test]
#[ignore = "needs Chromium"]
fn a_browser_that_does_not_work_is_said_so() {
    let _alone = alone();
    let site = Site::start();
    let folder = tempfile::tempdir().unwrap();
    let crashing = script(folder.path(), "crashing", "echo 'FATAL: no luck' >&2\nexit 1");
    let hanging = script(folder.path(), "hanging", "exec sleep 60");
    for browser in [Path::new("/nonexistent/chromium"), &crashing, &hanging] {
        let browser = browser.to_str().unwrap();
        let server = start_with(&site, &["--forms-browser", browser], &[]);
        let started = Instant::now();
        let answer = post(&server, RUNS, None, &json!({ "user_data": ssa() }));
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (503, "browser_unavailable"),
            "{}",
            answer.text()
        );
        assert!(started.elapsed() < seconds(12), "{browser}: {:?}", started.elapsed());
        assert!(answer.json()["error"]["hint"]["next"].as_str().unwrap().contains("chromium"));
        in_time("a warning", || server.logged("forms can't run"));
    }
}

/// Given a server that may run forms, when it starts, then the banner waits for no browser; the
/// browser is tried after it, and one that failed is tried again before the next run.
#[test]
#[ignore = "needs Chromium"]
fn the_browser_is_tried_at_the_start() {
    let _alone = alone();
    let site = Site::start();
    let works = start(&site, &[]);
    let said: Vec<Value> = works
        .log()
        .iter()
        .filter(|line| line.contains(WORKS))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let version = said[0]["version"].as_str().unwrap();
    assert!(version.split('.').count() == 4, "{version}");
    let banner = |server: &Server| {
        let log = server.log();
        log.into_iter().find(|line| line.starts_with("  forms   ")).unwrap()
    };
    let line = format!("3 wizards, run in {}", chromium().display());
    assert!(banner(&works).contains(&line), "{}", banner(&works));
    drop(works);
    let folder = tempfile::tempdir().unwrap();
    let browser = script(folder.path(), "browser", "echo 'FATAL: no luck' >&2\nexit 1");
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(100 * 86_400);
    std::fs::File::open(&browser).unwrap().set_modified(long_ago).unwrap();
    let server = start_with(&site, &["--forms-browser", browser.to_str().unwrap()], &[]);
    assert!(banner(&server).ends_with("(100 days old: update it)"), "{}", banner(&server));
    in_time("a warning", || server.logged("forms can't run: The browser ended."));
    let run = || post(&server, RUNS, None, &json!({ "user_data": ssa(), "screenshots": "none" }));
    assert_eq!(run().code(), "browser_unavailable");
    script(folder.path(), "browser", &format!("exec {} \"$@\"", chromium().display()));
    assert_eq!(run().status, 200, "one that works by now is used");
    in_time("it is said", || server.logged(WORKS));
    // One that hangs keeps nobody waiting, neither at the start nor at the end.
    let hanging = script(folder.path(), "hanging", "exec sleep 60");
    let mut server = start_with(&site, &["--forms-browser", hanging.to_str().unwrap()], &[]);
    assert!(!server.logged("forms can't run"), "the banner came first");
    in_time("it is tried", || !profiles(server.id()).is_empty());
    server.signal("TERM");
    assert!(server.wait().success());
    assert!(profiles(server.id()).is_empty(), "and it is gone");
}

/// [21] Given many runs in a row, when they are over, then there are as many processes, folders and
/// descriptors as before.
fn runs_in_a_row(count: usize) {
    let _alone = alone();
    let site = Site::start();
    let server = start(&site, &[]);
    let body = json!({ "user_data": ssa(), "screenshots": "none" });
    let descriptors = || std::fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count();
    let threads = || std::fs::read_dir(format!("/proc/{}/task", server.id())).unwrap().count();
    assert_eq!(post(&server, RUNS, None, &body).status, 200);
    let before = (descriptors(), threads());
    for _ in 0..count {
        assert_eq!(post(&server, RUNS, None, &body).status, 200);
    }
    std::thread::sleep(Duration::from_millis(500));
    let after = (descriptors(), threads());
    assert!(after.0 <= before.0 + 2 && after.1 <= before.1 + 2, "{before:?} {after:?}");
    assert!(browsers(server.id()).is_empty() && profiles(server.id()).is_empty());
}

#[test]
#[ignore = "needs Chromium"]
fn runs_leave_nothing_behind() {
    runs_in_a_row(5);
}

#[test]
#[ignore = "needs Chromium and minutes"]
fn long_fifty_runs_leave_nothing_behind() {
    runs_in_a_row(50);
}

/// [22] By hand: how long searches take alone, beside runs of forms, and alone again. What it
/// prints is for docs/forms.md; on a machine with other work it says nothing.
#[test]
#[ignore = "needs Chromium and minutes"]
fn long_searches_beside_runs() {
    let _alone = alone();
    let site = Site::start();
    let server = start(&site, &[]);
    let asked = AtomicUsize::new(0);
    let measure = |what: &str| {
        let mut times: Vec<f64> = Vec::new();
        for _ in 0..600 {
            // Each is asked once: nothing is answered from a cache.
            let n = asked.fetch_add(1, Ordering::SeqCst);
            let query = format!("/v1/search?q=water+quality+of+district+{n}");
            let started = Instant::now();
            assert_eq!(server.get(&query).status, 200);
            times.push(started.elapsed().as_secs_f64() * 1e3);
            std::thread::sleep(Duration::from_millis(20));
        }
        times.sort_by(f64::total_cmp);
        println!("{what}: p50 {:.1} ms, p99 {:.1} ms", times[300], times[594]);
    };
    measure("alone");
    measure("alone");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut runs = 0;
            while !is_over.load(Ordering::SeqCst) {
                let body = json!({ "user_data": ssa() });
                assert_eq!(post(&server, RUNS, None, &body).status, 200);
                runs += 1;
            }
            println!("{runs} runs");
        });
        measure("beside runs");
        is_over.store(true, Ordering::SeqCst);
    });
    measure("alone");
}
