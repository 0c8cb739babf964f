//! A roll call: the tally by party, and the members by how they voted, those who broke with their
//! party first.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use super::chart::{Bar, bar_table};
use super::values::{record_link, word};
use super::visit::Answer;
use crate::bundle::Bundle;

/// Members of the larger chamber, with delegates, and room.
pub const MOST_MEMBERS: usize = 600;

const PARTIES: [(&str, &str); 3] =
    [("democratic", "Democrats"), ("republican", "Republicans"), ("independent", "Others")];

/// Whether the tally of a roll call says this field.
pub fn is_in_tally(record: &Value, name: &str) -> bool {
    let of_party = PARTIES.iter().any(|(party, _)| {
        let side = name.strip_prefix(party);
        side.is_some_and(|side| ["_yea", "_nay"].contains(&side))
    });
    let is_roll_call = record["yea"].is_i64() && record["nay"].is_i64();
    is_roll_call && (of_party || ["yea", "nay", "present", "not_voting"].contains(&name))
}

/// Yeas and nays, in all and by party; nothing for a record that is no roll call.
pub fn tally(record: &Value) -> Markup {
    let count = |name: &str| record[name].as_i64();
    let (Some(yea), Some(nay)) = (count("yea"), count("nay")) else { return html! {} };
    let mut bars = Vec::new();
    let mut add = |label: String, value: Option<i64>, class: &'static str| {
        if let Some(value) = value {
            let value = value as f64;
            bars.push(Bar { label: html! { (label) }, value, address: None, class });
        }
    };
    add("Yea".into(), Some(yea), "bar-3");
    add("Nay".into(), Some(nay), "bar-2");
    add("Present".into(), count("present").filter(|n| *n > 0), "bar-6");
    add("Not voting".into(), count("not_voting").filter(|n| *n > 0), "bar-6");
    for (party, name) in PARTIES {
        let of = |side: &str| count(&format!("{party}_{side}"));
        if of("yea").unwrap_or_default() + of("nay").unwrap_or_default() > 0 {
            add(format!("{name} yea"), of("yea"), "bar-3");
            add(format!("{name} nay"), of("nay"), "bar-2");
        }
    }
    let text = |name: &str| record[name].as_str().unwrap_or_default();
    html! {
        section {
            h2 { "Tally" }
            p { (text("question")) ": " strong { (text("result")) } }
            (bar_table("Votes", "Votes", &bars))
        }
    }
}

/// The members by position.
pub fn members(bundle: &Bundle, answer: &Answer) -> Markup {
    let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_string();
    let mut by_position: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    let mut sides: BTreeMap<(String, String), usize> = BTreeMap::new();
    for item in answer.items() {
        by_position.entry(text(item, "position")).or_default().push(item);
        *sides.entry((text(item, "party"), text(item, "position"))).or_default() += 1;
    }
    let majority = |party: &str| {
        let of_party = sides.iter().filter(|((known, position), _)| {
            known == party && !["present", "not_voting"].contains(&position.as_str())
        });
        of_party.max_by_key(|(_, count)| **count).map(|((_, position), _)| position.clone())
    };
    let is_defector = |item: &Value| {
        let (party, position) = (text(item, "party"), text(item, "position"));
        ["D", "R"].contains(&party.as_str())
            && !["present", "not_voting"].contains(&position.as_str())
            && majority(&party).is_some_and(|of_party| of_party != position)
    };
    let mut positions: Vec<_> = by_position.into_iter().collect();
    let place = |position: &str| ["yea", "nay", "present"].iter().position(|p| *p == position);
    positions.sort_by_key(|(position, _)| place(position).unwrap_or(usize::MAX));
    for (_, items) in &mut positions {
        items.sort_by_key(|item| (!is_defector(item), text(item, "name")));
    }
    html! {
        @for (position, items) in &positions {
            details open[items.len() <= 120] {
                summary { strong { (word(position)) } " (" (items.len()) ")" }
                ul .members {
                    @for item in items.iter() {
                        li {
                            @let id = text(item, "bioguide");
                            @if bundle.records().by_id(&id).is_some() {
                                (record_link(bundle, "legislators", &id))
                            } @else { (text(item, "name")) }
                            " " span .soft { (text(item, "party")) "-" (text(item, "state")) }
                            @if is_defector(item) { " " span .badge { "against own party" } }
                        }
                    }
                }
            }
        }
    }
}
