//! Reports of the Government Accountability Office.

use crate::catalog::spec::*;
use crate::catalog::wording::year_of;

pub const SOURCE: Source = Source {
    key: "gao-reports",
    one: "GAO report",
    shape: Shape::BodyBearing,
    about: "Reports and testimonies of the Government Accountability Office",
    fields: &[
        Field::keyword("number", "GAO's report number, GAO-25-107743"),
        Field::date("published_date", "Day of publication").time(),
        Field::keyword("agency", "Agency that the report is about").group(),
        Field::keywords("topics", "Topics").group(),
        Field::int("recommendations_count", "Recommendations it makes").sum(),
    ],
    title: "title",
    main_date: Some("published_date"),
    order: &[("published_date", true)],
    subs: &[Sub::body(), Sub::toc()],
    url: |f| format!("https://www.gao.gov/products/{}", text(f, "number").to_lowercase()),
    cite: |f| {
        let (number, title) = (text(f, "number"), text(f, "title"));
        format!("U.S. Gov't Accountability Off., {number}, {title}{}", year_of(f, "published_date"))
    },
    publisher: "U.S. Government Accountability Office",
    licence: US_WORK,
};
