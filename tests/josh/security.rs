//! Threats, by name: each is tried against a running server, and comes to nothing.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use crate::access::{AUDIENCE, Guarded, Signer, jwks};
use crate::mcp_wire::{ACCEPT, JSON};
use crate::support::{SAMPLE, Server, eventually, segment};

const LIST: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn raw(server: &Server, bytes: &[u8]) -> String {
    server.raw(bytes, Duration::from_secs(3))
}

fn answers(text: &str) -> usize {
    text.matches("HTTP/1.1 ").count()
}

/// A web page that makes its own name point to this machine sends that name as Host, and its
/// origin.
#[test]
fn threat_dns_rebinding() {
    for (host, origin) in [
        ("evil.example", None),
        ("127.0.0.1.evil.example", None),
        ("localhost", Some("http://evil.example")),
    ] {
        let mut headers = vec![JSON, ACCEPT, ("host", host)];
        headers.extend(origin.map(|origin| ("origin", origin)));
        let answer = SAMPLE.post("/mcp", &headers, LIST);
        assert_eq!(answer.status, 403, "{host} {origin:?}");
    }
    assert_eq!(SAMPLE.post("/mcp", &[JSON, ACCEPT, ("host", "localhost")], LIST).status, 200);
}

#[test]
fn threat_path_traversal() {
    for path in [
        "/../../etc/passwd",
        "/v1/../../../etc/passwd",
        "/v1/bills/..%2f..%2f..%2fetc%2fpasswd",
        "/v1/bills/%2e%2e/%2e%2e/etc/passwd",
        "/v1/fetch/..%5c..%5cwindows",
        "/v1/fetch/%00/etc/passwd",
        "/v1/fetch/file:///etc/passwd",
        "/docs/../../../etc/passwd",
        "/.well-known/../../etc/passwd",
        "/mcp/../../etc/passwd",
    ] {
        let answer = raw(
            &SAMPLE,
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
                .as_bytes(),
        );
        assert!(answer.starts_with("HTTP/1.1 4"), "{path}: {}", &answer[..answer.len().min(200)]);
        assert!(!answer.contains("root:"), "{path}");
    }
    let params = json!({ "uri": "file:///etc/passwd" });
    let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params });
    assert!(
        !SAMPLE.post("/mcp", &[JSON, ACCEPT], read.to_string().as_bytes()).text().contains("root:")
    );
}

/// SQL in every parameter of every list, in ids, cursors, sorts and searches.
#[test]
fn threat_sql_in_every_parameter() {
    let injections = [
        "'; DROP TABLE bills; --",
        "1 OR 1=1",
        "' UNION SELECT content FROM read_text('/etc/passwd') --",
        "x\"; ATTACH '/tmp/evil.db'; --",
        "(SELECT count(*) FROM duckdb_settings())",
        "%' OR '1'='1",
    ];
    let before: Vec<Value> = SAMPLE.sources();
    for source in &before {
        let key = source["key"].as_str().unwrap();
        let about = SAMPLE.get(&format!("/v1/sources/{key}")).json();
        let mut names: Vec<String> = about["data"]["fields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["name"].as_str().unwrap().to_string())
            .collect();
        names.extend(
            [
                "limit",
                "cursor",
                "sort",
                "fields",
                "format",
                "since",
                "until",
                "q",
                "group_by",
                "sum_field",
                "aggregate",
            ]
            .map(String::from),
        );
        names.extend(names.clone().iter().map(|n| format!("{n}.gte")));
        for (n, name) in names.iter().enumerate() {
            let injection = injections[n % injections.len()];
            for (name, value) in
                [(name.clone(), segment(injection)), (segment(injection), "1".into())]
            {
                let answer = SAMPLE.get(&format!("/v1/{key}?{name}={value}"));
                assert!(answer.status < 500, "{key} {name}: {}", answer.text());
                let text = answer.text();
                assert!(
                    !text.contains("root:") && !text.to_lowercase().contains("parser error"),
                    "{key} {name}: {text}"
                );
            }
        }
        for injection in injections {
            assert!(
                (400..500)
                    .contains(&SAMPLE.get(&format!("/v1/{key}/{}", segment(injection))).status)
            );
        }
    }
    assert_eq!(SAMPLE.sources(), before, "nothing was changed");
    let all = SAMPLE.get("/v1/bills").json()["total"].clone();
    let none =
        SAMPLE.get(&format!("/v1/bills?title={}", segment("' OR '1'='1"))).json()["total"].clone();
    assert_ne!(none, all, "a condition of the caller's is a value, not a condition");
}

/// Two lengths, or a length and chunks, by which a proxy and a server could disagree on where a
/// request ends.
#[test]
fn threat_header_smuggling() {
    let smuggled = "GET /v1/sources HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for head in [
        format!("content-length: 5\r\ncontent-length: {}\r\n", smuggled.len()),
        format!("content-length: {}\r\ntransfer-encoding: chunked\r\n", 5 + smuggled.len()),
        "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n".to_string(),
        "transfer-encoding: xchunked\r\n".to_string(),
        "content-length: +5\r\n".to_string(),
        "content-length: 5, 5\r\n".to_string(),
    ] {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             {head}\r\n0\r\n\r\n{smuggled}"
        );
        let answer = raw(&SAMPLE, request.as_bytes());
        assert!(
            !answer.contains("\"list\":\"/v1/bills\""),
            "{head}: the request within was answered\n{answer}"
        );
    }
    for bytes in [
        &b"GET /livez HTTP/1.1\r\nhost: localhost\r\nx: a\x00b\r\n\r\n"[..],
        b"GET /livez HTTP/1.1\r\nhost : localhost\r\n\r\n",
        b"GET /livez\x00 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET /livez HTTP/9.9\r\nhost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ] {
        let answer = raw(&SAMPLE, bytes);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
        assert!(answers(&answer) <= 1);
    }
    // A value can't end its header: what comes back is one header, or none.
    let answer = SAMPLE.send("GET", "/v1/sources", &[("x-request-id", "a b;c")]);
    assert_ne!(answer.header("x-request-id"), "a b;c");
    assert_eq!(SAMPLE.get("/livez").status, 200);
}

#[test]
fn threat_oversized_everything() {
    let many = "a=1&".repeat(1_500);
    for path in [
        format!("/v1/bills?{many}"),
        format!("/v1/bills/{}", "9".repeat(4_000)),
        format!("/v1/search?q={}", "word+".repeat(1_200)),
        format!("/v1/search?q={}", "(".repeat(4_000)),
        format!("/v1/bills?id={}", "hr:119:1,".repeat(700)),
        "/v1/bills?limit=99999999999999999999".into(),
        format!("/v1/bills?cursor={}", "A".repeat(6_000)),
        format!("/v1/{}", "a/".repeat(3_000)),
    ] {
        let answer = SAMPLE.get(&path);
        assert!(answer.status < 500, "{}: {}", &path[..60], answer.status);
    }
    let head =
        format!("GET /livez HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "x-h: 1\r\n".repeat(5_000));
    assert!(raw(&SAMPLE, head.as_bytes()).starts_with("HTTP/1.1 4"));
    let line = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "a".repeat(300_000));
    let answer = raw(&SAMPLE, line.as_bytes());
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
        "{}",
        &answer[..answer.len().min(100)]
    );
    let nested = format!("{}{}", r#"{"a":"#.repeat(50_000), "}".repeat(50_000));
    assert!(SAMPLE.post("/mcp", &[JSON, ACCEPT], nested.as_bytes()).status < 500);
    let arguments = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "search", "arguments": { "query": "x".repeat(500_000) } } });
    assert!(SAMPLE.post("/mcp", &[JSON, ACCEPT], arguments.to_string().as_bytes()).status < 500);
    assert_eq!(SAMPLE.get("/livez").status, 200);
}

/// Hundreds of connections that send a byte now and then; see also `limits::slow_clients_are_cut`.
#[test]
fn threat_slowloris() {
    let address = SAMPLE.url.strip_prefix("http://").unwrap();
    let mut slow: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(address).unwrap()).collect();
    for round in 0..3 {
        for stream in &mut slow {
            let _ = stream.write_all(if round == 0 { b"GET / HTTP/1.1\r\nx" } else { b"x" });
        }
        for _ in 0..20 {
            assert_eq!(SAMPLE.get("/v1/bills/hr:119:1").status, 200);
        }
    }
}

/// A token that another service got for itself, sent here.
#[test]
fn threat_token_replay_to_another_audience() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jwks.json");
    let signer = Signer::new("k", Algorithm::ES256);
    std::fs::write(&path, jwks(&[&signer])).unwrap();
    let guarded = Guarded::start(path.to_str(), &[]);
    guarded.keys(&["add", "alice", "--subject", "auth0|alice"]);
    assert_eq!(guarded.get("/v1/sources", &signer.token(json!({}))).status, 200);
    for audience in [
        json!("https://other.example.org"),
        json!([]),
        json!(["a", "b"]),
        json!(format!("{AUDIENCE}/")),
        json!(""),
    ] {
        let token = signer.token(json!({ "aud": audience }));
        assert_eq!(guarded.get("/v1/sources", &token).status, 401, "{audience}");
    }
}

/// Line breaks and escapes in whatever is logged.
#[test]
fn threat_log_injection() {
    for format in ["text", "json"] {
        let server = Server::start(&["--log", "debug", "--log-format", format]);
        let evil = "%0A2026-01-01T00:00:00Z%20%20INFO%20forged%20line%1b[31m";
        server.get(&format!("/v1/bills/{evil}"));
        server.get(&format!("/{evil}"));
        raw(
            &server,
            b"GET /v1/sources HTTP/1.1\r\nhost: x\r\nx-request-id: a\tb\x1b[31m\r\n\
              traceparent: 00-\x1b[31m\r\nconnection: close\r\n\r\n",
        );
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "get_bill\nINFO forged line",
            "arguments": { "bill_id": "\nINFO forged line" },
        } });
        server.post("/mcp", &[JSON, ACCEPT], call.to_string().as_bytes());
        server.send("GET", "/v1/sources", &[("x-request-id", "the-end")]);
        eventually("the requests are logged", || server.logged("the-end"));
        for line in server.log() {
            assert!(!line.contains('\u{1b}'), "{line:?}");
            let starts = line.trim_start().starts_with("2026-01-01T00:00:00Z")
                || line.trim_start().starts_with("INFO forged");
            assert!(!starts, "{line}");
            assert!(
                format == "text"
                    || !line.contains("forged line")
                    || serde_json::from_str::<Value>(&line).is_ok(),
                "{line}"
            );
        }
    }
}

/// What went wrong inside stays inside.
#[test]
fn threat_internal_details_in_errors() {
    for path in [
        "/v1/bills?sort=nothing",
        "/v1/bills?cursor=AAAA",
        "/v1/fetch/%FF",
        "/v1/search?q=%22",
        "/v1/bills?congress=x",
    ] {
        let text = SAMPLE.get(path).text();
        for word in ["src/", "panicked", "SELECT ", "duckdb", "/home/", "/root/", "rustc"] {
            assert!(!text.contains(word), "{path}: {text}");
        }
    }
}
