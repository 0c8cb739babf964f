//! Nominations sent to the Senate.

use crate::catalog::spec::*;
use crate::catalog::wording::ordinal;

pub const SOURCE: Source = Source {
    key: "nominations",
    one: "nomination",
    shape: Shape::Registry,
    about: "Presidential nominations before the Senate and what became of them",
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::int("number", "PN number"),
        Field::keyword("part", "Part, for a nomination in parts"),
        Field::keyword("nominee", "Who is nominated").group(),
        Field::text("position", "To what post"),
        Field::keyword("organization", "Department or agency").group(),
        Field::date("received_date", "Day the Senate received it").time(),
        Field::keyword("status", "received, in_committee, reported, on_calendar, confirmed, withdrawn or returned")
            .group(),
        Field::text("latest_action", "Newest action, as recorded"),
        Field::date("latest_action_date", "Day of the newest action").time(),
        Field::id("committee", "committees", "Committee of referral").group(),
    ],
    title: "title",
    main_date: Some("received_date"),
    order: &[("congress", true), ("received_date", true)],
    subs: &[
        Sub::rows("actions", ACTIONS, "What happened to it, newest first"),
        Sub::records("votes", "roll-call-votes", "nomination_id", "Roll calls on it"),
    ],
    url: |f| {
        let number = text(f, "id").rsplit(':').next().unwrap_or_default().replace('-', "/");
        format!("https://www.congress.gov/nomination/{}-congress/{number}", ordinal(int(f, "congress")))
    },
    cite: |f| {
        let number = text(f, "id").rsplit(':').next().unwrap_or_default();
        format!("PN{number}, {} Cong., {}", ordinal(int(f, "congress")), text(f, "title"))
    },
    publisher: "Congress.gov (Library of Congress)",
    licence: US_WORK,
};

const ACTIONS: &[Field] = &[
    Field::date("date", "Day of the action"),
    Field::text("text", "The action, as recorded"),
    Field::keyword("type", "Kind of action"),
];
