//! Section 10: bundles are swapped with no request dropped, and a bad new one is refused.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::support::{Server, edition, eventually};

fn served(server: &Server) -> String {
    server.get("/health").json()["bundle"]["id"].as_str().unwrap().to_string()
}

#[test]
fn sighup_swaps_bundles_and_drops_no_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = edition(folder.path(), "federal.db", "first");
    let server = Server::start(&["--bundle", path.to_str().unwrap()]);
    assert_eq!(served(&server), "first");
    let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for query in ["/v1/bills/hr:119:1", "/v1/bills?congress=119&limit=50", "/v1/bills/s:119:5/actions"] {
            let (server, stop, answered) = (&server, &stop, &answered);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let answer = server.try_send("GET", query, &[]).expect("no request is dropped");
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    assert!(
                        ["first", "second", "third"].contains(&answer.json()["meta"]["bundle"]["id"].as_str().unwrap())
                    );
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for name in ["second", "third"] {
            let next = edition(folder.path(), &format!("{name}.db"), name);
            std::fs::rename(next, &path).unwrap();
            server.signal("HUP");
            eventually("the new bundle is served", || served(&server) == name);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(answered.load(Ordering::Relaxed) > 20);
    assert!(server.logged("bundle swapped"));
}

#[test]
fn a_changed_file_is_taken_up_without_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let path = edition(folder.path(), "federal.db", "first");
    let server = Server::start(&["--bundle", path.to_str().unwrap()]);
    let next = edition(folder.path(), "next.db", "second");
    std::fs::rename(next, &path).unwrap();
    eventually("the new bundle is served", || served(&server) == "second");
}

#[test]
fn a_bad_new_bundle_is_refused_and_the_old_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = edition(folder.path(), "federal.db", "first");
    let mut server = Server::start(&["--bundle", path.to_str().unwrap()]);
    for garbage in [&b"not a bundle"[..], b""] {
        let bad = folder.path().join("bad");
        std::fs::write(&bad, garbage).unwrap();
        std::fs::rename(&bad, &path).unwrap();
        server.signal("HUP");
        eventually("it is refused", || server.logged("new bundle refused"));
        assert_eq!(served(&server), "first");
        assert_eq!(server.get("/v1/bills?congress=119").status, 200);
        assert_eq!(server.get("/v1/fetch/hr:119:1").status, 200);
    }
    std::fs::remove_file(&path).unwrap();
    server.signal("HUP");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(server.is_running());
    assert_eq!(server.get("/v1/bills/hr:119:1").status, 200);
}
