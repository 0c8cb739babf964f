//! The acceptance criteria of the MCP server, by their numbers. Those of search and retrieval (4 to
//! 16) are in `mcp_criteria_retrieval`.

use josh::bundle::format::SectionKind;
use rmcp::model::CallToolRequestParams;
use rmcp::{ClientLifecycleMode, ServiceError};
use serde_json::{Value, json};

use crate::mcp::{block_on, call, connect, once, structured, tools};
use crate::mcp_wire::rpc;
use crate::support::{SAMPLE, Server, changed, eventually};

pub fn initialize() -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

/// A server over the sample without these sections.
pub(crate) fn without(sections: &[SectionKind]) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let bundle = changed(folder.path(), "part.db", |manifest| {
        manifest.sections.retain(|s| !sections.contains(&s.kind))
    });
    let server = Server::start(&["--bundle", bundle.to_str().unwrap()]);
    (folder, server)
}

#[test]
fn criterion_01_streamable_http_of_2025_11_25() {
    let answer = rpc(&SAMPLE, &initialize());
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
    // No SSE transport of the old kind.
    assert_eq!(SAMPLE.send("GET", "/sse", &[]).status, 404);
    assert_eq!(SAMPLE.send("GET", "/mcp", &[("accept", "text/event-stream")]).status, 405);
}

#[test]
fn criterion_02_initialize_names_josh_and_its_version() {
    let result = rpc(&SAMPLE, &initialize()).json()["result"].clone();
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(
        (&result["serverInfo"]["name"], &result["serverInfo"]["version"]),
        (&json!("josh"), &json!(env!("CARGO_PKG_VERSION")))
    );
    assert!(
        result["instructions"]
            .as_str()
            .unwrap()
            .chars()
            .take(512)
            .collect::<String>()
            .contains("federal policy data")
    );
}

#[test]
fn criterion_03_one_process_one_request_id() {
    let params = json!({ "name": "get_bill", "arguments": { "bill_id": "hr:119:1" } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("x-request-id", "mine-1"),
    ];
    let answer = SAMPLE.post("/mcp", &headers, call.to_string().as_bytes());
    assert_eq!(answer.header("x-request-id"), "mine-1");
    assert_eq!(answer.json()["result"]["structuredContent"]["meta"]["request_id"], "mine-1");
    let rest = SAMPLE.send("GET", "/v1/bills/hr:119:1", &[("x-request-id", "mine-1")]).json();
    assert_eq!(rest["meta"]["request_id"], "mine-1");
}

pub(crate) fn failed(tool: &'static str, with: Value) -> Value {
    let result = once(&SAMPLE, tool, with);
    assert_eq!(result.is_error, Some(true), "{tool}: {:?}", result.structured_content);
    serde_json::to_value(&result).unwrap()
}

pub(crate) fn property(tool: &str, name: &str) -> Value {
    let tools = tools(&SAMPLE);
    let tool = tools.iter().find(|t| t.name == tool).unwrap();
    tool.input_schema["properties"][name].clone()
}

#[test]
fn criterion_17_numbers_come_as_rest_gives_them() {
    let value = structured(&SAMPLE, "count", json!({ "resource": "bills" }));
    assert_eq!(value["value"], SAMPLE.get("/v1/bills?aggregate=count").json()["value"]);
    assert!(value["query_cost"]["rows"].is_u64());
    let sum = structured(
        &SAMPLE,
        "sum",
        json!({ "resource": "lda-filings", "sum_field": "amount", "group_by": "registrant" }),
    );
    let rest =
        SAMPLE.get("/v1/lda-filings?aggregate=sum&sum_field=amount&group_by=registrant").json();
    assert_eq!(
        (&sum["buckets"], &sum["total_buckets"]),
        (&rest["buckets"], &rest["total_buckets"])
    );
    let with = json!({
        "resource": "bills",
        "time_field": "introduced_date",
        "interval": "month",
        "query": "fentanyl",
    });
    let rest = SAMPLE
        .get("/v1/bills?bucket_by_time=introduced_date&time_interval=month&q=fentanyl")
        .json();
    assert_eq!(structured(&SAMPLE, "time_series", with)["buckets"], rest["buckets"]);
}

#[test]
fn criterion_18_enums_are_the_aggregation_plans() {
    let mut groups = std::collections::BTreeSet::new();
    let mut sums = std::collections::BTreeSet::new();
    for source in SAMPLE.sources() {
        let plan =
            SAMPLE.get(&format!("/v1/sources/{}", source["key"].as_str().unwrap())).json()["data"]
                ["aggregation"]
                .clone();
        let names = |which: &str| {
            plan[which]
                .as_array()
                .unwrap()
                .iter()
                .map(|n| n.as_str().unwrap().to_string())
                .collect::<Vec<_>>()
        };
        groups.extend(names("group_by"));
        sums.extend(names("sum"));
    }
    assert_eq!(
        property("count", "group_by")["items"]["enum"],
        Value::from(groups.into_iter().collect::<Vec<_>>())
    );
    assert_eq!(
        property("sum", "sum_field")["enum"],
        Value::from(sums.into_iter().collect::<Vec<_>>())
    );
}

#[test]
fn criterion_19_too_broad_and_too_slow_say_how_to_narrow() {
    for (setting, code) in
        [("--aggregate-rows", "aggregate_too_broad"), ("--aggregate-ms", "aggregate_timeout")]
    {
        let server = Server::start(&[setting, "0"]);
        let result = once(&server, "count", json!({ "resource": "bills", "group_by": "status" }));
        let meta = serde_json::to_value(&result.meta).unwrap();
        assert_eq!((result.is_error, &meta["error_code"]), (Some(true), &json!(code)), "{meta}");
        assert!(!meta["hint"]["suggest_narrowing"].as_array().unwrap().is_empty());
        assert_eq!(meta["retryable"], json!(code == "aggregate_timeout"));
    }
}

#[test]
fn criterion_20_dossiers_come_whole() {
    for (tool, with, sections) in [
        ("get_bill_dossier", json!({ "bill_id": "hr:119:1" }), 9),
        ("get_legislator_dossier", json!({ "bioguide_id": "M000133", "congress": 119 }), 7),
        ("get_committee_dossier", json!({ "committee_id": "HSWM", "congress": 119 }), 5),
        ("get_public_law_dossier", json!({ "id": "pl:119:21" }), 3),
    ] {
        let dossier = structured(&SAMPLE, tool, with);
        assert_eq!(dossier["sections"].as_object().unwrap().len(), sections, "{tool}");
        assert!(dossier["data"]["id"].is_string() && dossier["citation"]["url"].is_string());
    }
}

#[test]
fn criterion_21_truncated_sections_keep_the_address_of_the_rest() {
    let dossier =
        structured(&SAMPLE, "get_legislator_dossier", json!({ "bioguide_id": "M000133" }));
    let sections = dossier["sections"].as_object().unwrap();
    let truncated: Vec<&Value> = sections.values().filter(|s| s["truncated"] == true).collect();
    assert!(!truncated.is_empty(), "{dossier}");
    for section in truncated {
        let more = SAMPLE.get(section["more_url"].as_str().unwrap()).json();
        assert_eq!(more["total"], section["total"]);
    }
}

/// Given a case for every code that a tool can meet, when it fails, then message, code and request
/// id are in the text and all of it in `_meta`.
#[test]
fn criterion_22_errors_of_rest_become_results() {
    let cases = [
        ("record_not_found", "get_bill", json!({ "bill_id": "hr:119:99999" })),
        ("unrecognized_id_format", "get_bill", json!({ "bill_id": "pl:119:21" })),
        ("unknown_source", "count", json!({ "resource": "bils" })),
        (
            "invalid_parameter",
            "count",
            json!({ "resource": "bills", "filters": { "sponser": "x" } }),
        ),
        ("invalid_cursor", "list_cosponsors", json!({ "bill_id": "hr:119:1", "cursor": "zzz" })),
        ("source_not_searchable", "search", json!({ "query": "x", "source": "committees" })),
        (
            "source_not_resolvable",
            "resolve_entity",
            json!({ "query": "x", "entity_type": "bills" }),
        ),
        (
            "source_not_searchable_semantically",
            "semantic_search",
            json!({ "query": "x", "source": "saps" }),
        ),
    ];
    for (code, tool, with) in cases {
        let error = failed(tool, with);
        let (first, second) = (
            error["content"][0]["text"].as_str().unwrap(),
            error["content"][1]["text"].as_str().unwrap(),
        );
        let id = error["_meta"]["request_id"].as_str().unwrap();
        assert_eq!(error["_meta"]["error_code"], code, "{error}");
        assert!(
            first.contains(code) && first.contains(id) && second == format!("{code} {id}"),
            "{error}"
        );
        assert!(
            error["_meta"]["error_type"].is_string() && error["_meta"]["retryable"].is_boolean(),
            "{error}"
        );
        assert!(
            error["_meta"]["hint"]["next"].is_string() && error["structuredContent"].is_null(),
            "{error}"
        );
    }
    let (_folder, server) = without(&[SectionKind::TextIndex]);
    let gone = once(&server, "search", json!({ "query": "water" }));
    assert_eq!(serde_json::to_value(&gone.meta).unwrap()["error_code"], "bundle_unavailable");
}

#[test]
fn criterion_23_bad_arguments_name_the_field() {
    let cases = [
        ("get_bill", json!({}), "bill_id"),
        ("get_bill", json!({ "bill_id": 1 }), "bill_id"),
        ("get_bill", json!({ "bill_id": "" }), "bill_id"),
        ("get_bill", json!({ "bil_id": "hr:119:1" }), "bil_id"),
        ("search", json!({ "query": "x", "limit": 0 }), "limit"),
        ("search", json!({ "query": "x", "limit": "many" }), "limit"),
        ("search", json!({ "query": "x", "source": [1] }), "source"),
        ("search", json!({ "query": "x", "detail": "all" }), "detail"),
        ("lexical_search", json!({ "query": "x", "filters": ["congress"] }), "filters"),
        (
            "lexical_search",
            json!({ "query": "x", "filters": { "mode": "semantic" } }),
            "filters.mode",
        ),
        (
            "lexical_search",
            json!({ "query": "x", "filters": { "congress": {} } }),
            "filters.congress",
        ),
        (
            "time_series",
            json!({ "resource": "bills", "time_field": "introduced_date", "interval": "decade" }),
            "interval",
        ),
        ("get_guide", json!({ "guide_key": "nothing" }), "guide_key"),
        ("nothing", json!({}), "nothing"),
    ];
    block_on(async {
        let client = connect(&SAMPLE.url, ClientLifecycleMode::Initialize).await;
        for (tool, with, field) in cases {
            let asked =
                CallToolRequestParams::new(tool).with_arguments(with.as_object().unwrap().clone());
            match client.call_tool(asked).await {
                Err(ServiceError::McpError(error)) => {
                    assert_eq!(error.code.0, -32602, "{tool} {with}");
                    assert!(error.message.contains(field), "{tool} {with}: {}", error.message);
                }
                other => panic!("{tool} {with}: {other:?}"),
            }
        }
        assert_eq!(
            call(&client, "ping", json!({})).await.is_error,
            Some(false),
            "the server goes on"
        );
    });
}

#[test]
fn criterion_24_open_servers_say_so() {
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
    {
        let document = SAMPLE.get(path).json();
        assert_eq!(document["authorization_servers"], json!([]));
        assert_eq!(document["resource"], format!("{}/mcp", SAMPLE.url));
    }
    assert_eq!(once(&SAMPLE, "ping", json!({})).is_error, Some(false));
}

/// Given `JOSH_AUTH=oauth`, when the official client calls tools with a key, with a token, and
/// with neither, then the first two get answers and the third is sent to where tokens come from.
#[test]
fn criterion_25_oauth_asks_every_tool_call_for_a_token() {
    use crate::access::{Guarded, ISSUER, Signer, jwks};
    use rmcp::transport::StreamableHttpClientTransport;
    use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jwks.json");
    let signer = Signer::new("one", jsonwebtoken::Algorithm::RS256);
    std::fs::write(&path, jwks(&[&signer])).unwrap();
    let guarded = Guarded::start(path.to_str(), &[]);
    guarded.keys(&["add", "alice", "--subject", "auth0|alice"]);
    let key = guarded.keys(&["add", "a program"]);
    let about = guarded.server.get("/.well-known/oauth-protected-resource/mcp").json();
    assert_eq!(about["authorization_servers"], json!([ISSUER]));
    for era in crate::mcp::eras() {
        for credential in [&key, &signer.token(json!({}))] {
            let answer = block_on(async {
                let config = StreamableHttpClientTransportConfig::with_uri(format!(
                    "{}/mcp",
                    guarded.server.url
                ));
                let transport = StreamableHttpClientTransport::from_config(
                    config.auth_header(credential.clone()),
                );
                let client = rmcp::serve_client_with_lifecycle((), transport, era.clone())
                    .await
                    .expect("it connects");
                call(&client, "get_bill", json!({ "bill_id": "hr:119:1" })).await
            });
            assert_eq!(answer.structured_content.unwrap()["data"]["id"], "hr:119:1");
        }
    }
    for tool in tools(&SAMPLE) {
        let params = json!({ "name": tool.name });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let refused = rpc(&guarded.server, &message);
        assert_eq!(refused.status, 401, "{}", tool.name);
        assert!(refused.header("www-authenticate").contains("resource_metadata="), "{}", tool.name);
    }
}

#[test]
fn criterion_26_a_call_is_one_line_in_the_log() {
    let server = Server::start(&["--log-format", "json"]);
    once(&server, "get_bill", json!({ "bill_id": "hr:119:1" }));
    once(&server, "get_bill", json!({ "bill_id": "hr:119:99999" }));
    let lines = || -> Vec<Value> {
        let parsed = server
            .log()
            .iter()
            .filter_map(|l| serde_json::from_str::<Value>(l).ok())
            .collect::<Vec<_>>();
        parsed.into_iter().filter(|l| l["tool_name"] == "get_bill").collect()
    };
    eventually("two lines", || lines().len() == 2);
    for (line, status) in lines().iter().zip(["ok", "error"]) {
        assert_eq!(
            (&line["result_status"], &line["caller_kind"]),
            (&json!(status), &json!("anonymous")),
            "{line}"
        );
        assert!(line["request_id"].is_string() && line["duration_ms"].is_number(), "{line}");
    }
}

#[test]
fn criterion_27_the_manifest_advertises_the_server() {
    let manifest = SAMPLE.get("/mcp/manifest.json").json();
    assert_eq!(manifest["name"], "io.github.usejosh/josh");
    assert!(!manifest["description"].as_str().unwrap().contains('\n'));
    let listed: Vec<&str> =
        manifest["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(listed, tools(&SAMPLE).iter().map(|t| t.name.to_string()).collect::<Vec<_>>());
    assert!(
        SAMPLE.get("/mcp").status == 200
            && manifest["documentation"].as_str().unwrap().ends_with("/mcp")
    );
}
