//! Dockets of Regulations.gov.

use crate::catalog::spec::*;

pub const SOURCE: Source = Source {
    key: "regulations-dot-gov-dockets",
    one: "docket",
    shape: Shape::Registry,
    about: "Rulemaking and other dockets of Regulations.gov",
    fields: &[
        Field::keyword("docket_id", "The docket's own id"),
        Field::keyword("agency", "Agency code: EPA, FDA …").group(),
        Field::keyword("docket_type", "rulemaking or nonrulemaking").group(),
        Field::keyword("rin", "Regulation identifier number"),
        Field::date("opened_date", "Day of its first document").time(),
        Field::date("last_activity_date", "Day of its newest document").time(),
        Field::int("document_count", "Documents known").sum(),
        Field::date("comment_end_date", "Last day for comments"),
    ],
    title: "title",
    main_date: Some("last_activity_date"),
    order: &[("last_activity_date", true)],
    subs: &[
        Sub::rows("documents", DOCUMENTS, "Documents in the docket"),
        Sub::records("federal-register", "federal-register", "docket_ids", "Federal Register documents that name it"),
    ],
    url: |f| format!("https://www.regulations.gov/docket/{}", text(f, "docket_id")),
    cite: |f| format!("{}, Docket No. {}", text(f, "title"), text(f, "docket_id")),
    publisher: "Regulations.gov (General Services Administration)",
    licence: US_WORK,
};

const DOCUMENTS: &[Field] = &[
    Field::keyword("document_id", "Regulations.gov document id"),
    Field::text("title", "Title"),
    Field::keyword("type", "Rule, Proposed Rule, Notice, Supporting & Related Material, Other"),
    Field::date("posted_date", "Day it was posted"),
    Field::id("federal_register_id", "federal-register", "Its Federal Register document"),
    Field::date("comment_end_date", "Last day for comments"),
];
