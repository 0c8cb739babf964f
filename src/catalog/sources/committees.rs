//! Committees and subcommittees.

use crate::catalog::spec::*;
use crate::catalog::wording::slug;

pub const SOURCE: Source = Source {
    key: "committees",
    one: "committee",
    shape: Shape::Registry,
    about: "Committees and subcommittees of Congress, with members, hearings, bills and reports",
    fields: &[
        Field::keyword("chamber", "house, senate or joint").group(),
        Field::keyword("type", "committee or subcommittee").group(),
        Field::id("parent_id", "committees", "Parent, for a subcommittee").group(),
        Field::flag("current", "Whether it exists now").group(),
        Field::int("member_count", "Current members").sum(),
        Field::text("jurisdiction", "What it deals with"),
        Field::keywords("former_names", "Earlier names"),
        Field::keyword("phone", "Telephone"),
        Field::keyword("website", "Official website"),
    ],
    title: "name",
    main_date: None,
    order: &[("current", true)],
    subs: &[
        Sub::rows("members", MEMBERS, "Members by side and rank (`congress`)"),
        Sub::records("subcommittees", "committees", "parent_id", "Its subcommittees"),
        Sub::records("hearings", "hearings", "committee", "Its hearings and markups"),
        Sub::records("bills", "bills", "committees", "Bills referred to it"),
        Sub::records("reports", "committee-reports", "committee", "Reports it filed"),
    ],
    url: |f| {
        let id = text(f, "id").to_lowercase();
        let code = if id.len() == 4 { format!("{id}00") } else { id };
        let name = slug(text(f, "name").trim_start_matches("House ").trim_start_matches("Senate "));
        format!("https://www.congress.gov/committee/{}-{name}/{code}", text(f, "chamber"))
    },
    cite: |f| format!("{}, U.S. Congress (committee {})", text(f, "name"), text(f, "id")),
    publisher: "unitedstates/congress-legislators and Congress.gov",
    licence: "CC0 1.0",
};

const MEMBERS: &[Field] = &[
    Field::id("bioguide", "legislators", "Member's bioguide id"),
    Field::keyword("name", "Member's name"),
    Field::keyword("party", "Party"),
    Field::keyword("state", "State, two letters"),
    Field::int("congress", "Congress"),
    Field::keyword("side", "majority or minority"),
    Field::int("rank", "Rank on their side"),
    Field::keyword("role", "Chair, Ranking Member …"),
];
