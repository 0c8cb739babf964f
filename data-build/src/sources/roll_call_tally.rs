//! How a roll call ended: each member's vote, and the totals that are stated or follow from them.

use serde_json::{Value, json};

use crate::formats::congress;
use crate::formats::documents::non_empty;

/// Votes by kind; absent where neither stated nor countable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub yea: Option<i64>,
    pub nay: Option<i64>,
    pub present: Option<i64>,
    pub not_voting: Option<i64>,
}

/// How one member voted, as the file has it.
#[derive(Default)]
pub struct Position {
    /// Bioguide id in the House, LIS id in the Senate.
    pub id: String,
    pub name: String,
    pub party: String,
    pub state: String,
    pub cast: String,
    /// LIS id of the absent senator with whom this one was paired.
    pub paired_with: String,
}

impl Position {
    /// "Aye" and "Yea" are one, "No" and "Nay" too; in an election a candidate's name is kept.
    fn position(&self) -> String {
        let cast = self.cast.trim();
        match cast.to_ascii_lowercase().as_str() {
            "yea" | "aye" | "yes" => "yea".into(),
            "nay" | "no" => "nay".into(),
            "guilty" => "guilty".into(),
            "not guilty" => "not_guilty".into(),
            "not voting" | "absent" => "not_voting".into(),
            lower if lower.starts_with("present") => "present".into(),
            _ => cast.to_string(),
        }
    }

    /// The Clerk writes XX for every territory; some names say which: "González-Colón (PR)".
    fn state(&self) -> &str {
        let in_name = || {
            let (_, state) = self.name.rsplit_once('(')?;
            let state = state.strip_suffix(')')?;
            (state.len() == 2 && state.bytes().all(|b| b.is_ascii_uppercase())).then_some(state)
        };
        if self.state == "XX" { in_name().unwrap_or_default() } else { &self.state }
    }

    fn row(&self) -> Value {
        let id = self.id.trim();
        let bioguide = congress::bioguide(id);
        let lis = if bioguide.is_none() { non_empty(id) } else { Value::Null };
        json!({
            "bioguide": bioguide,
            "lis_id": lis,
            "name": non_empty(&self.name),
            "party": non_empty(&self.party),
            "state": non_empty(self.state()),
            "position": non_empty(&self.position()),
            "paired_lis_id": non_empty(self.paired_with.trim()),
        })
    }
}

/// Everything a file says about how the vote ended.
#[derive(Default)]
pub struct Tally {
    pub positions: Vec<Position>,
    pub totals: Option<Totals>,
    /// Totals by name or code of a party.
    pub parties: Vec<(String, Totals)>,
    /// Names and votes in an election. "Present" and "Not Voting" may be among them.
    pub candidates: Vec<(String, i64)>,
}

impl Tally {
    /// Stated totals stand; what is not stated is counted from the members' votes.
    pub fn totals(&self) -> Totals {
        let stated = |name: &str| {
            self.candidates.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| *v)
        };
        if !self.candidates.is_empty() {
            let (present, not_voting) = (stated("Present"), stated("Not Voting"));
            return Totals { present, not_voting, ..Totals::default() };
        }
        self.totals.unwrap_or_else(|| self.counted(|_| true))
    }

    /// Yeas and nays of Democrats, Republicans and all others: as stated, or counted if the
    /// members' votes add up to the totals.
    pub fn parties(&self) -> Option<[Totals; 3]> {
        const GROUPS: [usize; 3] = [0, 1, 2];
        if !self.parties.is_empty() {
            return Some(GROUPS.map(|group| {
                let of_group = self.parties.iter().filter(|(party, _)| party_group(party) == group);
                of_group.fold(NONE, |sum, (_, counts)| Totals {
                    yea: sum.yea.zip(counts.yea).map(|(a, b)| a + b),
                    nay: sum.nay.zip(counts.nay).map(|(a, b)| a + b),
                    ..sum
                })
            }));
        }
        let (all, totals) = (self.counted(|_| true), self.totals());
        let complete = all.yea.is_some() && (all.yea, all.nay) == (totals.yea, totals.nay);
        complete.then(|| {
            GROUPS.map(|group| {
                let counted = self.counted(|p| party_group(&p.party) == group);
                Totals { yea: counted.yea.or(Some(0)), nay: counted.nay.or(Some(0)), ..counted }
            })
        })
    }

    /// Counts the votes of some members. Names were given in an election, which has no yeas.
    fn counted(&self, include: impl Fn(&Position) -> bool) -> Totals {
        let cast: Vec<String> =
            self.positions.iter().filter(|p| include(p)).map(Position::position).collect();
        if cast.is_empty() {
            return Totals::default();
        }
        let count = |kinds: &[&str]| {
            Some(cast.iter().filter(|p| kinds.contains(&p.as_str())).count() as i64)
        };
        let (yeas, nays) = (["yea", "guilty"], ["nay", "not_guilty"]);
        let (present, not_voting) = (count(&["present"]), count(&["not_voting"]));
        let is_election = cast.iter().any(|p| {
            ![yeas, nays].concat().contains(&p.as_str()) && p != "present" && p != "not_voting"
        });
        if is_election {
            return Totals { present, not_voting, ..Totals::default() };
        }
        Totals { yea: count(&yeas), nay: count(&nays), present, not_voting }
    }

    pub fn position_rows(&self) -> impl Iterator<Item = Value> {
        self.positions.iter().map(Position::row)
    }

    /// The candidates, those who are members with their ids: the same file names both alike.
    pub fn candidate_rows(&self) -> impl Iterator<Item = Value> {
        let people = self
            .candidates
            .iter()
            .filter(|(name, _)| !["present", "not voting"].contains(&name.to_lowercase().as_str()));
        people.map(|(name, votes)| {
            let mut namesakes = self.positions.iter().filter(|p| p.name == *name);
            let member = namesakes.next().filter(|_| namesakes.next().is_none());
            let bioguide = member.and_then(|m| congress::bioguide(m.id.trim()));
            json!({"bioguide": bioguide, "name": name, "votes": votes})
        })
    }
}

const NONE: Totals = Totals { yea: Some(0), nay: Some(0), present: None, not_voting: None };

/// Democrats, Republicans, all others, by the first letter of a party's name or code.
fn party_group(party: &str) -> usize {
    match party.bytes().next() {
        Some(b'D') => 0,
        Some(b'R') => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(party: &str, cast: &str) -> Position {
        Position { party: party.into(), cast: cast.into(), ..Position::default() }
    }

    #[test]
    fn parties_are_counted_only_if_all_votes_are_there() {
        let stated = Totals { yea: Some(1), nay: Some(2), present: Some(0), not_voting: Some(0) };
        let positions = || vec![cast("D", "Guilty"), cast("R", "Not Guilty"), cast("I", "Nay")];
        let whole =
            Tally { positions: positions(), totals: Some(stated), ..Tally::default() }.parties();
        let yeas_nays = whole.expect("complete").map(|t| (t.yea, t.nay));
        assert_eq!(yeas_nays, [(Some(1), Some(0)), (Some(0), Some(1)), (Some(0), Some(1))]);
        let more = Totals { nay: Some(3), ..stated };
        let part = Tally { positions: positions(), totals: Some(more), ..Tally::default() };
        assert_eq!((part.totals(), part.parties()), (more, None));
    }

    #[test]
    fn an_election_without_stated_totals_has_no_yeas() {
        let positions = vec![cast("D", "Doe"), cast("R", "Roe"), cast("R", "Not Voting")];
        let tally = Tally { positions, ..Tally::default() };
        let expected = Totals { present: Some(0), not_voting: Some(1), ..Totals::default() };
        assert_eq!((tally.totals(), tally.parties()), (expected, None));
    }
}
