//! Reports of the Government Accountability Office.

use regex::Captures;

use crate::catalog::ids::readers::upper;
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::year_of;

pub const SOURCE: Source = Source {
    key: "gao-reports",
    singular: "GAO report",
    shape: Shape::BodyBearing,
    about: "Reports and testimonies of the Government Accountability Office",
    ids: Ids {
        form: "gao:REPORT",
        example: "gao:GAO-25-107743",
        bare_prefix: Some("gao:GAO-"),
        spellings: &[
            Spelling::canonical(
                &[r"(?:gao:)?(?P<report>gao[-/](?:[a-z]{2,8}[-/])?\d{2}-\d{1,6}[a-z]{0,3})"],
                read_id,
            ),
            Spelling::site(
                &[
                    r"url:(?:www\.)?gao\.gov/products/",
                    r"(?P<report>gao-(?:[a-z]{2,8}-)?\d{2}-\d{1,6}[a-z]{0,3})(?:/.*)?",
                ],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::keyword("number", "GAO's report number, GAO-25-107743"),
        Field::date("published_date", "Date of publication").time(),
        Field::keyword("agency", "Agency that its recommendations are addressed to, if one")
            .group()
            .named(),
        Field::keywords("topics", "Subject that heads its title").group(),
        Field::int("recommendations_count", "Number of recommendations").sum(),
    ],
    title: "title",
    main_date: Some("published_date"),
    order: &[("published_date", true)],
    sub_resources: &[SubResource::body(), SubResource::toc()],
    naming: None,
    dossier: None,
    url: |f| format!("https://www.gao.gov/products/{}", text(f, "number").to_lowercase()),
    cite: |f| {
        let (number, title) = (text(f, "number"), text(f, "title"));
        format!("U.S. Gov't Accountability Off., {number}, {title}{}", year_of(f, "published_date"))
    },
    publisher: "U.S. Government Accountability Office",
    licence: US_WORK,
};

fn read_id(captures: &Captures) -> Option<Reading> {
    Some(Reading::Complete(format!("gao:{}", upper(captures, "report")?)))
}
