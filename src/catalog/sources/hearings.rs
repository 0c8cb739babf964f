//! Committee hearings, markups and meetings.

use regex::Captures;

use crate::catalog::ids::readers::{lower, number};
use crate::catalog::ids::spelling::*;
use crate::catalog::names::each;
use crate::catalog::spec::*;
use crate::catalog::wording::{date_of, ordinal};

pub const SOURCE: Source = Source {
    key: "hearings",
    singular: "hearing",
    shape: Shape::Registry,
    about: "Committee hearings, markups and meetings, with witnesses and the bills considered",
    ids: Ids {
        form: "hearing:CONGRESS:EVENT",
        example: "hearing:119:118225",
        bare_prefix: Some("hearing:"),
        spellings: &[
            Spelling::canonical(
                &["hearing:", CONGRESS, ":(?P<event>[a-z0-9][a-z0-9-]{0,60})"],
                read_id,
            ),
            Spelling::new(
                Precedence::CongressGov,
                &[
                    CONGRESS_GOV,
                    "/event",
                    CONGRESS_IN_PATH,
                    "[a-z]+-event/(?P<event>[a-z0-9-]+)(?:/.*)?",
                ],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::keyword("chamber", "house, senate or joint").group(),
        Field::id("committee", "committees", "Committee").group(),
        Field::keyword("committee_name", "Committee's name"),
        Field::date("date", "Date of the meeting").time(),
        Field::keyword("type", "hearing, markup or meeting").group(),
        Field::keyword("status", "scheduled, rescheduled, postponed or canceled, if stated"),
        Field::keyword("location", "Building and room"),
        Field::keywords("witnesses", "Witnesses").group(),
        Field::ids("bill_ids", "bills", "Bills considered"),
    ],
    title: "title",
    main_date: Some("date"),
    order: &[("date", true)],
    sub_resources: &[],
    naming: Some(Naming {
        hints: HintFields { chamber: Some("chamber"), year: &["date"], ..HintFields::NONE },
        ..Naming::new(|record, add| {
            add("name", text(record, "title"));
            add("committee", text(record, "committee_name"));
            each(record, "witnesses", |witness| add("witness", witness));
        })
    }),
    dossier: None,
    url: |f| {
        let chamber = match text(f, "chamber") {
            "" => "house",
            chamber => chamber,
        };
        let event = text(f, "id").rsplit(':').next().unwrap_or_default();
        format!(
            "https://www.congress.gov/event/{}-congress/{chamber}-event/{event}",
            ordinal(int(f, "congress"))
        )
    },
    cite: |f| {
        let congress = ordinal(int(f, "congress"));
        let body = match text(f, "committee_name") {
            "" => String::new(),
            name => format!(" Before the {name}"),
        };
        format!("{}:{body}, {congress} Cong.{}", text(f, "title"), date_of(f, "date"))
            .replace(":,", ",")
    },
    publisher: "Congress.gov (Library of Congress)",
    licence: US_WORK,
};

fn read_id(captures: &Captures) -> Option<Reading> {
    let (congress, event) = (number(captures, "congress")?, lower(captures, "event")?);
    Some(Reading::Complete(format!("hearing:{congress}:{event}")))
}
