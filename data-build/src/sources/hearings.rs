//! Committee meetings: congress.gov's API (`committeeMeeting`, `hearing`), lists of its events
//! (JSON), the YAML list of the 116th to 118th, the House committee repository (XML, see
//! `repository`), and the Daily Digest's reports of meetings held (JSONL of granules, see
//! `digest`).

use anyhow::Result;
use josh::catalog::{ids, wording};
use serde_json::Value;

use super::hearings_digest as digest;
use super::hearings_repository as repository;
use crate::formats::documents::{self, non_empty_list};
use crate::formats::json::{int_at, items_at, str_at};
use crate::formats::{committee_names, congress, eastern, xml};
use crate::input::Input;
use crate::mentions;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

pub(super) const SOURCE: &str = "hearings";

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
    } else if input.extension() == "xml" {
        read_xml(&input.text()?, &mut outcome, out)?;
    } else if let Some(document) = documents::value(input)? {
        let events = items_at(&document, &["events"]);
        let found = if events.is_empty() { items_at(&document, &[]) } else { events };
        for (i, value) in found.into_iter().enumerate() {
            read_value(value, &format!("item {}", i + 1), &mut outcome, out);
        }
    }
    Ok(outcome)
}

fn read_xml(text: &str, outcome: &mut Outcome, out: &mut dyn Sink) -> Result<()> {
    let document = xml::parse(text)?;
    let root = document.root_element();
    let record = match root.tag_name().name() {
        "committee-meeting" => repository::meeting(root),
        "witness-list" => repository::witness_list(root),
        _ => return Ok(()),
    };
    *outcome = Outcome::Read;
    hand_over(record, "meeting", out);
    Ok(())
}

fn hand_over(record: Option<Record>, place: &str, out: &mut dyn Sink) {
    match record {
        Some(record) if record.fields.contains_key("title") => out.record(record),
        Some(record) => out.reject(place, &format!("{} has no title", record.id)),
        None => out.reject(place, "no congress or no event id"),
    }
}

fn read_value(value: &Value, place: &str, outcome: &mut Outcome, out: &mut dyn Sink) {
    let record = if let Some(meeting) = value.get("committeeMeeting") {
        meeting_of_api(meeting)
    } else if let Some(hearing) = value.get("hearing").filter(|h| h.is_object()) {
        printed_hearing(hearing)
    } else if value.get("granule_id").is_some() {
        *outcome = Outcome::Read;
        return digest::read_granule(value, out);
    } else if value.get("event_id").is_some() {
        listed_event(value)
    } else {
        return;
    };
    *outcome = Outcome::Read;
    hand_over(record, place, out);
}

/// A record with its id and congress; `event` is what follows the congress in the id.
pub(super) fn started(congress: i64, event: &str, rank: Rank) -> Option<Record> {
    let id = ids::canonical(SOURCE, &format!("hearing:{congress}:{}", event.to_ascii_lowercase()))?;
    let mut r = Record::new(SOURCE, id, rank);
    r.set("congress", congress);
    Some(r)
}

fn meeting_of_api(meeting: &Value) -> Option<Record> {
    let text = |path: &[&str]| str_at(meeting, path);
    let congress = int_at(meeting, &["congress"])?;
    let mut r = started(congress, &text(&["eventId"]), Rank::Full)?;
    let title = text(&["title"]);
    set_committee(&mut r, meeting);
    r.set("chamber", chamber(&text(&["chamber"]))).set("date", eastern::day(&text(&["date"])));
    r.set("type", kind(&text(&["type"]))).set("location", place_of(meeting.get("location")));
    r.set("status", text(&["meetingStatus"]).to_lowercase());
    let mut names: Vec<String> =
        items_at(meeting, &["witnesses"]).into_iter().map(|w| str_at(w, &["name"])).collect();
    names.retain(|name| !name.is_empty());
    let mut bills: Vec<String> = items_at(meeting, &["relatedItems", "bills"])
        .into_iter()
        .filter_map(congress::bill_of)
        .collect();
    bills.extend(
        mentions::bills(&title, Some(congress))
            .into_iter()
            .filter(|b| !bills.contains(b))
            .collect::<Vec<_>>(),
    );
    r.set("witnesses", non_empty_list(names))
        .set("bill_ids", non_empty_list(bills))
        .set("title", title);
    Some(r)
}

/// A printed hearing is the record of a meeting where it names one; otherwise it goes by GPO's
/// package.
fn printed_hearing(hearing: &Value) -> Option<Record> {
    let text = |path: &[&str]| str_at(hearing, path);
    let congress = int_at(hearing, &["congress"])?;
    let chamber = chamber(&text(&["chamber"]));
    let event = match text(&["associatedMeeting", "eventId"]).as_str() {
        "" => {
            let letter = chamber.and_then(|c| c.chars().next())?;
            format!("chrg-{congress}{letter}hrg{}", int_at(hearing, &["jacketNumber"])?)
        }
        event => event.to_string(),
    };
    let mut r = started(congress, &event, Rank::Partial)?;
    set_committee(&mut r, hearing);
    r.set("title", text(&["title"])).set("chamber", chamber).set("type", "hearing");
    r.set(
        "date",
        items_at(hearing, &["dates"]).first().and_then(|d| eastern::day(&str_at(d, &["date"]))),
    );
    if event.starts_with("chrg-") {
        r.set(
            "url",
            format!("https://www.govinfo.gov/app/details/{}", event.replacen("chrg", "CHRG", 1)),
        );
    }
    Some(r)
}

fn set_committee(r: &mut Record, meeting: &Value) {
    if let Some(first) = items_at(meeting, &["committees"]).first() {
        r.set("committee_name", str_at(first, &["name"]));
        r.set("committee", congress::committee_id(&str_at(first, &["systemCode"])));
    }
}

/// An entry of a list: with the event's address on congress.gov, or with an id of the list's own.
fn listed_event(event: &Value) -> Option<Record> {
    let text = |key: &str| str_at(event, &[key]);
    let address = text("source_url");
    let date =
        eastern::day(&if text("date_time").is_empty() { text("date") } else { text("date_time") });
    let official = ids::canonical(SOURCE, &address);
    let congress = match &official {
        Some(id) => id.split(':').nth(1)?.parse().ok()?,
        None => int_at(event, &["congress"])
            .or_else(|| date.as_deref().and_then(wording::congress_on))?,
    };
    let own = text("event_id");
    let own = own.strip_prefix(&format!("hearing-{congress}-")).unwrap_or(&own);
    let mut r = match &official {
        Some(id) => started(congress, id.rsplit(':').next()?, Rank::Partial)?,
        None => started(congress, own, Rank::Partial)?,
    };
    let (title, committee) = (text("title"), text("committee"));
    let chamber = chamber(&text("chamber"));
    r.set("chamber", chamber).set("location", place_of(event.get("location")));
    if !committee.to_lowercase().contains("unknown") {
        r.set("committee", committee_names::code(chamber.unwrap_or_default(), &committee))
            .set("committee_name", committee);
    }
    // The lists call every event a hearing; a title that says "markup" knows better.
    let said = if title.to_lowercase().contains("meeting to mark") {
        "markup".into()
    } else {
        text("type")
    };
    r.set("type", kind(&said))
        .set("bill_ids", non_empty_list(mentions::bills(&title, Some(congress))));
    let witnesses = items_at(event, &["witnesses"]).into_iter().map(|w| str_at(w, &[]));
    r.set("witnesses", non_empty_list(witnesses.filter_map(|w| name_before_post(&w)).collect()));
    if official.is_none() {
        r.set("url", page(&text("transcript"), date.as_deref()));
    }
    r.set("title", title.trim_matches(['“', '”', '"'])).set("date", date);
    Some(r)
}

/// The transcript on govinfo, or congress.gov's schedule of the day: an event without its number
/// has no page there.
fn page(transcript: &str, date: Option<&str>) -> Option<String> {
    if transcript.starts_with("http") {
        return Some(transcript.to_string());
    }
    Some(format!("https://www.congress.gov/committee-schedule/daily/{}", date?.replace('-', "/")))
}

fn chamber(name: &str) -> Option<&'static str> {
    if name.to_lowercase().starts_with("joint") { Some("joint") } else { congress::chamber(name) }
}

/// hearing, markup or meeting.
pub(super) fn kind(said: &str) -> &'static str {
    let said = said.to_lowercase();
    ["hearing", "markup"].into_iter().find(|kind| said.contains(kind)).unwrap_or("meeting")
}

/// "2141, Rayburn House Office Building": from building and room, a line of text, or an address in
/// JSON in a string.
fn place_of(location: Option<&Value>) -> Option<String> {
    let place = location?;
    let address =
        [place.as_str(), place.get("address").and_then(Value::as_str)].into_iter().flatten().next();
    let parsed =
        address.and_then(|text| serde_json::from_str::<Value>(text).ok()).filter(Value::is_object);
    let parts: Vec<String> = match (&parsed, address) {
        (Some(a), _) => ["building_name", "street-address", "city", "state"]
            .iter()
            .map(|key| str_at(a, &[key]))
            .collect(),
        (None, Some(text)) => vec![text.trim().to_string()],
        (None, None) => ["room", "building"].iter().map(|key| str_at(place, &[key])).collect(),
    };
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// "Dr. Ada Doe, Jr., Tea Board" -> "Dr. Ada Doe, Jr.".
pub(super) fn name_before_post(witness: &str) -> Option<String> {
    const PART_OF_NAME: [&str; 9] =
        ["Jr.", "Sr.", "II", "III", "IV", "M.D.", "Ph.D.", "Esq.", "MD"];
    let mut parts = witness.trim().split(", ");
    let mut name = parts.next()?.trim().to_string();
    for part in parts.take_while(|part| PART_OF_NAME.contains(&part.trim())) {
        name.push_str(", ");
        name.push_str(part.trim());
    }
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;
    use serde_json::json;

    #[test]
    fn a_meeting_of_the_api() {
        let text = r#"{"committeeMeeting": {"chamber": "House", "congress": 119, "eventId": "119001",
            "title": "Markup of H.R. 9", "meetingStatus": "Postponed",
            "date": "2026-03-05T01:30:00Z", "type": "Markup",
            "committees": [{"name": "House Tea", "systemCode": "hsju00"}],
            "location": {"address": "{\"building_name\": \"Old Mill\", \"city\": \"Elma\", \"state\": \"TX\"}"},
            "relatedItems": {"bills": [{"type": "S", "number": "3", "congress": 119}]},
            "witnesses": [{"name": "Ada Doe"}]}}"#;
        let got = read_text(read, "h/meeting.json", text);
        assert_eq!(got.ids(), ["hearing:119:119001"]);
        assert_eq!(
            (got.field(0, "date"), got.field(0, "type")),
            (&json!("2026-03-04"), &json!("markup"))
        );
        assert_eq!(
            (got.field(0, "committee"), got.field(0, "location")),
            (&json!("HSJU"), &json!("Old Mill, Elma, TX"))
        );
        assert_eq!(*got.field(0, "bill_ids"), json!(["s:119:3", "hr:119:9"]));
        assert_eq!(*got.field(0, "status"), "postponed");
    }

    #[test]
    fn a_printed_hearing_joins_its_meeting() {
        let with = r#"{"hearing": {"associatedMeeting": {"eventId": "119003"}, "chamber": "House", "congress": 119,
            "dates": [{"date": "2026-03-04"}], "jacketNumber": 64, "title": "TEA"}}"#;
        let without = r#"{"hearing": {"chamber": "Senate", "congress": 119, "jacketNumber": 64, "title": "TEA"}}"#;
        assert_eq!(read_text(read, "h/a.json", with).ids(), ["hearing:119:119003"]);
        assert_eq!(read_text(read, "h/b.json", without).ids(), ["hearing:119:chrg-119shrg64"]);
    }

    #[test]
    fn listed_events_by_address_or_own_id() {
        let text = r#"[{"event_id": "338",
            "source_url": "https://www.congress.gov/event/119th-congress/senate-event/338",
            "title": "Business meeting to markup S.7", "type": "hearing", "chamber": "senate",
            "date_time": "2026-08-05T14:00:00Z",
            "committee": "Senate Judiciary Subcommittee on Tea", "witnesses": ["Dr. Ada Doe, Jr., Tea Board"]}]"#;
        let got = read_text(read, "h/events.json", text);
        assert_eq!((got.ids()[0], got.field(0, "committee")), ("hearing:119:338", &json!("SSJU")));
        assert_eq!(
            (got.field(0, "type"), got.field(0, "witnesses")),
            (&json!("markup"), &json!(["Dr. Ada Doe, Jr."]))
        );

        let yaml = "metadata:\n  hearings: 1\nevents:\n- type: hearing\n  event_id: hearing-116-h-2020-12-21-0\n  \
                    date: 2020-12-21\n  chamber: House\n  title: Tea\n  congress: 116\n";
        let got = read_text(read, "h/list.yaml", yaml);
        assert_eq!(
            (got.ids()[0], got.field(0, "date")),
            ("hearing:116:h-2020-12-21-0", &json!("2020-12-21"))
        );
        assert_eq!(
            *got.field(0, "url"),
            "https://www.congress.gov/committee-schedule/daily/2020/12/21"
        );
    }
}
