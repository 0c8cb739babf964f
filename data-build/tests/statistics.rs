//! Series of the Bank of Japan from files to answers: a bundle is built from invented values in the
//! documented shapes, and asked by the tools of the reference, from the bundle and over a server
//! that speaks the Bank's API.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, LazyLock};

use josh::api::{Arguments, Context, Given};
use josh::boj::{Live, LiveOptions};
use josh::bundle::Bundle;
use josh::toolsets::Toolsets;
use serde_json::{Value, json};

/// A database of 22 daily series, one with a few quarters, and one long one; headings between.
fn write_files(folder: &Path) {
    let series = |code: &str, frequency: &str, layers: [i64; 2]| {
        json!({
            "SERIES_CODE": code, "NAME_OF_TIME_SERIES": format!("Price of {code}"),
            "NAME_OF_TIME_SERIES_J": format!("{code} の価格"), "UNIT": "Yen", "UNIT_J": "円",
            "FREQUENCY": frequency, "CATEGORY": "Tea", "CATEGORY_J": "茶",
            "LAST_UPDATE": "20260219", "NOTES": "Invented", "NOTES_J": "架空",
            "LAYER1": layers[0], "LAYER2": layers[1], "LAYER3": 0, "LAYER4": 0, "LAYER5": 0,
            "START_OF_THE_TIME_SERIES": "", "END_OF_THE_TIME_SERIES": "",
        })
    };
    let heading = |layer: i64| {
        let mut row = series("", "", [layer, 0]);
        row["NAME_OF_TIME_SERIES"] = json!(format!("Part {layer}"));
        row["NAME_OF_TIME_SERIES_J"] = json!(format!("第{layer}部"));
        row
    };
    let mut rows = vec![heading(1)];
    rows.extend((1..=22).map(|n| series(&format!("DAY{n:02}"), "DAILY", [1, n])));
    rows.push(heading(2));
    rows.push(series("LONG@D", "DAILY", [2, 1]));
    rows.push(series("QUARTER", "QUARTERLY", [2, 2]));
    let list = json!({ "STATUS": 200, "MESSAGEID": "M181000I", "MESSAGE": "", "DATE": "",
                       "DB": "FM08", "RESULTSET": rows });
    std::fs::write(folder.join("list.json"), list.to_string()).unwrap();
    let days = |count: usize| -> Vec<i64> {
        (0..count)
            .map(|n| {
                let (year, rest) = (1900 + n / 336, n % 336);
                (year * 10_000 + (rest / 28 + 1) * 100 + rest % 28 + 1) as i64
            })
            .collect()
    };
    let values = |count: usize| -> Vec<Value> {
        (0..count).map(|n| if n % 7 == 6 { Value::Null } else { json!(n as f64 / 4.0) }).collect()
    };
    let with_values = |code: &str, frequency: &str, periods: Vec<i64>| {
        let mut row = series(code, frequency, [0, 0]);
        for layer in 1..=5 {
            row.as_object_mut().unwrap().remove(&format!("LAYER{layer}"));
        }
        let count = periods.len();
        row["VALUES"] = json!({ "SURVEY_DATES": periods, "VALUES": values(count) });
        row
    };
    // 22 series of 12,000 values: five of them fill an answer of the Bank.
    let mut rows: Vec<Value> =
        (1..=22).map(|n| with_values(&format!("DAY{n:02}"), "DAILY", days(12_000))).collect();
    rows.push(with_values("LONG@D", "DAILY", days(40_000)));
    rows.push(with_values("QUARTER", "QUARTERLY", vec![202401, 202402, 202403, 202404]));
    let data = json!({ "STATUS": 200, "MESSAGEID": "M181000I", "PARAMETER": { "DB": "FM08" },
                       "NEXTPOSITION": null, "RESULTSET": rows });
    std::fs::write(folder.join("data.json"), data.to_string()).unwrap();
}

static BUNDLE: LazyLock<Arc<Bundle>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap().keep();
    let input = folder.join("in/statistical-series");
    std::fs::create_dir_all(&input).unwrap();
    write_files(&input);
    let out = folder.join("boj.db");
    let built = Command::new(env!("CARGO_BIN_EXE_josh-data-build"))
        .args(["build", "--from"])
        .arg(folder.join("in"))
        .arg("--out")
        .arg(&out)
        .arg("--cache")
        .arg(folder.join("cache"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Arc::new(Bundle::open(&out).unwrap())
});

fn call(context: &Arc<Context>, tool: &str, with: &Value) -> Value {
    let toolsets = Toolsets::read(&["statistics".into()], &[], false).unwrap();
    let mut arguments = Arguments::default();
    arguments.push("{arguments}", Given::One(with.to_string()));
    let outcome = toolsets.run(tool, arguments, context).unwrap();
    Value::Object(outcome.output.to_value().unwrap())
}

fn held(tool: &str, with: Value) -> Value {
    call(&Arc::new(Context::unbounded(BUNDLE.clone())), tool, &with)
}

fn codes(answer: &Value) -> Vec<String> {
    let series = answer["series"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    series.map(|series| series["series_code"].as_str().unwrap().to_string()).collect()
}

/// Given a short window, when series are asked for by code, then they have the values of the
/// window, also the missing ones, in the language that was asked for.
#[test]
fn values_come_from_the_bundle() {
    let got = held(
        "boj_get_data_code",
        json!({ "db": "fm08", "codes": ["QUARTER"], "lang": "en", "start_date": "202402" }),
    );
    assert_eq!(
        (&got["meta"]["message_id"], &got["meta"]["origin"]),
        (&json!("M181000I"), &json!("bundle"))
    );
    let series = &got["series"][0];
    assert_eq!((&series["unit"], &series["unit_j"]), (&json!("Yen"), &Value::Null));
    assert_eq!(
        (&series["frequency"], &series["last_update"]),
        (&json!("QUARTERLY"), &json!("20260219"))
    );
    let points = json!([
        { "survey_date": "202402", "value": "0.25" },
        { "survey_date": "202403", "value": "0.5" },
        { "survey_date": "202404", "value": "0.75" },
    ]);
    assert_eq!((&series["points"], &got["next_position"]), (&points, &Value::Null));
    // A day is asked for by its month; a missing value is there as null.
    let got = held(
        "boj_get_data_code",
        json!({ "db": "FM08", "codes": ["DAY01"], "start_date": "190001", "end_date": "190001" }),
    );
    let points = got["series"][0]["points"].as_array().unwrap();
    assert_eq!((points.len(), &points[6]["value"]), (28, &Value::Null));
    assert_eq!(got["series"][0]["name_of_time_series_j"], "DAY01 の価格");
    let (raw, answer) = {
        let with =
            json!({ "db": "FM08", "codes": ["QUARTER"], "format": "csv", "include_raw": true });
        let answer = held("boj_get_data_code", with);
        (answer["raw"].as_str().unwrap().to_string(), answer)
    };
    let lines = raw.lines().filter(|line| line.starts_with("QUARTER,")).count();
    assert_eq!(lines, answer["series"][0]["points"].as_array().unwrap().len());
}

/// Given what the Bank refuses, when the bundle is asked, then it refuses with the Bank's message.
#[test]
fn the_bundle_refuses_as_the_bank_does() {
    let code = |codes: &[&str], more: Value| {
        let mut with = json!({ "db": "FM08", "codes": codes, "lang": "en" });
        with.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        held("boj_get_data_code", with)
    };
    for (got, id) in [
        (code(&["DAY01", "NONE"], json!({})), "M181013E"),
        (code(&["DAY01", "QUARTER"], json!({})), "M181014E"),
        (code(&["DAY01"], json!({ "start_date": "2024" })), "M181015E"),
        (code(&["DAY01"], json!({ "end_date": "2024" })), "M181016E"),
    ] {
        assert_eq!(
            (&got["error_type"], &got["message_id"]),
            (&json!("API_ERROR"), &json!(id)),
            "{got}"
        );
        assert_eq!((&got["status"], &got["retryable"]), (&json!(400), &json!(false)));
    }
    let second = code(&["DAY01", "NONE"], json!({}));
    assert_eq!(second["message"], "Nonexistent series code：2");
    let none = code(&["QUARTER"], json!({ "start_date": "203001" }));
    assert_eq!(
        (&none["meta"]["message_id"], &none["series_count"]),
        (&json!("M181030I"), &json!(0))
    );
    let other = held("boj_get_metadata", json!({ "db": "IR01" }));
    assert_eq!(other["error_type"], "VALIDATION_ERROR");
    assert!(other["message"].as_str().unwrap().contains("it holds FM08"), "{other}");
}

/// Given 22 series, when pages are followed by next_position, then each series comes once; by
/// layer, positions count the headings.
#[test]
fn pages_hold_every_series_once() {
    let all: Vec<String> = (1..=22).map(|n| format!("DAY{n:02}")).collect();
    for (tool, mut with) in [
        ("boj_get_data_code", json!({ "db": "FM08", "codes": all, "end_date": "190012" })),
        (
            "boj_get_data_layer",
            json!({ "db": "FM08", "frequency": "D", "layers": ["1"], "end_date": "190012" }),
        ),
    ] {
        // The first row of the list is a heading: there, positions are one higher.
        let shift = u64::from(tool == "boj_get_data_layer");
        let mut seen = Vec::new();
        let mut pages = 0;
        loop {
            let got = held(tool, with.clone());
            assert!(got.to_string().len() <= 100_000, "{}", got.to_string().len());
            seen.extend(codes(&got));
            pages += 1;
            let Some(next) = got["next_position"].as_u64() else { break };
            assert_eq!(next, seen.len() as u64 + 1 + shift, "{tool}");
            with["start_position"] = json!(next);
        }
        assert_eq!(seen, all, "{tool}");
        assert!(pages > 2, "{pages}");
    }
}

/// Given a series that is too long for one result, when it is asked for, then the newest values
/// come, the result says so, and following its dates gives all.
#[test]
fn a_long_series_is_cut_loudly_and_can_be_followed() {
    let mut seen: BTreeMap<String, Value> = BTreeMap::new();
    let mut with = json!({ "db": "FM08", "codes": ["LONG@D"] });
    loop {
        let got = held("boj_get_data_code", with.clone());
        assert!(got.to_string().len() <= 100_000);
        for point in got["series"][0]["points"].as_array().unwrap() {
            let day = point["survey_date"].as_str().unwrap().to_string();
            seen.insert(day, point["value"].clone());
        }
        let Some(truncated) = got.get("truncated") else { break };
        assert_eq!(truncated["series_code"], "LONG@D");
        with["end_date"] = truncated["earlier_end_date"].clone();
    }
    assert_eq!(seen.len(), 40_000);
}

/// Given the list of a database, when it is asked for, then it has the headings, can be narrowed,
/// and says which rows are shown.
#[test]
fn the_list_has_headings_and_can_be_narrowed() {
    let got = held("boj_get_metadata", json!({ "db": "FM08", "lang": "en" }));
    let entries = got["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &got["total_entries"]), (26, &json!(26)));
    assert_eq!(
        (&entries[0]["series_code"], &entries[0]["name_of_time_series"]),
        (&Value::Null, &json!("Part 1"))
    );
    assert_eq!(entries[23]["layer1"], "2");
    assert_eq!(entries[24]["start_of_the_time_series"], "19000101");
    let narrowed = held("boj_get_metadata", json!({ "db": "FM08", "contains": "price long" }));
    assert_eq!(narrowed["entries_count"], 1);
    let later =
        held("boj_get_metadata", json!({ "db": "FM08", "layers": ["2"], "start_position": 25 }));
    assert_eq!(later["entries_count"], 2);
}

/// A server that answers as the Bank's API, from the same bundle.
fn bank() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let body = serve(first.split(' ').nth(1).unwrap());
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = connection.write_all(head.as_bytes());
            let _ = connection.write_all(body.as_bytes());
        }
    });
    url
}

fn serve(target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap();
    let mut with = json!({ "include_raw": true });
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        let list = || -> Vec<&str> { value.split(',').collect() };
        match name {
            "code" => with["codes"] = json!(list()),
            "layer" => with["layers"] = json!(list()),
            "startDate" => with["start_date"] = json!(value),
            "endDate" => with["end_date"] = json!(value),
            "startPosition" => with["start_position"] = json!(value.parse::<u64>().unwrap()),
            other => with[other] = json!(value),
        }
    }
    let tool = match path {
        "/api/v1/getDataCode" => "boj_get_data_code",
        "/api/v1/getDataLayer" => "boj_get_data_layer",
        "/api/v1/getMetadata" => "boj_get_metadata",
        other => panic!("{other}"),
    };
    let answer = held(tool, with);
    match answer.get("raw") {
        Some(raw) => raw.as_str().unwrap().to_string(),
        None => json!({ "STATUS": answer["status"], "MESSAGEID": answer["message_id"],
                        "MESSAGE": answer["message"] })
        .to_string(),
    }
}

/// Given the same questions, when the bundle is asked and a server with the same bundle, in both
/// formats and languages, then the answers are equal but for where they come from.
#[test]
fn the_bundle_and_the_bank_give_equal_answers() {
    let mut context = Context::unbounded(BUNDLE.clone());
    let options = LiveOptions::new(&bank()).unwrap();
    context.boj = Some(Arc::new(Live::new(options)));
    let live = Arc::new(context);
    let questions = [
        ("boj_get_data_code", json!({ "codes": ["QUARTER"] })),
        ("boj_get_data_code", json!({ "codes": ["quarter"], "start_date": "202403" })),
        ("boj_get_data_code", json!({ "codes": ["DAY01", "DAY02"], "end_date": "190002" })),
        (
            "boj_get_data_code",
            json!({ "codes": ["DAY01", "DAY02"], "end_date": "190001", "start_position": 2 }),
        ),
        ("boj_get_data_code", json!({ "codes": ["NONE"] })),
        ("boj_get_data_code", json!({ "codes": ["DAY01", "QUARTER"] })),
        ("boj_get_data_code", json!({ "codes": ["QUARTER"], "start_date": "203001" })),
        ("boj_get_data_layer", json!({ "frequency": "Q", "layers": ["*"] })),
        (
            "boj_get_data_layer",
            json!({ "frequency": "D", "layers": ["1", "*"], "end_date": "190001" }),
        ),
        ("boj_get_metadata", json!({})),
    ];
    let mut compared = 0;
    for (tool, question) in questions {
        for (format, lang) in [("json", "jp"), ("json", "en"), ("csv", "jp"), ("csv", "en")] {
            let mut with = question.clone();
            with["db"] = json!("FM08");
            with["format"] = json!(format);
            with["lang"] = json!(lang);
            let (mut ours, mut theirs) = (held(tool, with.clone()), call(&live, tool, &with));
            for answer in [&mut ours, &mut theirs] {
                if let Some(meta) = answer.get_mut("meta").and_then(Value::as_object_mut) {
                    for name in ["origin", "as_of", "date"] {
                        meta.remove(name);
                    }
                }
            }
            assert_eq!(ours, theirs, "{tool} {with}");
            compared += 1;
        }
    }
    assert_eq!(compared, 40);
}
