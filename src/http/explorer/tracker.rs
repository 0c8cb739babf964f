//! How far a bill has come: its stages in a row, those behind it marked.

use maud::{Markup, html};
use serde_json::Value;

/// The stages of a measure, by what it can become, each with the statuses that have reached it.
/// `first` and `second` are the chambers in the order in which it passes them.
fn stages(record: &Value) -> Option<Vec<(String, bool)>> {
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    let (status, kind) = (text("status"), text("type"));
    let (first, second) = match text("chamber") {
        "house" => ("house", "senate"),
        "senate" => ("senate", "house"),
        _ => return None,
    };
    let rank = match status {
        "introduced" => 0,
        "reported" => 1,
        _ if status == format!("passed_{first}") => 2,
        "passed_both" | "vetoed" => 3,
        // A text of the other chamber, passed there first.
        _ if status == format!("passed_{second}") => 2,
        "agreed_to" | "enacted" => 4,
        "failed" => 1,
        _ => return None,
    };
    let chamber = |name: &str| if name == "house" { "House" } else { "Senate" };
    let names: Vec<String> = match kind {
        "hr" | "s" | "hjres" | "sjres" => vec![
            "Introduced".into(),
            "Reported".into(),
            format!("Passed {}", chamber(first)),
            format!("Passed {}", chamber(second)),
            if status == "vetoed" { "Vetoed".into() } else { "Law".into() },
        ],
        "hconres" | "sconres" => vec![
            "Introduced".into(),
            "Reported".into(),
            format!("{} agreed", chamber(first)),
            format!("{} agreed", chamber(second)),
            "Agreed to".into(),
        ],
        "hres" | "sres" => vec!["Introduced".into(), "Reported".into(), "Agreed to".into()],
        _ => return None,
    };
    let last = names.len() - 1;
    let reached = if status == "vetoed" || status == "agreed_to" { last } else { rank.min(last) };
    Some(names.into_iter().enumerate().map(|(at, name)| (name, at <= reached)).collect())
}

/// The tracker of a record that has stages; nothing for others.
pub fn tracker(record: &Value) -> Markup {
    let Some(stages) = stages(record) else { return html! {} };
    let status = record["status"].as_str().unwrap_or_default();
    let is_bad = ["vetoed", "failed"].contains(&status);
    let last = stages.iter().rposition(|(_, is_reached)| *is_reached).unwrap_or_default();
    html! {
        ol .tracker aria-label="Progress" {
            @for (at, (name, is_reached)) in stages.iter().enumerate() {
                @let class = match (at == last, is_reached) {
                    (true, _) if is_bad => "bad",
                    (true, _) => "now",
                    (false, true) => "done",
                    _ => "",
                };
                li class=(class) aria-current=[(at == last).then_some("step")] {
                    (name)
                    @if at == last && status == "failed" { ", then failed" }
                    @if at == 0 {
                        @if let Some(day) = record["introduced_date"].as_str() {
                            br; time datetime=(day) { (day) }
                        }
                    } @else if at == last {
                        @if let Some(day) = record["latest_action_date"].as_str() {
                            br; time datetime=(day) { (day) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn stages_depend_on_the_kind_of_measure_and_its_chamber() {
        let shown = |kind: &str, chamber: &str, status: &str| {
            let record = json!({ "type": kind, "chamber": chamber, "status": status });
            let reached = stages(&record).unwrap_or_default();
            let names = reached.into_iter().filter(|(_, is)| *is).map(|(name, _)| name);
            names.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(shown("s", "senate", "passed_senate"), "Introduced, Reported, Passed Senate");
        assert_eq!(
            shown("hr", "house", "enacted"),
            "Introduced, Reported, Passed House, Passed Senate, Law"
        );
        assert_eq!(shown("hres", "house", "agreed_to"), "Introduced, Reported, Agreed to");
        assert_eq!(shown("hr", "house", "introduced"), "Introduced");
        assert_eq!(shown("pn", "", "confirmed"), "");
    }
}
