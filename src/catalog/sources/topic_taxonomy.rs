//! The subject vocabulary that CRS assigns to bills.

use crate::catalog::ids::readers::lower;
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;

pub const SOURCE: Source = Source {
    key: "topic-taxonomy",
    singular: "topic",
    shape: Shape::Registry,
    about: "Policy areas and legislative subjects that CRS assigns to bills, with their hierarchy",
    ids: Ids {
        form: "topic:SLUG",
        example: "topic:health",
        bare_prefix: Some("topic:"),
        spellings: &[Spelling::canonical(&["topic:(?P<slug>[a-z0-9][a-z0-9-]{0,120})"], |c| {
            Some(Reading::Complete(format!("topic:{}", lower(c, "slug")?)))
        })],
    },
    fields: &[
        Field::keyword("kind", "policy_area or subject").group(),
        Field::id("parent_id", "topic-taxonomy", "Broader topic").group(),
        Field::int("bill_count", "Bills in this bundle with this topic").sum(),
    ],
    title: "name",
    main_date: None,
    order: &[("kind", false), ("bill_count", true)],
    sub_resources: &[
        SubResource::records("narrower", "topic-taxonomy", "parent_id", "Narrower topics"),
        SubResource::rows("bills", BILLS, "Bills with this topic, newest first"),
    ],
    naming: Some(Naming::new(|record, add| add("name", text(record, "name")))),
    dossier: None,
    url: |f| match text(f, "kind") {
        "policy_area" => "https://www.congress.gov/help/field-values/policy-area".to_string(),
        _ => "https://www.congress.gov/help/field-values/legislative-subject-terms".to_string(),
    },
    cite: |f| {
        let kind =
            if text(f, "kind") == "policy_area" { "policy area" } else { "legislative subject" };
        format!("{}, {kind} of the Congressional Research Service", text(f, "name"))
    },
    publisher: "Congressional Research Service, Library of Congress",
    licence: US_WORK,
};

const BILLS: &[Field] = &[
    Field::id("bill_id", "bills", "The bill"),
    Field::text("title", "Its title"),
    Field::int("congress", "Congress"),
    Field::date("introduced_date", "Date of introduction"),
];
