//! Everything at once, for a while: readers of every kind who check what they get, bundles swapped
//! under them, clients that go away in the middle, `kill -9` and a restart. Ends with counts.
//!
//! A few seconds in the ordinary run; `SOAK_SECONDS=600 SOAK_CLIENTS=32 cargo test --release
//! --test josh soak -- --nocapture` for longer.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, RwLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Answer, Server, edition};

/// What is asked, over and over: (kind, path or tool with arguments). Half of it are look-ups, as
/// in life.
const ASKED: &[(&str, &str)] = &[
    ("record", "/v1/bills/hr:119:1"),
    ("record", "/v1/fetch/P.L.%20119-21"),
    ("record", "/v1/legislators/M000133"),
    ("record", "/v1/bills/s:119:5?fields=title,status"),
    ("record", "/v1/committees/HSWM"),
    ("missing", "/v1/bills/hr:119:99999"),
    ("list", "/v1/bills?status=enacted&limit=20"),
    ("list", "/v1/roll-call-votes/house:119:1:145/positions?limit=50"),
    ("count", "/v1/bills?aggregate=count&group_by=status"),
    ("dossier", "/v1/bills/hr:119:1/dossier"),
    ("name", "/v1/legislators?q=Sen.%20Markley%20from%20Mass."),
    ("search", "/v1/search?q=drinking+water&mode=lexical&limit=5"),
    ("search", "/v1/search?q=revenge+porn+and+deepfakes&limit=5"),
    ("tool", r#"{"name":"get_bill","arguments":{"bill_id":"hr:119:1"}}"#),
    ("tool", r#"{"name":"list_cosponsors","arguments":{"bill_id":"hr:118:82"}}"#),
];

fn ask(agent: &ureq::Agent, url: &str, (kind, what): (&str, &str)) -> Result<Answer, ureq::Error> {
    let mut response = match kind {
        "tool" => {
            let params: Value = serde_json::from_str(what).unwrap();
            let message =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let request =
                agent.post(format!("{url}/mcp")).header("content-type", "application/json");
            request
                .header("accept", "application/json, text/event-stream")
                .send(message.to_string())?
        }
        _ => agent.get(format!("{url}{what}")).call()?,
    };
    let bytes = response.body_mut().with_config().limit(16 << 20).read_to_vec()?;
    Ok(Answer { status: response.status().as_u16(), headers: response.headers().clone(), bytes })
}

/// The answer without what differs between two requests or two editions.
fn lasting(answer: &Answer) -> String {
    static DIFFERS: LazyLock<regex::Regex> = LazyLock::new(|| {
        let number = r#"(took_ms|ms)\\?":\d+"#;
        let text = r#"(request_id|next_cursor|id)\\?":\\?"(first|second|[0-9a-f]{16}-[0-9a-f]+|[A-Za-z0-9_-]{24,})"#;
        regex::Regex::new(&format!("{number}|{text}")).unwrap()
    });
    DIFFERS.replace_all(&answer.text(), "").into_owned()
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(40)))
        .build()
        .into()
}

fn resident_mb(server: &Server) -> f64 {
    crate::operations::metric(server, "process_resident_memory_bytes") / 1e6
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// How long a request of a kind took, in microseconds.
type Time = (&'static str, u64);

/// Of these times, 99 of 100 were no longer, in milliseconds; of one kind or of all.
fn p99(times: &[Time], kind: Option<&str>) -> f64 {
    let own = times.iter().filter(|time| kind.is_none_or(|kind| time.0 == kind));
    let mut times: Vec<u64> = own.map(|time| time.1).collect();
    times.sort_unstable();
    times.get((times.len() * 99 / 100).min(times.len().saturating_sub(1))).copied().unwrap_or(0)
        as f64
        / 1e3
}

/// What the readers have seen.
#[derive(Default)]
struct Seen {
    by_status: Mutex<BTreeMap<(String, u16), u64>>,
    wrong: Mutex<Vec<String>>,
    /// Requests that were under way when the server was killed.
    cut: AtomicU64,
    times: Mutex<Vec<Time>>,
}

#[test]
fn soak() {
    let (seconds, clients) = (setting("SOAK_SECONDS", 8), setting("SOAK_CLIENTS", 8) as usize);
    let folder = tempfile::tempdir().unwrap();
    let editions =
        [edition(folder.path(), "a.db", "first"), edition(folder.path(), "b.db", "second")];
    let path = folder.path().join("federal.db");
    let put = |edition: &Path| {
        let new = folder.path().join("new");
        std::fs::hard_link(edition, &new).unwrap();
        std::fs::rename(&new, &path).unwrap();
    };
    put(&editions[0]);
    let args = ["--bundle", path.to_str().unwrap(), "--log", "warn"];
    let server = RwLock::new(Server::start(&args));
    let url = || server.read().unwrap().url.clone();

    // Unloaded: one client, the right answers and the time they take.
    let quiet = agent();
    let right: Vec<(u16, String)> = ASKED
        .iter()
        .map(|asked| {
            ask(&quiet, &url(), *asked).map(|answer| (answer.status, lasting(&answer))).unwrap()
        })
        .collect();
    assert!(
        right
            .iter()
            .zip(ASKED)
            .all(|((status, _), (kind, _))| *status == if *kind == "missing" { 404 } else { 200 })
    );
    let mut times = Vec::new();
    let unloaded = Instant::now();
    while unloaded.elapsed() < Duration::from_secs(seconds.min(60) / 4) {
        for asked in ASKED {
            let started = Instant::now();
            ask(&quiet, &url(), *asked).unwrap();
            times.push((asked.0, started.elapsed().as_micros() as u64));
        }
    }

    let (seen, stop, kills, swaps) =
        (Seen::default(), AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let is_down = AtomicBool::new(false);
    let mut memory = Vec::new();
    std::thread::scope(|scope| {
        for client in 0..clients {
            let (seen, stop, kills, is_down, right, url) =
                (&seen, &stop, &kills, &is_down, &right, &url);
            scope.spawn(move || {
                let agent = agent();
                for n in client.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let (n, before, started) =
                        (n % ASKED.len(), kills.load(Ordering::SeqCst), Instant::now());
                    match ask(&agent, &url(), ASKED[n]) {
                        Ok(answer) => {
                            let took = started.elapsed().as_micros() as u64;
                            *seen
                                .by_status
                                .lock()
                                .unwrap()
                                .entry((ASKED[n].0.into(), answer.status))
                                .or_default() += 1;
                            let is_busy = [429, 503].contains(&answer.status)
                                || answer.text().contains("[overloaded,");
                            let is_right =
                                answer.status == right[n].0 && lasting(&answer) == right[n].1;
                            match is_busy {
                                true => std::thread::sleep(Duration::from_millis(20)),
                                false => seen.times.lock().unwrap().push((ASKED[n].0, took)),
                            }
                            if !is_right && !is_busy {
                                seen.wrong.lock().unwrap().push(format!(
                                    "{:?}: {} {}",
                                    ASKED[n],
                                    answer.status,
                                    answer.text()
                                ));
                            }
                        }
                        Err(_)
                            if before != kills.load(Ordering::SeqCst)
                                || is_down.load(Ordering::SeqCst) =>
                        {
                            seen.cut.fetch_add(1, Ordering::Relaxed);
                            std::thread::sleep(Duration::from_millis(50));
                        }
                        Err(error) => {
                            seen.wrong.lock().unwrap().push(format!("{:?}: {error}", ASKED[n]))
                        }
                    }
                }
            });
        }
        // Clients that go away: after half a head, after a request, while the answer comes.
        scope.spawn(|| {
            for n in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                if let Ok(mut stream) = TcpStream::connect(url().strip_prefix("http://").unwrap()) {
                    let whole =
                        b"GET /v1/search?q=water+health HTTP/1.1\r\nhost: localhost\r\n\r\n";
                    let _ = stream.write_all(&whole[..if n % 2 == 0 { whole.len() } else { 20 }]);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let ends = Instant::now() + Duration::from_secs(seconds);
        let mut killed = false;
        while Instant::now() < ends {
            // Often at first, then at ease: a thousand swaps take what a long run has anyway.
            std::thread::sleep(Duration::from_millis(if seconds > 60 { 500 } else { 100 }));
            put(&editions[(swaps.fetch_add(1, Ordering::Relaxed) + 1) % 2]);
            server.read().unwrap().signal("HUP");
            if swaps.load(Ordering::Relaxed) % 20 == 5 {
                memory.push(resident_mb(&server.read().unwrap()));
            }
            if !killed && Instant::now() + Duration::from_secs(seconds / 2) > ends {
                killed = true;
                is_down.store(true, Ordering::SeqCst);
                kills.fetch_add(1, Ordering::SeqCst);
                server.read().unwrap().signal("KILL");
                let again = Server::start(&args);
                *server.write().unwrap() = again;
                kills.fetch_add(1, Ordering::SeqCst);
                is_down.store(false, Ordering::SeqCst);
                memory.clear();
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let last = resident_mb(&server.read().unwrap());
    let counts = seen.by_status.into_inner().unwrap();
    let all: u64 = counts.values().sum();
    println!(
        "soak: {seconds} s, {clients} clients, {all} answers, {} swaps, 1 kill -9 \
         ({} requests cut by it)",
        swaps.into_inner(),
        seen.cut.into_inner()
    );
    for ((kind, status), count) in &counts {
        println!("  {kind:<8} {status} {count:>8}");
    }
    let loaded = seen.times.into_inner().unwrap();
    let kinds = ASKED.iter().map(|asked| asked.0).collect::<std::collections::BTreeSet<_>>();
    for kind in kinds.into_iter().map(Some).chain([None]) {
        let (alone, loaded) = (p99(&times, kind), p99(&loaded, kind));
        println!(
            "  {:<8} p99 {alone:.1} ms alone, {loaded:.1} ms under load: {:.1} times",
            kind.unwrap_or("all"),
            loaded / alone
        );
    }
    let first = memory.first().copied().unwrap_or(last);
    println!("  memory {first:.0} MB soon after the restart, {last:.0} MB at the end");
    let wrong = seen.wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} lost or wrong, first: {}", wrong.len(), wrong[0]);
    assert!(
        all > 100 && counts.keys().all(|(_, status)| [200, 404, 429, 503].contains(status)),
        "{counts:?}"
    );
    assert_eq!(server.read().unwrap().get("/livez").status, 200);
}
