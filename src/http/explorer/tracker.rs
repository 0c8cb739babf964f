//! How far a bill has come: its stages in a row, those behind it marked.

use maud::{Markup, html};
use serde_json::Value;

/// The stages of a measure, by what it can become, and whether its status has reached each. Only
/// what the status says is marked: a bill can pass without being reported.
fn stages(record: &Value) -> Option<Vec<(String, bool)>> {
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    let (status, kind) = (text("status"), text("type"));
    let chambers = match text("chamber") {
        "house" => [("house", "House"), ("senate", "Senate")],
        "senate" => [("senate", "Senate"), ("house", "House")],
        _ => return None,
    };
    let (needs_both, end) = match kind {
        "hr" | "s" | "hjres" | "sjres" => (true, "Law"),
        "hconres" | "sconres" => (true, "Agreed to"),
        "hres" | "sres" => (false, "Agreed to"),
        _ => return None,
    };
    let is_through = ["passed_both", "vetoed", "enacted", "agreed_to"].contains(&status);
    let mut stages = vec![("Introduced".to_string(), true)];
    if status == "reported" {
        stages.push(("Reported".into(), true));
    }
    for (chamber, name) in chambers.iter().filter(|_| needs_both) {
        let is_passed = is_through || status == format!("passed_{chamber}");
        stages.push((format!("Passed {name}"), is_passed));
    }
    stages.push(match status {
        "vetoed" => ("Vetoed".into(), true),
        "failed" => ("Failed".into(), true),
        _ => (end.into(), ["enacted", "agreed_to"].contains(&status)),
    });
    Some(stages)
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
        assert_eq!(shown("s", "senate", "passed_senate"), "Introduced, Passed Senate");
        assert_eq!(shown("hr", "house", "enacted"), "Introduced, Passed House, Passed Senate, Law");
        assert_eq!(shown("hres", "house", "agreed_to"), "Introduced, Agreed to");
        assert_eq!(shown("hr", "house", "reported"), "Introduced, Reported");
        assert_eq!(shown("hr", "house", "failed"), "Introduced, Failed");
        assert_eq!(shown("pn", "", "confirmed"), "");
    }
}
