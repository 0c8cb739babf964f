//! Roll call votes of both chambers.

use regex::Captures;

use crate::catalog::ids::readers::{lower, number};
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::{long_date, ordinal};

pub const SOURCE: Source = Source {
    key: "roll-call-votes",
    singular: "roll call vote",
    shape: Shape::Registry,
    about: "Roll call votes of the House and the Senate with each member's position",
    ids: Ids {
        form: "(house|senate):CONGRESS:SESSION:NUMBER",
        example: "house:119:1:145",
        bare_prefix: None,
        spellings: &[
            Spelling::canonical(
                &["(?P<chamber>house|senate):", CONGRESS, r":(?P<session>\d):(?P<n>\d{1,9})"],
                read_id,
            ),
            Spelling::written(
                &[
                    r"(?P<chamber>house|senate),? (?:roll[ -]?call )?(?:vote )?(?:no\.? ?)?",
                    r"(?P<n>\d{1,5})[ ,(]+",
                    CONGRESS,
                    r"(?:st|nd|rd|th) cong(?:ress|\.)?,? ",
                    r"(?P<session>\d)(?:st|nd|rd) sess(?:ion|\.)?\)?",
                ],
                read_id,
            ),
            Spelling::written(
                &[r"(?P<chamber>[hs])(?P<n>\d{1,5})-\d{1,3}\.(?P<year>\d{4})"],
                read_id,
            ),
            Spelling::site(
                &[r"url:clerk\.(?P<chamber>house)\.gov/votes/(?P<year>\d{4})(?P<n>\d{1,4})"],
                read_id,
            ),
            Spelling::site(
                &[
                    r"url:(?:www\.)?(?P<chamber>senate)\.gov/.*vote_",
                    CONGRESS,
                    r"_(?P<session>\d)_(?P<n>\d{5})\.(?:htm|xml)",
                ],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::int("session", "Session, 1 or 2").group(),
        Field::keyword("chamber", "house or senate").group(),
        Field::int("number", "Roll call number within the session"),
        Field::date("date", "Date of the vote").time(),
        Field::keyword("question", "The question: On Passage, On the Nomination …").group(),
        Field::keyword("result", "Outcome: Passed, Failed, Agreed to, Rejected …").group(),
        Field::keyword("vote_type", "Method of voting or majority required"),
        Field::id("bill_id", "bills", "The bill concerned").group(),
        Field::id("amendment_id", "amendments", "The amendment concerned"),
        Field::int("amendment_number", "Number of a House amendment among those to its bill"),
        Field::keyword("amendment_author", "Who offered a House amendment, as the Clerk writes it"),
        Field::ids("nomination_ids", "nominations", "Nominations concerned, several if en bloc"),
        Field::keyword("treaty", "Treaty document concerned, 111-5"),
        Field::int("yea", "Yeas without the Vice President's; absent in an election").sum(),
        Field::int("nay", "Nays without the Vice President's; absent in an election").sum(),
        Field::int("margin", "Difference between yeas and nays"),
        Field::int("present", "Present").sum(),
        Field::int("not_voting", "Not voting").sum(),
        Field::keyword("tie_breaker_vote", "The Vice President's vote on a tie, yea or nay"),
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
    sub_resources: &[
        SubResource::rows("positions", POSITIONS, "Each member's vote"),
        SubResource::rows(
            "candidates",
            CANDIDATES,
            "Candidates in an election, such as a Speaker's",
        ),
    ],
    naming: Some(Naming {
        hints: HintFields { chamber: Some("chamber"), year: &["date"], ..HintFields::NONE },
        ..Naming::new(|record, add| {
            add("name", text(record, "title"));
            add("bill", text(record, "bill_id"));
        })
    }),
    dossier: None,
    url: |f| {
        let (congress, session, number) = (int(f, "congress"), int(f, "session"), int(f, "number"));
        match text(f, "chamber") {
            "senate" => format!(
                "https://www.senate.gov/legislative/LIS/roll_call_votes/vote{congress}{session}/\
                 vote_{congress}_{session}_{number:05}.htm"
            ),
            _ => format!(
                "https://clerk.house.gov/Votes/{}{number}",
                1787 + congress * 2 + session - 1
            ),
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
    Field::keyword("lis_id", "Senate LIS id, as in the roll call"),
    Field::keyword("name", "Member's name"),
    PARTY,
    STATE,
    POSITION,
    Field::keyword("paired_lis_id", "LIS id of the absent senator to whom a live pair was given"),
];

const CANDIDATES: &[Field] = &[
    Field::id("bioguide", "legislators", "Candidate's bioguide id, for a member"),
    Field::keyword("name", "Candidate's name, as in the roll call"),
    Field::int("votes", "Votes received"),
];

fn read_id(captures: &Captures) -> Option<Reading> {
    let chamber = if lower(captures, "chamber")?.starts_with('h') { "house" } else { "senate" };
    let (congress, session) = match captures.name("year") {
        // The clerk counts by year: 2025 is the first session of the 119th.
        Some(year) => {
            let year: i64 = year.as_str().parse().ok()?;
            let congress = (year - 1787) / 2;
            ((year >= 1789).then_some(congress)?, year - 1786 - congress * 2)
        }
        None => (
            number(captures, "congress")?.parse().ok()?,
            number(captures, "session")?.parse().ok()?,
        ),
    };
    (1..=3).contains(&session).then_some(())?;
    Some(Reading::Complete(format!("{chamber}:{congress}:{session}:{}", number(captures, "n")?)))
}
