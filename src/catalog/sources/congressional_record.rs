//! Granules of the Congressional Record.

use regex::Captures;

use crate::catalog::ids::readers::{date, upper};
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::long_date;

pub const SOURCE: Source = Source {
    key: "congressional-record",
    singular: "Congressional Record granule",
    shape: Shape::BodyBearing,
    about: "The Congressional Record by granule (a speech, a debate, a list), with the speakers",
    ids: Ids {
        form: "crec:DATE:GRANULE",
        example: "crec:2025-05-21:H2210-3",
        bare_prefix: Some("crec:"),
        spellings: &[
            Spelling::canonical(&["crec:", DATE, ":(?P<granule>[a-z0-9][a-z0-9-]{0,40})"], read_id),
            Spelling::written(
                &["crec-", DATE, r"(?:-pt\d+)?-pg(?P<granule>[a-z0-9][a-z0-9-]{0,40})"],
                read_id,
            ),
            Spelling::new(
                Precedence::Package,
                &["url:.*crec-", DATE, r"-pt\d+-pg(?P<granule>[a-z0-9-]+)(?:[./].*)?"],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::date("date", "Date of the issue").time(),
        Field::int("congress", "Congress").group(),
        Field::keyword("chamber", "house, senate, extensions or daily_digest").group(),
        Field::keyword("section", "Section of the Record").group(),
        Field::keyword("granule_id", "GPO's granule id"),
        Field::keyword("page", "First page, H2210"),
        Field::ids("speakers", "legislators", "Bioguide ids of the speakers").group(),
        Field::ids("bill_ids", "bills", "Bills and resolutions it names"),
        Field::int("volume", "Volume"),
    ],
    title: "title",
    main_date: Some("date"),
    order: &[("date", true), ("page", false)],
    sub_resources: &[SubResource::body(), SubResource::toc()],
    naming: None,
    dossier: None,
    url: |f| {
        let date = text(f, "date");
        let granule = text(f, "id").rsplit(':').next().unwrap_or_default();
        format!("https://www.govinfo.gov/app/details/CREC-{date}/CREC-{date}-pt1-Pg{granule}")
    },
    cite: |f| {
        let volume = match int(f, "volume") {
            0 => String::new(),
            volume => format!("{volume} "),
        };
        format!("{volume}Cong. Rec. {} ({})", text(f, "page"), long_date(text(f, "date")))
    },
    publisher: "GPO govinfo",
    licence: US_WORK,
};

fn read_id(captures: &Captures) -> Option<Reading> {
    let (date, granule) = (date(captures, "date")?, upper(captures, "granule")?);
    Some(Reading::Complete(format!("crec:{date}:{granule}")))
}
