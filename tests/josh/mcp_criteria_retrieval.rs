//! The acceptance criteria of the MCP server for search and retrieval (4 to 16), by their numbers,
//! and what ChatGPT and long texts need of the same tools. The other criteria are in
//! `mcp_criteria`.

use josh::bundle::format::SectionKind;
use josh::catalog::{SOURCES, Shape};
use serde_json::{Value, json};

use crate::mcp::{once, structured, tools};
use crate::mcp_criteria::{failed, property, without};
use crate::support::{SAMPLE, Server, segment, without_nulls};

#[test]
fn criterion_04_search_and_fetch_are_there_by_these_names() {
    let names: Vec<String> = tools(&SAMPLE).iter().map(|t| t.name.to_string()).collect();
    assert!(names.contains(&"search".into()) && names.contains(&"fetch".into()), "{names:?}");
}

#[test]
fn criterion_05_search_returns_what_rest_returns() {
    let with = json!({
        "query": "drinking water",
        "source": "bills",
        "since": "2020",
        "until": "2026",
        "limit": 2,
        "detail": "full",
    });
    let mut found = structured(&SAMPLE, "search", with);
    let mut rest = SAMPLE
        .get("/v1/search?q=drinking%20water&source=bills&since=2020&until=2026&limit=2")
        .json();
    for answer in [&mut found, &mut rest] {
        answer["took_ms"] = json!(0);
        answer["meta"] = json!({});
    }
    assert_eq!(found, without_nulls(rest));
    assert!(
        found["results"]
            .as_array()
            .unwrap()
            .iter()
            .all(|r| r["url"].as_str().unwrap().starts_with("https://"))
    );
}

#[test]
fn criterion_06_fetch_routes_an_id_of_any_source() {
    for source in SAMPLE.sources() {
        let key = source["key"].as_str().unwrap();
        let id = SAMPLE.get(&format!("/v1/{key}?limit=1")).json()["data"][0]["id"]
            .as_str()
            .unwrap()
            .to_string();
        let found = structured(&SAMPLE, "fetch", json!({ "id": id, "detail": "full" }));
        let rest = without_nulls(SAMPLE.get(&format!("/v1/fetch/{}", segment(&id))).json());
        assert_eq!(
            (&found["data"], &found["citation"]),
            (&rest["data"], &rest["citation"]),
            "{key}"
        );
        assert_eq!((&found["id"], &found["url"]), (&rest["data"]["id"], &rest["data"]["url"]));
        assert!(
            found["text"].as_str().unwrap().len() > 20
                && !found["title"].as_str().unwrap().is_empty(),
            "{found}"
        );
        assert!(found["metadata"].as_object().unwrap().values().all(Value::is_string));
    }
    let wrong = once(&SAMPLE, "fetch", json!({ "id": "hello" }));
    assert_eq!(wrong.is_error, Some(true));
    let meta = serde_json::to_value(&wrong.meta).unwrap();
    assert!(
        meta["error_code"] == "unrecognized_id_format" && meta["hint"]["valid_prefixes"].is_array(),
        "{meta}"
    );
}

#[test]
fn criterion_07_what_search_finds_fetch_gets() {
    for tool in ["search", "lexical_search", "semantic_search"] {
        let found = structured(&SAMPLE, tool, json!({ "query": "health care costs", "limit": 20 }));
        let results = found["results"].as_array().unwrap();
        assert!(!results.is_empty());
        for result in results {
            let record = structured(&SAMPLE, "fetch", json!({ "id": result["id"] }));
            assert_eq!((&record["id"], &record["url"]), (&result["id"], &result["url"]), "{tool}");
        }
    }
}

/// Given a bundle with neither text index nor vectors, when typed look-ups are called, then they
/// answer: they touch neither.
#[test]
fn criterion_08_typed_lookups_touch_no_index() {
    let (_folder, server) = without(&[
        SectionKind::TextIndex,
        SectionKind::Vectors,
        SectionKind::Matrix,
        SectionKind::Names,
    ]);
    for (tool, with) in [
        ("get_bill", json!({ "bill_id": "hr:119:1" })),
        ("get_legislator", json!({ "bioguide_id": "M000133" })),
        ("get_committee", json!({ "committee_id": "HSWM" })),
        ("list_committee_members", json!({ "committee_id": "HSWM", "congress": 119 })),
        ("list_cosponsors", json!({ "bill_id": "hr:119:1" })),
        ("get_bill_text", json!({ "bill_id": "hr:119:1" })),
        ("list_member_votes", json!({ "bioguide_id": "M000133" })),
    ] {
        assert_eq!(once(&server, tool, with).is_error, Some(false), "{tool}");
    }
    assert_eq!(
        once(&server, "search", json!({ "query": "water" })).is_error,
        Some(true),
        "the index is really gone"
    );
}

#[test]
fn criterion_09_all_tools_in_their_order_with_title_hints_and_schemas() {
    let tools = tools(&SAMPLE);
    let names: Vec<&str> = tools.iter().map(|t| t.name.as_ref()).collect();
    assert_eq!(
        names,
        [
            "get_bill",
            "get_legislator",
            "get_committee",
            "get_series",
            "list_committee_members",
            "list_cosponsors",
            "get_bill_text",
            "list_member_votes",
            "list_vote_positions",
            "search",
            "lexical_search",
            "semantic_search",
            "fetch",
            "resolve_entity",
            "count",
            "sum",
            "time_series",
            "list_records",
            "get_bill_dossier",
            "get_legislator_dossier",
            "get_committee_dossier",
            "get_public_law_dossier",
            "ping",
            "get_guide",
        ]
    );
    for tool in &tools {
        let hints = tool.annotations.clone().unwrap();
        assert_eq!(
            (hints.read_only_hint, hints.destructive_hint),
            (Some(true), Some(false)),
            "{}",
            tool.name
        );
        assert_eq!(
            (hints.idempotent_hint, hints.open_world_hint),
            (Some(true), Some(false)),
            "{}",
            tool.name
        );
        assert!(tool.title.is_some() && tool.output_schema.is_some() && tool.name.len() <= 64);
        let input = Value::Object((*tool.input_schema).clone());
        jsonschema::validator_for(&input).unwrap();
        for (name, property) in input["properties"].as_object().unwrap() {
            assert!(
                property["description"].as_str().is_some_and(|d| !d.is_empty()),
                "{}.{name}",
                tool.name
            );
        }
    }
    let listed: Vec<Value> = tools
        .iter()
        .map(|tool| {
            let mut tool = serde_json::to_value(tool).unwrap();
            tool.as_object_mut().unwrap().remove("outputSchema");
            tool
        })
        .collect();
    let bytes = Value::from(listed).to_string().len();
    assert!(bytes / 4 < 9_000, "{bytes} bytes, some {} tokens", bytes / 4);
}

/// Given filters that leave one record, far from the question, when searched by meaning, then it
/// is found: filters come first.
#[test]
fn criterion_10_filters_come_before_scoring() {
    for id in ["hr:119:1", "hr:118:82"] {
        let with =
            json!({ "query": "weather satellites", "source": "bills", "filters": { "id": id } });
        let found = structured(&SAMPLE, "semantic_search", with);
        assert_eq!((&found["total"], &found["results"][0]["id"]), (&json!(1), &json!(id)));
    }
}

/// Given a bundle without vectors, when searched by words, then it answers: no vector is looked at.
#[test]
fn criterion_11_lexical_search_touches_no_vectors() {
    let (_folder, server) = without(&[SectionKind::Vectors, SectionKind::Matrix]);
    let found = structured(
        &server,
        "lexical_search",
        json!({ "query": "fentanyl", "filters": { "congress": 119 } }),
    );
    assert!(found["total"].as_u64().unwrap() > 0 && found["degraded"].is_null(), "{found}");
    assert!(found["results"].as_array().unwrap().iter().all(|r| r["ranks"]["semantic"].is_null()));
}

#[test]
fn criterion_12_registries_are_not_searched() {
    for tool in ["search", "lexical_search", "semantic_search"] {
        let error = failed(tool, json!({ "query": "Markey", "source": ["bills", "legislators"] }));
        assert!(
            error["content"][0]["text"].as_str().unwrap().contains("source_not_searchable"),
            "{error}"
        );
        assert_eq!(error["_meta"]["hint"]["use_tool"], "resolve_entity", "{error}");
    }
}

#[test]
fn criterion_13_short_texts_are_not_searched_by_meaning() {
    let short = SOURCES.iter().find(|s| s.shape == Shape::ShortBody).unwrap().key;
    let error = failed("semantic_search", json!({ "query": "veto", "source": short }));
    assert_eq!(error["_meta"]["error_code"], "source_not_searchable_semantically");
    assert!(
        error["_meta"]["hint"]["valid_sources"].as_array().unwrap().contains(&json!("bills")),
        "{error}"
    );
}

#[test]
fn criterion_14_semantic_search_lists_the_bundles_own_sources() {
    let tools = tools(&SAMPLE);
    let about =
        tools.iter().find(|t| t.name == "semantic_search").unwrap().description.clone().unwrap();
    for source in SAMPLE.sources() {
        let listed = about.contains(source["key"].as_str().unwrap());
        assert_eq!(listed, source["shape"] == "body-bearing", "{} in {about}", source["key"]);
    }
}

#[test]
fn criterion_15_resolve_entity_ranks_records() {
    let with = json!({ "query": "Sen. Markley from Mass.", "entity_type": "legislators" });
    let found = structured(&SAMPLE, "resolve_entity", with);
    assert_eq!(found["data"][0]["id"], "M000133", "{found}");
    assert!(
        found["data"][0]["match"]["score"].as_f64().unwrap() > 0.5
            && found["data"][0]["state"] == "MA"
    );
    let with =
        json!({ "query": "Markey", "entity_type": "legislators", "filters": { "state": "VT" } });
    assert_eq!(structured(&SAMPLE, "resolve_entity", with)["data"], json!([]));
}

#[test]
fn criterion_16_entity_types_are_the_bundles_registries() {
    let registries: Vec<Value> = SAMPLE
        .sources()
        .iter()
        .filter(|s| s["shape"] == "registry")
        .map(|s| s["key"].clone())
        .collect();
    assert_eq!(property("resolve_entity", "entity_type")["enum"], Value::from(registries));
}

/// The contract of ChatGPT's retrieval: the JSON as structured content and once more as one text
/// item; the bare schema on demand.
#[test]
fn chatgpt_finds_its_contract() {
    let result = once(&SAMPLE, "fetch", json!({ "id": "hr:119:1" }));
    let found = result.structured_content.unwrap();
    assert_eq!(result.content.len(), 1);
    assert_eq!(
        serde_json::from_str::<Value>(&result.content[0].as_text().unwrap().text).unwrap(),
        found
    );
    for field in ["id", "title", "text", "url"] {
        assert!(found[field].is_string(), "{field}");
    }
    let bare = Server::start(&["--mcp-bare-search"]);
    let listed = tools(&bare);
    let search = listed.iter().find(|t| t.name == "search").unwrap();
    assert_eq!(
        search.input_schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["query"]
    );
    assert!(
        structured(&bare, "search", json!({ "query": "water", "limit": 1 }))["results"].is_array()
    );
}

/// Given a section that amends, when a bill is read, then it says so and which law; a long text
/// begins with its contents.
#[test]
fn a_bills_text_says_what_it_amends_and_comes_in_parts() {
    let read =
        structured(&SAMPLE, "get_bill_text", json!({ "bill_id": "hr:119:1", "section": "10102" }));
    let section = &read["data"][0];
    assert_eq!(section["is_amendatory"], true, "{read}");
    assert!(section["amends"].as_array().unwrap().contains(&json!("7 U.S.C. 2015")), "{section}");
    let other =
        structured(&SAMPLE, "get_bill_text", json!({ "bill_id": "hr:119:1", "section": "1" }));
    assert_eq!(other["data"][0]["is_amendatory"], false);

    let first =
        structured(&SAMPLE, "get_bill_text", json!({ "bill_id": "hr:119:1", "max_bytes": 1000 }));
    assert!(
        first["contents"]["sections"].as_array().unwrap().iter().any(|s| s["section"] == "10102"),
        "{first}"
    );
    let (mut seen, mut page) = (Vec::new(), first);
    loop {
        seen.extend(page["data"].as_array().unwrap().iter().map(|s| s["section"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        page = structured(
            &SAMPLE,
            "get_bill_text",
            json!({ "bill_id": "hr:119:1", "max_bytes": 1000, "cursor": cursor }),
        );
        assert!(page["contents"].is_null());
    }
    let whole = SAMPLE.all("/v1/bills/hr:119:1/body", 100);
    assert_eq!(seen, whole.iter().map(|s| s["section"].clone()).collect::<Vec<_>>());
}

#[test]
fn a_page_says_how_much_there_is_and_what_would_narrow_it() {
    let found = structured(&SAMPLE, "search", json!({ "query": "the act", "limit": 3 }));
    let shown = found["meta"]["shown"].as_str().unwrap();
    assert!(
        shown.starts_with(&format!("3 of {}", found["total"])) && shown.contains("narrow by"),
        "{shown}"
    );
}
