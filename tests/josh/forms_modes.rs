//! Section 15: what each mode of `--forms` offers, and that a server without forms has nothing of
//! them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::forms::{DESCRIBING, post, ssa};
use crate::mcp::once;
use crate::support::{Server, run};

/// [24] Given forms that are off, when anything asks for them, then nothing is there, and the
/// list of tools is the same as without them.
#[test]
fn forms_that_are_off_are_not_there() {
    let off = Server::start(&["--toolsets", "all", "--public-url", "https://a.example"]);
    assert_eq!(off.get("/v1/forms").status, 404);
    assert_eq!(post(&off, "/v1/forms/ssa-quick-calculator/runs", None, &json!({})).status, 405);
    let on = Server::start(&[
        "--toolsets",
        "all",
        "--public-url",
        "https://a.example",
        "--forms",
        "describe",
    ]);
    // Byte for byte what it is with forms, but for their three tools.
    let listed = |server: &Server| {
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        server.post("/mcp", &headers, list).text()
    };
    let mut with: Value = serde_json::from_str(&listed(&on)).unwrap();
    assert_eq!(with.to_string(), listed(&on), "it is written as it was");
    let all = with["result"]["tools"].as_array_mut().unwrap();
    let before = all.len();
    all.retain(|tool| !tool["name"].as_str().unwrap().starts_with("federalrunner"));
    assert_eq!(all.len(), before - 3);
    assert_eq!(listed(&off), with.to_string());
    let refused = run(&["serve", "--listen", "127.0.0.1:0", "--toolsets", "policy,forms"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--forms describe"));
}

/// [24] Given a server that only describes, when a run is asked for, then it is refused, in REST
/// and as a tool, and a plan is not.
#[test]
fn a_server_that_describes_does_not_run() {
    let body = json!({ "user_data": ssa() });
    let answer = post(&DESCRIBING, "/v1/forms/ssa-quick-calculator/runs", None, &body);
    assert_eq!((answer.status, answer.code().as_str()), (403, "wizards_off"));
    let call = json!({ "wizard_id": "ssa-quick-calculator", "user_data": ssa() });
    let called = once(&DESCRIBING, "federalrunner_execute_wizard", call);
    assert_eq!(called.is_error, Some(true));
    let plan = post(&DESCRIBING, "/v1/forms/ssa-quick-calculator/plan", None, &body);
    assert_eq!(plan.status, 200, "{}", plan.text());
    let steps = plan.json()["steps"].as_array().unwrap().clone();
    let shown: Vec<String> = steps
        .iter()
        .map(|s| {
            format!(
                "{} {} {}",
                s["field"].as_str().unwrap(),
                s["action"].as_str().unwrap(),
                s["value"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "/birth_month fill ••• (2 digits)",
            "/birth_day fill ••• (2 digits)",
            "/birth_year fill ••• (4 digits)",
            "/current_earnings fill ••• (5 digits)",
            "/dollar_type choose constant",
        ]
    );
    assert_eq!(plan.header("cache-control"), "no-store");
}

/// Checks how many threads of a server have each name that Josh gives. A thread names itself, a
/// moment after it was started.
fn assert_threads(server: &Server, expected: &BTreeMap<String, usize>) {
    let end = Instant::now() + Duration::from_secs(10);
    while threads(server) != *expected && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(threads(server), *expected);
}

fn threads(server: &Server) -> BTreeMap<String, usize> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.id())).unwrap().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    let mut counts = BTreeMap::new();
    for name in names.filter(|name| name.starts_with("josh-")) {
        *counts.entry(name.trim().to_string()).or_default() += 1;
    }
    counts
}

/// Given servers with and without forms, when their threads are counted, then the one without has
/// none for them, nor for a bank that it does not ask; the other has one for each run at once.
#[test]
fn what_is_off_has_no_threads() {
    let mut all = BTreeMap::from(["josh-searches", "josh-queries"].map(|n| (n.to_string(), 3)));
    assert_threads(&Server::start(&["--searches", "3"]), &all);
    let mut flags = vec!["--searches", "3", "--toolsets", "policy,forms", "--forms", "run"];
    flags.extend(["--forms-at-once", "2", "--forms-browser", "/nonexistent"]);
    all.insert("josh-forms".to_string(), 2);
    assert_threads(&Server::start(&flags), &all);
}
