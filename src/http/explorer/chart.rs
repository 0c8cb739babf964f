//! Charts as HTML and SVG, from numbers alone: a table with bars, and bars over time. Colours are
//! the style sheet's; a bar's length is an attribute, which the content security policy allows.

use maud::{Markup, html};

use super::values::amount;

/// One row of a table with bars.
pub struct Bar {
    pub label: Markup,
    pub value: f64,
    /// The records behind it.
    pub address: Option<String>,
    /// Its colour.
    pub class: &'static str,
}

/// Bars beside their numbers: the table is the chart, so it reads without seeing it.
pub fn bar_table(caption: &str, measure: &str, bars: &[Bar]) -> Markup {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let width = |value: f64| format!("{:.2}%", value.max(0.0) / most * 100.0);
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
                            td .n { (amount(bar.value)) }
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
    pub values: Vec<f64>,
}

/// Intervals in order, with the address of the records in each.
pub struct Interval {
    pub label: String,
    pub address: Option<String>,
}

pub const WIDTH: f64 = 800.0;
pub const HEIGHT: f64 = 260.0;
const LEFT: f64 = 56.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 10.0;

/// Colours that a chart can tell apart.
pub const MOST_SERIES: usize = 6;

pub const CLASSES: [&str; MOST_SERIES] = ["bar-1", "bar-2", "bar-3", "bar-4", "bar-5", "bar-6"];

/// Stacked bars over time, drawn on the server, with the same numbers as a table.
pub fn over_time(caption: &str, intervals: &[Interval], series: &[Series]) -> Markup {
    html! {
        figure {
            svg .chart viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="group" aria-label=(caption) {
                (bars_over_time(intervals, series))
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

/// What is inside the picture. Negative values hang below the line of zero.
pub fn bars_over_time(intervals: &[Interval], series: &[Series]) -> Markup {
    let total = |at: usize| -> f64 { series.iter().filter_map(|s| s.values.get(at)).sum() };
    let highest = (0..intervals.len()).map(total).fold(0.0, f64::max);
    let lowest = series.iter().flat_map(|s| &s.values).copied().fold(0.0, f64::min);
    let unit = round_up((highest - lowest) / 4.0);
    let (from, to) = ((lowest / unit).floor() as i32, (highest / unit).ceil().max(1.0) as i32);
    let (bottom, top) = (f64::from(from) * unit, f64::from(to) * unit);
    let room = HEIGHT - BOTTOM - TOP;
    let y = |value: f64| TOP + room - (value - bottom) / (top - bottom) * room;
    let step = (WIDTH - LEFT) / intervals.len().max(1) as f64;
    let gap = if step > 4.0 { 1.0 } else { 0.0 };
    let every = (intervals.len() as f64 / 8.0).ceil().max(1.0) as usize;
    let grid: Vec<f64> = (from..=to).map(|line| f64::from(line) * unit).collect();
    html! {
        @for value in &grid {
            line .axis x1=(LEFT) x2=(WIDTH) y1=(px(y(*value))) y2=(px(y(*value))) {}
            text x=(LEFT - 6.0) y=(px(y(*value) + 4.0)) text-anchor="end" { (brief(*value)) }
        }
        @for (at, interval) in intervals.iter().enumerate() {
            @let x = LEFT + step * at as f64;
            @if at % every == 0 { text x=(px(x)) y=(px(HEIGHT - 6.0)) { (interval.label) } }
            @let said = format!("{}: {}", interval.label, amount(total(at)));
            @let bars = html! { (stack(series, at, x, step - gap, &y)) title { (said) } };
            @if let Some(address) = &interval.address {
                a href=(address) tabindex="-1" aria-label=(said) { (bars) }
            } @else { g { (bars) } }
        }
    }
}

/// The bars of one interval, one series upon the other.
fn stack(series: &[Series], at: usize, x: f64, width: f64, y: &dyn Fn(f64) -> f64) -> Markup {
    let mut below = 0.0;
    let mut bars = Vec::new();
    for (one, class) in series.iter().zip(CLASSES) {
        let value = one.values.get(at).copied().unwrap_or(0.0);
        let from = if value < 0.0 { 0.0 } else { below };
        let (start, end) = (y(from), y(from + value));
        if value != 0.0 {
            bars.push(html! {
                rect class=(class) x=(px(x)) y=(px(start.min(end))) width=(px(width))
                    height=(px((start - end).abs())) {}
            });
        }
        below += value.max(0.0);
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
                                    td .n { (amount(one.values.get(at).copied().unwrap_or(0.0))) }
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
pub fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// The next round number: 1, 2, 2.5 or 5 and zeros.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let round = [1.0, 2.0, 2.5, 5.0].map(|factor| factor * power);
    round.into_iter().find(|round| *round >= value).unwrap_or(10.0 * power)
}

/// 1500000 as "1.5M".
fn brief(value: f64) -> String {
    let shorten = |by: f64, unit: &str| {
        let text = format!("{:.1}", value / by);
        format!("{}{unit}", text.trim_end_matches(".0"))
    };
    match value.abs() {
        1e12.. => shorten(1e12, "T"),
        1e9.. => shorten(1e9, "B"),
        1e6.. => shorten(1e6, "M"),
        1e4.. => shorten(1e3, "K"),
        _ => amount(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_numbers() {
        assert_eq!(
            [0.0, 1.0, 1.3, 2.2, 4.1, 41.0, 0.03].map(round_up),
            [1.0, 1.0, 2.0, 2.5, 5.0, 50.0, 0.05]
        );
        assert_eq!(
            [5.0, 0.25, 9_999.0, 12_500.0, 2_500_000.0, -3e13].map(brief),
            ["5", "0.25", "9,999", "12.5K", "2.5M", "-30T"]
        );
    }

    /// Given values below zero, when they are drawn, then their bars hang from the line of zero.
    #[test]
    fn negative_values_hang_below_zero() {
        let interval = |label: &str| Interval { label: label.into(), address: None };
        let series = [Series { name: "Balance".into(), values: vec![100.0, -100.0] }];
        let shown = over_time("B", &[interval("a"), interval("b")], &series).into_string();
        let bar = |at: usize| {
            let rect = shown.split("<rect").nth(at).expect("a bar");
            ["y", "height"].map(|name| {
                let value = rect.split_once(&format!(" {name}=\"")).expect(name).1;
                value.split('"').next().expect(name).parse::<f64>().expect(name)
            })
        };
        let ([above, first], [below, second]) = (bar(1), bar(2));
        assert_eq!(first, second);
        assert!((above + first - below).abs() < 0.11, "{above} {first} {below}");
        assert!(shown.contains("<td class=\"n\">-100</td>"), "{shown}");
    }

    #[test]
    fn labels_are_escaped_and_bars_are_as_long_as_their_numbers() {
        let bar = |value, label: &str| Bar {
            label: html! { (label) },
            value,
            address: Some("/a?b=1&c=2".into()),
            class: "bar-1",
        };
        let shown = bar_table("C", "Bills", &[bar(10.0, "<b>"), bar(5.0, "y")]).into_string();
        assert!(shown.contains("&lt;b&gt;") && shown.contains("href=\"/a?b=1&amp;c=2\""));
        assert!(shown.contains("width=\"100.00%\"") && shown.contains("width=\"50.00%\""));
    }
}
