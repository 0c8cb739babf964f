//! Fuzzes `/v1` of the real binary with filters, sorts, searches and cursors. No input may cause a
//! server error: DuckDB only ever gets SQL that it can run.
//!
//! An input is a path with its query string. After a line feed the payload of a cursor may follow,
//! which gets a valid checksum.

use serde_json::{Value, json};

use crate::cursor::{opened, sealed};
use crate::requests::paths;
use crate::support::Server;
use crate::wire::{last_log_lines, send};

/// Lists whose cursors are forged: ordered by position, date, number, text and boolean, a search, a
/// body, a sub-resource.
const PAGED: &[&str] = &[
    "/v1/bills?limit=1",
    "/v1/bills?limit=1&sort=-introduced_date",
    "/v1/bills?limit=1&sort=number",
    "/v1/bills?limit=1&sort=sponsor_name",
    "/v1/bills?limit=1&sort=-is_law",
    "/v1/search?limit=1&q=water",
    "/v1/bills/hr:119:1/body?max_bytes=1000",
    "/v1/bills/hr:119:1/actions?limit=1",
];

/// Given malformed paths, queries and cursors, when they are requested, then no response is a
/// server error.
#[test]
fn no_request_causes_a_server_error() {
    let mut server = Server::start(&[]);
    let mut target = paths();
    for path in PAGED {
        let page = server.get(path).json();
        let cursor =
            page["next_cursor"].as_str().unwrap_or_else(|| panic!("{path} has only one: {page}"));
        target.corpus.push([path.as_bytes(), b"\n", &opened(cursor)].concat());
    }
    // Forged cursors that once reached DuckDB unchecked.
    for (path, place, value) in [(PAGED[0], 1, json!(u64::MAX)), (PAGED[1], 2, json!("no date"))] {
        let page = server.get(path).json();
        let mut payload: Value =
            serde_json::from_slice(&opened(page["next_cursor"].as_str().unwrap())).unwrap();
        payload[place] = value;
        target.corpus.push(format!("{path}\n{payload}").into_bytes());
    }
    target.run(|input| attempt(&server, input));
    assert!(server.is_running());
    assert!(!server.logged("panicked"), "{:?}", server.log());
}

fn attempt(server: &Server, input: &[u8]) {
    let (path, forged) = match input.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&input[..end], Some(sealed(&input[end + 1..]))),
        None => (input, None),
    };
    // A space would end the path, and a path must begin with a slash.
    let mut line = b"GET /".to_vec();
    line.extend(path.iter().skip(1).filter(|byte| !matches!(byte, b' ' | b'\r' | b'\n')));
    if let Some(cursor) = &forged {
        line.extend_from_slice(format!("&cursor={cursor}").as_bytes());
    }
    let reply = send(server, &line, b"", b"");
    reply.assert_no_server_error(server);
    assert!(!reply.lacks_body(), "{} without a body", reply.status);
    if let Some(json) = reply.json() {
        let error: &Value = &json["error"];
        assert_eq!(
            error.is_object(),
            reply.status >= 400,
            "{}; {}",
            reply.body,
            last_log_lines(server)
        );
        assert!(
            error.is_null() || error["message"].as_str().is_some_and(|m| !m.is_empty()),
            "{}",
            reply.body
        );
    }
}
