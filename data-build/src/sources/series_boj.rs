//! Answers of the Bank of Japan's API in JSON: values of series (getDataCode, getDataLayer) and
//! the list of a database (getMetadata), whose rows are series and the headings above them. The
//! largest list has 99 MB; it is read row by row.

use std::collections::BTreeMap;
use std::io::BufReader;

use anyhow::Result;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::statistical_series::{observe, series};
use crate::formats::dates::checked;
use crate::formats::json::{LongList, read_long_list, str_at};
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const PUBLISHER: &str = "Bank of Japan";
const OK: i64 = 200;

/// Members of a row, and the fields that they fill.
const TEXTS: &[(&str, &str)] = &[
    ("UNIT", "unit"),
    ("CATEGORY", "category"),
    ("NOTES", "notes"),
    ("NAME_OF_TIME_SERIES_J", "name_ja"),
    ("UNIT_J", "unit_ja"),
    ("CATEGORY_J", "category_ja"),
    ("NOTES_J", "notes_ja"),
];

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let (database, headings) = (String::new(), Vec::new());
    let mut answer = Answer { out, database, status: OK, position: 0, headings };
    read_long_list(BufReader::new(input.open()?), "RESULTSET", &mut answer)?;
    match answer.status {
        OK => Ok(Outcome::Read),
        status => Err(anyhow::anyhow!("the Bank's answer is an error, status {status}")),
    }
}

struct Answer<'a> {
    out: &'a mut dyn Sink,
    database: String,
    status: i64,
    position: i64,
    /// Those above the next row.
    headings: Vec<Heading>,
}

struct Heading {
    layers: [i64; 5],
    row: Value,
}

/// A row of either list. Numbers stay as they are written.
#[derive(Deserialize)]
struct Row(BTreeMap<String, Box<RawValue>>);

#[derive(Deserialize)]
struct Values {
    #[serde(rename = "SURVEY_DATES")]
    periods: Vec<Value>,
    #[serde(rename = "VALUES")]
    values: Vec<Box<RawValue>>,
}

impl Row {
    /// A string or a number as text; empty where there is none.
    fn text(&self, name: &str) -> String {
        let value = self.0.get(name).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        value.map_or_else(String::new, |value| str_at(&value, &[]))
    }

    fn layers(&self) -> Option<[i64; 5]> {
        self.0.contains_key("LAYER1").then(|| {
            std::array::from_fn(|n| self.text(&format!("LAYER{}", n + 1)).parse().unwrap_or(0))
        })
    }
}

impl LongList<Row> for Answer<'_> {
    fn member(&mut self, name: &str, value: Value) {
        match name {
            "STATUS" => self.status = value.as_i64().unwrap_or(OK),
            "DB" => self.database = str_at(&value, &[]),
            "PARAMETER" => self.database = str_at(&value, &["DB"]),
            _ => {}
        }
    }

    fn item(&mut self, row: Row) {
        self.position += 1;
        match self.read(&row) {
            Ok(Some(record)) => self.out.record(record),
            Ok(None) => {}
            Err(reason) => self.out.reject(&format!("row {}", self.position), &reason),
        }
    }
}

impl Answer<'_> {
    /// The series of a row; nothing for a heading.
    fn read(&mut self, row: &Row) -> Result<Option<Record>, String> {
        let layers = row.layers();
        if let Some(layers) = layers {
            self.headings.retain(|heading| is_above(&heading.layers, &layers));
        }
        let code = row.text("SERIES_CODE");
        if let (true, Some(layers)) = (code.is_empty(), layers) {
            let name = row.text("NAME_OF_TIME_SERIES");
            let name_ja = row.text("NAME_OF_TIME_SERIES_J");
            let written = written(&layers);
            let row = json!({ "name": name, "name_ja": name_ja, "layers": written,
                              "position": self.position });
            self.headings.push(Heading { layers, row });
            return Ok(None);
        }
        // The list of a database says everything but the values, which come in other files.
        let rank = if layers.is_some() { Rank::Full } else { Rank::Partial };
        let id = format!("boj:{}:{code}", self.database);
        let mut record = series(&id, rank).ok_or_else(|| format!("{id:?} can't be an id"))?;
        let name = Some(row.text("NAME_OF_TIME_SERIES")).filter(|name| !name.is_empty());
        let frequency = row.text("FREQUENCY").to_ascii_lowercase();
        record
            .set("name", name.unwrap_or_else(|| row.text("NAME_OF_TIME_SERIES_J")))
            .set("publisher", PUBLISHER)
            .set("database", self.database.as_str())
            .set("code", code)
            .set("frequency", frequency.as_str())
            .set("updated", first_day("daily", &row.text("LAST_UPDATE")));
        for (member, field) in TEXTS {
            record.set(field, row.text(member));
        }
        if let Some(layers) = layers {
            record.set("layers", written(&layers)).set("position", self.position);
            for heading in &self.headings {
                record.row("headings", heading.row.clone());
            }
        }
        if let Some(values) = row.0.get("VALUES") {
            let values: Values = serde_json::from_str(values.get()).map_err(|e| e.to_string())?;
            if values.periods.len() != values.values.len() {
                return Err(format!("{id} has not a value for each period"));
            }
            for (period, value) in values.periods.iter().zip(&values.values) {
                let period = str_at(period, &[]);
                let date = first_day(&frequency, &period)
                    .ok_or_else(|| format!("{id}: {period:?} is no period of {frequency:?}"))?;
                observe(&mut record, &period, &date, value.get().trim_matches('"'));
            }
        }
        Ok(Some(record))
    }
}

/// `1,2,0,0,0`.
fn written(layers: &[i64; 5]) -> String {
    layers.map(|layer| layer.to_string()).join(",")
}

/// Whether a row of the second place is below a heading of the first: they agree up to where the
/// heading ends.
fn is_above(heading: &[i64; 5], layers: &[i64; 5]) -> bool {
    let depth = heading.iter().take_while(|layer| **layer != 0).count();
    heading[..depth] == layers[..depth] && layers.get(depth).is_some_and(|layer| *layer != 0)
}

/// The first day of a period: `2025`, `202502` (half-year, quarter or month) or `20250131`. Years
/// that end in March begin in April.
fn first_day(frequency: &str, period: &str) -> Option<String> {
    if !period.is_ascii() || !period.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let year: i64 = period.get(..4)?.parse().ok()?;
    let part = |range| period.get(range).and_then(|text: &str| text.parse::<i64>().ok());
    let (month, day) = match (frequency, period.len()) {
        ("annual", 4) => (1, 1),
        ("annual(mar)", 4) => (4, 1),
        ("semiannual", 6) => (part(4..6)? * 6 - 5, 1),
        ("semiannual(sep)", 6) => (part(4..6)? * 6 - 2, 1),
        ("quarterly", 6) => (part(4..6)? * 3 - 2, 1),
        ("monthly", 6) => (part(4..6)?, 1),
        (_, 8) => (part(4..6)?, part(6..8)?),
        _ => return None,
    };
    checked(year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;
    use crate::sources::statistical_series::read as read_series;

    /// Invented values in the shape that the Bank's manual documents.
    #[test]
    fn values_are_read_as_they_are_written_and_null_is_none() {
        let text = r#"{ "STATUS": 200, "MESSAGEID": "M181000I", "MESSAGE": "Successfully completed",
            "DATE": "2026-02-19T5:38:18.251+09:00",
            "PARAMETER": { "FORMAT": "JSON", "LANG": "EN", "DB": "FM99", "STARTPOSITION": "" },
            "NEXTPOSITION": null,
            "RESULTSET": [ { "SERIES_CODE": "INVENTED@Q", "NAME_OF_TIME_SERIES": "Tea, price",
                "NAME_OF_TIME_SERIES_J": "茶", "UNIT": "Yen", "UNIT_J": "円",
                "FREQUENCY": "QUARTERLY", "CATEGORY": "Tea", "CATEGORY_J": "茶",
                "LAST_UPDATE": 20251002,
                "VALUES": { "SURVEY_DATES": [202401, 202404], "VALUES": [1.10, null] } },
              { "SERIES_CODE": "B", "FREQUENCY": "MONTHLY",
                "VALUES": { "SURVEY_DATES": [202413], "VALUES": [1] } } ] }"#;
        let got = read_text(read_series, "statistical-series/boj.json", text);
        assert_eq!(got.ids(), ["boj:FM99:INVENTED@Q"]);
        assert_eq!(
            (got.field(0, "updated"), got.field(0, "name_ja")),
            (&json!("2025-10-02"), &json!("茶"))
        );
        let rows: Vec<&Value> = got.records[0].rows.iter().map(|(_, row)| &row["date"]).collect();
        assert_eq!(rows, ["2024-01-01", "2024-10-01"]);
        assert_eq!(got.records[0].rows[0].1["value"], "1.10");
        assert!(got.records[0].rows[1].1["value"].is_null());
        assert!(got.rejects[0].contains("202413"), "{:?}", got.rejects);
    }

    #[test]
    fn headings_count_as_rows_and_belong_to_the_series_below_them() {
        let row = |code: &str, name: &str, layers: [i64; 3]| {
            json!({ "SERIES_CODE": code, "NAME_OF_TIME_SERIES": name, "FREQUENCY": "DAILY",
                    "NAME_OF_TIME_SERIES_J": name, "NOTES": "n", "NOTES_J": "n",
                    "LAYER1": layers[0], "LAYER2": layers[1], "LAYER3": layers[2],
                    "LAYER4": 0, "LAYER5": 0, "LAST_UPDATE": "20260219" })
        };
        let rows = [
            row("", "One", [1, 0, 0]),
            row("", "One, first", [1, 1, 0]),
            row("A", "a", [1, 1, 1]),
            row("B", "b", [1, 2, 0]),
            row("", "Two", [2, 0, 0]),
            row("C", "c", [2, 1, 0]),
        ];
        let text =
            json!({ "STATUS": 200, "MESSAGEID": "M181000I", "DB": "FM99", "RESULTSET": rows });
        let got = read_text(read_series, "statistical-series/metadata.json", &text.to_string());
        assert_eq!(got.ids(), ["boj:FM99:A", "boj:FM99:B", "boj:FM99:C"]);
        let above = |n: usize| -> Vec<&Value> {
            got.records[n].rows.iter().map(|(_, row)| &row["name"]).collect()
        };
        assert_eq!(above(0), ["One", "One, first"]);
        assert_eq!((above(1), above(2)), (vec![&json!("One")], vec![&json!("Two")]));
        let place = (got.field(2, "position"), got.field(2, "layers"));
        assert_eq!(place, (&json!(6), &json!("2,1,0,0,0")));
    }

    #[test]
    fn every_frequency_has_its_first_days() {
        for (frequency, period, day) in [
            ("annual", "2024", Some("2024-01-01")),
            ("annual(mar)", "2024", Some("2024-04-01")),
            ("semiannual", "202402", Some("2024-07-01")),
            ("semiannual(sep)", "202402", Some("2024-10-01")),
            ("quarterly", "202404", Some("2024-10-01")),
            ("quarterly", "202405", None),
            ("monthly", "202412", Some("2024-12-01")),
            ("weekly(monday)", "20241230", Some("2024-12-30")),
            ("daily", "20240230", None),
            ("daily", "2024", None),
            ("monthly", "日本", None),
        ] {
            assert_eq!(first_day(frequency, period).as_deref(), day, "{frequency} {period}");
        }
    }

    #[test]
    fn an_error_of_the_bank_is_no_data() {
        let text = r#"{"STATUS":400,"MESSAGEID":"M181005E","MESSAGE":"Invalid database name"}"#;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.json");
        std::fs::write(&path, text).unwrap();
        struct Nothing;
        impl Sink for Nothing {
            fn record(&mut self, record: Record) {
                panic!("{record:?}");
            }
            fn reject(&mut self, _: &str, _: &str) {}
        }
        let error = read_series(&Input::on_disk(path, "s/error.json".into()), &mut Nothing);
        assert!(error.unwrap_err().to_string().contains("400"));
    }
}
