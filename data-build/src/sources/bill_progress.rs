//! How far a bill got, read off its actions.

use crate::formats::congress::Action;

/// What became of a measure in one chamber.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Passed,
    Failed,
}

/// What a single action says about the measure as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Reported,
    PassedHouse,
    PassedSenate,
    FailedHouse,
    FailedSenate,
    Presented,
    Vetoed,
    BecameLaw,
}

/// The catalog's `status` of a bill of this type, from all of its actions, newest first. The
/// newest vote in a chamber decides there, so a measure that failed and passed upon
/// reconsideration has passed.
pub fn status(kind: &str, actions: &[Action]) -> &'static str {
    let (mut house, mut senate, mut reported, mut presented, mut vetoed) =
        (None, None, false, false, false);
    for step in actions.iter().rev().filter_map(step) {
        match step {
            Step::Reported => reported = true,
            Step::PassedHouse => house = Some(Outcome::Passed),
            Step::PassedSenate => senate = Some(Outcome::Passed),
            Step::FailedHouse => house = Some(Outcome::Failed),
            Step::FailedSenate => senate = Some(Outcome::Failed),
            Step::Presented => presented = true,
            Step::Vetoed => vetoed = true,
            Step::BecameLaw => return "enacted",
        }
    }
    let (passed, failed) = (Some(Outcome::Passed), Some(Outcome::Failed));
    let one_chamber = matches!(kind, "hres" | "sres");
    match (house, senate) {
        _ if vetoed => "vetoed",
        (h, s) if one_chamber && (h == passed || s == passed) => "agreed_to",
        (h, s) if h == passed && s == passed => both(kind),
        _ if presented => "passed_both",
        (h, s) if h == failed || s == failed => "failed",
        (h, _) if h == passed => "passed_house",
        (_, s) if s == passed => "passed_senate",
        _ if reported => "reported",
        _ => "introduced",
    }
}

/// Concurrent resolutions are done when both chambers agree; the rest goes to the President or the
/// States.
fn both(kind: &str) -> &'static str {
    if matches!(kind, "hconres" | "sconres") { "agreed_to" } else { "passed_both" }
}

/// The day of the action by which it became law.
pub fn enacted_date(actions: &[Action]) -> Option<&str> {
    actions.iter().find(|a| step(a) == Some(Step::BecameLaw)).map(|a| a.date.as_str())
}

/// Reads one action: by the Library's code where it has one, by its wording otherwise. Only the
/// beginning counts: "Motion to table … agreed to in Senate" passes nothing. A code without a text
/// is a slip of the file.
fn step(action: &Action) -> Option<Step> {
    if action.text.is_empty() {
        return None;
    }
    by_code(&action.code).or_else(|| by_text(&action.text.to_ascii_lowercase()))
}

fn by_code(code: &str) -> Option<Step> {
    Some(match code {
        "5000" | "1010" | "14000" | "10010" | "H12200" => Step::Reported,
        "8000" => Step::PassedHouse,
        "17000" => Step::PassedSenate,
        "9000" => Step::FailedHouse,
        "18000" => Step::FailedSenate,
        "28000" | "E20000" => Step::Presented,
        "31000" => Step::Vetoed,
        "36000" | "41000" | "E40000" => Step::BecameLaw,
        _ => return None,
    })
}

fn by_text(text: &str) -> Option<Step> {
    const WORDINGS: [(&str, Step); 20] = [
        ("became public law", Step::BecameLaw),
        ("became private law", Step::BecameLaw),
        ("vetoed by president", Step::Vetoed),
        ("pocket vetoed by president", Step::Vetoed),
        ("presented to president", Step::Presented),
        ("passed/agreed to in house", Step::PassedHouse),
        ("passed house", Step::PassedHouse),
        ("passed/agreed to in senate", Step::PassedSenate),
        ("passed senate", Step::PassedSenate),
        ("resolution agreed to in senate", Step::PassedSenate),
        ("submitted in the senate, considered, and agreed to", Step::PassedSenate),
        (
            "introduced in the senate, read twice, considered, read the third time, and passed",
            Step::PassedSenate,
        ),
        ("failed of passage/not agreed to in house", Step::FailedHouse),
        ("failed of passage in house over", Step::Vetoed),
        ("failed of passage in senate over", Step::Vetoed),
        ("failed of passage/not agreed to in senate", Step::FailedSenate),
        ("failed of passage in senate", Step::FailedSenate),
        ("reported by ", Step::Reported),
        ("reported (amended) by ", Step::Reported),
        ("reported adversely ", Step::Reported),
    ];
    let by_committee = text.contains("committee on ")
        && [". reported by ", ". original measure reported ", " reported an original measure"]
            .iter()
            .any(|w| text.contains(w));
    if by_committee {
        return Some(Step::Reported);
    }
    WORDINGS.iter().find(|(start, _)| text.starts_with(start)).map(|(_, step)| *step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(code: &str, text: &str) -> Action {
        Action {
            date: "2025-01-03".into(),
            code: code.into(),
            text: text.into(),
            ..Action::default()
        }
    }

    #[test]
    fn the_stages_of_a_bill() {
        let (reported, house, senate) =
            (done("5000", "R."), done("8000", "P."), done("17000", "P."));
        assert_eq!(status("hr", &[]), "introduced");
        assert_eq!(status("hr", &[done("5000", "")]), "introduced");
        assert_eq!(
            status("hr", &[done("", "Ordered to be Reported by Voice Vote.")]),
            "introduced"
        );
        assert_eq!(status("hr", std::slice::from_ref(&reported)), "reported");
        assert_eq!(status("hr", &[house.clone(), reported]), "passed_house");
        assert_eq!(status("s", std::slice::from_ref(&senate)), "passed_senate");
        assert_eq!(status("hr", &[senate.clone(), house.clone()]), "passed_both");
        assert_eq!(status("hconres", &[senate.clone(), house.clone()]), "agreed_to");
        assert_eq!(status("hconres", std::slice::from_ref(&house)), "passed_house");
        assert_eq!(status("sres", std::slice::from_ref(&senate)), "agreed_to");
        assert_eq!(status("hr", &[done("31000", "V."), senate, house]), "vetoed");
    }

    #[test]
    fn the_newest_vote_decides() {
        let (failed, passed) = (done("9000", "F."), done("8000", "P."));
        assert_eq!(status("hr", &[failed.clone(), passed.clone()]), "failed");
        assert_eq!(status("hr", &[passed, failed]), "passed_house");
    }

    #[test]
    fn wordings_without_codes() {
        let agreed =
            done("", "Submitted in the Senate, considered, and agreed to without amendment.");
        assert_eq!(status("sres", &[agreed]), "agreed_to");
        assert_eq!(
            status("s", &[done("", "Motion to table agreed to in Senate by Yea-Nay Vote.")]),
            "introduced"
        );
        assert_eq!(status("s", &[done("", "Became Public Law No: 119-1.")]), "enacted");
    }

    #[test]
    fn a_veto_that_was_overridden_is_a_law() {
        let actions =
            [done("E40000", "Became Public Law No: 116-9."), done("31000", "Vetoed by President.")];
        assert_eq!(status("hr", &actions), "enacted");
        assert_eq!(enacted_date(&actions), Some("2025-01-03"));
    }
}
