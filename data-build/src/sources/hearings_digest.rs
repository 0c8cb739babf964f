//! The Daily Digest's reports of committee meetings held, split into meetings. A meeting begins
//! with a heading in capitals and a line that opens with the committee's name and a colon; what
//! does not look so is left out. The announcements of meetings to come are passed over: the
//! reports of the next day say the same and more.

use std::sync::LazyLock;

use josh::catalog::wording;
use regex::Regex;
use serde_json::Value;

use super::hearings::{SOURCE, kind, name_before_post, started};
use crate::formats::committee_names;
use crate::formats::dates::iso;
use crate::formats::documents::non_empty_list;
use crate::formats::json::str_at;
use crate::formats::people;
use crate::formats::xml::fold;
use crate::mentions;
use crate::patterns::pattern;
use crate::record::{Rank, Record, Sink};

/// Longer titles are cut at a word.
const LONGEST_TITLE: usize = 300;

/// "Committee on the Judiciary: " at the start of a line; the name may go over to the next line.
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?m)^[ \t]*((?:(?:Permanent )?Select |Special )?(?:Committee|Subcommittee) (?:on|to) [^:.;]{3,140}",
        r"|(?:Permanent )?Select Committee[^:.;]{3,140}|Joint Economic Committee|Joint Committee on [^:.;]{3,60}",
        r"|Joint Hearing|Commission on Security and\s+Cooperation in Europe[^:.;]{0,40}",
        r"|(?:United States )?Senate Caucus [^:.;]{3,60}):\s",
    ))
});
static PAGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\n*\[\[Page D\d+\]\]\n*"));
/// A correction of the online edition, put in between.
static NOTE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)\s*=+ NOTE =+.*?=+ END NOTE =+\s*"));
static COMING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^\s*(?:COMMITTEE MEETINGS FOR|NEW PUBLIC LAWS|CONGRESSIONAL PROGRAM)")
});
static VERB: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r" (?:concluded|held|met|ordered|began|continued|resumed|received|approved|announced|adopted|organized",
        r"|completed)\b",
    ))
});
static ENTITLED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:entitled|titled) ``(.+?)''"));
static MATTER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b((?:closed |open |joint |field |oversight |open and closed )*(?:hearings?|markup|briefing)\b.*)$",
    )
});
static TESTIMONY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?:after (?:receiving|hearing) testimony from|Testimony was heard from) (.+)$")
});
static SENTENCE_END: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:[a-z0-9)]{2}|'')\.(?: [A-Z]|$)"));
static PERSON: LazyLock<Regex> = LazyLock::new(|| {
    let word = r"(?:[A-Z][\p{L}.'’\-]*|de|la|del|van|von|der|bin|al)";
    pattern(&format!(r"^{word}(?: {word}){{1,5}}(?:, (?:Jr\.|Sr\.|II|III|IV))?$"))
});

pub fn read_granule(granule: &Value, out: &mut dyn Sink) {
    let title = str_at(granule, &["title"]).to_lowercase();
    let chamber = match title.as_str() {
        t if t.contains("house committee meetings") => "house",
        t if t.contains("senate committee meetings") => "senate",
        _ => return,
    };
    let granule_id = str_at(granule, &["granule_id"]);
    let Some(date) = iso(&str_at(granule, &["date"])) else {
        return out.reject(&granule_id, "no date");
    };
    let Some((_, page)) = granule_id.rsplit_once("-Pg") else {
        return out.reject(&granule_id, "no page");
    };
    let address = format!("https://www.govinfo.gov/app/details/CREC-{date}/{granule_id}");
    for (n, meeting) in split(&str_at(granule, &["text"]), chamber).into_iter().enumerate() {
        let event = format!("crec-{date}-{page}-{}", n + 1);
        match record(&meeting, &date, &event) {
            Some(mut r) => {
                r.set("url", address.as_str());
                out.record(r);
            }
            None => out.reject(&granule_id, &format!("no id for meeting {} in {SOURCE}", n + 1)),
        }
    }
}

#[derive(Debug, PartialEq)]
struct Meeting {
    chamber: &'static str,
    heading: String,
    committee: String,
    report: String,
}

/// The meetings of a granule, in order.
fn split(text: &str, chamber: &'static str) -> Vec<Meeting> {
    let text = PAGE.replace_all(text, "\n");
    let text = NOTE.replace_all(&text, "\n");
    let text = &text[..COMING.find(&text).map_or(text.len(), |m| m.start())];
    let joint_from = text.find("Joint Meetings").unwrap_or(text.len());
    let openings: Vec<_> =
        OPENING.captures_iter(text).filter_map(|c| Some((c.get(0)?, c.get(1)?))).collect();
    let starts: Vec<(usize, String)> =
        openings.iter().map(|(whole, _)| heading_before(text, whole.start())).collect();
    let mut meetings = Vec::new();
    let mut i = 0;
    while i < openings.len() {
        let (whole, name) = openings[i];
        // An opening without a heading is a sentence that happens to begin a line: it belongs to
        // the one before.
        let next =
            (i + 1..openings.len()).find(|n| !starts[*n].1.is_empty()).unwrap_or(openings.len());
        if !starts[i].1.is_empty() {
            let until = starts.get(next).map_or(text.len(), |s| s.0);
            let until = if whole.start() < joint_from { until.min(joint_from) } else { until };
            meetings.push(Meeting {
                chamber: if whole.start() >= joint_from { "joint" } else { chamber },
                heading: starts[i].1.clone(),
                committee: fold(name.as_str()),
                report: fold(text.get(whole.end()..until).unwrap_or_default()),
            });
        }
        i = next;
    }
    meetings
}

/// (where it starts, the heading): the lines in capitals right above a position.
fn heading_before(text: &str, at: usize) -> (usize, String) {
    let mut start = at;
    let mut lines = Vec::new();
    for line in text[..at].rsplit_inclusive_lines() {
        let printed = line.trim();
        if printed.is_empty() && lines.is_empty() {
            start -= line.len();
            continue;
        }
        let (upper, lower) =
            (count(printed, char::is_uppercase), count(printed, char::is_lowercase));
        let ends_a_report = printed.ends_with('.') && !lines.is_empty();
        if upper < 2 || lower * 4 > upper || ends_a_report {
            break;
        }
        start -= line.len();
        lines.push(printed);
    }
    lines.reverse();
    (start, lines.join(" "))
}

/// Lines from the last to the first, each with its line break.
trait Lines {
    fn rsplit_inclusive_lines(&self) -> impl Iterator<Item = &str>;
}

impl Lines for str {
    fn rsplit_inclusive_lines(&self) -> impl Iterator<Item = &str> {
        self.split_inclusive('\n').collect::<Vec<_>>().into_iter().rev()
    }
}

fn count(text: &str, test: fn(char) -> bool) -> usize {
    text.chars().filter(|c| test(*c)).count()
}

fn record(meeting: &Meeting, date: &str, event: &str) -> Option<Record> {
    let congress = wording::congress_on(date)?;
    let mut r = started(congress, event, Rank::Partial)?;
    let first = first_sentence(&meeting.report);
    r.set("title", title(meeting, first)).set("date", date).set("chamber", meeting.chamber);
    let said = if meeting.heading.starts_with("BUSINESS MEETING") { "meeting" } else { first };
    r.set("type", kind(said))
        .set("bill_ids", non_empty_list(mentions::bills(&meeting.report, Some(congress))));
    r.set("witnesses", non_empty_list(witnesses(&meeting.report)));
    if meeting.committee != "Joint Hearing" {
        r.set("committee", committee_names::code(meeting.chamber, &meeting.committee));
        r.set("committee_name", name_with_subcommittee(meeting));
    }
    Some(r)
}

fn first_sentence(report: &str) -> &str {
    const ABBREVIATED: [&str; 16] = [
        "Con", "Res", "Rept", "Sen", "Rep", "Gen", "Lt", "Col", "Inc", "Corp", "Co", "Jr", "Sr",
        "St", "No", "Dr",
    ];
    for end in SENTENCE_END.find_iter(report) {
        let stop = end.start() + end.as_str().find('.').unwrap_or_default();
        let last_word = report[..stop].rsplit(' ').next().unwrap_or_default();
        if !ABBREVIATED.contains(&last_word) {
            return &report[..stop];
        }
    }
    report.trim_end_matches(['.', '-', ' '])
}

/// "Committee on Armed Services, Subcommittee on Readiness", where a subcommittee acted.
fn name_with_subcommittee(meeting: &Meeting) -> String {
    let actor = VERB.find(&meeting.report).map_or("", |verb| &meeting.report[..verb.start()]);
    let known = actor.contains("Subcommittee") && actor.len() < 160;
    if known { format!("{}, {actor}", meeting.committee) } else { meeting.committee.clone() }
}

/// The title as given; otherwise what the meeting was on; otherwise the heading with what was done.
fn title(meeting: &Meeting, first: &str) -> String {
    let given = ENTITLED.captures(first).map(|c| c[1].to_string());
    let matter = || {
        let words = MATTER.captures(first)?.get(1)?.as_str();
        let words = words.find(", after ").map_or(words, |end| &words[..end]);
        let mut chars = words.chars();
        Some(chars.next()?.to_uppercase().chain(chars).collect::<String>())
    };
    let business = || format!("{}: {first}", sentence_case(&meeting.heading));
    let title = match (given, meeting.heading.starts_with("BUSINESS MEETING")) {
        (Some(given), _) => given,
        (None, true) => business(),
        (None, false) => matter().unwrap_or_else(business),
    };
    cut(&title.replace("``", "“").replace("''", "”"))
}

fn sentence_case(heading: &str) -> String {
    let mut chars = heading.chars();
    chars.next().map(|first| first.to_string() + &chars.as_str().to_lowercase()).unwrap_or_default()
}

fn cut(title: &str) -> String {
    if title.chars().count() <= LONGEST_TITLE {
        return title.to_string();
    }
    let head: String = title.chars().take(LONGEST_TITLE).collect();
    format!("{}…", head.rsplit_once(' ').map_or(head.as_str(), |(words, _)| words))
}

/// The first name between semicolons: those that share a post with others cannot be told apart
/// reliably.
fn witnesses(report: &str) -> Vec<String> {
    let Some(testimony) = TESTIMONY.captures(report) else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    for part in testimony[1].split(';') {
        let part = part.trim().trim_start_matches("and ").trim_end_matches('.');
        let of_congress = ["Senator", "Representative", "Chair", "Delegate", "former"]
            .iter()
            .any(|w| part.starts_with(w));
        let Some(name) =
            name_before_post(part).filter(|name| !of_congress && PERSON.is_match(name))
        else {
            continue;
        };
        let name = people::capitalized(&name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENATE: &str = "Committee Meetings
(Committees not listed did not meet)
TEA REFORM AND
COFFEE
Committee on Commerce, Science, and Transportation:\x20
Subcommittee on Tea concluded a hearing to\x20
examine S. 12, the tea

[[Page D906]]

bill, after receiving testimony from Ada B.\x20
Doe, Jr., Tea Board, Elma, Texas; Senator Roe; Jo Poe, Leaf, and Al Moe,\x20
Stem, both of Ohio; and public witnesses.
BUSINESS MEETING
Committee on Finance: Committee ordered favorably reported S. 3, with\x20
an amendment.
";

    #[test]
    fn meetings_are_split_at_their_headings() {
        let meetings = split(SENATE, "senate");
        assert_eq!(meetings.len(), 2);
        assert_eq!(meetings[0].heading, "TEA REFORM AND COFFEE");
        let r = record(&meetings[0], "2025-09-10", "crec-2025-09-10-d905-1").expect("an id");
        assert_eq!(r.id, "hearing:119:crec-2025-09-10-d905-1");
        assert_eq!(r.fields["title"], "Hearing to examine S. 12, the tea bill");
        assert_eq!(r.fields["committee"], "SSCM");
        assert_eq!(
            r.fields["committee_name"],
            "Committee on Commerce, Science, and Transportation, Subcommittee on Tea"
        );
        assert_eq!(r.fields["witnesses"], serde_json::json!(["Ada B. Doe, Jr.", "Jo Poe"]));
        assert_eq!(r.fields["bill_ids"], serde_json::json!(["s:119:12"]));
        let r = record(&meetings[1], "2025-09-10", "crec-2025-09-10-d905-2").expect("an id");
        assert_eq!(
            r.fields["title"],
            "Business meeting: Committee ordered favorably reported S. 3, with an amendment"
        );
        assert_eq!(r.fields["type"], "meeting");
    }

    #[test]
    fn announcements_and_empty_days_give_nothing() {
        let text = "Committee Meetings\n  No hearings were held.\n\n\
                    Joint Meetings\n  No joint committee meetings were held.\n\n\
                    COMMITTEE MEETINGS FOR MONDAY,\n  Committee on Rules, Full Committee, hearing on H.R. 4, 4 p.m.\n";
        assert!(split(text, "house").is_empty());
    }

    #[test]
    fn a_correction_in_between_and_indented_lines_do_no_harm() {
        let text = "Committee Meetings\nTEA\n\
                    Committee on Rules: Full Committee held a hearing on H. Con. Res. 14, tea. Another.\n\n\
                    === NOTE ===\nCommittee on Rules: was wrong.\n=== END NOTE ===\n\n\
                    \x20         COFFEE\n  Committee on Ethics: Committee met.\n";
        let meetings = split(text, "house");
        assert_eq!(meetings.len(), 2);
        assert_eq!(
            title(&meetings[0], first_sentence(&meetings[0].report)),
            "Hearing on H. Con. Res. 14, tea"
        );
        assert_eq!(
            (meetings[1].heading.as_str(), meetings[1].committee.as_str()),
            ("COFFEE", "Committee on Ethics")
        );
    }

    #[test]
    fn house_titles_are_quoted_and_joint_meetings_are_joint() {
        let text = "Committee Meetings\nTEA: A DRINK\n\
                    Committee on Agriculture: Full Committee held a hearing entitled \n``Tea: A Drink''. \
                    Testimony was heard from public witnesses.\n\nJoint Meetings\nTEA\n\
                    Joint Economic Committee: Committee concluded a hearing to examine tea.\n";
        let meetings = split(text, "house");
        assert_eq!((meetings[0].chamber, meetings[1].chamber), ("house", "joint"));
        assert_eq!(title(&meetings[0], first_sentence(&meetings[0].report)), "Tea: A Drink");
        let joint = record(&meetings[1], "2025-09-10", "crec-2025-09-10-d9-2").expect("an id");
        assert_eq!(joint.fields["committee"], "JSEC");
        assert!(!joint.fields.contains_key("witnesses"));
    }
}
