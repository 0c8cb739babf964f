//! Names of agencies and committees as printed in running heads.

/// Words that are not capitalized inside a name.
const LOWERCASE_WORDS: &[&str] =
    &["a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "under", "with"];

/// "DEPARTMENT OF THE INTERIOR" -> "Department of the Interior". A name in mixed case is kept.
pub fn title_case(printed: &str) -> String {
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    if printed.chars().any(char::is_lowercase) {
        return printed;
    }
    let words = printed.split(' ').enumerate().map(|(i, word)| {
        let lower = word.to_lowercase();
        if word.contains('.') {
            // "U.S." keeps its capitals.
            word.to_string()
        } else if i > 0 && LOWERCASE_WORDS.contains(&lower.as_str()) {
            lower
        } else {
            capitalize(&lower)
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn capitalize(lower: &str) -> String {
    let mut out = String::with_capacity(lower.len());
    let mut start = true;
    for c in lower.chars() {
        if start {
            out.extend(c.to_uppercase())
        } else {
            out.push(c)
        }
        start = "-(/—".contains(c);
    }
    out
}

const HOUSE: &[(&str, &str)] = &[
    ("agriculture", "HSAG"),
    ("appropriations", "HSAP"),
    ("armed services", "HSAS"),
    ("budget", "HSBU"),
    ("education and labor", "HSED"),
    ("education and the workforce", "HSED"),
    ("education and workforce", "HSED"),
    ("energy and commerce", "HSIF"),
    ("ethics", "HSSO"),
    ("financial services", "HSBA"),
    ("foreign affairs", "HSFA"),
    ("homeland security", "HSHM"),
    ("house administration", "HSHA"),
    ("intelligence", "HLIG"),
    ("judiciary", "HSJU"),
    ("natural resources", "HSII"),
    ("oversight and accountability", "HSGO"),
    ("oversight and government reform", "HSGO"),
    ("oversight and reform", "HSGO"),
    ("rules", "HSRU"),
    ("science, space, and technology", "HSSY"),
    ("small business", "HSSM"),
    ("transportation and infrastructure", "HSPW"),
    ("veterans' affairs", "HSVR"),
    ("ways and means", "HSWM"),
];

const SENATE: &[(&str, &str)] = &[
    ("agriculture, nutrition, and forestry", "SSAF"),
    ("appropriations", "SSAP"),
    ("armed services", "SSAS"),
    ("banking, housing, and urban affairs", "SSBK"),
    ("budget", "SSBU"),
    ("commerce, science, and transportation", "SSCM"),
    ("energy and natural resources", "SSEG"),
    ("environment and public works", "SSEV"),
    ("ethics", "SLET"),
    ("finance", "SSFI"),
    ("foreign relations", "SSFR"),
    ("health, education, labor, and pensions", "SSHR"),
    ("homeland security and governmental affairs", "SSGA"),
    ("indian affairs", "SLIA"),
    ("intelligence", "SLIN"),
    ("judiciary", "SSJU"),
    ("rules and administration", "SSRA"),
    ("small business and entrepreneurship", "SSSB"),
    ("veterans' affairs", "SSVA"),
];

/// The code of a committee by its full name without "Committee on".
pub fn committee(chamber: &str, name: &str) -> Option<&'static str> {
    let list = if chamber == "house" { HOUSE } else { SENATE };
    let name =
        name.split_whitespace().collect::<Vec<_>>().join(" ").replace('’', "'").to_lowercase();
    let name = name.strip_prefix("the ").unwrap_or(&name);
    list.iter().find(|(known, _)| *known == name).map(|(_, code)| *code)
}

/// The code of the longest committee name that a text starts with: "Rules reported …" -> HSRU.
pub fn committee_at_start(chamber: &str, text: &str) -> Option<&'static str> {
    let list = if chamber == "house" { HOUSE } else { SENATE };
    let text =
        text.split_whitespace().collect::<Vec<_>>().join(" ").replace('’', "'").to_lowercase();
    let text = text.strip_prefix("the ").unwrap_or(&text);
    let starts_with = |name: &str| {
        text.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    };
    list.iter()
        .filter(|(name, _)| starts_with(name))
        .max_by_key(|(name, _)| name.len())
        .map(|(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_capitals_become_title_case() {
        assert_eq!(title_case("DEPARTMENT OF THE INTERIOR"), "Department of the Interior");
        assert_eq!(title_case("Coast Guard"), "Coast Guard");
        assert_eq!(title_case("NON-PROFIT  OFFICE"), "Non-Profit Office");
        assert_eq!(title_case("OFFICE OF U.S. BOATS"), "Office of U.S. Boats");
    }

    #[test]
    fn committees_by_chamber() {
        assert_eq!(committee("house", "the Judiciary"), Some("HSJU"));
        assert_eq!(committee("senate", "Veterans’ Affairs"), Some("SSVA"));
        assert_eq!(committee("senate", "Ways and Means"), None);
        assert_eq!(committee_at_start("house", "Rules reported an original measure"), Some("HSRU"));
        assert_eq!(
            committee_at_start("senate", "Rules and Administration. Reported"),
            Some("SSRA")
        );
        assert_eq!(committee_at_start("house", "Rulesmaking"), None);
    }
}
