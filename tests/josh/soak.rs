//! Everything at once, for a while: readers of every kind who check what they get, bundles swapped
//! under them, clients that go away in the middle, `kill -9` and a restart. Ends with counts.
//!
//! A few seconds in the ordinary run; `SOAK_SECONDS=600 SOAK_CLIENTS=32 cargo test --release
//! --test josh soak -- --nocapture` for longer. With `SOAK_PAUSE_MS=5` each client pauses after an
//! answer: clients that never do take all of the machine, and wait for each other.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{LazyLock, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use regex::bytes::Regex;
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

/// An answer as it must be, again and again: its status, and its bytes around what differs between
/// two requests or two editions. Comparing must cost little: the clients have no cores of their
/// own.
struct Right {
    status: u16,
    pieces: Vec<Vec<u8>>,
}

static DIFFERS: LazyLock<Regex> = LazyLock::new(|| {
    let number = r#"(took_ms|ms)\\?":\d+"#;
    let value = r"first|second|[0-9a-f]{16}-[0-9a-f]+|[A-Za-z0-9_-]{24,}";
    let text = format!(r#"(request_id|next_cursor|id)\\?":\\?"({value})"#);
    Regex::new(&format!("{number}|{text}")).unwrap()
});

impl Right {
    fn of(answer: &Answer) -> Right {
        let pieces = DIFFERS.split(&answer.bytes).map(<[u8]>::to_vec).collect();
        Right { status: answer.status, pieces }
    }

    fn is(&self, answer: &Answer) -> bool {
        let (bytes, mut at) = (&answer.bytes, 0);
        for (n, piece) in self.pieces.iter().enumerate() {
            if n > 0 {
                match DIFFERS.find_at(bytes, at) {
                    Some(found) if found.start() == at => at = found.end(),
                    _ => return false,
                }
            }
            if !bytes[at..].starts_with(piece) {
                return false;
            }
            at += piece.len();
        }
        answer.status == self.status && at == bytes.len()
    }
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

/// What a client has seen.
#[derive(Default)]
struct Seen {
    by_status: BTreeMap<(&'static str, u16), u64>,
    wrong: Vec<String>,
    /// Requests that were under way when the server was killed.
    cut: u64,
    times: Vec<Time>,
}

impl Seen {
    fn add(&mut self, other: Seen) {
        for (kind, count) in other.by_status {
            *self.by_status.entry(kind).or_default() += count;
        }
        self.wrong.extend(other.wrong);
        self.cut += other.cut;
        self.times.extend(other.times);
    }
}

/// Ends the clients, also when what watches them panics.
struct StopGuard<'a>(&'a AtomicBool);

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The server, which is killed once and then another one.
struct Served {
    now: RwLock<Server>,
    /// Changes when it is killed and when there is another.
    kills: AtomicUsize,
    is_down: AtomicBool,
    stop: AtomicBool,
}

impl Served {
    fn url(&self) -> String {
        self.now.read().unwrap().url.clone()
    }

    fn server(&self) -> RwLockReadGuard<'_, Server> {
        self.now.read().unwrap()
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn kill_and_start(&self, args: &[&str]) {
        self.is_down.store(true, Ordering::SeqCst);
        self.kills.fetch_add(1, Ordering::SeqCst);
        self.server().signal("KILL");
        let again = Server::start(args);
        *self.now.write().unwrap() = again;
        self.kills.fetch_add(1, Ordering::SeqCst);
        self.is_down.store(false, Ordering::SeqCst);
    }
}

/// A client that asks one thing after the other and compares what it gets.
fn keep_asking(client: usize, served: &Served, right: &[Right]) -> Seen {
    let (agent, mut seen) = (agent(), Seen::default());
    let pause = Duration::from_millis(setting("SOAK_PAUSE_MS", 0));
    for n in client.. {
        if served.is_over() {
            break;
        }
        std::thread::sleep(pause);
        let n = n % ASKED.len();
        let (asked, before, started) =
            (ASKED[n], served.kills.load(Ordering::SeqCst), Instant::now());
        match ask(&agent, &served.url(), asked) {
            Ok(answer) => {
                let took = started.elapsed().as_micros() as u64;
                *seen.by_status.entry((asked.0, answer.status)).or_default() += 1;
                let is_right = right[n].is(&answer);
                let is_busy = [429, 503].contains(&answer.status)
                    || (!is_right && answer.text().contains("[overloaded,"));
                if is_busy {
                    std::thread::sleep(Duration::from_millis(20));
                } else {
                    seen.times.push((asked.0, took));
                }
                if !is_right && !is_busy {
                    let told = format!("{asked:?}: {} {}", answer.status, answer.text());
                    seen.wrong.push(told);
                }
            }
            Err(_)
                if before != served.kills.load(Ordering::SeqCst)
                    || served.is_down.load(Ordering::SeqCst) =>
            {
                seen.cut += 1;
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(error) => {
                seen.wrong.push(format!("{asked:?} after {:?}: {error}", started.elapsed()));
            }
        }
    }
    seen
}

/// Clients that go away: after half a head, after a request, while the answer comes.
fn come_and_go(served: &Served) {
    for n in 0.. {
        if served.is_over() {
            break;
        }
        if let Ok(mut stream) = TcpStream::connect(served.url().strip_prefix("http://").unwrap()) {
            let whole = b"GET /v1/search?q=water+health HTTP/1.1\r\nhost: localhost\r\n\r\n";
            let _ = stream.write_all(&whole[..if n % 2 == 0 { whole.len() } else { 20 }]);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
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
    let served = Served {
        now: RwLock::new(Server::start(&args)),
        kills: AtomicUsize::new(0),
        is_down: AtomicBool::new(false),
        stop: AtomicBool::new(false),
    };

    // Unloaded: one client, the right answers and the time they take.
    let quiet = agent();
    let right: Vec<Right> =
        ASKED.iter().map(|asked| Right::of(&ask(&quiet, &served.url(), *asked).unwrap())).collect();
    let is_good = |(right, asked): (&Right, &(&str, &str))| {
        right.status == if asked.0 == "missing" { 404 } else { 200 }
    };
    assert!(right.iter().zip(ASKED).all(is_good));
    let mut times = Vec::new();
    let unloaded = Instant::now();
    while unloaded.elapsed() < Duration::from_secs(seconds.min(60) / 4) {
        for asked in ASKED {
            let started = Instant::now();
            ask(&quiet, &served.url(), *asked).unwrap();
            times.push((asked.0, started.elapsed().as_micros() as u64));
        }
    }

    let (mut seen, mut memory, mut swaps) = (Seen::default(), Vec::new(), 0);
    std::thread::scope(|scope| {
        let _stop = StopGuard(&served.stop);
        let asking: Vec<_> = (0..clients)
            .map(|client| {
                scope.spawn({
                    let (served, right) = (&served, &right);
                    move || keep_asking(client, served, right)
                })
            })
            .collect();
        scope.spawn(|| come_and_go(&served));
        let ends = Instant::now() + Duration::from_secs(seconds);
        let mut killed = false;
        while Instant::now() < ends {
            // Often at first, then at ease: a thousand swaps take what a long run has anyway.
            std::thread::sleep(Duration::from_millis(if seconds > 60 { 500 } else { 100 }));
            swaps += 1;
            put(&editions[swaps % 2]);
            served.server().signal("HUP");
            if swaps % 20 == 5 {
                memory.push(resident_mb(&served.server()));
            }
            if !killed && Instant::now() + Duration::from_secs(seconds / 2) > ends {
                killed = true;
                served.kill_and_start(&args);
                memory.clear();
            }
        }
        served.stop.store(true, Ordering::SeqCst);
        asking.into_iter().for_each(|client| seen.add(client.join().unwrap()));
    });
    let last = resident_mb(&served.server());
    let all: u64 = seen.by_status.values().sum();
    println!(
        "soak: {seconds} s, {clients} clients, {all} answers, {swaps} swaps, 1 kill -9 \
         ({} requests cut by it)",
        seen.cut
    );
    for ((kind, status), count) in &seen.by_status {
        println!("  {kind:<8} {status} {count:>8}");
    }
    let kinds = ASKED.iter().map(|asked| asked.0).collect::<std::collections::BTreeSet<_>>();
    for kind in kinds.into_iter().map(Some).chain([None]) {
        let (alone, loaded) = (p99(&times, kind), p99(&seen.times, kind));
        println!(
            "  {:<8} p99 {alone:.1} ms alone, {loaded:.1} ms under load: {:.1} times",
            kind.unwrap_or("all"),
            loaded / alone
        );
    }
    let first = memory.first().copied().unwrap_or(last);
    println!("  memory {first:.0} MB soon after the restart, {last:.0} MB at the end");
    let log = served.server().log();
    let some = |lines: &[String]| lines.join("\n").chars().take(2_000).collect::<String>();
    assert!(
        seen.wrong.is_empty(),
        "{} lost or wrong: {}\nlogged at last: {}",
        seen.wrong.len(),
        some(&seen.wrong),
        some(&log[log.len().saturating_sub(5)..])
    );
    let known = [200, 404, 429, 503];
    assert!(
        all > 100 && seen.by_status.keys().all(|(_, status)| known.contains(status)),
        "{:?}",
        seen.by_status
    );
    assert_eq!(served.server().get("/livez").status, 200);
}
