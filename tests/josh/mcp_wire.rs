//! `/mcp` as bytes: what is malformed, what browsers and proxies send, what people see.

use serde_json::{Value, json};

use crate::mcp::{once, structured};
use crate::support::{Answer, SAMPLE, Server};

pub const JSON: (&str, &str) = ("content-type", "application/json");
pub const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

pub fn rpc(server: &Server, message: &Value) -> Answer {
    server.post("/mcp", &[JSON, ACCEPT], message.to_string().as_bytes())
}

pub fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

/// A request of 2026-07-28, with the headers that repeat it.
fn modern(
    server: &Server,
    method: &str,
    mut params: Value,
    name: Option<&str>,
    version: &str,
) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut headers = vec![JSON, ACCEPT, ("mcp-protocol-version", version), ("mcp-method", method)];
    headers.extend(name.map(|name| ("mcp-name", name)));
    server.post("/mcp", &headers, request(method, params).to_string().as_bytes())
}

/// Given a call whose id and question read like the place where a result goes, when it is answered
/// in one message or by a session, then the structured content is the JSON that the text is.
#[test]
fn the_json_of_a_result_goes_to_its_own_place() {
    let odd = r#""structuredContent":"""#;
    let asked = json!({ "query": odd });
    let mut message = request("tools/call", json!({ "name": "search", "arguments": asked }));
    message["id"] = json!(odd);
    let answer = rpc(&SAMPLE, &message);
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let answer = answer.json();
    assert_eq!(answer["id"], odd);
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(result["structuredContent"]["results"].is_array(), "{result}");
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    let sessions = Server::start(&["--mcp-sessions", "true"]);
    let result = once(&sessions, "search", asked);
    let text = &result.content[0].as_text().unwrap().text;
    assert_eq!(serde_json::from_str::<Value>(text).ok(), result.structured_content);
}

/// Given JSON-RPC that is wrong in every way, when it is posted, then the answer is an error that
/// says what, and the server lives.
#[test]
fn malformed_messages_get_errors_and_nothing_else() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let bodies: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"{".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"\"tools/list\"".to_vec(),
        b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"tools/list\"}".to_vec(),
        b"{\"id\":1,\"method\":\"tools/list\"}".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1}".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/list\"}".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
           \"params\":{\"name\":7}}"
            .to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[]}".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
           \"params\":{\"name\":\"get_bill\",\"arguments\":[]}}"
            .to_vec(),
        b"\xff\xfe{\"jsonrpc\":\"2.0\"}".to_vec(),
        deep.into_bytes(),
    ];
    for body in bodies {
        let shown = String::from_utf8_lossy(&body).chars().take(80).collect::<String>();
        let answer = SAMPLE.post("/mcp", &[JSON, ACCEPT], &body);
        let is_error = serde_json::from_slice::<Value>(&answer.bytes)
            .is_ok_and(|v| v["error"]["code"].is_i64());
        assert!(
            (400..500).contains(&answer.status) || is_error,
            "{shown}: {} {}",
            answer.status,
            answer.text()
        );
        assert!(
            !answer.text().contains("panicked") && !answer.text().contains("src/"),
            "{}",
            answer.text()
        );
    }
    let unknown = rpc(&SAMPLE, &request("nothing/at_all", json!({}))).json();
    assert_eq!(unknown["error"]["code"], -32601);
    assert_eq!(rpc(&SAMPLE, &request("ping", json!({}))).json()["result"], json!({}));
}

#[test]
fn a_body_over_the_limit_is_refused() {
    let large = request(
        "tools/call",
        json!({ "name": "search", "arguments": { "query": "x".repeat(2 << 20) } }),
    );
    assert_eq!(rpc(&SAMPLE, &large).status, 413);
    assert_eq!(SAMPLE.get("/livez").status, 200);
}

#[test]
fn the_newer_revision_is_stateless_and_checked() {
    let version = "2026-07-28";
    let discovered = modern(&SAMPLE, "server/discover", json!({}), None, version).json();
    let found = &discovered["result"];
    assert_eq!(
        (&found["resultType"], &found["cacheScope"]),
        (&json!("complete"), &json!("public")),
        "{discovered}"
    );
    assert!(found["ttlMs"].as_u64().unwrap() >= 60_000);
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        let listed = modern(&SAMPLE, method, json!({}), None, version).json();
        assert_eq!(listed["result"]["cacheScope"], "public", "{method}: {listed}");
    }
    let call = json!({ "name": "get_bill", "arguments": { "bill_id": "hr:119:1" } });
    let called = modern(&SAMPLE, "tools/call", call.clone(), Some("get_bill"), version);
    assert_eq!(called.json()["result"]["structuredContent"]["data"]["id"], "hr:119:1");
    assert!(called.header("mcp-session-id").is_empty());
    // The headers must say what the body says.
    let other = modern(&SAMPLE, "tools/call", call, Some("search"), version);
    assert_eq!((other.status, &other.json()["error"]["code"]), (400, &json!(-32020)));
    let unknown = modern(&SAMPLE, "tools/list", json!({}), None, "2099-01-01");
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (400, &json!(-32022)));
    let nothing = modern(&SAMPLE, "ping", json!({}), None, version);
    assert_eq!((nothing.status, &nothing.json()["error"]["code"]), (404, &json!(-32601)));
}

#[test]
fn older_revisions_are_negotiated() {
    for (asked, given) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let client = json!({ "name": "t", "version": "1" });
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": client });
        let answer = rpc(&SAMPLE, &request("initialize", params)).json();
        assert_eq!(answer["result"]["protocolVersion"], given, "{asked}: {answer}");
    }
}

/// Given a page of another site, when it calls through a name that points here, then it is refused.
#[test]
fn other_hosts_and_origins_are_refused() {
    let list = request("tools/list", json!({})).to_string();
    let status = |headers: &[(&str, &str)]| {
        let all: Vec<_> = [JSON, ACCEPT].iter().chain(headers).copied().collect();
        SAMPLE.post("/mcp", &all, list.as_bytes()).status
    };
    assert_eq!(status(&[]), 200);
    assert_eq!(status(&[("origin", "http://localhost:6274")]), 200);
    assert_eq!(status(&[("origin", "https://evil.example")]), 403);
    assert_eq!(status(&[("host", "evil.example")]), 403);
    let named = Server::start(&[
        "--mcp-hosts",
        "josh.example.org",
        "--mcp-origins",
        "https://app.example.org",
    ]);
    let status = |headers: &[(&str, &str)]| {
        let all: Vec<_> = [JSON, ACCEPT].iter().chain(headers).copied().collect();
        named.post("/mcp", &all, list.as_bytes()).status
    };
    assert_eq!(status(&[("host", "josh.example.org")]), 200);
    assert_eq!(status(&[("host", "josh.example.org"), ("origin", "https://app.example.org")]), 200);
    assert_eq!(status(&[("host", "evil.example")]), 403);
}

#[test]
fn a_browser_gets_a_page_a_stream_gets_405_and_preflights_pass() {
    let page = SAMPLE.send("GET", "/mcp", &[("accept", "text/html")]);
    assert_eq!(page.status, 200);
    assert!(
        page.text().contains(&format!(
            "claude mcp add --transport http --scope user josh {}/mcp",
            SAMPLE.url
        )),
        "{}",
        page.text()
    );
    assert!(page.text().contains("list_cosponsors"));
    let stream = SAMPLE.send("GET", "/mcp", &[("accept", "text/event-stream")]);
    assert_eq!((stream.status, stream.code().as_str()), (405, "method_not_allowed"));
    let head = SAMPLE.send("HEAD", "/mcp", &[]);
    assert_eq!((head.status, head.header("mcp-protocol-version")), (200, "2025-11-25"));
    assert_eq!(SAMPLE.send("PUT", "/mcp", &[]).status, 405);
    assert_eq!(SAMPLE.send("DELETE", "/mcp", &[]).status, 405);
    let preflight = SAMPLE.send(
        "OPTIONS",
        "/mcp",
        &[("origin", "http://localhost:6274"), ("access-control-request-method", "POST")],
    );
    assert!(preflight.header("access-control-allow-methods").contains("POST"));
    let allowed = preflight.header("access-control-allow-headers").to_lowercase();
    for name in [
        "mcp-protocol-version",
        "mcp-session-id",
        "mcp-method",
        "mcp-name",
        "authorization",
        "last-event-id",
    ] {
        assert!(allowed.contains(name), "{name} in {allowed}");
    }
    assert!(preflight.header("access-control-expose-headers").contains("Mcp-Session-Id"));
}

/// Given a caller whose context is traced, when a tool is called, then the log line carries it.
#[test]
fn trace_context_goes_into_the_log() {
    let server = Server::start(&["--log-format", "json"]);
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let call = request("tools/call", json!({ "name": "ping", "arguments": {} })).to_string();
    server.post("/mcp", &[JSON, ACCEPT, ("traceparent", trace)], call.as_bytes());
    crate::support::eventually("the log line", || server.logged(trace));
    // One that is none stays out of the log.
    server.post("/mcp", &[JSON, ACCEPT, ("traceparent", "forged tool_name=x")], call.as_bytes());
    crate::support::eventually("both lines", || {
        server.log().iter().filter(|l| l.contains("tool call")).count() == 2
    });
    assert!(!server.logged("forged"));
}

#[test]
fn sessions_are_kept_when_switched_on() {
    let server = Server::start(&["--mcp-sessions"]);
    let headers =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }});
    let begun = server.post("/mcp", &headers, initialize.to_string().as_bytes());
    let session = begun.header("mcp-session-id").to_string();
    assert!(begun.status == 200 && !session.is_empty(), "{} {}", begun.status, begun.text());
    let ended = server.send("DELETE", "/mcp", &[("mcp-session-id", &session), headers[1]]);
    assert!((200..300).contains(&ended.status), "{}", ended.status);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let after = server.post(
        "/mcp",
        &[headers[0], headers[1], ("mcp-session-id", &session)],
        list.as_bytes(),
    );
    assert_eq!(after.status, 404, "{}", after.text());
    assert_eq!(
        structured(&server, "get_bill", json!({"bill_id": "hr:119:1"}))["data"]["id"],
        "hr:119:1"
    );
    // Without them there is no session to delete.
    assert_eq!(SAMPLE.send("DELETE", "/mcp", &[("mcp-session-id", &session)]).status, 405);
}
