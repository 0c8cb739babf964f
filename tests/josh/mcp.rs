//! Section 9 with the official client: both eras over HTTP, and over standard input and output.

use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject, ProtocolVersion, Tool};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, serve_client_with_lifecycle};
use serde_json::{Value, json};

use crate::support::{JOSH, SAMPLE, Server, changed, without_nulls};

pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(work)
}

pub type Client = RunningService<RoleClient, ()>;

pub fn eras() -> [ClientLifecycleMode; 2] {
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    ]
}

pub async fn connect(url: &str, era: ClientLifecycleMode) -> Client {
    connect_at(format!("{url}/mcp"), era).await
}

pub async fn connect_at(endpoint: String, era: ClientLifecycleMode) -> Client {
    let transport = StreamableHttpClientTransport::from_uri(endpoint);
    serve_client_with_lifecycle((), transport, era).await.expect("it connects")
}

fn arguments(arguments: Value) -> JsonObject {
    arguments.as_object().cloned().expect("an object")
}

pub async fn call(client: &Client, tool: &'static str, with: Value) -> CallToolResult {
    client
        .call_tool(CallToolRequestParams::new(tool).with_arguments(arguments(with)))
        .await
        .expect("a result")
}

/// Calls a tool of a server once, in the older era.
pub fn once(server: &Server, tool: &'static str, with: Value) -> CallToolResult {
    block_on(async {
        let client = connect(&server.url, ClientLifecycleMode::Initialize).await;
        let result = call(&client, tool, with).await;
        let _ = client.cancel().await;
        result
    })
}

pub fn structured(server: &Server, tool: &'static str, with: Value) -> Value {
    let result = once(server, tool, with);
    assert_ne!(result.is_error, Some(true), "{tool}: {:?}", result.content);
    result.structured_content.expect("structured content")
}

pub fn tools(server: &Server) -> Vec<Tool> {
    block_on(async {
        let client = connect(&server.url, ClientLifecycleMode::Initialize).await;
        let tools = client.list_all_tools().await.expect("tools");
        let _ = client.cancel().await;
        tools
    })
}

/// (tool, arguments, path of REST): what must be equal. Every tool that wraps REST is here.
pub const SAME: &[(&str, &str, &str)] = &[
    ("get_bill", r#"{"bill_id":"hr:119:1"}"#, "/v1/bills/hr:119:1"),
    ("get_bill", r#"{"bill_id":"H.R. 1"}"#, "/v1/bills/H.R.%201"),
    ("get_legislator", r#"{"bioguide_id":"M000133"}"#, "/v1/legislators/M000133"),
    ("get_legislator", r#"{"bioguide":"M000133"}"#, "/v1/legislators/M000133"),
    ("get_committee", r#"{"committee_id":"HSWM"}"#, "/v1/committees/HSWM"),
    ("get_committee", r#"{"id":"HSWM"}"#, "/v1/committees/HSWM"),
    (
        "list_committee_members",
        r#"{"committee_id":"HSWM","limit":5}"#,
        "/v1/committees/HSWM/members?limit=5",
    ),
    (
        "list_committee_members",
        r#"{"committee_id":"HSWM","congress":119}"#,
        "/v1/committees/HSWM/members?limit=10&congress=119",
    ),
    ("list_cosponsors", r#"{"bill_id":"hr:118:82"}"#, "/v1/bills/hr:118:82/cosponsors?limit=10"),
    (
        "get_bill_text",
        r#"{"bill_id":"hr:119:1"}"#,
        "/v1/bills/hr:119:1/body?max_bytes=30000&limit=100",
    ),
    (
        "get_bill_text",
        r#"{"bill_id":"hr:119:1","section":"10102"}"#,
        "/v1/bills/hr:119:1/body?section=10102&max_bytes=30000&limit=100",
    ),
    (
        "get_bill_text",
        r#"{"bill_id":"hr:119:1","max_bytes":1000}"#,
        "/v1/bills/hr:119:1/body?max_bytes=1000&limit=100",
    ),
    ("list_member_votes", r#"{"bioguide_id":"M000133"}"#, "/v1/legislators/M000133/votes?limit=10"),
    (
        "list_vote_positions",
        r#"{"vote_id":"house:119:1:145","filters":{"position":"no","party":"Republican"}}"#,
        "/v1/roll-call-votes/house:119:1:145/positions?position=no&party=Republican&limit=10",
    ),
    (
        "get_series",
        r#"{"series_id":"ust:avg_interest_rates:treasury_bills","since":"2001-03"}"#,
        "/v1/statistical-series/ust:avg_interest_rates:treasury_bills/observations\
         ?since=2001-03&limit=10",
    ),
    (
        "get_series",
        r#"{"series_id":"ust:avg_interest_rates:treasury_bills","interval":"year","statistic":"mean"}"#,
        "/v1/statistical-series/ust:avg_interest_rates:treasury_bills/observations\
         ?time_interval=year&aggregate=mean&limit=10",
    ),
    (
        "list_records",
        r#"{"resource":"bills","filters":{"congress":119},"sort":"-cosponsor_count","limit":3}"#,
        "/v1/bills?congress=119&sort=-cosponsor_count&limit=3",
    ),
    (
        "list_records",
        r#"{"resource":"actions","of":"s:119:5","fields":["date"]}"#,
        "/v1/bills/s:119:5/actions?limit=10&fields=date",
    ),
    (
        "list_records",
        r#"{"resource":"bills","facets":["chamber","year"],"limit":1}"#,
        "/v1/bills?facets=chamber,year&limit=1",
    ),
    ("search", r#"{"query":"drinking water","limit":3}"#, "/v1/search?q=drinking%20water&limit=3"),
    (
        "search",
        r#"{"query":"energy","facets":["source","congress"],"limit":1}"#,
        "/v1/search?q=energy&facets=source,congress&limit=1",
    ),
    (
        "search",
        r#"{"query":"energy","source":["bills","crs-reports"],"since":"2023"}"#,
        "/v1/search?q=energy&source=bills,crs-reports&since=2023&limit=10",
    ),
    (
        "lexical_search",
        r#"{"query":"fentanyl","source":"bills","filters":{"congress":118}}"#,
        "/v1/search?q=fentanyl&source=bills&mode=lexical&congress=118&limit=10",
    ),
    (
        "semantic_search",
        r#"{"query":"help with rent","filters":{"congress":[118,119]}}"#,
        "/v1/search?q=help%20with%20rent&mode=semantic&congress=118,119&limit=10",
    ),
    (
        "resolve_entity",
        r#"{"query":"Sen. Markley from Mass.","entity_type":"legislators"}"#,
        "/v1/legislators?q=Sen.%20Markley%20from%20Mass.&limit=10",
    ),
    (
        "count",
        r#"{"resource":"bills","group_by":"status"}"#,
        "/v1/bills?aggregate=count&group_by=status",
    ),
    ("count", r#"{"resource":"bills","query":"fentanyl"}"#, "/v1/bills?aggregate=count&q=fentanyl"),
    (
        "sum",
        r#"{"resource":"lda-filings","sum_field":"amount","group_by":["registrant","client"],"limit":3}"#,
        "/v1/lda-filings?aggregate=sum&sum_field=amount&group_by=registrant,client&limit=3",
    ),
    (
        "time_series",
        r#"{"resource":"bills","time_field":"introduced_date","interval":"year"}"#,
        "/v1/bills?bucket_by_time=introduced_date&time_interval=year",
    ),
    ("get_bill_dossier", r#"{"bill_id":"hr:119:1"}"#, "/v1/bills/hr:119:1/dossier"),
    (
        "get_legislator_dossier",
        r#"{"bioguide_id":"M000133","congress":119}"#,
        "/v1/legislators/M000133/dossier?congress=119",
    ),
    ("get_committee_dossier", r#"{"committee_id":"HSWM"}"#, "/v1/committees/HSWM/dossier"),
    ("get_public_law_dossier", r#"{"id":"P.L. 119-21"}"#, "/v1/public-laws/P.L.%20119-21/dossier"),
];

/// What differs from one request to the next.
fn plain(mut answer: Value) -> Value {
    for at in ["/meta/request_id", "/meta/took_ms", "/took_ms", "/query_cost/ms"] {
        if let Some(value) = answer.pointer_mut(at) {
            *value = Value::Null;
        }
    }
    answer
}

/// Given a list of questions, when they are asked over REST and over MCP in both eras, then the
/// answers are equal, fit the tool's output schema, and stand once more in the text.
#[test]
fn rest_and_mcp_give_the_same_answers() {
    let tools = tools(&SAMPLE);
    block_on(async {
        for era in eras() {
            let client = connect(&SAMPLE.url, era).await;
            for (tool, with, path) in SAME {
                let mut with: Value = serde_json::from_str(with).unwrap();
                let concise = call(&client, tool, with.clone()).await;
                with["detail"] = json!("full");
                let full = call(&client, tool, with).await;
                assert_eq!(full.is_error, Some(false), "{tool} {path}: {:?}", full.content);
                let structured = full.structured_content.clone().unwrap();
                let rest = SAMPLE.get(path);
                assert_eq!(rest.status, 200, "{path}: {}", rest.text());
                let expected = without_nulls(plain(rest.json()));
                assert_eq!(without_nulls(plain(structured.clone())), expected, "{tool} {path}");
                let text = full.content[0].as_text().unwrap().text.clone();
                assert_eq!(
                    (serde_json::from_str::<Value>(&text).unwrap(), full.content.len()),
                    (structured, 1)
                );
                let schema =
                    tools.iter().find(|t| t.name == *tool).unwrap().output_schema.clone().unwrap();
                let validator =
                    jsonschema::validator_for(&Value::Object((*schema).clone())).unwrap();
                for answer in [full.structured_content, concise.structured_content] {
                    let answer = answer.unwrap();
                    let wrong: Vec<String> = validator
                        .iter_errors(&answer)
                        .map(|e| format!("{}: {e}", e.instance_path()))
                        .collect();
                    assert!(wrong.is_empty(), "{tool} {path}: {wrong:?}");
                }
            }
        }
    });
    let wrapped: std::collections::BTreeSet<&str> = SAME.iter().map(|(tool, _, _)| *tool).collect();
    let others = ["fetch", "ping", "get_guide"];
    let all = tools.iter().map(|t| t.name.as_ref());
    assert!(
        all.filter(|t| !others.contains(t)).all(|t| wrapped.contains(t)),
        "every tool has a case"
    );
}

#[test]
fn a_concise_answer_has_no_field_without_a_value() {
    fn nothing(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::Null => found.push(path.to_string()),
            Value::Object(fields) => {
                fields.iter().for_each(|(k, v)| nothing(v, &format!("{path}/{k}"), found))
            }
            Value::Array(items) => items.iter().for_each(|v| nothing(v, path, found)),
            _ => {}
        }
    }
    for (tool, with) in
        [("get_bill", json!({"bill_id": "hr:119:1"})), ("search", json!({"query": "water"}))]
    {
        let mut found = Vec::new();
        nothing(&structured(&SAMPLE, tool, with), "", &mut found);
        assert!(found.is_empty(), "{tool}: {found:?}");
    }
}

/// Given any of the eras, when prompts, resources, templates and completions are asked for, then
/// each is there and lists may be kept.
#[test]
fn prompts_resources_and_completions_work_in_both_eras() {
    block_on(async {
        for era in eras() {
            let client = connect(&SAMPLE.url, era).await;
            let prompts = client.list_all_prompts().await.unwrap();
            let names: Vec<&str> = prompts.iter().map(|p| p.name.as_str()).collect();
            assert_eq!(
                names,
                [
                    "research_bill",
                    "compare_bills",
                    "member_profile",
                    "track_topic",
                    "lobbying_landscape"
                ]
            );
            let asked = rmcp::model::GetPromptRequestParams::new("member_profile")
                .with_arguments(arguments(json!({"member": "Ed Markey", "congress": "119"})));
            let prompt = serde_json::to_string(&client.get_prompt(asked).await.unwrap()).unwrap();
            assert!(prompt.contains("Ed Markey in the 119th Congress"), "{prompt}");
            assert!(
                client
                    .get_prompt(rmcp::model::GetPromptRequestParams::new("nothing"))
                    .await
                    .is_err()
            );

            let resources = client.list_all_resources().await.unwrap();
            for resource in &resources {
                let asked = rmcp::model::ReadResourceRequestParams::new(resource.uri.clone());
                let read =
                    serde_json::to_value(client.read_resource(asked).await.unwrap()).unwrap();
                assert!(
                    read["contents"][0]["text"].as_str().is_some_and(|t| t.len() > 20),
                    "{}",
                    resource.uri
                );
            }
            for prefix in [
                "josh://guides/",
                "josh://schemas/bills",
                "josh://catalog/sources",
                "josh://capabilities",
            ] {
                assert!(resources.iter().any(|r| r.uri.starts_with(prefix)), "{prefix}");
            }
            let templates = client.list_all_resource_templates().await.unwrap();
            assert_eq!(templates.len(), 3);
            for uri in [
                "josh://records/hr:119:1",
                "josh://catalog/fields/bills",
                "josh://catalog/errors/record_not_found",
            ] {
                let read = client
                    .read_resource(rmcp::model::ReadResourceRequestParams::new(uri))
                    .await
                    .unwrap();
                assert!(
                    serde_json::to_string(&read).unwrap().contains("application/json"),
                    "{uri}"
                );
            }
            let missing = client
                .read_resource(rmcp::model::ReadResourceRequestParams::new("josh://records/hello"))
                .await;
            assert!(missing.is_err());

            let of_prompt = |argument: &'static str, typed: &'static str| {
                client.complete_prompt_simple("research_bill", argument, typed)
            };
            assert!(
                of_prompt("bill_id", "hr:119:").await.unwrap().contains(&"hr:119:1".to_string())
            );
            let of_template = |uri: &'static str, argument: &'static str, typed: &'static str| {
                client.complete_resource_simple(uri, argument, typed)
            };
            assert_eq!(
                of_template("josh://catalog/fields/{source}", "source", "bil").await.unwrap(),
                ["bills"]
            );
            assert!(
                of_template("josh://records/{id}", "id", "HSW")
                    .await
                    .unwrap()
                    .contains(&"HSWM".to_string())
            );
            assert!(
                of_template("josh://catalog/errors/{code}", "code", "record").await.unwrap().len()
                    == 1
            );
            for (argument, typed, value) in [
                ("committee_id", "HSW", "HSWM"),
                ("congress", "11", "119"),
                ("guide_key", "bill", "bill-text"),
                ("field", "introduced", "introduced_date"),
            ] {
                let found = of_template("josh://records/{id}", argument, typed).await.unwrap();
                assert!(found.contains(&value.to_string()), "{argument}: {found:?}");
            }
        }
    });
}

#[test]
fn get_guide_serves_what_the_resources_do() {
    let guide = structured(&SAMPLE, "get_guide", json!({"guide_key": "ids"}));
    let read = block_on(async {
        let client = connect(&SAMPLE.url, ClientLifecycleMode::Initialize).await;
        client
            .read_resource(rmcp::model::ReadResourceRequestParams::new("josh://guides/ids"))
            .await
            .unwrap()
    });
    assert_eq!(serde_json::to_value(read).unwrap()["contents"][0]["text"], guide["text"]);
    assert!(
        guide["text"].as_str().unwrap().contains("hr:119:1")
            && !guide["text"].as_str().unwrap().contains('{')
    );
    let ping = structured(&SAMPLE, "ping", json!({}));
    assert_eq!(
        (&ping["status"], &ping["version"]),
        (&json!("ok"), &json!(env!("CARGO_PKG_VERSION")))
    );
}

/// Given a host that starts programs, when it runs `josh mcp`, then both eras work over standard
/// input and output.
#[test]
fn the_same_server_speaks_over_standard_input_and_output() {
    block_on(async {
        for era in eras() {
            let mut command = tokio::process::Command::new(JOSH);
            command
                .args(["mcp"])
                .env("XDG_CACHE_HOME", crate::support::CACHE.path())
                .env_remove("JOSH_BUNDLE");
            let transport = TokioChildProcess::new(command).expect("it starts");
            let client =
                serve_client_with_lifecycle((), transport, era).await.expect("it connects");
            let bill = call(&client, "get_bill", json!({"bill_id": "hr:119:1"})).await;
            assert_eq!(bill.structured_content.unwrap()["data"]["id"], "hr:119:1");
            assert_eq!(client.list_all_tools().await.unwrap().len(), 24);
            let _ = client.cancel().await;
        }
    });
}

/// Given a bundle that lacks a source, when everything that is offered is listed, then nothing
/// mentions it.
#[test]
fn a_bundle_without_saps_never_mentions_them() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = changed(folder.path(), "lacking.db", |manifest| {
        // A source that this Josh does not know is passed over; its records keep their numbers.
        manifest
            .sources
            .iter_mut()
            .filter(|s| s.key == "saps")
            .for_each(|s| s.key = "unknown".into());
        manifest.id = "lacking".into();
    });
    let server = Server::start(&["--bundle", bundle.to_str().unwrap()]);
    let said = block_on(async {
        let client = connect(&server.url, ClientLifecycleMode::Initialize).await;
        let mut said = format!("{:?}", client.peer_info());
        said += &serde_json::to_string(&client.list_all_tools().await.unwrap()).unwrap();
        said += &serde_json::to_string(&client.list_all_prompts().await.unwrap()).unwrap();
        let resources = client.list_all_resources().await.unwrap();
        said += &serde_json::to_string(&resources).unwrap();
        for resource in resources.iter().filter(|r| !r.uri.contains("schemas")) {
            let asked = rmcp::model::ReadResourceRequestParams::new(resource.uri.clone());
            said += &serde_json::to_string(&client.read_resource(asked).await.unwrap()).unwrap();
        }
        said
    });
    let word = regex::Regex::new(r"(?i)\bsaps?\b").unwrap();
    let found: Vec<&str> = word
        .find_iter(&said)
        .map(|m| &said[m.start().saturating_sub(60)..(m.end() + 20).min(said.len())])
        .collect();
    assert!(found.is_empty(), "{found:?}");
    assert!(word.is_match(&serde_json::to_string(&tools(&SAMPLE)).unwrap()), "the sample has them");
}

/// Given 200 callers at once, when each calls, then each gets its own answer.
#[test]
fn two_hundred_callers_are_served_at_once() {
    let ids: Vec<String> = SAMPLE
        .all("/v1/bills", 100)
        .iter()
        .map(|b| b["id"].as_str().unwrap().to_string())
        .collect();
    block_on(async {
        let callers = (0..200).map(|n| {
            let id = ids[n % ids.len()].clone();
            let era = eras()[n % 2].clone();
            tokio::spawn(async move {
                let client = connect(&SAMPLE.url, era).await;
                let tool = ["get_bill", "list_cosponsors", "get_bill_dossier"][n % 3];
                let answer = call(&client, tool, json!({ "bill_id": id })).await;
                assert_ne!(answer.is_error, Some(true));
                if n % 3 != 1 {
                    assert_eq!(answer.structured_content.unwrap()["data"]["id"], id);
                }
                let _ = client.cancel().await;
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await.unwrap();
        }
    });
}
