//! Reports of the Congressional Research Service.

use regex::Captures;

use crate::catalog::ids::readers::upper;
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::year_of;

const NUMBER: &str = r"(?P<prefix>rl|rs|if|in|ig|lsb|te|r)(?P<digits>\d{5})";

pub const SOURCE: Source = Source {
    key: "crs-reports",
    singular: "CRS report",
    shape: Shape::BodyBearing,
    about: "Reports, In Focus, Insights and Legal Sidebars of the Congressional Research Service",
    ids: Ids {
        form: "(R|RL|RS|IF|IN|IG|LSB|TE)NUMBER",
        example: "R47892",
        bare_prefix: None,
        spellings: &[
            Spelling::canonical(&[NUMBER], read_id),
            Spelling::canonical(&[r"(?P<old>\d{2}-\d{3})"], |c| {
                Some(Reading::Complete(upper(c, "old")?))
            }),
            Spelling::written(&[r"(?:crs )?(?:report )?(?:no\.? ?)?", NUMBER], read_id),
            Spelling::new(
                Precedence::CongressGov,
                &[r"url:(?:www\.|crsreports\.)?congress\.gov/.*[/=]", NUMBER, r"(?:[./].*)?"],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::keyword("number", "CRS's own number, R47892"),
        Field::keyword(
            "type",
            "report, in_focus, insight, legal_sidebar, infographic or testimony",
        )
        .group(),
        Field::int("version", "Version number"),
        Field::keywords("authors", "Authors").group(),
        Field::keywords("topics", "Topics").group(),
        Field::date("published_date", "Date of first publication, where known").time(),
        Field::date("updated_date", "Date of this version").time(),
        Field::ids("bill_ids", "bills", "Bills it discusses"),
    ],
    title: "title",
    main_date: Some("updated_date"),
    order: &[("updated_date", true)],
    sub_resources: &[SubResource::body(), SubResource::toc()],
    naming: None,
    dossier: None,
    url: |f| format!("https://www.congress.gov/crs-product/{}", text(f, "number")),
    cite: |f| {
        let (number, title) = (text(f, "number"), text(f, "title"));
        format!("Cong. Rsch. Serv., {number}, {title}{}", year_of(f, "updated_date"))
    },
    publisher: "Congressional Research Service, Library of Congress",
    licence: US_WORK,
};

fn read_id(captures: &Captures) -> Option<Reading> {
    let prefix = upper(captures, "prefix")?;
    Some(Reading::Complete(format!("{prefix}{}", captures.name("digits")?.as_str())))
}
