//! Two runs into one folder, and a run that is killed.

use std::time::{Duration, Instant};

use super::support::*;

fn wait_for(done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(30), "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Given two runs into one folder, when the second starts, then it says that the first is at work.
#[test]
fn two_runs_do_not_share_a_folder() {
    let slow = Reply { slow: Duration::from_millis(400), ..ok(rss()) };
    let server = Server::start(vec![(RSS, always(slow))]);
    let folder = Folder::new();
    let mut first =
        command(&server, &folder, &GAO).stdout(std::process::Stdio::null()).spawn().expect("a run");
    wait_for(|| !server.seen().is_empty());
    let second = fetch(&server, &folder, &GAO);
    assert!(!second.success && second.text.contains("another fetch is running"), "{}", second.text);
    assert!(first.wait().expect("it ends").success());
}

/// Given a killed run, when the next comes, then what was complete is not fetched again.
#[test]
fn a_killed_run_loses_little() {
    let days = ["02", "03"].map(law_address);
    let (quick, stuck) = (law_path("02"), law_path("03"));
    let list = bulk(&[(&days[0], "1"), (&days[1], "1")]);
    let hang = Reply { stall: Duration::from_secs(30), ..ok("<pLaw>never whole</pLaw>") };
    let server = Server::start(vec![
        (LAW_LIST, always(list.clone())),
        (&quick, always(ok("<pLaw/>"))),
        (&stuck, always(hang)),
    ]);
    let folder = Folder::new();
    let mut run =
        command(&server, &folder, &[&LAWS[..], &["--per-host", "1", "--timeout", "60"]].concat());
    let run = run.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut run = run.spawn().expect("a run");
    wait_for(|| server.targets().contains(&stuck));
    run.kill().expect("killed");
    run.wait().expect("gone");
    server.serve(vec![(LAW_LIST, always(list)), (&stuck, always(ok("<pLaw>whole</pLaw>")))]);
    let run = fetch(&server, &folder, &LAWS);
    assert!(run.success, "{}", run.text);
    assert_eq!(counts(&run, "public-laws"), [1, 0, 1, 0]);
    assert_eq!(folder.files().len(), 2, "{:?}", folder.files());
}

/// Given a run, when it has ended, then the state says of each file and each source when it was
/// fetched, and of a source for which days, with how many failures and gaps.
#[test]
fn the_state_says_when_what_was_fetched() {
    let server = Server::start(vec![(RSS, always(ok(rss())))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &GAO);
    let gap = "only reports that were among the newest when the feed was fetched";
    assert!(run.text.contains(&format!("gao-reports: {gap}")), "{}", run.text);
    let text = folder.read("fetch-state.jsonl");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [source, file] = &lines[..] else { panic!("{text}") };
    for line in [source, file] {
        assert_eq!(line["source"], "gao-reports");
        let fetched = line["fetched"].as_str().unwrap_or_default();
        assert!(fetched.len() == 20 && fetched.ends_with('Z'), "{fetched:?}");
    }
    let ran = serde_json::json!({
        "since": "2025-01-03", "until": "2025-01-31", "failed": 0, "gaps": [gap]
    });
    assert_eq!((&source["ran"], &source["path"]), (&ran, &serde_json::Value::Null));
    assert_eq!(file["path"], RSS_FILE);
}
