//! Members of Congress, past and present.

use regex::Captures;

use crate::catalog::ids::readers::upper;
use crate::catalog::ids::spelling::*;
use crate::catalog::names::each;
use crate::catalog::spec::*;

pub const SOURCE: Source = Source {
    key: "legislators",
    singular: "legislator",
    shape: Shape::Registry,
    about: "Members of the House and the Senate, with terms, committees, votes and offices",
    ids: Ids {
        form: "bioguide id: a letter and six digits",
        example: "S000033",
        bare_prefix: None,
        spellings: &[
            Spelling::canonical(&[r"(?P<bioguide>[a-z]\d{6})"], read_id),
            Spelling::new(
                Precedence::CongressGovProfile,
                &[r"url:(?:www\.|bioguide\.)?congress\.gov/.*/(?P<bioguide>[a-z]\d{6})"],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::keyword("first", "First name"),
        Field::keyword("last", "Last name"),
        Field::keyword("official_name", "Full name as the chamber writes it"),
        Field::keywords("nicknames", "Other names in use"),
        Field::keyword("party", "Latest party: D, R, I …").group(),
        Field::keyword("caucus", "Party with which an independent caucuses: D or R"),
        Field::keyword("state", "State of the latest term, two letters").group(),
        Field::int("district", "House district of the latest term; 0 at large"),
        Field::keyword("chamber", "Chamber of the latest term: house or senate").group(),
        Field::flag("current", "Whether in office now").group(),
        Field::keyword("gender", "F or M").group(),
        Field::date("birthday", "Date of birth"),
        Field::date("first_term_start", "First day of the first term").time(),
        Field::date("last_term_end", "Last day of the latest term"),
        Field::int("terms_count", "Number of terms").sum(),
        Field::keyword("lis_id", "Senate LIS id"),
        Field::int("govtrack_id", "GovTrack id"),
        Field::int("icpsr_id", "ICPSR id"),
        Field::keyword("fec_id", "First FEC candidate id"),
        Field::keyword("wikidata_id", "Wikidata id"),
        Field::keyword("website", "Official website"),
        Field::keyword("phone", "Washington telephone"),
    ],
    title: "name",
    main_date: Some("first_term_start"),
    order: &[("current", true), ("last", false), ("first", false)],
    sub_resources: &[
        SubResource::rows(
            "terms",
            TERMS,
            "Terms served, newest first; a change of party divides a term into two rows",
        ),
        SubResource::rows("committees", COMMITTEES, "Committee seats (`congress`)"),
        SubResource::records("sponsored", "bills", "sponsor", "Bills sponsored"),
        SubResource::records("cosponsored", "bills", "cosponsors", "Bills cosponsored"),
        SubResource::rows("votes", VOTES, "Votes cast, newest first (`congress`)"),
        SubResource::rows("leadership", LEADERSHIP, "Leadership positions"),
        SubResource::rows("offices", OFFICES, "District and state offices"),
        SubResource::records(
            "speeches",
            "congressional-record",
            "speakers",
            "Granules of the Congressional Record in which they speak",
        ),
    ],
    naming: Some(Naming {
        names,
        exact_kinds: &["lis_id"],
        hints: HintFields {
            chamber: Some("chamber"),
            party: Some("party"),
            state: Some("state"),
            year: &["last_term_end"],
        },
        recency: Some("last_term_end"),
    }),
    dossier: Some(DossierSpec {
        sections: &[
            "terms",
            "committees",
            "sponsored",
            "cosponsored",
            "leadership",
            "offices",
            "speeches",
        ],
        takes_congress: true,
    }),
    url: |f| format!("https://bioguide.congress.gov/search/bio/{}", text(f, "id")),
    cite: |f| {
        let (name, party, state) = (text(f, "name"), text(f, "party"), text(f, "state"));
        format!(
            "{name} ({party}-{state}), Biographical Directory of the U.S. Congress, {}",
            text(f, "id")
        )
    },
    publisher: "unitedstates/congress-legislators and the \
                Biographical Directory of the U.S. Congress",
    licence: "CC0 1.0",
};

const TERMS: &[Field] = &[
    Field::keyword("chamber", "house or senate"),
    STATE,
    Field::int("district", "House district; 0 at large"),
    Field::int("senate_class", "Senate class, 1 to 3"),
    PARTY,
    Field::keyword("caucus", "Party with which an independent caucused"),
    Field::date("start", "First day of the term, or with this party"),
    Field::date("end", "Last day of the term, or with this party"),
];

const COMMITTEES: &[Field] = &[
    Field::id("committee", "committees", "Committee id"),
    Field::keyword("name", "Committee's name"),
    Field::int("congress", "Congress"),
    Field::keyword("side", "majority or minority"),
    Field::int("rank", "Rank within the majority or minority"),
    Field::keyword("role", "Chair, Ranking Member …"),
];

const VOTES: &[Field] = &[
    Field::id("vote_id", "roll-call-votes", "The roll call"),
    Field::int("congress", "Congress"),
    Field::date("date", "Date of the vote"),
    POSITION,
    Field::text("question", "What was voted on"),
    Field::keyword("result", "Outcome"),
    Field::id("bill_id", "bills", "The bill concerned"),
];

const LEADERSHIP: &[Field] = &[
    Field::keyword("role", "The position"),
    Field::keyword("chamber", "house or senate"),
    Field::date("start", "First day"),
    Field::date("end", "Last day, if ended"),
];

const OFFICES: &[Field] = &[
    Field::keyword("city", "City"),
    STATE,
    Field::keyword("address", "Street address"),
    Field::keyword("suite", "Suite"),
    Field::keyword("building", "Building"),
    Field::keyword("zip", "ZIP code"),
    Field::keyword("phone", "Telephone"),
    Field::keyword("fax", "Fax"),
];

fn read_id(captures: &Captures) -> Option<Reading> {
    Some(Reading::Complete(upper(captures, "bioguide")?))
}

fn names(record: &Fields, add: &mut AddName) {
    let (first, last) = (text(record, "first"), text(record, "last"));
    add("name", text(record, "name"));
    add("name", text(record, "official_name"));
    add("name", &format!("{first} {last}"));
    each(record, "nicknames", |nickname| add("nickname", &format!("{nickname} {last}")));
    add("lis_id", text(record, "lis_id"));
}
