//! Staff of congressional offices and committees.

use crate::catalog::ids::readers::lower;
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;

pub const SOURCE: Source = Source {
    key: "staff-directories",
    singular: "staff entry",
    shape: Shape::Registry,
    about: "Staff of members' offices, committees and officers, from the disbursement reports of \
            the House and the Senate",
    ids: Ids {
        form: "staff:SLUG",
        example: "staff:2025q3-house-clerk-jane-doe",
        bare_prefix: Some("staff:"),
        spellings: &[Spelling::canonical(&["staff:(?P<slug>[a-z0-9][a-z0-9-]{0,160})"], |c| {
            Some(Reading::Complete(format!("staff:{}", lower(c, "slug")?)))
        })],
    },
    fields: &[
        Field::keyword("office", "Office or committee, as printed").group().named(),
        Field::id("bioguide", "legislators", "Member whose office it is"),
        Field::id("committee", "committees", "Committee whose office it is"),
        Field::keyword("title_role", "Job title, as printed").group(),
        Field::keyword("period", "Reporting period, 2025Q3").group(),
        Field::keyword("chamber", "house or senate").group(),
    ],
    title: "name",
    main_date: None,
    order: &[("period", true), ("office", false)],
    sub_resources: &[],
    naming: Some(Naming {
        hints: HintFields { chamber: Some("chamber"), ..HintFields::NONE },
        ..Naming::new(|record, add| {
            add("name", text(record, "name"));
            add("office", text(record, "office"));
        })
    }),
    dossier: None,
    url: |f| match text(f, "chamber") {
        "senate" => {
            "https://www.senate.gov/legislative/common/generic/report_secsen.htm".to_string()
        }
        _ => "https://www.house.gov/the-house-explained/open-government/statement-of-disbursements"
            .to_string(),
    },
    cite: |f| {
        let parts = ["name", "title_role", "office", "period"].map(|name| text(f, name));
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    },
    publisher: "Chief Administrative Officer of the House and Secretary of the Senate",
    licence: US_WORK,
};
