//! Sections of the Code of Federal Regulations.

use crate::catalog::spec::*;
use crate::catalog::wording::year_of;

pub const SOURCE: Source = Source {
    key: "cfr-sections",
    one: "CFR section",
    shape: Shape::BodyBearing,
    about: "Sections of the Code of Federal Regulations with authority and agency",
    fields: &[
        Field::int("title", "CFR title, 1 to 50").group(),
        Field::keyword("chapter", "Chapter, in Roman numerals").group(),
        Field::keyword("part", "Part, 40 CFR 122").group(),
        Field::keyword("section", "Section number, 122.26"),
        Field::text("heading", "Heading of the section"),
        Field::keyword("agency", "Agency that issued it").group(),
        Field::text("authority", "Authority citation of the part"),
        Field::ids("law_ids", "public-laws", "Public laws named as authority"),
        Field::date("as_of", "Day the text was current").time(),
    ],
    title: "name",
    main_date: Some("as_of"),
    order: &[("title", false), ("section", false)],
    subs: &[Sub::body(), Sub::toc()],
    url: |f| format!("https://www.ecfr.gov/current/title-{}/section-{}", int(f, "title"), text(f, "section")),
    cite: |f| format!("{} C.F.R. § {}{}", int(f, "title"), text(f, "section"), year_of(f, "as_of")),
    publisher: "Office of the Federal Register, GPO and eCFR",
    licence: US_WORK,
};
