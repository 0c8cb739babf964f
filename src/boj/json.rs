//! The API's JSON, read and written. Values keep the digits with which they were written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Failure, FailureKind, Point, Row};
use super::question::{Endpoint, Lang, Question};

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct Body {
    status: Value,
    #[serde(default)]
    messageid: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    date: Value,
    #[serde(default)]
    parameter: BTreeMap<String, Value>,
    #[serde(default)]
    db: Option<String>,
    #[serde(default)]
    nextposition: Value,
    #[serde(default)]
    resultset: Vec<BTreeMap<String, Box<RawValue>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct Values {
    survey_dates: Vec<Value>,
    values: Vec<Box<RawValue>>,
}

pub fn read(text: &str) -> Result<Answer, Failure> {
    let undecodable =
        |why: String| Failure::new(FailureKind::Decode, format!("The answer can't be read: {why}"));
    // Without this a list would do: serde fills a struct from one by position.
    if !text.trim_start().starts_with('{') {
        return Err(undecodable("it is no JSON object".into()));
    }
    let body: Body = serde_json::from_str(text).map_err(|e| undecodable(e.to_string()))?;
    let status = plain(&body.status).parse::<i64>();
    let rows = body.resultset.iter().map(read_row).collect::<Result<Vec<_>, _>>();
    Ok(Answer {
        status: status.map_err(|_| undecodable("STATUS is no number".into()))?,
        message_id: body.messageid,
        message: body.message,
        date: Some(plain(&body.date)).filter(|date| !date.is_empty()),
        parameter: body.parameter.iter().map(|(name, v)| (name.clone(), plain(v))).collect(),
        db: body.db,
        next_position: plain(&body.nextposition).parse().ok(),
        rows: rows.map_err(|e| undecodable(e.to_string()))?,
    })
}

fn read_row(members: &BTreeMap<String, Box<RawValue>>) -> serde_json::Result<Row> {
    let mut row = Row::default();
    for (name, raw) in members {
        if name == "VALUES" {
            let values: Values = serde_json::from_str(raw.get())?;
            if values.survey_dates.len() != values.values.len() {
                let (periods, values) = (values.survey_dates.len(), values.values.len());
                let why = format!("a series has {periods} periods and {values} values");
                return Err(serde::de::Error::custom(why));
            }
            let pairs = values.survey_dates.iter().zip(&values.values);
            row.points = pairs.map(|(period, value)| point(&plain(period), value)).collect();
        } else {
            row.set(name, &plain(&serde_json::from_str(raw.get())?));
        }
    }
    Ok(row)
}

fn point(period: &str, value: &RawValue) -> Point {
    let value = Some(value.get().trim_matches('"')).filter(|v| !["null", ""].contains(v));
    Point { period: period.to_string(), value: value.map(str::to_string) }
}

/// A string or a number as text; a wildcard is echoed as a string where layers are numbers.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub fn write(answer: &Answer, question: &Question) -> String {
    let mut body = Map::new();
    body.insert("STATUS".into(), json!(answer.status));
    body.insert("MESSAGEID".into(), json!(answer.message_id));
    body.insert("MESSAGE".into(), json!(answer.message));
    body.insert("DATE".into(), json!(answer.date));
    if answer.status != 200 {
        return Value::Object(body).to_string();
    }
    match question.endpoint {
        Endpoint::Metadata => body.insert("DB".into(), json!(answer.db)),
        _ => {
            body.insert("PARAMETER".into(), json!(answer.parameter));
            body.insert("NEXTPOSITION".into(), json!(answer.next_position))
        }
    };
    let is_list = question.endpoint == Endpoint::Metadata;
    let rows: Vec<String> =
        answer.rows.iter().map(|row| write_row(row, is_list, question.lang)).collect();
    // Values are written as they are: a number that passed through a float could lose digits.
    let head = Value::Object(body).to_string();
    format!("{},\"RESULTSET\":[{}]}}", head.trim_end_matches('}'), rows.join(","))
}

fn write_row(row: &Row, is_list: bool, lang: Lang) -> String {
    let is_shown = |name: &str| lang == Lang::Jp || !name.ends_with("_J");
    let mut members = Map::new();
    for (name, text) in row.members.iter().filter(|(name, _)| is_shown(name)) {
        let is_number = name.starts_with("LAYER") || (name == "LAST_UPDATE" && !is_list);
        let number = text.parse::<i64>().ok().filter(|_| is_number);
        members.insert(name.clone(), number.map_or_else(|| json!(text), |number| json!(number)));
    }
    if is_list {
        members.entry("SERIES_CODE").or_insert_with(|| json!(""));
        return Value::Object(members).to_string();
    }
    let periods: Vec<&str> = row.points.iter().map(|point| point.period.as_str()).collect();
    let is_number = |text: &&str| serde_json::from_str::<serde_json::Number>(text).is_ok();
    let values: Vec<String> = row
        .points
        .iter()
        .map(|point| match point.value.as_deref() {
            None => "null".to_string(),
            Some(text) if is_number(&text) => text.to_string(),
            Some(text) => json!(text).to_string(),
        })
        .collect();
    let members = Value::Object(members).to_string();
    format!(
        "{},\"VALUES\":{{\"SURVEY_DATES\":[{}],\"VALUES\":[{}]}}}}",
        members.trim_end_matches('}'),
        periods.join(","),
        values.join(",")
    )
}
