//! What a registry's record is called: every name it has, and which kind of name each is. The index of names is made from
//! this at build time.

use serde_json::Value;

use super::spec::{Fields, Source, text};

/// The names of a record, each with what a match on it is called.
pub fn names_of(source: &Source, record: &Fields) -> Vec<(&'static str, String)> {
    let mut names: Vec<(&'static str, String)> = Vec::new();
    let mut add = |kind: &'static str, name: &str| {
        let name = name.trim();
        if !name.is_empty() && !names.iter().any(|(_, known)| known.eq_ignore_ascii_case(name)) {
            names.push((kind, name.to_string()));
        }
    };
    // A filing's title only puts together the names that it has anyway.
    if source.key != "lda-filings" {
        add("name", text(record, source.title));
    }
    match source.key {
        "legislators" => {
            let (first, last) = (text(record, "first"), text(record, "last"));
            add("name", text(record, "official_name"));
            add("name", &format!("{first} {last}"));
            each(record, "nicknames", |nickname| add("nickname", &format!("{nickname} {last}")));
            add("lis_id", text(record, "lis_id"));
        }
        "committees" => {
            let name = text(record, "name");
            let short = short_committee(name);
            add("name", short);
            each(record, "former_names", |former| add("former_name", former));
            if let Some(acronym) = acronym(short) {
                add("acronym", &acronym);
            }
        }
        "staff-directories" => add("office", text(record, "office")),
        "lda-filings" => {
            add("registrant", text(record, "registrant"));
            add("client", text(record, "client"));
            each(record, "lobbyists", |lobbyist| add("lobbyist", lobbyist));
        }
        "roll-call-votes" => add("bill", text(record, "bill_id")),
        "hearings" => {
            add("committee", text(record, "committee_name"));
            each(record, "witnesses", |witness| add("witness", witness));
        }
        "regulations-dot-gov-dockets" => {
            add("docket_id", text(record, "docket_id"));
            add("rin", text(record, "rin"));
        }
        "nominations" => {
            add("nominee", text(record, "nominee"));
            add("position", text(record, "position"));
        }
        _ => {}
    }
    names
}

fn each(record: &Fields, field: &str, mut f: impl FnMut(&str)) {
    record.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).for_each(&mut f);
}

/// "House Committee on Ways and Means" is "Ways and Means".
fn short_committee(name: &str) -> &str {
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

/// "Health, Education, Labor, and Pensions" is HELP; names of two words have no acronym that anybody uses.
fn acronym(name: &str) -> Option<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    let telling: Vec<&str> =
        words.filter(|w| !["and", "of", "the", "on", "for", "in"].contains(&w.to_lowercase().as_str())).collect();
    (telling.len() >= 3).then(|| telling.iter().filter_map(|w| w.chars().next()).collect::<String>().to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_committee_has_a_short_name_and_an_acronym() {
        let source = crate::catalog::source("committees").unwrap();
        let record = serde_json::json!({ "name": "Senate Committee on Health, Education, Labor, and Pensions" });
        let names = names_of(source, record.as_object().unwrap());
        assert!(names.contains(&("name", "Health, Education, Labor, and Pensions".into())));
        assert!(names.contains(&("acronym", "HELP".into())));
        assert_eq!(acronym("Ways and Means"), None);
    }
}
