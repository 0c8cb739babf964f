//! Bills and resolutions.

use crate::catalog::spec::*;
use crate::catalog::wording::{cited_type, ordinal, path_type, year_of};

pub const SOURCE: Source = Source {
    key: "bills",
    one: "bill",
    shape: Shape::BodyBearing,
    about: "Bills and resolutions of Congress with sponsors, actions, texts and everything that hangs on them",
    fields: &[
        Field::int("congress", "Congress").group(),
        Field::keyword("type", "hr, s, hjres, sjres, hres, sres, hconres or sconres").group(),
        Field::int("number", "Number within its type and congress"),
        Field::keyword("chamber", "Chamber of origin: house or senate").group(),
        Field::text("short_title", "Short title, where it has one"),
        Field::date("introduced_date", "Day of introduction").time(),
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
            "How far it got: introduced, reported, passed_house, passed_senate, passed_both, failed, vetoed, agreed_to or enacted",
        )
        .group(),
        Field::text("latest_action", "Newest action, as recorded"),
        Field::date("latest_action_date", "Day of the newest action").time(),
        Field::flag("is_law", "Whether it became a public law").group(),
        Field::id("law_id", "public-laws", "The law it became"),
        Field::keywords("text_versions", "Versions whose text the bundle holds, oldest first"),
    ],
    title: "title",
    main_date: Some("introduced_date"),
    order: &[("congress", true), ("introduced_date", true)],
    subs: &[
        Sub::rows("cosponsors", COSPONSORS, "Members who cosponsor it"),
        Sub::rows("actions", ACTIONS, "What happened to it, newest first"),
        Sub::body(),
        Sub::toc(),
        Sub::rows("summaries", SUMMARIES, "CRS summaries by version"),
        Sub::rows("subjects", SUBJECTS, "Policy area and legislative subjects"),
        Sub::rows("committees", COMMITTEES, "Committees and what they did"),
        Sub::records("amendments", "amendments", "bill_id", "Amendments offered to it"),
        Sub::records("votes", "roll-call-votes", "bill_id", "Roll calls on it"),
        Sub::records("reports", "committee-reports", "bill_ids", "Committee reports on it"),
        Sub::records("hearings", "hearings", "bill_ids", "Hearings and markups on it"),
        Sub::rows("related", RELATED, "Related bills"),
        Sub::records("crs", "crs-reports", "bill_ids", "CRS reports that discuss it"),
        Sub::records("cbo", "cbo-estimates", "bill_id", "CBO cost estimates"),
        Sub::rows("mentions", MENTIONS, "Records that name it, and where they do"),
        Sub::records("saps", "saps", "bill_id", "Statements of Administration Policy on it"),
    ],
    url: |f| {
        let congress = ordinal(int(f, "congress"));
        format!("https://www.congress.gov/bill/{congress}-congress/{}/{}", path_type(text(f, "type")), int(f, "number"))
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
    Field::keyword("party", "Party"),
    Field::keyword("state", "State, two letters"),
    Field::int("district", "House district"),
    Field::date("date", "Day they signed on"),
    Field::flag("original", "Whether they were there from introduction"),
    Field::date("withdrawn_date", "Day they withdrew, if they did"),
];

const ACTIONS: &[Field] = &[
    Field::date("date", "Day of the action"),
    Field::text("text", "The action, as recorded"),
    Field::keyword("type", "Kind of action: IntroReferral, Committee, Floor, President, BecameLaw …"),
    Field::keyword("code", "Action code of the Library of Congress"),
    Field::keyword("chamber", "house or senate, where it says"),
    Field::ids("committees", "committees", "Committees concerned"),
    Field::id("vote_id", "roll-call-votes", "Roll call, if the action was one"),
];

const SUMMARIES: &[Field] = &[
    Field::keyword("version", "Stage that the summary describes"),
    Field::date("date", "Day of that stage"),
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
    Field::date("date", "Day of the activity"),
];

const RELATED: &[Field] = &[
    Field::id("bill_id", "bills", "The related bill"),
    Field::text("title", "Its title"),
    Field::keyword("relationship", "Identical bill, Related bill, Procedurally-related …"),
    Field::keyword("identified_by", "House, Senate or CRS"),
];
