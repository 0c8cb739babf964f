//! Files of the Clerk and of the Secretary, in their structure, chosen for their oddities.

use serde_json::{Value, json};

use crate::formats::testing::{Collected, read_text};
use crate::sources::roll_call_votes;

fn read(name: &str, text: &str) -> Collected {
    let found = read_text(roll_call_votes::read, &format!("roll-call-votes/{name}.xml"), text);
    assert!(found.rejects.is_empty(), "{:?}", found.rejects);
    found
}

/// A file of the Clerk with these elements in its head, and these votes: (attributes, name, vote).
fn house(head: &str, votes: &[(&str, &str, &str)]) -> Collected {
    let votes: String = votes
        .iter()
        .map(|(attributes, name, vote)| {
            format!(
                "<recorded-vote><legislator {attributes}>{name}</legislator>\
                 <vote>{vote}</vote></recorded-vote>"
            )
        })
        .collect();
    let text = format!(
        "<rollcall-vote><vote-metadata>{head}</vote-metadata>\
         <vote-data>{votes}</vote-data></rollcall-vote>"
    );
    read("roll014", &text)
}

#[test]
fn the_clerks_file() {
    let found = house(
        "<congress>119</congress><session>1st</session><rollcall-num>14</rollcall-num>
        <legis-num>H CON RES 30</legis-num><vote-question>On Agreeing</vote-question>
        <vote-type>YEA-AND-NAY</vote-type>
        <vote-result>Passed</vote-result><action-date>15-Jan-2025</action-date><vote-desc>Some</vote-desc>
        <vote-totals><totals-by-party><party>Republican</party><yea-total>1</yea-total></totals-by-party>
        <totals-by-vote><yea-total>1</yea-total><nay-total>0</nay-total></totals-by-vote>
        </vote-totals>",
        &[("name-id='A000370' party='D' state='NC'", "Adams", "Aye")],
    );
    assert_eq!(found.ids(), ["house:119:1:14"]);
    assert_eq!(
        (found.field(0, "bill_id"), found.field(0, "date")),
        (&json!("hconres:119:30"), &json!("2025-01-15"))
    );
    assert_eq!((found.field(0, "yea"), found.field(0, "republican_yea")), (&json!(1), &json!(1)));
    assert_eq!(*found.field(0, "present"), Value::Null, "not stated");
    assert_eq!(found.records[0].rows[0].1["bioguide"], "A000370");
}

/// The structure of roll 37 of 2023, in the Committee of the Whole.
#[test]
fn a_house_amendment_and_delegates() {
    let found = house(
        "<congress>118</congress><session>1st</session>
        <committee>U.S. House of Representatives</committee><rollcall-num>37</rollcall-num>
        <legis-num>H R 21</legis-num><vote-question>On Agreeing to the Amendment</vote-question>
        <amendment-num>18</amendment-num>
        <amendment-author>Tlaib of Michigan Amendment No. 11</amendment-author>
        <vote-type>RECORDED VOTE</vote-type><vote-result>Failed</vote-result><vote-desc/>",
        &[
            ("name-id='G000582' party='R' state='XX'", "González-Colón (PR)", "Not Voting"),
            ("name-id='N000147' party='D' state='XX'", "Norton", "Aye"),
        ],
    );
    assert_eq!(
        (found.field(0, "amendment_number"), found.field(0, "amendment_author")),
        (&json!(18), &json!("Tlaib of Michigan Amendment No. 11"))
    );
    assert_eq!(
        *found.field(0, "title"),
        "On Agreeing to the Amendment: H.R. 21 Tlaib of Michigan Amendment No. 11"
    );
    assert_eq!(*found.field(0, "amendment_id"), Value::Null, "the Clerk's number is another");
    let states: Vec<_> = found.records[0].rows.iter().map(|(_, r)| &r["state"]).collect();
    assert_eq!(states, [&json!("PR"), &Value::Null]);
}

/// The structure of roll 2 of 2025.
#[test]
fn a_speakers_election_has_candidates() {
    let found = house(
        "<congress>119</congress><session>1st</session><rollcall-num>2</rollcall-num>
        <vote-question>Election of the Speaker</vote-question><vote-type>YEA-AND-NAY</vote-type>
        <vote-result>Johnson (LA)</vote-result><action-date>3-Jan-2025</action-date><vote-totals>
        <totals-by-candidate><candidate>Johnson (LA)</candidate><candidate-total>218</candidate-total>
        </totals-by-candidate><totals-by-candidate><candidate>Emmer</candidate>
        <candidate-total>1</candidate-total></totals-by-candidate><totals-by-candidate>
        <candidate>Not Voting</candidate><candidate-total>0</candidate-total></totals-by-candidate>
        </vote-totals>",
        &[
            ("name-id='A000055' party='R' state='AL'", "Aderholt", "Johnson (LA)"),
            ("name-id='J000299' party='R' state='LA'", "Johnson (LA)", "Johnson (LA)"),
        ],
    );
    assert_eq!(*found.field(0, "result"), "Johnson (LA)");
    let absent =
        ["yea", "nay", "republican_yea", "present"].map(|name| found.field(0, name).is_null());
    assert_eq!(absent, [true; 4], "not 0");
    assert_eq!(*found.field(0, "not_voting"), 0);
    let candidates: Vec<_> = found.records[0]
        .rows
        .iter()
        .filter(|(sub, _)| *sub == "candidates")
        .map(|(_, row)| (&row["name"], &row["votes"], &row["bioguide"]))
        .collect();
    assert_eq!(
        candidates,
        [
            (&json!("Johnson (LA)"), &json!(218), &json!("J000299")),
            (&json!("Emmer"), &json!(1), &Value::Null),
        ]
    );
}

/// The structure of roll 1 of 1990: members have no ids.
#[test]
fn a_quorum_call() {
    let found = house(
        "<congress>101</congress><session>2nd</session><rollcall-num>1</rollcall-num>
        <legis-num>QUORUM 1</legis-num><vote-question>Call of the House</vote-question>
        <vote-type>QUORUM</vote-type><action-date>23-Jan-1990</action-date><vote-totals>
        <totals-by-vote><yea-total>0</yea-total><nay-total>0</nay-total>
        <present-total>376</present-total><not-voting-total>54</not-voting-total></totals-by-vote>
        </vote-totals>",
        &[("party='D' state='NY'", "Ackerman", "Present")],
    );
    assert_eq!((found.ids()[0], found.field(0, "bill_id")), ("house:101:2:1", &Value::Null));
    assert_eq!((found.field(0, "present"), found.field(0, "yea")), (&json!(376), &json!(0)));
    let row = &found.records[0].rows[0].1;
    assert_eq!((&row["bioguide"], &row["lis_id"]), (&Value::Null, &Value::Null));
}

/// A file of the Secretary with these elements, one vote, and these totals.
fn senate(parts: &str, cast: &str) -> Collected {
    let text = format!(
        "<roll_call_vote><congress>119</congress><session>1</session><vote_number>6</vote_number>
        <vote_date>January 15, 2025, 05:26 PM</vote_date><majority_requirement>1/2</majority_requirement>
        {parts}<members><member><last_name>Doe</last_name>
        <first_name>Jane</first_name><party>D</party><state>MD</state>{cast}
        <lis_member_id>S428</lis_member_id></member></members></roll_call_vote>"
    );
    read("vote", &text)
}

const YEA: &str = "<vote_cast>Yea</vote_cast>";

#[test]
fn the_secretarys_file() {
    let bill = senate(
        "<document><document_type>S.</document_type><document_number>5</document_number></document>
        <amendment><amendment_number>S.Amdt. 8</amendment_number></amendment>
        <count><yeas>1</yeas><nays/><present/><absent>2</absent></count>",
        YEA,
    );
    assert_eq!(
        (bill.field(0, "bill_id"), bill.field(0, "amendment_id")),
        (&json!("s:119:5"), &json!("samdt:119:8"))
    );
    assert_eq!(
        (bill.field(0, "not_voting"), &bill.records[0].rows[0].1["lis_id"]),
        (&json!(2), &json!("S428"))
    );
    assert_eq!((bill.field(0, "nay"), bill.field(0, "democratic_yea")), (&json!(0), &json!(1)));
}

/// The structure of vote 655 of 2025: the resolution in its title is not what was voted on.
#[test]
fn nominations_en_bloc() {
    let nominee = |number: &str, name: &str| {
        format!(
            "<document><document_type>PN</document_type><document_number>{number}</document_number>
            <document_title>{name}, of Ohio, to be Taster of Tea</document_title></document>"
        )
    };
    let found = senate(
        &format!(
            "<vote_question_text>On the Nomination PN416-9 and PN25-29</vote_question_text>
            <question>On the Nomination</question>
            <vote_title>En Bloc Nominations as Provided for Under S. Res. 532</vote_title>
            <vote_result>Nomination Confirmed</vote_result>{}<amendment/>{}",
            nominee("25-29", "Ada Doe"),
            nominee("60", "Al Roe")
        ),
        YEA,
    );
    let vote = found.records.len() - 1;
    assert_eq!(
        *found.field(vote, "nomination_ids"),
        json!(["pn:119:25-29", "pn:119:60", "pn:119:416-9"])
    );
    assert_eq!(*found.field(vote, "bill_id"), Value::Null);
    assert_eq!(found.ids()[..2], ["pn:119:25-29", "pn:119:60"], "described in the vote");
    assert_eq!(
        (found.field(0, "nominee"), found.field(0, "part")),
        (&json!("Ada Doe"), &json!("29"))
    );
}

#[test]
fn what_a_senate_vote_is_on() {
    let treaty = senate(
        "<vote_question_text>On the Amendment S.Amdt. 4895 to Treaty Doc. 111-5</vote_question_text>
        <document><document_type/><document_number/></document><amendment>
        <amendment_number>S.Amdt. 4895</amendment_number>
        <amendment_to_document_number>Treaty Doc. 111-5</amendment_to_document_number></amendment>",
        YEA,
    );
    assert_eq!(
        (treaty.field(0, "treaty"), treaty.field(0, "amendment_id")),
        (&json!("111-5"), &json!("samdt:119:4895"))
    );
    assert_eq!(*treaty.field(0, "bill_id"), Value::Null);
    let objection = senate(
        "<vote_question_text>On the Objection (Shall S. 5 Be Sustained?)</vote_question_text>
        <question>On the Objection</question>",
        YEA,
    );
    assert_eq!(*objection.field(0, "bill_id"), Value::Null);
    let house_bill = senate(
        "<document><document_type>S.Amdt.</document_type><document_number/></document><amendment>
        <amendment_number>S.Amdt. 3937</amendment_number>
        <amendment_to_document_number>H.R. 5371</amendment_to_document_number></amendment>",
        YEA,
    );
    assert_eq!(*house_bill.field(0, "bill_id"), "hr:119:5371");
}

#[test]
fn a_tie_an_impeachment_and_a_live_pair() {
    let tie = senate(
        "<vote_result>Bill Passed</vote_result><count><yeas>50</yeas><nays>50</nays></count>
        <tie_breaker><by_whom>Vice President of the United States</by_whom>
        <tie_breaker_vote>Yea</tie_breaker_vote></tie_breaker>",
        YEA,
    );
    assert_eq!(
        (tie.field(0, "yea"), tie.field(0, "tie_breaker_vote")),
        (&json!(50), &json!("yea"))
    );
    assert_eq!(tie.records[0].rows.len(), 2, "a senator and the Vice President");
    assert_eq!(*tie.field(0, "democratic_yea"), Value::Null, "99 votes are missing here");

    let guilty = senate(
        "<vote_result>Not Guilty</vote_result><count><yeas>1</yeas><nays/></count>",
        "<vote_cast>Guilty</vote_cast>",
    );
    assert_eq!(
        (&guilty.records[0].rows[0].1["position"], guilty.field(0, "democratic_yea")),
        (&json!("guilty"), &json!(1))
    );
    let pair = senate("", "<vote_cast crp=' ' pair='S375'>Present, Giving Live Pair</vote_cast>");
    let row = &pair.records[0].rows[0].1;
    assert_eq!((&row["position"], &row["paired_lis_id"]), (&json!("present"), &json!("S375")));
}

/// The structure of the Secretary's list of a session.
#[test]
fn a_list_of_votes() {
    let found = read(
        "vote_menu_119_1",
        "<vote_summary><congress>119</congress><session>1</session><congress_year>2025</congress_year>
        <votes><vote><vote_number>00659</vote_number><vote_date>18-Dec</vote_date><issue>PN373</issue>
        <question>On the Cloture Motion</question><result>Agreed to</result>
        <vote_tally><yeas>51</yeas><nays>42</nays></vote_tally><title>Tea</title></vote>
        <vote><vote_number>00655</vote_number><vote_date>18-Dec</vote_date><en_bloc>
        <matter><issue>PN416-9</issue><question>On the Nomination</question><result>Confirmed</result>
        </matter><matter><issue>PN447</issue></matter></en_bloc></vote></votes></vote_summary>",
    );
    assert_eq!(found.ids(), ["senate:119:1:659", "senate:119:1:655"]);
    assert_eq!((found.field(0, "yea"), found.field(0, "present")), (&json!(51), &Value::Null));
    assert_eq!(*found.field(1, "nomination_ids"), json!(["pn:119:416-9", "pn:119:447"]));
    assert_eq!(
        (found.field(1, "question"), found.field(1, "date")),
        (&json!("On the Nomination"), &json!("2025-12-18"))
    );
}
