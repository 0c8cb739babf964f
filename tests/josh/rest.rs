//! Section 3: what every answer has, and what every route gives.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Answer, SAMPLE, Server, segment};

#[test]
fn every_route_in_openapi_answers() {
    let api = SAMPLE.get("/openapi.json").json();
    assert_eq!(api["openapi"], "3.1.0");
    let mut tried = 0;
    for (path, item) in api["paths"].as_object().unwrap() {
        let mut url = path.clone();
        for parameter in
            item["get"]["parameters"].as_array().into_iter().flatten().filter(|p| p["in"] == "path")
        {
            let name = parameter["name"].as_str().unwrap();
            let value = match (name, parameter["schema"]["enum"][0].as_str()) {
                (_, Some(value)) => value.to_string(),
                ("id", _) => {
                    let source =
                        path.split('/').nth(2).filter(|s| *s != "fetch").unwrap_or("bills");
                    SAMPLE.get(&format!("/v1/{source}?limit=1")).json()["data"][0]["id"]
                        .as_str()
                        .unwrap()
                        .to_string()
                }
                _ => panic!("{path}: no value for {name}"),
            };
            url = url.replace(&format!("{{{name}}}"), &segment(&value));
        }
        for parameter in item["get"]["parameters"].as_array().into_iter().flatten() {
            if parameter["in"] == "query" && parameter["required"] == true {
                let example = parameter["schema"]["examples"][0].as_str().unwrap();
                url.push_str(&format!(
                    "?{}={}",
                    parameter["name"].as_str().unwrap(),
                    segment(example)
                ));
            }
        }
        let answer = SAMPLE.get(&url);
        assert_eq!(answer.status, 200, "{url}: {}", answer.text());
        let body = answer.json();
        let schema = &item["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(body.get(required.as_str().unwrap()).is_some(), "{url} lacks {required}");
        }
        tried += 1;
    }
    assert!(tried > 100, "{tried} routes");
}

/// Given the parameters that OpenAPI names for a list, when each is used, then it is accepted; and
/// nothing else is.
#[test]
fn openapi_names_exactly_the_parameters_that_lists_take() {
    let api = SAMPLE.get("/openapi.json").json();
    for source in SAMPLE.sources() {
        let key = source["key"].as_str().unwrap();
        let named: BTreeSet<String> = api["paths"][format!("/v1/{key}")]["get"]["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p["name"].as_str().unwrap().to_string())
            .collect();
        for name in &named {
            let answer = SAMPLE.get(&format!("/v1/{key}?{name}=%01"));
            let message =
                answer.json()["error"]["message"].as_str().unwrap_or_default().to_string();
            assert!(!message.starts_with("There is no parameter"), "{key} {name}: {message}");
        }
        let refused = SAMPLE.get(&format!("/v1/{key}?surely_not=1")).json();
        let valid = refused["error"]["hint"]["valid"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_str().unwrap().to_string());
        let base = |name: &String| name.split('.').next().unwrap().to_string();
        assert_eq!(valid.collect::<BTreeSet<_>>(), named.iter().map(base).collect(), "{key}");
    }
}

#[test]
fn a_record_has_data_citation_and_meta() {
    let body = SAMPLE.get("/v1/bills/hr:119:1").json();
    assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["data", "citation", "meta"]);
    assert_eq!(body["data"]["title"].as_str().map(|t| t.contains("Big Beautiful")), Some(true));
    assert_eq!(body["data"]["law_id"], "pl:119:21");
    assert_eq!(body["citation"]["text"], "H.R. 1, 119th Cong. (2025)");
    assert_eq!(
        body["citation"]["url"],
        "https://www.congress.gov/bill/119th-congress/house-bill/1"
    );
    assert!(
        body["meta"]["bundle"]["id"].is_string() && body["meta"]["bundle"]["as_of"].is_string()
    );
    assert!(body["meta"]["took_ms"].is_u64());
}

#[test]
fn sources_come_from_the_bundle_with_shape_counts_dates_and_fields() {
    let sources = SAMPLE.sources();
    assert_eq!(sources.len(), 22);
    let shape = |s: &str| sources.iter().filter(|x| x["shape"] == s).count();
    assert_eq!((shape("body-bearing"), shape("short-body"), shape("registry")), (11, 1, 10));
    let bills = SAMPLE.get("/v1/sources/bills").json()["data"].clone();
    let status =
        bills["fields"].as_array().unwrap().iter().find(|f| f["name"] == "status").unwrap().clone();
    assert!(status["values"].as_array().unwrap().contains(&"enacted".into()));
    assert!(
        status["group"] == true
            && status["filter"] == true
            && status["sort"] == true
            && status["sum"] == false
    );
    let plan = &bills["aggregation"];
    assert!(plan["group_by"].as_array().unwrap().contains(&"policy_area".into()));
    assert_eq!(plan["sum"], serde_json::json!(["cosponsor_count"]));
    assert!(plan["bucket_by_time"].as_array().unwrap().contains(&"introduced_date".into()));
}

#[test]
fn the_sample_is_as_large_as_it_was_promised() {
    let count = |key: &str| {
        SAMPLE
            .sources()
            .iter()
            .find(|s| s["key"] == key)
            .map_or(0, |s| s["records"].as_u64().unwrap())
    };
    assert!(count("bills") >= 40 && count("legislators") >= 40 && count("committees") >= 20);
    for source in SAMPLE.sources() {
        assert!(source["records"].as_u64().unwrap() >= 6, "{source}");
    }
    let with = |path: &str, sub: &str| {
        let all = SAMPLE.all(&format!("{path}?fields=id"), 100);
        all.iter()
            .filter(|r| {
                let id = r["id"].as_str().unwrap();
                SAMPLE.get(&format!("{path}/{id}/{sub}?limit=1")).json()["total"] != 0
            })
            .count()
    };
    assert!(with("/v1/committees", "members") >= 20);
    assert!(with("/v1/roll-call-votes", "positions") >= 10);
}

#[test]
fn a_request_id_is_kept_or_made_and_always_returned() {
    let given = SAMPLE.send("GET", "/v1/bills/hr:119:1", &[("x-request-id", "abc-1.2_Z")]);
    assert_eq!(
        (given.header("x-request-id"), &given.json()["meta"]["request_id"]),
        ("abc-1.2_Z", &"abc-1.2_Z".into())
    );
    let made = SAMPLE.get("/v1/nope");
    assert!(!made.header("x-request-id").is_empty());
    assert_eq!(made.json()["error"]["request_id"], made.header("x-request-id"));
    let unfit = SAMPLE.send("GET", "/v1/bills/hr:119:1", &[("x-request-id", "a\" {inject}")]);
    assert_ne!(unfit.header("x-request-id"), "a\" {inject}");
    let ids: BTreeSet<String> =
        (0..50).map(|_| SAMPLE.get("/livez").header("x-request-id").to_string()).collect();
    assert_eq!(ids.len(), 50);
}

#[test]
fn an_etag_saves_sending_the_same_again() {
    for path in [
        "/v1/bills/hr:119:1",
        "/v1/bills?limit=3",
        "/v1/sources",
        "/v1/bills/hr:119:1/actions",
        "/openapi.json",
    ] {
        let first = SAMPLE.get(path);
        let etag = first.header("etag").to_string();
        assert!(
            etag.starts_with("W/\"") && first.header("cache-control").contains("no-cache"),
            "{path}"
        );
        let again = SAMPLE.send("GET", path, &[("if-none-match", &format!("\"other\", {etag}"))]);
        assert_eq!(
            (again.status, again.bytes.len(), again.header("etag")),
            (304, 0, etag.as_str()),
            "{path}"
        );
        assert_eq!(SAMPLE.send("GET", path, &[("if-none-match", "\"other\"")]).status, 200);
    }
    assert_ne!(
        SAMPLE.get("/v1/bills?limit=3").header("etag"),
        SAMPLE.get("/v1/bills?limit=4").header("etag")
    );
}

#[test]
fn answers_are_compressed_as_the_client_likes() {
    let plain = SAMPLE.get("/v1/bills?limit=50");
    for encoding in ["gzip", "br", "zstd"] {
        // As bytes: our client would unpack some of them and not say so.
        let path = "/v1/bills?limit=50";
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\naccept-encoding: {encoding}\r\n\
             connection: close\r\n\r\n"
        );
        let packed = raw(request.as_bytes());
        assert!(packed.starts_with("HTTP/1.1 200"), "{encoding}");
        assert!(packed.contains(&format!("content-encoding: {encoding}\r\n")), "{encoding}");
        assert!(packed.chars().count() < plain.bytes.len() / 2, "{encoding}");
    }
    let packed = SAMPLE.send("GET", "/v1/bills?limit=50", &[("accept-encoding", "zstd")]);
    let unpacked = zstd::decode_all(packed.bytes.as_slice()).unwrap();
    let unpacked: Value = serde_json::from_slice(&unpacked).unwrap();
    assert_eq!(unpacked["data"], plain.json()["data"]);
}

#[test]
fn head_is_get_without_the_body() {
    for path in ["/v1/bills/hr:119:1", "/v1/bills", "/", "/health"] {
        let (get, head) = (SAMPLE.get(path), SAMPLE.send("HEAD", path, &[]));
        assert_eq!((head.status, head.bytes.len()), (get.status, 0), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"));
        assert_eq!(head.header("etag"), get.header("etag"));
    }
}

#[test]
fn browsers_of_any_origin_may_read() {
    let preflight = SAMPLE.send(
        "OPTIONS",
        "/v1/bills",
        &[("origin", "https://example.org"), ("access-control-request-method", "GET")],
    );
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-methods").contains("GET"));
    assert!(preflight.header("access-control-allow-headers").contains("X-Request-Id"));
    for answer in [
        preflight,
        SAMPLE.get("/v1/bills"),
        SAMPLE.get("/v1/nope"),
        SAMPLE.send("OPTIONS", "/anything", &[]),
    ] {
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert!(answer.header("access-control-expose-headers").contains("X-Request-Id"));
        assert_eq!(answer.header("access-control-allow-credentials"), "");
    }
}

#[test]
fn health_routes_tell_life_from_readiness() {
    assert_eq!(SAMPLE.get("/livez").json()["status"], "ok");
    assert_eq!(SAMPLE.get("/readyz").json()["status"], "ready");
    let health = SAMPLE.get("/health").json();
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    assert!(health["bundle"]["id"].is_string() && health["bundle"]["as_of"].is_string());
}

#[test]
fn the_pages_name_the_bundle_and_load_nothing_from_elsewhere() {
    let home = SAMPLE.get("/").text();
    let bundle = SAMPLE.get("/health").json()["bundle"]["id"].as_str().unwrap().to_string();
    assert!(home.contains(&bundle) && !home.contains("{{"));
    for source in SAMPLE.sources() {
        assert!(home.contains(&format!("href=\"/{}\"", source["key"].as_str().unwrap())));
    }
    for path in ["/", "/docs", "/mcp"] {
        let page = SAMPLE.get(path);
        assert!(page.header("content-type").starts_with("text/html"));
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe-inline"));
        for outside in ["src=\"http", "<link href=\"http", "url(http", "@import", "//cdn"] {
            assert!(!page.text().contains(outside), "{path} loads {outside}");
        }
    }
}

fn raw(bytes: &[u8]) -> String {
    SAMPLE.raw(bytes, Duration::from_secs(15))
}

#[test]
fn broken_requests_get_an_answer_or_are_closed_and_hurt_nobody() {
    for bytes in [
        &b"GET /v1/bills HTTP/1.1\r\nHost: x\r\n"[..],
        b"NONSENSE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /v1/bills/%ff%fe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET /v1/bills?q=%c3%28 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"POST /v1/bills HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\
          Connection: close\r\n\r\nhalf",
        b"GET /v1/\xff\xff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ] {
        let answer = raw(bytes);
        assert!(!answer.starts_with("HTTP/1.1 5"), "{bytes:?}: {answer}");
        assert_eq!(SAMPLE.get("/livez").status, 200);
    }
    let long = format!(
        "GET /v1/bills?x={} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "a".repeat(60_000)
    );
    assert!(raw(long.as_bytes()).starts_with("HTTP/1.1 414"));
}

#[test]
fn a_read_only_server_logs_nothing_to_worry_about_and_stops_when_told() {
    let mut server = Server::start(&["--log", "debug", "--log-format", "json"]);
    let answer: Answer =
        server.send("GET", "/v1/bills/hr:119:1", &[("x-request-id", "in-the-log")]);
    assert_eq!(answer.status, 200);
    server.get("/livez");
    server.signal("TERM");
    assert!(server.wait().success());
    let lines: Vec<Value> =
        server.log().iter().filter_map(|l| serde_json::from_str(l).ok()).collect();
    let request =
        lines.iter().find(|l| l["request_id"] == "in-the-log").expect("a line for the request");
    assert_eq!((&request["path"], &request["status"]), (&"/v1/bills/hr:119:1".into(), &200.into()));
    assert!(!lines.iter().any(|l| l["path"] == "/livez"), "health checks stay out of the log");
    assert!(!lines.iter().any(|l| l["level"] == "ERROR" || l["level"] == "WARN"), "{lines:?}");
}
