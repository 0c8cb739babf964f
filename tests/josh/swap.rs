//! Section 10: a bundle is replaced while it is served. No request is dropped, no response mixes
//! two editions, and a file that can't be used is refused.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use josh::bundle::format::SectionKind;
use josh::bundle::{Bundle, read_manifest, writer};

use crate::support::{Server, edition, eventually, sample};

/// The sample as another edition, with this id not only in the manifest but also, as the status of
/// every bill, in the database.
fn distinct_edition(folder: &Path, id: &str) -> PathBuf {
    let (file, mut manifest) = read_manifest(&sample()).unwrap();
    manifest.id = id.to_string();
    // With columns no list would ask the database.
    manifest.sections.retain(|section| section.kind != SectionKind::Columns);
    let mut parts = Vec::new();
    for section in &manifest.sections {
        let mut bytes = vec![0; section.length as usize];
        file.read_exact_at(&mut bytes, section.offset).unwrap();
        let path = folder.join(format!("{id}.{:?}", section.kind));
        std::fs::write(&path, bytes).unwrap();
        if section.kind == SectionKind::Database {
            let database = duckdb::Connection::open(&path).unwrap();
            let update = format!("UPDATE bills SET status = '{id}'; CHECKPOINT");
            database.execute_batch(&update).unwrap();
            database.close().unwrap();
        }
        parts.push((section.kind, path));
    }
    let parts: Vec<_> = parts.iter().map(|(kind, path)| (*kind, path.as_path())).collect();
    let out = folder.join(format!("{id}.db"));
    writer::write(&out, &parts, manifest).unwrap();
    out
}

/// Puts this edition at the path, as a careful administrator would: by renaming.
fn put(edition: &Path, path: &Path) {
    let link = path.with_extension("new");
    std::fs::hard_link(edition, &link).unwrap();
    std::fs::rename(&link, path).unwrap();
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn served(server: &Server) -> String {
    server.get("/health").json()["bundle"]["id"].as_str().unwrap().to_string()
}

#[test]
fn sighup_swaps_bundles_and_drops_no_request() {
    const COUNT: &str = "/v1/bills?aggregate=count&group_by=status";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("federal.db");
    let editions = ["first", "second", "third"].map(|id| (id, distinct_edition(folder.path(), id)));
    put(&editions[0].1, &path);
    let server = Server::start(&["--bundle", path.to_str().unwrap()]);
    assert_eq!(served(&server), "first");
    let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        // Also when an assertion fails here: the scope waits for its threads.
        let _stopping = SetOnDrop(&stop);
        for query in
            ["/v1/bills/hr:119:1", "/v1/bills?limit=50", "/v1/bills/s:119:5/actions", COUNT]
        {
            let (server, stop, answered) = (&server, &stop, &answered);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let answer = server.try_send("GET", query, &[]).expect("no request is dropped");
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    let answer = answer.json();
                    let id = answer["meta"]["bundle"]["id"].as_str().unwrap();
                    assert!(["first", "second", "third"].contains(&id), "{id}");
                    if query == COUNT {
                        let keys: Vec<_> = answer["buckets"].as_array().unwrap().iter().collect();
                        assert_eq!((keys.len(), &keys[0]["key"]), (1, &id.into()), "{answer}");
                    }
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for (id, next) in &editions[1..] {
            put(next, &path);
            server.signal("HUP");
            eventually("the new bundle is served", || served(&server) == *id);
            let before = answered.load(Ordering::Relaxed);
            eventually("every client goes on", || answered.load(Ordering::Relaxed) > before + 20);
        }
    });
    assert!(answered.load(Ordering::Relaxed) > 20);
}

#[test]
fn a_changed_file_is_reloaded_without_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let path = edition(folder.path(), "federal.db", "first");
    let server = Server::start(&["--bundle", path.to_str().unwrap()]);
    let next = edition(folder.path(), "next.db", "second");
    std::fs::rename(next, &path).unwrap();
    eventually("the new bundle is served", || served(&server) == "second");
}

/// Given two editions whose databases differ, when one is renamed over the other at some moment
/// while the path is being opened, then what opens has its manifest and its database from one file.
#[test]
fn an_opened_bundle_is_never_a_mix_of_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("federal.db");
    let editions = ["first", "second"].map(|id| distinct_edition(folder.path(), id));
    put(&editions[0], &path);
    let (opening, swaps) = mpsc::channel::<Duration>();
    std::thread::scope(|scope| {
        let path = &path;
        scope.spawn(move || {
            for (swap, delay) in swaps.iter().enumerate() {
                std::thread::sleep(delay);
                put(&editions[(swap + 1) % 2], path);
            }
        });
        for n in 0..60 {
            // From before the manifest is read until after the database is opened.
            opening.send(Duration::from_micros(n % 20 * 100)).unwrap();
            let bundle = Bundle::open(path).unwrap();
            let sql = "SELECT DISTINCT status FROM bills";
            let never = josh::bundle::Interrupt::never();
            let statuses = bundle.db.query(sql, &[], &never, |row| row.get::<String>(0)).unwrap();
            assert_eq!(statuses, std::slice::from_ref(&bundle.manifest.id));
        }
        drop(opening);
    });
}

#[test]
fn a_bad_new_bundle_is_refused_and_the_old_one_stays_in_service() {
    let folder = tempfile::tempdir().unwrap();
    let path = edition(folder.path(), "federal.db", "first");
    let mut server = Server::start(&["--bundle", path.to_str().unwrap()]);
    let mut is_refused = |reason: &str| {
        server.signal("HUP");
        eventually(reason, || server.logged(reason));
        assert!(server.is_running());
        assert_eq!(served(&server), "first");
        assert_eq!(server.get("/v1/bills?congress=119").status, 200);
        assert_eq!(server.get("/v1/fetch/hr:119:1").status, 200);
    };
    for (content, reason) in [("not a bundle", "it is too short"), ("", "it is empty")] {
        let bad = folder.path().join("bad");
        std::fs::write(&bad, content).unwrap();
        std::fs::rename(&bad, &path).unwrap();
        is_refused(reason);
    }
    std::fs::remove_file(&path).unwrap();
    is_refused("cannot read it");
}

fn open_for_writing(path: &Path) -> File {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    OpenOptions::new().write(true).open(path).unwrap()
}

/// Given a served bundle, when its records are overwritten in place, then nothing is served from it
/// any more, least of all a 404 for a record that it has, until an intact bundle is put there.
#[test]
fn a_bundle_overwritten_in_place_is_unavailable_until_it_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = edition(folder.path(), "federal.db", "first");
    let next = edition(folder.path(), "next.db", "second");
    let server = Server::start(&["--bundle", path.to_str().unwrap()]);
    assert_eq!(server.get("/v1/bills/hr:119:1").status, 200);
    let (_, manifest) = read_manifest(&path).unwrap();
    let records = manifest.section(SectionKind::Records).unwrap();
    let zeros = vec![0; records.length as usize];
    open_for_writing(&path).write_all_at(&zeros, records.offset).unwrap();
    for query in [
        "/v1/bills/hr:119:1",
        "/v1/fetch/P.L.%20119-21",
        "/v1/bills?congress=119",
        "/v1/bills/hr:119:1/dossier",
        "/v1/search?q=water&mode=lexical",
    ] {
        let answer = server.get(query);
        assert_eq!((answer.status, answer.code().as_str()), (503, "bundle_unavailable"), "{query}");
    }
    assert_eq!(server.get("/readyz").status, 503);
    std::fs::rename(&next, &path).unwrap();
    eventually("the new bundle is served", || served(&server) == "second");
    assert_eq!(server.get("/v1/bills/hr:119:1").status, 200);
}

/// Given a served bundle, when its file is only touched, then it is opened again by itself.
#[test]
fn a_touched_bundle_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = edition(folder.path(), "federal.db", "first");
    let server = Server::start(&["--bundle", path.to_str().unwrap()]);
    open_for_writing(&path).set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    let opened = || server.log().iter().filter(|line| line.contains("bundle swapped")).count();
    eventually("it is opened again", || opened() == 1);
    eventually("it is served again", || server.get("/v1/bills/hr:119:1").status == 200);
}
