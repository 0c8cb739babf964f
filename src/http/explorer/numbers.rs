//! Counts and sums as charts: bars by group, bars over time, one number. Each leads to the records
//! behind it.

use maud::{Markup, html};
use serde_json::Value;

use super::address::{Query, one_value};
use super::chart::{Bar, Interval, MOST_SERIES, Series, bar_table, over_time};
use super::facets::Facets;
use super::layout::Page;
use super::notes::notes;
use super::table::offered;
use super::values::{label, number, word};
use super::visit::{Answer, Visit};
use crate::api::{Error, Result};
use crate::catalog::{Field, Source};

/// Parameters that ask for numbers; without them an address lists the records.
const ASKING: [&str; 6] =
    ["aggregate", "group_by", "sum_field", "bucket_by_time", "time_interval", "limit"];

const INTERVALS: [&str; 5] = ["day", "week", "month", "quarter", "year"];

pub async fn page(visit: &Visit<'_>, key: &str) -> Result<Page> {
    let answer = visit.call(&visit.path, &visit.query).await?;
    let (source, facts) =
        visit.bundle.source(key).ok_or_else(|| Error::internal("numbers without a source"))?;
    let query = &visit.query;
    let title = title(source, query);
    let fields = offered(source, facts);
    let filters = query.without(&ASKING);
    let chips = Facets { path: &visit.path, query: &filters, has_charts: false };
    let body = html! {
        h1 { (title) }
        @let records = filters.without(&["q"]).at(&visit.path);
        p { a href=(records) { "The records behind these numbers" } }
        (form(visit, &fields))
        (chips.chips())
        (notes(&answer.notes))
        (drawn(&visit.path, query, &answer, &title))
    };
    let page = Page::new(title, body).below("Sources", "/sources");
    let page = page.below(label(key), format!("/{key}"));
    let twin = |query: &Query| query.at(&format!("/v1{}", visit.path));
    Ok(page.twin("JSON", twin(query)).twin("CSV", twin(&query.with("format", "csv"))))
}

fn title(source: &Source, query: &Query) -> String {
    let mut title = match query.get("sum_field") {
        Some(field) => format!("{} of {}", label(field), label(source.key).to_lowercase()),
        None => label(source.key),
    };
    let by = query.get("group_by").map(|by| label(by).to_lowercase().replace(',', " and "));
    let time = query.get("bucket_by_time").map(|_| query.get("time_interval").unwrap_or("month"));
    let by: Vec<String> = time.map(str::to_string).into_iter().chain(by).collect();
    if !by.is_empty() {
        title.push_str(&format!(" by {}", by.join(" and ")));
    }
    title
}

/// The form that changes what is counted and how.
fn form(visit: &Visit, fields: &[Field]) -> Markup {
    let query = &visit.query;
    let names = |test: fn(&Field) -> bool| {
        fields.iter().filter(|f| test(f)).map(|f| f.name).collect::<Vec<_>>()
    };
    let select = |name: &str, text: &str, none: Option<&str>, names: Vec<&str>| {
        let set = query.get(name).unwrap_or_default();
        let is_known = set.is_empty() || names.contains(&set);
        html! {
            @if !names.is_empty() {
                div {
                    label for=(name) { (text) }
                    select id=(name) name=(name) {
                        @if let Some(none) = none { option value="" { (none) } }
                        @if !is_known { option value=(set) selected { (set) } }
                        @for one in names {
                            option value=(one) selected[one == set] { (label(one)) }
                        }
                    }
                }
            }
        }
    };
    let filters = query.without(&ASKING);
    html! {
        form .row action=(visit.path) {
            @for (name, value) in filters.iter() { input type="hidden" name=(name) value=(value); }
            input type="hidden" name="aggregate"
                value=(if query.has("sum_field") { "" } else { "count" });
            (select("group_by", "Group by", Some("nothing"), names(|f| f.group)))
            (select("sum_field", "Measure", Some("number of records"), names(|f| f.sum)))
            (select("bucket_by_time", "Over time, by", Some("no"), names(|f| f.time)))
            @if query.has("bucket_by_time") {
                (select("time_interval", "Interval", None, INTERVALS.to_vec()))
            }
            button { "Show" }
        }
    }
}

/// The chart that fits the answer.
pub fn drawn(path: &str, query: &Query, answer: &Answer, caption: &str) -> Markup {
    if let Some(value) = answer.value.get("value").and_then(Value::as_i64) {
        return html! { p .lead { strong { (number(value)) } } };
    }
    if query.has("bucket_by_time") {
        return time_chart(path, query, answer, caption);
    }
    html! {
        (bars(path, query, answer, caption))
        @if let Some(other) = answer.value.get("other").filter(|other| other.is_object()) {
            p .soft {
                "and " (number(other["buckets"].as_i64().unwrap_or_default())) " further groups: "
                (number(other["value"].as_i64().unwrap_or_default()))
                @if !query.has("limit") {
                    " · " a href=(query.with("limit", "100").at(path)) { "show 100" }
                }
            }
        }
    }
}

/// The keys and labels of a bucket: one dimension or two.
fn dimensions(bucket: &Value) -> Vec<(Option<&str>, &str)> {
    match (&bucket["key"], &bucket["label"]) {
        (Value::Array(keys), Value::Array(labels)) => keys
            .iter()
            .zip(labels)
            .map(|(key, label)| (key.as_str(), label.as_str().unwrap_or_default()))
            .collect(),
        (key, label) => vec![(key.as_str(), label.as_str().unwrap_or_default())],
    }
}

fn buckets(answer: &Answer) -> &[Value] {
    answer.value.get("buckets").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Groups as bars, the largest first.
pub fn bars(path: &str, query: &Query, answer: &Answer, caption: &str) -> Markup {
    let fields: Vec<&str> = query.get("group_by").unwrap_or_default().split(',').collect();
    let list = query.without(&ASKING).without(&["q"]);
    let bar = |bucket: &Value| {
        let dimensions = dimensions(bucket);
        let mut address = Some(list.clone());
        for (field, (key, _)) in fields.iter().zip(&dimensions) {
            // Records without a value can't be filtered by it.
            address = address.zip(*key).map(|(list, key)| list.with(field.trim(), &one_value(key)));
        }
        let labels: Vec<String> = dimensions.iter().map(|(_, label)| word(label)).collect();
        Bar {
            label: html! { (labels.join(" · ")) },
            value: bucket["value"].as_i64().unwrap_or_default(),
            address: address.map(|list| list.at(path)),
            class: "bar-1",
        }
    };
    let bars: Vec<Bar> = buckets(answer).iter().map(bar).collect();
    let measure = query.get("sum_field").map_or_else(|| "Records".to_string(), label);
    html! { @if !bars.is_empty() { (bar_table(caption, &measure, &bars)) } }
}

/// Buckets over time, stacked by group where there is one.
fn time_chart(path: &str, query: &Query, answer: &Answer, caption: &str) -> Markup {
    let field = query.get("bucket_by_time").unwrap_or_default();
    let width = query.get("time_interval").unwrap_or("month");
    let list = query.without(&ASKING).without(&["q"]);
    let mut intervals: Vec<(String, Interval)> = Vec::new();
    let mut series: Vec<Series> = Vec::new();
    for bucket in buckets(answer) {
        let dimensions = dimensions(bucket);
        let Some((Some(day), shown)) = dimensions.first().copied() else { continue };
        if intervals.last().is_none_or(|(known, _)| known != day) {
            let address = within(&list, field, width, day).map(|list| list.at(path));
            intervals.push((day.to_string(), Interval { label: shown.to_string(), address }));
        }
        let name = dimensions.get(1).map_or("Records", |(_, label)| *label);
        let at = intervals.len() - 1;
        let one = match series.iter().position(|one| one.name == word(name)) {
            Some(known) => &mut series[known],
            None => {
                series.push(Series { name: word(name), values: Vec::new() });
                let last = series.len() - 1;
                &mut series[last]
            }
        };
        one.values.resize(at, 0);
        one.values.push(bucket["value"].as_i64().unwrap_or_default());
    }
    let left_out = series.len().saturating_sub(MOST_SERIES);
    series.truncate(MOST_SERIES);
    let intervals: Vec<Interval> = intervals.into_iter().map(|(_, interval)| interval).collect();
    html! {
        @if !intervals.is_empty() { (over_time(caption, &intervals, &series)) }
        @if left_out > 0 {
            p .soft { (left_out) " smaller groups are not drawn; the data have them." }
        }
    }
}

/// The list of the records in one interval.
fn within(list: &Query, field: &str, width: &str, day: &str) -> Option<Query> {
    let (year, month) = (day.get(..4)?, day.get(5..7)?);
    Some(match width {
        "year" => list.with(field, year),
        "month" => list.with(field, &format!("{year}-{month}")),
        "day" => list.with(field, day),
        "quarter" => {
            let first: u8 = month.parse().ok()?;
            let last = format!("{year}-{:02}", first + 2);
            list.with(&format!("{field}.gte"), day).with(&format!("{field}.lte"), &last)
        }
        _ => {
            let first = crate::catalog::wording::day(day)?;
            let last = first.checked_add(time::Duration::days(6))?;
            list.with(&format!("{field}.gte"), day).with(&format!("{field}.lte"), &last.to_string())
        }
    })
}
