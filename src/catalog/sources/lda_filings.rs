//! Filings under the Lobbying Disclosure Act.

use regex::Captures;

use crate::catalog::ids::readers::lower;
use crate::catalog::ids::spelling::*;
use crate::catalog::names::each;
use crate::catalog::spec::*;

const UUID: &str = r"(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})";

pub const SOURCE: Source = Source {
    key: "lda-filings",
    singular: "lobbying filing",
    shape: Shape::Registry,
    about: "Registrations and quarterly reports under the Lobbying Disclosure Act",
    ids: Ids {
        form: "lda:UUID",
        example: "lda:00b7e6a4-0c83-4f0a-9f0e-2f1a3c5d7e90",
        bare_prefix: Some("lda:"),
        spellings: &[
            Spelling::canonical(&["(?:lda:)?", UUID], read_id),
            Spelling::site(
                &[r"url:lda\.(?:senate\.)?gov/.*filing[s]?/", UUID, "(?:/.*)?"],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::int("filing_year", "Year covered").group(),
        Field::keyword("filing_period", "first_quarter … fourth_quarter, mid_year, year_end")
            .group(),
        Field::keyword("filing_type", "Code: RR registration, Q1 … Q4 reports, …A amendments")
            .group(),
        Field::keyword("registrant", "Firm or organization that files").group(),
        Field::keyword("client", "Client lobbied for").group(),
        Field::keyword("client_state", "Client's state, two letters").group(),
        Field::keywords("issue_codes", "General issue codes: HCR, TAX …").group(),
        Field::int("amount", "Income or expenses, whichever was reported, dollars").sum(),
        Field::int("income", "Income from the client, dollars").sum(),
        Field::int("expenses", "In-house expenses, dollars").sum(),
        Field::date("filed_date", "Date of filing").time(),
        Field::keyword("filed_at", "Date and time of filing, as published"),
        Field::flag("superseded", "Whether a later report for the same period replaces it")
            .group()
            .left_out("filings that later reports for the same period replace"),
        Field::id("superseded_by", "lda-filings", "The newest report for the same period"),
        Field::int("registrant_id", "Registrant's number at the Office of Public Records"),
        Field::int("client_id", "Client's number at the Office of Public Records"),
        Field::keywords("lobbyists", "Lobbyists named").group(),
        Field::ids("bill_ids", "bills", "Bills named in the activities"),
        Field::keywords("government_entities", "Offices contacted").group(),
    ],
    title: "title",
    main_date: Some("filed_date"),
    order: &[("filed_date", true)],
    sub_resources: &[SubResource::rows("activities", ACTIVITIES, "Lobbying activities by issue")],
    naming: Some(Naming {
        hints: HintFields {
            state: Some("client_state"),
            year: &["filing_year", "filed_date"],
            ..HintFields::NONE
        },
        // Not the title, which only combines these.
        ..Naming::new(|record, add| {
            add("registrant", text(record, "registrant"));
            add("client", text(record, "client"));
            each(record, "lobbyists", |lobbyist| add("lobbyist", lobbyist));
        })
    }),
    dossier: None,
    url: |f| {
        let uuid = text(f, "id").trim_start_matches("lda:");
        format!("https://lda.senate.gov/filings/public/filing/{uuid}/print/")
    },
    cite: |f| {
        let (registrant, client) = (text(f, "registrant"), text(f, "client"));
        format!(
            "{registrant}, LDA filing {} {} for {client}",
            text(f, "filing_type"),
            int(f, "filing_year")
        )
    },
    publisher: "Office of Public Records, United States Senate",
    licence: US_WORK,
};

const ACTIVITIES: &[Field] = &[
    Field::keyword("issue_code", "General issue code"),
    Field::keyword("issue", "General issue"),
    Field::text("description", "Specific issues, as filed"),
    Field::keywords("government_entities", "Offices contacted"),
    Field::keywords("lobbyists", "Lobbyists who acted"),
    Field::ids("bill_ids", "bills", "Bills named"),
];

fn read_id(captures: &Captures) -> Option<Reading> {
    Some(Reading::Complete(format!("lda:{}", lower(captures, "uuid")?)))
}
