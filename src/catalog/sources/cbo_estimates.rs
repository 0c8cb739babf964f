//! Cost estimates of the Congressional Budget Office.

use regex::Captures;

use crate::catalog::ids::readers::number;
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::date_of;

pub const SOURCE: Source = Source {
    key: "cbo-estimates",
    singular: "CBO estimate",
    shape: Shape::BodyBearing,
    about: "Cost estimates of the Congressional Budget Office, by bill",
    ids: Ids {
        form: "cbo:NUMBER",
        example: "cbo:61461",
        bare_prefix: Some("cbo:"),
        spellings: &[
            Spelling::canonical(&[r"cbo:(?P<n>\d{1,7})"], read_id),
            Spelling::written(&[r"cbo (?:publication |estimate |no\.? )?(?P<n>\d{4,7})"], read_id),
            Spelling::site(
                &[r"url:(?:www\.)?cbo\.gov/publication/(?P<n>\d{1,7})(?:/.*)?"],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::int("number", "CBO's publication number"),
        Field::id("bill_id", "bills", "The bill it estimates").group(),
        Field::id("committee", "committees", "Committee whose version it estimates").group(),
        Field::date("published_date", "Date of publication").time(),
        Field::keyword(
            "stage",
            "Stage of the bill: introduced, ordered_reported, reported, passed_house, \
             passed_senate, enacted …",
        )
        .group(),
        Field::int(
            "deficit_effect_millions",
            "Effect on the deficit over the estimate's period, millions of dollars, where stated",
        )
        .sum(),
    ],
    title: "title",
    main_date: Some("published_date"),
    order: &[("published_date", true)],
    sub_resources: &[SubResource::body(), SubResource::toc()],
    naming: None,
    dossier: None,
    url: |f| format!("https://www.cbo.gov/publication/{}", int(f, "number")),
    cite: |f| {
        let (title, date) = (text(f, "title"), date_of(f, "published_date"));
        format!("Cong. Budget Off., Cost Estimate: {title}{date}")
    },
    publisher: "Congressional Budget Office",
    licence: US_WORK,
};

fn read_id(captures: &Captures) -> Option<Reading> {
    Some(Reading::Complete(format!("cbo:{}", number(captures, "n")?)))
}
