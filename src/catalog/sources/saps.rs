//! Statements of Administration Policy.

use crate::catalog::ids::readers::{date, measure_type, number};
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::{cited_measure, date_of, ordinal};

pub const SOURCE: Source = Source {
    key: "saps",
    singular: "Statement of Administration Policy",
    shape: Shape::ShortBody,
    about: "Statements of Administration Policy: the President's position on a bill before a vote",
    ids: Ids {
        form: "sap:CONGRESS:TYPE:NUMBER:DATE",
        example: "sap:119:hr:1:2025-05-20",
        bare_prefix: Some("sap:"),
        spellings: &[Spelling::canonical(
            &["sap:", CONGRESS, ":", BILL_TYPE, r":(?P<n>\d{1,5}):", DATE],
            |c| {
                let (congress, n) = (number(c, "congress")?, number(c, "n")?);
                let (kind, date) = (measure_type(c)?, date(c, "date")?);
                Some(Reading::Complete(format!("sap:{congress}:{kind}:{n}:{date}")))
            },
        )],
    },
    fields: &[
        Field::id("bill_id", "bills", "The bill it is about").group(),
        Field::int("congress", "Congress").group(),
        Field::keyword("president", "President").group(),
        Field::date("date", "Date of the statement").time(),
        Field::keyword("position", "supports, opposes, would_veto or none_stated").group(),
        Field::keyword("chamber", "Chamber considering the bill: house or senate").group(),
    ],
    title: "title",
    main_date: Some("date"),
    order: &[("date", true)],
    sub_resources: &[SubResource::body(), SubResource::toc()],
    naming: None,
    dossier: None,
    url: |_| "https://www.whitehouse.gov/omb/statements-of-administration-policy/".to_string(),
    cite: |f| {
        let congress = ordinal(int(f, "congress"));
        let bill = cited_measure(text(f, "bill_id"));
        format!(
            "Exec. Off. of the President, Statement of Administration Policy on {bill}, \
             {congress} Cong.{}",
            date_of(f, "date")
        )
    },
    publisher: "Office of Management and Budget",
    licence: US_WORK,
};
