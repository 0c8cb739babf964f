//! Sections of the Code of Federal Regulations.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::year_of;

pub const SOURCE: Source = Source {
    key: "cfr-sections",
    singular: "CFR section",
    shape: Shape::BodyBearing,
    about: "Sections of the Code of Federal Regulations with authority and agency",
    ids: Ids {
        form: "cfr:TITLE:SECTION",
        example: "cfr:40:122.26",
        bare_prefix: Some("cfr:"),
        spellings: &[
            Spelling::canonical(
                &[r"cfr:(?P<title>\d{1,2}):(?P<section>\d[0-9a-z.()-]{0,40})"],
                read_id,
            ),
            Spelling::written(
                &[
                    r"(?P<title>\d{1,2}) ?c\.? ?f\.? ?r\.? ?(?:sec(?:tion|\.)? ?)?",
                    r"(?P<section>\d{1,5}[a-z]{0,2}\.[0-9a-z.()-]{1,40})",
                ],
                read_id,
            ),
            Spelling::site(
                &[
                    r"url:(?:www\.)?ecfr\.gov/.*title-(?P<title>\d{1,2})",
                    r"/.*section-(?P<section>\d[0-9a-z.()-]{0,40})",
                ],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::int("title", "CFR title, 1 to 50").group(),
        Field::keyword("chapter", "Chapter, in Roman numerals").group(),
        Field::keyword("part", "Part, 40 CFR 122").group(),
        Field::keyword("section", "Section number, 122.26"),
        Field::text("heading", "Heading of the section"),
        Field::keyword("agency", "Agency that issued it").group().named(),
        Field::text("authority", "Authority citation of the part"),
        Field::ids("law_ids", "public-laws", "Public laws named as authority"),
        Field::date("as_of", "Date on which the text was current").time(),
    ],
    title: "name",
    main_date: Some("as_of"),
    order: &[("title", false), ("section", false)],
    sub_resources: &[SubResource::body(), SubResource::toc()],
    naming: None,
    dossier: None,
    url: |f| {
        format!(
            "https://www.ecfr.gov/current/title-{}/section-{}",
            int(f, "title"),
            text(f, "section")
        )
    },
    cite: |f| format!("{} C.F.R. § {}{}", int(f, "title"), text(f, "section"), year_of(f, "as_of")),
    publisher: "Office of the Federal Register, GPO and eCFR",
    licence: US_WORK,
};

fn read_id(captures: &Captures) -> Option<Reading> {
    static PARAGRAPHS: LazyLock<Regex> = LazyLock::new(|| compile(r"(\([A-Za-z0-9]+\))+$"));
    let section = captures.name("section")?.as_str().trim_end_matches('.');
    // "122.26(b)(2)" cites a paragraph of 122.26; "1.401(k)-1" is a section.
    let section = PARAGRAPHS.replace(section, "");
    let title: u8 = captures.name("title")?.as_str().parse().ok()?;
    (1..=50)
        .contains(&title)
        .then(|| Reading::Complete(format!("cfr:{title}:{}", section.trim_end_matches('.'))))
}
