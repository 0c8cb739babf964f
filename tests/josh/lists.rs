//! Lists: pages, filters, sorts, fields, formats, checked against the records themselves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{SAMPLE, segment};

fn key(source: &Value) -> String {
    source["key"].as_str().expect("a key").to_string()
}

fn ids(items: &[Value]) -> Vec<String> {
    items.iter().map(|i| i["id"].as_str().expect("an id").to_string()).collect()
}

#[test]
fn following_cursors_visits_each_record_once_for_every_source() {
    for source in SAMPLE.sources() {
        let path = format!("/v1/{}", key(&source));
        let found = ids(&SAMPLE.all(&path, 7));
        let once: BTreeSet<&String> = found.iter().collect();
        assert_eq!(once.len(), found.len(), "{path}");
        assert_eq!(found.len() as u64, source["records"].as_u64().unwrap(), "{path}");
    }
}

#[test]
fn every_id_that_a_list_returns_fetches() {
    for source in SAMPLE.sources() {
        let key = key(&source);
        for id in ids(&SAMPLE.all(&format!("/v1/{key}"), 100)) {
            for path in
                [format!("/v1/fetch/{}", segment(&id)), format!("/v1/{key}/{}", segment(&id))]
            {
                let answer = SAMPLE.get(&path);
                assert_eq!(answer.status, 200, "{path}: {}", answer.text());
                let body = answer.json();
                assert_eq!(
                    (&body["data"]["id"], &body["data"]["source"]),
                    (&id.clone().into(), &key.clone().into())
                );
                let citation = &body["citation"];
                assert!(citation["url"].as_str().unwrap().starts_with("https://"), "{path}");
                assert_eq!(citation["url"], body["data"]["url"]);
                assert!(citation["text"].as_str().unwrap().len() > 5, "{path}");
                assert!(
                    citation["as_of"].as_str().unwrap().len() == 10
                        && citation["source"].is_string()
                );
            }
        }
    }
}

#[test]
fn every_sort_is_a_total_order_in_both_directions() {
    for source in SAMPLE.sources() {
        let key = key(&source);
        let fields = SAMPLE.get(&format!("/v1/sources/{key}")).json()["data"]["fields"].clone();
        for field in fields.as_array().unwrap().iter().filter(|f| f["sort"] == true) {
            let name = field["name"].as_str().unwrap();
            for (sort, descending) in [(name.to_string(), false), (format!("-{name}"), true)] {
                let items = SAMPLE.all(&format!("/v1/{key}?sort={sort}&fields={name}"), 40);
                let unique: BTreeSet<String> = ids(&items).into_iter().collect();
                assert_eq!(
                    unique.len() as u64,
                    source["records"].as_u64().unwrap(),
                    "{key} {sort}"
                );
                let values: Vec<&Value> = items.iter().map(|i| &i[name]).collect();
                let known = values.iter().take_while(|v| !v.is_null()).count();
                assert!(
                    values[known..].iter().all(|v| v.is_null()),
                    "{key} {sort}: nulls come last"
                );
                for pair in values[..known].windows(2) {
                    let (a, b) = if descending { (pair[1], pair[0]) } else { (pair[0], pair[1]) };
                    let ordered = match (a, b) {
                        (Value::Number(a), Value::Number(b)) => a.as_i64() <= b.as_i64(),
                        (Value::Bool(a), Value::Bool(b)) => a <= b,
                        (a, b) => a.as_str() <= b.as_str(),
                    };
                    assert!(ordered, "{key} {sort}: {a} then {b}");
                }
            }
        }
    }
}

/// Given every record, when a list is filtered by a value that some record has, then exactly the
/// records with that value are in it.
#[test]
fn every_filter_agrees_with_the_records_themselves() {
    for source in SAMPLE.sources() {
        let key = key(&source);
        let records = SAMPLE.all(&format!("/v1/{key}"), 100);
        let fields = SAMPLE.get(&format!("/v1/sources/{key}")).json()["data"]["fields"].clone();
        for field in fields.as_array().unwrap().iter().filter(|f| f["filter"] == true) {
            let name = field["name"].as_str().unwrap();
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for record in &records {
                let values: BTreeSet<String> = match &record[name] {
                    Value::Null => continue,
                    Value::Array(items) => {
                        items.iter().map(|i| i.as_str().unwrap().to_lowercase()).collect()
                    }
                    Value::String(text) => [text.to_lowercase()].into(),
                    other => [other.to_string()].into(),
                };
                values.into_iter().for_each(|v| *counts.entry(v).or_default() += 1);
            }
            for (value, count) in counts.iter().take(4) {
                let quoted =
                    if value.contains(',') { format!("\"{value}\"") } else { value.clone() };
                let path = format!("/v1/{key}?{name}={}&limit=1", segment(&quoted));
                let answer = SAMPLE.get(&path);
                assert_eq!(answer.status, 200, "{path}: {}", answer.text());
                assert_eq!(answer.json()["total"], *count, "{path}");
            }
        }
    }
}

#[test]
fn ranges_and_dates_agree_with_the_records_themselves() {
    let records = SAMPLE.all("/v1/bills", 100);
    let count = |test: &dyn Fn(&str) -> bool| {
        records.iter().filter(|r| r["introduced_date"].as_str().is_some_and(test)).count()
    };
    for (query, expected) in [
        ("introduced_date.gte=2025-01-03", count(&|d| d >= "2025-01-03")),
        ("introduced_date.gt=2025-01-03", count(&|d| d > "2025-01-03")),
        ("introduced_date.lt=2025-01-03", count(&|d| d < "2025-01-03")),
        ("introduced_date.lte=2025-01-03", count(&|d| d <= "2025-01-03")),
        ("introduced_date=2025-01-03", count(&|d| d == "2025-01-03")),
        ("introduced_date=2025", count(&|d| d.starts_with("2025"))),
        (
            "introduced_date=2025-01,2025-02",
            count(&|d| d.starts_with("2025-01") || d.starts_with("2025-02")),
        ),
        ("since=2025", count(&|d| d >= "2025-01-01")),
        ("until=2024-12", count(&|d| d <= "2024-12-31")),
        (
            "since=2025-01-01&until=2025-03-31",
            count(&|d| ("2025-01-01"..="2025-03-31").contains(&d)),
        ),
    ] {
        assert_eq!(SAMPLE.get(&format!("/v1/bills?{query}")).json()["total"], expected, "{query}");
    }
    let both = SAMPLE.get("/v1/bills?congress=118,119").json()["total"].clone();
    assert_eq!(both, records.len());
    let many = records.iter().filter(|r| r["cosponsor_count"].as_i64() >= Some(100)).count();
    assert_eq!(SAMPLE.get("/v1/bills?cosponsor_count.gte=100").json()["total"], many);
}

#[test]
fn fields_narrow_the_record_everywhere() {
    let keys = |v: &Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let list = SAMPLE.get("/v1/bills?fields=title,congress&limit=2").json();
    assert_eq!(keys(&list["data"][0]), ["id", "title", "congress"]);
    let one = SAMPLE.get("/v1/bills/hr:119:1?fields=status").json();
    assert_eq!(keys(&one["data"]), ["id", "status"]);
    let rows = SAMPLE.get("/v1/bills/hr:119:1/actions?fields=date&limit=1").json();
    assert_eq!(keys(&rows["data"][0]), ["date"]);
}

#[test]
fn csv_and_ndjson_hold_the_same_records() {
    let json = SAMPLE.get("/v1/bills?limit=10&fields=title,congress,subjects").json();
    let records = json["data"].as_array().unwrap();

    let ndjson = SAMPLE.get("/v1/bills?limit=10&fields=title,congress,subjects&format=ndjson");
    assert_eq!(ndjson.header("content-type"), "application/x-ndjson");
    let lines: Vec<Value> =
        ndjson.text().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(&lines, records);

    let csv = SAMPLE.get("/v1/bills?limit=10&fields=title,congress,subjects&format=csv");
    assert!(csv.header("content-type").starts_with("text/csv"));
    let text = csv.text();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.headers().unwrap(), vec!["id", "title", "congress", "subjects"]);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), records.len());
    for (row, record) in rows.iter().zip(records) {
        assert_eq!(&row[1], record["title"].as_str().unwrap());
        assert_eq!(row[2], record["congress"].to_string());
    }
    // The next page and the total are in headers, for those who have no envelope.
    assert_eq!(csv.header("x-total-count"), json["total"].to_string());
    let link = csv.header("link");
    let next = link.trim_start_matches('<').split('>').next().unwrap();
    assert_eq!(SAMPLE.get(next).status, 200, "{link}");
}

#[test]
fn every_sub_resource_has_something_to_show_and_pages_like_a_list() {
    for source in SAMPLE.sources() {
        let key = key(&source);
        let described = SAMPLE.get(&format!("/v1/sources/{key}")).json()["data"].clone();
        let records = SAMPLE.all(&format!("/v1/{key}?fields=id"), 100);
        for sub in described["sub_resources"].as_array().unwrap() {
            let name = sub["name"].as_str().unwrap();
            let largest = records
                .iter()
                .map(|r| format!("/v1/{key}/{}/{name}", segment(r["id"].as_str().unwrap())))
                .map(|path| {
                    (SAMPLE.get(&format!("{path}?limit=1")).json()["total"].as_u64().unwrap(), path)
                })
                .max()
                .unwrap();
            assert!(largest.0 > 0, "{key}/{name} is empty for every record of the sample");
            assert_eq!(SAMPLE.all(&largest.1, 3).len() as u64, largest.0);
        }
    }
}

#[test]
fn a_bill_shows_all_that_hangs_on_it() {
    for sub in [
        "cosponsors",
        "actions",
        "body",
        "toc",
        "summaries",
        "subjects",
        "committees",
        "amendments",
        "votes",
        "reports",
        "hearings",
        "related",
        "crs",
        "cbo",
        "saps",
    ] {
        assert_eq!(SAMPLE.get(&format!("/v1/bills/hr:119:1/{sub}")).status, 200, "{sub}");
    }
    let votes = SAMPLE.get("/v1/bills/hr:119:1/votes").json();
    assert!(votes["data"].as_array().unwrap().iter().all(|v| v["bill_id"] == "hr:119:1"));
    let law = SAMPLE.get("/v1/public-laws/pl:119:21/bill").json();
    assert_eq!(law["data"][0]["id"], "hr:119:1");
}

#[test]
fn a_body_is_the_current_version_unless_another_is_named() {
    let bills = SAMPLE.all("/v1/bills?fields=text_versions", 100);
    let two = bills
        .iter()
        .find(|b| b["text_versions"].as_array().is_some_and(|v| v.len() > 1))
        .expect("a bill with two texts");
    let (id, versions) = (two["id"].as_str().unwrap(), two["text_versions"].as_array().unwrap());
    let read = |query: &str| SAMPLE.all(&format!("/v1/bills/{id}/body{query}"), 50);
    let current = read("");
    assert!(
        !current.is_empty()
            && current
                .iter()
                .all(|s| &s["version"] == versions.last().unwrap() && s["current"] == true)
    );
    let first = read(&format!("?version={}", versions[0].as_str().unwrap()));
    assert!(
        !first.is_empty()
            && first.iter().all(|s| s["version"] == versions[0] && s["current"] == false)
    );
    let label = current
        .iter()
        .find_map(|s| s["section"].as_str().filter(|l| !l.is_empty()))
        .expect("a section label");
    assert!(read(&format!("?section={label}")).iter().all(|s| s["section"] == label));
    let toc = SAMPLE.all(&format!("/v1/bills/{id}/toc"), 50);
    assert_eq!(toc.len(), current.len());
    assert!(toc.iter().all(|s| s.get("text").is_none() && s["heading"].is_string()));
}

#[test]
fn votes_and_members_take_a_congress() {
    let member = SAMPLE.get("/v1/legislators?current=true&limit=1").json()["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_string();
    let all = SAMPLE.get(&format!("/v1/legislators/{member}/votes?congress=119")).json()["total"]
        .as_u64()
        .unwrap();
    assert!(all > 0);
    let none = SAMPLE.get(&format!("/v1/legislators/{member}/votes?congress=100")).json();
    assert_eq!(none["total"], 0);
    assert_eq!(none["meta"]["empty"]["filters"][0]["matches_alone"], 0);
    assert!(
        SAMPLE.get("/v1/committees/HSWM/members?congress=119").json()["total"].as_u64().unwrap()
            > 0
    );
}

#[test]
fn an_empty_list_says_why() {
    let empty = SAMPLE.get("/v1/bills?congress=119&introduced_date.lt=2024-01-01").json();
    assert_eq!((&empty["total"], &empty["data"]), (&0.into(), &Value::Array(vec![])));
    let filters = empty["meta"]["empty"]["filters"].as_array().unwrap();
    assert!(filters.iter().all(|f| f["matches_alone"].as_u64().unwrap() > 0), "{filters:?}");
    assert!(empty["meta"]["empty"]["source"]["from"].is_string());
}

#[test]
fn links_that_lead_outside_the_bundle_are_said_to() {
    let all: BTreeSet<String> = SAMPLE
        .sources()
        .iter()
        .flat_map(|s| ids(&SAMPLE.all(&format!("/v1/{}?fields=id", key(s)), 100)))
        .collect();
    let mut outside = 0;
    for source in SAMPLE.sources() {
        for record in SAMPLE.all(&format!("/v1/{}", key(&source)), 100) {
            for link in record["outside_bundle"].as_array().unwrap() {
                outside += 1;
                assert!(!all.contains(link.as_str().unwrap()), "{link} is in the bundle");
            }
        }
    }
    assert!(outside > 0, "the sample has such links");
}
