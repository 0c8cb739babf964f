//! Public laws.

use crate::catalog::spec::*;
use crate::catalog::wording::year_of;

pub const SOURCE: Source = Source {
    key: "public-laws",
    one: "public law",
    shape: Shape::BodyBearing,
    about: "Public laws with the bill they came from, the CFR sections that rest on them and the rules that carry them out",
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::int("number", "Number within the congress"),
        Field::id("bill_id", "bills", "The bill that became this law"),
        Field::date("enacted_date", "Day it became law").time(),
        Field::text("short_title", "Short title, where it has one"),
        Field::keyword("policy_area", "CRS policy area of its bill").group(),
        Field::keyword("statutes_at_large", "Statutes at Large citation, 139 Stat. 72"),
    ],
    title: "title",
    main_date: Some("enacted_date"),
    order: &[("congress", true), ("number", true)],
    subs: &[
        Sub::body(),
        Sub::toc(),
        Sub::rows("mentions", MENTIONS, "Records that name it, and where they do"),
        Sub::records("bill", "bills", "law_id", "The bill that became this law"),
        Sub::records("cfr", "cfr-sections", "law_ids", "CFR sections that name it as authority"),
        Sub::records("rules", "federal-register", "law_ids", "Federal Register documents that cite it"),
    ],
    url: |f| format!("https://www.govinfo.gov/app/details/PLAW-{}publ{}", int(f, "congress"), int(f, "number")),
    cite: |f| {
        let stat = match text(f, "statutes_at_large") {
            "" => String::new(),
            stat => format!(", {stat}"),
        };
        format!("Pub. L. No. {}-{}{stat}{}", int(f, "congress"), int(f, "number"), year_of(f, "enacted_date"))
    },
    publisher: "Office of the Federal Register and GPO govinfo",
    licence: US_WORK,
};
