//! Statements of Administration Policy.

use crate::catalog::spec::*;
use crate::catalog::wording::{cited_measure, date_of, ordinal};

pub const SOURCE: Source = Source {
    key: "saps",
    one: "Statement of Administration Policy",
    shape: Shape::ShortBody,
    about: "Statements of Administration Policy: what the President thinks of a bill before a vote",
    fields: &[
        Field::id("bill_id", "bills", "The bill it is about").group(),
        Field::int("congress", "Congress").group(),
        Field::keyword("president", "President").group(),
        Field::date("date", "Day of the statement").time(),
        Field::keyword("position", "supports, opposes, would_veto or none_stated").group(),
        Field::keyword("chamber", "Chamber that had the bill: house or senate").group(),
    ],
    title: "title",
    main_date: Some("date"),
    order: &[("date", true)],
    subs: &[Sub::body(), Sub::toc()],
    url: |_| "https://www.whitehouse.gov/omb/statements-of-administration-policy/".to_string(),
    cite: |f| {
        let congress = ordinal(int(f, "congress"));
        let bill = cited_measure(text(f, "bill_id"));
        format!(
            "Exec. Off. of the President, Statement of Administration Policy on {bill}, {congress} Cong.{}",
            date_of(f, "date")
        )
    },
    publisher: "Office of Management and Budget",
    licence: US_WORK,
};
