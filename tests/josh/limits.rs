//! Section 11: limits. How often, how many at once, how large, how long; and what a caller who is
//! over one of them is told.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use josh::api::{Arguments, Code, Context, Cost};
use josh::bundle::Bundle;
use josh::executor::execute_within;
use josh::toolsets::Toolsets;
use serde_json::json;

use crate::access::Guarded;
use crate::support::{Answer, SAMPLE, Server, sample};

const FORWARDED: &str = "x-forwarded-for";

fn limited(answer: &Answer) -> bool {
    if answer.status == 429 {
        assert_eq!(answer.code(), "rate_limited");
        assert!(
            answer.header("retry-after").parse::<u64>().is_ok_and(|s| (1..=60).contains(&s)),
            "{:?}",
            answer.headers
        );
    }
    answer.status == 429
}

/// Given a rate of two a second, when a caller sends many, then those over it get 429 with when to
/// come back, health checks do not, and after a while it may ask again.
#[test]
fn a_caller_who_asks_too_often_is_told_when_to_come_back() {
    let server = Server::start(&["--rate", "2", "--rate-burst", "5"]);
    let over = (0..20).filter(|_| limited(&server.get("/v1/bills/hr:119:1"))).count();
    // On a slow machine the bucket fills a little meanwhile.
    assert!((1..=15).contains(&over), "{over} of 20");
    assert!(
        (0..20).all(|_| server.get("/livez").status == 200 && server.get("/readyz").status == 200)
    );
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(server.get("/v1/bills/hr:119:1").status, 200);
    let metrics = server.get("/metrics").text();
    assert!(
        metrics.contains(&format!("josh_rate_limited_total{{caller=\"address\"}} {over}")),
        "{metrics}"
    );
}

/// Given two callers behind one trusted proxy, when one asks too often, then the other is not
/// affected; and without trust nobody gets a bucket of its own by claiming an address.
#[test]
fn callers_behind_a_trusted_proxy_have_buckets_of_their_own() {
    let trusting =
        Server::start(&["--rate", "1", "--rate-burst", "3", "--trusted-proxies", "127.0.0.1"]);
    let ask = |server: &Server, from: &str| server.send("GET", "/v1/sources", &[(FORWARDED, from)]);
    while !limited(&ask(&trusting, "198.51.100.1")) {}
    assert_eq!(ask(&trusting, "198.51.100.2").status, 200);
    // What stands left of the caller's own address is the caller's invention.
    assert!((0..20).any(|_| limited(&ask(&trusting, "203.0.113.9, 198.51.100.1"))));
    let plain = Server::start(&["--rate", "1", "--rate-burst", "3"]);
    let over = (0..12).filter(|n| limited(&ask(&plain, &format!("198.51.100.{n}")))).count();
    assert!(over >= 2, "{over}");
}

/// Given keys, when one is used too often, then another from the same address is not affected, and
/// guessing keys is limited too.
#[test]
fn each_key_has_a_bucket_and_guessing_is_limited() {
    let guarded = Guarded::start(None, &["--rate", "1", "--rate-burst", "3"]);
    let (alice, bob) = (guarded.keys(&["add", "alice"]), guarded.keys(&["add", "bob"]));
    while !limited(&guarded.get("/v1/sources", &alice)) {}
    assert_eq!(guarded.get("/v1/sources", &bob).status, 200);
    let guesses: Vec<u16> =
        (0..12).map(|n| guarded.get("/v1/sources", &format!("josh_guess{n}")).status).collect();
    assert!(guesses[0] == 401 && guesses.iter().filter(|s| **s == 429).count() >= 2, "{guesses:?}");
}

/// Given one search at a time and no patience, when many come at once, then some are answered, the
/// others get 503 with `Retry-After`, look-ups are not affected, and afterwards all is as before.
#[test]
fn searches_beyond_what_can_be_done_are_turned_away() {
    let server = Server::start(&["--searches", "1", "--queue-ms", "0"]);
    let ask = |n: usize| server.get(&format!("/v1/search?q=water+health+energy+{n}&limit=50"));
    assert_eq!(ask(0).status, 200);
    let (answered, turned) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (ask, answered, turned, server) = (&ask, &answered, &turned, &server);
            scope.spawn(move || {
                for n in 0..10 {
                    let answer = ask(thread * 100 + n + 1);
                    match answer.status {
                        200 => answered.fetch_add(1, Ordering::Relaxed),
                        _ => {
                            assert_eq!(
                                (answer.status, answer.code().as_str()),
                                (503, "overloaded"),
                                "{}",
                                answer.text()
                            );
                            assert_eq!(answer.header("retry-after"), "1");
                            assert_eq!(answer.json()["error"]["retryable"], true);
                            turned.fetch_add(1, Ordering::Relaxed)
                        }
                    };
                    assert_eq!(
                        server.get("/v1/bills/hr:119:1").status,
                        200,
                        "a look-up waits for nobody"
                    );
                }
            });
        }
    });
    let (answered, turned) = (answered.into_inner(), turned.into_inner());
    assert!(answered > 0 && turned > 0 && answered + turned == 160, "{answered} {turned}");
    assert_eq!(ask(99_999).status, 200);
    let metrics = server.get("/metrics").text();
    assert!(
        metrics.contains(&format!("josh_queue_turned_away_total{{queue=\"searches\"}} {turned}")),
        "{metrics}"
    );
    assert!(metrics.contains("josh_queue_waiting{queue=\"searches\"} 0"), "nobody waits any more");
}

#[test]
fn a_request_that_takes_too_long_is_given_up() {
    let server = Server::start(&["--request-ms", "0"]);
    let answer = server.get("/v1/search?q=water");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (504, "answer_timeout"),
        "{}",
        answer.text()
    );
    let result = crate::mcp::once(&server, "search", json!({ "query": "water" }));
    assert_eq!(serde_json::to_value(&result.meta).unwrap()["error_code"], "answer_timeout");
    assert_eq!(server.get("/v1/bills/hr:119:1").status, 200, "what needs no time gets none");
}

#[test]
fn what_is_too_large_is_refused_with_its_own_error() {
    let long = "x".repeat(9_000);
    let uri = SAMPLE.get(&format!("/v1/bills?title={long}"));
    assert_eq!((uri.status, uri.code().as_str()), (414, "uri_too_long"));
    let headers = SAMPLE.send(
        "GET",
        "/v1/sources",
        &[("x-a", &"y".repeat(20_000)), ("x-b", &"z".repeat(20_000))],
    );
    assert_eq!((headers.status, headers.code().as_str()), (431, "headers_too_large"));
    let json =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let body = SAMPLE.post("/mcp", &json, &vec![b' '; (1 << 20) + 1]);
    assert_eq!((body.status, body.code().as_str()), (413, "payload_too_large"));
    assert_eq!(SAMPLE.get("/livez").status, 200);
}

/// Given clients that send half a head or half a body and then nothing, when time is up, then they
/// are answered 408 and cut, and everyone else is served meanwhile.
#[test]
fn slow_clients_are_cut() {
    let heads: [&[u8]; 3] = [
        b"GET /v1/sources HTTP/1.1\r\nhost: localhost\r\nx-slow: ",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
          accept: application/json, text/event-stream\r\ncontent-length: 500\r\n\r\n{\"jsonrpc\"",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
          transfer-encoding: chunked\r\n\r\n5\r\n{\"js",
    ];
    std::thread::scope(|scope| {
        let slow: Vec<_> = heads
            .iter()
            .flat_map(|head| std::iter::repeat_n(head, 20))
            .map(|head| {
                scope.spawn(move || {
                    let started = Instant::now();
                    let answer = SAMPLE.raw(head, Duration::from_secs(25));
                    (answer, started.elapsed(), head.starts_with(b"POST"))
                })
            })
            .collect();
        for _ in 0..50 {
            assert_eq!(SAMPLE.get("/v1/bills/hr:119:1").status, 200);
        }
        for client in slow {
            let (answer, took, has_head) = client.join().unwrap();
            assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
            // Half a head is answered before it is a request.
            assert!(!has_head || answer.contains("request_timeout"), "{answer}");
            assert!(took < Duration::from_secs(20), "{took:?}");
        }
    });
}

/// Given a connection that its client keeps for the next request, when that comes while the machine
/// has no time for the server, then it is answered: closing is the client's, which knows whether it
/// has something to say. (actix's own limit of 5 s reset such requests, and 5 s is also how long
/// Python's httpx keeps a connection.)
#[test]
fn a_kept_connection_is_the_clients_to_close() {
    let server = Server::start(&[]);
    let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let send = |mut stream: &TcpStream| {
        stream.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    };
    let mut head = [0; 4096];
    send(&stream);
    let length = stream.read(&mut head).unwrap();
    assert!(head[..length].starts_with(b"HTTP/1.1 200"));
    std::thread::sleep(Duration::from_millis(4_500));
    server.signal("STOP");
    send(&stream);
    std::thread::sleep(Duration::from_millis(1_500));
    server.signal("CONT");
    let length = stream.read(&mut head).unwrap();
    assert!(head[..length].starts_with(b"HTTP/1.1 200"), "closed after {length} bytes");
}

/// Given work with the permit of a query, when it calls operations, then look-ups and queries run,
/// and a search, of which others are counted, is refused; when its time is up, nothing runs.
#[test]
fn work_runs_what_it_has_a_permit_for() {
    let bundle = Arc::new(Bundle::open(&sample()).expect("the sample"));
    let run = |name: &str, given: &[(&'static str, &str)], time: Duration| {
        let toolsets = Toolsets::default();
        let operation = toolsets.operations().find(|operation| operation.name == name);
        let mut arguments = Arguments::default();
        given.iter().for_each(|(name, value)| arguments.push_one(name, *value));
        let context = Context::unbounded(bundle.clone());
        let context = Context { deadline: Instant::now() + time, ..context };
        let ran = execute_within(Cost::Query, operation.unwrap(), arguments, &Arc::new(context));
        ran.map(drop).map_err(|error| error.code)
    };
    let (bill, long) = ([("{source}", "bills"), ("{id}", "hr:119:1")], Duration::from_secs(60));
    assert_eq!(run("get_record", &bill, long), Ok(()));
    assert_eq!(run("list_records", &bill[..1], long), Ok(()));
    assert_eq!(run("search", &[("q", "water")], long), Err(Code::InternalError));
    assert_eq!(run("get_record", &bill, Duration::ZERO), Err(Code::AnswerTimeout));
}
