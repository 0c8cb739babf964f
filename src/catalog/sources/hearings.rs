//! Committee hearings, markups and meetings.

use crate::catalog::spec::*;
use crate::catalog::wording::{date_of, ordinal};

pub const SOURCE: Source = Source {
    key: "hearings",
    one: "hearing",
    shape: Shape::Registry,
    about: "Committee hearings, markups and meetings, with witnesses and the bills on the table",
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::keyword("chamber", "house, senate or joint").group(),
        Field::id("committee", "committees", "Committee").group(),
        Field::keyword("committee_name", "Committee's name"),
        Field::date("date", "Day of the meeting").time(),
        Field::keyword("type", "hearing, markup or meeting").group(),
        Field::keyword("location", "Building and room"),
        Field::keywords("witnesses", "Witnesses").group(),
        Field::ids("bill_ids", "bills", "Bills on the table"),
    ],
    title: "title",
    main_date: Some("date"),
    order: &[("date", true)],
    subs: &[],
    url: |f| {
        let chamber = match text(f, "chamber") {
            "" => "house",
            chamber => chamber,
        };
        let event = text(f, "id").rsplit(':').next().unwrap_or_default();
        format!("https://www.congress.gov/event/{}-congress/{chamber}-event/{event}", ordinal(int(f, "congress")))
    },
    cite: |f| {
        let congress = ordinal(int(f, "congress"));
        let body = match text(f, "committee_name") {
            "" => String::new(),
            name => format!(" Before the {name}"),
        };
        format!("{}:{body}, {congress} Cong.{}", text(f, "title"), date_of(f, "date")).replace(":,", ",")
    },
    publisher: "Congress.gov (Library of Congress)",
    licence: US_WORK,
};
