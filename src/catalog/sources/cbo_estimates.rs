//! Cost estimates of the Congressional Budget Office.

use crate::catalog::spec::*;
use crate::catalog::wording::date_of;

pub const SOURCE: Source = Source {
    key: "cbo-estimates",
    one: "CBO estimate",
    shape: Shape::BodyBearing,
    about: "Cost estimates of the Congressional Budget Office, by bill",
    fields: &[
        Field::int("number", "CBO's publication number"),
        Field::id("bill_id", "bills", "The bill it estimates").group(),
        Field::id("committee", "committees", "Committee whose version it estimates").group(),
        Field::date("published_date", "Day of publication").time(),
        Field::keyword(
            "stage",
            "Stage of the bill: introduced, ordered_reported, reported, passed_house, passed_senate, enacted …",
        )
        .group(),
        Field::int(
            "deficit_effect_millions",
            "Effect on the deficit over the window, millions of dollars, where stated",
        )
        .sum(),
    ],
    title: "title",
    main_date: Some("published_date"),
    order: &[("published_date", true)],
    subs: &[Sub::body(), Sub::toc()],
    url: |f| format!("https://www.cbo.gov/publication/{}", int(f, "number")),
    cite: |f| format!("Cong. Budget Off., Cost Estimate: {}{}", text(f, "title"), date_of(f, "published_date")),
    publisher: "Congressional Budget Office",
    licence: US_WORK,
};
