//! Amendments: congress.gov's API objects as JSONL; BILLSTATUS has the same objects inside a bill.

use std::borrow::Cow;

use anyhow::Result;
use josh::catalog::wording;

use crate::formats::congress::{self, Action};
use crate::formats::tree::{Tree, int_at, items, str_at};
use crate::formats::{dates, documents, eastern};
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

/// Reads one file below `amendments`.
pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    if input.extension() == "json" {
        return read_document(input, out);
    }
    if input.extension() != "jsonl" {
        return Ok(Outcome::Skipped);
    }
    for (number, line) in documents::lines(input)? {
        let place = format!("line {number}");
        match line.and_then(|value| record(&value, Rank::Full, None)) {
            Ok(record) => out.record(record),
            Err(reason) => out.reject(&place, &reason),
        }
    }
    Ok(Outcome::Read)
}

/// An API answer: `{"amendment": {..}}` or `{"amendments": [..]}`.
fn read_document(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let Some(document) = documents::value(input)? else { return Ok(Outcome::Skipped) };
    let listed = items(document.get("amendments"), &["amendment"]);
    // A list names amendments without their history.
    let found = match document.get("amendment") {
        Some(one) => vec![(one, Rank::Full)],
        None => listed.into_iter().map(|one| (one, Rank::Partial)).collect(),
    };
    if found.is_empty() {
        return Ok(Outcome::Skipped);
    }
    for (value, rank) in found {
        match record(value, rank, None) {
            Ok(record) => out.record(record),
            Err(reason) => out.reject("amendment", &reason),
        }
    }
    Ok(Outcome::Read)
}

/// One amendment; `bill` is the bill it was found in, for files that do not repeat it.
pub fn record<'a>(value: impl Tree<'a>, rank: Rank, bill: Option<&str>) -> Result<Record, String> {
    let kind = str_at(value, &["type"]).to_ascii_lowercase();
    let id = id_of(value).ok_or("an amendment without type, congress and number")?;
    let (_, congress, number) =
        congress::parts(&id).ok_or("an amendment without type, congress and number")?;
    let mut record = Record::new("amendments", id.as_str(), rank);
    record.set("congress", congress).set("type", kind.as_str()).set("number", number);
    record.set("chamber", congress::chamber(&kind));
    let amended = value.get("amendedBill").and_then(congress::bill_of).or(bill.map(str::to_string));
    let purpose = purpose(value);
    record.set("title", title(&kind, number, amended.as_deref(), &purpose));
    record.set("bill_id", amended).set("purpose", purpose);
    record.set("amends_amendment_id", value.get("amendedAmendment").and_then(id_of));
    set_sponsor(value, &mut record);
    let submitted = ["submittedDate", "proposedDate"]
        .into_iter()
        .find_map(|name| eastern::day(&str_at(value, &[name])));
    record.set("submitted_date", submitted);
    set_progress(value, &mut record);
    Ok(record)
}

fn id_of<'a>(value: impl Tree<'a>) -> Option<String> {
    let kind = str_at(value, &["type"]).to_ascii_lowercase();
    let (congress, number) = (int_at(value, &["congress"])?, int_at(value, &["number"])?);
    (matches!(kind.as_str(), "hamdt" | "samdt") && congress > 0 && number > 0)
        .then(|| format!("{kind}:{congress}:{number}"))
}

/// The Senate states a purpose; the House describes.
fn purpose<'a>(value: impl Tree<'a>) -> Cow<'a, str> {
    let mut stated = ["purpose", "description"].into_iter().map(|name| str_at(value, &[name]));
    stated.find(|s| !s.is_empty()).unwrap_or_default()
}

/// "S. Amdt. 8 to S. 5: To include crimes": a purpose alone ("In the nature of a substitute.")
/// tells nothing apart.
pub fn title(kind: &str, number: i64, bill: Option<&str>, purpose: &str) -> String {
    let mut title = format!("{} {number}", wording::cited_type(kind));
    if let Some(bill) = bill {
        title.push_str(&format!(" to {}", wording::cited_measure(bill)));
    }
    if !purpose.is_empty() {
        title.push_str(&format!(": {purpose}"));
    }
    title
}

fn set_sponsor<'a>(value: impl Tree<'a>, record: &mut Record) {
    let sponsors = items(value.get("sponsors"), &["item"]);
    let Some(sponsor) = sponsors.first().map(|s| congress::member(*s)) else { return };
    record.set("sponsor", sponsor.bioguide).set("sponsor_name", sponsor.name);
    record.set("sponsor_party", sponsor.party).set("sponsor_state", sponsor.state);
}

fn set_progress<'a>(value: impl Tree<'a>, record: &mut Record) {
    let mut actions = congress::actions(&items(value.get("actions"), &["actions", "item"]));
    // The Library's copies of floor actions come after them in the file, so the time of day
    // decides.
    actions.sort_by(|a, b| (&b.date, &b.time).cmp(&(&a.date, &a.time)));
    let said = dates::iso(&str_at(value, &["latestAction", "actionDate"]));
    match actions
        .iter()
        .find(|a| !a.text.is_empty())
        .filter(|a| said.as_deref() < Some(a.date.as_str()))
    {
        Some(newest) => record
            .set("latest_action", newest.text.as_str())
            .set("latest_action_date", newest.date.as_str()),
        None => record
            .set("latest_action", str_at(value, &["latestAction", "text"]))
            .set("latest_action_date", said),
    };
    if !actions.is_empty() {
        record.set("status", status(&actions));
    }
    for row in actions.iter().filter_map(Action::row) {
        record.row("actions", row);
    }
}

/// The catalog's `status` from all actions, newest first: the newest that decides something does.
pub fn status(actions: &[Action]) -> &'static str {
    let decided = actions.iter().find_map(|a| step(a).filter(|s| *s != "proposed"));
    let proposed = actions.iter().any(|a| step(a) == Some("proposed"));
    decided.unwrap_or(if proposed { "proposed" } else { "submitted" })
}

fn step(action: &Action) -> Option<&'static str> {
    let text = action.text.to_ascii_lowercase();
    let on_motion = ["motion to", "cloture", "point of order"].iter().any(|m| text.starts_with(m));
    if text.contains("ruled out of order")
        || (text.contains(" fell ") && text.contains("point of order"))
    {
        return Some("ruled_out_of_order");
    }
    if text.contains("motion to table") {
        let carried = text.contains("agreed to") && !text.contains("not agreed to");
        return carried.then_some("tabled");
    }
    match action.code.as_str() {
        "72000" | "72500" | "94000" => return Some("agreed_to"),
        "73000" | "95000" => return Some("failed"),
        "71000" | "71500" | "93000" => return Some("proposed"),
        _ => {}
    }
    let withdrawn = text.contains("withdrawn") && !text.contains("fell when");
    match () {
        _ if withdrawn => Some("withdrawn"),
        _ if on_motion => None,
        _ if text.contains(" fell when ") => Some("failed"),
        _ if text.contains("amendment") && text.contains("not agreed to in senate") => {
            Some("failed")
        }
        _ if text.starts_with("amendment sa") && text.contains("agreed to in senate") => {
            Some("agreed_to")
        }
        _ if text.starts_with("amendment")
            && (text.contains(" proposed by ") || text.contains(" offered by ")) =>
        {
            Some("proposed")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::formats::testing::read_text;

    fn done(code: &str, text: &str) -> Action {
        Action {
            date: "2025-01-15".into(),
            code: code.into(),
            text: text.into(),
            ..Action::default()
        }
    }

    #[test]
    fn what_became_of_it() {
        let proposed = done(
            "93000",
            "Senate amendment proposed (on the floor): Amendment SA 8 proposed by Senator Doe.",
        );
        let after = |text: &str| status(&[done("", text), proposed.clone()]);
        assert_eq!(status(&[done("91000", "Senate amendment submitted")]), "submitted");
        assert_eq!(status(std::slice::from_ref(&proposed)), "proposed");
        assert_eq!(after("Amendment SA 8 agreed to in Senate by Voice Vote."), "agreed_to");
        assert_eq!(after("Amendment SA 8 not agreed to in Senate by Yea-Nay Vote."), "failed");
        assert_eq!(
            after("Motion to table amendment SA 8 agreed to in Senate by Yea-Nay Vote."),
            "tabled"
        );
        assert_eq!(
            after("Motion to table amendment SA 8 rejected in Senate by Yea-Nay Vote."),
            "proposed"
        );
        assert_eq!(after("Amendment SA 8 ruled out of order by the chair."), "ruled_out_of_order");
        assert_eq!(after("Proposed amendment SA 8 withdrawn in Senate."), "withdrawn");
        assert_eq!(after("SA 8 fell when SA 7 withdrawn."), "failed");
        assert_eq!(
            after("Cloture on amendment SA 8 not invoked in Senate by Yea-Nay Vote."),
            "proposed"
        );
    }

    /// The House's clerk and the Library both report a vote; one of the Library's has no text.
    #[test]
    fn the_roll_calls_of_an_amendment_are_in_its_actions() {
        let vote = json!({"recordedVote": {"chamber": "House", "congress": "119",
            "sessionNumber": "1", "rollNumber": "32"}});
        let action = |code: &str, time: &str, text: &str| {
            json!({"actionDate": "2025-02-06", "actionTime": time, "actionCode": code,
                "text": text, "sourceSystem": {"name": "House floor actions"}})
        };
        let mut decided = action("73000", "16:35:35", "On agreeing: Failed 182 - 226.");
        let mut untitled = action("75000", "16:35:35", "");
        decided["recordedVotes"] = vote.clone();
        untitled["recordedVotes"] = vote;
        let offered = action("71000", "13:32:59", "Amendment (A002) offered.");
        let value = json!({"type": "HAMDT", "congress": "119", "number": "5",
            "actions": {"actions": {"item": [offered, untitled, decided]}}});
        let read = read_text(read, "amendments/a.jsonl", &value.to_string());
        let rows: Vec<_> = read.records[0].rows.iter().map(|(_, row)| &row["vote_id"]).collect();
        assert_eq!(rows, [&json!("house:119:1:32"), &Value::Null]);
        assert_eq!(read.field(0, "status"), "failed");
    }

    #[test]
    fn an_amendment_names_its_bill_and_the_amendment_it_amends() {
        let value = json!({"type": "SAMDT", "congress": "119", "number": "8", "submittedDate": "2025-01-15T05:00:00Z",
            "purpose": "To add.", "amendedBill": {"type": "S", "congress": "119", "number": "5"},
            "amendedAmendment": {"type": "SAMDT", "congress": "119", "number": "3"},
            "sponsors": {"item": {"name": "Rules Committee"}}});
        let read =
            read_text(read, "amendments/a.jsonl", &format!("{value}\n{{\"type\":\"SAMDT\"}}"));
        assert_eq!((read.ids(), read.rejects.len()), (vec!["samdt:119:8"], 1));
        assert_eq!(read.field(0, "title"), "S. Amdt. 8 to S. 5: To add.");
        assert_eq!(
            (read.field(0, "bill_id"), read.field(0, "amends_amendment_id")),
            (&json!("s:119:5"), &json!("samdt:119:3"))
        );
        assert_eq!(
            (read.field(0, "sponsor"), read.field(0, "sponsor_name")),
            (&Value::Null, &json!("Rules Committee"))
        );
        assert_eq!(read.field(0, "submitted_date"), "2025-01-15");
    }
}
