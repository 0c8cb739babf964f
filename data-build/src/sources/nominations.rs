//! Nominations: answers of the congress.gov API (a list of `nominations`, one `nomination`, with
//! or without its `actions`), JSONL of the same objects, and granules of the Congressional Record,
//! of which only sentences that give a PN number are read. Lists that were sent to the Senate have
//! no PN numbers and are passed over.

use std::collections::HashSet;
use std::sync::LazyLock;

use anyhow::Result;
use josh::catalog::{ids, wording};
use regex::Regex;
use serde_json::{Value, json};

use crate::formats::dates::iso;
use crate::formats::documents::{self, non_empty};
use crate::formats::json::{int_at, items_at, str_at};
use crate::formats::xml::fold;
use crate::formats::{committee_names, congress};
use crate::input::Input;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "nominations";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let mut outcome = Outcome::Skipped;
    if matches!(input.extension(), "jsonl" | "ndjson") {
        for (line, value) in documents::lines(input)? {
            let place = format!("line {line}");
            match value {
                Ok(value) => read_value(&value, &place, &mut outcome, out),
                Err(reason) => out.reject(&place, &reason),
            }
        }
    } else if let Some(document) = documents::value(input)? {
        for (i, value) in items_at(&document, &[]).into_iter().enumerate() {
            read_value(value, &format!("item {}", i + 1), &mut outcome, out);
        }
    }
    Ok(outcome)
}

fn read_value(value: &Value, place: &str, outcome: &mut Outcome, out: &mut dyn Sink) {
    if value.get("granule_id").is_some() {
        *outcome = Outcome::Read;
        return read_granule(value, out);
    }
    // The list states less than the single answer.
    let list = items_at(value, &["nominations"]).into_iter().map(|n| (n, Rank::Partial));
    let single = value.get("nomination").into_iter().map(|n| (n, Rank::Full));
    let bare =
        Some(value).filter(|v| v.get("citation").is_some() && v.get("latestAction").is_some());
    for (nomination, rank) in list.chain(single).chain(bare.map(|n| (n, Rank::Partial))) {
        *outcome = Outcome::Read;
        let actions = items_at(value, &["actions"]);
        match described(nomination, &actions, rank) {
            Some(record) => out.record(record),
            None => out.reject(
                place,
                &format!("no congress or number: {:?}", str_at(nomination, &["citation"])),
            ),
        }
    }
}

fn described(nomination: &Value, actions: &[&Value], rank: Rank) -> Option<Record> {
    let text = |path: &[&str]| str_at(nomination, path);
    let mut r = numbered(int_at(nomination, &["congress"])?, &number(nomination)?, rank)?;
    let post = items_at(nomination, &["nominees"]);
    // A list of officers may have an introduction instead of a description.
    let description = match (text(&["description"]), post.first()) {
        (described, Some(first)) if described.is_empty() => str_at(first, &["introText"]),
        (described, _) => described,
    };
    set_appointment(&mut r, &description);
    if let [only] = post[..] {
        r.set("position", str_at(only, &["positionTitle"]));
    }
    let organization = text(&["organization"]);
    let of_post = post.first().map(|p| str_at(p, &["organization"])).unwrap_or_default();
    r.set("organization", if organization.is_empty() { of_post } else { organization });
    r.set("received_date", iso(&text(&["receivedDate"])));
    let actions = congress::actions(actions);
    let stated_latest =
        (text(&["latestAction", "text"]), iso(&text(&["latestAction", "actionDate"])));
    // The list of actions may be newer than the summary.
    let latest = match actions.first() {
        Some(newest) if Some(&newest.date) > stated_latest.1.as_ref() => {
            (newest.text.clone(), Some(newest.date.clone()))
        }
        _ => stated_latest,
    };
    let referral =
        actions.iter().map(|a| a.text.as_str()).chain([latest.0.as_str()]).find_map(committee_of);
    let known = actions.iter().flat_map(|a| a.committees.iter()).next().cloned();
    r.set("committee", known.or(referral.map(str::to_string)));
    r.set("status", status(&latest.0))
        .set("latest_action", latest.0)
        .set("latest_action_date", latest.1);
    for action in actions.iter().filter(|a| !a.text.is_empty()) {
        r.row(
            "actions",
            json!({"date": action.date, "text": action.text, "type": non_empty(&action.kind)}),
        );
    }
    Some(r)
}

fn set_appointment(record: &mut Record, description: &str) {
    let appointment = Appointment::read(description);
    record
        .set("title", appointment.title)
        .set("nominee", appointment.nominee)
        .set("position", appointment.position);
}

/// A nomination that a roll call names, if the roll call describes it: "Ada Doe, of Ohio, to be
/// Judge".
pub fn mentioned(id: &str, description: &str) -> Option<Record> {
    let (congress, number) = id.strip_prefix("pn:")?.split_once(':')?;
    let mut record = numbered(congress.parse().ok()?, number, Rank::Stub)?;
    set_appointment(&mut record, description);
    record.fields.contains_key("title").then_some(record)
}

/// "1273-8": number and part from the citation, or from fields of their own. A citation may lack
/// its part ("PN73" with part "04"); "00" is none.
fn number(nomination: &Value) -> Option<String> {
    let citation = str_at(nomination, &["citation"]);
    let cited = citation.strip_prefix("PN").filter(|n| n.starts_with(|c: char| c.is_ascii_digit()));
    let number = match cited {
        Some(number) => number.to_string(),
        None => int_at(nomination, &["number"])?.to_string(),
    };
    let part = int_at(nomination, &["partNumber"]).filter(|part| *part > 0);
    Some(match part {
        Some(part) if !number.contains('-') => format!("{number}-{part}"),
        _ => number,
    })
}

fn numbered(congress: i64, number: &str, rank: Rank) -> Option<Record> {
    let id = ids::canonical(SOURCE, &format!("pn:{congress}:{number}"))?;
    let (number, part) = number.split_once('-').unwrap_or((number, ""));
    let part = part.trim_start_matches('0');
    let mut r = Record::new(SOURCE, id, rank);
    r.set("congress", congress).set("number", number.parse::<i64>().ok()).set("part", part);
    Some(r)
}

/// "Ada Doe, of Ohio, to be Judge, vice Al Roe, retired."
static APPOINTMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?s)^(?P<name>[^:]{3,80}?), of (?P<home>[^,]{3,40}(?:, [A-Z][a-z]+)?), to be (?P<post>.+)$",
    )
});
static SUCCESSION: LazyLock<Regex> = LazyLock::new(|| pattern(r",? vice [A-Z].*$|\.$"));
static REFERRAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"eferred to the (Committee on [^.;]+?|Select Committee on [^.;]+?)(?: pursuant| for| by|[.;]|$)",
    )
});
/// The Secretary's desk: "PN12 ARMY nomination of Ada Doe, which was received by … Record of
/// January 8, 2025."
static DESK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"PN ?(?P<n>\d{1,5}(?:-\d{1,4})?) ",
        r"(?P<title>[A-Z][A-Z ]+? nominations? (?P<who>of|\(\d+\) beginning) (?P<name>.{3,90}?)), ",
        r"which (?:nominations? )?(?:was|were) received by the Senate and appeared in the ",
        r"Congressional Record (?:of|on) (?P<date>[A-Z][a-z]+ \d{1,2}, \d{4})",
    ))
});
/// In a speech: "Ada Doe to be Secretary of Tea (PN12-3)".
static SPOKEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:, |; |: |\band )(?P<name>[A-Z][A-Za-z.'\-]+(?: [A-Z][A-Za-z.'\-]+){1,4}),? to be ",
        r"(?P<post>[^()]{4,160}?) \(PN ?(?P<n>\d{1,5}(?:-\d{1,4})?)\)",
    ))
});

#[derive(Debug, Default, PartialEq)]
struct Appointment {
    title: String,
    nominee: String,
    position: String,
}

impl Appointment {
    /// A list of officers has no one nominee: then the description is the title.
    fn read(description: &str) -> Self {
        let description = fold(description);
        match APPOINTMENT.captures(&description) {
            Some(c) => {
                let position = SUCCESSION.replace(&c["post"], "").trim_end_matches('.').to_string();
                let title = format!("{}, of {}, to be {position}", &c["name"], &c["home"]);
                Appointment { title, nominee: c["name"].to_string(), position }
            }
            None => Appointment { title: description, ..Appointment::default() },
        }
    }
}

fn committee_of(action: &str) -> Option<&'static str> {
    committee_names::code("senate", &REFERRAL.captures(action)?[1])
}

/// Where a nomination stands after its newest action.
fn status(action: &str) -> Option<&'static str> {
    let action = action.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|w| action.contains(w));
    if says(&["confirmed by the senate"]) {
        Some("confirmed")
    } else if says(&["withdrawal", "withdrawn"]) {
        Some("withdrawn")
    } else if says(&["returned to the president"]) {
        Some("returned")
    } else if says(&["executive calendar", "secretary's desk"]) {
        Some("on_calendar")
    } else if says(&["reported by", "ordered to be reported"]) {
        Some("reported")
    } else if says(&["referred to", "hearings held", "committee consideration"]) {
        Some("in_committee")
    } else if says(&["received in the senate"]) {
        Some("received")
    } else {
        None
    }
}

fn read_granule(granule: &Value, out: &mut dyn Sink) {
    static PAGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[\[Page [A-Z]\d+\]\]"));
    let Some(congress) =
        iso(&str_at(granule, &["date"])).and_then(|date| wording::congress_on(&date))
    else {
        return;
    };
    let text = fold(&PAGE.replace_all(&str_at(granule, &["text"]), " "));
    let mut seen = HashSet::new();
    for c in DESK.captures_iter(&text) {
        let Some(mut r) = numbered(congress, &c["n"], Rank::Partial) else { continue };
        r.set("title", &c["title"]).set("received_date", iso(&c["date"]));
        if &c["who"] == "of" {
            r.set("nominee", &c["name"]);
        }
        if seen.insert(r.id.clone()) {
            out.record(r);
        }
    }
    for c in SPOKEN.captures_iter(&text) {
        let Some(mut r) = numbered(congress, &c["n"], Rank::Stub) else { continue };
        r.set("title", format!("{}, to be {}", &c["name"], &c["post"]));
        r.set("nominee", &c["name"]).set("position", &c["post"]);
        if seen.insert(r.id.clone()) {
            out.record(r);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn a_list_of_the_api() {
        let text = r#"{"nominations": [{"citation": "PN12-8", "congress": 119, "number": 12, "partNumber": "08",
            "description": "Ada Doe, of Ohio, to be Chief Taster, Tea Board, vice Al Roe, resigned.",
            "organization": "Tea Board",
            "receivedDate": "2026-01-14", "latestAction": {"actionDate": "2026-01-14",
            "text": "Received in the Senate and referred to the Committee on Foreign Relations."}},
            {"citation": "", "description": "nothing"}]}"#;
        let got = read_text(read, "n/list.json", text);
        assert_eq!(got.ids(), ["pn:119:12-8"]);
        assert_eq!(*got.field(0, "title"), "Ada Doe, of Ohio, to be Chief Taster, Tea Board");
        assert_eq!(
            (got.field(0, "nominee"), got.field(0, "part")),
            (&json!("Ada Doe"), &json!("8"))
        );
        assert_eq!(
            (got.field(0, "status"), got.field(0, "committee")),
            (&json!("in_committee"), &json!("SSFR"))
        );
        assert_eq!(got.rejects.len(), 1);
    }

    #[test]
    fn a_part_is_in_the_citation_or_beside_it() {
        let one = |citation: &str, part: &str| {
            let text = format!(
                r#"{{"nomination": {{"citation": "{citation}", "congress": 119, "number": 73,
                "partNumber": "{part}", "description": "", "latestAction": {{}},
                "nominees": [{{"introText": "The following named officers:"}}]}}}}"#
            );
            let got = read_text(read, "n/one.json", &text);
            assert_eq!(*got.field(0, "title"), "The following named officers:");
            (got.ids()[0].to_string(), got.field(0, "part").clone())
        };
        assert_eq!(one("PN73-4", "04"), ("pn:119:73-4".into(), json!("4")));
        assert_eq!(one("PN73", "04"), ("pn:119:73-4".into(), json!("4")));
        assert_eq!(one("PN73", "00"), ("pn:119:73".into(), Value::Null));
        assert_eq!(one("", "04"), ("pn:119:73-4".into(), json!("4")));
    }

    #[test]
    fn the_newest_action_decides() {
        let text = r#"{"nomination": {"congress": 119, "number": 7, "partNumber": "00",
            "description": "3 Army nominations",
            "latestAction": {"actionDate": "2026-01-02", "text": "Placed on Senate Executive Calendar."}},
            "actions": [{"actionDate": "2026-01-02", "text": "Placed on Senate Executive Calendar."},
                        {"actionDate": "2026-02-03", "text": "Confirmed by the Senate by Voice Vote.",
                         "type": "Floor"}]}"#;
        let got = read_text(read, "n/one.json", text);
        assert_eq!((got.ids()[0], got.field(0, "status")), ("pn:119:7", &json!("confirmed")));
        assert_eq!(got.records[0].rows[0].1["date"], "2026-02-03");
        assert!(got.field(0, "nominee").is_null(), "a list has no one nominee");
    }

    #[test]
    fn the_record_is_read_only_where_it_gives_a_number() {
        let text = [
            r"  PN1 AIR FORCE nomination of Ada B. Doe, which \n was received by the Senate and\n\n[[Page S2]]\n\n",
            r"appeared in the Congressional Record of January 8, 2025.\n PN2 ARMY nominations (2) beginning AL ROE, ",
            r"and ending ED POE, which nominations were received by the Senate and appeared in the Congressional Record ",
            r"of January 8, 2025. I object to these, and Jo Moe to be Secretary of Tea (PN3-4). Al, of Ohio, to be Judge.",
        ];
        let text =
            format!(r#"{{"granule_id": "G", "date": "2025-04-04", "text": "{}"}}"#, text.concat());
        let got = read_text(read, "n/crec.jsonl", &text);
        assert_eq!(got.ids(), ["pn:119:1", "pn:119:2", "pn:119:3-4"]);
        assert_eq!(
            (got.field(0, "nominee"), got.field(0, "received_date")),
            (&json!("Ada B. Doe"), &json!("2025-01-08"))
        );
        assert!(got.field(1, "nominee").is_null());
        assert_eq!(*got.field(2, "title"), "Jo Moe, to be Secretary of Tea");
    }
}
