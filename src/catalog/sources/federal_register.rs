//! Documents of the Federal Register.

use regex::Captures;

use crate::catalog::ids::readers::upper;
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::{date_of, long_date};

const DOCUMENT_NUMBER: &str =
    r"(?P<fr>(?:[crxz]\d{0,2}-)?(?:(?:19|20)\d{2}-\d{4,6}|\d{2}-\d{4,6})|[exz]\d{1,2}-\d{1,6})";

pub const SOURCE: Source = Source {
    key: "federal-register",
    singular: "Federal Register document",
    shape: Shape::BodyBearing,
    about: "Rules, proposed rules, notices and presidential documents of the Federal Register",
    ids: Ids {
        form: "document number YYYY-NNNNN",
        example: "2026-08558",
        bare_prefix: None,
        spellings: &[
            Spelling::canonical(&[DOCUMENT_NUMBER], read_id),
            Spelling::written(
                &[
                    r"(?:fr|federal register)[ :]*(?:doc\.?|document)? ?(?:no\.?|number)? ?",
                    DOCUMENT_NUMBER,
                ],
                read_id,
            ),
            Spelling::site(
                &[
                    r"url:(?:www\.)?federalregister\.gov/(?:d|a|documents/\d{4}/\d{2}/\d{2})/",
                    DOCUMENT_NUMBER,
                    "(?:/.*)?",
                ],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::keyword("document_number", "Federal Register document number"),
        Field::keyword("type", "rule, proposed_rule, notice or presidential_document").group(),
        Field::keywords("agencies", "Agencies, as printed").group().named(),
        Field::date("publication_date", "Date of publication").time(),
        Field::date("effective_date", "Date it takes effect").time(),
        Field::date("comment_end_date", "Last day for comments"),
        Field::keywords("cfr_references", "CFR parts affected, 40 CFR 122").group(),
        Field::keywords("rins", "Regulation identifier numbers"),
        Field::ids("docket_ids", "regulations-dot-gov-dockets", "Dockets"),
        Field::ids("law_ids", "public-laws", "Public laws it cites"),
        Field::int("volume", "Volume of the Federal Register"),
        Field::int("start_page", "First page"),
        Field::int("page_count", "Number of pages").sum(),
        Field::flag("significant", "Significant under E.O. 12866, where stated").group(),
    ],
    title: "title",
    main_date: Some("publication_date"),
    order: &[("publication_date", true)],
    sub_resources: &[SubResource::body(), SubResource::toc()],
    naming: None,
    dossier: None,
    url: |f| format!("https://www.federalregister.gov/d/{}", text(f, "document_number")),
    cite: |f| {
        let (title, date) = (text(f, "title"), text(f, "publication_date"));
        match (int(f, "volume"), int(f, "start_page")) {
            (0, _) | (_, 0) => {
                format!(
                    "{title}, FR Doc. {}{}",
                    text(f, "document_number"),
                    date_of(f, "publication_date")
                )
            }
            (volume, page) => format!("{title}, {volume} Fed. Reg. {page} ({})", long_date(date)),
        }
    },
    publisher: "Office of the Federal Register",
    licence: US_WORK,
};

fn read_id(captures: &Captures) -> Option<Reading> {
    Some(Reading::Complete(upper(captures, "fr")?))
}
