//! Section 15 without a browser: which forms there are, their contracts, plans, and who may do
//! what. The numbers in brackets are those of the acceptance tests in the design; tests whose files
//! say so need Chromium (`tests/forms/run`). Where each is:
//! - 1 every choice: `every_choice_arrives`, `long_every_choice_of_every_list_arrives`
//! - 2 random data: `random_data_arrive`, `long_two_hundred_random_data_arrive`
//! - 3 typeahead: `a_typeahead_takes_the_equal_option_or_none`
//! - 4, 5 quotes, rows: `quotes_are_folded_and_rows_are_counted`
//! - 6, 8, 9 refused, drift, second locator: `a_changed_page_stops_the_run`
//! - 7 outcomes: `each_outcome_is_typed_and_quick`; an unknown one:
//!   `a_changed_page_stops_the_run`
//! - 10 check: `each_rule_has_a_file_that_breaks_it`,
//!   `what_a_form_needs_is_required_exactly_then`,
//!   `an_imported_file_is_refused_until_every_option_is_named` (FederalRunner's own pairs are not
//!   copied here: by hand, docs/forms.md)
//! - 11 fuzz: `a_mutated_file_never_panics`, `texts_that_are_no_files_are_refused`
//! - 12 leaks: `nothing_reaches_another_server`
//! - 13 addresses: `each_rule_has_a_file_that_breaks_it`
//! - 14 private address: `outside_tests_a_private_address_is_refused`
//! - 15, 19 no port, SIGKILL: `a_killed_server_leaves_no_browser`
//! - 16 sandbox: `the_sandbox_is_on_unless_a_setting_says_otherwise` (by /proc: the wall forbids
//!   chrome://sandbox)
//! - 17 nobody's data: `nobodys_data_are_anywhere`
//! - 18 no values in errors: `problems_are_named_without_values`
//! - 20 cancel, time, SIGTERM: `a_run_ends_with_its_caller_its_time_and_its_server`,
//!   `runs_are_told_of_and_cancelled_…`
//! - 21 fifty runs: `runs_leave_nothing_behind`, `long_fifty_runs_leave_nothing_behind`
//! - 22 one at once, searches: `one_run_at_a_time`, `a_killed_server_leaves_no_browser`; times by
//!   hand: `long_searches_beside_runs`
//! - 23 no browser: `a_browser_that_does_not_work_is_said_so`
//! - 24 modes: `forms_modes.rs`; without a network:
//!   `the_command_line_lists_shows_checks_and_plans`
//! - 25 scopes: `running_needs_a_scope_of_its_own`
//! - 26 ids: `an_id_is_never_a_path`
//! - 27, 28 surface, size: `tools_have_the_names_inputs_and_keys_of_the_reference`,
//!   `a_run_over_mcp_and_rest`; the suite: `tests/conformance`
//! - 29 static, licences, size: `.ci/run`, `supply_chain.rs`; the size by hand: docs/forms.md
//! - 30 plan = run: `a_run_takes_the_steps_of_its_plan`
//! - 31 provenance: `wizards_are_listed_with_their_provenance`, `a_run_over_mcp_and_rest`
//! - 32 live page: needs a person: `josh forms verify`; its machinery: `verify_runs_the_examples`

use std::sync::LazyLock;

use josh::access::KeyFile;
use serde_json::{Value, json};

use crate::mcp::{block_on, connect, eras, once, structured, tools};
use crate::support::{JOSH, Server, eventually, josh, run};

pub const WIZARDS: [&str; 3] = ["ssa-quick-calculator", "irs-withholding", "fsa-estimator"];

/// Describes and plans, with no browser anywhere.
pub static DESCRIBING: LazyLock<Server> = LazyLock::new(|| {
    let flags = ["--forms", "describe", "--toolsets", "policy,forms"];
    Server::start_with(&flags, &[("PATH", "/nonexistent")])
});

pub fn ssa() -> Value {
    json!({ "birth_month": "06", "birth_day": "15", "birth_year": "1980",
            "current_earnings": 75000, "dollar_type": "constant" })
}

pub fn post(
    server: &Server,
    path: &str,
    key: Option<&str>,
    body: &Value,
) -> crate::support::Answer {
    let bearer = key.map(|key| format!("Bearer {key}"));
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
    server.post(path, &headers, body.to_string().as_bytes())
}

/// [31] Given the shipped wizards, when they are listed and read, then each says where its
/// description comes from, and none claims to have been tried.
#[test]
fn wizards_are_listed_with_their_provenance() {
    let list = DESCRIBING.get("/v1/forms").json();
    assert_eq!((&list["success"], &list["count"]), (&json!(true), &json!(3)));
    for (wizard, id) in list["wizards"].as_array().unwrap().iter().zip(WIZARDS) {
        assert_eq!(wizard["wizard_id"], id);
        let provenance = &wizard["provenance"];
        assert_eq!(
            (&provenance["status"], &wizard["runs_here"]),
            (&json!("described"), &json!(false))
        );
        assert!(provenance["note"].as_str().unwrap().contains("Never run by us"), "{provenance}");
        assert!(provenance["recorded_on"].as_str().unwrap() >= "2025-10", "{provenance}");
        assert!(provenance["from"].as_str().unwrap().len() > 10);
        let info = DESCRIBING.get(&format!("/v1/forms/{id}")).json();
        assert_eq!(info["provenance"], *provenance);
        for key in ["wizard_name", "url", "page_count", "agency"] {
            assert_eq!(info[key], wizard[key], "{key}");
        }
        assert_eq!(info["schema"]["additionalProperties"], false, "the contract is closed");
        assert_eq!(info["schema"]["$schema"], "http://json-schema.org/draft-07/schema#");
    }
}

/// [27] Given the official client, when tools are listed and called, then names, inputs and keys
/// are the reference's, and results fit their schemas.
#[test]
fn tools_have_the_names_inputs_and_keys_of_the_reference() {
    let listed = tools(&DESCRIBING);
    let tool = |name: &str| listed.iter().find(|tool| tool.name == name).unwrap();
    let [list, info, execute] = [
        tool("federalrunner_list_wizards"),
        tool("federalrunner_get_wizard_info"),
        tool("federalrunner_execute_wizard"),
    ];
    let required = |tool: &rmcp::model::Tool| tool.input_schema.get("required").cloned();
    assert_eq!(required(list), None);
    assert_eq!(required(info), Some(json!(["wizard_id"])));
    assert_eq!(required(execute), Some(json!(["wizard_id", "user_data"])));
    let kinds = |tool: &rmcp::model::Tool, name: &str| {
        tool.input_schema["properties"][name]["type"].as_str().unwrap().to_string()
    };
    assert_eq!(
        (kinds(execute, "wizard_id"), kinds(execute, "user_data")),
        ("string".into(), "object".into())
    );
    for (tool, is_reading) in [(list, true), (info, true), (execute, false)] {
        let hints = tool.annotations.as_ref().unwrap();
        assert_eq!(hints.read_only_hint, Some(is_reading), "{}", tool.name);
        assert_eq!(hints.destructive_hint, Some(false));
        assert_eq!(hints.open_world_hint, Some(!is_reading));
    }
    let wizards = structured(&DESCRIBING, "federalrunner_list_wizards", json!({}));
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert!(
        ["success", "count", "wizards"].iter().all(|k| keys(&wizards).contains(&k.to_string()))
    );
    for id in WIZARDS {
        let got =
            structured(&DESCRIBING, "federalrunner_get_wizard_info", json!({ "wizard_id": id }));
        for key in ["success", "wizard_id", "wizard_name", "url", "page_count", "schema"] {
            assert!(got.get(key).is_some(), "{key}");
        }
        let contract = jsonschema::draft7::new(&got["schema"]).expect("a schema of draft-07");
        assert!(jsonschema::draft7::meta::is_valid(&got["schema"]));
        assert!(contract.is_valid(&got["example_user_data"]), "{id}");
        let output = Value::Object((**info.output_schema.as_ref().unwrap()).clone());
        assert!(jsonschema::validator_for(&output).unwrap().is_valid(&got));
        let dry =
            json!({ "wizard_id": id, "user_data": got["example_user_data"], "dry_run": true });
        let dry = structured(&DESCRIBING, "federalrunner_execute_wizard", dry);
        let output = Value::Object((**execute.output_schema.as_ref().unwrap()).clone());
        assert!(jsonschema::validator_for(&output).unwrap().is_valid(&dry), "{dry}");
        assert!(!output.to_string().contains("anyOf"), "hosts differ in what they check");
        assert_eq!((&dry["success"], &dry["dry_run"]), (&json!(true), &json!(true)));
        assert!(dry["plan"].as_array().unwrap().len() > 4);
    }
}

/// [18] Given data that break every kind of rule, when they are planned, then each problem is named
/// by its place and rule, and no value is repeated.
#[test]
fn problems_are_named_without_values() {
    let cases = [
        (json!({ "birth_month": "13" }), "/birth_month", "pattern"),
        (json!({ "birth_month": "06", "birth_day": "31" }), "/birth_day", "day"),
        (json!({ "birth_year": "2010" }), "/birth_day", "min_age"),
        (json!({ "current_earnings": -77123 }), "/current_earnings", "minimum"),
        (json!({ "current_earnings": "77123" }), "/current_earnings", "type"),
        (json!({ "dollar_type": "euros77123" }), "/dollar_type", "enum"),
        (json!({ "retirement_month": "7" }), "/retirement_year", "dependencies"),
        (json!({ "last_year_worked": "2020", "last_year_earnings": 77123 }), "/", "not"),
        (json!({ "dolar_type": "77123" }), "/dolar_type", "did you mean dollar_type"),
    ];
    for (changes, place, rule) in cases {
        let mut data = ssa();
        changes.as_object().unwrap().iter().for_each(|(k, v)| data[k] = v.clone());
        let body = json!({ "user_data": data });
        let answer = post(&DESCRIBING, "/v1/forms/ssa-quick-calculator/plan", None, &body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "invalid_user_data"),
            "{changes}"
        );
        let problem = answer.json()["error"]["hint"]["validation_errors"][place].clone();
        assert!(problem.as_str().is_some_and(|p| p.contains(rule)), "{changes}: {}", answer.text());
        assert!(!answer.text().contains("77123"), "{}", answer.text());
        let call = json!({ "wizard_id": "ssa-quick-calculator", "user_data": data });
        let called = once(&DESCRIBING, "federalrunner_execute_wizard", call);
        assert_eq!(called.is_error, Some(true));
        let told = called.structured_content.unwrap();
        assert_eq!(
            (&told["success"], &told["error_code"]),
            (&json!(false), &json!("invalid_user_data"))
        );
        assert!(told["validation_errors"][place].is_string(), "{told}");
        assert!(!told.to_string().contains("77123"));
    }
}

/// [26] Given ids that are no ids, when a wizard is asked for, then it is not found, and no file is
/// looked for.
#[test]
fn an_id_is_never_a_path() {
    let long = "x".repeat(5000);
    for id in ["..%2F..%2Fetc%2Fpasswd", "ssa-quick-calculator.json", "%2e%2e", long.as_str()] {
        let answer = DESCRIBING.get(&format!("/v1/forms/{id}"));
        assert!([400, 404].contains(&answer.status), "{id}: {}", answer.status);
    }
    assert_eq!(DESCRIBING.get("/v1/forms/a%00b").status, 404);
    let answer = DESCRIBING.get("/v1/forms/ssa-quick-calculater");
    assert_eq!((answer.status, answer.code().as_str()), (404, "wizard_not_found"));
    assert_eq!(answer.json()["error"]["hint"]["did_you_mean"], "ssa-quick-calculator");
    for id in ["../ssa-quick-calculator", "a\0b", &"x".repeat(1 << 20)] {
        let outcome = block_on(async {
            let client = connect(&DESCRIBING.url, eras()[0].clone()).await;
            let with = json!({ "wizard_id": id }).as_object().cloned().unwrap();
            let call = rmcp::model::CallToolRequestParams::new("federalrunner_get_wizard_info");
            client.call_tool(call.with_arguments(with)).await
        });
        assert!(outcome.is_err() || outcome.unwrap().is_error == Some(true));
    }
}

/// [25] Given keys with one scope each, when forms are read and run, then reading needs josh:read,
/// running needs both it and josh:execute, and the refusal names what is missing.
#[test]
fn running_needs_a_scope_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.json");
    let file = KeyFile::new(keys.clone());
    let key = |name: &str, scopes: &[&str]| {
        let scopes: Vec<String> = scopes.iter().map(|scope| scope.to_string()).collect();
        file.add(name, &scopes, None).unwrap().1.unwrap()
    };
    let reader = key("reader", &["josh:read"]);
    let blind = key("blind", &["josh:execute"]);
    let actor = key("actor", &["federalrunner:read", "federalrunner:execute"]);
    let server = Server::start(&[
        "--auth",
        "keys",
        "--keys",
        keys.to_str().unwrap(),
        "--forms",
        "run",
        "--toolsets",
        "policy,forms",
        "--forms-allow",
        "irs-withholding",
    ]);
    let body = json!({ "user_data": ssa() });
    let [plan, runs] =
        ["plan", "runs"].map(|what| format!("/v1/forms/ssa-quick-calculator/{what}"));
    assert_eq!(post(&server, &plan, None, &body).status, 401);
    assert_eq!(post(&server, &plan, Some(&reader), &body).status, 200);
    let refused = post(&server, &runs, Some(&reader), &body);
    assert_eq!((refused.status, refused.code().as_str()), (403, "insufficient_scope"));
    assert!(refused.header("www-authenticate").contains("scope=\"josh:execute\""));
    let refused = post(&server, &runs, Some(&blind), &body);
    assert_eq!((refused.status, refused.code().as_str()), (403, "insufficient_scope"));
    assert!(refused.header("www-authenticate").contains("scope=\"josh:read\""));
    // Allowed to run, but not this one.
    let other = post(&server, &runs, Some(&actor), &body);
    assert_eq!((other.status, other.code().as_str()), (403, "wizards_off"));
    let open = ["--listen", "0.0.0.0:0", "--allow-no-tls", "--allow-no-auth"];
    let out =
        josh(&["serve", "--forms", "run", "--toolsets", "forms"]).args(open).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("anyone could run forms"));
}

/// Given requests that a page of another site can cause, when they come to a server that asks
/// nobody for a key, then they are refused.
#[test]
fn pages_of_other_sites_can_not_post() {
    let path = "/v1/forms/ssa-quick-calculator/plan";
    let body = json!({ "user_data": ssa() }).to_string();
    let send = |headers: &[(&str, &str)]| DESCRIBING.post(path, headers, body.as_bytes()).status;
    assert_eq!(send(&[("content-type", "application/json; charset=utf-8")]), 200);
    assert_eq!(send(&[("content-type", "text/plain")]), 400);
    assert_eq!(
        send(&[("content-type", "application/json"), ("origin", "http://evil.example")]),
        403
    );
    let preflight = DESCRIBING.send("OPTIONS", path, &[("origin", "http://evil.example")]);
    assert!(!preflight.header("access-control-allow-methods").contains("POST"));
    assert_eq!(DESCRIBING.get(path).status, 405, "nothing is run by a link");
    assert_eq!(DESCRIBING.get(path).header("allow"), "POST, OPTIONS");
    assert_eq!(DESCRIBING.get("/forms/ssa-quick-calculator/plan").status, 405);
    let large = format!("{{\"user_data\": {{\"a\": \"{}\"}}}}", "x".repeat(70_000));
    let json = [("content-type", "application/json")];
    assert_eq!(DESCRIBING.post(path, &json, large.as_bytes()).status, 413);
    for bad in ["", "[]", "{", "{\"user_data\": 1}", "{\"user_data\": {}, \"x\": 1}"] {
        let answer = DESCRIBING.post(path, &json, bad.as_bytes());
        assert!([400, 422].contains(&answer.status), "{bad}: {}", answer.text());
    }
}

/// Given the command line, when forms are listed, shown, checked and planned, then it works without
/// a server, and values are never printed.
#[test]
fn the_command_line_lists_shows_checks_and_plans() {
    let out = |args: &[&str]| {
        let out = run(args);
        let (said, noted) =
            (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
        (out.status.code(), said, noted)
    };
    let (code, said, _) = out(&["forms", "list"]);
    assert!(code == Some(0) && WIZARDS.iter().all(|id| said.contains(id)), "{said}");
    let (_, said, _) = out(&["forms", "show", "irs-withholding"]);
    let shown: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(shown["provenance"]["status"], "described");
    let (code, _, noted) = out(&["forms", "check"]);
    assert!(code == Some(0) && noted.contains("fsa-estimator: fine"), "{noted}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.json");
    let mut data = ssa();
    data["current_earnings"] = json!(77123);
    std::fs::write(&file, data.to_string()).unwrap();
    let path = file.to_str().unwrap();
    let (code, said, _) = out(&["forms", "plan", "ssa-quick-calculator", "--data", path]);
    assert!(
        code == Some(0) && said.contains("••• (5 digits)") && !said.contains("77123"),
        "{said}"
    );
    data["birth_month"] = json!("77123");
    std::fs::write(&file, data.to_string()).unwrap();
    let (code, _, noted) = out(&["forms", "plan", "ssa-quick-calculator", "--data", path]);
    assert!(code == Some(2) && noted.contains("/birth_month"), "{noted}");
    assert!(!noted.contains("77123"), "{noted}");
    assert_eq!(out(&["forms", "show", "nothing"]).0, Some(2));
    let (code, said, _) = out(&["get", "/v1/forms", "--toolsets", "forms"]);
    assert!(code == Some(0) && said.contains("ssa-quick-calculator"));
    // [24] And in a place without any network, where such places can be made.
    let apart = |args: &[&str]| std::process::Command::new("unshare").args(args).output();
    if apart(&["-rn", "true"]).is_ok_and(|tried| tried.status.success()) {
        data["birth_month"] = json!("07");
        std::fs::write(&file, data.to_string()).unwrap();
        let plan = ["-rn", JOSH, "forms", "plan", "ssa-quick-calculator", "--data", path];
        let out = apart(&plan).unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
}

/// Given a structure and a schema, a recording, and neither, when they are imported, then a file
/// comes out that `check` refuses until it is completed, or a reason.
#[test]
fn the_command_line_imports() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, content.to_string()).unwrap();
        path.to_str().unwrap().to_string()
    };
    let field = json!({ "field_id": "status", "selector": "#s1", "field_type": "radio",
                        "example_value": "single", "notes": "single #s1, married #s2" });
    let structure = write(
        "structure",
        &json!({ "wizard_id": "x", "name": "X",
        "url": "https://x.gov/", "discovered_at": "2025-10-20", "pages": [{ "page_number": 1,
        "page_title": "You", "fields": [field], "continue_button": { "selector": "#next" } }] }),
    );
    let schema = write(
        "schema",
        &json!({ "type": "object", "required": ["status"], "properties":
        { "status": { "type": "string", "enum": ["single", "married"], "description": "x" } } }),
    );
    let change = json!({ "type": "change", "value": "5", "selectors": [["#sum"]] });
    let open = json!({ "type": "navigate", "url": "https://x.gov/" });
    let recording = write("recording", &json!({ "title": "X", "steps": [open, change] }));
    for (arguments, left) in [
        (
            vec!["forms", "import", structure.as_str(), schema.as_str()],
            "option married: is still to be written",
        ),
        (vec!["forms", "import", recording.as_str()], "page page-1: next: is still to be written"),
    ] {
        let imported = run(&arguments);
        assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
        let made: Value = serde_json::from_slice(&imported.stdout).unwrap();
        let refused = run(&["forms", "check", write("made.json", &made).as_str()]);
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(1) && why.contains(left), "{why}");
    }
    for wrong in
        [[structure.as_str(), ""], [schema.as_str(), structure.as_str()], ["/nonexistent", ""]]
    {
        let mut arguments = vec!["forms", "import"];
        arguments.extend(wrong.into_iter().filter(|path| !path.is_empty()));
        assert_eq!(run(&arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// Given a folder of wizards, when it changes, then SIGHUP reads it again; with a file that can't
/// be used nothing changes, and it is said.
#[test]
fn wizards_are_read_again_on_sighup() {
    let folder = tempfile::tempdir().unwrap();
    let shipped = include_str!("../../assets/wizards/ssa-quick-calculator.json");
    let put = |id: &str, name: &str| {
        let mut file: Value = serde_json::from_str(shipped).unwrap();
        (file["wizard_id"], file["wizard_name"]) = (json!(id), json!(name));
        std::fs::write(folder.path().join(format!("{id}.json")), file.to_string()).unwrap();
    };
    put("first", "One");
    let flags = ["--forms", "describe", "--toolsets", "policy,forms", "--forms-dir"];
    let server = Server::start(&[&flags[..], &[folder.path().to_str().unwrap()]].concat());
    let count = || server.get("/v1/forms").json()["count"].as_u64().unwrap();
    let name = || server.get("/v1/forms/first").json()["wizard_name"].clone();
    assert_eq!((count(), name()), (4, json!("One")));
    let known = server.get("/v1/forms/first").header("etag").to_string();
    let again = |known: &str| server.send("GET", "/v1/forms/first", &[("if-none-match", known)]);
    assert_eq!(again(&known).status, 304);
    put("first", "Uno");
    put("second", "Two");
    server.signal("HUP");
    eventually("the new wizards", || count() == 5);
    assert_eq!((name(), again(&known).status), (json!("Uno"), 200));
    let broken = folder.path().join("broken.json");
    std::fs::write(&broken, "{\"josh_wizard\": 1}").unwrap();
    put("third", "Three");
    server.signal("HUP");
    let refused = || server.get("/readyz").json()["refused"]["forms"].is_string();
    eventually("it is refused", refused);
    eventually("it is said", || {
        server.logged("new wizards refused") && server.logged("broken.json: missing field")
    });
    assert_eq!((count(), name()), (5, json!("Uno")), "the old ones stay");
    std::fs::remove_file(&broken).unwrap();
    server.signal("HUP");
    eventually("all of them", || count() == 6);
    assert!(!refused());
}
