//! One declaration for each operation: whatever a surface lists comes from it, and answers hold
//! exactly what their schemas say.

use std::collections::BTreeSet;

use josh::api::{Code, Cost, Scope};
use josh::toolsets::Toolsets;
use serde_json::{Map, Value, json};

use crate::mcp::{structured, tools};
use crate::support::{SAMPLE, Server, changed, segment};

/// Given the declared operations, when OpenAPI, tools/list and the manifest are read, then they
/// list what is declared and nothing else.
#[test]
fn everything_that_is_listed_is_declared() {
    let toolsets = Toolsets::default();
    let api = SAMPLE.get("/openapi.json").json();
    let routes: Vec<&str> = toolsets.operations().filter_map(|o| o.route).collect();
    let matches = |route: &str, path: &str| {
        let route: Vec<&str> = route.split('/').collect();
        let path: Vec<&str> = path.split('/').collect();
        let is_same = |(a, b): (&&str, &&str)| a.starts_with('{') || a == b;
        route.len() == path.len() && route.iter().zip(&path).all(is_same)
    };
    for path in api["paths"].as_object().unwrap().keys().filter(|p| p.starts_with("/v1/")) {
        assert!(routes.iter().any(|route| matches(route, path)), "{path} is not declared");
    }
    for route in &routes {
        let is_listed = |path: &String| matches(route, path);
        let route_is_listed = api["paths"].as_object().unwrap().keys().any(is_listed);
        assert!(route_is_listed, "{route} is not in OpenAPI");
    }
    let declared: Vec<&str> =
        toolsets.operations().flat_map(|o| o.tools).map(|tool| tool.name).collect();
    let listed: Vec<String> = tools(&SAMPLE).iter().map(|t| t.name.to_string()).collect();
    assert_eq!(listed, declared, "the sample offers every tool, in the order of declaration");
    let manifest = SAMPLE.get("/mcp/manifest.json").json();
    let named = manifest["tools"].as_array().unwrap().iter().map(|t| t["name"].clone());
    assert_eq!(named.collect::<Vec<_>>(), declared);
    assert_eq!(BTreeSet::from_iter(&declared).len(), declared.len(), "a tool is declared once");
}

/// Every operation of this version reads; look-ups are those that need no query.
#[test]
fn operations_say_what_they_need_and_cost() {
    for operation in Toolsets::default().operations() {
        assert_eq!(operation.scope, Scope::Read, "{}", operation.name);
        let is_query = ["list_", "resolve_", "aggregate_", "get_dossier", "fetch_document"]
            .iter()
            .any(|begin| operation.name.starts_with(begin) && operation.name != "list_sources");
        let expected = match operation.name {
            "search" => Cost::Search,
            _ if is_query => Cost::Query,
            _ => Cost::Lookup,
        };
        assert_eq!(operation.cost, expected, "{}", operation.name);
        assert!(!operation.about.is_empty() && !operation.title.is_empty());
    }
}

/// Resolves references and closes every object that lists its properties, so that a member that is
/// sent and not described fails.
fn closed(schema: &Value, all: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let name = name.rsplit('/').next().unwrap();
        return closed(&all[name], all);
    }
    match &mut schema {
        Value::Object(fields) => {
            for value in fields.values_mut() {
                *value = closed(value, all);
            }
            let is_open = fields.contains_key("additionalProperties");
            if fields.get("properties").is_some_and(Value::is_object) && !is_open {
                fields.insert("additionalProperties".into(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = closed(item, all)),
        _ => {}
    }
    schema
}

/// Given answers of every kind, when they are checked against OpenAPI with every object closed,
/// then nothing is sent that is not described: `contents` and `meta.shown` among it.
#[test]
fn answers_hold_exactly_what_openapi_says() {
    let api = SAMPLE.get("/openapi.json").json();
    let all = &api["components"]["schemas"];
    let bill = segment("hr:119:1");
    for (path, url) in [
        ("/v1/bills/{id}", format!("/v1/bills/{bill}")),
        ("/v1/fetch/{id}", "/v1/fetch/H.R.%201".to_string()),
        ("/v1/bills", "/v1/bills?limit=2".into()),
        ("/v1/bills", "/v1/bills?aggregate=count&group_by=status&limit=2".into()),
        ("/v1/bills", "/v1/bills?aggregate=count".into()),
        ("/v1/bills", "/v1/bills?bucket_by_time=introduced_date&group_by=status".into()),
        ("/v1/bills", "/v1/bills?congress=1".into()),
        ("/v1/bills/{id}/body", format!("/v1/bills/{bill}/body?max_bytes=1000")),
        ("/v1/bills/{id}/actions", format!("/v1/bills/{bill}/actions?limit=1")),
        ("/v1/bills/{id}/dossier", format!("/v1/bills/{bill}/dossier")),
        ("/v1/search", "/v1/search?q=water&limit=2".into()),
        ("/v1/search", "/v1/search?q=xyzzy&limit=2".into()),
    ] {
        let schema =
            &api["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        let answer = SAMPLE.get(&url);
        assert_eq!(answer.status, 200, "{url}: {}", answer.text());
        let validator = jsonschema::validator_for(&closed(schema, all)).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(&answer.json()).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{url}: {wrong:?}");
    }
    let body = SAMPLE.get(&format!("/v1/bills/{bill}/body?max_bytes=1000")).json();
    assert!(body["contents"].is_object() && body["meta"]["shown"].is_string(), "{body}");
}

/// No output schema has alternatives or several types, and nothing in one is required: hosts differ
/// in what they check, and an error result has none of it.
#[test]
fn output_schemas_have_no_alternatives_and_fit_errors() {
    fn check(tool: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                // The inspector warns of properties that say nothing of their values.
                let said = fields.keys().filter(|name| *name != "description");
                assert!(said.count() > 0, "{tool}: {value} accepts anything");
                for (name, value) in fields {
                    let is_forbidden =
                        ["anyOf", "oneOf", "allOf", "$ref", "$defs"].contains(&name.as_str());
                    assert!(
                        !is_forbidden || !value.is_array() && !value.is_string(),
                        "{tool}: {name}"
                    );
                    // Hosts that map a schema to one type drop those with several.
                    let is_list = ["required", "type"].contains(&name.as_str());
                    assert!(!is_list || !value.is_array(), "{tool}: {name} {value}");
                    check(tool, value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| check(tool, item)),
            _ => {}
        }
    }
    for tool in tools(&SAMPLE) {
        let schema = Value::Object((**tool.output_schema.as_ref().unwrap()).clone());
        check(&tool.name, &schema);
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&json!({})), "{}", tool.name);
        assert!(validator.is_valid(&json!({ "error": { "code": "x" } })), "{}", tool.name);
    }
}

/// tools/list of the default set stays under 9,000 tokens: bytes / 4, without output schemas.
#[test]
fn the_list_of_tools_is_short() {
    let bytes: usize = tools(&SAMPLE)
        .iter()
        .map(|tool| {
            let mut listed: Map<String, Value> =
                serde_json::to_value(tool).unwrap().as_object().unwrap().clone();
            listed.remove("outputSchema");
            Value::Object(listed).to_string().len()
        })
        .sum();
    assert!(bytes / 4 < 9_000, "{} tokens", bytes / 4);
}

/// Given a tool whose arguments have names of their own, when the operation refuses one, then the
/// error speaks of the argument and not of the parameter of REST.
#[test]
fn errors_of_tools_speak_of_their_arguments() {
    for (tool, with, field) in [
        (
            "resolve_entity",
            json!({ "query": "x".repeat(400), "entity_type": "legislators" }),
            "query",
        ),
        ("count", json!({ "resource": "legislators", "query": "water" }), "query"),
        (
            "time_series",
            json!({ "resource": "bills", "time_field": "status", "interval": "year" }),
            "time_field",
        ),
    ] {
        let result = crate::mcp::once(&SAMPLE, tool, with);
        assert_eq!(result.is_error, Some(true), "{tool}");
        let meta = serde_json::to_value(result.meta.as_ref().unwrap()).unwrap();
        assert_eq!(
            (&meta["error_code"], &meta["field"]),
            (&json!("invalid_parameter"), &json!(field))
        );
        let text = &result.content[0].as_text().unwrap().text;
        assert!(text.contains(&format!("`{field}`")) && !text.contains("`q`"), "{tool}: {text}");
    }
}

/// Bounds hold on every surface: strings, lists, filters, and intervals times groups.
#[test]
fn every_input_is_bounded() {
    let long = "x".repeat(2_001);
    let many = vec!["a"; 101].join(",");
    let filters: String = (0..33).map(|_| "congress=119&").collect();
    for path in [
        format!("/v1/search?q={long}"),
        format!("/v1/bills?aggregate=count&q={long}"),
        format!("/v1/legislators?q={}", "x".repeat(301)),
        format!("/v1/bills?sponsor_name={many}"),
        format!("/v1/bills?sponsor_name={long}"),
        format!("/v1/bills?{filters}"),
        format!("/v1/search?q=water&{filters}"),
    ] {
        let answer = SAMPLE.get(&path);
        let shown: String = path.chars().take(60).collect();
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_parameter"), "{shown}");
    }
    let wide = "/v1/legislators?bucket_by_time=first_term_start&time_interval=day&group_by=state";
    for path in [format!("{wide}&limit=100"), wide.to_string()] {
        let answer = SAMPLE.get(&path);
        assert_eq!((answer.status, answer.code()), (422, Code::AggregateTooBroad.as_str().into()));
    }
    let fits = structured(
        &SAMPLE,
        "time_series",
        json!({ "resource": "bills", "time_field": "introduced_date", "interval": "month",
                "group_by": "status", "limit": 100 }),
    );
    assert!(fits["buckets"].as_array().is_some_and(|buckets| buckets.len() <= 5_000));
}

/// Given a bundle in which only bills have vectors, when tools are listed, then semantic search
/// offers bills alone and answers for them; in one without vectors it is not offered.
#[test]
fn semantic_search_offers_only_sources_with_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let with_vectors = |name: &str, keep: &str| {
        let path = changed(folder.path(), name, |manifest| {
            let others = manifest.sources.iter_mut().filter(|source| source.key != keep);
            others.for_each(|source| source.vectors = 0);
        });
        Server::start(&["--bundle", path.to_str().unwrap()])
    };
    let some = with_vectors("some.db", "bills");
    let listed = tools(&some);
    let tool = listed.iter().find(|tool| tool.name == "semantic_search").unwrap();
    let sources = &tool.input_schema["properties"]["source"]["items"]["enum"];
    assert_eq!(sources, &json!(["bills"]));
    let found =
        structured(&some, "semantic_search", json!({ "query": "water", "source": "bills" }));
    assert!(!found["results"].as_array().unwrap().is_empty());
    let refused = some.get("/v1/search?q=water&mode=semantic&source=crs-reports");
    assert_eq!(refused.code(), "source_not_searchable_semantically");
    let none = with_vectors("none.db", "");
    assert!(!tools(&none).iter().any(|tool| tool.name == "semantic_search"));
}
