//! Time series of official statistics: each a record, its observations a sub-resource.

use regex::Captures;

use crate::catalog::ids::readers::{lower, upper};
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;

/// The characters of a code at the Bureau of Labor Statistics.
const BLS_CODE: &str = "(?P<code>[a-z0-9][a-z0-9_#-]{3,39})";

/// The Bank's terms ask for this sentence where its API is used.
pub const BOJ_CREDIT: &str = "This service uses the API of the Bank of Japan Time-Series Data \
                              Search. The content of this service is not guaranteed by the Bank \
                              of Japan.";

pub const SOURCE: Source = Source {
    key: "statistical-series",
    singular: "statistical series",
    shape: Shape::Registry,
    about: "Time series of official statistics: Treasury Fiscal Data, the Bureau of Labor \
            Statistics and the Bank of Japan",
    ids: Ids {
        form: "ust:DATASET:CODE, bls:CODE or boj:DATABASE:CODE",
        example: "ust:debt_to_penny:tot_pub_debt_out_amt",
        bare_prefix: None,
        spellings: &[
            Spelling::canonical(
                &["ust:(?P<set>[a-z][a-z0-9_]{0,60}):(?P<code>[a-z0-9][a-z0-9_]{0,90})"],
                |c| {
                    Some(Reading::Complete(format!(
                        "ust:{}:{}",
                        lower(c, "set")?,
                        lower(c, "code")?
                    )))
                },
            ),
            Spelling::canonical(&["bls:", BLS_CODE], read_bls),
            Spelling::canonical(
                &["boj:(?P<set>[a-z0-9]{2,6}):(?P<code>[a-z0-9][a-z0-9@_.$%&+-]{0,60})"],
                |c| {
                    Some(Reading::Complete(format!(
                        "boj:{}:{}",
                        upper(c, "set")?,
                        upper(c, "code")?
                    )))
                },
            ),
            Spelling::site(&[r"url:data\.bls\.gov/timeseries/", BLS_CODE], read_bls),
        ],
    },
    fields: &[
        Field::keyword("publisher", "Who publishes it").group(),
        Field::keyword("database", "Dataset or database of the publisher").group(),
        Field::keyword("code", "Code of the series at the publisher"),
        Field::keyword("frequency", "daily, weekly(monday), monthly, quarterly, annual …").group(),
        Field::keyword("unit", "Unit of the values"),
        Field::keyword("category", "Subject, as published"),
        Field::keyword("first_period", "First period held"),
        Field::keyword("last_period", "Last period held"),
        Field::keyword("last_value", "Value of the last period, as published"),
        Field::date("last_date", "First day of the last period"),
        Field::int("observation_count", "Observations held"),
        Field::date("updated", "Day of the last change, where the publisher says it"),
        Field::keyword("layers", "Place in the publisher's tree: 1,2,0,0,0"),
        Field::int("position", "Row number in the publisher's list, headings included"),
        Field::text("notes", "Notes of the publisher"),
        Field::text("name_ja", "Name in Japanese"),
        Field::text("unit_ja", "Unit in Japanese"),
        Field::text("category_ja", "Subject in Japanese"),
        Field::text("notes_ja", "Notes in Japanese"),
    ],
    title: "name",
    main_date: Some("last_date"),
    order: &[("publisher", true), ("database", false), ("position", false), ("code", false)],
    sub_resources: &[
        SubResource::rows("observations", OBSERVATIONS, "Its values, newest first"),
        SubResource::rows("headings", HEADINGS, "The headings above it in the publisher's list"),
    ],
    naming: Some(Naming {
        exact_kinds: &["code"],
        ..Naming::new(|record, add| {
            add("name", text(record, "name"));
            add("code", text(record, "code"));
            add("name_ja", text(record, "name_ja"));
        })
    }),
    dossier: None,
    url: |f| match text(f, "id").split_once(':') {
        Some(("bls", code)) => format!("https://data.bls.gov/timeseries/{code}"),
        Some(("boj", _)) => "https://www.stat-search.boj.or.jp/index_en.html".to_string(),
        _ => "https://fiscaldata.treasury.gov/datasets/".to_string(),
    },
    cite: |f| {
        let (name, publisher, code) = (text(f, "name"), text(f, "publisher"), text(f, "code"));
        match text(f, "id").starts_with("boj:") {
            true => format!("{name}, {publisher}, {} {code}. {BOJ_CREDIT}", text(f, "database")),
            false => format!("{name}, {publisher}, series {code}"),
        }
    },
    publisher: "U.S. Department of the Treasury, Bureau of Labor Statistics, Bank of Japan",
    licence: "U.S. Government work (17 U.S.C. 105); series of the Bank of Japan: its site's terms, \
              with the credit in each citation, not for commercial reproduction without permission",
};

const OBSERVATIONS: &[Field] = &[
    Field::keyword("period", "Period as published: 2025-01-31, 2025M01, 202501, 2025"),
    Field::date("date", "First day of the period").time(),
    Field::keyword("value", "Value as published; absent where the publisher has none"),
    Field::number("number", "The value as a number").sum(),
];

const HEADINGS: &[Field] = &[
    Field::text("name", "Heading"),
    Field::text("name_ja", "Heading in Japanese"),
    Field::keyword("layers", "Its place in the publisher's tree"),
    Field::int("position", "Row number in the publisher's list"),
];

fn read_bls(captures: &Captures) -> Option<Reading> {
    Some(Reading::Complete(format!("bls:{}", upper(captures, "code")?)))
}
