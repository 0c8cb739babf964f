//! Numbers as they are shown: the words of `q` turned into records, a name beside every id, an interval as people write it.

use serde_json::{Value, json};

use crate::bundle::Bundle;
use crate::catalog::{self, Field, Kind, Source};
use crate::error::{Error, Result};
use crate::query::{Aggregate, AggregateRequest, Answer, Format, Limits, Page, Params, Table, aggregate};
use crate::{record, search};

/// An aggregation, ready to be written.
pub struct Numbers {
    pub format: Format,
    /// `value` or `buckets`, `total_buckets` and `other`, and `query_cost`.
    pub answer: Value,
    /// The same as a table.
    pub page: Page,
}

/// Counts or sums the records of a source. Blocks: call it on a blocking thread.
pub fn numbers(
    bundle: &Bundle,
    source: &'static Source,
    table: &Table,
    params: &Params,
    limits: Limits,
) -> Result<Numbers> {
    let mut request = AggregateRequest::read(params, table, &|target, id| record::canonical(bundle, target, id))?;
    if let Some(question) = &request.question {
        let first = bundle.first_number(source) as u32;
        request.matching = Some(search::matching(bundle, source, question)?.into_iter().map(|n| n - first).collect());
    }
    let found = aggregate(bundle, table, &request, limits).map_err(|error| bundle.blame(error))?;
    show(bundle, &request, found)
}

fn show(bundle: &Bundle, request: &AggregateRequest, found: Aggregate) -> Result<Numbers> {
    let cost = json!({ "rows": found.rows, "ms": found.took.as_millis() as u64 });
    let (answer, items, columns): (Value, Vec<Value>, Vec<&'static str>) = match found.answer {
        Answer::Value(value) => {
            (json!({ "value": value, "query_cost": cost }), vec![json!({ "value": value })], vec!["value"])
        }
        Answer::Buckets { buckets, total, other } => {
            let mut shown = Vec::with_capacity(buckets.len());
            let mut rows = Vec::with_capacity(buckets.len());
            for bucket in &buckets {
                let labels = bucket.keys.iter().zip(&found.dimensions);
                let labels: Vec<String> =
                    labels.map(|(key, name)| label(bundle, request, name, key.as_deref())).collect();
                let value = bucket.value;
                match (bucket.keys.as_slice(), labels.as_slice()) {
                    ([key], [label]) => {
                        let item = json!({ "key": key, "label": label, "value": value });
                        rows.push(item.clone());
                        shown.push(item);
                    }
                    ([a, b], [la, lb]) => {
                        shown.push(json!({ "key": [a, b], "label": [la, lb], "value": value }));
                        rows.push(json!({ "key_1": a, "label_1": la, "key_2": b, "label_2": lb, "value": value }));
                    }
                    _ => return Err(Error::internal("a bucket of no dimension")),
                }
            }
            let mut answer = json!({ "buckets": shown, "total_buckets": total, "query_cost": cost });
            if let Some(other) = other {
                answer["other"] = json!({ "buckets": total - buckets.len() as u64, "value": other });
            }
            let columns = match found.dimensions.len() {
                1 => vec!["key", "label", "value"],
                _ => vec!["key_1", "label_1", "key_2", "label_2", "value"],
            };
            (answer, rows, columns)
        }
    };
    let items: Vec<String> = items.iter().map(Value::to_string).collect();
    let page = Page { total: items.len() as u64, items, columns, ..Page::default() };
    Ok(Numbers { format: request.format, answer, page })
}

/// What a key means to a reader: a sponsor's name, a month.
fn label(bundle: &Bundle, request: &AggregateRequest, dimension: &str, key: Option<&str>) -> String {
    let Some(key) = key else { return "none stated".to_string() };
    if let Some(interval) = request.interval_of(dimension) {
        return interval_label(interval, key);
    }
    let target = |field: &Field| match field.kind {
        Kind::Id(target) | Kind::Ids(target) if field.name == dimension => catalog::source(target),
        _ => None,
    };
    let name = || {
        let title = request.groups().iter().find_map(target)?.title;
        let (_, entry) = bundle.records().by_id(key)?;
        let record: Value = serde_json::from_str(entry.data).ok()?;
        record[title].as_str().map(str::to_string)
    };
    name().unwrap_or_else(|| key.to_string())
}

fn interval_label(interval: &str, day: &str) -> String {
    let (year, month) = (day.get(..4).unwrap_or(day), day.get(5..7).unwrap_or_default());
    match interval {
        "year" => year.to_string(),
        "quarter" => format!("{year} Q{}", month.parse::<u32>().map_or(1, |m| m.div_ceil(3))),
        "month" => format!("{year}-{month}"),
        "week" => format!("week of {day}"),
        _ => day.to_string(),
    }
}
