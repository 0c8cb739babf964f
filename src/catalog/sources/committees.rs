//! Committees and subcommittees.

use regex::Captures;

use crate::catalog::ids::readers::upper;
use crate::catalog::ids::spelling::*;
use crate::catalog::names::each;
use crate::catalog::spec::*;
use crate::catalog::wording::slug;

pub const SOURCE: Source = Source {
    key: "committees",
    singular: "committee",
    shape: Shape::Registry,
    about: "Committees and subcommittees of Congress, with members, hearings, bills and reports",
    ids: Ids {
        form: "committee code: four letters, two digits more for a subcommittee",
        example: "HSWM",
        bare_prefix: None,
        spellings: &[
            Spelling::canonical(&[r"(?P<code>[hsj][a-z]{3}(?:\d{2})?)"], read_id),
            Spelling::new(
                Precedence::CongressGovProfile,
                &[CONGRESS_GOV, r"/committee/[a-z0-9-]+/(?P<code>[hsj][a-z]{3}\d{2})(?:/.*)?"],
                read_id,
            ),
        ],
    },
    fields: &[
        Field::keyword("chamber", "house, senate or joint").group(),
        Field::keyword("type", "committee or subcommittee").group(),
        Field::id("parent_id", "committees", "Parent, for a subcommittee").group(),
        Field::flag("current", "Whether it exists now").group(),
        Field::int("member_count", "Current members").sum(),
        Field::text("jurisdiction", "Its jurisdiction"),
        Field::keywords("former_names", "Earlier names"),
        Field::keyword("phone", "Telephone"),
        Field::keyword("website", "Official website"),
    ],
    title: "name",
    main_date: None,
    order: &[("current", true)],
    sub_resources: &[
        SubResource::rows("members", MEMBERS, "Members by side and rank (`congress`)"),
        SubResource::records("subcommittees", "committees", "parent_id", "Its subcommittees"),
        SubResource::records("hearings", "hearings", "committee", "Its hearings and markups"),
        SubResource::records("bills", "bills", "committees", "Bills referred to it"),
        SubResource::records("reports", "committee-reports", "committee", "Reports it filed"),
    ],
    naming: Some(Naming {
        exact_kinds: &["acronym"],
        hints: HintFields { chamber: Some("chamber"), ..HintFields::NONE },
        ..Naming::new(names)
    }),
    dossier: Some(DossierSpec {
        sections: &["members", "subcommittees", "hearings", "bills", "reports"],
        takes_congress: true,
    }),
    url: |f| {
        let id = text(f, "id").to_lowercase();
        let code = if id.len() == 4 { format!("{id}00") } else { id };
        let name = slug(text(f, "name").trim_start_matches("House ").trim_start_matches("Senate "));
        format!("https://www.congress.gov/committee/{}-{name}/{code}", text(f, "chamber"))
    },
    cite: |f| format!("{}, U.S. Congress (committee {})", text(f, "name"), text(f, "id")),
    publisher: "unitedstates/congress-legislators and Congress.gov",
    licence: "CC0 1.0",
};

const MEMBERS: &[Field] = &[
    Field::id("bioguide", "legislators", "Member's bioguide id"),
    Field::keyword("name", "Member's name"),
    PARTY,
    STATE,
    Field::int("congress", "Congress"),
    Field::keyword("side", "majority or minority"),
    Field::int("rank", "Rank within the majority or minority"),
    Field::keyword("role", "Chair, Ranking Member …"),
];

/// congress.gov writes "hswm00" for a full committee.
fn read_id(captures: &Captures) -> Option<Reading> {
    let code = upper(captures, "code")?;
    Some(Reading::Complete(code.strip_suffix("00").map_or(code.clone(), str::to_string)))
}

fn names(record: &Fields, add: &mut AddName) {
    let name = text(record, "name");
    let short = short_name(name);
    add("name", name);
    add("name", short);
    each(record, "former_names", |former| add("former_name", former));
    if let Some(acronym) = acronym(short) {
        add("acronym", &acronym);
    }
}

/// "House Committee on Ways and Means" is "Ways and Means".
fn short_name(name: &str) -> &str {
    let openers = [
        "House Permanent Select Committee on ",
        "Permanent Select Committee on ",
        "House Select Committee on ",
        "Senate Select Committee on ",
        "Senate Special Committee on ",
        "House Committee on ",
        "Senate Committee on ",
        "Joint Committee on ",
        "Committee on ",
        "Select Committee on ",
        "Special Committee on ",
    ];
    let found = openers.iter().find_map(|opener| name.strip_prefix(opener)).unwrap_or(name);
    found.strip_prefix("the ").unwrap_or(found)
}

/// "Health, Education, Labor, and Pensions" is HELP. Nobody uses an acronym of two words.
fn acronym(name: &str) -> Option<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    let content_words: Vec<&str> = words
        .filter(|w| !["and", "of", "the", "on", "for", "in"].contains(&w.to_lowercase().as_str()))
        .collect();
    let initials = || content_words.iter().filter_map(|w| w.chars().next()).collect::<String>();
    (content_words.len() >= 3).then(|| initials().to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::names::names_of;

    #[test]
    fn a_committee_has_a_short_name_and_an_acronym() {
        let name = "Senate Committee on Health, Education, Labor, and Pensions";
        let record = serde_json::json!({ "name": name });
        let names = names_of(&SOURCE, record.as_object().unwrap());
        assert!(names.contains(&("name", "Health, Education, Labor, and Pensions".into())));
        assert!(names.contains(&("acronym", "HELP".into())));
        assert_eq!(acronym("Ways and Means"), None);
    }
}
