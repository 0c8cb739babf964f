//! Charts as HTML and SVG, from numbers alone: a table with bars, and bars over time. Colours are
//! the style sheet's; a bar's length is an attribute, which the content security policy allows.

use maud::{Markup, html};

use super::values::number;

/// One row of a table with bars.
pub struct Bar {
    pub label: Markup,
    pub value: i64,
    /// The records behind it.
    pub address: Option<String>,
    /// Its colour.
    pub class: &'static str,
}

/// Bars beside their numbers: the table is the chart, so it reads without seeing it.
pub fn bar_table(caption: &str, measure: &str, bars: &[Bar]) -> Markup {
    let most = bars.iter().map(|bar| bar.value).max().unwrap_or_default().max(1);
    let width = |value: i64| format!("{:.2}%", value.max(0) as f64 / most as f64 * 100.0);
    html! {
        div .scroll tabindex="0" role="region" aria-label=(caption) {
            table .bars {
                caption { (caption) }
                thead .hidden {
                    tr { th scope="col" { "Group" } th scope="col" { (measure) } }
                }
                tbody data-walk {
                    @for bar in bars {
                        tr {
                            td {
                                @if let Some(address) = &bar.address {
                                    a href=(address) { (bar.label) }
                                } @else { (bar.label) }
                            }
                            td .n { (number(bar.value)) }
                            td .bar aria-hidden="true" {
                                svg preserveAspectRatio="none" {
                                    rect class=(bar.class) width=(width(bar.value)) height="100%" {}
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// One series of a chart over time: its name and a value for each interval.
pub struct Series {
    pub name: String,
    pub values: Vec<i64>,
}

/// Intervals in order, with the address of the records in each.
pub struct Interval {
    pub label: String,
    pub address: Option<String>,
}

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 56.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 10.0;

/// Colours that a chart can tell apart.
pub const MOST_SERIES: usize = 6;

const CLASSES: [&str; MOST_SERIES] = ["bar-1", "bar-2", "bar-3", "bar-4", "bar-5", "bar-6"];

/// Stacked bars over time, drawn on the server.
pub fn over_time(caption: &str, intervals: &[Interval], series: &[Series]) -> Markup {
    let total = |at: usize| series.iter().map(|s| s.values.get(at).copied().unwrap_or(0)).sum();
    let highest: i64 = (0..intervals.len()).map(total).max().unwrap_or(0).max(1);
    let top = round_up(highest);
    let room = HEIGHT - BOTTOM - TOP;
    let y = |value: i64| TOP + room - value as f64 / top as f64 * room;
    let step = (WIDTH - LEFT) / intervals.len().max(1) as f64;
    let gap = if step > 4.0 { 1.0 } else { 0.0 };
    let every = (intervals.len() as f64 / 8.0).ceil().max(1.0) as usize;
    let grid: Vec<i64> = (0..=4).map(|quarter| top * quarter / 4).collect();
    html! {
        figure {
            svg .chart viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="group" aria-label=(caption) {
                @for value in &grid {
                    line .axis x1=(LEFT) x2=(WIDTH) y1=(px(y(*value))) y2=(px(y(*value))) {}
                    text x=(LEFT - 6.0) y=(px(y(*value) + 4.0)) text-anchor="end" {
                        (brief(*value))
                    }
                }
                @for (at, interval) in intervals.iter().enumerate() {
                    @let x = LEFT + step * at as f64;
                    @if at % every == 0 {
                        text x=(px(x)) y=(px(HEIGHT - 6.0)) { (interval.label) }
                    }
                    @if let Some(address) = &interval.address {
                        a href=(address) tabindex="-1"
                            aria-label=(format!("{}: {}", interval.label, total(at))) {
                            (stack(series, at, x, step - gap, &y))
                            title { (interval.label) ": " (number(total(at))) }
                        }
                    } @else { (stack(series, at, x, step - gap, &y)) }
                }
            }
            figcaption { (caption) }
            @if series.len() > 1 {
                ul .legend {
                    @for (one, class) in series.iter().zip(CLASSES) {
                        li {
                            svg aria-hidden="true" {
                                rect class=(class) width="100%" height="100%" {}
                            }
                            (one.name)
                        }
                    }
                }
            }
            (numbers(caption, intervals, series))
        }
    }
}

/// The bars of one interval, one series upon the other.
fn stack(series: &[Series], at: usize, x: f64, width: f64, y: &dyn Fn(i64) -> f64) -> Markup {
    let mut below = 0;
    let mut bars = Vec::new();
    for (one, class) in series.iter().zip(CLASSES) {
        let value = one.values.get(at).copied().unwrap_or(0).max(0);
        if value > 0 {
            let (bottom, top) = (y(below), y(below + value));
            bars.push(html! {
                rect class=(class) x=(px(x)) y=(px(top)) width=(px(width))
                    height=(px(bottom - top)) {}
            });
        }
        below += value;
    }
    html! { @for bar in &bars { (bar) } }
}

/// The same numbers as a table.
fn numbers(caption: &str, intervals: &[Interval], series: &[Series]) -> Markup {
    html! {
        details {
            summary { "The numbers" }
            div .scroll tabindex="0" role="region" aria-label=(caption) {
                table {
                    caption { (caption) }
                    thead {
                        tr {
                            th scope="col" { "Interval" }
                            @for one in series { th scope="col" .n { (one.name) } }
                        }
                    }
                    tbody {
                        @for (at, interval) in intervals.iter().enumerate() {
                            tr {
                                td {
                                    @if let Some(address) = &interval.address {
                                        a href=(address) { (interval.label) }
                                    } @else { (interval.label) }
                                }
                                @for one in series {
                                    td .n { (number(one.values.get(at).copied().unwrap_or(0))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A coordinate with one decimal: a pixel is enough.
fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// The next number with one leading digit, divisible by four from 4 on.
fn round_up(value: i64) -> i64 {
    let mut step = 4;
    loop {
        for factor in [1, 2, 3, 5, 10] {
            if step * factor >= value {
                return step * factor;
            }
        }
        step = step.saturating_mul(10);
    }
}

/// 1500000 as "1.5M".
fn brief(value: i64) -> String {
    let shorten = |by: f64, unit: &str| {
        let text = format!("{:.1}", value as f64 / by);
        format!("{}{unit}", text.trim_end_matches(".0"))
    };
    match value {
        1_000_000_000.. => shorten(1e9, "B"),
        1_000_000.. => shorten(1e6, "M"),
        10_000.. => shorten(1e3, "K"),
        _ => number(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!([0, 3, 5, 13, 40, 41, 4_100].map(round_up), [4, 4, 8, 20, 40, 80, 8_000]);
        assert_eq!([5, 9_999, 12_500, 2_500_000].map(brief), ["5", "9,999", "12.5K", "2.5M"]);
    }

    #[test]
    fn labels_are_escaped_and_bars_are_as_long_as_their_numbers() {
        let bar = |value, label: &str| Bar {
            label: html! { (label) },
            value,
            address: Some("/a?b=1&c=2".into()),
            class: "bar-1",
        };
        let shown = bar_table("C", "Bills", &[bar(10, "<b>"), bar(5, "y")]).into_string();
        assert!(shown.contains("&lt;b&gt;") && shown.contains("href=\"/a?b=1&amp;c=2\""));
        assert!(shown.contains("width=\"100.00%\"") && shown.contains("width=\"50.00%\""));
    }
}
