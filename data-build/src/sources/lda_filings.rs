//! Filings under the Lobbying Disclosure Act: answers of the LDA API (one filing, or a page of
//! `results`), JSONL of the same objects, and JSONL indexes that hold a filing's parties, amount
//! and bills. Contributions, registrants, clients, lobbyists and constants are other things and
//! are passed over.

use std::collections::HashSet;

use anyhow::Result;
use josh::catalog::{ids, wording};
use serde_json::{Value, json};

use crate::formats::dates::iso;
use crate::formats::documents::{self, non_empty, non_empty_list};
use crate::formats::json::{int_at, items_at, str_at};
use crate::formats::people;
use crate::input::Input;
use crate::mentions;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "lda-filings";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let mut outcome = Outcome::Skipped;
    let mut take = |place: String, value: &Value, out: &mut dyn Sink| {
        if !is_filing(value) && !is_index_entry(value) {
            return;
        }
        outcome = Outcome::Read;
        let record = if is_filing(value) { filing(value) } else { index_entry(value) };
        match record {
            Some(record) => out.record(record),
            None => out.reject(&place, "no filing uuid"),
        }
    };
    if matches!(input.extension(), "jsonl" | "ndjson") {
        for (line, value) in documents::lines(input)? {
            let place = format!("line {line}");
            match value {
                Ok(value) => take(place, &value, out),
                Err(reason) => out.reject(&place, &reason),
            }
        }
    } else if let Some(document) = documents::value(input)? {
        let found = if document.get("results").is_some() {
            items_at(&document, &["results"])
        } else {
            items_at(&document, &[])
        };
        for (i, value) in found.into_iter().enumerate() {
            take(format!("filing {}", i + 1), value, out);
        }
    }
    Ok(outcome)
}

/// A report of contributions has a uuid too, but no client.
fn is_filing(value: &Value) -> bool {
    value.get("filing_uuid").is_some() && value.get("client").is_some()
}

fn is_index_entry(value: &Value) -> bool {
    ["uuid", "registrant", "client", "year"].iter().all(|key| value.get(key).is_some())
}

fn filing(value: &Value) -> Option<Record> {
    let mut r =
        Record::new(SOURCE, ids::canonical(SOURCE, &str_at(value, &["filing_uuid"]))?, Rank::Full);
    let text = |path: &[&str]| str_at(value, path);
    let (registrant, client) = (text(&["registrant", "name"]), text(&["client", "name"]));
    let (kind, period, year) =
        (text(&["filing_type"]), text(&["filing_period"]), int_at(value, &["filing_year"]));
    r.set("title", title(&named(&kind, &period, year), &registrant, &client));
    r.set("registrant", registrant)
        .set("client", client)
        .set("client_state", text(&["client", "state"]));
    r.set("filing_type", kind).set("filing_period", period).set("filing_year", year);
    let (income, expenses) = (int_at(value, &["income"]), int_at(value, &["expenses"]));
    r.set("income", income).set("expenses", expenses).set("amount", income.or(expenses));
    r.set("filed_date", iso(&text(&["dt_posted"]))).set("url", text(&["filing_document_url"]));
    r.set("filed_at", text(&["dt_posted"]));
    r.set("registrant_id", int_at(value, &["registrant", "id"]))
        .set("client_id", int_at(value, &["client", "id"]));
    add_activities(&mut r, value, year.and_then(sitting));
    Some(r)
}

/// The activities as rows, and what they name gathered on the record.
fn add_activities(r: &mut Record, value: &Value, congress: Option<i64>) {
    let (mut codes, mut people, mut offices, mut bills) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for activity in items_at(value, &["lobbying_activities"]) {
        let text = |key: &str| str_at(activity, &[key]);
        let lobbyists = unique(items_at(activity, &["lobbyists"]).into_iter().map(lobbyist));
        let entities = unique(
            items_at(activity, &["government_entities"]).into_iter().map(|e| str_at(e, &["name"])),
        );
        let named = mentions::bills(&text("description"), congress);
        codes.push(text("general_issue_code"));
        people.extend(lobbyists.iter().cloned());
        offices.extend(entities.iter().cloned());
        bills.extend(named.iter().cloned());
        r.row(
            "activities",
            json!({
                "issue_code": non_empty(&text("general_issue_code")),
                "issue": non_empty(&text("general_issue_code_display")),
                "description": non_empty(&text("description")),
                "government_entities": non_empty_list(entities),
                "lobbyists": non_empty_list(lobbyists),
                "bill_ids": non_empty_list(named),
            }),
        );
    }
    r.set("issue_codes", non_empty_list(unique(codes)))
        .set("lobbyists", non_empty_list(unique(people)));
    r.set("government_entities", non_empty_list(unique(offices)))
        .set("bill_ids", non_empty_list(unique(bills)));
}

/// Each name once, in order, without the empty ones.
fn unique(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names.into_iter().filter(|name| !name.is_empty() && seen.insert(name.clone())).collect()
}

fn lobbyist(entry: &Value) -> String {
    let part = |key: &str| str_at(entry, &["lobbyist", key]);
    let suffix =
        if part("suffix_display").is_empty() { part("suffix") } else { part("suffix_display") };
    people::full_name(
        &part("first_name"),
        &part("middle_name"),
        &part("last_name"),
        &suffix.to_uppercase(),
    )
}

/// An index gives one amount without saying whether it is income or expenses, and 0 where there is
/// none.
fn index_entry(value: &Value) -> Option<Record> {
    let mut r =
        Record::new(SOURCE, ids::canonical(SOURCE, &str_at(value, &["uuid"]))?, Rank::Partial);
    let (registrant, client) = (str_at(value, &["registrant"]), str_at(value, &["client"]));
    let year = int_at(value, &["year"]);
    let period = int_at(value, &["quarter"]).and_then(quarter_name).unwrap_or_default();
    r.set("title", title(&named("", period, year), &registrant, &client));
    r.set("registrant", registrant)
        .set("client", client)
        .set("filing_year", year)
        .set("filing_period", period);
    r.set("amount", int_at(value, &["income"]).filter(|amount| *amount > 0));
    r.set("filed_date", iso(&str_at(value, &["date"])));
    let texts =
        |key: &str| items_at(value, &[key]).into_iter().map(|v| str_at(v, &[])).collect::<Vec<_>>();
    r.set("government_entities", non_empty_list(unique(texts("entities"))));
    // The index writes the congress beside each number, so nothing is assumed for one that has
    // none.
    r.set("bill_ids", non_empty_list(mentions::bills(&texts("legislation").join("; "), None)));
    Some(r)
}

fn quarter_name(quarter: i64) -> Option<&'static str> {
    ["first_quarter", "second_quarter", "third_quarter", "fourth_quarter"]
        .get(usize::try_from(quarter.checked_sub(1)?).ok()?)
        .copied()
}

/// The congress that sat in most of a year.
fn sitting(year: i64) -> Option<i64> {
    wording::congress_on(&format!("{year}-06-30"))
}

/// "Q2 2024 report", "Registration 2024", "Mid-year 2005 amendment".
fn named(kind: &str, period: &str, year: Option<i64>) -> String {
    let year = year.map(|y| format!(" {y}")).unwrap_or_default();
    if kind.starts_with('R') {
        return format!("Registration{}{year}", if kind == "RA" { " amendment" } else { "" });
    }
    let period = match period {
        "first_quarter" => "Q1",
        "second_quarter" => "Q2",
        "third_quarter" => "Q3",
        "fourth_quarter" => "Q4",
        "mid_year" => "Mid-year",
        "year_end" => "Year-end",
        other => other,
    };
    // The first letter of a type is its period, the next tells what it is; a Y at the end says "no
    // activity".
    let what = match kind.get(1..2) {
        None => "filing",
        Some("A") => "amendment",
        Some("T") => "termination",
        Some("@") => "termination amendment",
        Some(_) => "report",
    };
    format!("{period}{year} {what}").trim().to_string()
}

fn title(what: &str, registrant: &str, client: &str) -> String {
    match (registrant, client) {
        ("", _) => format!("{what}: {client}"),
        (_, "") => format!("{what}: {registrant}"),
        // Who lobbies for itself is registrant and client.
        _ if registrant.eq_ignore_ascii_case(client) => format!("{what}: {registrant}"),
        _ => format!("{what}: {registrant} for {client}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    const UUID: &str = "AAAAAAAA-1111-2222-3333-BBBBBBBBBBBB";

    #[test]
    fn a_page_of_filings() {
        let text = format!(
            r#"{{"results": [{{"filing_uuid": "{UUID}", "filing_type": "2A", "filing_year": "2024",
            "filing_period": "second_quarter",
            "income": null, "expenses": "2500.0", "dt_posted": "2024-07-18T08:36:34-04:00",
            "registrant": {{"name": "FIRM"}}, "client": {{"name": "TEA CO", "state": "MO"}},
            "lobbying_activities": [{{"general_issue_code": "HCR", "description": "H.R. 12, Tea Act; S. 3",
              "lobbyists": [{{"lobbyist": {{"first_name": "ANN", "last_name": "DOE", "suffix": "jr"}}}},
                            {{"lobbyist": null}}],
              "government_entities": [{{"name": "SENATE"}}]}}]}}]}}"#
        );
        let got = read_text(read, "lda/page.json", &text);
        assert_eq!(got.ids(), ["lda:aaaaaaaa-1111-2222-3333-bbbbbbbbbbbb"]);
        assert_eq!(*got.field(0, "title"), "Q2 2024 amendment: FIRM for TEA CO");
        assert_eq!((got.field(0, "amount"), got.field(0, "income")), (&json!(2500), &Value::Null));
        assert_eq!(*got.field(0, "bill_ids"), json!(["hr:118:12", "s:118:3"]));
        assert_eq!(*got.field(0, "lobbyists"), json!(["ANN DOE, JR"]));
    }

    #[test]
    fn an_index_states_less() {
        let line = format!(
            r#"{{"uuid": "{UUID}", "date": "2026-08-21T23:40:45-04:00", "client": "X", "registrant": "X", "income": 0.0,
            "year": 2026, "quarter": 2, "legislation": ["H.R. 8 (119th Congress)", "Tea Act"]}}"#
        )
        .replace('\n', " ");
        let got = read_text(read, "lda/index.jsonl", &format!("{line}\nnot json\n"));
        assert_eq!(*got.field(0, "title"), "Q2 2026 filing: X");
        assert!(got.field(0, "amount").is_null());
        assert_eq!(*got.field(0, "bill_ids"), json!(["hr:119:8"]));
        assert_eq!(got.rejects.len(), 1);
    }

    #[test]
    fn contributions_and_constants_are_passed_over() {
        let contribution =
            format!(r#"{{"filing_uuid": "{UUID}", "registrant": {{}}, "pacs": []}}"#);
        assert_eq!(read_text(read, "lda/c.json", &contribution).outcome, Outcome::Skipped);
        assert_eq!(
            read_text(read, "lda/k.json", r#"[{"value": "RR", "name": "Registration"}]"#).outcome,
            Outcome::Skipped
        );
    }
}
