//! Callers who take and never give: half-sent messages, sessions without end, streams that stay
//! open. Memory stays bounded, others are answered, and the server stops when it is told to.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::access::Guarded;
use crate::support::{Answer, Server, sample};

const JSON: (&str, &str) = ("content-type", "application/json");
const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// Given any number of files that may be open, when a bundle is opened, then it is, or the error
/// says why; nothing ends the process. (DuckDB did, where it could not read the limits of its
/// control group.)
#[test]
fn too_few_files_end_nothing() {
    let bundle = sample();
    for most in 3..24 {
        let mut command = std::process::Command::new("sh");
        let limited = format!("ulimit -n {most}; exec \"$0\" \"$@\"");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_josh"), "get", "/v1/bills/hr:119:1"]);
        let ended = command.arg("--bundle").arg(&bundle).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        // 101: the runtime has no files for its own signals and timers.
        assert!(matches!(ended.status.code(), Some(0..=2 | 101)), "{most} files: {ended:?}");
        assert!(ended.status.success() || !said.is_empty(), "{most} files");
        if ended.status.success() {
            assert!(String::from_utf8_lossy(&ended.stdout).contains("hr:119:1"), "{most} files");
        }
    }
}

/// The memory that the server's process holds, in MB.
fn resident_mb(server: &Server) -> u64 {
    let metrics = server.get("/metrics").text();
    let line = metrics.lines().find(|l| l.starts_with("process_resident_memory_bytes "));
    line.unwrap().rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64 >> 20
}

/// Begins posts of 1 MB to /mcp and sends all but their last bytes.
fn half_sent(server: &Server, count: usize) -> Vec<TcpStream> {
    let address = server.url.strip_prefix("http://").unwrap();
    let (part, length) = (vec![b' '; 64 << 10], 1 << 20);
    let send = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {length}\r\n\r\n"
        );
        let _ = stream.write_all(head.as_bytes());
        for _ in 0..15 {
            // Refused ones take nothing more.
            if stream.write_all(&part).is_err() {
                break;
            }
        }
        stream
    };
    (0..count).map(send).collect()
}

fn list_tools(server: &Server, headers: &[(&str, &str)]) -> Answer {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let mut all = vec![JSON, ACCEPT, ("mcp-protocol-version", "2025-11-25")];
    all.extend(headers);
    server.post("/mcp", &all, body.to_string().as_bytes())
}

/// Given many messages that never end, when others call, then they are answered at once and memory
/// stays bounded: without a token 16 KB are read, and all long ones share a bounded room.
#[test]
fn messages_that_never_end_cost_little() {
    let guarded = Guarded::start(None, &[]);
    let key = guarded.keys(&["add", "alice", "--scopes", "josh:read,josh:metrics"]);
    let open = Server::start(&[]);
    let before = resident_mb(&open);
    let streams: Vec<TcpStream> =
        half_sent(&open, 200).into_iter().chain(half_sent(&guarded.server, 200)).collect();
    let started = Instant::now();
    for _ in 0..20 {
        assert_eq!(open.get("/v1/bills/hr:119:1").status, 200);
        assert_eq!(guarded.get("/v1/bills/hr:119:1", &key).status, 200);
        assert_eq!(list_tools(&open, &[]).status, 200, "a short message always fits");
    }
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    let after = resident_mb(&open);
    assert!(after < before + 150, "{before} MB before, {after} MB after");
    drop(streams);
}

/// Given a client that speaks HTTP/2 without asking (h2load does), when it opens streams, then it
/// is told at once, in HTTP/1.1, that this is none of ours, and cut; nothing of what follows is
/// read.
#[test]
fn http_2_is_refused_whoever_insists() {
    let server = Server::start(&[]);
    let before = resident_mb(&server);
    // An empty SETTINGS frame, then the heads of streams 1, 3, 5 …: `GET /openapi.json`.
    let mut sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    let head = [&[0x82, 0x86, 0x04, 13][..], b"/openapi.json"].concat();
    for stream in (1..40_000u32).step_by(2) {
        sent.extend([0, 0, head.len() as u8, 1, 5]);
        sent.extend(stream.to_be_bytes());
        sent.extend(&head);
    }
    let started = Instant::now();
    let answer = server.raw(&sent, Duration::from_secs(5));
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert_eq!(server.get("/v1/bills/hr:119:1").status, 200);
    assert!(resident_mb(&server) < before + 20, "{before} MB before");
}

/// Given no token, when a message is longer than a handshake needs, then it is refused as such; a
/// caller with a key may send it.
#[test]
fn long_messages_are_for_callers_who_are_known() {
    let guarded = Guarded::start(None, &[]);
    let key = guarded.keys(&["add", "alice"]);
    let long = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": { "_meta": { "note": "x".repeat(20_000) } } });
    let without = guarded.rpc(&long, None);
    assert_eq!((without.status, without.code().as_str()), (413, "payload_too_large"));
    assert!(without.text().contains("16 KB"), "{}", without.text());
    assert_ne!(guarded.rpc(&long, Some(&key)).status, 413);
}

fn initialize(note: &str) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "clientInfo": { "name": "test", "version": "1" },
        "capabilities": { "experimental": { "note": { "text": note } } } } })
    .to_string()
    .into_bytes()
}

/// Given sessions, when many clients at once open them without end, then there are at most 256, a
/// large handshake is refused, and memory stays bounded. One that is ended makes room for another.
#[test]
fn sessions_are_bounded() {
    let server = Server::start(&["--mcp-sessions", "true"]);
    let large = server.post("/mcp", &[JSON, ACCEPT], &initialize(&"x".repeat(20_000)));
    assert_eq!((large.status, large.code().as_str()), (413, "payload_too_large"));
    let note = "x".repeat(15_000);
    let open = |note: &str| server.post("/mcp", &[JSON, ACCEPT], &initialize(note));
    let opened: Vec<Answer> = std::thread::scope(|scope| {
        let open_some = || (0..25).map(|_| open(&note)).collect::<Vec<_>>();
        let clients: Vec<_> = (0..12).map(|_| scope.spawn(open_some)).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let (good, refused): (Vec<&Answer>, Vec<&Answer>) =
        opened.iter().partition(|answer| answer.status == 200);
    assert_eq!((good.len(), refused.len()), (256, 44));
    assert!(refused.iter().all(|a| a.status == 503 && a.code() == "overloaded"));
    assert!(resident_mb(&server) < 500, "{} MB", resident_mb(&server));
    assert_eq!(server.get("/v1/bills/hr:119:1").status, 200);

    let end = |path: &str, id: &str| {
        let headers = [("mcp-session-id", id), ("mcp-protocol-version", "2025-11-25")];
        server.send("DELETE", path, &headers).status
    };
    let (first, second) = (good[0].header("mcp-session-id"), good[1].header("mcp-session-id"));
    assert_eq!(end("/mcp/x/policy", first), 404, "another endpoint has other sessions");
    assert_eq!(end("/mcp", "00000000-0000-4000-8000-000000000000"), 202, "rmcp says so");
    assert_eq!(open("").status, 503, "neither has ended one");
    assert_eq!((end("/mcp", first), end("/mcp", second)), (202, 202));
    assert_eq!([open("").status, open("").status, open("").status], [200, 200, 503]);
}

/// Given restricted access, when a session is opened, then it needs a credential, and only who
/// opened it can use it.
#[test]
fn a_session_belongs_to_its_caller() {
    let guarded = Guarded::start(None, &["--mcp-sessions", "true"]);
    let [alice, bob] =
        ["alice", "bob"].map(|name| format!("Bearer {}", guarded.keys(&["add", name])));
    let open = |headers: &[(&str, &str)]| {
        let mut all = vec![JSON, ACCEPT];
        all.extend(headers);
        guarded.server.post("/mcp", &all, &initialize(""))
    };
    assert_eq!(open(&[]).status, 401);
    let opened = open(&[("authorization", &alice)]);
    assert_eq!(opened.status, 200);
    let id = opened.header("mcp-session-id").to_string();
    assert!(!id.is_empty());
    let call = |who: &str| {
        list_tools(&guarded.server, &[("authorization", who), ("mcp-session-id", &id)]).status
    };
    assert_eq!((call(&bob), call(&alice)), (404, 200));
    let end = |who: &str| {
        let headers = [("authorization", who), ("mcp-session-id", id.as_str())];
        guarded.server.send("DELETE", "/mcp", &headers).status
    };
    assert_eq!(end(&bob), 404);
    assert_eq!(call(&alice), 200);
    assert_eq!(end(&alice), 202);
    assert_eq!(call(&alice), 404);
}

/// Given an open event stream, when SIGTERM comes, then the server ends within seconds: the stream
/// would never finish.
#[test]
fn a_stream_does_not_hold_up_the_end() {
    let mut server = Server::start(&["--mcp-sessions", "true"]);
    let opened = server.post("/mcp", &[JSON, ACCEPT], &initialize(""));
    let id = opened.header("mcp-session-id").to_string();
    let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\
         mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n\r\n"
    )
    .unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    let told = Instant::now();
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    assert!(told.elapsed() < Duration::from_secs(4), "{:?}", told.elapsed());
}

/// Given an audit log, when requests and tool calls are made, then each is a line with who, what,
/// when and how it ended, and no line has the credential.
#[test]
fn the_audit_log_says_who_did_what() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let guarded = Guarded::start(None, &["--log", "error", "--audit-log", path.to_str().unwrap()]);
    let key = guarded.keys(&["add", "alice"]);
    assert_eq!(guarded.get("/v1/bills/hr:119:1", &key).status, 200);
    assert_eq!(guarded.get("/v1/bills/hr:119:1", "josh_wrong").status, 401);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "get_bill", "arguments": { "bill_id": "hr:119:1" } } });
    assert_eq!(guarded.rpc(&call, Some(&key)).status, 200);
    let lines = || -> Vec<Value> {
        let text = std::fs::read_to_string(&path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    crate::support::eventually("the lines are written", || lines().len() >= 3);
    let found = lines();
    let has = |test: &dyn Fn(&Value) -> bool| found.iter().any(test);
    assert!(found.iter().all(|line| line["timestamp"].is_string()), "{found:?}");
    assert!(has(&|l| l["path"] == "/v1/bills/hr:119:1"
        && l["status"] == 200
        && l["caller"].is_string()));
    assert!(has(&|l| l["path"] == "/v1/bills/hr:119:1"
        && l["status"] == 401
        && l["address"] == "127.0.0.1"));
    assert!(has(&|l| l["tool_name"] == "get_bill" && l["result_status"] == "ok"));
    assert!(!std::fs::read_to_string(&path).unwrap().contains(&key));
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}
