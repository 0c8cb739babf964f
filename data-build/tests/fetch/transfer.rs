//! Slow, silent, broken, busy and failing servers.

use std::time::{Duration, Instant};

use super::support::*;

/// Given a server that takes its time, longer in all than the timeout, when a file is fetched,
/// then it comes whole in one request: the timeout is of silence, not of length.
#[test]
fn a_slow_body_is_waited_for() {
    let slow = Reply { slow: Duration::from_millis(500), ..ok(rss()) };
    let server = Server::start(vec![(RSS, always(slow))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &[&GAO[..], &["--timeout", "2"]].concat());
    assert!(run.success, "{}", run.text);
    assert_eq!((folder.read(RSS_FILE), server.seen().len()), (rss(), 1));
}

/// Given a server that falls silent in the middle, when the timeout is over, then the rest is
/// asked for.
#[test]
fn a_silent_server_is_left_and_the_rest_asked_for() {
    let route: Route = Box::new(|request, _| match ranged(request) {
        Some(start) => rest_of(&rss(), start),
        None => Reply { stall: Duration::from_secs(4), ..ok(rss()) }.with("ETag", "\"one\""),
    });
    let server = Server::start(vec![(RSS, route)]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &[&GAO[..], &["--timeout", "1"]].concat());
    assert!(run.success, "{}", run.text);
    assert_eq!(folder.read(RSS_FILE), rss());
    assert!(server.seen()[1].header("range").starts_with("bytes="), "{:?}", server.seen()[1]);
}

fn ranged(request: &Request) -> Option<usize> {
    request.header("range").strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
}

fn rest_of(body: &str, start: usize) -> Reply {
    let range = format!("bytes {start}-{}/{}", body.len() - 1, body.len());
    Reply { status: 206, ..ok(&body.as_bytes()[start..]) }
        .with("ETag", "\"one\"")
        .with("Content-Range", range)
}

/// Given a connection that breaks off in the middle, when it is tried again, then only the rest is
/// asked for, of the same version, and the file and its checksum are those of the whole.
#[test]
fn a_broken_transfer_is_gone_on_with() {
    let route: Route = Box::new(|request, _| match ranged(request) {
        Some(start) => rest_of(&rss(), start),
        None => Reply { cut: Some(5000), ..ok(rss()) }.with("ETag", "\"one\""),
    });
    let server = Server::start(vec![(RSS, route)]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &GAO);
    assert!(run.success, "{}", run.text);
    let second = &server.seen()[1];
    assert_eq!((second.header("range"), second.header("if-range")), ("bytes=5000-", "\"one\""));
    assert_eq!((folder.read(RSS_FILE), folder.files().len()), (rss(), 1));
    assert!(fetch(&server, &folder, &["--verify"]).success, "the checksum is of the whole");
}

/// Given a run that gave up in the middle of a file, when the next run comes, then it goes on
/// there; and when the file changed meanwhile, it is fetched anew.
#[test]
fn the_next_run_goes_on_where_the_last_broke_off() {
    for changed in [false, true] {
        let cut = Reply { cut: Some(5000), ..ok(rss()) }.with("ETag", "\"one\"");
        let server = Server::start(vec![(RSS, one_by_one(vec![cut, status(404)]))]);
        let folder = Folder::new();
        let run = fetch(&server, &folder, &GAO);
        assert!(!run.success && run.text.contains("404"), "{}", run.text);
        assert_eq!(
            folder.files(),
            ["gao-reports/rss/2025-01-31/.reports.xml.part"],
            "hidden from the builder"
        );
        let newer = rss().replace("boats", "ships");
        let body = if changed { newer } else { rss() };
        let answer = body.clone();
        let route: Route = Box::new(move |request, _| match ranged(request) {
            Some(start) if !changed => rest_of(&answer, start),
            _ => ok(answer.clone()).with("ETag", "\"two\""),
        });
        server.serve(vec![(RSS, route)]);
        let run = fetch(&server, &folder, &GAO);
        assert!(run.success, "{}", run.text);
        assert_eq!(server.seen()[0].header("range"), "bytes=5000-");
        assert_eq!((folder.read(RSS_FILE), folder.files().len()), (body, 1));
    }
}

/// Given a server that says 429 with a time, when a file is fetched, then the fetcher waits as
/// long and no longer counts it as a failure, even with no retries left.
#[test]
fn a_server_that_asks_to_wait_is_waited_for() {
    let busy = status(429).with("Retry-After", "1");
    let server = Server::start(vec![(RSS, one_by_one(vec![busy, ok(rss())]))]);
    let folder = Folder::new();
    let started = Instant::now();
    let run = fetch(&server, &folder, &[&GAO[..], &["--retries", "0"]].concat());
    assert!(run.success, "{}", run.text);
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!((folder.read(RSS_FILE), server.seen().len()), (rss(), 2));
}

/// Given a server that asks for a longer wait than is allowed, then its file is given up with what
/// to do.
#[test]
fn a_wait_that_is_too_long_is_not_waited_for() {
    let server = Server::start(vec![(RSS, always(status(429).with("Retry-After", "9000")))]);
    let run = fetch(&server, &Folder::new(), &[&GAO[..], &["--longest-wait", "5"]].concat());
    assert!(!run.success && run.text.contains("asks to wait 9000 s"), "{}", run.text);
    assert_eq!(server.seen().len(), 1);
}

/// Given a server that counts the requests of the last hour and does not say for how long it
/// refuses, when a file is fetched, then it is asked for again until the longest wait is over, and
/// the wait is said.
#[test]
fn a_used_up_quota_is_waited_for() {
    let used_up = status(429).with("X-RateLimit-Limit", "5000").with("X-RateLimit-Remaining", "0");
    let server =
        Server::start(vec![(RSS, one_by_one(vec![used_up.clone(), used_up.clone(), ok(rss())]))]);
    let folder = Folder::new();
    let started = Instant::now();
    let run = fetch(&server, &folder, &[&GAO[..], &["--longest-wait", "6"]].concat());
    assert!(run.success, "{}", run.text);
    assert!(started.elapsed() >= Duration::from_secs(2), "two steps of a sixth");
    assert!(run.text.contains("www.gao.gov limits the rate of requests"), "{}", run.text);
    assert_eq!((folder.read(RSS_FILE), server.seen().len()), (rss(), 3));

    server.serve(vec![(RSS, always(used_up))]);
    let run = fetch(&server, &Folder::new(), &[&GAO[..], &["--longest-wait", "0.6"]].concat());
    assert!(!run.success && run.text.contains("quota was used up"), "{}", run.text);
    assert_eq!(server.seen().len(), 7);
}

/// Given a server that states when its window ends, when a file is fetched, then it is asked for
/// again then.
#[test]
fn the_end_of_a_window_is_waited_for() {
    let busy = status(429).with("X-RateLimit-Reset", "1");
    let server = Server::start(vec![(RSS, one_by_one(vec![busy, ok(rss())]))]);
    let started = Instant::now();
    assert!(fetch(&server, &Folder::new(), &GAO).success);
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.seen().len(), 2);
}

/// Given a server that fails and recovers, when a file is fetched, then 500, 502, 503 and 504 are
/// tried again.
#[test]
fn passing_errors_are_tried_again() {
    let replies = vec![status(500), status(503), status(502), status(504), ok(rss())];
    let server = Server::start(vec![(RSS, one_by_one(replies))]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &GAO);
    assert!(run.success, "{}", run.text);
    assert_eq!((folder.read(RSS_FILE), server.seen().len()), (rss(), 5));
}

/// Given errors that do not pass, when a file is fetched, then 400, 403 and 501 are asked once,
/// and 500 as often as allowed.
#[test]
fn other_errors_are_not_tried_again() {
    for (code, asked) in [(400, 1), (403, 1), (501, 1), (500, 3)] {
        let server = Server::start(vec![(RSS, always(status(code)))]);
        let folder = Folder::new();
        let run = fetch(&server, &folder, &[&GAO[..], &["--retries", "2"]].concat());
        assert!(!run.success && run.text.contains(&code.to_string()), "{}", run.text);
        assert_eq!((server.seen().len(), folder.files().len()), (asked, 0), "{code}");
    }
}

/// Given one file of three that is not there, when all are fetched, then the others are kept, the
/// summary names it and how to retry, and the exit code tells.
#[test]
fn a_missing_file_is_said_and_the_others_kept() {
    let days = ["02", "03", "06"].map(law_address);
    let list: Vec<(&str, &str)> = days.iter().map(|d| (d.as_str(), "03-Jan-2025 01:00")).collect();
    let (first, last) = (law_path("02"), law_path("06"));
    let server = Server::start(vec![
        (LAW_LIST, always(bulk(&list))),
        (&first, always(ok("<pLaw/>"))),
        (&last, always(ok("<pLaw/>"))),
    ]);
    let folder = Folder::new();
    let run = fetch(&server, &folder, &LAWS);
    assert!(!run.success);
    assert_eq!(counts(&run, "public-laws"), [2, 0, 0, 1]);
    assert!(run.text.contains(&format!("{}: status 404 Not Found", days[1])), "{}", run.text);
    assert!(run.text.contains("Run the same command again"), "{}", run.text);
    assert_eq!(
        folder.files(),
        ["02", "06"].map(|d| format!("public-laws/119/PLAW-119publ{d}.xml"))
    );
}
