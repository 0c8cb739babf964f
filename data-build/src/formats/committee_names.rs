//! Maps names of committees to their codes: current, former and abbreviated names, as printed in
//! titles, actions and running heads. A name that two committees of a chamber bore has no code.

/// Chamber, code, and names without "Committee on": current, former and abbreviated.
const COMMITTEES: &[(&str, &str, &[&str])] = &[
    ("house", "HSAG", &["agriculture"]),
    ("house", "HSAP", &["appropriations"]),
    ("house", "HSAS", &["armed services", "national security"]),
    (
        "house",
        "HSBA",
        &[
            "financial services",
            "financial service",
            "banking and financial services",
            "banking finance and urban affairs",
            "banking currency and housing",
            "banking and currency",
        ],
    ),
    ("house", "HSBU", &["budget"]),
    (
        "house",
        "HSED",
        &[
            "education and workforce",
            "education and the workforce",
            "education and labor",
            "economic and educational opportunities",
        ],
    ),
    ("house", "HSFA", &["foreign affairs", "international relations"]),
    (
        "house",
        "HSGO",
        &[
            "oversight and government reform",
            "oversight and accountability",
            "oversight and reform",
            "government reform",
            "ovrsight and govt reform",
            "government reform and oversight",
            "government operations",
        ],
    ),
    ("house", "HSHA", &["administration", "house administration", "house oversight"]),
    ("house", "HSHM", &["homeland security"]),
    ("house", "HSIF", &["energy and commerce", "commerce", "interstate and foreign commerce"]),
    ("house", "HSII", &["natural resources", "resources", "interior and insular affairs"]),
    ("house", "HLIG", &["intelligence"]),
    ("house", "HSJU", &["judiciary"]),
    (
        "house",
        "HSPW",
        &[
            "transportation and infrastructure",
            "transportation infrastructure",
            "public works and transportation",
            "public works",
        ],
    ),
    ("house", "HSRU", &["rules"]),
    ("house", "HSSM", &["small business"]),
    ("house", "HSSO", &["ethics", "standards of official conduct"]),
    (
        "house",
        "HSSY",
        &[
            "science space and technology",
            "science space and tech",
            "science spaceandtech",
            "science",
            "science and technology",
            "science and astronautics",
        ],
    ),
    ("house", "HSVR", &["veterans affairs"]),
    ("house", "HSWM", &["ways and means"]),
    ("house", "HSCN", &["climate crisis"]),
    ("house", "HSMH", &["modernization of congress"]),
    (
        "house",
        "HSZS",
        &[
            "strategic competition between the united states and the chinese communist party",
            "competition us and china",
        ],
    ),
    ("senate", "SSAF", &["agriculture nutrition and forestry", "agriculture and forestry"]),
    ("senate", "SSAP", &["appropriations"]),
    ("senate", "SSAS", &["armed services"]),
    ("senate", "SSBK", &["banking housing and urban affairs"]),
    ("senate", "SSBU", &["budget"]),
    ("senate", "SSCM", &["commerce science and transportation", "commerce"]),
    ("senate", "SSEG", &["energy and natural resources", "interior and insular affairs"]),
    ("senate", "SSEV", &["environment and public works", "public works"]),
    ("senate", "SSFI", &["finance"]),
    ("senate", "SSFR", &["foreign relations"]),
    (
        "senate",
        "SSGA",
        &[
            "homeland security and governmental affairs",
            "governmental affairs",
            "government operations",
        ],
    ),
    (
        "senate",
        "SSHR",
        &[
            "health education labor and pensions",
            "labor and human resources",
            "labor and public welfare",
        ],
    ),
    ("senate", "SSJU", &["judiciary"]),
    ("senate", "SSRA", &["rules and administration"]),
    ("senate", "SSSB", &["small business and entrepreneurship", "small business"]),
    ("senate", "SSVA", &["veterans affairs"]),
    ("senate", "SLIA", &["indian affairs"]),
    ("senate", "SLET", &["ethics"]),
    ("senate", "SLIN", &["intelligence"]),
    ("senate", "SPAG", &["aging"]),
    (
        "senate",
        "SCNC",
        &[
            "caucus on international narcotics control",
            "united states senate caucus on international narcotics control",
        ],
    ),
    ("joint", "JSEC", &["joint economic"]),
    ("joint", "JSTX", &["joint taxation", "joint commmittee on taxation"]),
    ("joint", "JSPR", &["joint printing"]),
    ("joint", "JSLC", &["joint library", "joint committee of congress on library"]),
    ("joint", "JCSE", &["commission on security and cooperation in europe"]),
];

/// The code of a committee by its name; for a subcommittee, the code of its parent.
pub fn code(chamber: &str, name: &str) -> Option<&'static str> {
    let core = core(name);
    let found =
        |chamber: &str| COMMITTEES.iter().find(|c| c.0 == chamber && c.2.contains(&core.as_str()));
    found(chamber).or_else(|| found("joint")).map(|c| c.1)
}

/// The code of the longest name that a text starts with: "Rules reported …" -> HSRU. `text` is what
/// follows "Committee on ".
pub fn code_at_start(chamber: &str, text: &str) -> Option<&'static str> {
    let start = text.char_indices().nth(LONGEST_NAME).map_or(text, |(end, _)| &text[..end]);
    let words = words(start);
    let words = words.strip_prefix("the ").unwrap_or(&words);
    let starts_with = |name: &&&str| {
        words.strip_prefix(**name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    COMMITTEES
        .iter()
        .filter(|(of, ..)| *of == chamber)
        .filter_map(|(_, code, names)| {
            Some((names.iter().filter(starts_with).map(|n| n.len()).max()?, *code))
        })
        .max_by_key(|(length, _)| *length)
        .map(|(_, code)| code)
}

/// Characters in which the longest name fits, with its punctuation.
const LONGEST_NAME: usize = 120;

/// Lower-case words with single spaces, without punctuation.
fn words(text: &str) -> String {
    let text = text.to_lowercase().replace('&', " and ").replace(['’', '\''], "");
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// "House Committee on the Budget (Full)" -> "budget".
fn core(name: &str) -> String {
    let name = name.to_lowercase();
    let end = ["subcommittee", "(", ":"].iter().filter_map(|end| name.find(end)).min();
    let mut core = words(&name[..end.unwrap_or(name.len())]);
    for prefix in ["house ", "senate "] {
        core = core.strip_prefix(prefix).unwrap_or(&core).to_string();
    }
    for prefix in ["permanent ", "select ", "special ", "committee ", "comm ", "on ", "the "] {
        core = core.strip_prefix(prefix).unwrap_or(&core).to_string();
    }
    let core = core.strip_suffix(" committee").unwrap_or(&core).trim().to_string();
    core.replace("joint committee on the ", "joint ").replace("joint committee on ", "joint ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_variants_of_a_name_have_one_code() {
        assert_eq!(code("house", "House Committee on the Budget"), Some("HSBU"));
        assert_eq!(code("house", "COMM ON OVRSIGHT & GOVT REFORM"), Some("HSGO"));
        assert_eq!(code("house", "ARMED SERVICES COMMITTEE"), Some("HSAS"));
        assert_eq!(code("house", "Committee on House Administration"), Some("HSHA"));
        assert_eq!(code("senate", "Senate Judiciary Subcommittee on Tea"), Some("SSJU"));
        assert_eq!(code("senate", "Senate Intelligence (Select)"), Some("SLIN"));
        assert_eq!(
            code("senate", "Committee on Health, Education, Labor, and Pensions"),
            Some("SSHR")
        );
        assert_eq!(code("house", "Joint Committee on Taxation"), Some("JSTX"));
        assert_eq!(code("house", "Committee on Tea"), None);
        assert_eq!(
            code("senate", "Committee on Rules"),
            None,
            "the Senate's is Rules and Administration"
        );
        assert_eq!(code("house", "the Judiciary"), Some("HSJU"));
        assert_eq!(code("senate", "Veterans’ Affairs"), Some("SSVA"));
    }

    #[test]
    fn former_names_belong_to_the_committee_that_exists_now() {
        assert_eq!(code("house", "Committee on Standards of Official Conduct"), Some("HSSO"));
        assert_eq!(code("house", "Committee on Oversight and Accountability"), Some("HSGO"));
        assert_eq!(code("senate", "Committee on Governmental Affairs"), Some("SSGA"));
    }

    #[test]
    fn the_longest_name_at_the_start_of_a_text() {
        let at_start = code_at_start;
        assert_eq!(at_start("house", "Rules reported an original measure"), Some("HSRU"));
        assert_eq!(at_start("senate", "Rules and Administration. Reported"), Some("SSRA"));
        assert_eq!(at_start("house", "the Judiciary. H.R. 1"), Some("HSJU"));
        assert_eq!(
            at_start("senate", "Commerce, Science, and Transportation, without"),
            Some("SSCM")
        );
        assert_eq!(at_start("house", "Rulesmaking"), None);
        assert_eq!(at_start("senate", "Ways and Means"), None);
    }

    /// One name, one committee of its chamber.
    #[test]
    fn no_name_is_listed_twice() {
        let mut names: Vec<_> = COMMITTEES
            .iter()
            .flat_map(|(of, _, names)| names.iter().map(move |n| (of, n)))
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(names.iter().all(|(_, name)| words(name) == **name), "as `words` makes them");
    }
}
