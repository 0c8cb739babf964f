//! Roll call votes of both chambers.

use crate::catalog::spec::*;
use crate::catalog::wording::{long_date, ordinal};

pub const SOURCE: Source = Source {
    key: "roll-call-votes",
    one: "roll call vote",
    shape: Shape::Registry,
    about: "Roll call votes of the House and the Senate with each member's position",
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::int("session", "Session, 1 or 2").group(),
        Field::keyword("chamber", "house or senate").group(),
        Field::int("number", "Roll call number within the session"),
        Field::date("date", "Day of the vote").time(),
        Field::keyword("question", "What was asked: On Passage, On the Nomination …").group(),
        Field::keyword("result", "Outcome: Passed, Failed, Agreed to, Rejected …").group(),
        Field::keyword("vote_type", "How it was taken or the majority needed"),
        Field::id("bill_id", "bills", "The bill concerned").group(),
        Field::id("amendment_id", "amendments", "The amendment concerned"),
        Field::id("nomination_id", "nominations", "The nomination concerned"),
        Field::int("yea", "Yeas").sum(),
        Field::int("nay", "Nays").sum(),
        Field::int("present", "Present").sum(),
        Field::int("not_voting", "Not voting").sum(),
        Field::int("democratic_yea", "Democratic yeas").sum(),
        Field::int("democratic_nay", "Democratic nays").sum(),
        Field::int("republican_yea", "Republican yeas").sum(),
        Field::int("republican_nay", "Republican nays").sum(),
        Field::int("independent_yea", "Yeas of all others").sum(),
        Field::int("independent_nay", "Nays of all others").sum(),
    ],
    title: "title",
    main_date: Some("date"),
    order: &[("date", true), ("number", true)],
    subs: &[Sub::rows("positions", POSITIONS, "Each member's vote")],
    url: |f| {
        let (congress, session, number) = (int(f, "congress"), int(f, "session"), int(f, "number"));
        match text(f, "chamber") {
            "senate" => format!(
                "https://www.senate.gov/legislative/LIS/roll_call_votes/vote{congress}{session}/vote_{congress}_{session}_{number:05}.htm"
            ),
            _ => format!("https://clerk.house.gov/Votes/{}{number}", 1787 + congress * 2 + session - 1),
        }
    },
    cite: |f| {
        let chamber = if text(f, "chamber") == "senate" { "Senate" } else { "House" };
        let (congress, date) = (ordinal(int(f, "congress")), long_date(text(f, "date")));
        format!(
            "{chamber} Roll Call Vote No. {}, {congress} Cong., {} Sess. ({date})",
            int(f, "number"),
            ordinal(int(f, "session"))
        )
    },
    publisher: "Clerk of the House and Secretary of the Senate",
    licence: US_WORK,
};

const POSITIONS: &[Field] = &[
    Field::id("bioguide", "legislators", "Member's bioguide id"),
    Field::keyword("lis_id", "Senate LIS id, as the roll call has it"),
    Field::keyword("name", "Member's name"),
    Field::keyword("party", "Party"),
    Field::keyword("state", "State, two letters"),
    Field::keyword("position", "yea, nay, present, not_voting, or a name in an election"),
];
