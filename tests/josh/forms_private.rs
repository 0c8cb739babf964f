//! [17]: nobody's data are anywhere but in the answer. Marks that occur nowhere else are given in
//! every field of a form, runs succeed and fail in every way, over REST and MCP, with the most
//! talkative log there is; then all of its lines, the audit log, metrics, errors, command lines,
//! and files are searched. Needs Chromium; without it it counts as ignored (`tests/forms/run`).

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::forms::post;
use crate::forms_life::{WORKS, browsers, profiles, start_with};
use crate::forms_runs::alone;
use crate::forms_site::{Site, in_time};
use crate::mcp::once;
use crate::support::{Answer, Server};

const MARKS: [&str; 6] = [
    "quokka731958264",
    "wombat820461957",
    "numbat648203917",
    "bilby592017386",
    "73820194",
    "Potoroo",
];

const MARKED: &str = "/v1/forms/marked/runs";

/// A form with the fields of the Quick Calculator that takes any words.
fn marked_wizard(folder: &Path) {
    let shipped = include_str!("../../assets/wizards/ssa-quick-calculator.json");
    let mut file: Value = serde_json::from_str(shipped).unwrap();
    let choice = file["pages"][0]["fields"][8].clone();
    let chosen = file["schema"]["properties"]["dollar_type"].clone();
    let text = json!({ "type": "string", "description": "anything" });
    let number = json!({ "type": "number", "description": "a number" });
    file["wizard_id"] = json!("marked");
    file["rules"] = json!([]);
    file["schema"] = json!({ "$schema": file["schema"]["$schema"], "type": "object",
        "additionalProperties": false,
        "required": ["earnings", "last_year", "last_earnings", "month", "year", "dollar_type"],
        "properties": { "earnings": text, "last_year": text, "last_earnings": number,
                        "month": text, "year": text, "dollar_type": chosen } });
    let fill = |field: &str, find: &str| json!({ "field": field, "do": "fill", "find": [find] });
    file["pages"][0]["fields"] = json!([
        fill("earnings", "#earnings"),
        fill("last_year", "#lastyear"),
        fill("last_earnings", "#lastearnings"),
        fill("month", "#retiremonth"),
        fill("year", "#retireyear"),
        choice,
    ]);
    let example = json!({ "earnings": "a", "last_year": "b", "last_earnings": 1, "month": "c",
                          "year": "d", "dollar_type": "constant" });
    file["examples"] = json!([{ "user_data": example, "outcome": "one_date" }]);
    std::fs::write(folder.join("marked.json"), file.to_string()).unwrap();
}

fn marked_data() -> Value {
    json!({ "earnings": "quokka731958264", "last_year": "wombat820461957 & Potoroo",
            "last_earnings": 738201946, "month": "numbat648203917", "year": "bilby592017386",
            "dollar_type": "nominal" })
}

#[track_caller]
fn assert_unmarked(what: &str, text: &str) {
    // Also sums as people write them.
    let plain = text.replace(',', "");
    if let Some(mark) = MARKS.iter().find(|mark| text.contains(**mark) || plain.contains(**mark)) {
        panic!("{what} has {mark}: {}", text.chars().take(2000).collect::<String>());
    }
}

/// Every file under a folder. Some go while we look.
fn assert_unmarked_files(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => assert_unmarked_files(&path),
            Ok(kind) if kind.is_file() => {
                let bytes = std::fs::read(&path).unwrap_or_default();
                assert_unmarked(&path.display().to_string(), &String::from_utf8_lossy(&bytes));
            }
            _ => {}
        }
    }
}

/// Runs the form while command lines and profiles of browsers are searched.
fn run_watched(server: &Server, body: &Value) -> Answer {
    std::thread::scope(|scope| {
        let running = scope.spawn(|| post(server, MARKED, None, body));
        let mut looks = 0;
        while !running.is_finished() {
            browsers(server.id()).iter().for_each(|line| assert_unmarked("a command line", line));
            if looks % 4 == 0 {
                profiles(server.id()).iter().for_each(|folder| assert_unmarked_files(folder));
            }
            looks += 1;
            std::thread::sleep(Duration::from_millis(150));
        }
        running.join().unwrap()
    })
}

/// Stops a server and searches everything that it wrote.
fn search_log(mut server: Server) -> Vec<String> {
    let metrics = server.get("/metrics").text();
    assert!(metrics.contains("josh_form_runs_total"));
    assert_unmarked("metrics", &metrics);
    assert_unmarked("/readyz", &server.get("/readyz").text());
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.id())).unwrap();
    let cores = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(cores.split_whitespace().nth(4), Some("0"), "memory is never written: {cores}");
    server.signal("TERM");
    assert!(server.wait().success());
    in_time("the whole log", || server.logged("\"stopped\""));
    let log = server.log();
    log.iter().for_each(|line| assert_unmarked("the log", line));
    assert!(profiles(server.id()).is_empty(), "no profile stays");
    log
}

/// [17] Given marks in every field, when runs succeed and fail in every way, then they are in no
/// line of any log, in no metric, error, command line or file.
#[test]
#[ignore = "needs Chromium"]
fn nobodys_data_are_anywhere() {
    let _alone = alone();
    let site = Site::start();
    let folder = tempfile::tempdir().unwrap();
    let [wizards, temporary] = ["wizards", "temporary"].map(|name| folder.path().join(name));
    std::fs::create_dir(&wizards).unwrap();
    std::fs::create_dir(&temporary).unwrap();
    marked_wizard(&wizards);
    let audit = folder.path().join("audit.jsonl");
    let flags = |more: &[&'static str]| {
        let mut flags = vec!["--forms-dir", wizards.to_str().unwrap()];
        // Everything that everyone says: a filter, not a level, so libraries are meant too.
        flags.extend(["--log", "trace,josh=trace", "--audit-log", audit.to_str().unwrap()]);
        flags.extend(more);
        flags.into_iter().map(str::to_string).collect::<Vec<_>>()
    };
    let start = |more: &[&'static str]| {
        let flags = flags(more);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        start_with(&site, &flags, &[("TMPDIR", temporary.to_str().unwrap())])
    };
    let server = start(&["--forms-per-hour", "0"]);
    let body = json!({ "user_data": marked_data(), "screenshots": "none" });
    for (switch, value, code) in [
        ("none", "", ""),
        ("drift", "missing", "wizard_page_changed"),
        ("drift", "new_required", "wizard_page_changed"),
        ("drift", "extra_page", "wizard_page_changed"),
        ("last_refused", "1", "wizard_form_refused"),
        ("wrong_option", "1", "wizard_field_not_taken"),
        ("refuse", "403", "wizard_site_refused"),
    ] {
        site.without_switches();
        site.switch(switch, value);
        let answer = run_watched(&server, &body);
        match code {
            "" => {
                assert_eq!(answer.status, 200, "{}", answer.text());
                let given: Vec<String> = site.take().remove(0).into_values().collect();
                let all = given.join(" ");
                assert!(MARKS.iter().all(|mark| all.contains(mark)), "the site has them: {all}");
            }
            code => {
                assert_eq!(answer.code(), code, "{switch} {value}: {}", answer.text());
                assert_unmarked("an error", &answer.text());
            }
        }
    }
    // Over MCP, in good order and not; and data that do not fit.
    let call = json!({ "wizard_id": "marked", "user_data": marked_data(), "screenshots": "none" });
    let refused = once(&server, "federalrunner_execute_wizard", call);
    assert_eq!(refused.is_error, Some(true));
    assert_unmarked("a tool's error", &serde_json::to_string(&refused).unwrap());
    let mut unfit = marked_data();
    unfit["last_earnings"] = json!("738201946 Potoroo");
    unfit["dollar_type"] = json!("quokka731958264");
    let answer = post(&server, MARKED, None, &json!({ "user_data": unfit }));
    assert_eq!(answer.code(), "invalid_user_data");
    assert_unmarked("an error", &answer.text());
    let json = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let message = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":
               {{"name":"federalrunner_execute_wizard","arguments":{arguments}}}}}"#
        )
    };
    for (path, body) in [
        ("/mcp", message("\"quokka731958264\"")),
        ("/mcp", message("[\"quokka731958264\"]")),
        ("/mcp", message("{\"wizard_id\":\"marked\",\"user_data\":\"quokka731958264\"}")),
        ("/mcp", message("{\"wizard_id\":\"marked\",\"user_data\":{\"quokka731958264\":1")),
        (MARKED, "{\"user_data\":\"quokka731958264\"}".into()),
        (MARKED, "{\"user_data\":{\"earnings\":\"quokka731958264\"".into()),
    ] {
        let answer = server.post(path, &json, body.as_bytes());
        assert_unmarked("an error", &answer.text());
    }
    // Out of time, too often, without a browser, not offered.
    site.without_switches();
    site.switch("slow", "15000");
    let hurried = start(&["--forms-ms", "3000", "--forms-per-hour", "1"]);
    let without = start(&["--forms-browser", "/nonexistent", "--forms-allow", "marked"]);
    in_time("the browser was tried", || hurried.logged(WORKS));
    let elsewhere = "/v1/forms/ssa-quick-calculator/runs";
    let mut fitting = crate::forms::ssa();
    fitting["current_earnings"] = json!(73_820_194);
    for (server, path, code) in [
        (&hurried, MARKED, "wizard_timeout"),
        (&hurried, MARKED, "rate_limited"),
        (&hurried, "/v1/forms/marqued/runs", "wizard_not_found"),
        (&without, MARKED, "browser_unavailable"),
        (&without, elsewhere, "wizards_off"),
    ] {
        let data = if path == elsewhere { fitting.clone() } else { marked_data() };
        let answer = post(server, path, None, &json!({ "user_data": data }));
        assert_eq!(answer.code(), code, "{}", answer.text());
        assert_unmarked("an error", &answer.text());
    }
    let log = search_log(server);
    let runs = log.iter().filter(|line| line.contains("form run"));
    assert_eq!(runs.count(), 8, "{log:?}");
    search_log(hurried);
    search_log(without);
    assert!(std::fs::read_to_string(&audit).unwrap().contains("federalrunner_execute_wizard"));
    assert_unmarked_files(folder.path());
}
