//! The subject vocabulary that CRS puts on bills.

use crate::catalog::spec::*;

pub const SOURCE: Source = Source {
    key: "topic-taxonomy",
    one: "topic",
    shape: Shape::Registry,
    about: "Policy areas and legislative subjects that CRS puts on bills, with their hierarchy",
    fields: &[
        Field::keyword("kind", "policy_area or subject").group(),
        Field::id("parent_id", "topic-taxonomy", "Broader topic").group(),
        Field::int("bill_count", "Bills in this bundle that carry it").sum(),
        Field::text("description", "What it covers"),
    ],
    title: "name",
    main_date: None,
    order: &[("kind", false), ("bill_count", true)],
    subs: &[
        Sub::records("narrower", "topic-taxonomy", "parent_id", "Narrower topics"),
        Sub::rows("bills", BILLS, "Bills that carry it, newest first"),
    ],
    url: |f| match text(f, "kind") {
        "policy_area" => "https://www.congress.gov/help/field-values/policy-area".to_string(),
        _ => "https://www.congress.gov/help/field-values/legislative-subject-terms".to_string(),
    },
    cite: |f| {
        let kind = if text(f, "kind") == "policy_area" { "policy area" } else { "legislative subject" };
        format!("{}, {kind} of the Congressional Research Service", text(f, "name"))
    },
    publisher: "Congressional Research Service, Library of Congress",
    licence: US_WORK,
};

const BILLS: &[Field] = &[
    Field::id("bill_id", "bills", "The bill"),
    Field::text("title", "Its title"),
    Field::int("congress", "Congress"),
    Field::date("introduced_date", "Day of introduction"),
];
