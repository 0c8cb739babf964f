//! Committee reports.

use regex::Captures;

use crate::catalog::ids::readers::{lower, measure_type, number, with_congress};
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::{cited_type, ordinal, path_type, type_of_path, year_of};

pub const SOURCE: Source = Source {
    key: "committee-reports",
    singular: "committee report",
    shape: Shape::BodyBearing,
    about: "House, Senate and executive reports of committees, with the bills they report",
    ids: Ids {
        form: "(hrpt|srpt|erpt):CONGRESS:NUMBER[-PART]",
        example: "hrpt:119:106",
        bare_prefix: None,
        spellings: &[
            Spelling::canonical(
                &[r"(?P<type>[hse]rpt):", CONGRESS, r":(?P<n>\d{1,9})(?:-(?P<part>\d{1,2}))?"],
                read_id,
            ),
            Spelling::written(
                &[
                    r"(?P<type>",
                    r"(?:s\.? ?|senate )?(?:exec\.?|executive|ex\.?) ?(?:rept?\.?|report|rpt\.?)",
                    r"|(?:house|senate|h\.?(?: ?r\.?)?|s\.?) ?(?:rept?\.?|report|rpt\.?)",
                    r") ?(?:no\.? ?)?",
                    CONGRESS,
                    r"[-:](?P<n>\d{1,5})(?:[, ]+(?:part|pt\.?) ?(?P<part>\d{1,2}|[ivx]{1,5}))?",
                    // Volumes and corrections belong to the report.
                    r"(?:[, ]+(?:book ?\d|errata))?",
                ],
                read_id,
            ),
            Spelling::written(&["crpt-", CONGRESS, PACKAGE, "[a-z0-9-]*"], read_id),
            Spelling::new(
                Precedence::CongressGov,
                &[
                    CONGRESS_GOV,
                    "/(?:congressional|committee)-report",
                    CONGRESS_IN_PATH,
                    r"(?P<path>[a-z-]+)/(?P<n>\d{1,5})(?:/(?P<part>\d{1,2}))?(?:/.*)?",
                ],
                read_id,
            ),
            Spelling::new(
                Precedence::Package,
                &["url:.*crpt-", CONGRESS, PACKAGE, "(?:[./-].*)?"],
                read_id,
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
        Field::keyword("part", "Part, for a report in parts: 1, 2 …"),
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
        let part = Some(text(f, "part")).filter(|part| !part.is_empty());
        format!(
            "https://www.congress.gov/committee-report/{congress}-congress/{kind}/{}{}",
            int(f, "number"),
            part.map(|part| format!("/{part}")).unwrap_or_default()
        )
    },
    cite: |f| {
        let (kind, year) = (cited_type(text(f, "type")), year_of(f, "report_date"));
        let part = Some(text(f, "part")).filter(|part| !part.is_empty());
        let part = part.map(|part| format!(", pt. {part}")).unwrap_or_default();
        format!("{kind} {}-{}{part}{year}", int(f, "congress"), int(f, "number"))
    },
    publisher: "Congress.gov (Library of Congress) and GPO govinfo",
    licence: US_WORK,
};

/// Type, number and part in the name of a package at govinfo: "hrpt494-pt2".
const PACKAGE: &str = r"(?P<type>[hse]rpt)(?P<n>\d{1,5})(?:-pt(?P<part>\d{1,2}))?";

/// The first part of a report has the id of the whole, which is what most people cite.
fn read_id(captures: &Captures) -> Option<Reading> {
    let kind = match lower(captures, "path") {
        Some(path) => type_of_path(&path)?.to_string(),
        None => measure_type(captures)?,
    };
    let n = number(captures, "n")?;
    let n = match part(captures)? {
        1 => n,
        part => format!("{n}-{part}"),
    };
    with_congress(captures, kind, n)
}

/// The part, 1 where none is named; `None` if it is not a number.
fn part(captures: &Captures) -> Option<u32> {
    const ROMAN: [&str; 10] = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"];
    let Some(part) = lower(captures, "part") else { return Some(1) };
    let roman = || ROMAN.iter().position(|r| *r == part).map(|at| at as u32 + 1);
    part.parse().ok().or_else(roman).filter(|part| *part > 0)
}

#[cfg(test)]
mod tests {
    use crate::catalog::ids::canonical;

    #[test]
    fn parts_of_a_report_have_ids_of_their_own() {
        for (written, id) in [
            ("H. Rept. 119-494", "hrpt:119:494"),
            ("H. Rept. 119-494, Part 1", "hrpt:119:494"),
            ("H. Rept. 119-494,Part 2", "hrpt:119:494-2"),
            ("H. Rept. 119-494, pt. II", "hrpt:119:494-2"),
            ("H. Rept. 119-106,Book 2", "hrpt:119:106"),
            ("S. Rept. 119-39,Errata", "srpt:119:39"),
            ("hrpt:119:494-2", "hrpt:119:494-2"),
            ("hrpt:119:494-1", "hrpt:119:494"),
            ("CRPT-119hrpt494-pt2", "hrpt:119:494-2"),
            ("CRPT-119hrpt494", "hrpt:119:494"),
            (
                "https://www.govinfo.gov/content/pkg/CRPT-119hrpt494-pt2/html/x.htm",
                "hrpt:119:494-2",
            ),
            (
                "https://www.congress.gov/committee-report/119th-congress/house-report/494/2",
                "hrpt:119:494-2",
            ),
            (
                "https://www.congress.gov/congressional-report/119th-congress/house-report/494",
                "hrpt:119:494",
            ),
        ] {
            assert_eq!(canonical("committee-reports", written).as_deref(), Some(id), "{written}");
        }
        assert_eq!(canonical("committee-reports", "hrpt:119:494-0"), None);
    }
}
