//! Executive orders, proclamations, memoranda and other presidential documents.

use regex::Captures;

use crate::catalog::ids::readers::{date, lower, number, upper};
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::date_of;

pub const SOURCE: Source = Source {
    key: "presidential-documents",
    singular: "presidential document",
    shape: Shape::BodyBearing,
    about: "Executive orders, proclamations, memoranda and other presidential documents",
    ids: Ids {
        form: "eo:NUMBER, proc:NUMBER, pmemo:DATE:N",
        example: "eo:14110",
        bare_prefix: Some("eo:"),
        spellings: &[
            Spelling::canonical(&[r"(?P<kind>eo|proc):(?P<n>\d{1,6})(?P<letter>-?[a-z])?"], |c| {
                let letter = upper(c, "letter").unwrap_or_default();
                let (kind, n) = (lower(c, "kind")?, number(c, "n")?);
                Some(Reading::Complete(format!("{kind}:{n}{letter}")))
            }),
            Spelling::canonical(&["pmemo:", DATE, r":(?P<n>\d{1,6})"], |c| {
                Some(Reading::Complete(format!("pmemo:{}:{}", date(c, "date")?, number(c, "n")?)))
            }),
            Spelling::written(
                &[r"(?:e\.? ?o\.?|exec(?:utive|\.)? order) ?(?:no\.? ?)?(?P<n>\d{1,6})"],
                read_order,
            ),
            Spelling::written(
                &[r"(?:presidential )?proc(?:lamation|\.)? ?(?:no\.? ?)?(?P<n>\d{1,6})"],
                |c| Some(Reading::Complete(format!("proc:{}", number(c, "n")?))),
            ),
            Spelling::site(
                &[r"url:(?:www\.)?federalregister\.gov/executive-order/(?P<n>\d{1,6})"],
                read_order,
            ),
        ],
    },
    fields: &[
        Field::keyword(
            "type",
            "executive_order, proclamation, memorandum, determination, notice or order",
        )
        .group(),
        Field::int("number", "Number, for orders and proclamations"),
        Field::date("signed_date", "Date of signing").time(),
        Field::keyword("president", "President who signed it").group(),
        Field::date("publication_date", "Date of publication in the Federal Register").time(),
        Field::id(
            "federal_register_id",
            "federal-register",
            "Its document in the Federal Register",
        ),
        Field::keywords("subjects", "Subjects").group(),
    ],
    title: "title",
    main_date: Some("signed_date"),
    order: &[("signed_date", true)],
    sub_resources: &[SubResource::body(), SubResource::toc()],
    naming: None,
    dossier: None,
    url: |f| match (text(f, "federal_register_id"), text(f, "type"), int(f, "number")) {
        ("", "executive_order", n) => {
            format!("https://www.federalregister.gov/executive-order/{n}")
        }
        ("", _, n) if n > 0 => {
            format!(
                "https://www.federalregister.gov/documents/search\
                 ?conditions%5Bterm%5D=%22Proclamation+{n}%22"
            )
        }
        ("", _, _) => "https://www.federalregister.gov/presidential-documents".to_string(),
        (document, _, _) => format!("https://www.federalregister.gov/d/{document}"),
    },
    cite: |f| {
        let signed = date_of(f, "signed_date");
        match text(f, "type") {
            "executive_order" => format!("Exec. Order No. {}{signed}", int(f, "number")),
            "proclamation" => format!("Proclamation No. {}{signed}", int(f, "number")),
            "determination" => format!("Presidential Determination, {}{signed}", text(f, "title")),
            "notice" => format!("Presidential Notice, {}{signed}", text(f, "title")),
            "order" => format!("Presidential Order, {}{signed}", text(f, "title")),
            _ => format!("Presidential Memorandum, {}{signed}", text(f, "title")),
        }
    },
    publisher: "The White House and the Office of the Federal Register",
    licence: US_WORK,
};

fn read_order(captures: &Captures) -> Option<Reading> {
    Some(Reading::Complete(format!("eo:{}", number(captures, "n")?)))
}
