//! Fuzzes `/mcp` of the real binary with headers and JSON-RPC: every response is valid HTTP and
//! JSON-RPC, none is a server error, and the server keeps running.

use serde_json::Value;

use crate::requests::{messages, parts};
use crate::support::Server;
use crate::wire::{last_log_lines, send};

/// The JSON-RPC code of an internal error.
const INTERNAL: i64 = -32603;

/// Given malformed requests, when they are posted, then each gets a response that is no server
/// error.
#[test]
fn every_request_gets_a_response_and_the_server_keeps_running() {
    let mut server = Server::start(&[]);
    messages().run(|input| attempt(&server, input));
    assert!(server.is_running());
    assert_eq!(server.get("/livez").status, 200);
    assert_eq!(server.get("/v1/bills/hr:119:1").json()["data"]["id"], "hr:119:1");
    assert!(!server.logged("panicked"), "{:?}", server.log());
}

fn attempt(server: &Server, input: &[u8]) {
    let (head, body) = parts(input);
    let reply = send(server, b"POST /mcp", head, body);
    reply.assert_no_server_error(server);
    assert!(!reply.lacks_body(), "{} without a body", reply.status);
    let Some(json) = reply.json() else { return };
    assert_ne!(json["error"]["code"], INTERNAL, "{json}; {}", last_log_lines(server));
    assert_ne!(
        json["result"]["_meta"]["error_code"],
        "internal_error",
        "{json}; {}",
        last_log_lines(server)
    );
    assert!(json["error"].is_object() != json["result"].is_object(), "{json}");
    if let Ok(request) = serde_json::from_slice::<Value>(body)
        && !json["id"].is_null()
    {
        assert_eq!(json["id"], request["id"], "{json}");
    }
}
