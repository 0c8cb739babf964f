//! One bill out of congress.gov's object, which the API's JSON and BILLSTATUS have in common but
//! for its wrapping.

use std::borrow::Cow;

use serde_json::json;

use super::bill_law::Law;
use super::{bill_progress, topic_taxonomy};
use crate::formats::congress::{self, Action};
use crate::formats::documents::{non_empty, non_empty_list};
use crate::formats::tree::{Tree, bool_at, int_at, items, str_at};
use crate::formats::{dates, eastern, html};
use crate::record::{Rank, Record, Sink};

/// A bill's object taken apart into its lists.
pub struct Bill<T> {
    core: T,
    actions: Vec<T>,
    committees: Vec<T>,
    cosponsors: Vec<T>,
    titles: Vec<T>,
    summaries: Vec<T>,
    related: Vec<T>,
    laws: Vec<T>,
    /// Objects with `policyArea` and `legislativeSubjects`, however deep they lie.
    subjects: Vec<T>,
    /// Roll calls that the older BILLSTATUS lists apart from the actions.
    votes: Vec<T>,
}

impl<'a, T: Tree<'a>> Bill<T> {
    /// From the API's answers: `{"bill": {..}, "actions": {"actions": [..]}, ..}`.
    pub fn from_api(answers: T) -> Option<Self> {
        Some(Self::from_parts(answers.get("bill")?, answers))
    }

    /// From BILLSTATUS, where the lists are inside the bill.
    pub fn from_status(core: T) -> Self {
        Self::from_parts(core, core)
    }

    fn from_parts(core: T, lists: T) -> Self {
        let found = |name: &str, wrappers: &[&str]| items(lists.get(name), wrappers);
        let related =
            if lists.get("relatedBills").is_some() { "relatedBills" } else { "relatedbills" };
        let subjects = lists.get("subjects").map(|outer| {
            let inner = items(Some(outer), &["subjects", "billSubjects"]);
            if inner.is_empty() { vec![outer] } else { inner }
        });
        Bill {
            core,
            actions: found("actions", &["actions", "item"]),
            committees: found("committees", &["committees", "billCommittees", "item"]),
            cosponsors: found("cosponsors", &["cosponsors", "item"]),
            titles: found("titles", &["titles", "item"]),
            summaries: found("summaries", &["summaries", "billSummaries", "summary", "item"]),
            related: found(related, &["relatedBills", "item"]),
            laws: found("laws", &["laws", "item"]),
            subjects: subjects.unwrap_or_default(),
            votes: found("recordedVotes", &["recordedVote"]),
        }
    }

    /// The canonical id, under either generation of names.
    pub fn id(&self) -> Option<String> {
        let kind = [str_at(self.core, &["type"]), str_at(self.core, &["billType"])].concat();
        let number =
            int_at(self.core, &["number"]).or_else(|| int_at(self.core, &["billNumber"]))?;
        congress::bill_id(&kind, int_at(self.core, &["congress"])?, number)
    }

    /// Hands over the bill and, if it became one, the law.
    pub fn emit(&self, id: &str, out: &mut dyn Sink) {
        let actions = self.dated_actions();
        let record = self.record(id, &actions);
        if let Some(law) = self.public_law(&record, &actions) {
            out.record(law);
        }
        out.record(record);
    }

    fn record(&self, id: &str, actions: &[Action]) -> Record {
        let mut record = Record::new("bills", id, Rank::Full);
        let Some((kind, congress, number)) = congress::parts(id) else { return record };
        record.set("congress", congress).set("type", kind).set("number", number);
        record.set("chamber", congress::chamber(kind));
        record.set("title", self.title()).set("short_title", self.short_title());
        record.set("introduced_date", dates::iso(&str_at(self.core, &["introducedDate"])));
        record.set("policy_area", self.policy_area());
        let law = self.law(actions);
        let enacted = law.is_some() || bill_progress::enacted_date(actions).is_some();
        let status = if enacted { "enacted" } else { bill_progress::status(kind, actions) };
        record.set("status", status).set("is_law", enacted);
        if let Some(law) = law {
            law.set_on_bill(&mut record);
        }
        self.set_sponsor(&mut record);
        self.set_cosponsors(&mut record);
        self.set_actions(&mut record, actions);
        self.set_summaries(&mut record);
        self.set_subjects(&mut record);
        self.set_committees(&mut record);
        self.set_related(&mut record);
        record
    }

    fn title(&self) -> Cow<'a, str> {
        let display =
            self.titles.iter().copied().find(|t| str_at(*t, &["titleType"]) == "Display Title");
        let display = display.map(|t| str_at(t, &["title"])).unwrap_or_default();
        if display.is_empty() { str_at(self.core, &["title"]) } else { display }
    }

    /// The short title that is also the display title, or the one of the latest stage; not those
    /// of a bill's parts.
    fn short_title(&self) -> Option<Cow<'a, str>> {
        const STAGES: [&str; 6] =
            ["introduced", "reported", "passed", "engrossed", "conference", "enacted"];
        let display = self.title();
        let short = self.titles.iter().copied().filter_map(|t| {
            let kind = str_at(t, &["titleType"]).to_ascii_lowercase();
            let is_short = kind.contains("short title") && !kind.contains("portions of");
            let enrolled = kind.contains("enr (").then_some(STAGES.len());
            let stage = enrolled.or_else(|| STAGES.iter().rposition(|s| kind.contains(s)))?;
            let title = str_at(t, &["title"]);
            (is_short && !title.is_empty()).then_some((title == display, stage, title))
        });
        // Of several in one stage the first is the one in front.
        short
            .rev()
            .max_by_key(|(displayed, stage, _)| (*displayed, *stage))
            .map(|(_, _, title)| title)
    }

    fn policy_area(&self) -> Cow<'a, str> {
        let holders = std::iter::once(self.core).chain(self.subjects.iter().copied());
        let names = holders
            .flat_map(|h| ["policyArea", "primarySubject"].map(|key| str_at(h, &[key, "name"])));
        names.into_iter().find(|n| !n.is_empty()).unwrap_or_default()
    }

    fn set_sponsor(&self, record: &mut Record) {
        let sponsors = items(self.core.get("sponsors"), &["item"]);
        let Some(sponsor) = sponsors.first().map(|s| congress::member(*s)) else { return };
        record.set("sponsor", sponsor.bioguide).set("sponsor_name", sponsor.name);
        record.set("sponsor_party", sponsor.party).set("sponsor_state", sponsor.state);
    }

    fn set_cosponsors(&self, record: &mut Record) {
        let mut standing = Vec::new();
        let mut count = 0;
        for value in self.cosponsors.iter().copied() {
            let member = congress::member(value);
            if member.bioguide.is_none() && member.name.is_empty() {
                continue;
            }
            let withdrawn = dates::iso(&str_at(value, &["sponsorshipWithdrawnDate"]));
            if withdrawn.is_none() {
                count += 1;
                standing.extend(member.bioguide.clone().filter(|b| !standing.contains(b)));
            }
            record.row(
                "cosponsors",
                json!({
                    "bioguide": member.bioguide,
                    "name": non_empty(&member.name),
                    "party": non_empty(&member.party),
                    "state": non_empty(&member.state),
                    "district": member.district,
                    "date": dates::iso(&str_at(value, &["sponsorshipDate"])),
                    "original": bool_at(value, &["isOriginalCosponsor"]),
                    "withdrawn_date": withdrawn,
                }),
            );
        }
        record.set("cosponsors", non_empty_list(standing)).set("cosponsor_count", count);
    }

    /// The actions, newest first, with the roll calls that the older form lists apart put where
    /// their numbers stand.
    fn dated_actions(&self) -> Vec<Action> {
        let mut actions = congress::actions(&self.actions);
        for vote in self.votes.iter().copied() {
            let (Some(id), Some(number)) = (congress::vote_id(vote), int_at(vote, &["rollNumber"]))
            else {
                continue;
            };
            let named = match congress::chamber(&str_at(vote, &["chamber"])) {
                Some("house") => format!("(Roll no. {number})"),
                _ => format!("Record Vote Number: {number}."),
            };
            for action in
                actions.iter_mut().filter(|a| a.vote_id.is_none() && a.text.contains(&named))
            {
                action.vote_id = Some(id.clone());
            }
        }
        actions
    }

    /// `latestAction` lags behind the actions in thousands of bills, so it counts only where it is
    /// newer.
    fn set_actions(&self, record: &mut Record, actions: &[Action]) {
        let said = dates::iso(&str_at(self.core, &["latestAction", "actionDate"]));
        let newest = actions
            .iter()
            .find(|a| !a.text.is_empty())
            .filter(|a| said.as_deref() <= Some(a.date.as_str()));
        match newest {
            Some(action) => {
                record.set("latest_action", &*action.text).set("latest_action_date", &*action.date)
            }
            None => record
                .set("latest_action", str_at(self.core, &["latestAction", "text"]))
                .set("latest_action_date", said),
        };
        for row in actions.iter().filter_map(Action::row) {
            record.row("actions", row);
        }
    }

    fn set_summaries(&self, record: &mut Record) {
        for value in self.summaries.iter().copied() {
            let named = [str_at(value, &["actionDesc"]), str_at(value, &["name"])];
            let version = named.iter().find(|n| !n.is_empty()).map_or("", |n| n);
            // Some files wrap the text once more: <summary><cdata><text>.
            let text = [str_at(value, &["text"]), str_at(value, &["cdata", "text"])].concat();
            let text = html::to_text(&text);
            if !text.is_empty() {
                let date = dates::iso(&str_at(value, &["actionDate"]));
                record.row(
                    "summaries",
                    json!({"version": non_empty(version), "date": date, "text": text}),
                );
            }
        }
    }

    fn set_subjects(&self, record: &mut Record) {
        let area = self.policy_area();
        let mut names: Vec<Cow<'a, str>> = Vec::new();
        for holder in self.subjects.iter().copied() {
            for key in ["legislativeSubjects", "otherSubjects"] {
                let found =
                    items(holder.get(key), &["item"]).into_iter().map(|s| str_at(s, &["name"]));
                found.filter(|n| !n.is_empty()).for_each(|n| {
                    if !names.contains(&n) {
                        names.push(n)
                    }
                });
            }
        }
        if !area.is_empty() {
            let topic = topic_taxonomy::policy_area_id(&area);
            let row = json!({"topic_id": topic, "name": area, "kind": "policy_area"});
            record.row("subjects", row);
        }
        for name in &names {
            let topic = topic_taxonomy::subject_id(name);
            record.row("subjects", json!({"topic_id": topic, "name": name, "kind": "subject"}));
        }
        record.set("subjects", non_empty_list(names.into_iter().map(Cow::into_owned).collect()));
    }

    fn set_committees(&self, record: &mut Record) {
        let mut codes = Vec::new();
        for committee in self.committees.iter().copied() {
            let chamber = str_at(committee, &["chamber"]).to_ascii_lowercase();
            committee_rows(committee, &chamber, &mut codes, record);
            for sub in items(committee.get("subcommittees"), &["item"]) {
                committee_rows(sub, &chamber, &mut codes, record);
            }
        }
        record.set("committees", non_empty_list(codes));
    }

    fn set_related(&self, record: &mut Record) {
        for value in self.related.iter().copied() {
            let Some(bill) = congress::bill_of(value) else { continue };
            let titles = [str_at(value, &["title"]), str_at(value, &["latestTitle"])];
            let title = titles.iter().find(|t| !t.is_empty()).map_or("", |t| t);
            for detail in items(value.get("relationshipDetails"), &["item"]) {
                record.row(
                    "related",
                    json!({
                        "bill_id": bill,
                        "title": non_empty(title),
                        "relationship": non_empty(&str_at(detail, &["type"])),
                        "identified_by": non_empty(&str_at(detail, &["identifiedBy"])),
                    }),
                );
            }
        }
    }

    /// The law it became: as listed, or as the action says that made it one.
    fn law(&self, actions: &[Action]) -> Option<Law> {
        let read = |l: &T| Law::listed(&str_at(*l, &["type"]), &str_at(*l, &["number"]));
        let listed = self.laws.iter().find_map(read);
        listed.or_else(|| actions.iter().find_map(|action| Law::in_action(&action.text)))
    }

    /// What the bill proves about the public law: where it came from and when.
    fn public_law(&self, bill: &Record, actions: &[Action]) -> Option<Record> {
        let id = bill.fields.get("law_id")?.as_str()?;
        let (_, congress, number) = congress::parts(id)?;
        let mut law = Record::new("public-laws", id, Rank::Stub);
        law.set("congress", congress).set("number", number).set("bill_id", bill.id.as_str());
        law.set("enacted_date", bill_progress::enacted_date(actions));
        for same in ["title", "short_title", "policy_area"] {
            law.set(same, bill.fields.get(same).cloned());
        }
        Some(law)
    }
}

/// One row an activity; a committee without any still counts.
fn committee_rows<'a>(
    committee: impl Tree<'a>,
    chamber: &str,
    codes: &mut Vec<String>,
    record: &mut Record,
) {
    let Some(code) = congress::committee_id(&str_at(committee, &["systemCode"])) else { return };
    let mut row = |activity: &str, date: Option<String>| {
        record.row(
            "committees",
            json!({
                "committee": code,
                "name": non_empty(&str_at(committee, &["name"])),
                "chamber": non_empty(chamber),
                "activity": non_empty(activity),
                "date": date,
            }),
        );
    };
    let activities = items(committee.get("activities"), &["item"]);
    if activities.is_empty() {
        row("", None);
    }
    for activity in activities {
        row(&str_at(activity, &["name"]), eastern::day(&str_at(activity, &["date"])));
    }
    if !codes.contains(&code) {
        codes.push(code);
    }
}
