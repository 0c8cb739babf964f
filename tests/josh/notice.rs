//! A summary never passes for the official text: the record, its text, its citation, every answer
//! and every page say what it is, because the manifest says so.

use serde_json::{Value, json};

use crate::mcp::{SAME, once, structured};
use crate::support::{SAMPLE, Server, changed, run, sample, segment};

fn notice() -> String {
    josh::bundle::read_manifest(&sample()).unwrap().1.notice.expect("the sample has a notice")
}

/// The first record of each source that has a text.
fn records_with_text() -> Vec<Value> {
    let sources = SAMPLE.sources();
    let has_text = |source: &&Value| source["shape"] != "registry";
    let first = |source: &Value| {
        let path = format!("/v1/{}?limit=1", source["key"].as_str().unwrap());
        SAMPLE.get(&path).json()["data"][0].clone()
    };
    let found: Vec<Value> = sources.iter().filter(has_text).map(first).collect();
    assert_eq!(found.len(), 12);
    found
}

#[test]
fn every_answer_of_rest_and_every_tool_says_that_texts_are_summaries() {
    let notice = notice();
    assert!(notice.contains("not the official wording") && notice.contains("text_status"));
    for path in ["/v1/sources", "/v1/sources/bills", "/v1/bills", "/v1/bills?congress=100"] {
        assert_eq!(SAMPLE.get(path).json()["meta"]["notice"], notice, "{path}");
    }
    for (tool, arguments, path) in SAME {
        assert_eq!(SAMPLE.get(path).json()["meta"]["notice"], notice, "{path}");
        let result = once(&SAMPLE, tool, serde_json::from_str(arguments).unwrap());
        assert_eq!(result.structured_content.unwrap()["meta"]["notice"], notice, "{tool}");
        let text = serde_json::to_value(&result.content).unwrap()[0]["text"].to_string();
        assert!(text.contains("not the official wording"), "{tool}: {text}");
    }
}

#[test]
fn a_record_its_text_and_its_citation_say_that_it_is_a_summary() {
    for record in records_with_text() {
        let (source, id) = (record["source"].as_str().unwrap(), record["id"].as_str().unwrap());
        assert_eq!(record["text_status"], "summary", "{id}");
        let path = format!("/v1/{source}/{}", segment(id));
        let citation = SAMPLE.get(&path).json()["citation"].clone();
        assert!(citation["note"].as_str().unwrap().contains("can't be quoted"), "{citation}");
        assert!(citation["url"].as_str().unwrap().starts_with("https://"));
        for list in ["body", "toc"] {
            for section in SAMPLE.all(&format!("{path}/{list}"), 50) {
                assert_eq!(
                    (&section["version"], &section["text_status"]),
                    (&json!("summary"), &json!("summary")),
                    "{path}/{list}"
                );
            }
        }
        let fetched = structured(&SAMPLE, "fetch", json!({ "id": id }));
        let text = fetched["text"].as_str().unwrap();
        assert!(text.starts_with("[The text served here is a summary"), "{text}");
        assert_eq!(fetched["metadata"]["text_status"], "summary");
        assert!(fetched["citation"]["note"].is_string());
    }
}

#[test]
fn an_older_version_is_a_summary_too_and_none_passes_for_an_official_one() {
    let bills = SAMPLE.all("/v1/bills?fields=text_versions,text_status", 100);
    for bill in &bills {
        let versions = bill["text_versions"].as_array().unwrap();
        assert!(versions.iter().all(|v| v.as_str().unwrap().starts_with("summary")), "{bill}");
    }
    assert!(bills.iter().any(|bill| bill["text_versions"].as_array().unwrap().len() > 1));
    assert_eq!(SAMPLE.get("/v1/bills/hr:119:1/body?version=enr").json()["total"], 0);
}

#[test]
fn search_marks_summaries() {
    for mode in ["lexical", "semantic", "hybrid"] {
        let found = SAMPLE.get(&format!("/v1/search?q=drinking+water&mode={mode}")).json();
        let results = found["results"].as_array().unwrap();
        assert!(!results.is_empty());
        for result in results {
            assert_eq!(result["text_status"], "summary", "{result}");
            let snippet = result["snippet"].as_str().unwrap();
            assert!(snippet.starts_with("[Summary, not the official wording] "), "{snippet}");
            assert!(result["citation"]["note"].is_string());
        }
    }
    let table = SAMPLE.get("/v1/search?q=drinking+water&format=csv").text();
    assert!(table.lines().next().unwrap().contains(",text_status,"), "{table}");
}

#[test]
fn pages_banner_instructions_and_commands_say_it() {
    let notice = notice();
    for path in ["/", "/docs", "/mcp"] {
        let page = SAMPLE.send("GET", path, &[("accept", "text/html")]).text();
        assert!(page.contains("class=\"notice\"") && page.contains(&notice), "{path}");
        assert!(!page.contains("{{"), "{path}");
    }
    assert!(SAMPLE.log().iter().any(|line| line.contains(&notice)));
    assert!(instructions(&SAMPLE).starts_with(&notice));
    let info = run(&["bundle", "info", sample().to_str().unwrap()]);
    assert!(String::from_utf8(info.stdout).unwrap().contains(&notice));
    let api = SAMPLE.get("/openapi.json").json();
    assert!(api["info"]["description"].as_str().unwrap().ends_with(&notice));
    assert_eq!(SAMPLE.get("/health").json()["bundle"]["notice"], notice);
    for source in SAMPLE.sources() {
        let has_text = source["shape"] != "registry";
        assert_eq!(source["summaries"] == source["records"], has_text, "{source}");
    }
}

/// Given a manifest without a notice, whatever file it is in, then nothing says one.
#[test]
fn the_notice_is_the_manifests() {
    let folder = tempfile::tempdir().unwrap();
    let path = changed(folder.path(), "plain.db", |manifest| manifest.notice = None);
    let server = Server::start(&["--bundle", path.to_str().unwrap()]);
    assert_eq!(server.get("/v1/bills/hr:119:1").json()["meta"]["notice"], Value::Null);
    for path in ["/", "/docs", "/mcp"] {
        let page = server.send("GET", path, &[("accept", "text/html")]).text();
        assert!(!page.contains("class=\"notice\"") && !page.contains("{{"), "{path}");
    }
    assert!(!server.logged("notice"));
    assert!(instructions(&server).starts_with("Josh serves"));
}

fn instructions(server: &Server) -> String {
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    } });
    let headers =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let answer = server.post("/mcp", &headers, asked.to_string().as_bytes()).json();
    answer["result"]["instructions"].as_str().unwrap().to_string()
}
