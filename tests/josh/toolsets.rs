//! Toolsets: which tools are offered where. A second, tiny capability proves that adding one takes
//! a folder and a line.

use std::sync::Arc;

use actix_web::{HttpServer, rt, web};
use josh::access::KeyFile;
use josh::api::{
    Budget, Capability, Cost, Endpoint, Kind, Operation, Outcome, Parameter, Scope, Tool,
};
use josh::bundle::Bundle;
use josh::executor::Executor;
use josh::http::{AccessGuard, AppParts};
use josh::limits::ConcurrencySettings;
use josh::policy;
use josh::settings::{Auth, RawSettings};
use josh::toolsets::Toolsets;
use rmcp::serve_client_with_lifecycle;
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value, json};

use crate::mcp::{block_on, call, connect, connect_at, eras};
use crate::support::{SAMPLE, Server, josh, sample};

/// The whole of a capability: one operation with a route and a tool.
static ECHO: Capability = Capability {
    name: "echo",
    about: "Says what it is told",
    operations: &[Operation {
        name: "echo",
        title: "Echo",
        about: "Says what it is told",
        route: Some("/v1/echo/{word}"),
        takes_body: false,
        selects: None,
        scope: Scope::Execute,
        cost: Cost::External,
        cost_with: None,
        is_list: false,
        endpoints: |_| {
            vec![Endpoint {
                path: "/v1/echo/{word}".into(),
                id: "echo".into(),
                summary: "Says what it is told".into(),
                parameters: Vec::new(),
                output: json!({ "type": "object", "properties": { "word": { "type": "string" } } }),
            }]
        },
        tools: &[Tool {
            name: "echo",
            title: "Echo",
            is_offered: |_| true,
            about: |_| "Says what it is told.".into(),
            examples: &["say hello"],
            fixed: &[],
            arguments: &[&[Parameter::required("word", Kind::Text, "A word").sets("{word}")]],
            output: |_| json!({ "type": "object", "properties": { "word": { "type": "string" } } }),
        }],
        run: |mut arguments, _| {
            let word = arguments.require("{word}")?;
            arguments.finish(&[])?;
            Ok(Outcome::typed(json!({ "word": word })))
        },
    }],
    schemas: |_| Map::new(),
    instructions: |_| "echo says what it is told.".into(),
    prompts: &[],
    resources: |_| Vec::new(),
    templates: &[],
    read_resource: |_, _| None,
    complete: |_, _, _| Ok(Vec::new()),
};

/// Serves the sample with both capabilities, in this process, while `work` runs.
fn serving<T: Send>(
    toolsets: Toolsets,
    guard: AccessGuard,
    work: impl FnOnce(String) -> T + Send,
) -> T {
    let bundle = Bundle::open(&sample()).unwrap();
    let settings = ConcurrencySettings::default();
    let executor = Executor::new(bundle, toolsets, Budget::default(), settings).unwrap();
    let (address, bound) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let serving = scope.spawn(move || {
            rt::System::new().block_on(async {
                let guard = web::Data::new(guard);
                let executor = web::Data::from(Arc::new(executor));
                let parts = AppParts::new(executor, guard, &josh::mcp::Options::default());
                let server = HttpServer::new(move || josh::http::app(parts.clone()))
                    .workers(1)
                    .disable_signals()
                    .bind("127.0.0.1:0")
                    .unwrap();
                let at = server.addrs()[0];
                let running = server.run();
                address.send((format!("http://{at}"), running.handle())).unwrap();
                running.await.unwrap();
            });
        });
        let (url, handle) = bound.recv().unwrap();
        // The server is stopped after a failed assertion, too, or the test would never end.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(url)));
        block_on(handle.stop(false));
        serving.join().unwrap();
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn names(url: &str, path: &str) -> Vec<String> {
    block_on(async {
        let client = connect_at(format!("{url}/mcp{path}"), eras()[1].clone()).await;
        let tools = client.list_all_tools().await.unwrap();
        tools.iter().map(|tool| tool.name.to_string()).collect()
    })
}

/// Given a second capability, when it is added to the list, then its route, its tool, its entry in
/// OpenAPI and its endpoint are there.
#[test]
fn a_capability_is_added_by_a_folder_and_a_line() {
    let both = Toolsets::of(&[&policy::CAPABILITY, &ECHO]);
    serving(both, AccessGuard::default(), |url| {
        let get = |path: &str| {
            let mut answer = ureq::get(format!("{url}{path}")).call().unwrap();
            let body = answer.body_mut().read_to_string().unwrap();
            serde_json::from_str::<Value>(&body).unwrap()
        };
        assert_eq!(get("/v1/echo/hello")["word"], "hello");
        assert_eq!(get("/v1/bills/hr:119:1")["data"]["id"], "hr:119:1");
        assert!(get("/openapi.json")["paths"]["/v1/echo/{word}"].is_object());
        let all = names(&url, "");
        assert_eq!((all.len(), all.last().map(String::as_str)), (25, Some("echo")));
        assert_eq!(names(&url, "/x/echo"), ["echo"]);
        let policy = names(&url, "/x/policy");
        assert!(policy.len() == 24 && !policy.contains(&"echo".to_string()));
        let said = block_on(async {
            let client = connect(&url, eras()[0].clone()).await;
            call(&client, "echo", json!({ "word": "a, b" })).await.structured_content.unwrap()
        });
        assert_eq!(said["word"], "a, b");
    });
}

/// Given an operation that acts outside the bundle, when a key may only read, then its route and
/// its tool are refused with the scope that is missing, and nothing else is.
#[test]
fn an_operation_is_guarded_by_its_own_scope() {
    let folder = tempfile::tempdir().unwrap();
    let file = KeyFile::new(folder.path().join("keys.json"));
    let key = |name: &str, scopes: &[&str]| {
        let scopes: Vec<String> = scopes.iter().map(|scope| scope.to_string()).collect();
        file.add(name, &scopes, None).unwrap().1.unwrap()
    };
    let reader = key("reader", &["josh:read"]);
    let actor = key("actor", &["federalrunner:read", "federalrunner:execute"]);
    let raw = RawSettings {
        auth: Some(Auth::Keys),
        keys: Some(file.path().to_path_buf()),
        ..RawSettings::default()
    };
    let guard = AccessGuard::new(&raw.resolve().unwrap());
    serving(Toolsets::of(&[&policy::CAPABILITY, &ECHO]), guard, |url| {
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let get = |key: &str, path: &str| {
            let request = agent.get(format!("{url}{path}"));
            let mut answer =
                request.header("authorization", format!("Bearer {key}")).call().unwrap();
            let challenge = answer.headers().get("www-authenticate").cloned();
            let challenge = challenge.map(|value| value.to_str().unwrap().to_string());
            (answer.status().as_u16(), challenge, answer.body_mut().read_to_string().unwrap())
        };
        let post = |key: &str, tool: &str, with: Value| {
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                               "params": { "name": tool, "arguments": with } });
            let request = agent.post(format!("{url}/mcp"));
            let request = request
                .header("authorization", format!("Bearer {key}"))
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream");
            request.send(call.to_string()).unwrap().status().as_u16()
        };
        let (status, challenge, body) = get(&reader, "/v1/echo/hello");
        assert_eq!(status, 403, "{body}");
        assert!(body.contains("insufficient_scope") && body.contains("josh:execute"), "{body}");
        assert!(challenge.unwrap().contains("scope=\"josh:execute\""));
        assert_eq!(post(&reader, "echo", json!({ "word": "hello" })), 403);
        assert_eq!(get(&reader, "/v1/bills/hr:119:1").0, 200);
        assert_eq!(post(&reader, "get_bill", json!({ "bill_id": "hr:119:1" })), 200);
        assert_eq!(get(&actor, "/v1/echo/hello").0, 200);
        assert_eq!(post(&actor, "echo", json!({ "word": "hello" })), 200);
        assert_eq!(get(&actor, "/v1/bills/hr:119:1").0, 200, "aliases count");
        let metadata = get("none", "/.well-known/oauth-protected-resource").2;
        assert!(metadata.contains("josh:execute"), "a scope that an operation needs is advertised");
    });
}

/// Given `--exclude-tools`, when tools are listed or called, then those are not there, on either
/// endpoint.
#[test]
fn tools_can_be_left_out() {
    let server =
        Server::start(&["--exclude-tools", "semantic_search, sum", "--toolsets", "policy"]);
    for path in ["", "/x/policy"] {
        let tools = names(&server.url, path);
        assert_eq!(tools.len(), 22, "{tools:?}");
        assert!(!tools.iter().any(|tool| tool == "sum" || tool == "semantic_search"));
    }
    let page = server.get("/mcp/x/policy").text();
    assert!(page.contains("/mcp/x/policy") && !page.contains("<code>sum</code>"));
    let metadata = server.get("/.well-known/oauth-protected-resource/mcp/x/policy").json();
    assert_eq!(metadata["resource"], format!("{}/mcp/x/policy", server.url));
}

/// Given the same flags, when the server speaks on standard output, then it offers the same tools.
#[test]
fn tools_can_be_left_out_over_standard_output_too() {
    let command = tokio::process::Command::from(josh(&["mcp", "--exclude-tools", "sum,count"]));
    let tools = block_on(async {
        let transport = TokioChildProcess::new(command).unwrap();
        let era = eras()[0].clone();
        let client = serve_client_with_lifecycle((), transport, era).await.unwrap();
        client.list_all_tools().await.unwrap()
    });
    assert_eq!(tools.len(), 22);
    assert!(!tools.iter().any(|tool| tool.name == "sum" || tool.name == "count"));
    let refused = josh(&["mcp", "--toolsets", "forms"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
}

/// Given names that are not there, when the server is started or called, then the error says what
/// is.
#[test]
fn unknown_toolsets_and_tools_are_refused() {
    for (flag, value, said) in [
        ("--toolsets", "polcy", "choose from policy, clients, statistics, all"),
        ("--toolsets", "policy,forms", "--forms describe"),
        ("--exclude-tools", "get_bil", "Did you mean get_bill?"),
    ] {
        let out = josh(&["serve", "--listen", "127.0.0.1:0", flag, value]).output().unwrap();
        let error = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{error}");
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(SAMPLE.get("/mcp/x/echo").status, 404);
    assert_eq!(names(&SAMPLE.url, "/x/policy"), names(&SAMPLE.url, ""));
}
