//! What a GAO report is about, from GAO's own words: the subject that heads its title, and the
//! agency that its recommendations are addressed to.

use std::sync::LazyLock;

use regex::Regex;

use crate::formats::xml::fold;
use crate::patterns::pattern;

/// GAO's titles are "Subject: Finding": "Child Welfare: HHS Should …" -> "Child Welfare".
pub fn topic(title: &str) -> Option<&str> {
    let (subject, finding) = title.split_once(": ")?;
    let subject = subject.trim();
    (!finding.trim().is_empty() && (3..=LONGEST_SUBJECT).contains(&subject.len()))
        .then_some(subject)
}

/// The longest subject seen in GAO's titles has 60 characters.
const LONGEST_SUBJECT: usize = 100;

/// The agency whose head is addressed in every numbered recommendation: "The Secretary of
/// Transportation should … (Recommendation 1)". `None` for several agencies, and for officials
/// whose agency their title does not name.
pub fn agency(text: &str) -> Option<String> {
    static NUMBERED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\(Recommendation\s+\d{1,3}\)"));
    static ADDRESSED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\bThe ([A-Z][^.()]{3,90}?) should\b"));
    if !NUMBERED.is_match(text) {
        return None;
    }
    let text = fold(text);
    let (mut from, mut found) = (0, None);
    for number in NUMBERED.find_iter(&text) {
        let recommendation = last_chars(&text[from..number.start()], LONGEST_RECOMMENDATION);
        from = number.end();
        // A table or a summary may repeat the number without its sentence.
        let Some(addressed) = ADDRESSED.captures_iter(recommendation).last() else { continue };
        let agency = agency_of(&addressed[1], &text)?;
        if *found.get_or_insert_with(|| agency.clone()) != agency {
            return None;
        }
    }
    found
}

const LONGEST_RECOMMENDATION: usize = 900;

fn last_chars(text: &str, count: usize) -> &str {
    let start = text.char_indices().rev().nth(count.saturating_sub(1)).map_or(0, |(at, _)| at);
    &text[start..]
}

/// The agency of an official: "Secretary of Energy", "Director of OMB", "Commissioner of Internal
/// Revenue".
fn agency_of(official: &str, text: &str) -> Option<String> {
    let official = official.strip_prefix("Acting ").unwrap_or(official);
    match official {
        "Attorney General" => return Some("Department of Justice".into()),
        "Commissioner of Internal Revenue" => return Some("Internal Revenue Service".into()),
        "Postmaster General" => return Some("U.S. Postal Service".into()),
        _ => {}
    }
    let (head, of) = official.split_once(" of ")?;
    let named = of.strip_prefix("the ").unwrap_or(of);
    if named.bytes().all(|b| b.is_ascii_uppercase()) {
        return expanded(named, text);
    }
    const BODIES: [&str; 8] = [
        "Administration",
        "Agency",
        "Board",
        "Bureau",
        "Commission",
        "Department",
        "Office",
        "Service",
    ];
    match head {
        "Secretary" => Some(format!("Department of {of}")),
        "Administrator" | "Commissioner" | "Director" | "Chair" | "Chairman" => {
            BODIES.iter().any(|body| named.contains(body)).then(|| named.to_string())
        }
        _ => None,
    }
}

/// The name that the text itself gives for an abbreviation: "Office of Management and Budget
/// (OMB)".
fn expanded(abbreviation: &str, text: &str) -> Option<String> {
    let (before, _) = text.split_once(&format!(" ({abbreviation})"))?;
    let words: Vec<&str> = last_chars(before, 120).split(' ').collect();
    let initials = |words: &[&str]| -> String {
        words.iter().filter_map(|w| w.chars().next()).filter(char::is_ascii_uppercase).collect()
    };
    (0..words.len())
        .rev()
        .map(|start| &words[start..])
        .find(|name| {
            name[0].starts_with(|c: char| c.is_ascii_uppercase()) && initials(name) == abbreviation
        })
        .map(|name| name.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_begins_with_its_subject() {
        assert_eq!(topic("Child Welfare: HHS Should Clarify"), Some("Child Welfare"));
        assert_eq!(topic("Breastfeeding"), None);
        assert_eq!(topic("A: B"), None);
    }

    #[test]
    fn recommendations_name_an_agency() {
        let says = |official: &str| {
            agency(&format!(
                "The Office of Management and Budget (OMB) knows. The {official} should\n drink tea. \
                 (Recommendation 1)"
            ))
        };
        assert_eq!(says("Secretary of Energy").as_deref(), Some("Department of Energy"));
        assert_eq!(
            says("Secretary of the Interior").as_deref(),
            Some("Department of the Interior")
        );
        assert_eq!(says("Director of OMB").as_deref(), Some("Office of Management and Budget"));
        assert_eq!(
            says("Director of the Office of Personnel Management").as_deref(),
            Some("Office of Personnel Management")
        );
        assert_eq!(
            says("Commissioner of Internal Revenue").as_deref(),
            Some("Internal Revenue Service")
        );
        assert_eq!(says("Assistant Secretary for Tea"), None);
        assert_eq!(says("Director of FDA"), None, "not said what it stands for");
    }

    #[test]
    fn two_agencies_are_none() {
        let one = "The Secretary of State should go. (Recommendation 1) ";
        let both = format!("{one}The Secretary of Energy should go. (Recommendation 2)");
        assert_eq!(agency(one).as_deref(), Some("Department of State"));
        assert_eq!(agency(&both), None);
        assert_eq!(
            agency(&format!("{one}The Secretary of State should stay. (Recommendation 2)"))
                .as_deref(),
            Some("Department of State")
        );
    }
}
