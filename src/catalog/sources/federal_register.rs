//! Documents of the Federal Register.

use crate::catalog::spec::*;
use crate::catalog::wording::{date_of, long_date};

pub const SOURCE: Source = Source {
    key: "federal-register",
    one: "Federal Register document",
    shape: Shape::BodyBearing,
    about: "Rules, proposed rules, notices and presidential documents of the Federal Register",
    fields: &[
        Field::keyword("document_number", "Federal Register document number"),
        Field::keyword("type", "rule, proposed_rule, notice or presidential_document").group(),
        Field::keywords("agencies", "Agencies, as printed").group(),
        Field::date("publication_date", "Day of publication").time(),
        Field::date("effective_date", "Day it takes effect").time(),
        Field::date("comment_end_date", "Last day for comments"),
        Field::keywords("cfr_references", "CFR parts affected, 40 CFR 122").group(),
        Field::keywords("rins", "Regulation identifier numbers"),
        Field::ids("docket_ids", "regulations-dot-gov-dockets", "Dockets"),
        Field::ids("law_ids", "public-laws", "Public laws it cites"),
        Field::int("volume", "Volume of the Federal Register"),
        Field::int("start_page", "First page"),
        Field::int("page_count", "Number of pages").sum(),
        Field::flag("significant", "Significant under E.O. 12866, where stated").group(),
    ],
    title: "title",
    main_date: Some("publication_date"),
    order: &[("publication_date", true)],
    subs: &[Sub::body(), Sub::toc()],
    url: |f| format!("https://www.federalregister.gov/d/{}", text(f, "document_number")),
    cite: |f| {
        let (title, date) = (text(f, "title"), text(f, "publication_date"));
        match (int(f, "volume"), int(f, "start_page")) {
            (0, _) | (_, 0) => {
                format!("{title}, FR Doc. {}{}", text(f, "document_number"), date_of(f, "publication_date"))
            }
            (volume, page) => format!("{title}, {volume} Fed. Reg. {page} ({})", long_date(date)),
        }
    },
    publisher: "Office of the Federal Register",
    licence: US_WORK,
};
