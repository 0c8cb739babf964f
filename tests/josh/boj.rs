//! Section 16: the contract of boj-mcp-server, live against a server on this machine, and from a
//! bundle without series of the Bank. Answers from a bundle with them: `data-build/tests`.

use std::time::Duration;

use josh::boj::{Endpoint, Format, Lang, Live, LiveOptions, Question, Window};
use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams, ResourceContents, Role};
use rmcp::serve_client_with_lifecycle;
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

use crate::boj_server::{Bank, Reply};
use crate::mcp::{Client, block_on, call, eras};
use crate::support::josh;

const TOOLS: [&str; 6] = [
    "boj_get_data_code",
    "boj_get_data_layer",
    "boj_get_metadata",
    "boj_list_databases",
    "boj_get_parameter_catalog",
    "boj_get_message_catalog",
];

/// Invented values in the documented shape.
const ANSWER: &str = r#"{"STATUS":200,"MESSAGEID":"M181000I","MESSAGE":"Successfully completed",
 "DATE":"2026-02-19T5:38:18.251+09:00","PARAMETER":{"FORMAT":"JSON","LANG":"EN","DB":"FM01",
 "LAYER1":"*","FREQUENCY":"Q","STARTDATE":"","ENDDATE":"","STARTPOSITION":""},"NEXTPOSITION":null,
 "RESULTSET":[{"SERIES_CODE":"TEA","NAME_OF_TIME_SERIES":"Tea","UNIT":"","FREQUENCY":"QUARTERLY",
 "LAST_UPDATE":20251002,"NEW_MEMBER":"x",
 "VALUES":{"SURVEY_DATES":[202401,202402],"VALUES":[1.10,null]}}]}"#;

async fn boj(url: &str, more: &[&str]) -> Client {
    let mut args = vec!["boj", "--base-url", url];
    args.extend(more);
    let transport = TokioChildProcess::new(tokio::process::Command::from(josh(&args))).unwrap();
    serve_client_with_lifecycle((), transport, eras()[0].clone()).await.unwrap()
}

/// One call of `josh boj`: whether it is an error, and the structured result.
fn ask(bank: &Bank, tool: &'static str, with: Value) -> (bool, Value) {
    block_on(async {
        let client = boj(&bank.url, &["--retry-backoff-ms", "20"]).await;
        let result = call(&client, tool, with).await;
        let text = result.content[0].as_text().unwrap().text.clone();
        let structured = result.structured_content.clone().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), structured);
        let schema = client.list_all_tools().await.unwrap().into_iter().find(|t| t.name == tool);
        let schema = Value::Object((*schema.unwrap().output_schema.unwrap()).clone());
        let valid = jsonschema::validator_for(&schema).unwrap();
        assert!(valid.is_valid(&structured), "{tool}: {structured}");
        (result.is_error == Some(true), structured)
    })
}

/// Given `josh boj`, when a client lists what it has, then it is what the reference has.
#[test]
fn tools_prompts_resources_and_templates_are_those_of_the_reference() {
    let bank = Bank::start(vec![]);
    block_on(async {
        let client = boj(&bank.url, &[]).await;
        assert_eq!(client.peer_info().unwrap().protocol_version.to_string(), "2025-11-25");
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools.iter().map(|t| t.name.as_ref()).collect::<Vec<_>>(), TOOLS);
        for (at, tool) in tools.iter().enumerate() {
            let hints = tool.annotations.as_ref().unwrap();
            assert_eq!(hints.read_only_hint, Some(true));
            assert_eq!((hints.destructive_hint, hints.idempotent_hint), (Some(false), Some(true)));
            assert_eq!(hints.open_world_hint, Some(at < 3), "{}", tool.name);
            let output = serde_json::to_string(&tool.output_schema).unwrap();
            for word in ["anyOf", "oneOf", "allOf"] {
                assert!(!output.contains(word), "{} {word}", tool.name);
            }
            assert!(!serde_json::to_string(tool).unwrap().contains("taskSupport"));
        }
        let prompts = client.list_all_prompts().await.unwrap();
        let names: Vec<&str> = prompts.iter().map(|p| p.name.as_str()).collect();
        let expected = ["boj_discovery_flow", "boj_fetch_data_code_flow", "boj_latest_value_flow"];
        assert_eq!(names, expected);
        let mut filled = GetPromptRequestParams::new("boj_latest_value_flow");
        filled.arguments =
            json!({ "db": "FM01", "series_code": "STRDCLUCON" }).as_object().cloned();
        let filled = client.get_prompt(filled).await.unwrap();
        let roles: Vec<Role> = filled.messages.iter().map(|message| message.role.clone()).collect();
        assert_eq!(roles, [Role::User, Role::Assistant]);
        for message in &filled.messages {
            assert!(format!("{message:?}").contains("STRDCLUCON"));
        }
        let uris = ["boj://guide/call-order", "boj://guide/input-normalization"];
        let resources = client.list_all_resources().await.unwrap();
        let listed: Vec<&str> = resources.iter().map(|r| r.uri.as_str()).collect();
        assert_eq!(listed, [uris[0], uris[1], "boj://catalog/databases"]);
        let templates = client.list_all_resource_templates().await.unwrap();
        let listed: Vec<&str> = templates.iter().map(|t| t.uri_template.as_str()).collect();
        let expected = ["boj://catalog/parameters/{endpoint}", "boj://catalog/messages/{status}"];
        assert_eq!(listed, expected);
        for (uri, mime, holds) in [
            (uris[0], "text/plain", "boj_list_databases"),
            ("boj://catalog/databases", "application/json", "外国為替市況"),
            ("boj://catalog/parameters/getDataLayer", "application/json", "layer_rules"),
            ("boj://catalog/messages/503", "application/json", "M181091S"),
        ] {
            let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
            let ResourceContents::TextResourceContents { mime_type, text, .. } = &read.contents[0]
            else {
                panic!("{uri} is no text");
            };
            assert_eq!(mime_type.as_deref(), Some(mime), "{uri}");
            assert!(text.contains(holds), "{uri}: {text}");
        }
        for bad in ["boj://catalog/messages/404", "boj://catalog/parameters/x", "boj://guide/x"] {
            let read = client.read_resource(ReadResourceRequestParams::new(bad)).await;
            assert!(read.is_err(), "{bad}");
        }
        for (argument, typed, first, count) in [
            ("db", "fm", "FM01", 9),
            ("format", "J", "json", 1),
            ("lang", "", "jp", 2),
            ("endpoint", "GET_d", "get_data_code", 2),
            ("status", "5", "500", 2),
            ("frequency", "f", "FY", 2),
        ] {
            let uri = "boj://catalog/parameters/{endpoint}";
            let found = client.complete_resource_simple(uri, argument, typed).await.unwrap();
            assert_eq!((found.len(), found[0].as_str()), (count, first), "{argument}");
        }
    });
    assert!(bank.asked().is_empty());
}

/// Given arguments in any case, when data are asked for, then the request has exactly the
/// documented parameters, and the answer is decoded: wildcard, digits, null, unknown members.
#[test]
fn a_request_is_the_documented_one_and_its_answer_is_decoded() {
    let bank = Bank::start(vec![Reply::new(200, ANSWER)]);
    let with = json!({ "db": "fm01", "frequency": "q", "layers": ["*"], "format": "JSON",
                       "lang": "EN", "start_date": "202401", "start_position": 1 });
    let (is_error, got) = ask(&bank, "boj_get_data_layer", with);
    assert!(!is_error, "{got}");
    assert_eq!(
        bank.asked(),
        ["/api/v1/getDataLayer?format=json&lang=en&db=FM01&layer=*&frequency=Q\
          &startDate=202401&startPosition=1"]
    );
    assert_eq!((&got["next_position"], &got["series_count"]), (&Value::Null, &json!(1)));
    assert!(got.as_object().unwrap().contains_key("next_position"));
    assert_eq!(got["parameter"]["layer1"], "*");
    let series = &got["series"][0];
    assert_eq!((&series["unit"], &series["extras"]["new_member"]), (&Value::Null, &json!("x")));
    let points = json!([{ "survey_date": "202401", "value": "1.10" },
                        { "survey_date": "202402", "value": null }]);
    assert_eq!(series["points"], points);
    assert_eq!((&got["meta"]["origin"], got.get("raw")), (&json!("live"), None));
    let with = json!({ "db": "FM01", "codes": ["TEA"], "include_raw": true });
    let (_, got) = ask(&bank, "boj_get_data_code", with);
    assert_eq!(got["raw"], ANSWER);
    assert!(bank.asked()[1].ends_with("getDataCode?format=json&lang=jp&db=FM01&code=TEA"));
}

/// Given a Bank that refuses, or something that answers in its place, when it is asked, then the
/// error has its type, says whether to try again, and was tried as often as it should be.
#[test]
fn failures_have_the_types_and_tries_of_the_reference() {
    let refusal = |status: u16, id: &str| {
        format!("{{\"STATUS\":{status},\"MESSAGEID\":\"{id}\",\"MESSAGE\":\"No\",\"DATE\":\"x\"}}")
    };
    let html = "<html>Service Unavailable</html>";
    let cases = [
        (Reply::new(400, refusal(400, "M181005E")), "API_ERROR", false, 1),
        (Reply::new(200, refusal(400, "M181013E")), "API_ERROR", false, 1),
        (Reply::new(503, refusal(503, "M181091S")), "API_ERROR", true, 3),
        (Reply::new(500, refusal(500, "M181090S")), "API_ERROR", true, 3),
        (Reply::new(503, html), "TRANSPORT_ERROR", true, 3),
        (Reply::new(302, html), "TRANSPORT_ERROR", true, 3),
        (Reply::new(200, ANSWER).cut(), "TRANSPORT_ERROR", true, 3),
        (Reply::new(200, "{\"STATUS\":"), "DECODE_ERROR", false, 1),
        (Reply::new(200, html), "DECODE_ERROR", false, 1),
        (Reply::new(404, html), "DECODE_ERROR", false, 1),
    ];
    for (at, (reply, kind, retryable, tries)) in cases.into_iter().enumerate() {
        let bank = Bank::start(vec![reply]);
        let with = json!({ "db": "FM01", "codes": ["A"], "format": "csv", "lang": "en" });
        let (is_error, got) = ask(&bank, "boj_get_data_code", with);
        assert_eq!((is_error, &got["error_type"]), (true, &json!(kind)), "{at}: {got}");
        assert_eq!(got["retryable"], retryable, "{at}: {got}");
        assert_eq!(bank.asked().len(), tries, "{at}: {got}");
        let has_status = got.get("status").is_some() && got.get("message_id").is_some();
        assert_eq!(has_status, kind == "API_ERROR", "{at}: {got}");
        let pauses = bank.pauses();
        assert!(pauses.iter().zip([20, 40]).all(|(pause, least)| *pause >= least), "{pauses:?}");
    }
    let bank = Bank::start(vec![Reply::new(503, html), Reply::new(200, ANSWER)]);
    let (is_error, got) = ask(&bank, "boj_get_metadata", json!({ "db": "FM01" }));
    assert!(!is_error && bank.asked().len() == 2, "{got}");
}

/// Given nobody there, when it is asked, then the error can be retried.
#[test]
fn a_refused_connection_is_a_transport_error() {
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let mut bank = Bank::start(vec![]);
    bank.url = gone;
    let (is_error, got) = ask(&bank, "boj_get_data_code", json!({ "db": "FM01", "codes": ["A"] }));
    assert_eq!((is_error, &got["error_type"]), (true, &json!("TRANSPORT_ERROR")), "{got}");
}

/// Given bad arguments, also of wrong types, when a tool is called, then the result says what to
/// mend and the Bank is not asked.
#[test]
fn bad_arguments_are_results_and_ask_nobody() {
    let bank = Bank::start(vec![Reply::new(200, ANSWER)]);
    let cases = [
        ("boj_get_data_code", json!({})),
        ("boj_get_data_code", json!({ "db": "FM01" })),
        ("boj_get_data_code", json!({ "db": "FM01", "codes": "A" })),
        ("boj_get_data_code", json!({ "db": "FM01", "codes": [] })),
        ("boj_get_data_code", json!({ "db": "FM01", "codes": [7] })),
        ("boj_get_data_code", json!({ "db": "FM01,FM02", "codes": ["A"] })),
        ("boj_get_data_code", json!({ "db": "FM01", "codes": ["A"], "limit": 5 })),
        ("boj_get_data_code", json!({ "db": "FM01", "codes": ["A"], "start_position": 0 })),
        ("boj_get_data_code", json!({ "db": "FM01", "codes": ["A"], "start_position": -1 })),
        ("boj_get_data_code", json!({ "db": "FM01", "codes": ["A"], "format": "xml" })),
        ("boj_get_data_code", json!({ "db": "FM01", "codes": ["A"], "include_raw": "yes" })),
        ("boj_get_data_layer", json!({ "db": "FM01", "frequency": "QUARTERLY", "layers": ["1"] })),
        ("boj_get_data_layer", json!({ "db": "FM01", "frequency": "Q", "layers": ["x"] })),
        ("boj_get_metadata", json!({ "db": " " })),
        ("boj_list_databases", json!({ "x": 1 })),
        ("boj_get_parameter_catalog", json!({ "endpoint": "getNothing" })),
        ("boj_get_message_catalog", json!({ "status": "400" })),
    ];
    block_on(async {
        let client = boj(&bank.url, &[]).await;
        for (tool, with) in cases {
            let result = call(&client, tool, with.clone()).await;
            let got = result.structured_content.unwrap();
            assert_eq!(result.is_error, Some(true), "{tool} {with}");
            assert_eq!(got["error_type"], "VALIDATION_ERROR", "{tool} {with}: {got}");
            assert_eq!(got["retryable"], false);
        }
        let client = &client;
        let catalog =
            |tool, with| async move { call(client, tool, with).await.structured_content.unwrap() };
        let databases = catalog("boj_list_databases", json!({})).await;
        assert_eq!(
            (&databases["count"], &databases["source_date"]),
            (&json!(50), &json!("2026-02-18"))
        );
        let messages = catalog("boj_get_message_catalog", json!({})).await;
        assert_eq!(messages["count"], 24);
        let refused = catalog("boj_get_message_catalog", json!({ "status": 503 })).await;
        assert_eq!((&refused["count"], &refused["status_filter"]), (&json!(1), &json!(503)));
        let all = catalog("boj_get_parameter_catalog", json!({})).await;
        let count = |list: &str| all[list].as_array().unwrap().len();
        assert_eq!((count("parameters"), count("limits"), count("frequency_codes")), (9, 3, 8));
        let code = json!({ "endpoint": "get_data_code" });
        let code = catalog("boj_get_parameter_catalog", code).await;
        assert_eq!(code["endpoint_scope"], "getDataCode");
        assert!(code["frequency_codes"].as_array().unwrap().is_empty());
    });
    assert!(bank.asked().is_empty());
}

/// Given a call that is cancelled during a pause, then nothing more is sent.
#[test]
fn a_cancelled_call_sends_nothing_more() {
    let bank = Bank::start(vec![Reply::new(503, "busy")]);
    let options = LiveOptions {
        retry_backoff: Duration::from_secs(60),
        ..LiveOptions::new(&bank.url).unwrap()
    };
    let endpoint = Endpoint::Code { codes: vec!["A".into()], window: Window::default() };
    let question = Question { format: Format::Json, lang: Lang::En, db: "FM01".into(), endpoint };
    let check = || if bank.asked().is_empty() { Ok(()) } else { Err("cancelled") };
    let asked = Live::new(options).ask(&question, &check);
    assert_eq!((asked.unwrap_err(), bank.asked().len()), ("cancelled", 1));
}

/// Given a bundle without series of the Bank and no address, when it is asked with an address in
/// the variables of the reference, then the bundle answers: what is missing and how to have it.
#[test]
fn without_an_address_the_bundle_answers() {
    let bank = Bank::start(vec![Reply::new(200, ANSWER)]);
    let mut command = josh(&["mcp", "--toolsets", "statistics"]);
    command.env("BOJ_BASE_URL", &bank.url);
    let got = block_on(async {
        let command = tokio::process::Command::from(command);
        let transport = TokioChildProcess::new(command).unwrap();
        let client = serve_client_with_lifecycle((), transport, eras()[0].clone()).await.unwrap();
        let unknown = json!({ "db": "XX01", "codes": ["A"], "lang": "en" });
        let unknown = call(&client, "boj_get_data_code", unknown).await.structured_content.unwrap();
        assert_eq!((&unknown["message_id"], &unknown["status"]), (&json!("M181005E"), &json!(400)));
        assert_eq!(unknown["message"], "Invalid database name");
        call(&client, "boj_get_metadata", json!({ "db": "FM01" })).await.structured_content.unwrap()
    });
    assert_eq!(got["error_type"], "VALIDATION_ERROR");
    assert!(got["message"].as_str().unwrap().contains("--boj-base-url"), "{got}");
    assert!(bank.asked().is_empty());
    for (args, said) in [
        (&["boj", "--base-url", "http://www.stat-search.boj.or.jp"][..], "neither https nor"),
        (&["mcp", "--boj-base-url", "ftp://x"][..], "neither https nor"),
        (&["serve", "--boj-timeout-ms", "5"][..], "--boj-base-url"),
    ] {
        let refused = josh(args).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(said), "{args:?}: {refused:?}");
    }
}
