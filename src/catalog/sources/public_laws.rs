//! Public laws.

use regex::Captures;

use crate::catalog::ids::readers::number;
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::year_of;

pub const SOURCE: Source = Source {
    key: "public-laws",
    singular: "public law",
    shape: Shape::BodyBearing,
    about: "Public laws with their bills, the CFR sections based on them and the rules that \
            implement them",
    ids: Ids {
        form: "pl:CONGRESS:NUMBER",
        example: "pl:119:21",
        bare_prefix: Some("pl "),
        spellings: &[
            Spelling::canonical(&["pl:", CONGRESS, r":(?P<n>\d{1,4})"], read_id),
            Spelling::written(
                &[
                    r"(?:p\.? ?l\.?|pub\.? ?l\.?|public law|plaw)[ :-]?(?:no\.? ?)?",
                    CONGRESS,
                    r"(?:-|:| |publ)(?P<n>\d{1,4})",
                ],
                read_id,
            ),
            Spelling::new(
                Precedence::LawPackage,
                &["url:.*plaw-", CONGRESS, r"publ(?P<n>\d{1,4})(?:[./].*)?"],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::int("number", "Number within the congress"),
        Field::id("bill_id", "bills", "The bill that became this law"),
        Field::date("enacted_date", "Date of enactment").time(),
        Field::text("short_title", "Short title, where it has one"),
        Field::keyword("policy_area", "CRS policy area of its bill").group(),
        Field::keyword("statutes_at_large", "Statutes at Large citation, 139 Stat. 72"),
    ],
    title: "title",
    main_date: Some("enacted_date"),
    order: &[("congress", true), ("number", true)],
    sub_resources: &[
        SubResource::body(),
        SubResource::toc(),
        SubResource::rows("mentions", MENTIONS, "Records that name it, and where"),
        SubResource::records("bill", "bills", "law_id", "The bill that became this law"),
        SubResource::records(
            "cfr",
            "cfr-sections",
            "law_ids",
            "CFR sections that name it as authority",
        ),
        SubResource::records(
            "rules",
            "federal-register",
            "law_ids",
            "Federal Register documents that cite it",
        ),
    ],
    naming: None,
    dossier: Some(DossierSpec { sections: &["bill", "cfr", "rules"], takes_congress: false }),
    url: |f| {
        format!(
            "https://www.govinfo.gov/app/details/PLAW-{}publ{}",
            int(f, "congress"),
            int(f, "number")
        )
    },
    cite: |f| {
        let stat = match text(f, "statutes_at_large") {
            "" => String::new(),
            stat => format!(", {stat}"),
        };
        format!(
            "Pub. L. No. {}-{}{stat}{}",
            int(f, "congress"),
            int(f, "number"),
            year_of(f, "enacted_date")
        )
    },
    publisher: "Office of the Federal Register and GPO govinfo",
    licence: US_WORK,
};

fn read_id(captures: &Captures) -> Option<Reading> {
    let (congress, n) = (number(captures, "congress")?, number(captures, "n")?);
    Some(Reading::Complete(format!("pl:{congress}:{n}")))
}
