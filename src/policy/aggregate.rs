//! Numbers as they are shown: the words of `q` turned into records, a name beside every id, an
//! interval as people write it.

use std::borrow::Cow;
use std::collections::HashMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::query::{
    Aggregate, AggregateRequest, AggregateResult, Bucket, Figure, Interval, Listing, Outside,
    aggregate, title,
};
use super::search;
use super::understand;
use crate::api::outcome::append;
use crate::api::{Arguments, Context, Error, Notes, Outcome, Output, Result};
use crate::bundle::Bundle;
use crate::catalog::{self, Field, Kind, Source};

/// With `aggregate`: one value, or buckets, largest first or in the order of time
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Numbers")]
pub struct Numbers {
    /// Absent where nothing of what was asked is covered by the bundle: `meta` says so
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Figure")]
    value: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<ShownBucket>")]
    buckets: Option<Vec<ShownBucket>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    total_buckets: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Other")]
    other: Option<Other>,
    query_cost: QueryCost,
}

/// What the buckets that are not shown come to
#[derive(Serialize, JsonSchema)]
struct Other {
    buckets: u64,
    value: i64,
}

#[derive(Serialize, JsonSchema)]
struct QueryCost {
    rows: u64,
    ms: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Bucket")]
struct ShownBucket {
    /// The group's value or the interval's first day; a pair where there are two dimensions
    key: OneOrTwo<Option<String>>,
    /// The key as people write it: a name beside an id
    label: OneOrTwo<String>,
    value: Figure,
}

/// A value for one dimension, a list of two for two.
#[derive(Serialize)]
#[serde(untagged)]
enum OneOrTwo<T> {
    One(T),
    Two([T; 2]),
}

impl<T> JsonSchema for OneOrTwo<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OneOrTwo".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "null", "array"], "minItems": 2, "maxItems": 2 })
    }
}

impl Output for Numbers {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        append(out, self)
    }

    fn items(&self) -> Option<(Vec<&'static str>, Vec<Cow<'_, str>>)> {
        let buckets = match (&self.buckets, self.value) {
            (Some(buckets), _) => buckets,
            (None, value) => {
                let row = json!({ "value": value }).to_string();
                return Some((vec!["value"], vec![Cow::Owned(row)]));
            }
        };
        let is_pair = buckets.iter().any(|bucket| matches!(bucket.key, OneOrTwo::Two(_)));
        let columns = match is_pair {
            true => vec!["key_1", "label_1", "key_2", "label_2", "value"],
            false => vec!["key", "label", "value"],
        };
        Some((columns, buckets.iter().map(|bucket| Cow::Owned(bucket.row())).collect()))
    }
}

impl ShownBucket {
    /// The bucket as a row of a table.
    fn row(&self) -> String {
        let mut row = Map::new();
        match (&self.key, &self.label) {
            (OneOrTwo::Two([a, b]), OneOrTwo::Two([label_a, label_b])) => {
                row.insert("key_1".into(), a.clone().into());
                row.insert("label_1".into(), label_a.clone().into());
                row.insert("key_2".into(), b.clone().into());
                row.insert("label_2".into(), label_b.clone().into());
            }
            (OneOrTwo::One(key), OneOrTwo::One(label)) => {
                row.insert("key".into(), key.clone().into());
                row.insert("label".into(), label.clone().into());
            }
            _ => {}
        }
        row.insert("value".into(), json!(self.value));
        Value::Object(row).to_string()
    }
}

/// Counts or sums the records of a source. Blocks: call it on a blocking thread.
pub fn numbers(
    context: &Context,
    source: &'static Source,
    listing: &Listing,
    mut arguments: Arguments,
) -> Result<Outcome> {
    let understood = understand::filters(context, listing, &mut arguments)?;
    let mut request = AggregateRequest::read(arguments, listing, source.shape.has_body())?;
    if let Some(question) = &request.question {
        let first = context.bundle.first_number(source) as u32;
        let matching = search::matching(context, source, question)?;
        request.matching = Some(matching.into_iter().map(|number| number - first).collect());
    }
    let outside = Outside::of(listing, &request.filters, request.time.as_ref().map(|(f, _)| f));
    let found = aggregate(context, listing, &request)?;
    let notes = Notes {
        not_covered: outside.note(),
        left_out: left_out(&found.left_out),
        understood,
        ..Notes::default()
    };
    let mut numbers = shown(context, &request, found)?;
    if outside.is_all {
        numbers.value = None;
    }
    Ok(Outcome::new(numbers).with(notes))
}

/// Says which records are not in the numbers, and how to have them.
fn left_out(counts: &[(Field, u64)]) -> Option<String> {
    let notes = counts.iter().filter(|(_, count)| *count > 0).map(|(flag, count)| {
        let (which, name) = (flag.left_out.unwrap_or_default(), flag.name);
        format!("Left out: {count} {which}. `{name}=true,false` includes them.")
    });
    let notes: Vec<String> = notes.collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

fn shown(context: &Context, request: &AggregateRequest, found: Aggregate) -> Result<Numbers> {
    let query_cost = QueryCost { rows: found.rows, ms: found.took.as_millis() as u64 };
    let (buckets, total, other) = match found.result {
        AggregateResult::Value(value) => {
            return Ok(Numbers {
                value,
                buckets: None,
                total_buckets: None,
                other: None,
                query_cost,
            });
        }
        AggregateResult::Buckets { buckets, total, other } => (buckets, total, other),
    };
    let mut labels = Labels { bundle: &context.bundle, request, known: HashMap::new() };
    let mut shown = Vec::with_capacity(buckets.len());
    for (at, bucket) in buckets.into_iter().enumerate() {
        if at.is_multiple_of(256) {
            context.check()?;
        }
        shown.push(labels.bucket(bucket, &found.dimensions)?);
    }
    let others = total.saturating_sub(shown.len() as u64);
    Ok(Numbers {
        value: None,
        buckets: Some(shown),
        total_buckets: Some(total),
        other: other.map(|value| Other { buckets: others, value }),
        query_cost,
    })
}

/// What keys mean to a reader: a sponsor's name, a month. Each name is read once.
struct Labels<'a> {
    bundle: &'a Bundle,
    request: &'a AggregateRequest,
    known: HashMap<String, String>,
}

impl Labels<'_> {
    fn bucket(&mut self, bucket: Bucket, dimensions: &[&str]) -> Result<ShownBucket> {
        let mut label = |at: usize, key: &Option<String>| {
            self.label(dimensions.get(at).copied().unwrap_or_default(), key.as_deref())
        };
        let value = bucket.value;
        let (key, label) = match <[Option<String>; 2]>::try_from(bucket.keys) {
            Ok(pair) => {
                let labels = [label(0, &pair[0]), label(1, &pair[1])];
                (OneOrTwo::Two(pair), OneOrTwo::Two(labels))
            }
            Err(keys) => {
                let key = keys.into_iter().next();
                let key = key.ok_or_else(|| Error::internal("a bucket without a key"))?;
                let label = label(0, &key);
                (OneOrTwo::One(key), OneOrTwo::One(label))
            }
        };
        Ok(ShownBucket { key, label, value })
    }

    fn label(&mut self, dimension: &str, key: Option<&str>) -> String {
        let Some(key) = key else { return "none stated".to_string() };
        if let Some(interval) = self.request.interval_of(dimension) {
            return interval_label(interval, key);
        }
        let target = |field: &Field| match field.kind {
            Kind::Id(target) | Kind::Ids(target) if field.name == dimension => {
                catalog::source(target)
            }
            _ => None,
        };
        let Some(source) = self.request.groups.iter().find_map(target) else {
            return key.to_string();
        };
        if let Some(known) = self.known.get(key) {
            return known.clone();
        }
        let name = title(self.bundle, source.title, key).unwrap_or_else(|| key.to_string());
        self.known.insert(key.to_string(), name.clone());
        name
    }
}

fn interval_label(interval: Interval, day: &str) -> String {
    let (year, month) = (day.get(..4).unwrap_or(day), day.get(5..7).unwrap_or_default());
    match interval {
        Interval::Year => year.to_string(),
        Interval::Quarter => {
            format!("{year} Q{}", month.parse::<u32>().map_or(1, |m| m.div_ceil(3)))
        }
        Interval::Month => format!("{year}-{month}"),
        Interval::Week => format!("week of {day}"),
        Interval::Day => day.to_string(),
    }
}
