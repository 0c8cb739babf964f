//! Maps committee names to codes. It has only unambiguous names; others have no code.

/// Chamber, code, and names without "Committee on": current, former and abbreviated.
const COMMITTEES: &[(&str, &str, &[&str])] = &[
    ("house", "HSAG", &["agriculture"]),
    ("house", "HSAP", &["appropriations"]),
    ("house", "HSAS", &["armed services"]),
    ("house", "HSBA", &["financial services", "financial service"]),
    ("house", "HSBU", &["budget"]),
    (
        "house",
        "HSED",
        &["education and workforce", "education and the workforce", "education and labor"],
    ),
    ("house", "HSFA", &["foreign affairs"]),
    (
        "house",
        "HSGO",
        &[
            "oversight and government reform",
            "oversight and accountability",
            "oversight and reform",
            "government reform",
            "ovrsight and govt reform",
        ],
    ),
    ("house", "HSHA", &["administration", "house administration"]),
    ("house", "HSHM", &["homeland security"]),
    ("house", "HSIF", &["energy and commerce"]),
    ("house", "HSII", &["natural resources"]),
    ("house", "HLIG", &["intelligence"]),
    ("house", "HSJU", &["judiciary"]),
    ("house", "HSPW", &["transportation and infrastructure", "transportation infrastructure"]),
    ("house", "HSRU", &["rules"]),
    ("house", "HSSM", &["small business"]),
    ("house", "HSSO", &["ethics"]),
    (
        "house",
        "HSSY",
        &["science space and technology", "science space and tech", "science spaceandtech"],
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
    ("senate", "SSAF", &["agriculture nutrition and forestry"]),
    ("senate", "SSAP", &["appropriations"]),
    ("senate", "SSAS", &["armed services"]),
    ("senate", "SSBK", &["banking housing and urban affairs"]),
    ("senate", "SSBU", &["budget"]),
    ("senate", "SSCM", &["commerce science and transportation"]),
    ("senate", "SSEG", &["energy and natural resources"]),
    ("senate", "SSEV", &["environment and public works"]),
    ("senate", "SSFI", &["finance"]),
    ("senate", "SSFR", &["foreign relations"]),
    ("senate", "SSGA", &["homeland security and governmental affairs"]),
    ("senate", "SSHR", &["health education labor and pensions"]),
    ("senate", "SSJU", &["judiciary"]),
    ("senate", "SSRA", &["rules and administration"]),
    ("senate", "SSSB", &["small business and entrepreneurship"]),
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

/// "House Committee on the Budget (Full)" -> "budget".
fn core(name: &str) -> String {
    let mut text = name.to_ascii_lowercase().replace('&', " and ").replace(['’', '\''], "");
    for end in ["subcommittee", "(", ":"] {
        if let Some(at) = text.find(end) {
            text.truncate(at);
        }
    }
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let mut core = words.join(" ");
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
    }
}
