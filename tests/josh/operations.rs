//! Section 11: what an operator sees and does. Metrics, logs, traces, readiness, signals, settings.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use serde_json::{Value, json};

use crate::access::Guarded;
use crate::support::{SAMPLE, Server, edition, eventually, josh, run};

/// The value of a line of /metrics.
pub fn metric(server: &Server, line: &str) -> f64 {
    metric_if_any(server, line).unwrap_or_else(|| panic!("no {line} in the metrics"))
}

/// The same of a line that may not be there yet.
pub fn metric_if_any(server: &Server, line: &str) -> Option<f64> {
    let text = server.get("/metrics").text();
    text.lines().find_map(|l| l.strip_prefix(line)?.strip_prefix(' ')?.parse().ok())
}

/// How many SQL statements a server ran.
pub fn statements(server: &Server) -> u64 {
    metric(server, "josh_sql_statements") as u64
}

/// Given requests of several kinds, when the metrics are read, then each is counted under its
/// route and status, with its time; tools, searches, caches and the bundle too.
#[test]
fn metrics_count_what_happened() {
    let server = Server::start(&[]);
    for _ in 0..3 {
        server.get("/v1/bills/hr:119:1");
    }
    server.get("/v1/bills/hr:119:99999");
    server.get("/v1/nothing");
    server.get("/nothing/at/all");
    // No two are equal: an equal one may be answered by the one before.
    for (limit, mode) in [(5, "lexical"), (5, "semantic"), (6, "semantic"), (5, "hybrid")] {
        let path = format!("/v1/search?q=water&mode={mode}&congress=119&limit={limit}");
        assert_eq!(server.get(&path).status, 200);
    }
    crate::mcp::once(&server, "get_bill", json!({ "bill_id": "hr:119:1" }));
    crate::mcp::once(&server, "get_bill", json!({ "bill_id": "hr:119:99999" }));
    for (line, value) in [
        ("josh_requests_total{route=\"/v1/{source}/{id}\",status=\"200\"}", 3.0),
        ("josh_requests_total{route=\"/v1/{source}/{id}\",status=\"404\"}", 1.0),
        ("josh_requests_total{route=\"/v1/{source}\",status=\"404\"}", 1.0),
        ("josh_requests_total{route=\"pages\",status=\"404\"}", 1.0),
        ("josh_requests_total{route=\"/mcp tools/call\",status=\"200\"}", 2.0),
        ("josh_request_seconds_count{route=\"/v1/{source}/{id}\"}", 4.0),
        ("josh_request_seconds_bucket{route=\"/v1/{source}/{id}\",le=\"+Inf\"}", 4.0),
        ("josh_tool_calls_total{status=\"ok\",tool=\"get_bill\"}", 1.0),
        ("josh_tool_calls_total{status=\"error\",tool=\"get_bill\"}", 1.0),
        ("josh_searches_total{mode=\"lexical\"}", 1.0),
        ("josh_searches_total{mode=\"semantic\"}", 2.0),
        ("josh_searches_total{mode=\"hybrid\"}", 1.0),
        ("josh_cache_lookups{cache=\"questions\",result=\"miss\"}", 1.0),
        ("josh_cache_lookups{cache=\"questions\",result=\"hit\"}", 2.0),
    ] {
        assert_eq!(metric(&server, line), value, "{line}");
    }
    let health = server.get("/health").json();
    let (id, as_of) =
        (health["bundle"]["id"].as_str().unwrap(), health["bundle"]["as_of"].as_str().unwrap());
    assert_eq!(metric(&server, &format!("josh_bundle_info{{as_of=\"{as_of}\",id=\"{id}\"}}")), 1.0);
    assert!(
        metric(&server, "josh_bundle_age_seconds") > 0.0
            && metric(&server, "process_resident_memory_bytes") > 1e6
    );
    assert_eq!(
        metric(&server, "josh_bundle_records"),
        health["bundle"]["records"].as_f64().unwrap()
    );
    assert!(server.get("/metrics").header("content-type").starts_with("text/plain; version=0.0.4"));
}

/// Given a JSON log, when requests come, then each is one line with its id, route and status;
/// health checks leave none.
#[test]
fn each_request_is_one_line_in_the_log() {
    let server = Server::start(&["--log-format", "json"]);
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let traced = server.send(
        "GET",
        "/v1/bills/hr:119:1",
        &[("x-request-id", "mine-1"), ("traceparent", parent)],
    );
    server.get("/livez");
    server.get("/readyz");
    server.get("/health");
    server.send("GET", "/v1/nothing", &[("x-request-id", "mine-2")]);
    eventually("both are logged", || server.logged("mine-2"));
    let lines: Vec<Value> =
        server.log().iter().filter_map(|l| serde_json::from_str(l).ok()).collect();
    let of = |id: &str| lines.iter().filter(|l| l["request_id"] == id).collect::<Vec<_>>();
    let [line] = of("mine-1")[..] else { panic!("{lines:?}") };
    assert_eq!(
        (&line["method"], &line["path"], &line["status"]),
        (&json!("GET"), &json!("/v1/bills/hr:119:1"), &json!(200))
    );
    assert!(line["took_us"].is_u64() && line["address"] == "127.0.0.1", "{line}");
    // The trace is continued with a span of our own.
    let ours = traced.header("traceparent");
    assert_eq!(line["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(
        ours,
        format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01", line["span_id"].as_str().unwrap())
    );
    assert!(!ours.contains("00f067aa0ba902b7"));
    assert_eq!(of("mine-2").len(), 1);
    assert!(lines.iter().all(|l| {
        !["/livez", "/readyz", "/health"].contains(&l["path"].as_str().unwrap_or_default())
    }));
    assert_eq!(SAMPLE.get("/v1/sources").header("traceparent"), "", "no trace is made up");
}

/// Given requests with a query string, when they are logged, then the query is in the line, without
/// the values of parameters that look like secrets.
#[test]
fn the_log_has_queries_without_secrets() {
    let server = Server::start(&["--log-format", "json"]);
    let path = "/v1/bills?limit=1&access_token=hidden1&api_key=hidden2&title=josh_hidden3";
    server.send("GET", path, &[("x-request-id", "with-query")]);
    server.send("GET", "/v1/sources", &[("x-request-id", "without")]);
    eventually("both are logged", || server.logged("\"without\""));
    let line = |id: &str| {
        let lines = server.log().into_iter().filter_map(|l| serde_json::from_str::<Value>(&l).ok());
        lines.into_iter().find(|l| l["request_id"] == id).unwrap()
    };
    let shown = "limit=1&access_token=REDACTED&api_key=REDACTED&title=REDACTED";
    assert_eq!(line("with-query")["query"], shown);
    assert!(line("without")["query"].is_null());
    assert!(!server.logged("hidden"), "{:?}", server.log());
}

/// Given a key that is used too often, when its requests get 429, then the log says whose they are.
#[test]
fn limited_requests_are_logged_with_their_caller() {
    let guarded =
        Guarded::start(None, &["--rate", "1", "--rate-burst", "2", "--log-format", "json"]);
    let key = guarded.keys(&["add", "alice"]);
    let listed: Value = serde_json::from_str(&guarded.keys(&["list", "--json"])).unwrap();
    while guarded.get("/v1/sources", &key).status != 429 {}
    let is_limited = |line: &String| {
        serde_json::from_str::<Value>(line)
            .is_ok_and(|line| line["status"] == 429 && line["caller"] == listed[0]["id"])
    };
    eventually("the caller is logged", || guarded.server.log().iter().any(is_limited));
}

/// Given a public URL, when the server starts, then it works for that host without warnings of a
/// library.
#[test]
fn a_public_url_causes_no_warnings() {
    let server = Server::start(&[
        "--public-url",
        "https://josh.example.org",
        "--mcp-origins",
        "https://app.example.org",
    ]);
    assert_eq!(server.get("/livez").status, 200);
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (origin, status) in [
        ("https://josh.example.org", 200),
        ("https://app.example.org", 200),
        ("https://app.example.org:8443", 403),
        ("https://evil.example", 403),
    ] {
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("host", "josh.example.org"),
            ("origin", origin),
        ];
        assert_eq!(server.post("/mcp", &headers, list).status, status, "{origin}");
    }
    eventually("the requests are logged", || server.logged("/mcp\" status=403"));
    assert!(!server.logged("without a port"), "{:?}", server.log());
}

/// Given a bundle that is replaced by garbage, when it is refused, then `/readyz` says so until a
/// valid one is there.
#[test]
fn readyz_names_a_refused_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let path = edition(folder.path(), "federal.db", "first");
    let server = Server::start(&["--bundle", path.to_str().unwrap()]);
    assert_eq!(server.get("/readyz").json(), json!({ "status": "ready" }));
    let bad = folder.path().join("bad");
    std::fs::write(&bad, "garbage").unwrap();
    std::fs::rename(&bad, &path).unwrap();
    eventually("it is refused without a signal", || {
        server.get("/readyz").json()["refused"]["bundle"].is_string()
    });
    assert_eq!(server.get("/readyz").status, 200, "the old one is served");
    assert_eq!(metric(&server, "josh_reloads_total{result=\"refused\",what=\"bundle\"}"), 1.0);
    let good = edition(folder.path(), "good.db", "second");
    std::fs::rename(&good, &path).unwrap();
    eventually("the refusal is cleared", || {
        server.get("/readyz").json() == json!({ "status": "ready" })
    });
    assert_eq!(server.get("/health").json()["bundle"]["id"], "second");
}

/// Given open requests, when SIGTERM comes, then they are answered, new connections are refused,
/// the log has a line at the beginning and at the end, and the exit code is 0.
#[test]
fn shutdown_finishes_open_requests() {
    // A long queue: loading the model takes its time on a busy machine.
    let mut server = Server::start(&["--queue-ms", "20000"]);
    let address = server.url.strip_prefix("http://").unwrap().to_string();
    let mut under_way: Vec<TcpStream> = (0..4)
        .map(|n| {
            let mut stream = TcpStream::connect(&address).unwrap();
            let path = format!("/v1/search?q=water+{n}&mode=semantic");
            write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
                .unwrap();
            stream
        })
        .collect();
    // The first semantic search loads the model: they all run for a while.
    std::thread::sleep(Duration::from_millis(400));
    server.signal("TERM");
    for stream in &mut under_way {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    assert_eq!(server.wait().code(), Some(0));
    assert!(TcpStream::connect(&address).is_err());
    assert_stop_is_logged(&server, "SIGTERM");
}

/// Given a running server, when Ctrl-C comes, then it stops like on SIGTERM.
#[test]
fn an_interrupt_stops_the_server_and_is_logged() {
    let mut server = Server::start(&[]);
    assert_eq!(server.get("/livez").status, 200);
    server.signal("INT");
    assert_eq!(server.wait().code(), Some(0));
    assert_stop_is_logged(&server, "SIGINT");
}

/// Given a time to drain, when SIGTERM comes, then /readyz sends load balancers away while
/// everything is still answered, and each answer closes its connection. A second signal ends that
/// time.
#[test]
fn callers_can_go_elsewhere_before_the_end() {
    // Longer than any machine needs for what follows.
    let mut server = Server::start(&["--drain-ms", "600000"]);
    let record = || server.get("/v1/bills/hr:119:1");
    assert_eq!((server.get("/readyz").status, record().header("connection")), (200, ""));
    server.signal("TERM");
    eventually("it is no longer ready", || server.get("/readyz").status == 503);
    assert_eq!(server.get("/readyz").json(), json!({ "status": "stopping" }));
    assert_eq!((record().status, record().header("connection")), (200, "close"));
    assert_eq!(server.get("/livez").status, 200);
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(1));

    let mut server = Server::start(&["--drain-ms", "100"]);
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    assert_stop_is_logged(&server, "SIGTERM");
}

fn assert_stop_is_logged(server: &Server, signal: &str) {
    eventually("the end is logged", || {
        server.log().last().is_some_and(|line| line.ends_with(" stopped"))
    });
    let begin = server.log().into_iter().find(|l| l.contains("stopping: finishing open requests"));
    assert!(begin.is_some_and(|line| line.contains(signal)), "{:?}", server.log());
}

#[test]
fn systemd_is_notified_when_the_server_is_ready() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let _server = Server::start_with(&[], &[("NOTIFY_SOCKET", path.to_str().unwrap())]);
    let mut buffer = [0; 256];
    let length = socket.recv(&mut buffer).unwrap();
    assert!(String::from_utf8_lossy(&buffer[..length]).contains("READY=1"));
    // A sign of life follows, for WatchdogSec=.
    let length = socket.recv(&mut buffer).unwrap();
    assert!(String::from_utf8_lossy(&buffer[..length]).contains("WATCHDOG=1"));
}

/// Given flags, environment and file, when the settings are printed, then they are the effective
/// ones, and printed again from that file they are the same.
#[test]
fn the_configuration_can_be_printed_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("josh.toml");
    std::fs::write(&file, "rate = 5\nlog = \"debug\"\nworkers = 3\n").unwrap();
    let print = |config: &str, more: &[&str]| {
        let mut args = vec!["serve", "--print-config", "--config", config];
        args.extend(more);
        let output = josh(&args).env("JOSH_LOG", "warn").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let printed = print(file.to_str().unwrap(), &["--workers", "2", "--mcp-sessions"]);
    for line in [
        "rate = 5",
        "log = \"warn\"",
        "workers = 2",
        "mcp_sessions = true",
        "# listen = \"127.0.0.1:8080\"",
    ] {
        assert!(printed.lines().any(|l| l == line), "{line} in\n{printed}");
    }
    let again = folder.path().join("again.toml");
    std::fs::write(&again, &printed).unwrap();
    assert_eq!(print(again.to_str().unwrap(), &[]), printed);
    std::fs::write(&file, "lisen = \"127.0.0.1:0\"\n").unwrap();
    let wrong = run(&["serve", "--config", file.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.status.code() == Some(2) && said.contains("Did you mean listen?"), "{said}");
}

/// The packaged settings file is what the binary prints.
#[test]
fn the_packaged_configuration_is_the_one_that_is_printed() {
    let printed = String::from_utf8(run(&["serve", "--print-config"]).stdout).unwrap();
    let packaged = include_str!("../../packaging/josh.toml");
    assert_eq!(packaged, printed, "run: josh serve --print-config > packaging/josh.toml");
}
