//! Roll calls in the XML of the Clerk of the House (`rollcall-vote`) and of the Secretary of the
//! Senate (`roll_call_vote`).

use josh::catalog::ids;
use roxmltree::Node;

use super::roll_call::{Position, RollCall, Totals};
use crate::formats::{congress, xml};

/// The Clerk's file. Members are named by bioguide id.
pub fn house(root: Node<'_, '_>) -> Option<RollCall> {
    let meta = xml::child(root, "vote-metadata")?;
    let text = |name: &str| xml::text_at(meta, &[name]);
    let number = |name: &str| leading_number(&text(name));
    let mut vote =
        RollCall::new("house", number("congress"), number("session"), number("rollcall-num"))?;
    vote.set_date([text("action-date").as_str()]);
    (vote.question, vote.vote_type, vote.about) =
        (text("vote-question"), text("vote-type"), text("vote-desc"));
    vote.set_result(&text("vote-result"));
    vote.bill_id = measure(&text("legis-num"), vote.congress);
    let cast = xml::child(root, "vote-data")
        .into_iter()
        .flat_map(|d| xml::children(d, "recorded-vote").collect::<Vec<_>>());
    let positions = cast.filter_map(|one| {
        let member = xml::child(one, "legislator")?;
        let attribute = |name: &str| member.attribute(name).unwrap_or_default();
        Some(Position::new(
            attribute("name-id"),
            &xml::text(member),
            attribute("party"),
            attribute("state"),
            &xml::text_at(one, &["vote"]),
        ))
    });
    let totals = xml::child(meta, "vote-totals");
    let parties =
        totals.into_iter().flat_map(|t| xml::children(t, "totals-by-party").collect::<Vec<_>>());
    let parties = parties.map(|p| (xml::text_at(p, &["party"]), counted(p))).collect();
    vote.set_positions(
        positions.collect(),
        totals.and_then(|t| xml::child(t, "totals-by-vote")).map(counted),
        parties,
    );
    Some(vote)
}

fn counted(node: Node<'_, '_>) -> Totals {
    let count = |name: &str| leading_number(&xml::text_at(node, &[name])).unwrap_or_default();
    Totals {
        yea: count("yea-total"),
        nay: count("nay-total"),
        present: count("present-total"),
        not_voting: count("not-voting-total"),
    }
}

/// The Secretary's file. Members are named by LIS id.
pub fn senate(root: Node<'_, '_>) -> Option<RollCall> {
    let text = |path: &[&str]| xml::text_at(root, path);
    let number = |name: &str| leading_number(&text(&[name]));
    let mut vote =
        RollCall::new("senate", number("congress"), number("session"), number("vote_number"))?;
    vote.set_date([text(&["vote_date"]).as_str()]);
    (vote.question, vote.vote_type, vote.about) =
        (text(&["question"]), text(&["majority_requirement"]), text(&["vote_title"]));
    vote.set_result(&text(&["vote_result"]));
    // A document is a bill or a nomination; an amendment says which bill it is to.
    let document = format!(
        "{} {}",
        text(&["document", "document_type"]),
        text(&["document", "document_number"])
    );
    vote.bill_id = measure(&document, vote.congress)
        .or_else(|| measure(&text(&["amendment", "amendment_to_document_number"]), vote.congress));
    let amendment = text(&["amendment", "amendment_number"]);
    vote.set_mentions(&[
        &amendment,
        &document.replace("PN ", "PN"),
        &text(&["vote_question_text"]),
        &vote.about.clone(),
    ]);
    let members = xml::child(root, "members")
        .into_iter()
        .flat_map(|m| xml::children(m, "member").collect::<Vec<_>>());
    let positions = members.map(|m| {
        let field = |name: &str| xml::text_at(m, &[name]);
        let name = format!("{} {}", field("first_name"), field("last_name"));
        Position::new(
            &field("lis_member_id"),
            name.trim(),
            &field("party"),
            &field("state"),
            &field("vote_cast"),
        )
    });
    let count = |name: &str| leading_number(&text(&["count", name]));
    let totals = count("yeas").map(|yea| Totals {
        yea,
        nay: count("nays").unwrap_or_default(),
        present: count("present").unwrap_or_default(),
        not_voting: count("absent").unwrap_or_default(),
    });
    vote.set_positions(positions.collect(), totals, Vec::new());
    Some(vote)
}

/// "119", "1st" -> the number at the beginning.
fn leading_number(text: &str) -> Option<i64> {
    text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// "H R 144", "H CON RES 30", "S.J.Res. 80" -> the bill; "QUORUM" and "PN 12" are none.
fn measure(written: &str, congress: i64) -> Option<String> {
    let squeezed: String = written.chars().filter(char::is_ascii_alphanumeric).collect();
    let digits = squeezed.find(|c: char| c.is_ascii_digit())?;
    let id = congress::bill_id(&squeezed[..digits], congress, squeezed[digits..].parse().ok()?)?;
    ids::canonical("bills", &id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::formats::testing::read_text;
    use crate::sources::roll_call_votes;

    #[test]
    fn the_clerks_file() {
        let found = read_text(
            roll_call_votes::read,
            "roll-call-votes/roll014.xml",
            "<rollcall-vote><vote-metadata>
            <congress>119</congress><session>1st</session><rollcall-num>14</rollcall-num>
            <legis-num>H CON RES 30</legis-num><vote-question>On Agreeing</vote-question>
            <vote-type>YEA-AND-NAY</vote-type>
            <vote-result>Passed</vote-result><action-date>15-Jan-2025</action-date><vote-desc>Some</vote-desc>
            <vote-totals><totals-by-party><party>Republican</party><yea-total>1</yea-total></totals-by-party>
            <totals-by-vote><yea-total>1</yea-total><nay-total>0</nay-total></totals-by-vote>
            </vote-totals></vote-metadata>
            <vote-data><recorded-vote><legislator name-id='A000370' party='D' state='NC'>Adams</legislator>
            <vote>Aye</vote></recorded-vote>
            </vote-data></rollcall-vote>",
        );
        assert_eq!(found.ids(), ["house:119:1:14"]);
        assert_eq!(
            (found.field(0, "bill_id"), found.field(0, "date")),
            (&json!("hconres:119:30"), &json!("2025-01-15"))
        );
        assert_eq!(
            (found.field(0, "yea"), found.field(0, "republican_yea")),
            (&json!(1), &json!(1))
        );
        assert_eq!(found.records[0].rows[0].1["bioguide"], "A000370");
    }

    #[test]
    fn the_secretarys_file() {
        let vote = |document: &str| {
            format!(
                "<roll_call_vote><congress>119</congress><session>1</session><vote_number>6</vote_number>
                <vote_date>January 15, 2025, 05:26 PM</vote_date><question>On the Question</question>
                <vote_title>It</vote_title>
                <majority_requirement>1/2</majority_requirement><vote_result>Agreed to</vote_result>{document}
                <count><yeas>1</yeas><nays/><present/><absent>2</absent></count><members><member>
                <last_name>Doe</last_name>
                <first_name>Jane</first_name><party>D</party><state>MD</state><vote_cast>Yea</vote_cast>
                <lis_member_id>S428</lis_member_id></member></members></roll_call_vote>"
            )
        };
        let read = |document: &str| {
            read_text(roll_call_votes::read, "roll-call-votes/vote.xml", &vote(document))
        };
        let bill = read(
            "<document><document_type>S.</document_type><document_number>5</document_number></document>
            <amendment><amendment_number>S.Amdt. 8</amendment_number></amendment>",
        );
        assert_eq!(
            (bill.field(0, "bill_id"), bill.field(0, "amendment_id")),
            (&json!("s:119:5"), &json!("samdt:119:8"))
        );
        assert_eq!(
            (bill.field(0, "not_voting"), &bill.records[0].rows[0].1["lis_id"]),
            (&json!(2), &json!("S428"))
        );
        let nomination = read(
            "<document><document_type>PN</document_type><document_number>12-3</document_number></document>",
        );
        assert_eq!(
            (nomination.field(0, "bill_id"), nomination.field(0, "nomination_id")),
            (&json!(null), &json!("pn:119:12-3"))
        );
    }
}
