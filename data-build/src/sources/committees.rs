//! Committees from the congress-legislators project (JSON or YAML): today's committees with their
//! subcommittees, those of the past with the names they bore, and who sits on them now.

use anyhow::Result;
use josh::catalog::{ids, wording};
use serde_json::{Map, Value, json};

use crate::formats::congress::bioguide;
use crate::formats::dates::iso;
use crate::formats::documents::{self, non_empty, non_empty_list};
use crate::formats::json::{int_at, items_at, str_at};
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::{Rank, Record, Sink};

const SOURCE: &str = "committees";

pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match documents::value(input)? {
        Some(Value::Array(committees))
            if committees.iter().any(|c| c.get("thomas_id").is_some()) =>
        {
            for (i, committee) in committees.iter().enumerate() {
                read_committee(committee, &format!("committee {}", i + 1), out);
            }
            Ok(Outcome::Read)
        }
        Some(Value::Object(boards)) if boards.values().any(is_board) => {
            read_membership(&boards, out);
            Ok(Outcome::Read)
        }
        _ => Ok(Outcome::Skipped),
    }
}

fn read_committee(committee: &Value, place: &str, out: &mut dyn Sink) {
    let code = str_at(committee, &["thomas_id"]);
    let Some(id) = committee_id(&code) else {
        return out.reject(place, &format!("no committee code: {code:?}"));
    };
    let Some(record) = described(committee, id.clone(), None) else {
        return out.reject(place, "no name");
    };
    out.record(record);
    for sub in items_at(committee, &["subcommittees"]) {
        let number = str_at(sub, &["thomas_id"]);
        let record = committee_id(&format!("{id}{number}"))
            .and_then(|sub_id| described(sub, sub_id, Some(&id)));
        match record {
            Some(record) if record.id.len() > id.len() => out.record(record),
            _ => out
                .reject(place, &format!("subcommittee {number:?} of {id} has no code or no name")),
        }
    }
}

fn described(committee: &Value, id: String, parent: Option<&str>) -> Option<Record> {
    // Only the lists of the past say in which congresses a committee sat.
    let past = !items_at(committee, &["congresses"]).is_empty();
    let name = str_at(committee, &["name"]);
    if name.is_empty() {
        return None;
    }
    let chamber = chamber(&id);
    let mut r = Record::new(SOURCE, id, if past { Rank::Partial } else { Rank::Full });
    r.set("name", name).set("chamber", chamber).set("current", !past).set("parent_id", parent);
    r.set("type", if parent.is_some() { "subcommittee" } else { "committee" });
    r.set("jurisdiction", str_at(committee, &["jurisdiction"]))
        .set("phone", str_at(committee, &["phone"]));
    r.set("website", str_at(committee, &["url"]))
        .set("former_names", non_empty_list(names_borne(committee)));
    Some(r)
}

/// The names a committee bore, oldest first; none where it never changed.
fn names_borne(committee: &Value) -> Vec<String> {
    let Some(Value::Object(by_congress)) = committee.get("names") else { return Vec::new() };
    let mut dated: Vec<(i64, &str)> = by_congress
        .iter()
        .filter_map(|(congress, name)| Some((congress.parse().ok()?, name.as_str()?.trim())))
        .collect();
    dated.sort_unstable();
    let mut names: Vec<String> = Vec::new();
    for (_, name) in dated {
        if !names.iter().any(|n| n == name) {
            names.push(name.to_string());
        }
    }
    if names.len() > 1 { names } else { Vec::new() }
}

fn is_board(members: &Value) -> bool {
    members.as_array().is_some_and(|m| m.iter().any(|seat| seat.get("bioguide").is_some()))
}

fn read_membership(boards: &Map<String, Value>, out: &mut dyn Sink) {
    let congress = newest_date(boards).and_then(|date| wording::congress_on(&date));
    for (code, members) in boards {
        let Some(id) = committee_id(code) else {
            out.reject(code, "not a committee code");
            continue;
        };
        let mut record = Record::new(SOURCE, id, Rank::Partial);
        for seat in items_at(members, &[]) {
            match bioguide(&str_at(seat, &["bioguide"])) {
                Some(bioguide) => record.row("members", member_row(bioguide, seat, congress)),
                None => {
                    out.reject(
                        code,
                        &format!("a member without a bioguide id: {:?}", str_at(seat, &["name"])),
                    );
                    &mut record
                }
            };
        }
        out.record(record);
    }
}

fn member_row(bioguide: String, seat: &Value, congress: Option<i64>) -> Value {
    json!({
        "bioguide": bioguide,
        "name": non_empty(&str_at(seat, &["name"])),
        "congress": congress,
        "side": non_empty(&str_at(seat, &["party"])),
        "rank": int_at(seat, &["rank"]),
        "role": non_empty(&str_at(seat, &["title"])),
    })
}

/// The file does not say of which congress it is; where it holds dates, the newest one tells.
fn newest_date(boards: &Map<String, Value>) -> Option<String> {
    let seats = boards.values().flat_map(|members| items_at(members, &[]));
    seats.filter_map(|seat| iso(&str_at(seat, &["start_date"]))).max()
}

fn committee_id(code: &str) -> Option<String> {
    ids::canonical("committees", code)
}

/// The first letter of a code; the lists of the past put joint committees under the Senate.
fn chamber(id: &str) -> &'static str {
    match id.as_bytes().first() {
        Some(b'H') => "house",
        Some(b'S') => "senate",
        _ => "joint",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::read_text;

    #[test]
    fn subcommittees_carry_their_parents_code() {
        let text = r#"[{"type": "house", "name": "House Committee on Tea", "thomas_id": "HSTE",
            "url": "https://tea.example",
            "subcommittees": [{"name": "Green Tea", "thomas_id": "08"}, {"name": "No Code"}]}]"#;
        let got = read_text(read, "committees/now.json", text);
        assert_eq!(got.ids(), ["HSTE", "HSTE08"]);
        assert_eq!(
            (got.field(1, "parent_id"), got.field(1, "type")),
            (&json!("HSTE"), &json!("subcommittee"))
        );
        assert_eq!(*got.field(0, "current"), true);
        assert_eq!(got.rejects.len(), 1);
    }

    #[test]
    fn past_committees_keep_the_names_they_bore() {
        let text = r#"[{"type": "senate", "name": "Joint Tea", "thomas_id": "JSTE", "congresses": [93, 110],
            "names": {"110": "Coffee", "93": "Tea"}}]"#;
        let got = read_text(read, "committees/then.json", text);
        assert_eq!(got.records[0].rank, Rank::Partial);
        assert_eq!(
            (got.field(0, "chamber"), got.field(0, "current")),
            (&json!("joint"), &json!(false))
        );
        assert_eq!(*got.field(0, "former_names"), json!(["Tea", "Coffee"]));
    }

    #[test]
    fn membership_has_no_congress_unless_a_date_tells_it() {
        let seat = |more: &str| {
            format!(
                r#"{{"HSTE": [{{"name": "Ada", "party": "majority", "rank": 1, "title": "Chair",
                "bioguide": "X000001"{more}}}]}}"#
            )
        };
        let undated = read_text(read, "committees/members.json", &seat(""));
        assert_eq!(undated.records[0].rows[0].1["congress"], Value::Null);
        assert_eq!(undated.records[0].rows[0].1["side"], "majority");
        let dated =
            read_text(read, "committees/members.json", &seat(r#", "start_date": "2025-02-01""#));
        assert_eq!(dated.records[0].rows[0].1["congress"], 119);
    }
}
