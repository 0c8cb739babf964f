//! Reports of the Congressional Research Service.

use crate::catalog::spec::*;
use crate::catalog::wording::year_of;

pub const SOURCE: Source = Source {
    key: "crs-reports",
    one: "CRS report",
    shape: Shape::BodyBearing,
    about: "Reports, In Focus, Insights and Legal Sidebars of the Congressional Research Service",
    fields: &[
        Field::keyword("number", "CRS's own number, R47892"),
        Field::keyword("type", "report, in_focus, insight, legal_sidebar, infographic or testimony").group(),
        Field::int("version", "Version number"),
        Field::keywords("authors", "Authors").group(),
        Field::keywords("topics", "Topics").group(),
        Field::date("published_date", "Day of first publication, where known").time(),
        Field::date("updated_date", "Day of this version").time(),
        Field::ids("bill_ids", "bills", "Bills that it discusses"),
    ],
    title: "title",
    main_date: Some("updated_date"),
    order: &[("updated_date", true)],
    subs: &[Sub::body(), Sub::toc()],
    url: |f| format!("https://www.congress.gov/crs-product/{}", text(f, "number")),
    cite: |f| {
        let (number, title) = (text(f, "number"), text(f, "title"));
        format!("Cong. Rsch. Serv., {number}, {title}{}", year_of(f, "updated_date"))
    },
    publisher: "Congressional Research Service, Library of Congress",
    licence: US_WORK,
};
