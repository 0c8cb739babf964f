//! Nominations sent to the Senate.

use regex::Captures;

use crate::catalog::ids::readers::{number, with_congress};
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::ordinal;

pub const SOURCE: Source = Source {
    key: "nominations",
    singular: "nomination",
    shape: Shape::Registry,
    about: "Presidential nominations before the Senate and their outcomes",
    ids: Ids {
        form: "pn:CONGRESS:NUMBER[-PART]",
        example: "pn:119:12-3",
        bare_prefix: Some("pn"),
        spellings: &[
            Spelling::canonical(
                &["pn:", CONGRESS, r":(?P<n>\d{1,9})(?:-(?P<part>\d{1,4}))?"],
                read_id,
            ),
            Spelling::written(
                &[
                    r"pn ?(?P<n>\d{1,5})(?:-(?P<part>\d{1,4}))?",
                    r"(?:[ ,]*\(?(?P<congress>\d{1,3})(?:st|nd|rd|th)(?: cong(?:ress|\.)?)?\)?)?",
                ],
                read_id,
            ),
            Spelling::new(
                Precedence::CongressGov,
                &[
                    CONGRESS_GOV,
                    "/nomination",
                    CONGRESS_IN_PATH,
                    r"(?P<n>\d{1,5})(?:/(?P<part>\d{1,4}))?(?:/[a-z].*)?",
                ],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::int("number", "PN number"),
        Field::keyword("part", "Part, for a nomination in parts"),
        Field::keyword("nominee", "Person nominated").group(),
        Field::text("position", "Position nominated to"),
        Field::keyword("organization", "Department or agency").group().named(),
        Field::date("received_date", "Date of receipt in the Senate").time(),
        Field::keyword(
            "status",
            "received, in_committee, reported, on_calendar, confirmed, withdrawn or returned",
        )
        .group(),
        Field::text("latest_action", "Latest action, as recorded"),
        Field::date("latest_action_date", "Date of the latest action").time(),
        Field::id("committee", "committees", "Committee of referral").group(),
    ],
    title: "title",
    main_date: Some("received_date"),
    order: &[("congress", true), ("received_date", true)],
    sub_resources: &[
        SubResource::rows("actions", ACTIONS, "Its actions, newest first"),
        SubResource::records("votes", "roll-call-votes", "nomination_ids", "Roll calls on it"),
    ],
    naming: Some(Naming {
        hints: HintFields { year: &["received_date"], ..HintFields::NONE },
        ..Naming::new(|record, add| {
            add("name", text(record, "title"));
            add("nominee", text(record, "nominee"));
            add("position", text(record, "position"));
        })
    }),
    dossier: None,
    url: |f| {
        let number = text(f, "id").rsplit(':').next().unwrap_or_default().replace('-', "/");
        format!(
            "https://www.congress.gov/nomination/{}-congress/{number}",
            ordinal(int(f, "congress"))
        )
    },
    cite: |f| {
        let number = text(f, "id").rsplit(':').next().unwrap_or_default();
        format!("PN{number}, {} Cong., {}", ordinal(int(f, "congress")), text(f, "title"))
    },
    publisher: "Congress.gov (Library of Congress)",
    licence: US_WORK,
};

const ACTIONS: &[Field] = &[
    Field::date("date", "Date of the action"),
    Field::text("text", "The action, as recorded"),
    Field::keyword("type", "Kind of action"),
];

fn read_id(captures: &Captures) -> Option<Reading> {
    let mut n = number(captures, "n")?;
    if let Some(part) = number(captures, "part") {
        n = format!("{n}-{part}");
    }
    with_congress(captures, "pn".into(), n)
}
