//! Requests as clients send them: paths for REST, messages for MCP.

use serde_json::{Value, json};

use crate::mutate;
use crate::mutate::Random;
use crate::target::{SOME, Target, texts};

const ASKED: &[&str] = &[
    "/v1/bills?congress=119&status=enacted&sort=-latest_action_date&fields=title,law_id&limit=2",
    "/v1/bills?introduced_date.gte=2025-01-01&introduced_date.lt=2026&title=water&sponsor=S000033",
    "/v1/bills?aggregate=count&group_by=congress,type&limit=3",
    "/v1/lda-filings?aggregate=sum&sum_field=income&group_by=year",
    "/v1/bills?aggregate=time_series&time_field=introduced_date&interval=month",
    "/v1/bills/hr:119:1/actions?limit=3&format=csv",
    "/v1/bills/H.R.%201/body?max_bytes=1000&section=101",
    "/v1/roll-call-votes/house:119:1:145/positions?position=present&format=ndjson",
    "/v1/legislators?q=Sen.+Markley+from+Mass.&party=D&limit=2",
    "/v1/legislators/M000133/dossier",
    "/v1/search?q=%22drinking+water%22+-lead&mode=lexical&source=bills,crs-reports&since=2020\
     &until=2026-01-31&limit=2",
    "/v1/search?q=clean+water&mode=semantic&congress=119,118&limit=1",
    "/v1/search?q=title:act+OR+tax&limit=1",
    "/v1/fetch/40%20CFR%20122.26?fields=agency",
    "/v1/fetch/https://www.congress.gov/bill/119th-congress/house-bill/1",
    "/v1/sources/bills",
    "/mcp/manifest.json",
    "/openapi.json",
    "/health",
];

const WORDS: &[&str] = &[
    "&",
    "=",
    ",",
    "%00",
    "%ff",
    "%22",
    "'",
    "%27;--",
    "%25",
    "_",
    "*",
    ".gte=",
    ".lt=",
    ".ne=",
    ".in=",
    "&limit=0",
    "&limit=101",
    "&sort=-",
    "&sort=ord",
    "&format=csv",
    "&fields=id",
    "&since=2025-13-45",
    "&until=0000",
    "&congress=",
    "&q=",
    "&mode=",
    "/..",
    "null",
    "\"",
    "[",
    "]",
    "1e400",
    "9999999999-12-31",
    "infinity",
    "NaN",
    "\\u0000",
];

/// Paths with their query strings.
pub fn paths() -> Target<'static> {
    Target {
        name: "rest",
        count: SOME,
        corpus: texts(ASKED),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    }
}

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

/// What messages are made of.
const PIECES: &[&str] = &[
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\\u0000",
    "\\ud800",
    "\\\"",
    ",",
    ":",
    "[[[[[[[[",
    "{\"a\":",
    "tools/call",
    "\"arguments\":",
    "\"id\":",
    "\"_meta\":",
    "progressToken",
    "notifications/cancelled",
    "mcp-session-id: x\n",
    "mcp-name: search\n",
    "mcp-protocol-version: 2025-03-26\n",
    "accept-encoding: gzip\n",
    "expect: 100-continue\n",
    "x-request-id: \u{7}\n",
    "host: evil.example\n",
    "origin: null\n",
    "' OR 1=1 --",
    "../",
];

/// A call of every tool, with valid arguments.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("get_bill", json!({ "bill_id": "H.R. 1, 119th", "detail": "full" })),
        ("get_legislator", json!({ "bioguide_id": "M000133" })),
        ("get_committee", json!({ "committee_id": "HSWM" })),
        ("list_committee_members", json!({ "committee_id": "HSWM", "congress": 119, "limit": 3 })),
        ("list_cosponsors", json!({ "bill_id": "hr:119:1", "limit": 3, "cursor": "MDEyMzQ1Njdb" })),
        (
            "get_bill_text",
            json!({ "bill_id": "hr:119:1", "section": "101", "version": "enr", "max_bytes": 2000 }),
        ),
        ("list_member_votes", json!({ "bioguide_id": "M000133", "limit": 2 })),
        (
            "search",
            json!({
                "query": "\"drinking water\" -lead title:act",
                "source": "bills",
                "since": "2020",
                "until": "2026-01-31",
            }),
        ),
        (
            "lexical_search",
            json!({
                "query": "water",
                "source": ["bills", "crs-reports"],
                "filters": { "congress": 119, "introduced_date.gte": "2025-01-01" },
            }),
        ),
        (
            "semantic_search",
            json!({ "query": "clean water", "filters": { "congress": [119, 118] }, "limit": 1 }),
        ),
        ("fetch", json!({ "id": "40 CFR 122.26" })),
        (
            "resolve_entity",
            json!({
                "query": "Sen. Markley from Mass.",
                "entity_type": "legislators",
                "filters": { "party": "D" },
            }),
        ),
        (
            "count",
            json!({
                "resource": "bills",
                "group_by": ["congress", "type"],
                "query": "water",
                "filters": { "congress": 119 },
                "limit": 5,
            }),
        ),
        ("sum", json!({ "resource": "lda-filings", "sum_field": "income", "group_by": "year" })),
        (
            "time_series",
            json!({ "resource": "bills", "time_field": "introduced_date", "interval": "month" }),
        ),
        ("get_bill_dossier", json!({ "bill_id": "hr:119:1" })),
        ("get_legislator_dossier", json!({ "bioguide_id": "M000133" })),
        ("get_committee_dossier", json!({ "committee_id": "HSWM" })),
        ("get_public_law_dossier", json!({ "id": "P.L. 119-21" })),
        ("ping", json!({})),
        ("get_guide", json!({ "guide_key": "ids" })),
    ]
}

/// Messages to `/mcp`: header lines, an empty line and a body. Headers that delimit the request
/// are left out: an incomplete request would only run into a timeout, which other tests cover.
pub fn messages() -> Target<'static> {
    Target { name: "rpc", count: SOME, corpus: corpus(), mutate: &mutated }
}

/// Valid requests of both protocol versions.
fn corpus() -> Vec<Vec<u8>> {
    let implementation = json!({ "name": "fuzz", "version": "1" });
    let mut requests = vec![
        (
            "initialize",
            json!({
                "protocolVersion": OLD,
                "capabilities": { "roots": {}, "sampling": {} },
                "clientInfo": implementation,
            }),
        ),
        ("ping", json!({})),
        ("server/discover", json!({})),
        ("tools/list", json!({ "cursor": "x" })),
        ("prompts/list", json!({})),
        (
            "prompts/get",
            json!({
                "name": "member_profile",
                "arguments": { "member": "Ed Markey", "congress": "119" },
            }),
        ),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "josh://guides/ids" })),
        ("resources/read", json!({ "uri": "josh://records/hr:119:1" })),
        ("resources/read", json!({ "uri": "josh://catalog/fields/bills" })),
        ("resources/read", json!({ "uri": "josh://catalog/errors/invalid_cursor" })),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "member_profile" },
                "argument": { "name": "member", "value": "Mark" },
            }),
        ),
        ("logging/setLevel", json!({ "level": "debug" })),
    ];
    let call = |(tool, arguments)| ("tools/call", json!({ "name": tool, "arguments": arguments }));
    requests.extend(calls().into_iter().map(call));
    let mut corpus = Vec::new();
    for (number, (method, params)) in requests.into_iter().enumerate() {
        let mut body =
            json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params });
        corpus.push(message(&[("mcp-protocol-version", OLD), ("x-request-id", "fuzz-1")], &body));
        body["id"] = json!(format!("n{number}"));
        body["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientInfo": implementation,
            "io.modelcontextprotocol/clientCapabilities": {},
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        });
        let mut headers = vec![("mcp-protocol-version", NEW), ("mcp-method", method)];
        headers.extend(
            params["name"].as_str().or(params["uri"].as_str()).map(|name| ("mcp-name", name)),
        );
        corpus.push(message(&headers, &body));
    }
    for notification in ["notifications/initialized", "notifications/cancelled"] {
        let params = json!({ "requestId": 1, "reason": "x" });
        corpus.push(message(
            &[],
            &json!({ "jsonrpc": "2.0", "method": notification, "params": params }),
        ));
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    corpus.push(message(&[("origin", "http://localhost:6274")], &json!([ping, ping])));
    corpus.push(message(&[], &json!({ "jsonrpc": "2.0", "id": 1, "result": {} })));
    corpus
}

fn message(headers: &[(&str, &str)], body: &Value) -> Vec<u8> {
    let own =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let lines: String =
        own.iter().chain(headers).map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!("{lines}\n{body}").into_bytes()
}

/// Half of the time the body stays valid JSON and one of its values is changed: random bytes seldom
/// get past the parser.
fn mutated(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    if random.one_in(2) {
        return mutate::bytes(random, corpus, PIECES);
    }
    let (head, body) = parts(random.of(corpus).as_slice());
    let Ok(mut body) = serde_json::from_slice::<Value>(body) else {
        return mutate::bytes(random, corpus, PIECES);
    };
    for _ in 0..=random.below(3) {
        // The arguments of a tool more often than the rest.
        match body.pointer_mut("/params/arguments") {
            Some(arguments) if !random.one_in(3) => change(random, arguments),
            _ => change(random, &mut body),
        }
    }
    [head, b"\n\n", body.to_string().as_bytes()].concat()
}

/// Changes one value somewhere in a JSON document.
fn change(random: &mut Random, value: &mut Value) {
    let is_inner = matches!(value, Value::Array(items) if !items.is_empty())
        || matches!(value, Value::Object(fields) if !fields.is_empty());
    if is_inner && !random.one_in(12) {
        match value {
            Value::Array(items) => {
                let at = random.below(items.len());
                return change(random, &mut items[at]);
            }
            Value::Object(fields) => {
                let name = fields.keys().nth(random.below(fields.len())).unwrap().clone();
                match random.below(12) {
                    0 => drop(fields.remove(&name)),
                    1 => {
                        let kept = fields[&name].clone();
                        let renamed = mutate::bytes(random, &[name.into_bytes()], PIECES);
                        fields.insert(String::from_utf8_lossy(&renamed).into_owned(), kept);
                    }
                    _ => change(random, &mut fields[&name]),
                }
                return;
            }
            _ => {}
        }
    }
    *value = match (&*value, random.below(12)) {
        (_, 0) => Value::Null,
        (_, 1) => json!(random.one_in(2)),
        (_, 2) => json!([value, value]),
        (_, 3) => json!({ "": value }),
        (_, 4) => json!(random.next() as i64),
        (_, 5) => json!(random.next() as f64 * 1e250),
        (_, 6) => json!("x".repeat(random.below(20_000))),
        (_, 7) => json!(vec!["a"; random.below(500)]),
        (Value::String(text), _) => {
            let changed = mutate::bytes(random, &[text.clone().into_bytes()], PIECES);
            json!(String::from_utf8_lossy(&changed))
        }
        (Value::Number(_), _) => {
            json!([-1, 0, 1, 120, 200, 201, 1 << 32, i64::MAX][random.below(8)])
        }
        _ => json!("hr:119:1"),
    };
}

/// Splits a message into header lines and body.
pub fn parts(input: &[u8]) -> (&[u8], &[u8]) {
    let end = input.windows(2).position(|pair| pair == b"\n\n");
    end.map_or((input, &[]), |end| (&input[..end], &input[end + 2..]))
}
