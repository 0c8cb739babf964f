//! One roll call vote, whichever file it came from, in the catalog's terms.

use std::sync::LazyLock;

use josh::catalog::{ids, wording};
use regex::Regex;
use serde_json::json;

use crate::formats::documents::non_empty;
use crate::formats::{congress, dates};
use crate::mentions;
use crate::patterns::pattern;
use crate::record::{Rank, Record};

static AMENDMENT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(S\.?|H\.?)\s?Amdt\.?\s?(?:No\.\s?)?(\d{1,5})\b"));
static NOMINATION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bPN\s?(\d{1,5}(?:-\d{1,4})?)\b"));

/// Votes by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub yea: i64,
    pub nay: i64,
    pub present: i64,
    pub not_voting: i64,
}

/// How one member voted.
pub struct Position {
    /// Bioguide id in the House, LIS id in the Senate.
    id: String,
    name: String,
    party: String,
    state: String,
    position: String,
}

impl Position {
    pub fn new(id: &str, name: &str, party: &str, state: &str, cast: &str) -> Self {
        let position = position(cast);
        Position {
            id: id.trim().into(),
            name: name.into(),
            party: party.into(),
            state: state.into(),
            position,
        }
    }
}

/// "Aye" and "Yea" are one, "No" and "Nay" too; in an election a candidate's name stays as it is.
fn position(cast: &str) -> String {
    let cast = cast.trim();
    match cast.to_ascii_lowercase().as_str() {
        "yea" | "aye" | "yes" => "yea".into(),
        "nay" | "no" => "nay".into(),
        "not voting" | "absent" => "not_voting".into(),
        lower if lower.starts_with("present") => "present".into(),
        _ => cast.to_string(),
    }
}

/// A vote on its way to a record.
pub struct RollCall {
    pub chamber: &'static str,
    pub congress: i64,
    session: i64,
    number: i64,
    pub question: String,
    pub vote_type: String,
    /// What the vote was about, beyond the question.
    pub about: String,
    pub bill_id: Option<String>,
    pub amendment_id: Option<String>,
    pub nomination_id: Option<String>,
    result: String,
    date: Option<String>,
    totals: Option<Totals>,
    /// Democrats, Republicans, all others.
    parties: [Totals; 3],
    positions: Vec<Position>,
}

impl RollCall {
    pub fn new(
        chamber: &'static str,
        congress: Option<i64>,
        session: Option<i64>,
        number: Option<i64>,
    ) -> Option<Self> {
        let (congress, session, number) = (congress?, session?, number?);
        let right = congress > 0 && (1..=3).contains(&session) && number > 0;
        right.then(|| RollCall {
            chamber,
            congress,
            session,
            number,
            question: String::new(),
            vote_type: String::new(),
            about: String::new(),
            bill_id: None,
            amendment_id: None,
            nomination_id: None,
            result: String::new(),
            date: None,
            totals: None,
            parties: Default::default(),
            positions: Vec::new(),
        })
    }

    /// The first text that holds a date; the Clerk writes "13-May-2025".
    pub fn set_date<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) {
        self.date =
            texts.into_iter().find_map(|text| match text.split('-').collect::<Vec<_>>()[..] {
                [day, month, year] if month.starts_with(|c: char| c.is_alphabetic()) => {
                    dates::iso(&format!("{month} {day}, {year}"))
                }
                _ => dates::iso(text),
            });
    }

    /// "Joint Resolution Passed (52-47)": the count is in fields of its own.
    pub fn set_result(&mut self, text: &str) {
        self.result = text.split(" (").next().unwrap_or_default().trim().to_string();
    }

    /// The amendment, the nomination and, where none was stated, the bill that the wording names.
    pub fn set_mentions(&mut self, texts: &[&str]) {
        let text = texts.join(" ");
        if let Some(c) = AMENDMENT.captures(&text).filter(|_| self.amendment_id.is_none()) {
            let kind = if c[1].starts_with('S') { "samdt" } else { "hamdt" };
            self.amendment_id =
                ids::canonical("amendments", &format!("{kind}:{}:{}", self.congress, &c[2]));
        }
        if let Some(c) = NOMINATION.captures(&text).filter(|_| self.nomination_id.is_none()) {
            self.nomination_id =
                ids::canonical("nominations", &format!("pn:{}:{}", self.congress, &c[1]));
        }
        if self.bill_id.is_none() {
            self.bill_id = mentions::bills(&text, Some(self.congress)).into_iter().next();
        }
    }

    /// Stated totals stand; what is not stated is counted from the members' votes.
    pub fn set_positions(
        &mut self,
        positions: Vec<Position>,
        totals: Option<Totals>,
        parties: Vec<(String, Totals)>,
    ) {
        for (party, counts) in &parties {
            add(&mut self.parties[party_index(party)], counts);
        }
        let mut all = Totals::default();
        for position in &positions {
            let one = one_vote(&position.position);
            add(&mut all, &one);
            if parties.is_empty() {
                add(&mut self.parties[party_index(&position.party)], &one);
            }
        }
        self.totals = totals.or((!positions.is_empty()).then_some(all));
        self.positions = positions;
    }

    pub fn record(self) -> Record {
        let id = format!("{}:{}:{}:{}", self.chamber, self.congress, self.session, self.number);
        let mut record = Record::new("roll-call-votes", id, Rank::Full);
        record.set("title", self.title());
        record
            .set("congress", self.congress)
            .set("session", self.session)
            .set("chamber", self.chamber);
        record.set("number", self.number).set("date", self.date).set("question", self.question);
        record.set("result", self.result).set("vote_type", self.vote_type);
        record
            .set("bill_id", self.bill_id)
            .set("amendment_id", self.amendment_id)
            .set("nomination_id", self.nomination_id);
        if let Some(totals) = self.totals {
            record.set("yea", totals.yea).set("nay", totals.nay);
            record.set("present", totals.present).set("not_voting", totals.not_voting);
            for (party, counts) in
                ["democratic", "republican", "independent"].iter().zip(self.parties)
            {
                record
                    .set(&format!("{party}_yea"), counts.yea)
                    .set(&format!("{party}_nay"), counts.nay);
            }
        }
        for member in self.positions {
            let bioguide = congress::bioguide(&member.id);
            let lis =
                if bioguide.is_none() { non_empty(&member.id) } else { serde_json::Value::Null };
            record.row(
                "positions",
                json!({
                    "bioguide": bioguide,
                    "lis_id": lis,
                    "name": non_empty(&member.name),
                    "party": non_empty(&member.party),
                    "state": non_empty(&member.state),
                    "position": non_empty(&member.position),
                }),
            );
        }
        record
    }

    /// "On Passage: H.R. 23 Some Act"; the bill is not named twice.
    fn title(&self) -> String {
        let letters = |text: &str| {
            text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_ascii_lowercase()
        };
        let bill = self.bill_id.as_deref().map(wording::cited_measure).unwrap_or_default();
        let named = bill.is_empty() || letters(&self.about).contains(&letters(&bill));
        let subject = if named { self.about.clone() } else { format!("{bill} {}", self.about) };
        match (self.question.is_empty(), subject.trim()) {
            (true, subject) => subject.to_string(),
            (false, "") => self.question.clone(),
            (false, subject) => format!("{}: {subject}", self.question),
        }
    }
}

fn one_vote(position: &str) -> Totals {
    let is = |kind: &str| i64::from(position == kind);
    Totals { yea: is("yea"), nay: is("nay"), present: is("present"), not_voting: is("not_voting") }
}

fn add(to: &mut Totals, more: &Totals) {
    to.yea += more.yea;
    to.nay += more.nay;
    to.present += more.present;
    to.not_voting += more.not_voting;
}

/// Democrats, Republicans, all others, by the first letter of a party's name or code.
fn party_index(party: &str) -> usize {
    match party.bytes().next() {
        Some(b'D') => 0,
        Some(b'R') => 1,
        _ => 2,
    }
}
