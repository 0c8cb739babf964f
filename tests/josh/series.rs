//! Section 16: time series in the bundle, over REST and as a tool.

use serde_json::{Value, json};

use crate::mcp::structured;
use crate::support::SAMPLE;

const DEBT: &str = "/v1/statistical-series/ust:debt_to_penny:tot_pub_debt_out_amt";

fn data(path: &str) -> Vec<Value> {
    SAMPLE.get(path).json()["data"].as_array().expect(path).clone()
}

/// Given the Treasury's values, when a series is read, then they are as published to the cent,
/// newest first, and the record says how far they go.
#[test]
fn values_are_as_published() {
    let record = SAMPLE.get(DEBT).json();
    assert_eq!(record["data"]["last_value"], "32518395816772.17");
    assert_eq!(record["data"]["last_period"], "2023-07-12");
    assert_eq!(record["data"]["observation_count"], 4);
    assert!(record["citation"]["source"].as_str().unwrap().contains("Treasury"));
    let rows = data(&format!("{DEBT}/observations"));
    let values: Vec<&str> = rows.iter().map(|row| row["value"].as_str().unwrap()).collect();
    assert_eq!(
        values,
        ["32518395816772.17", "32538466818074.23", "32481106332188.70", "8122710788511.92"]
    );
    assert_eq!(rows[2]["number"], json!(32481106332188.7));
}

/// Given observations, when a list of them is narrowed by day, by value or with a cursor, then it
/// holds what it should.
#[test]
fn observations_are_filtered_sorted_and_paged() {
    let path = format!("{DEBT}/observations");
    assert_eq!(data(&format!("{path}?since=2023-07-11")).len(), 2);
    assert_eq!(data(&format!("{path}?number.gte=32518395816772.17")).len(), 2);
    let sorted = data(&format!("{path}?sort=number&fields=value"));
    assert_eq!(sorted[0], json!({ "value": "8122710788511.92" }));
    let mut seen = 0;
    let mut next = format!("{path}?sort=-number&limit=3");
    loop {
        let page = SAMPLE.get(&next).json();
        seen += page["data"].as_array().unwrap().len();
        match page["next_cursor"].as_str() {
            Some(cursor) => next = format!("{path}?sort=-number&limit=3&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen, 4);
    for bad in ["number=many", "number.gte=inf", "value.gte=5"] {
        assert_eq!(SAMPLE.get(&format!("{path}?{bad}")).status, 400, "{bad}");
    }
}

/// Given a series, when it is asked for by interval, then each interval has the last value, or the
/// statistic that was asked for, and an interval without a value is not there.
#[test]
fn values_are_aggregated_over_time() {
    let buckets = |query: &str| {
        let answer = SAMPLE.get(&format!("{DEBT}/observations?{query}")).json();
        let buckets = answer["buckets"].as_array().expect(query).clone();
        buckets.into_iter().map(|b| (b["label"].clone(), b["value"].clone())).collect::<Vec<_>>()
    };
    let month = |label: &str, value: f64| (json!(label), json!(value));
    assert_eq!(
        buckets("time_interval=month"),
        [month("2005-12", 8122710788511.92), month("2023-07", 32518395816772.17)]
    );
    for (statistic, value) in
        [("first", 32481106332188.7), ("min", 32481106332188.7), ("max", 32538466818074.23)]
    {
        let query = format!("time_interval=year&aggregate={statistic}&since=2023");
        assert_eq!(buckets(&query), [month("2023", value)], "{statistic}");
    }
    // (32481106332188.70 + 32538466818074.23 + 32518395816772.17) / 3
    let mean = buckets("time_interval=quarter&aggregate=mean&since=2023")[0].1.as_f64().unwrap();
    assert!((mean - 32512656322345.03).abs() < 0.01, "{mean}");
    let one = SAMPLE.get(&format!("{DEBT}/observations?aggregate=last")).json();
    assert_eq!(one["value"], json!(32518395816772.17));
    let none = SAMPLE.get(&format!("{DEBT}/observations?aggregate=last&since=2024")).json();
    assert!(none["value"].is_null(), "{none}");
    for (bad, field) in [
        ("aggregate=median", "aggregate"),
        ("time_interval=decade", "time_interval"),
        ("aggregate=mean&group_by=value", "group_by"),
    ] {
        let error = SAMPLE.get(&format!("{DEBT}/observations?{bad}"));
        assert_eq!((error.status, &error.json()["error"]["field"]), (400, &json!(field)), "{bad}");
    }
    let other = SAMPLE.get("/v1/bills/hr:119:1/actions?aggregate=count");
    assert_eq!(other.status, 400);
    let csv = SAMPLE.get(&format!("{DEBT}/observations?time_interval=month&format=csv"));
    assert!(csv.text().contains("2023-07-01,2023-07,32518395816772.17"), "{}", csv.text());
}

/// Given a name, when a series is asked for by it, then it is found; its rates are all there.
#[test]
fn series_are_found_by_name() {
    let found = SAMPLE.get("/v1/statistical-series?q=average+interest+rate+treasury+bills").json();
    let first = &found["data"][0];
    assert_eq!(first["id"], "ust:avg_interest_rates:treasury_bills", "{found}");
    let rates = data("/v1/statistical-series?database=avg_interest_rates&limit=100");
    assert_eq!(rates.len(), 16);
    let points: i64 = rates.iter().map(|r| r["observation_count"].as_i64().unwrap()).sum();
    assert_eq!(points, 100);
}

/// The same through the tool: the newest values, or one for each interval.
#[test]
fn the_tool_gives_values_and_intervals() {
    let series = "ust:debt_to_penny:tot_pub_debt_out_amt";
    let newest = structured(&SAMPLE, "get_series", json!({ "series_id": series, "limit": 1 }));
    assert_eq!(newest["data"][0]["value"], "32518395816772.17");
    assert!(newest["next_cursor"].is_string());
    let by_month = json!({ "series_id": "federal debt", "interval": "month", "since": "2020" });
    let months = structured(&SAMPLE, "get_series", by_month);
    assert_eq!(months["buckets"][0]["value"], json!(32518395816772.17));
    assert_eq!(months["meta"]["resolved"]["id"], series);
}
