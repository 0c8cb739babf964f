//! Amendments offered in either chamber.

use super::bills::ACTIONS;
use crate::catalog::ids::readers::{measure_from_path, measure_id};
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::{cited_type, ordinal, path_type, year_of};

pub const SOURCE: Source = Source {
    key: "amendments",
    singular: "amendment",
    shape: Shape::BodyBearing,
    about: "House and Senate amendments with sponsor, purpose and outcome",
    ids: Ids {
        form: "(hamdt|samdt):CONGRESS:NUMBER",
        example: "samdt:119:2265",
        bare_prefix: None,
        spellings: &[
            Spelling::canonical(
                &[r"(?P<type>[hs]amdt):", CONGRESS, r":(?P<n>\d{1,9})"],
                measure_id,
            ),
            Spelling::written(
                &[
                    r"(?P<type>(?:house|senate|h\.?|s\.?) ?(?:amendment|amdt\.?)|sa|ha)",
                    r" ?(?:no\.? ?)?(?P<n>\d{1,5})",
                    CONGRESS_AFTER,
                ],
                measure_id,
            ),
            Spelling::new(
                Precedence::CongressGov,
                &[CONGRESS_GOV, "/amendment", CONGRESS_IN_PATH, MEASURE_IN_PATH],
                measure_from_path,
            ),
        ],
    },
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::keyword("type", "hamdt or samdt").group(),
        Field::int("number", "Number within its chamber and congress"),
        Field::keyword("chamber", "house or senate").group(),
        Field::id("bill_id", "bills", "The bill it amends").group(),
        Field::id("amends_amendment_id", "amendments", "The amendment it amends, if any"),
        Field::id("sponsor", "legislators", "Sponsor's bioguide id").group(),
        Field::keyword("sponsor_name", "Sponsor's name"),
        Field::keyword("sponsor_party", "Sponsor's party").group(),
        Field::keyword("sponsor_state", "Sponsor's state, two letters").group(),
        Field::date("submitted_date", "Date of submission or offering").time(),
        Field::keyword(
            "status",
            "submitted, proposed, agreed_to, failed, withdrawn, tabled or ruled_out_of_order",
        )
        .group(),
        Field::text("purpose", "Its purpose, as stated"),
        Field::text("latest_action", "Latest action, as recorded"),
        Field::date("latest_action_date", "Date of the latest action").time(),
    ],
    title: "title",
    main_date: Some("submitted_date"),
    order: &[("congress", true), ("submitted_date", true)],
    sub_resources: &[
        SubResource::body(),
        SubResource::toc(),
        SubResource::rows("actions", ACTIONS, "Its actions, newest first"),
        SubResource::records("votes", "roll-call-votes", "amendment_id", "Roll calls on it"),
    ],
    naming: None,
    dossier: None,
    url: |f| {
        let congress = ordinal(int(f, "congress"));
        format!(
            "https://www.congress.gov/amendment/{congress}-congress/{}/{}",
            path_type(text(f, "type")),
            int(f, "number")
        )
    },
    cite: |f| {
        let (kind, congress) = (cited_type(text(f, "type")), ordinal(int(f, "congress")));
        format!("{kind} {}, {congress} Cong.{}", int(f, "number"), year_of(f, "submitted_date"))
    },
    publisher: "Congress.gov (Library of Congress)",
    licence: US_WORK,
};
