//! Granules of the Congressional Record.

use crate::catalog::spec::*;
use crate::catalog::wording::long_date;

pub const SOURCE: Source = Source {
    key: "congressional-record",
    one: "Congressional Record granule",
    shape: Shape::BodyBearing,
    about: "The Congressional Record, one granule (a speech, a debate, a list) at a time, with who spoke",
    fields: &[
        Field::date("date", "Day of the issue").time(),
        Field::int("congress", "Congress").group(),
        Field::keyword("chamber", "house, senate, extensions or daily_digest").group(),
        Field::keyword("section", "Section of the Record").group(),
        Field::keyword("granule_id", "GPO's granule id"),
        Field::keyword("page", "First page, H2210"),
        Field::ids("speakers", "legislators", "Bioguide ids of those who speak").group(),
        Field::ids("bill_ids", "bills", "Measures it names"),
        Field::int("volume", "Volume"),
    ],
    title: "title",
    main_date: Some("date"),
    order: &[("date", true), ("page", false)],
    subs: &[Sub::body(), Sub::toc()],
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
