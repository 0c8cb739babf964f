//! Roll call votes: the mirror's JSONL of House and Senate votes, congress.gov's house-vote
//! answers (one vote, its members' votes, a list), and the XML of the Clerk and of the Secretary
//! (in `roll_call_xml`).

use anyhow::Result;
use serde_json::Value;

use super::roll_call::RollCall;
use super::roll_call_tally::{Position, Tally, Totals};
use super::roll_call_xml;
use crate::formats::congress;
use crate::formats::documents;
use crate::formats::json::{int_at, str_at};
use crate::formats::tree::items;
use crate::formats::{measures, xml};
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::{Rank, Sink};

/// Reads one file below `roll-call-votes`.
pub fn read(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    match input.extension().to_ascii_lowercase().as_str() {
        "jsonl" => {
            for (number, line) in documents::lines(input)? {
                let place = format!("line {number}");
                hand_over(line.and_then(|value| from_object(&value)), &place, out);
            }
            Ok(Outcome::Read)
        }
        "json" => {
            let Some(value) = documents::value(input)? else { return Ok(Outcome::Skipped) };
            let list = items(value.get("houseRollCallVotes"), &["item"]);
            if !list.is_empty() {
                for (n, one) in list.into_iter().enumerate() {
                    let vote = from_parts(&Value::Null, one, "house").ok_or(UNNUMBERED);
                    let listed = vote.map(|mut vote| {
                        vote.rank = Rank::Partial;
                        vote
                    });
                    hand_over(listed, &format!("vote {}", n + 1), out);
                }
                return Ok(Outcome::Read);
            }
            if !CHAMBERS.iter().any(|(key, _)| holder(&value, key).is_some()) {
                return Ok(Outcome::Skipped);
            }
            hand_over(from_object(&value), "vote", out);
            Ok(Outcome::Read)
        }
        "xml" => read_xml(input, out),
        _ => Ok(Outcome::Skipped),
    }
}

fn read_xml(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    let text = input.text()?;
    let document = xml::parse(&text)?;
    let root = document.root_element();
    match root.tag_name().name() {
        "rollcall-vote" => hand_over(roll_call_xml::house(root).ok_or(UNNUMBERED), "vote", out),
        "roll_call_vote" => hand_over(roll_call_xml::senate(root).ok_or(UNNUMBERED), "vote", out),
        "vote_summary" => {
            for (n, vote) in roll_call_xml::senate_list(root).into_iter().enumerate() {
                hand_over(vote.ok_or(UNNUMBERED), &format!("vote {}", n + 1), out);
            }
        }
        _ => return Ok(Outcome::Skipped),
    }
    Ok(Outcome::Read)
}

const UNNUMBERED: &str = "a vote without congress, session and number";

fn hand_over(vote: Result<RollCall, impl AsRef<str>>, place: &str, out: &mut dyn Sink) {
    match vote {
        Ok(vote) => vote.hand_over(out),
        Err(reason) => out.reject(place, reason.as_ref()),
    }
}

/// The keys of a vote and of its members' votes, each of which the API also answers alone.
const CHAMBERS: [(&str, &str); 4] = [
    ("houseRollCallVote", "house"),
    ("senateRollCallVote", "senate"),
    ("houseRollCallVoteMemberVotes", "house"),
    ("senateRollCallVoteMemberVotes", "senate"),
];

/// The vote's own part, below `detail` in the mirror and at the top in the API's answers.
fn holder<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get("detail").unwrap_or(value).get(key)
}

fn from_object(value: &Value) -> Result<RollCall, String> {
    let found = CHAMBERS.iter().find_map(|(key, chamber)| Some((holder(value, key)?, *chamber)));
    let (detail, chamber) = found.ok_or("neither a House nor a Senate vote")?;
    from_parts(value, detail, chamber).ok_or(UNNUMBERED.to_string())
}

fn from_parts(value: &Value, detail: &Value, chamber: &'static str) -> Option<RollCall> {
    let recorded = value.get("recordedVote").unwrap_or(&Value::Null);
    let number =
        |names: [&str; 2]| int_at(recorded, &names[..1]).or_else(|| int_at(detail, &names[1..]));
    let mut vote = RollCall::new(
        chamber,
        number(["congress", "congress"]),
        number(["sessionNumber", "sessionNumber"]),
        number(["rollNumber", "rollCallNumber"]),
    )?;
    // Days are the chamber's own; `recordedVote.date` is in UTC and may be a day late.
    let dates = [
        str_at(detail, &["actionDate"]),
        str_at(detail, &["voteDate"]),
        str_at(detail, &["startDate"]),
    ];
    vote.set_date(
        dates.iter().map(String::as_str).chain([str_at(value, &["action", "actionDate"]).as_str()]),
    );
    set_subject(&mut vote, value, detail);
    vote.tally = Tally {
        positions: members(value, chamber).into_iter().map(position).collect(),
        totals: totals(detail),
        parties: party_totals(detail),
        candidates: candidates(detail),
    };
    Some(vote)
}

fn set_subject(vote: &mut RollCall, value: &Value, detail: &Value) {
    let text = |name: &str| str_at(detail, &[name]);
    let names = if vote.chamber == "senate" {
        ["voteType", "majorityRequirement", "voteTitle"]
    } else {
        ["voteQuestion", "voteType", "voteDescription"]
    };
    [vote.question, vote.vote_type, vote.about] = names.map(text);
    vote.set_result(&text("result"));
    vote.bill_id = value
        .get("bill_ids")
        .and_then(Value::as_array)
        .and_then(|ids| ids.iter().find_map(|id| measures::bill_id(id.as_str()?, None)))
        .or_else(|| {
            let number = int_at(detail, &["legislationNumber"])?;
            congress::bill_id(&text("legislationType"), vote.congress, number)
        });
    vote.set_amendment(&text("amendmentType"), &text("amendmentNumber"));
    vote.amendment_author = text("amendmentAuthor");
    vote.set_mentions(&text("voteQuestion"));
}

/// Members' votes, wrapped in `members` or beside the vote.
fn members<'a>(value: &'a Value, chamber: &str) -> Vec<&'a Value> {
    let name = format!("{chamber}RollCallVoteMemberVotes");
    let holder = value.get("members").unwrap_or(value).get(&name);
    items(holder, &["results", "item"])
}

fn position(member: &Value) -> Position {
    let text = |name: &str| str_at(member, &[name]);
    let id = text("bioguideId").replace(' ', "");
    let full = text("fullName");
    let composed = || [text("firstName"), text("lastName")].join(" ").trim().to_string();
    Position {
        id: if id.is_empty() { text("bioguideID") } else { id },
        name: if full.is_empty() { composed() } else { full },
        party: text("voteParty"),
        state: text("voteState"),
        cast: text("voteCast"),
        ..Position::default()
    }
}

/// The mirror keeps the Clerk's names of totals, the API has names of its own.
fn counted(value: &Value) -> Totals {
    let count = |clerk: &str, api: &str| int_at(value, &[clerk]).or_else(|| int_at(value, &[api]));
    Totals {
        yea: count("yea-total", "yeaTotal"),
        nay: count("nay-total", "nayTotal"),
        present: count("present-total", "presentTotal"),
        not_voting: count("not-voting-total", "notVotingTotal"),
    }
}

/// The mirror states totals; the API's are the sum over the parties.
fn totals(detail: &Value) -> Option<Totals> {
    if let Some(by_vote) = detail.get("totals").and_then(|t| t.get("totals-by-vote")) {
        return Some(counted(by_vote));
    }
    let parties = party_totals(detail);
    let sum = |of: fn(&Totals) -> Option<i64>| -> Option<i64> {
        parties.iter().try_fold(0i64, |sum, (_, counts)| sum.checked_add(of(counts)?))
    };
    (!parties.is_empty()).then(|| Totals {
        yea: sum(|t| t.yea),
        nay: sum(|t| t.nay),
        present: sum(|t| t.present),
        not_voting: sum(|t| t.not_voting),
    })
}

fn party_totals(detail: &Value) -> Vec<(String, Totals)> {
    let of_mirror = items(detail.get("totals"), &["totals-by-party"])
        .into_iter()
        .filter(|p| p.get("party").is_some())
        .map(|p| (str_at(p, &["party"]), counted(p)));
    let of_api = items(detail.get("votePartyTotal"), &["item"])
        .into_iter()
        .map(|p| (str_at(p, &["party", "name"]), counted(p)));
    of_mirror.chain(of_api).collect()
}

fn candidates(detail: &Value) -> Vec<(String, i64)> {
    items(detail.get("totals"), &["totals-by-candidate"])
        .into_iter()
        .filter_map(|c| Some((str_at(c, &["candidate"]), int_at(c, &["candidate-total"])?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats::testing::read_text;

    fn house() -> Value {
        json!({"bill_ids": ["hr23-119"], "action": {"actionDate": "2025-05-13"},
            "recordedVote": {"chamber": "House", "congress": "119", "sessionNumber": "1", "rollNumber": "9",
            "date": "2025-05-14T02:55:20Z"},
            "detail": {"houseRollCallVote": {"actionDate": "13-May-2025", "result": "Passed",
            "voteQuestion": "On Passage",
                "voteType": "YEA-AND-NAY", "voteDescription": "Some Act", "totals": {
                    "totals-by-vote": {"yea-total": "2", "nay-total": "1", "present-total": "0",
                    "not-voting-total": "1"},
                    "totals-by-party": [{"party": "Republican", "yea-total": "2", "nay-total": "0"},
                        {"party": "Democratic", "yea-total": "0", "nay-total": "1"}]}}},
            "members": {"houseRollCallVoteMemberVotes": {"results": [
                {"bioguideId": "A000370", "fullName": "Adams", "voteParty": "D", "voteState": "NC", "voteCast": "No"},
                {"bioguideId": "B000001", "fullName": "Baker", "voteParty": "R", "voteState": "TX",
                "voteCast": "Aye"},
                {"bioguideId": "C000001", "fullName": "Clark", "voteParty": "R", "voteState": "TX",
                "voteCast": "Jordan"}]}}})
    }

    fn senate() -> Value {
        json!({"bill_ids": ["s5-119"],
            "recordedVote": {"chamber": "Senate", "congress": "119", "sessionNumber": "1", "rollNumber": "6"},
            "detail": {"senateRollCallVote": {"majorityRequirement": "3/5",
            "result": "Amendment Agreed to (1-1, 3/5 majority required)",
                "voteDate": "January 15, 2025, 05:26 PM", "voteQuestion": "On the Amendment S.Amdt. 8 to S. 5",
                "voteTitle": "Doe Amdt. No. 8", "voteType": "On the Amendment"}},
            "members": {"senateRollCallVoteMemberVotes": {"results": [
                {"bioguideId": "S428", "fullName": "Doe", "voteParty": "D", "voteState": "MD", "voteCast": "Nay"},
                {"bioguideId": "S429", "fullName": "Roe", "voteParty": "I", "voteState": "VT", "voteCast": "Yea"},
                {"bioguideId": "S430", "fullName": "Poe", "voteParty": "R", "voteState": "VT",
                "voteCast": "Not Voting"}]}}})
    }

    #[test]
    fn a_house_vote() {
        let found = read_text(read, "roll-call-votes/v.jsonl", &house().to_string());
        assert_eq!(found.ids(), ["house:119:1:9"]);
        assert_eq!(
            (found.field(0, "date"), found.field(0, "title")),
            (&json!("2025-05-13"), &json!("On Passage: H.R. 23 Some Act"))
        );
        assert_eq!(
            (found.field(0, "yea"), found.field(0, "republican_yea")),
            (&json!(2), &json!(2))
        );
        assert_eq!(
            (found.field(0, "democratic_nay"), found.field(0, "bill_id")),
            (&json!(1), &json!("hr:119:23"))
        );
        let cast: Vec<_> = found.records[0].rows.iter().map(|r| &r.1["position"]).collect();
        assert_eq!(cast, ["nay", "yea", "Jordan"]);
    }

    #[test]
    fn senators_have_lis_ids_and_are_counted() {
        let found = read_text(read, "roll-call-votes/v.jsonl", &senate().to_string());
        let row = &found.records[0].rows[0].1;
        assert_eq!((&row["bioguide"], &row["lis_id"]), (&Value::Null, &json!("S428")));
        assert_eq!(
            (found.field(0, "yea"), found.field(0, "nay"), found.field(0, "not_voting")),
            (&json!(1), &json!(1), &json!(1))
        );
        assert_eq!(found.field(0, "independent_yea"), &json!(1));
        assert_eq!(
            (found.field(0, "result"), found.field(0, "amendment_id")),
            (&json!("Amendment Agreed to"), &json!("samdt:119:8"))
        );
        assert_eq!(found.field(0, "date"), "2025-01-15");
    }

    /// The structure of the API's house-vote answers, on an amendment.
    #[test]
    fn an_amendment_vote_of_the_api() {
        let party = |code: &str, yea: i64, nay: i64| {
            json!({"party": {"name": code, "type": code}, "voteParty": code, "yeaTotal": yea,
                "nayTotal": nay, "presentTotal": 0, "notVotingTotal": 1})
        };
        let mut vote = json!({"amendmentAuthor": "Tlaib of Michigan Amendment No. 6",
            "amendmentNumber": "20", "amendmentType": "HAMDT", "congress": 118,
            "legislationType": "HR", "legislationNumber": "21", "result": "Failed",
            "rollCallNumber": 37, "sessionNumber": 1, "startDate": "2023-01-26T17:23:00-05:00",
            "voteQuestion": "On Agreeing to the Amendment", "voteType": "Recorded Vote",
            "votePartyTotal": [party("R", 1, 215), party("D", 204, 5)]});
        let one = json!({ "houseRollCallVote": vote }).to_string();
        let list = json!({ "houseRollCallVotes": [vote] }).to_string();
        for (text, rank) in [(one, Rank::Full), (list, Rank::Partial)] {
            let found = read_text(read, "roll-call-votes/v.json", &text);
            assert_eq!((found.ids()[0], found.records[0].rank), ("house:118:1:37", rank));
            assert_eq!(
                (found.field(0, "amendment_id"), found.field(0, "bill_id")),
                (&json!("hamdt:118:20"), &json!("hr:118:21"))
            );
            assert_eq!(*found.field(0, "amendment_author"), "Tlaib of Michigan Amendment No. 6");
            assert_eq!(
                (found.field(0, "yea"), found.field(0, "not_voting")),
                (&json!(205), &json!(2))
            );
            assert_eq!(*found.field(0, "republican_nay"), 215);
            assert_eq!(*found.field(0, "date"), "2023-01-26");
        }
        // Found by mutations: a sum that can't be is none, and the build goes on.
        vote["votePartyTotal"] = json!([party("R", i64::MAX, 215), party("D", 1, 5)]);
        let text = json!({ "houseRollCallVote": vote }).to_string();
        let found = read_text(read, "roll-call-votes/v.json", &text);
        assert_eq!((found.field(0, "yea"), found.field(0, "nay")), (&json!(null), &json!(220)));
    }

    #[test]
    fn the_vice_president_in_a_result() {
        let mut vote = senate();
        vote["detail"]["senateRollCallVote"]["result"] =
            json!("Motion Agreed to (1-1, Vice President of the United States, voted Yea)");
        let found = read_text(read, "roll-call-votes/v.jsonl", &vote.to_string());
        assert_eq!(
            (found.field(0, "result"), found.field(0, "tie_breaker_vote")),
            (&json!("Motion Agreed to"), &json!("yea"))
        );
        assert_eq!(*found.field(0, "yea"), 1, "the Senate's own");
        let (_, last) = found.records[0].rows.last().expect("rows");
        assert_eq!(
            (&last["name"], &last["position"]),
            (&json!("Vice President of the United States"), &json!("yea"))
        );
    }

    #[test]
    fn what_is_no_vote_is_rejected() {
        let found = read_text(read, "roll-call-votes/v.jsonl", "{}\n[1]\nnull");
        assert_eq!((found.records.len(), found.rejects.len()), (0, 3));
    }
}
