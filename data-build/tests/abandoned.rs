//! Work whose caller has gone stops: 400 callers who hang up after 20 ms do not keep the next one
//! waiting. With the real binary, a large bundle and real connections.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use josh::api::{Arguments, Code, Context};
use josh::bundle::Bundle;
use josh::toolsets::Toolsets;

const BUILDER: &str = env!("CARGO_BIN_EXE_josh-data-build");

/// A search that takes a while: words that are nearly everywhere, phrases, and by meaning, too.
const SLOW: &str = "/v1/search?q=the+public+federal+agency+report+program+state+act+%22of+the%22+\
                    %22to+the%22+%22in+the%22&limit=100";

struct Server {
    child: Child,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server's binary, which `cargo test --workspace` builds beside the builder's.
fn josh() -> PathBuf {
    let path = Path::new(BUILDER).with_file_name("josh");
    assert!(path.exists(), "{} is missing: run cargo test --workspace", path.display());
    path
}

impl Server {
    fn start(bundle: &Path) -> Server {
        let mut child = Command::new(josh())
            .args(["serve", "--listen", "127.0.0.1:0", "--workers", "2", "--log", "warn"])
            .args(["--queue-ms", "20000", "--bundle"])
            .arg(bundle)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.map_while(Result::ok).find_map(|line| {
            let url = line.trim().strip_prefix("web ")?.trim().trim_end_matches('/').to_string();
            url.strip_prefix("http://")?.parse().ok()
        });
        Server { child, address: address.expect("a banner") }
    }

    fn send(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        stream
    }

    /// How long an answer takes, which must be a good one.
    fn timed(&self, path: &str) -> Duration {
        let begun = Instant::now();
        let mut answer = String::new();
        let mut stream = self.send(path);
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        begun.elapsed()
    }
}

/// A large bundle, made once.
static LARGE: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("large.db");
    let built = Command::new(BUILDER)
        .args(["synth", "--passages", "40000", "--filings", "40000", "--seed", "3", "--out"])
        .arg(&bundle)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    (folder, bundle)
});

/// Both tests measure time: they take turns.
static TURN: Mutex<()> = Mutex::new(());

/// How long an operation runs on after its token was cancelled, which is after `delay` ms.
fn time_to_end(bundle: &Arc<Bundle>, operation: &str, query: &str, delay: u64) -> Duration {
    let context = Arc::new(Context::unbounded(bundle.clone()));
    let token = context.cancellation.clone();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let arguments = Arguments::from_query(&query.replace(' ', "+")).unwrap();
            let result = Toolsets::default().run(operation, arguments, &context);
            (result.map(drop), Instant::now())
        });
        std::thread::sleep(Duration::from_millis(delay));
        token.cancel();
        let cancelled = Instant::now();
        let (result, ended) = running.join().unwrap();
        let is_fine = result.as_ref().err().is_none_or(|e| e.code == Code::AnswerTimeout);
        assert!(is_fine, "{operation}: {result:?}");
        ended.saturating_duration_since(cancelled)
    })
}

/// Given work of every kind, when its token is cancelled, then it ends within 100 ms, with an
/// error or, if it was done by then, with its result.
#[test]
fn cancelled_work_of_every_kind_ends_at_once() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bundle = Arc::new(Bundle::open(&LARGE.1).unwrap());
    bundle.prepare_search();
    let question = SLOW.split_once('?').unwrap().1;
    for (operation, query) in [
        ("search", question),
        ("resolve_entity", "{source}=lda-filings&q=public federal agency report program state"),
        ("aggregate_records", "{source}=lda-filings&aggregate=count&group_by=registrant,client"),
        ("list_records", "{source}=lda-filings&sort=-amount&amount.gte=1"),
    ] {
        for delay in [0, 1, 5, 20, 100] {
            // A pause of the machine is not a fault of ours: the best of three counts.
            let ended = (0..3).map(|_| time_to_end(&bundle, operation, query, delay)).min();
            let ended = ended.unwrap();
            assert!(ended < Duration::from_millis(100), "{operation} after {delay} ms: {ended:?}");
        }
    }
    let context = Context::unbounded(bundle.clone());
    context.cancellation.cancel();
    let complete = josh::policy::CAPABILITY.complete;
    assert!(complete(&context, "id", "zzz").is_err(), "completion looks, too");
}

/// Given 400 searches whose callers reset the connection after 20 ms, when a normal one follows,
/// then it is answered within twice its unloaded time (plus an allowance for a busy machine); a
/// look-up with compression is not kept waiting, either.
#[test]
fn abandoned_searches_do_not_delay_the_next_one() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let server = Server::start(&LARGE.1);
    let mut alone: Vec<Duration> = (0..7).map(|_| server.timed(SLOW)).collect();
    alone.sort_unstable();
    let alone = alone[3];
    for wave in 0..8 {
        // Another question each: none is answered from a cache.
        let waiting: Vec<TcpStream> = (0..50)
            .map(|n| server.send(&format!("{SLOW}&since=19{:02}", (wave * 50 + n) % 100)))
            .collect();
        std::thread::sleep(Duration::from_millis(20));
        for stream in waiting {
            // Linger 0 would be a reset; closing both ways with unread data is one, too.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
    let after = server.timed(SLOW);
    let limit = alone * 2 + Duration::from_millis(100);
    assert!(after <= limit, "{after:?} after 400 abandoned searches, {alone:?} alone");
    let lookup = server.timed("/v1/sources");
    assert!(lookup <= Duration::from_millis(200), "{lookup:?}");
}
