//! Results of the tools, as the reference names them, never larger than an agent can take in: whole
//! series are left out first, then the oldest values of a single one, and the result says so.

use std::io;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::supplier::{Origin, Supplied};
use crate::api::outcome::MOST_RESULT_BYTES;
use crate::boj::answer::{ENTRY_MEMBERS, Point, SERIES_MEMBERS};
use crate::boj::{Answer, Endpoint, Failure, FailureKind, Question, Row, encode};

/// Room for what surrounds the series.
const ENVELOPE_BYTES: usize = 4_000;

/// Codes that a result names of the series that it leaves out.
const MOST_NAMED: usize = 50;

/// A failure as the caller is told.
pub fn failure(failure: &Failure) -> Value {
    let mut shown = json!({
        "error_type": failure.name(),
        "message": failure.message,
        "retryable": failure.is_retryable(),
    });
    if let FailureKind::Api { status, message_id } = &failure.kind {
        shown["status"] = json!(status);
        shown["message_id"] = json!(message_id);
    }
    shown
}

/// The values of series, as many as fit.
pub struct Data {
    answer: Answer,
    question: Question,
    origin: Origin,
    raw: Option<String>,
    truncated: Option<Value>,
}

impl Data {
    pub fn new(supplied: Supplied, question: Question, include_raw: bool) -> Data {
        let Supplied { mut answer, body, origin } = supplied;
        // Raw text is smaller than what it is decoded to, but not by much.
        let share = if include_raw { 2 } else { 1 };
        let most = (MOST_RESULT_BYTES - ENVELOPE_BYTES) / share;
        let truncated = fit(&mut answer, &question, most);
        let raw = include_raw.then(|| {
            let received = body.filter(|_| truncated.is_none());
            let received = received.and_then(|body| String::from_utf8(body).ok());
            received.unwrap_or_else(|| encode(&answer, &question))
        });
        Data { answer, question, origin, raw, truncated }
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            meta: Value,
            parameter: Value,
            next_position: Option<u64>,
            series_count: usize,
            series: Vec<ShownSeries<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            raw: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            truncated: Option<&'a Value>,
        }
        let shown = Shown {
            meta: meta(&self.answer, &self.origin),
            parameter: parameter(&self.answer, &self.question),
            next_position: self.answer.next_position,
            series_count: self.answer.rows.len(),
            series: self.answer.rows.iter().map(ShownSeries::new).collect(),
            raw: self.raw.as_deref(),
            truncated: self.truncated.as_ref(),
        };
        shown.serialize(serializer)
    }
}

/// A series with its values.
#[derive(Serialize)]
struct ShownSeries<'a> {
    #[serde(flatten)]
    members: Map<String, Value>,
    points: Vec<ShownPoint<'a>>,
}

#[derive(Serialize)]
struct ShownPoint<'a> {
    survey_date: &'a str,
    value: Option<&'a str>,
}

impl<'a> ShownSeries<'a> {
    fn new(row: &'a Row) -> ShownSeries<'a> {
        let point = |point: &'a Point| ShownPoint {
            survey_date: &point.period,
            value: point.value.as_deref(),
        };
        let members = members(row, &[SERIES_MEMBERS]);
        ShownSeries { members, points: row.points.iter().map(point).collect() }
    }
}

/// Which rows of a database's list are meant.
pub struct Selection {
    pub contains: Option<String>,
    pub layers: Option<Vec<String>>,
    pub start_position: Option<u64>,
}

/// The list of a database, from a row on.
pub fn metadata(
    supplied: Supplied,
    question: &Question,
    selection: &Selection,
    include_raw: bool,
) -> Value {
    let Supplied { mut answer, origin, .. } = supplied;
    let total = answer.rows.len();
    let from = selection.start_position.unwrap_or(1);
    let rows = std::mem::take(&mut answer.rows);
    let share = if include_raw { 2 } else { 1 };
    let mut room = (MOST_RESULT_BYTES - ENVELOPE_BYTES) / share;
    let mut entries = Vec::new();
    for (at, row) in rows.into_iter().enumerate() {
        let position = at as u64 + 1;
        if position < from || !selection.means(&row) {
            continue;
        }
        let entry = entry(&row);
        let bytes = json_length(&entry) + 1;
        if bytes > room && !entries.is_empty() {
            answer.next_position = Some(position);
            break;
        }
        room = room.saturating_sub(bytes);
        entries.push(entry);
        answer.rows.push(row);
    }
    let mut shown = json!({
        "meta": meta(&answer, &origin),
        "db": answer.db.clone().unwrap_or_else(|| question.db.clone()),
        "entries_count": entries.len(),
        "total_entries": total,
        "next_position": answer.next_position,
        "entries": entries,
    });
    if include_raw {
        shown["raw"] = json!(encode(&answer, question));
    }
    shown
}

impl Selection {
    fn means(&self, row: &Row) -> bool {
        let words = self.contains.as_deref().unwrap_or_default().to_lowercase();
        let names = ["SERIES_CODE", "NAME_OF_TIME_SERIES", "NAME_OF_TIME_SERIES_J", "CATEGORY"]
            .map(|name| row.member(name).to_lowercase())
            .join(" ");
        let layers = self.layers.as_deref().unwrap_or_default();
        words.split_whitespace().all(|word| names.contains(word))
            && layers
                .iter()
                .enumerate()
                .all(|(at, layer)| layer == "*" || row.member(&format!("LAYER{}", at + 1)) == layer)
    }
}

fn meta(answer: &Answer, origin: &Origin) -> Value {
    let mut meta = json!({
        "status": answer.status,
        "message_id": answer.message_id,
        "message": answer.message,
    });
    if let Some(date) = &answer.date {
        meta["date"] = json!(date);
    }
    match origin {
        Origin::Live => meta["origin"] = json!("live"),
        Origin::Bundle(as_of) => {
            meta["origin"] = json!("bundle");
            meta["as_of"] = json!(as_of);
        }
    }
    meta
}

fn parameter(answer: &Answer, question: &Question) -> Value {
    let mut names = vec![
        ("FORMAT", "format"),
        ("LANG", "lang"),
        ("DB", "db"),
        ("STARTDATE", "start_date"),
        ("ENDDATE", "end_date"),
        ("STARTPOSITION", "start_position"),
    ];
    if matches!(question.endpoint, Endpoint::Layer { .. }) {
        names.extend([
            ("FREQUENCY", "frequency"),
            ("LAYER1", "layer1"),
            ("LAYER2", "layer2"),
            ("LAYER3", "layer3"),
            ("LAYER4", "layer4"),
            ("LAYER5", "layer5"),
        ]);
    }
    let mut shown: Map<String, Value> = names
        .iter()
        .map(|(theirs, ours)| (ours.to_string(), or_null(answer.parameter.get(*theirs))))
        .collect();
    let is_extra = |name: &&String| !names.iter().any(|(theirs, _)| theirs == name);
    let extras: Map<String, Value> = answer
        .parameter
        .iter()
        .filter(|(name, _)| is_extra(name))
        .map(|(name, value)| (name.to_lowercase(), json!(value)))
        .collect();
    shown.insert("extras".into(), extras.into());
    Value::Object(shown)
}

fn or_null(text: Option<&String>) -> Value {
    text.filter(|text| !text.is_empty()).map_or(Value::Null, |text| json!(text))
}

fn members(row: &Row, known: &[&[&str]]) -> Map<String, Value> {
    let known: Vec<&str> = known.concat();
    let mut shown: Map<String, Value> =
        known.iter().map(|name| (name.to_lowercase(), or_null(row.members.get(*name)))).collect();
    let extras: Map<String, Value> = row
        .members
        .iter()
        .filter(|(name, _)| !known.contains(&name.as_str()))
        .map(|(name, value)| (name.to_lowercase(), json!(value)))
        .collect();
    shown.insert("extras".into(), extras.into());
    shown
}

/// How many bytes a series takes as JSON, without making it: there may be a thousand that don't
/// fit.
fn series_length(row: &Row) -> usize {
    let around = json_length(&members(row, &[SERIES_MEMBERS])) + r#","points":[]"#.len();
    let keys = r#"{"survey_date":,"value":}"#.len();
    let each = |point: &Point| {
        let value = point.value.as_deref().map_or("null".len(), text_length);
        keys + text_length(&point.period) + value
    };
    let commas = row.points.len().saturating_sub(1);
    around + row.points.iter().map(each).sum::<usize>() + commas
}

/// How many bytes a text takes as JSON.
fn text_length(text: &str) -> usize {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) { text.len() + 2 } else { json_length(text) }
}

fn entry(row: &Row) -> Value {
    Value::Object(members(row, &[SERIES_MEMBERS, ENTRY_MEMBERS]))
}

/// Keeps as many series as fit. Those at the end are left out, with the position that continues
/// there; of a single series that is too long the oldest values. Says what is not there.
fn fit(answer: &mut Answer, question: &Question, most: usize) -> Option<Value> {
    let mut room = Some(most);
    let fits = |row: &&Row| {
        room = room.and_then(|room| room.checked_sub(series_length(row) + 1));
        room.is_some()
    };
    let kept = answer.rows.iter().take_while(fits).count();
    if kept == answer.rows.len() {
        return None;
    }
    let left_out = answer.rows.split_off(kept.max(1));
    let named: Vec<&str> =
        left_out.iter().take(MOST_NAMED).map(|row| row.member("SERIES_CODE")).collect();
    let mut truncated = json!({ "series_left_out": left_out.len(), "codes": named });
    if let Some(first) = left_out.first() {
        let asked_from = question.window().and_then(|window| window.position).unwrap_or(1);
        let position = match question.endpoint {
            Endpoint::Code { .. } => Some(asked_from + kept.max(1) as u64),
            _ => first.position,
        };
        match position {
            Some(position) => answer.next_position = Some(position),
            None => {
                truncated["next"] = json!("Ask for these codes with boj_get_data_code");
            }
        }
    }
    if kept == 0
        && let Some(row) = answer.rows.first_mut()
    {
        // Newer values tend to have more digits than older ones.
        let each = series_length(row) / row.points.len().max(1);
        let first = row.points.len().saturating_sub(most / 5 * 4 / each.max(1));
        let earlier: Vec<_> = row.points.drain(..first).collect();
        if let (Some(first), Some(last)) = (row.points.first(), earlier.last()) {
            // A day is asked for by its month, which then comes whole a second time.
            let asked = |period: &str| period.get(..6).unwrap_or(period).to_string();
            truncated["series_code"] = json!(row.member("SERIES_CODE"));
            truncated["kept_from"] = json!(first.period);
            truncated["earlier_end_date"] = json!(asked(&last.period));
        }
    }
    Some(truncated)
}

/// How many bytes a value takes as JSON.
fn json_length(value: &(impl Serialize + ?Sized)) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Neither a value nor the count can fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given series with odd texts and without values, when their length is worked out, then it is
    /// that of their JSON.
    #[test]
    fn the_length_of_a_series_is_that_of_its_json() {
        let point = |period: &str, value: Option<&str>| Point {
            period: period.to_string(),
            value: value.map(str::to_string),
        };
        let values = [None, Some("1.5"), Some("a \"b\" \\ c"), Some("円\u{1}"), Some("")];
        for count in 0..=values.len() {
            let mut row = Row::default();
            row.set("SERIES_CODE", "A\"B");
            row.set("NAME_OF_TIME_SERIES_J", "為替");
            row.set("ANYTHING", "else");
            row.points = values[..count].iter().map(|value| point("202501", *value)).collect();
            let length = series_length(&row);
            assert_eq!(length, json_length(&ShownSeries::new(&row)), "{count}");
        }
    }
}
