//! Roll calls in the XML of the Clerk of the House (`rollcall-vote`) and of the Secretary of the
//! Senate (`roll_call_vote`).

use josh::catalog::ids;
use roxmltree::Node;

use super::roll_call::RollCall;
use super::roll_call_tally::{Position, Tally, Totals};
use crate::formats::{congress, xml};
use crate::record::Rank;

/// The Clerk's file. Members are named by bioguide id, before 2003 not at all.
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
    // The Clerk counts the amendments to one bill; H.Amdt. numbers count those of a congress.
    vote.amendment_number = number("amendment-num");
    vote.amendment_author = text("amendment-author");
    let cast = xml::child(root, "vote-data").into_iter().flat_map(|d| each(d, "recorded-vote"));
    let positions = cast.filter_map(|one| {
        let member = xml::child(one, "legislator")?;
        let attribute = |name: &str| member.attribute(name).unwrap_or_default().to_string();
        Some(Position {
            id: attribute("name-id"),
            name: xml::text(member),
            party: attribute("party"),
            state: attribute("state"),
            cast: xml::text_at(one, &["vote"]),
            ..Position::default()
        })
    });
    let totals = xml::child(meta, "vote-totals");
    let by = |name: &'static str| totals.into_iter().flat_map(move |t| each(t, name));
    let candidate = |c: Node<'_, '_>| {
        let votes = leading_number(&xml::text_at(c, &["candidate-total"]))?;
        Some((xml::text_at(c, &["candidate"]), votes))
    };
    vote.tally = Tally {
        positions: positions.collect(),
        totals: by("totals-by-vote").next().map(counted),
        parties: by("totals-by-party").map(|p| (xml::text_at(p, &["party"]), counted(p))).collect(),
        candidates: by("totals-by-candidate").filter_map(candidate).collect(),
    };
    Some(vote)
}

fn counted(node: Node<'_, '_>) -> Totals {
    let count = |name: &str| leading_number(&xml::text_at(node, &[name]));
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
    vote.set_tie_breaker(
        &text(&["tie_breaker", "by_whom"]),
        &text(&["tie_breaker", "tie_breaker_vote"]),
    );
    // Nominations considered en bloc have a document each.
    for document in each(root, "document") {
        set_document(&mut vote, document);
    }
    let amends = text(&["amendment", "amendment_to_document_number"]);
    vote.bill_id = vote.bill_id.take().or_else(|| measure(&amends, vote.congress));
    for named in [&text(&["amendment", "amendment_number"]), &amends] {
        vote.set_mentions(named);
    }
    vote.set_mentions(&text(&["vote_question_text"]));
    let members = xml::child(root, "members").into_iter().flat_map(|m| each(m, "member"));
    vote.tally = Tally {
        positions: members.map(senator).collect(),
        totals: xml::child(root, "count").map(senate_totals),
        ..Tally::default()
    };
    Some(vote)
}

/// A document is a bill, a nomination or a treaty.
fn set_document(vote: &mut RollCall, document: Node<'_, '_>) {
    let text = |name: &str| xml::text_at(document, &[name]);
    let (kind, number) = (text("document_type"), text("document_number"));
    let congress = leading_number(&text("document_congress")).unwrap_or(vote.congress);
    match kind.as_str() {
        "PN" => vote.add_nomination(&number, &text("document_title")),
        _ if vote.bill_id.is_none() => {
            vote.bill_id = measure(&format!("{kind} {number}"), congress);
            vote.set_mentions(&format!("{kind} {number}"));
        }
        _ => {}
    }
}

fn senator(member: Node<'_, '_>) -> Position {
    let field = |name: &str| xml::text_at(member, &[name]);
    let pair = xml::child(member, "vote_cast").and_then(|cast| cast.attribute("pair"));
    Position {
        id: field("lis_member_id"),
        name: format!("{} {}", field("first_name"), field("last_name")).trim().to_string(),
        party: field("party"),
        state: field("state"),
        cast: field("vote_cast"),
        paired_with: pair.unwrap_or_default().to_string(),
    }
}

/// The Secretary leaves an element empty for zero.
fn senate_totals(count: Node<'_, '_>) -> Totals {
    let stated = |name: &str| {
        xml::child(count, name).map(|n| leading_number(&xml::text(n)).unwrap_or_default())
    };
    Totals {
        yea: stated("yeas"),
        nay: stated("nays"),
        present: stated("present"),
        not_voting: stated("absent"),
    }
}

/// The votes of a session as the Secretary lists them (`vote_summary`), without members.
pub fn senate_list(root: Node<'_, '_>) -> Vec<Option<RollCall>> {
    let number = |name: &str| leading_number(&xml::text_at(root, &[name]));
    let (congress, session) = (number("congress"), number("session"));
    let year = xml::text_at(root, &["congress_year"]);
    let votes = xml::child(root, "votes").into_iter().flat_map(|v| each(v, "vote"));
    votes.map(|vote| listed(vote, congress, session, &year)).collect()
}

fn listed(
    entry: Node<'_, '_>,
    congress: Option<i64>,
    session: Option<i64>,
    year: &str,
) -> Option<RollCall> {
    let number = leading_number(&xml::text_at(entry, &["vote_number"]));
    let mut vote = RollCall::new("senate", congress, session, number)?;
    vote.rank = Rank::Partial;
    vote.set_date([format!("{}-{year}", xml::text_at(entry, &["vote_date"])).as_str()]);
    vote.about = xml::text_at(entry, &["title"]);
    let matters = xml::child(entry, "en_bloc").into_iter().flat_map(|e| each(e, "matter"));
    for matter in matters.chain([entry]) {
        let text = |name: &str| xml::text_at(matter, &[name]);
        if vote.question.is_empty() {
            vote.question = text("question");
            vote.set_result(&text("result"));
        }
        vote.bill_id =
            vote.bill_id.take().or_else(|| measure(&text("issue"), congress.unwrap_or_default()));
        vote.set_mentions(&text("issue"));
    }
    vote.tally.totals = xml::child(entry, "vote_tally").map(senate_totals);
    Some(vote)
}

fn each<'a, 'd: 'a>(node: Node<'a, 'd>, name: &'static str) -> impl Iterator<Item = Node<'a, 'd>> {
    xml::children(node, name)
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
mod tests;
