//! Executive orders, proclamations and memoranda.

use crate::catalog::spec::*;
use crate::catalog::wording::date_of;

pub const SOURCE: Source = Source {
    key: "presidential-documents",
    one: "presidential document",
    shape: Shape::BodyBearing,
    about: "Executive orders, proclamations and presidential memoranda",
    fields: &[
        Field::keyword("type", "executive_order, proclamation or memorandum").group(),
        Field::int("number", "Number, for orders and proclamations"),
        Field::date("signed_date", "Day it was signed").time(),
        Field::keyword("president", "President who signed it").group(),
        Field::date("publication_date", "Day it was printed in the Federal Register").time(),
        Field::id("federal_register_id", "federal-register", "Its document in the Federal Register"),
        Field::keywords("subjects", "Subjects").group(),
    ],
    title: "title",
    main_date: Some("signed_date"),
    order: &[("signed_date", true)],
    subs: &[Sub::body(), Sub::toc()],
    url: |f| match (text(f, "federal_register_id"), text(f, "type"), int(f, "number")) {
        ("", "executive_order", n) => format!("https://www.federalregister.gov/executive-order/{n}"),
        ("", _, n) if n > 0 => {
            format!("https://www.federalregister.gov/documents/search?conditions%5Bterm%5D=%22Proclamation+{n}%22")
        }
        ("", _, _) => "https://www.federalregister.gov/presidential-documents".to_string(),
        (document, _, _) => format!("https://www.federalregister.gov/d/{document}"),
    },
    cite: |f| {
        let signed = date_of(f, "signed_date");
        match text(f, "type") {
            "executive_order" => format!("Exec. Order No. {}{signed}", int(f, "number")),
            "proclamation" => format!("Proclamation No. {}{signed}", int(f, "number")),
            _ => format!("Presidential Memorandum, {}{signed}", text(f, "title")),
        }
    },
    publisher: "The White House and the Office of the Federal Register",
    licence: US_WORK,
};
