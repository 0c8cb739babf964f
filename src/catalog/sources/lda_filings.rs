//! Filings under the Lobbying Disclosure Act.

use crate::catalog::spec::*;

pub const SOURCE: Source = Source {
    key: "lda-filings",
    one: "lobbying filing",
    shape: Shape::Registry,
    about: "Registrations and quarterly reports under the Lobbying Disclosure Act",
    fields: &[
        Field::int("filing_year", "Year reported on").group(),
        Field::keyword("filing_period", "first_quarter … fourth_quarter, mid_year, year_end").group(),
        Field::keyword("filing_type", "Code: RR registration, Q1 … Q4 reports, …A amendments").group(),
        Field::keyword("registrant", "Firm or organization that files").group(),
        Field::keyword("client", "Whom it lobbies for").group(),
        Field::keyword("client_state", "Client's state, two letters").group(),
        Field::keywords("issue_codes", "General issue codes: HCR, TAX …").group(),
        Field::int("amount", "Income or expenses, whichever was reported, dollars").sum(),
        Field::int("income", "Income from the client, dollars").sum(),
        Field::int("expenses", "In-house expenses, dollars").sum(),
        Field::date("filed_date", "Day it was filed").time(),
        Field::keywords("lobbyists", "Lobbyists named").group(),
        Field::ids("bill_ids", "bills", "Bills named in the activities"),
        Field::keywords("government_entities", "Offices contacted").group(),
    ],
    title: "title",
    main_date: Some("filed_date"),
    order: &[("filed_date", true)],
    subs: &[Sub::rows("activities", ACTIVITIES, "What was lobbied on, issue by issue")],
    url: |f| {
        let uuid = text(f, "id").trim_start_matches("lda:");
        format!("https://lda.senate.gov/filings/public/filing/{uuid}/print/")
    },
    cite: |f| {
        let (registrant, client) = (text(f, "registrant"), text(f, "client"));
        format!("{registrant}, LDA filing {} {} for {client}", text(f, "filing_type"), int(f, "filing_year"))
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
