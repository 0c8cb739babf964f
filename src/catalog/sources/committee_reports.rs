//! Committee reports.

use crate::catalog::spec::*;
use crate::catalog::wording::{cited_type, ordinal, path_type, year_of};

pub const SOURCE: Source = Source {
    key: "committee-reports",
    one: "committee report",
    shape: Shape::BodyBearing,
    about: "House, Senate and executive reports of committees, with the bills they report",
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::keyword("type", "hrpt, srpt or erpt").group(),
        Field::int("number", "Number within its type and congress"),
        Field::keyword("chamber", "house or senate").group(),
        Field::id("committee", "committees", "Committee that reported").group(),
        Field::ids("bill_ids", "bills", "Bills it reports"),
        Field::date("report_date", "Day it was filed").time(),
        Field::keyword("part", "Part, for a report in parts"),
    ],
    title: "title",
    main_date: Some("report_date"),
    order: &[("congress", true), ("report_date", true)],
    subs: &[Sub::body(), Sub::toc()],
    url: |f| {
        let congress = ordinal(int(f, "congress"));
        let kind = path_type(text(f, "type"));
        format!("https://www.congress.gov/committee-report/{congress}-congress/{kind}/{}", int(f, "number"))
    },
    cite: |f| {
        let kind = cited_type(text(f, "type"));
        format!("{kind} {}-{}{}", int(f, "congress"), int(f, "number"), year_of(f, "report_date"))
    },
    publisher: "Congress.gov (Library of Congress) and GPO govinfo",
    licence: US_WORK,
};
