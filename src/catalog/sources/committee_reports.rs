//! Committee reports.

use crate::catalog::ids::readers::{measure_from_path, measure_id};
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::{cited_type, ordinal, path_type, year_of};

pub const SOURCE: Source = Source {
    key: "committee-reports",
    singular: "committee report",
    shape: Shape::BodyBearing,
    about: "House, Senate and executive reports of committees, with the bills they report",
    ids: Ids {
        form: "(hrpt|srpt|erpt):CONGRESS:NUMBER",
        example: "hrpt:119:106",
        bare_prefix: None,
        spellings: &[
            Spelling::canonical(
                &[r"(?P<type>[hse]rpt):", CONGRESS, r":(?P<n>\d{1,9})"],
                measure_id,
            ),
            Spelling::written(
                &[
                    r"(?P<type>",
                    r"(?:s\.? ?|senate )?(?:exec\.?|executive|ex\.?) ?(?:rept?\.?|report|rpt\.?)",
                    r"|(?:house|senate|h\.?(?: ?r\.?)?|s\.?) ?(?:rept?\.?|report|rpt\.?)",
                    r") ?(?:no\.? ?)?",
                    CONGRESS,
                    r"[-:](?P<n>\d{1,5})(?:[, ]+(?:part|pt\.?) ?[0-9ivx]+)?",
                ],
                measure_id,
            ),
            Spelling::written(
                &["crpt-", CONGRESS, r"(?P<type>[hse]rpt)(?P<n>\d{1,5})[a-z0-9-]*"],
                measure_id,
            ),
            Spelling::new(
                Precedence::CongressGov,
                &[
                    CONGRESS_GOV,
                    "/(?:congressional|committee)-report",
                    CONGRESS_IN_PATH,
                    MEASURE_IN_PATH,
                ],
                measure_from_path,
            ),
            Spelling::new(
                Precedence::Package,
                &["url:.*crpt-", CONGRESS, r"(?P<type>[hse]rpt)(?P<n>\d{1,5})(?:[./-].*)?"],
                measure_id,
            ),
        ],
    },
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::keyword("type", "hrpt, srpt or erpt").group(),
        Field::int("number", "Number within its type and congress"),
        Field::keyword("chamber", "house or senate").group(),
        Field::id("committee", "committees", "Committee that reported").group(),
        Field::ids("bill_ids", "bills", "Bills it reports"),
        Field::date("report_date", "Date of filing").time(),
        Field::keyword("part", "Part, for a report in parts"),
    ],
    title: "title",
    main_date: Some("report_date"),
    order: &[("congress", true), ("report_date", true)],
    sub_resources: &[SubResource::body(), SubResource::toc()],
    naming: None,
    dossier: None,
    url: |f| {
        let congress = ordinal(int(f, "congress"));
        let kind = path_type(text(f, "type"));
        format!(
            "https://www.congress.gov/committee-report/{congress}-congress/{kind}/{}",
            int(f, "number")
        )
    },
    cite: |f| {
        let kind = cited_type(text(f, "type"));
        format!("{kind} {}-{}{}", int(f, "congress"), int(f, "number"), year_of(f, "report_date"))
    },
    publisher: "Congress.gov (Library of Congress) and GPO govinfo",
    licence: US_WORK,
};
