//! Bills and resolutions.

use crate::catalog::ids::readers::{measure_from_path, measure_id};
use crate::catalog::ids::spelling::*;
use crate::catalog::spec::*;
use crate::catalog::wording::{cited_type, ordinal, path_type, year_of};

/// Types as written in prose, longest first so that "H. Res." is not read as "H.R.".
const WRITTEN_TYPE: &str = concat!(
    "(?P<type>",
    r"(?:house|senate|h\.?|s\.?) ?(?:joint|concurrent|j\.?|con\.?) ?(?:resolution|res\.?)",
    "|hcr|scr|hjr|sjr",
    r"|(?:house|senate|h\.?|s\.?) ?(?:resolution|res\.?)",
    r"|(?:house|senate) bill|h\.? ?r\.?|hb|sb|s\.?",
    ")",
);

/// "119th Congress", "119 ".
const CONGRESS_BEFORE: &str = r"(?P<congress>\d{1,3})(?:st|nd|rd|th)?(?: cong(?:ress|\.)?)?[ ,:-]*";

pub const SOURCE: Source = Source {
    key: "bills",
    singular: "bill",
    shape: Shape::BodyBearing,
    about: "Bills and resolutions of Congress with sponsors, actions, texts and related records",
    ids: Ids {
        form: "(hr|s|hjres|sjres|hres|sres|hconres|sconres):CONGRESS:NUMBER",
        example: "hr:119:1",
        bare_prefix: None,
        spellings: &[
            Spelling::canonical(&[BILL_TYPE, ":", CONGRESS, r":(?P<n>\d{1,9})"], measure_id),
            Spelling::written(
                &[WRITTEN_TYPE, r" ?(?:no\.? ?)?(?P<n>\d{1,5})", CONGRESS_AFTER],
                measure_id,
            ),
            Spelling::written(
                &[CONGRESS_BEFORE, WRITTEN_TYPE, r"[ :-]*(?P<n>\d{1,5})"],
                measure_id,
            ),
            Spelling::written(
                &["bills-", CONGRESS, BILL_TYPE, r"(?P<n>\d{1,5})[a-z0-9]*"],
                measure_id,
            ),
            Spelling::written(&["billstatus-", CONGRESS, BILL_TYPE, r"(?P<n>\d{1,5})"], measure_id),
            Spelling::new(
                Precedence::CongressGov,
                &[CONGRESS_GOV, "/bill", CONGRESS_IN_PATH, MEASURE_IN_PATH],
                measure_from_path,
            ),
            Spelling::new(
                Precedence::Package,
                &["url:.*bills-", CONGRESS, BILL_TYPE, r"(?P<n>\d{1,5})[a-z0-9]*(?:[./].*)?"],
                measure_id,
            ),
        ],
    },
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::keyword("type", "hr, s, hjres, sjres, hres, sres, hconres or sconres").group(),
        Field::int("number", "Number within its type and congress"),
        Field::keyword("chamber", "Chamber of origin: house or senate").group(),
        Field::text("short_title", "Short title, where it has one"),
        Field::date("introduced_date", "Date of introduction").time(),
        Field::id("sponsor", "legislators", "Sponsor's bioguide id").group(),
        Field::keyword("sponsor_name", "Sponsor's name"),
        Field::keyword("sponsor_party", "Sponsor's party at introduction: D, R, I …").group(),
        Field::keyword("sponsor_state", "Sponsor's state, two letters").group(),
        Field::ids("cosponsors", "legislators", "Bioguide ids of the cosponsors"),
        Field::int("cosponsor_count", "Number of cosponsors").sum(),
        Field::keyword("policy_area", "CRS policy area").group(),
        Field::keywords("subjects", "CRS legislative subjects").group(),
        Field::ids("committees", "committees", "Committees it was referred to").group(),
        Field::keyword(
            "status",
            "Furthest stage reached: introduced, reported, passed_house, passed_senate, \
             passed_both, failed, vetoed, agreed_to or enacted",
        )
        .group(),
        Field::text("latest_action", "Latest action, as recorded"),
        Field::date("latest_action_date", "Date of the latest action").time(),
        Field::flag("is_law", "Whether it became law, public or private: status enacted").group(),
        Field::keyword("law_type", "public or private, if it became law").group(),
        Field::keyword("law_number", "The law it became: Public Law 119-21, Private Law 119-1"),
        Field::id("law_id", "public-laws", "The public law it became; private laws have no record"),
        Field::keywords("text_versions", "Versions whose text is in the bundle, oldest first"),
    ],
    title: "title",
    main_date: Some("introduced_date"),
    order: &[("congress", true), ("introduced_date", true)],
    sub_resources: &[
        SubResource::rows("cosponsors", COSPONSORS, "Its cosponsors"),
        SubResource::rows("actions", ACTIONS, "Its actions, newest first"),
        SubResource::body(),
        SubResource::toc(),
        SubResource::rows("summaries", SUMMARIES, "CRS summaries by version"),
        SubResource::rows("subjects", SUBJECTS, "Policy area and legislative subjects"),
        SubResource::rows("committees", COMMITTEES, "Committees and their activities"),
        SubResource::records("amendments", "amendments", "bill_id", "Amendments offered to it"),
        SubResource::records("votes", "roll-call-votes", "bill_id", "Roll calls on it"),
        SubResource::records("reports", "committee-reports", "bill_ids", "Committee reports on it"),
        SubResource::records("hearings", "hearings", "bill_ids", "Hearings and markups on it"),
        SubResource::rows("related", RELATED, "Related bills"),
        SubResource::records("crs", "crs-reports", "bill_ids", "CRS reports that discuss it"),
        SubResource::records("cbo", "cbo-estimates", "bill_id", "CBO cost estimates"),
        SubResource::rows("mentions", MENTIONS, "Records that name it, and where"),
        SubResource::records("saps", "saps", "bill_id", "Statements of Administration Policy"),
    ],
    naming: None,
    dossier: Some(DossierSpec {
        sections: &[
            "cosponsors",
            "actions",
            "crs",
            "cbo",
            "saps",
            "reports",
            "hearings",
            "votes",
            "amendments",
        ],
        takes_congress: false,
    }),
    url: |f| {
        let congress = ordinal(int(f, "congress"));
        let kind = path_type(text(f, "type"));
        format!("https://www.congress.gov/bill/{congress}-congress/{kind}/{}", int(f, "number"))
    },
    cite: |f| {
        let (kind, congress) = (cited_type(text(f, "type")), ordinal(int(f, "congress")));
        format!("{kind} {}, {congress} Cong.{}", int(f, "number"), year_of(f, "introduced_date"))
    },
    publisher: "Congress.gov (Library of Congress) and GPO govinfo",
    licence: US_WORK,
};

const COSPONSORS: &[Field] = &[
    Field::id("bioguide", "legislators", "Cosponsor's bioguide id"),
    Field::keyword("name", "Cosponsor's name"),
    PARTY,
    STATE,
    Field::int("district", "House district"),
    Field::date("date", "Date of cosponsorship"),
    Field::flag("original", "Whether they cosponsored it at introduction"),
    Field::date("withdrawn_date", "Date of withdrawal, if withdrawn"),
];

/// Actions on bills and on amendments.
pub(super) const ACTIONS: &[Field] = &[
    Field::date("date", "Date of the action"),
    Field::text("text", "The action, as recorded"),
    Field::keyword(
        "type",
        "Kind of action: IntroReferral, Committee, Floor, President, BecameLaw …",
    ),
    Field::keyword("code", "Action code of the Library of Congress"),
    Field::keyword("chamber", "house or senate, where stated"),
    Field::ids("committees", "committees", "Committees concerned"),
    Field::id("vote_id", "roll-call-votes", "The roll call, for an action that was one"),
];

const SUMMARIES: &[Field] = &[
    Field::keyword("version", "Stage that the summary describes"),
    Field::date("date", "Date of that stage"),
    Field::text("text", "The summary"),
];

const SUBJECTS: &[Field] = &[
    Field::id("topic_id", "topic-taxonomy", "Topic in the taxonomy"),
    Field::keyword("name", "Name of the topic"),
    Field::keyword("kind", "policy_area or subject"),
];

const COMMITTEES: &[Field] = &[
    Field::id("committee", "committees", "Committee id"),
    Field::keyword("name", "Committee's name"),
    Field::keyword("chamber", "house, senate or joint"),
    Field::keyword("activity", "Referred to, Markup by, Reported by …"),
    Field::date("date", "Date of the activity"),
];

const RELATED: &[Field] = &[
    Field::id("bill_id", "bills", "The related bill"),
    Field::text("title", "Its title"),
    Field::keyword("relationship", "Identical bill, Related bill, Procedurally-related …"),
    Field::keyword("identified_by", "House, Senate or CRS"),
];
