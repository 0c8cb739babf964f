//! Section 7: counts and sums equal those made by hand over the same records.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{SAMPLE, Server, segment};

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    fn one<'a>(&mut self, from: &'a [String]) -> Option<&'a String> {
        if from.is_empty() { None } else { Some(&from[self.below(from.len())]) }
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The groups that a record falls into.
fn keys(record: &Value, field: &str) -> Vec<Option<String>> {
    match &record[field] {
        Value::Array(items) if !items.is_empty() => {
            let mut all: Vec<_> = items.iter().map(text).collect();
            all.sort();
            all.dedup();
            all
        }
        Value::Array(_) => vec![None],
        one => vec![text(one)],
    }
}

fn plan(source: &str, kind: &str) -> Vec<String> {
    let described = SAMPLE.get(&format!("/v1/sources/{source}")).json();
    let names = described["data"]["aggregation"][kind].as_array().unwrap().iter();
    names.map(|n| n.as_str().unwrap().to_string()).collect()
}

/// Given random plans and filters, when the numbers are asked for, then they are those of the
/// records, added up by hand.
#[test]
fn numbers_equal_those_made_by_hand() {
    let mut random = Random(4);
    let mut compared = 0;
    for source in SAMPLE.sources() {
        let source = source["key"].as_str().unwrap();
        let (groups, sums) = (plan(source, "group_by"), plan(source, "sum"));
        for _ in 0..8 {
            let all = SAMPLE.all(&format!("/v1/{source}"), 100);
            let mut filter = String::new();
            if let Some(field) = random.one(&groups) {
                let some = &all[random.below(all.len())];
                if let Some(Some(value)) = keys(some, field).first()
                    && random.below(2) == 0
                    && !value.contains([',', '"'])
                {
                    filter = format!("&{field}={}", segment(value));
                }
            }
            let records =
                SAMPLE.all(&format!("/v1/{source}?{}", filter.trim_start_matches('&')), 100);
            let measure = random.one(&sums).filter(|_| filter.len().is_multiple_of(2)).cloned();
            let value = |record: &Value| {
                measure.as_ref().map_or(1, |field| record[field].as_i64().unwrap_or(0))
            };
            let asked = measure
                .as_ref()
                .map_or("aggregate=count".into(), |f| format!("aggregate=sum&sum_field={f}"));
            let scalar = SAMPLE.get(&format!("/v1/{source}?{asked}{filter}")).json();
            assert_eq!(
                scalar["value"],
                records.iter().map(value).sum::<i64>(),
                "{source} {asked}{filter}"
            );
            assert_eq!(scalar["query_cost"]["rows"], records.len());

            let Some(first) = random.one(&groups) else { continue };
            let second = random.one(&groups).filter(|s| *s != first && random.0.is_multiple_of(3));
            let mut expected: BTreeMap<Vec<Option<String>>, i64> = BTreeMap::new();
            for record in &records {
                for a in keys(record, first) {
                    for b in second.map_or(vec![None], |second| keys(record, second)) {
                        let key =
                            if second.is_some() { vec![a.clone(), b] } else { vec![a.clone()] };
                        *expected.entry(key).or_default() += value(record);
                    }
                }
            }
            let by = second.map_or(first.clone(), |second| format!("{first},{second}"));
            let url = format!("/v1/{source}?{asked}&group_by={by}&limit=100{filter}");
            let answer = SAMPLE.get(&url).json();
            let buckets = answer["buckets"].as_array().unwrap_or_else(|| panic!("{url}: {answer}"));
            assert_eq!(answer["total_buckets"], expected.len(), "{url}");
            for bucket in buckets {
                let key = match &bucket["key"] {
                    Value::Array(parts) => parts.iter().map(text).collect(),
                    one => vec![text(one)],
                };
                assert_eq!(
                    Some(bucket["value"].as_i64().unwrap()),
                    expected.get(&key).copied(),
                    "{url} {key:?}"
                );
            }
            let shown: i64 = buckets.iter().map(|b| b["value"].as_i64().unwrap()).sum();
            let other = answer["other"]["value"].as_i64().unwrap_or(0);
            assert_eq!(shown + other, expected.values().sum::<i64>(), "{url}");
            assert!(
                buckets
                    .windows(2)
                    .all(|pair| pair[0]["value"].as_i64() >= pair[1]["value"].as_i64()),
                "{url}"
            );
            compared += buckets.len();
        }
    }
    assert!(compared > 300, "{compared} buckets");
}

#[test]
fn the_largest_come_first_and_the_rest_is_said() {
    let all = SAMPLE.get("/v1/bills?aggregate=count&group_by=policy_area&limit=100").json();
    let top = SAMPLE.get("/v1/bills?aggregate=count&group_by=policy_area&limit=3").json();
    assert_eq!(top["buckets"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&top["buckets"], &top["total_buckets"]),
        (&json!(all["buckets"].as_array().unwrap()[..3]), &all["total_buckets"])
    );
    let sum = |answer: &Value| {
        answer["buckets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|b| b["value"].as_i64().unwrap())
            .sum::<i64>()
    };
    assert_eq!(top["other"]["value"], sum(&all) - sum(&top));
    assert!(all.get("other").is_none());
}

#[test]
fn ids_come_with_names() {
    let answer = SAMPLE.get("/v1/bills?aggregate=count&group_by=sponsor&limit=50").json();
    let bucket = answer["buckets"]
        .as_array()
        .unwrap()
        .iter()
        .find(|b| b["key"] == "A000375")
        .unwrap()
        .clone();
    assert!(bucket["label"].as_str().unwrap().contains("Arrington"), "{bucket}");
}

/// Given dates with gaps, when bucketed by time, then every interval from the first to the last is
/// there, in order.
#[test]
fn time_buckets_are_in_order_with_gaps_filled() {
    let records = SAMPLE.all("/v1/bills?congress=118,119", 100);
    for (interval, length) in [("year", 4), ("month", 7), ("day", 10)] {
        let url = format!(
            "/v1/bills?bucket_by_time=introduced_date&time_interval={interval}&congress=118,119"
        );
        let answer = SAMPLE.get(&url).json();
        let buckets = answer["buckets"].as_array().unwrap();
        let days: Vec<&str> = buckets.iter().map(|b| b["key"].as_str().unwrap()).collect();
        assert!(days.windows(2).all(|pair| pair[0] < pair[1]), "{interval}");
        let mut expected: BTreeMap<&str, i64> = BTreeMap::new();
        for record in &records {
            if let Some(day) = record["introduced_date"].as_str() {
                *expected.entry(&day[..length]).or_default() += 1;
            }
        }
        for bucket in buckets {
            let key = &bucket["key"].as_str().unwrap()[..length];
            assert_eq!(
                bucket["value"],
                expected.get(key).copied().unwrap_or(0),
                "{interval} {key}"
            );
        }
        assert_eq!(buckets.iter().filter(|b| b["value"] != 0).count(), expected.len());
        assert!(
            interval == "year" || buckets.iter().any(|b| b["value"] == 0),
            "{interval}: gaps are filled"
        );
        assert_eq!(answer["total_buckets"], buckets.len());
    }
    let quarters = SAMPLE
        .get("/v1/bills?bucket_by_time=introduced_date&time_interval=quarter&since=2025")
        .json();
    assert_eq!(
        (&quarters["buckets"][0]["key"], &quarters["buckets"][0]["label"]),
        (&"2025-01-01".into(), &"2025 Q1".into())
    );
}

#[test]
fn a_series_has_every_interval_for_every_group() {
    let answer = SAMPLE
        .get(
            "/v1/bills?bucket_by_time=introduced_date&time_interval=month&group_by=chamber\
             &since=2025",
        )
        .json();
    let buckets = answer["buckets"].as_array().unwrap();
    assert_eq!(buckets.len() % 2, 0);
    for pair in buckets.chunks(2) {
        assert_eq!(pair[0]["key"][0], pair[1]["key"][0]);
        assert_ne!(pair[0]["key"][1], pair[1]["key"][1]);
    }
    let total: i64 = buckets.iter().map(|b| b["value"].as_i64().unwrap()).sum();
    assert_eq!(SAMPLE.get("/v1/bills?aggregate=count&since=2025").json()["value"], total);
}

#[test]
fn words_narrow_to_records_that_have_them_all() {
    let value = |query: &str| {
        SAMPLE.get(&format!("/v1/bills?aggregate=count&{query}")).json()["value"].as_i64().unwrap()
    };
    let (fentanyl, both) = (value("q=fentanyl"), value("q=fentanyl+tax"));
    assert!(fentanyl >= 2 && both <= fentanyl && fentanyl < value("congress=118,119"));
    assert_eq!(value("q=xyzzyplugh"), 0);
    let months = SAMPLE.get("/v1/bills?bucket_by_time=introduced_date&q=fentanyl").json();
    let total: i64 =
        months["buckets"].as_array().unwrap().iter().map(|b| b["value"].as_i64().unwrap()).sum();
    assert_eq!(total, fentanyl);
}

#[test]
fn tables_hold_the_same_buckets() {
    let url = "/v1/lda-filings?aggregate=sum&sum_field=amount&group_by=registrant";
    let json = SAMPLE.get(url).json();
    let csv = SAMPLE.get(&format!("{url}&format=csv"));
    assert!(csv.header("content-type").starts_with("text/csv"));
    let text = csv.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        (lines[0], lines.len() - 1),
        ("key,label,value", json["buckets"].as_array().unwrap().len())
    );
    let ndjson = SAMPLE.get(&format!("{url}&format=ndjson")).text();
    let rows: Vec<Value> = ndjson.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(Value::from(rows), json["buckets"]);
}

/// Given small limits, when a question is over them, then it is refused before it runs, or
/// stopped, with fields that would narrow it.
#[test]
fn a_question_over_budget_is_refused_and_one_over_time_is_stopped() {
    let few = Server::start(&["--aggregate-rows", "10"]);
    let refused = few.get("/v1/bills?aggregate=count&group_by=status");
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (422, "aggregate_too_broad"),
        "{}",
        refused.text()
    );
    let narrowing = refused.json()["error"]["hint"]["suggest_narrowing"].clone();
    assert!(narrowing.as_array().unwrap().contains(&"introduced_date".into()), "{narrowing}");
    assert_eq!(few.get("/v1/bills?aggregate=count&group_by=status&id=hr:119:1").status, 200);
    let short = Server::start(&["--aggregate-ms", "0"]);
    let stopped = short.get("/v1/roll-call-votes?aggregate=count&group_by=question,result");
    assert_eq!(
        (stopped.status, stopped.code().as_str()),
        (504, "aggregate_timeout"),
        "{}",
        stopped.text()
    );
    assert!(!stopped.json()["error"]["hint"]["suggest_narrowing"].as_array().unwrap().is_empty());
}
