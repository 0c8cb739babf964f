//! Counts and sums as charts: bars by group, bars over time, one number. Each leads to the records
//! behind it.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::address::{Query, one_value};
use super::chart::{Bar, Interval, MOST_SERIES, Series, bar_table, over_time};
use super::facets::Facets;
use super::layout::Page;
use super::notes::notes;
use super::sub::Parent;
use super::table::{items_of, offered};
use super::values::{amount, label, number, word};
use super::visit::{Answer, Visit};
use crate::api::{Error, Result};
use crate::catalog::{Field, Source};

/// Parameters that ask for numbers; without them an address lists the records.
const ASKING: [&str; 6] =
    ["aggregate", "group_by", "sum_field", "bucket_by_time", "time_interval", "limit"];

const INTERVALS: [&str; 5] = ["day", "week", "month", "quarter", "year"];

/// What stands for the values of an interval.
const STATISTICS: [&str; 6] = ["last", "first", "mean", "min", "max", "sum"];

pub async fn page(visit: &Visit, key: &str) -> Result<Page> {
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
    Ok(with_twins(page, query, twin))
}

/// The same numbers for programs, and as a picture.
fn with_twins(page: Page, query: &Query, twin: impl Fn(&Query) -> String) -> Page {
    let page = page.twin("JSON", twin(query)).twin("CSV", twin(&query.with("format", "csv")));
    if query.has("group_by") || is_over_time(query) {
        page.twin("SVG", twin(&query.with("format", "svg")))
    } else {
        page
    }
}

/// Whether the numbers are over time. The values of a record have one date only, so that an
/// interval is enough to ask for them.
pub fn is_over_time(query: &Query) -> bool {
    query.has("bucket_by_time") || query.has("time_interval")
}

/// The values of a record over time, such as the observations of a series.
pub async fn of_record(visit: &Visit, key: &str, sub: &str) -> Result<Page> {
    let answer = visit.call(&visit.path, &visit.query).await?;
    let parent = Parent::of(visit).await?;
    let time = time_field(visit, key, sub).unwrap_or_default();
    let mut query = visit.query.or("aggregate", "last");
    if query.has("time_interval") {
        query = query.or("bucket_by_time", time);
    }
    let title = match query.get("time_interval") {
        Some(interval) => format!("{} by {interval}", parent.title),
        None => parent.title.clone(),
    };
    let filters = query.without(&ASKING);
    let chips = Facets { path: &visit.path, query: &filters, has_charts: false };
    let body = html! {
        h1 { (title) }
        p { a href=(filters.at(&visit.path)) { "The values behind these numbers" } }
        form .row action=(visit.path) {
            @for (name, value) in filters.iter() { input type="hidden" name=(name) value=(value); }
            (select(&query, "time_interval", "Interval", None, &INTERVALS))
            (select(&query, "aggregate", "Value of each", None, &STATISTICS))
            button { "Show" }
        }
        (chips.chips())
        (notes(&answer.notes))
        (drawn(&visit.path, &query, &answer, &title))
    };
    let twin = |query: &Query| query.at(&format!("/v1{}", visit.path));
    let page = parent.above(Page::new(title, body), key);
    let page = page.below(label(sub), filters.at(&visit.path));
    Ok(with_twins(page, &query, twin))
}

/// The date of a sub-resource whose values can be drawn over time.
pub fn time_field(visit: &Visit, key: &str, sub: &str) -> Option<&'static str> {
    let (source, _) = visit.bundle.source(key)?;
    let (_, fields) = items_of(&visit.bundle, source.sub_resource(sub)?);
    let has_values = fields.iter().any(|field| field.sum);
    fields.iter().find(|field| field.time && has_values).map(|field| field.name)
}

pub fn title(source: &Source, query: &Query) -> String {
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
    let filters = query.without(&ASKING);
    html! {
        form .row action=(visit.path) {
            @for (name, value) in filters.iter() { input type="hidden" name=(name) value=(value); }
            input type="hidden" name="aggregate"
                value=(if query.has("sum_field") { "" } else { "count" });
            (select(query, "group_by", "Group by", Some("nothing"), &names(|f| f.group)))
            (select(query, "sum_field", "Measure", Some("number of records"), &names(|f| f.sum)))
            (select(query, "bucket_by_time", "Over time, by", Some("no"), &names(|f| f.time)))
            @if query.has("bucket_by_time") {
                (select(query, "time_interval", "Interval", None, &INTERVALS))
            }
            button { "Show" }
        }
    }
}

/// A choice, with what is set chosen, also where it is none of these.
fn select(query: &Query, name: &str, text: &str, none: Option<&str>, names: &[&str]) -> Markup {
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
                        option value=(one) selected[*one == set] { (label(one)) }
                    }
                }
            }
        }
    }
}

/// The chart that fits the answer.
pub fn drawn(path: &str, query: &Query, answer: &Answer, caption: &str) -> Markup {
    if let Some(value) = answer.value.get("value").and_then(Value::as_f64) {
        return html! { p .lead { strong { (amount(value)) } } };
    }
    if is_over_time(query) {
        return time_chart(path, query, answer, caption);
    }
    html! {
        (bars(path, query, answer, caption))
        @if let Some(other) = answer.value.get("other").filter(|other| other.is_object()) {
            p .soft {
                "and " (number(other["buckets"].as_i64().unwrap_or_default())) " further groups: "
                (amount(other["value"].as_f64().unwrap_or_default()))
                @if !query.has("limit") {
                    " · " a href=(query.with("limit", "100").at(path)) { "show 100" }
                }
            }
        }
    }
}

/// The keys and labels of a bucket: one dimension or two.
pub fn dimensions(bucket: &Value) -> Vec<(Option<&str>, &str)> {
    match (&bucket["key"], &bucket["label"]) {
        (Value::Array(keys), Value::Array(labels)) => keys
            .iter()
            .zip(labels)
            .map(|(key, label)| (key.as_str(), label.as_str().unwrap_or_default()))
            .collect(),
        (key, label) => vec![(key.as_str(), label.as_str().unwrap_or_default())],
    }
}

pub fn buckets(value: &Map<String, Value>) -> &[Value] {
    value.get("buckets").and_then(Value::as_array).map_or(&[], Vec::as_slice)
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
            value: bucket["value"].as_f64().unwrap_or_default(),
            address: address.map(|list| list.at(path)),
            class: "bar-1",
        }
    };
    let bars: Vec<Bar> = buckets(&answer.value).iter().map(bar).collect();
    let measure = measure(query);
    html! { @if !bars.is_empty() { (bar_table(caption, &measure, &bars)) } }
}

/// What the numbers are.
fn measure(query: &Query) -> String {
    let statistic = query.get("aggregate").filter(|name| *name != "count" && !name.is_empty());
    query.get("sum_field").or(statistic).map_or_else(|| "Records".to_string(), label)
}

/// Buckets over time, stacked by group where there is one.
fn time_chart(path: &str, query: &Query, answer: &Answer, caption: &str) -> Markup {
    let (intervals, series, left_out) = over_intervals(path, query, buckets(&answer.value));
    html! {
        @if !intervals.is_empty() { (over_time(caption, &intervals, &series)) }
        @if left_out > 0 {
            p .soft { (left_out) " smaller groups are not drawn; the data have them." }
        }
    }
}

/// Intervals, the series that can be told apart, and how many more there are.
pub fn over_intervals(
    path: &str,
    query: &Query,
    buckets: &[Value],
) -> (Vec<Interval>, Vec<Series>, usize) {
    let field = query.get("bucket_by_time").unwrap_or_default();
    let width = query.get("time_interval").unwrap_or("month");
    let list = query.without(&ASKING).without(&["q"]);
    let mut intervals: Vec<(String, Interval)> = Vec::new();
    let mut series: Vec<Series> = Vec::new();
    for bucket in buckets {
        let dimensions = dimensions(bucket);
        let Some((Some(day), shown)) = dimensions.first().copied() else { continue };
        if intervals.last().is_none_or(|(known, _)| known != day) {
            let address = within(&list, field, width, day).map(|list| list.at(path));
            intervals.push((day.to_string(), Interval { label: shown.to_string(), address }));
        }
        let name = dimensions.get(1).map_or_else(|| measure(query), |(_, label)| word(label));
        let at = intervals.len() - 1;
        let one = match series.iter().position(|one| one.name == name) {
            Some(known) => &mut series[known],
            None => {
                series.push(Series { name, values: Vec::new() });
                let last = series.len() - 1;
                &mut series[last]
            }
        };
        one.values.resize(at, 0.0);
        one.values.push(bucket["value"].as_f64().unwrap_or_default());
    }
    let left_out = series.len().saturating_sub(MOST_SERIES);
    series.truncate(MOST_SERIES);
    let intervals: Vec<Interval> = intervals.into_iter().map(|(_, interval)| interval).collect();
    (intervals, series, left_out)
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
