//! One roll call vote, whichever file it came from, in the catalog's terms.

use std::sync::LazyLock;

use josh::catalog::{ids, wording};
use regex::Regex;
use serde_json::json;

use super::nominations;
use super::roll_call_tally::Tally;
use crate::formats::dates;
use crate::formats::documents::{non_empty, non_empty_list};
use crate::mentions;
use crate::patterns::pattern;
use crate::record::{Rank, Record, Sink};

static AMENDMENT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(S\.?|H\.?)\s?Amdt\.?\s?(?:No\.\s?)?(\d{1,5})\b"));
static NOMINATION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bPN\s?(\d{1,5}(?:-\d{1,4})?)\b"));
static TREATY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\bTreaty Doc(?:ument|\.)?\s?(\d{1,3}-\d{1,3})\b"));
/// "(52-47)", "(50-50, Vice President of the United States, voted Yea)" after a result.
static COUNT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\s*\(\d+-\d+(?:, (?P<who>Vice President[^,)]*), voted (?P<vote>\w+))?[^)]*\)\s*$")
});

/// A vote on its way to a record.
pub struct RollCall {
    pub chamber: &'static str,
    pub congress: i64,
    session: i64,
    number: i64,
    /// Partial for an entry of a list.
    pub rank: Rank,
    pub question: String,
    pub vote_type: String,
    /// What the vote was about, beyond the question.
    pub about: String,
    pub bill_id: Option<String>,
    pub amendment_id: Option<String>,
    pub amendment_number: Option<i64>,
    pub amendment_author: String,
    /// Nominations, and how the file describes them.
    nominations: Vec<(String, String)>,
    treaty: Option<String>,
    result: String,
    date: Option<String>,
    /// Who broke a tie, and how.
    tie_breaker: Option<(String, &'static str)>,
    pub tally: Tally,
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
            rank: Rank::Full,
            question: String::new(),
            vote_type: String::new(),
            about: String::new(),
            bill_id: None,
            amendment_id: None,
            amendment_number: None,
            amendment_author: String::new(),
            nominations: Vec::new(),
            treaty: None,
            result: String::new(),
            date: None,
            tie_breaker: None,
            tally: Tally::default(),
        })
    }

    /// The first text that has a date; the Clerk writes "13-May-2025".
    pub fn set_date<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) {
        self.date =
            texts.into_iter().find_map(|text| dates::day_first(text).or_else(|| dates::iso(text)));
    }

    /// "Joint Resolution Passed (52-47)": the count is in fields of its own. In an election the
    /// result is a name: "Johnson (LA)".
    pub fn set_result(&mut self, text: &str) {
        self.result = COUNT.replace(text, "").trim().to_string();
        if let Some(c) = COUNT.captures(text)
            && let (Some(who), Some(vote)) = (c.name("who"), c.name("vote"))
        {
            self.set_tie_breaker(who.as_str(), vote.as_str());
        }
    }

    pub fn set_tie_breaker(&mut self, by_whom: &str, vote: &str) {
        let vote = match vote {
            "Yea" => "yea",
            "Nay" => "nay",
            _ => return,
        };
        self.tie_breaker = Some((by_whom.trim().to_string(), vote));
    }

    pub fn set_amendment(&mut self, kind: &str, number: &str) {
        let id = format!("{}:{}:{number}", kind.to_ascii_lowercase(), self.congress);
        self.amendment_id = ids::canonical("amendments", &id);
    }

    /// Adds a nomination. The description, which may be empty, is kept if none was known.
    pub fn add_nomination(&mut self, number: &str, description: &str) {
        let id = format!("pn:{}:{number}", self.congress);
        let Some(id) = ids::canonical("nominations", &id) else { return };
        match self.nominations.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) if known.is_empty() => *known = description.to_string(),
            Some(_) => {}
            None => self.nominations.push((id, description.to_string())),
        }
    }

    /// What a vote's own words name: its amendment, nominations, treaty or else its bill. A title
    /// is no such text: it may name the resolution under which nominations are considered.
    pub fn set_mentions(&mut self, question: &str) {
        if let Some(c) = AMENDMENT.captures(question).filter(|_| self.amendment_id.is_none()) {
            self.set_amendment(if c[1].starts_with('S') { "samdt" } else { "hamdt" }, &c[2]);
        }
        for c in NOMINATION.captures_iter(question) {
            self.add_nomination(&c[1], "");
        }
        if let Some(c) = TREATY.captures(question) {
            self.treaty = Some(c[1].to_string());
        }
        if self.bill_id.is_none() && self.treaty.is_none() && self.nominations.is_empty() {
            let question = question.split('(').next().unwrap_or_default();
            self.bill_id = mentions::bills(question, Some(self.congress)).into_iter().next();
        }
    }

    /// Hands over the vote, and what it says about nominations.
    pub fn hand_over(self, out: &mut dyn Sink) {
        for (id, description) in &self.nominations {
            if let Some(stub) = nominations::mentioned(id, description) {
                out.record(stub);
            }
        }
        out.record(self.record());
    }

    fn record(self) -> Record {
        let id = format!("{}:{}:{}:{}", self.chamber, self.congress, self.session, self.number);
        let mut record = Record::new("roll-call-votes", id, self.rank);
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
            .set("amendment_number", self.amendment_number)
            .set("amendment_author", self.amendment_author)
            .set("treaty", self.treaty);
        let nominations = self.nominations.into_iter().map(|(id, _)| id).collect();
        record.set("nomination_ids", non_empty_list(nominations));
        let totals = self.tally.totals();
        record.set("yea", totals.yea).set("nay", totals.nay);
        let margin = totals.yea.zip(totals.nay).map(|(yea, nay)| (yea - nay).abs());
        record.set("margin", margin);
        record.set("present", totals.present).set("not_voting", totals.not_voting);
        let parties = self.tally.parties().into_iter().flatten();
        for (party, counts) in ["democratic", "republican", "independent"].iter().zip(parties) {
            record
                .set(&format!("{party}_yea"), counts.yea)
                .set(&format!("{party}_nay"), counts.nay);
        }
        for row in self.tally.position_rows() {
            record.row("positions", row);
        }
        for row in self.tally.candidate_rows() {
            record.row("candidates", row);
        }
        if let Some((by_whom, vote)) = self.tie_breaker {
            record.set("tie_breaker_vote", vote);
            record.row("positions", json!({"name": non_empty(&by_whom), "position": vote}));
        }
        record
    }

    /// "On Passage: H.R. 23 Some Act"; the bill is not named twice.
    fn title(&self) -> String {
        let letters = |text: &str| {
            text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_ascii_lowercase()
        };
        let about = if self.about.is_empty() { &self.amendment_author } else { &self.about };
        let bill = self.bill_id.as_deref().map(wording::cited_measure).unwrap_or_default();
        let named = bill.is_empty() || letters(about).contains(&letters(&bill));
        let subject = if named { about.clone() } else { format!("{bill} {about}") };
        match (self.question.is_empty(), subject.trim()) {
            (true, subject) => subject.to_string(),
            (false, "") => self.question.clone(),
            (false, subject) => format!("{}: {subject}", self.question),
        }
    }
}
