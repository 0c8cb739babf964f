//! Dockets of Regulations.gov.

use regex::Captures;

use crate::catalog::ids::readers::upper;
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;

pub const SOURCE: Source = Source {
    key: "regulations-dot-gov-dockets",
    singular: "docket",
    shape: Shape::Registry,
    about: "Rulemaking and other dockets of Regulations.gov",
    ids: Ids {
        form: "docket:ID",
        example: "docket:EPA-HQ-OAR-2021-0317",
        bare_prefix: Some("docket:"),
        spellings: &[
            Spelling::canonical(&[r"docket:(?P<docket>[a-z0-9][a-z0-9_.-]{1,80})"], read_id),
            Spelling::written(
                &[
                    r"(?:docket (?:id |no\.? )?)?",
                    r"(?P<docket>[a-z]{2,}[a-z0-9]*(?:[-_][a-z0-9]+)*",
                    r"-(?:19|20)\d{2}-[a-z]?-?\d{4,})",
                ],
                read_id,
            ),
            Spelling::site(
                &[
                    r"url:(?:www\.)?regulations\.gov/docket/",
                    r"(?P<docket>[a-z0-9][a-z0-9_.-]{1,80})(?:/.*)?",
                ],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::keyword("docket_id", "The docket's own id"),
        Field::keyword("agency", "Agency code: EPA, FDA …").group().named(),
        Field::keyword("docket_type", "rulemaking or nonrulemaking").group(),
        Field::keyword("rin", "Regulation identifier number"),
        Field::date("opened_date", "Date of its first document").time(),
        Field::date("last_activity_date", "Date of its latest document").time(),
        Field::int("document_count", "Number of known documents").sum(),
        Field::date("comment_end_date", "Last day for comments"),
    ],
    title: "title",
    main_date: Some("last_activity_date"),
    order: &[("last_activity_date", true)],
    sub_resources: &[
        SubResource::rows("documents", DOCUMENTS, "Documents in the docket"),
        SubResource::records(
            "federal-register",
            "federal-register",
            "docket_ids",
            "Federal Register documents that name it",
        ),
    ],
    naming: Some(Naming {
        exact_kinds: &["docket_id", "rin"],
        hints: HintFields { year: &["opened_date"], ..HintFields::NONE },
        ..Naming::new(|record, add| {
            add("name", text(record, "title"));
            add("docket_id", text(record, "docket_id"));
            add("rin", text(record, "rin"));
        })
    }),
    dossier: None,
    url: |f| format!("https://www.regulations.gov/docket/{}", text(f, "docket_id")),
    cite: |f| format!("{}, Docket No. {}", text(f, "title"), text(f, "docket_id")),
    publisher: "Regulations.gov (General Services Administration)",
    licence: US_WORK,
};

const DOCUMENTS: &[Field] = &[
    Field::keyword("document_id", "Regulations.gov document id"),
    Field::text("title", "Title"),
    Field::keyword("type", "Rule, Proposed Rule, Notice, Supporting & Related Material, Other"),
    Field::date("posted_date", "Date of posting"),
    Field::id("federal_register_id", "federal-register", "Its Federal Register document"),
    Field::date("comment_end_date", "Last day for comments"),
];

fn read_id(captures: &Captures) -> Option<Reading> {
    Some(Reading::Complete(format!("docket:{}", upper(captures, "docket")?)))
}
