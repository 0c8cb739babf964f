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
    let days = ["02", "03"].map(issue_address);
    let (quick, stuck) = (issue_path("02"), issue_path("03"));
    let list = bulk(&[(&days[0], "1"), (&days[1], "1")]);
    let hang = Reply { stall: Duration::from_secs(30), ..ok("<FEDREG>never whole</FEDREG>") };
    let server = Server::start(vec![
        (FR_LIST, always(list.clone())),
        (&quick, always(ok("<FEDREG/>"))),
        (&stuck, always(hang)),
    ]);
    let folder = Folder::new();
    let mut run =
        command(&server, &folder, &[&FR[..], &["--per-host", "1", "--timeout", "60"]].concat());
    let run = run.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut run = run.spawn().expect("a run");
    wait_for(|| server.targets().contains(&stuck));
    run.kill().expect("killed");
    run.wait().expect("gone");
    server.serve(vec![(FR_LIST, always(list)), (&stuck, always(ok("<FEDREG>whole</FEDREG>")))]);
    let run = fetch(&server, &folder, &FR);
    assert!(run.success, "{}", run.text);
    assert_eq!(counts(&run, "federal-register"), [1, 0, 1, 0]);
    assert_eq!(folder.files().len(), 2, "{:?}", folder.files());
}
