//! Counts and sums as one SVG file, for a report or a slide: `format=svg`. It stands alone, without
//! the style sheet, so its colours are attributes.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::address::Query;
use super::chart::{CLASSES, HEIGHT, WIDTH, bars_over_time, px};
use super::numbers;
use super::values::{amount, label, word};
use crate::api::{Arguments, Error, Result};
use crate::catalog;

/// The colours of the light style sheet.
const COLOURS: [&str; CLASSES.len()] =
    ["#3b6fb6", "#b3541e", "#2f7d4f", "#7b4fa3", "#8a6d00", "#4d6470"];
const INK: &str = "#1b1f24";
const SOFT: &str = "#57606a";
const LINE: &str = "#d5d9de";

/// Height of the title and of the legend below it.
const TITLE: f64 = 28.0;
const LEGEND: f64 = 20.0;
/// Height of one bar with its label, and where bars begin and end.
const ROW: f64 = 22.0;
const BARS_FROM: f64 = 300.0;
const BARS_TO: f64 = 700.0;
/// Letters of a label that fit beside its bar.
const LETTERS: usize = 42;

/// The picture of the numbers that REST gave at this address.
pub fn of(address: &str, numbers: &Map<String, Value>) -> Result<String> {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let path = path.strip_prefix("/v1").unwrap_or(path);
    let query = Query::read(&Arguments::from_request(query)?).without(&["format"]);
    let buckets = numbers::buckets(numbers);
    if buckets.is_empty() {
        let message = "Only counts and sums by group or over time can be drawn.";
        let next = "Add group_by, or bucket_by_time with time_interval.";
        return Err(Error::invalid("format", message).hint("next", next));
    }
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let source = parts.first().and_then(|key| catalog::source(key));
    let title = match (source, &parts[..]) {
        (Some(source), [_]) => numbers::title(source, &query),
        _ => label(parts.last().unwrap_or(&path)),
    };
    let drawn = match numbers::is_over_time(&query) {
        true => over_time(path, &query, buckets, &title),
        false => groups(buckets, &title),
    };
    Ok(standing_alone(&drawn.into_string()))
}

fn over_time(path: &str, query: &Query, buckets: &[Value], title: &str) -> Markup {
    let (mut intervals, series, _) = numbers::over_intervals(path, query, buckets);
    // In a report or on a slide there is nowhere to go.
    intervals.iter_mut().for_each(|interval| interval.address = None);
    let is_stacked = series.len() > 1;
    let top = if is_stacked { TITLE + LEGEND } else { TITLE };
    let share = WIDTH / series.len().max(1) as f64;
    let content = html! {
        @if is_stacked {
            @for (at, (one, class)) in series.iter().zip(CLASSES).enumerate() {
                @let x = 8.0 + share * at as f64;
                rect class=(class) x=(px(x)) y=(px(TITLE)) width="10" height="10" {}
                text x=(px(x + 14.0)) y=(px(TITLE + 9.0)) { (shortened(&one.name, 18)) }
            }
        }
        g transform=(format!("translate(0 {top})")) { (bars_over_time(&intervals, &series)) }
    };
    frame(title, HEIGHT + top, &content)
}

fn groups(buckets: &[Value], title: &str) -> Markup {
    let value = |bucket: &Value| bucket["value"].as_f64().unwrap_or_default();
    let most = buckets.iter().map(value).fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let content = html! {
        @for (at, bucket) in buckets.iter().enumerate() {
            @let labels: Vec<String> =
                numbers::dimensions(bucket).iter().map(|(_, label)| word(label)).collect();
            @let y = TITLE + ROW * at as f64;
            @let width = value(bucket).max(0.0) / most * (BARS_TO - BARS_FROM);
            text x=(px(BARS_FROM - 8.0)) y=(px(y + 14.0)) text-anchor="end" {
                (shortened(&labels.join(" · "), LETTERS))
            }
            rect class=(CLASSES[0]) x=(px(BARS_FROM)) y=(px(y + 2.0)) width=(px(width))
                height="16" {}
            text x=(px(BARS_FROM + width + 6.0)) y=(px(y + 14.0)) { (amount(value(bucket))) }
        }
    };
    frame(title, TITLE + ROW * buckets.len() as f64 + 8.0, &content)
}

fn frame(title: &str, height: f64, content: &Markup) -> Markup {
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height}"))
            width=(WIDTH) height=(height) role="img" aria-label=(title)
            font-family="system-ui, sans-serif" font-size="12" fill=(SOFT) {
            title { (title) }
            rect width="100%" height="100%" fill="#fff" {}
            text x="8" y="18" font-size="15" font-weight="bold" fill=(INK) { (title) }
            (content)
        }
    }
}

/// Attributes instead of classes. XML wants every element closed, which maud's are.
fn standing_alone(svg: &str) -> String {
    let mut out = svg.replace("class=\"axis\"", &format!("stroke=\"{LINE}\""));
    for (class, colour) in CLASSES.iter().zip(COLOURS) {
        out = out.replace(&format!("class=\"{class}\""), &format!("fill=\"{colour}\""));
    }
    out
}

fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_string(),
    }
}
