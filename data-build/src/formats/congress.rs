//! Objects that congress.gov's API (JSON) and BILLSTATUS (XML) share: measures, members,
//! committees, actions.

use josh::catalog::ids;
use serde_json::{Value, json};

use crate::formats::documents::{non_empty, non_empty_list};
use crate::formats::tree::{Tree, int_at, items, str_at};
use crate::formats::{dates, people};

/// Bill types by their codes.
pub const BILL_TYPES: [&str; 8] =
    ["hr", "s", "hjres", "sjres", "hres", "sres", "hconres", "sconres"];

/// `hr:119:1` from its parts; the type is case-insensitive.
pub fn bill_id(kind: &str, congress: i64, number: i64) -> Option<String> {
    let kind = kind.to_ascii_lowercase();
    (BILL_TYPES.contains(&kind.as_str()) && congress > 0 && number > 0)
        .then(|| format!("{kind}:{congress}:{number}"))
}

/// The id of an object with `type`, `congress` and `number`.
pub fn bill_of<'a>(value: impl Tree<'a>) -> Option<String> {
    bill_id(&str_at(value, &["type"]), int_at(value, &["congress"])?, int_at(value, &["number"])?)
}

/// (type, congress, number) of a canonical id of three parts.
pub fn parts(id: &str) -> Option<(&str, i64, i64)> {
    let mut parts = id.split(':');
    Some((parts.next()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// "house" or "senate" by the first letter of a chamber's name, a type or a code.
pub fn chamber(name: &str) -> Option<&'static str> {
    match name.trim_start().as_bytes().first()?.to_ascii_lowercase() {
        b'h' => Some("house"),
        b's' => Some("senate"),
        _ => None,
    }
}

/// "hsju00" -> "HSJU", "hsju08" -> "HSJU08".
pub fn committee_id(system_code: &str) -> Option<String> {
    let code = system_code.trim().to_ascii_uppercase();
    let bytes = code.as_bytes();
    let valid = bytes.len() == 6
        && b"HSJ".contains(&bytes[0])
        && bytes[1..4].iter().all(u8::is_ascii_uppercase)
        && bytes[4..].iter().all(u8::is_ascii_digit);
    valid.then(|| code.strip_suffix("00").unwrap_or(&code).to_string())
}

/// A valid bioguide id. Senate roll calls have LIS ids in the same field.
pub fn bioguide(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let valid = bytes.len() == 7
        && bytes[0].is_ascii_alphabetic()
        && bytes[1..].iter().all(u8::is_ascii_digit);
    valid.then(|| text.to_ascii_uppercase())
}

/// A sponsor or cosponsor, from the fields or from "Rep. Doe, Jane A. [D-CA-12]".
#[derive(Debug, Default, PartialEq)]
pub struct Member {
    pub bioguide: Option<String>,
    pub name: String,
    pub party: String,
    pub state: String,
    pub district: Option<i64>,
}

/// Parses a member. A committee that sponsors an amendment has only a name.
pub fn member<'a>(value: impl Tree<'a>) -> Member {
    let full = str_at(value, &["fullName"]);
    let (printed, seat) = match full.rsplit_once('[') {
        Some((name, seat)) => (name, seat.trim_end_matches([']', ' '])),
        None => (&*full, ""),
    };
    let mut seat = seat.split('-');
    let mut field_or_seat = |name: &str| {
        let printed = seat.next().unwrap_or_default().to_string();
        Some(str_at(value, &[name]).into_owned()).filter(|s| !s.is_empty()).unwrap_or(printed)
    };
    let (party, state) = (field_or_seat("party"), field_or_seat("state"));
    let name = first_name_first(printed);
    Member {
        bioguide: bioguide(&str_at(value, &["bioguideId"])),
        name: if name.is_empty() { first_name_first(&str_at(value, &["name"])) } else { name },
        party,
        state,
        district: int_at(value, &["district"]).or_else(|| seat.next()?.parse().ok()),
    }
}

/// "Rep. Doe, Jane A., Jr." -> "Jane A. Doe, Jr."; a name without a comma is kept.
fn first_name_first(printed: &str) -> String {
    const TITLES: [&str; 10] = [
        "Rep. ",
        "Sen. ",
        "Del. ",
        "Dele. ",
        "Delegate ",
        "Rescom. ",
        "Res. Comm. ",
        "Resident Comm. ",
        "Resident Commissioner ",
        "Com. ",
    ];
    let printed = printed.trim();
    let printed = TITLES.iter().find_map(|t| printed.strip_prefix(t)).unwrap_or(printed);
    let parts: Vec<&str> = printed.split(',').map(str::trim).collect();
    match parts[..] {
        [last, first] => people::full_name(first, "", last, ""),
        [last, first, suffix] => people::full_name(first, "", last, suffix),
        _ => printed.to_string(),
    }
}

/// The id of a `recordedVote`, from its parts or its address.
pub fn vote_id<'a>(vote: impl Tree<'a>) -> Option<String> {
    let from_parts = || {
        let (congress, session) = (int_at(vote, &["congress"])?, int_at(vote, &["sessionNumber"])?);
        let chamber = chamber(&str_at(vote, &["chamber"]))?;
        Some(format!("{chamber}:{congress}:{session}:{}", int_at(vote, &["rollNumber"])?))
    };
    from_parts()
        .and_then(|id| ids::canonical("roll-call-votes", &id))
        .or_else(|| ids::canonical("roll-call-votes", &str_at(vote, &["url"])))
}

/// One action on a measure or an amendment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Action {
    pub date: String,
    /// Time of day, for House floor actions.
    pub time: String,
    pub text: String,
    pub code: String,
    pub kind: String,
    pub chamber: Option<&'static str>,
    pub committees: Vec<String>,
    pub vote_id: Option<String>,
}

/// The actions of a list, newest first. Actions of one day keep the order of the file, which is
/// newest first, too.
pub fn actions<'a, T: Tree<'a>>(list: &[T]) -> Vec<Action> {
    let mut actions: Vec<Action> = list.iter().filter_map(|v| action(*v)).collect();
    actions.sort_by(|a, b| b.date.cmp(&a.date));
    actions
}

fn action<'a>(value: impl Tree<'a>) -> Option<Action> {
    let code = str_at(value, &["actionCode"]).into_owned();
    let system = str_at(value, &["sourceSystem", "name"]);
    let committees =
        items(value.get("committees"), &["item"]).into_iter().chain(value.get("committee"));
    let mut codes = Vec::new();
    for id in committees.filter_map(|c| committee_id(&str_at(c, &["systemCode"]))) {
        if !codes.contains(&id) {
            codes.push(id);
        }
    }
    Some(Action {
        date: dates::iso(&str_at(value, &["actionDate"]))?,
        time: str_at(value, &["actionTime"]).into_owned(),
        text: str_at(value, &["text"]).into_owned(),
        kind: str_at(value, &["type"]).into_owned(),
        chamber: chamber(&system).or_else(|| chamber_of_code(&code)),
        code,
        committees: codes,
        vote_id: items(value.get("recordedVotes"), &["recordedVote"]).into_iter().find_map(vote_id),
    })
}

/// The Library's action codes: H… and four digits are the House's, 10000 to 18999 the Senate's; of
/// those on amendments, 71000 to 79999 and 91000 to 99999. Later stages of a bill (conference,
/// President) belong to neither.
fn chamber_of_code(code: &str) -> Option<&'static str> {
    match code {
        "Intro-H" => Some("house"),
        "Intro-S" => Some("senate"),
        _ if code.starts_with('H') => Some("house"),
        _ => match code.parse::<u32>().ok()? {
            1000..=9999 | 71000..=79999 => Some("house"),
            10000..=18999 | 91000..=99999 => Some("senate"),
            _ => None,
        },
    }
}

impl Action {
    /// The row in the catalog's `actions`; `None` if the action has no text.
    pub fn row(&self) -> Option<Value> {
        (!self.text.is_empty()).then(|| {
            json!({
                "date": self.date,
                "text": self.text,
                "type": non_empty(&self.kind),
                "code": non_empty(&self.code),
                "chamber": self.chamber,
                "committees": non_empty_list(self.committees.clone()),
                "vote_id": self.vote_id,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_built_from_parts_and_validated() {
        assert_eq!(bill_id("HCONRES", 119, 1).as_deref(), Some("hconres:119:1"));
        assert_eq!(bill_id("PN", 119, 1), None);
        assert_eq!(committee_id("hsju00").as_deref(), Some("HSJU"));
        assert_eq!(committee_id("hsju08").as_deref(), Some("HSJU08"));
        assert_eq!(committee_id(""), None);
        assert_eq!(bioguide("S428"), None);
    }

    #[test]
    fn members_are_parsed_from_fields_or_the_printed_name() {
        let printed =
            json!({"fullName": "Rep. Doe, Jane A., Jr. [D-CA-12]", "bioguideId": "D000001"});
        let read = member(&printed);
        assert_eq!(
            (read.name.as_str(), read.party.as_str(), read.state.as_str()),
            ("Jane A. Doe, Jr.", "D", "CA")
        );
        assert_eq!((read.district, read.bioguide.as_deref()), (Some(12), Some("D000001")));
        assert_eq!(member(&json!({"name": "Rules Committee"})).name, "Rules Committee");
    }

    #[test]
    fn titles_of_delegates_and_commissioners_are_no_part_of_the_name() {
        for (printed, name, state) in [
            ("Rescom. Hernández, Pablo Jose [D-PR-At Large]", "Pablo Jose Hernández", "PR"),
            ("Del. King-Hinds, Kimberlyn [R-MP-At Large]", "Kimberlyn King-Hinds", "MP"),
            ("Rep. Begich, Nicholas J., III [R-AK-At Large]", "Nicholas J. Begich III", "AK"),
            ("Sen. Luján, Ben Ray [D-NM]", "Ben Ray Luján", "NM"),
        ] {
            let read = member(&json!({"fullName": printed}));
            assert_eq!((read.name.as_str(), read.state.as_str()), (name, state));
            assert_eq!(read.district, None);
        }
    }

    #[test]
    fn vote_ids_have_chamber_congress_session_and_number() {
        let vote = json!({
            "chamber": "House", "congress": "119", "sessionNumber": "1", "rollNumber": "123",
        });
        assert_eq!(vote_id(&vote).as_deref(), Some("house:119:1:123"));
    }

    #[test]
    fn actions_are_sorted_newest_first() {
        let (old, new) = (
            json!({"actionDate": "2025-01-03", "text": "a"}),
            json!({"actionDate": "2025-02-03", "text": "b"}),
        );
        let sorted = actions(&[&old, &new]);
        assert_eq!(sorted.iter().map(|a| a.text.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    }
}
