//! Section 15 with the real server and a real browser: pictures and results over MCP and REST,
//! nobody's data anywhere, and no browser left behind however a run ends. These tests need
//! Chromium; without it they count as ignored (`tests/forms/run`).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::forms::{post, ssa};
use crate::forms_runs::alone;
use crate::forms_site::{Site, seconds};
use crate::mcp::{block_on, connect, eras, once};
use crate::operations::metric;
use crate::support::{Server, eventually, josh};

const RUNS: &str = "/v1/forms/ssa-quick-calculator/runs";

/// A server that runs forms against a site of ours.
fn start(site: &Site, more: &[&str]) -> Server {
    start_politely(site, "0", more)
}

fn start_politely(site: &Site, per_hour: &str, more: &[&str]) -> Server {
    let setting = site.setting();
    let mut flags = vec!["--forms", "run", "--toolsets", "policy,forms", "--forms-no-sandbox"];
    flags.extend(["--forms-per-hour", per_hour, "--forms-test-site", &setting]);
    flags.extend(["--log", "trace", "--log-format", "json"]);
    flags.extend(more);
    Server::start(&flags)
}

/// Processes and profiles of browsers that servers of this ID started.
fn browsers(server: u32) -> Vec<String> {
    let mine = format!("josh-forms-{server}-");
    let mut found: Vec<String> = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(&mine) {
            found.push(line.chars().take(60).collect());
        }
    }
    found
}

fn profiles(server: u32) -> Vec<PathBuf> {
    let mine = format!("josh-forms-{server}-");
    let folders = [Path::new("/dev/shm").to_path_buf(), std::env::temp_dir()];
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|p| p.file_name().unwrap().to_string_lossy().starts_with(&mine)).collect()
}

fn gone_within_two_seconds(server: u32) {
    let end = Instant::now() + seconds(2);
    while !browsers(server).is_empty() {
        assert!(Instant::now() < end, "still there: {:?}", browsers(server));
        std::thread::sleep(Duration::from_millis(50));
    }
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
    let called = once(&server, "federalrunner_execute_wizard", call);
    assert_eq!(called.is_error, Some(false), "{called:?}");
    let kinds: Vec<String> = called
        .content
        .iter()
        .map(|block| serde_json::to_value(block).unwrap()["type"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(kinds, ["image", "image", "text"]);
    let told = called.structured_content.clone().unwrap();
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

/// [17] Given marked values in every field, when runs succeed and fail in every way, then they are
/// in no log line, metric, error, command line or file.
#[test]
#[ignore = "needs Chromium"]
fn nobodys_data_are_anywhere() {
    let _alone = alone();
    let site = Site::start();
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit.jsonl");
    let server = start(&site, &["--audit-log", audit.to_str().unwrap()]);
    let marked = json!({ "birth_month": "06", "birth_day": "15", "birth_year": "1951",
        "current_earnings": 0, "last_year_worked": "2007", "last_year_earnings": 86429,
        "retirement_month": "11", "retirement_year": "2031", "dollar_type": "nominal" });
    let marks = ["1951", "2007", "86429", "86,429", "2031"];
    let is_marked = |text: &str| marks.iter().find(|mark| text.contains(**mark)).copied();
    let mut while_running = Vec::new();
    for (switch, value, code) in [
        ("none", "", ""),
        ("drift", "missing", "wizard_page_changed"),
        ("drift", "new_required", "wizard_page_changed"),
        ("last_refused", "1", "wizard_form_refused"),
        ("wrong_option", "1", "wizard_field_not_taken"),
        ("refuse", "403", "wizard_site_refused"),
    ] {
        site.without_switches();
        site.switch(switch, value);
        let body = json!({ "user_data": marked, "screenshots": "none" });
        let answer = std::thread::scope(|scope| {
            let running = scope.spawn(|| post(&server, RUNS, None, &body));
            while !running.is_finished() {
                for entry in std::fs::read_dir("/proc").unwrap().flatten() {
                    let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                    let line = String::from_utf8_lossy(&line).into_owned();
                    if line.contains("josh-forms-") {
                        while_running.push(line);
                    }
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            running.join().unwrap()
        });
        match code {
            "" => assert_eq!(answer.status, 200, "{}", answer.text()),
            code => {
                assert_eq!(answer.code(), code, "{switch} {value}: {}", answer.text());
                let told = answer.text();
                assert_eq!(is_marked(&told), None, "{told}");
            }
        }
    }
    let mut bad = marked.clone();
    bad["last_year_earnings"] = json!("86429");
    bad["birth_month"] = json!("1951");
    let refused = post(&server, RUNS, None, &json!({ "user_data": bad }));
    assert_eq!((refused.code().as_str(), is_marked(&refused.text())), ("invalid_user_data", None));
    assert!(!while_running.is_empty());
    for line in while_running {
        assert_eq!(is_marked(&line), None, "{line}");
    }
    let logged: Vec<String> =
        server.log().into_iter().filter(|line| line.contains("form run")).collect();
    assert_eq!(logged.len(), 6, "{logged:?}");
    let audited = std::fs::read_to_string(&audit).unwrap();
    let metrics = server.get("/metrics").text();
    // Times and ports may hold the same digits; names of fields and runs tell those lines.
    let about_forms = |line: &&str| line.contains("form");
    let lines = server.log().join("\n") + &audited + &metrics;
    for line in lines.lines().filter(about_forms) {
        let line: String =
            line.split("\"timestamp\"").map(|part| part.get(33..).unwrap_or(part)).collect();
        assert!(!["1951", "86429", "86,429"].iter().any(|mark| line.contains(mark)), "{line}");
    }
    assert!(profiles(server.id()).is_empty(), "no profile stays");
}

/// [15], [16], [19] Given a run that goes on, when the server is killed, then no browser is there
/// two seconds later, and its profile is removed by the next server. Meanwhile it listens nowhere.
#[test]
#[ignore = "needs Chromium"]
fn a_killed_server_leaves_no_browser() {
    let _alone = alone();
    let site = Site::start();
    site.switch("slow", "15000");
    let mut server = start(&site, &[]);
    let id = server.id();
    let _open = begin(&server, &ssa());
    eventually("the browser runs", || browsers(id).len() > 2 && site.requests() > 0);
    let sockets = Command::new("ss").args(["-ltnp"]).output();
    if let Ok(sockets) = sockets {
        let listening = String::from_utf8_lossy(&sockets.stdout).into_owned();
        assert!(!listening.contains("chrom"), "{listening}");
    }
    assert!(!profiles(id).is_empty());
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
    eventually("it runs", || running(before));
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
    eventually("it runs", || running(before));
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
    eventually("it runs", || site.requests() > 0);
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
    use std::os::unix::fs::PermissionsExt;
    let _alone = alone();
    let site = Site::start();
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_string()
    };
    let crashing = script("crashing", "#!/bin/sh\necho 'FATAL: no luck' >&2\nexit 1\n");
    let hanging = script("hanging", "#!/bin/sh\nexec sleep 60\n");
    for browser in ["/nonexistent/chromium", &crashing, &hanging] {
        let server = start(&site, &["--forms-browser", browser]);
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
    }
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

/// [16] Given the command line as root without the flag, when a form is run, then it is refused
/// rather than run without a sandbox.
#[test]
#[ignore = "needs Chromium"]
fn the_sandbox_is_on_unless_a_setting_says_otherwise() {
    let _alone = alone();
    let site = Site::start();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data.json");
    std::fs::write(&data, ssa().to_string()).unwrap();
    let setting = site.setting();
    let arguments = |more: &[&str]| {
        let mut all =
            vec!["forms", "run", "ssa-quick-calculator", "--data", data.to_str().unwrap()];
        all.extend(["--forms-test-site", &setting]);
        all.extend(more);
        josh(&all).output().unwrap()
    };
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } == 0 {
        let refused = arguments(&[]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains("sandbox does not work for root")
        );
    }
    let pictures = folder.path().join("pictures");
    let done = arguments(&["--forms-no-sandbox", "--pictures", pictures.to_str().unwrap()]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let printed: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(printed["outcome"], "three_ages");
    assert_eq!(std::fs::read_dir(&pictures).unwrap().count(), 2);
}
