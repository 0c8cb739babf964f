//! Prompts: tasks that people start from a menu. Each names the tools to use and asks for citations.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

struct Template {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// Name, description, whether it is required.
    args: &'static [(&'static str, &'static str, bool)],
    text: &'static str,
}

const TEMPLATES: &[Template] = &[
    Template {
        name: "research_bill",
        title: "Research a bill",
        about: "A cited brief on one bill: what it does, who is behind it, where it stands",
        args: &[("bill_id", "Bill, like hr:119:1 or H.R. 1", true)],
        text: "Write a brief on bill {bill_id}. Call get_bill_dossier for it, then get_bill_text for the sections that matter. Say what it would do, who sponsors and cosponsors it, where it stands and what happened last. Where a section is amendatory, say which law it would change and do not report struck or inserted words as law. Cite each statement with the citation text and url of the record it comes from.",
    },
    Template {
        name: "compare_bills",
        title: "Compare two bills",
        about: "What two bills have in common and where they differ",
        args: &[("first_bill", "Bill, like hr:119:1", true), ("second_bill", "The other bill", true)],
        text: "Compare {first_bill} and {second_bill}. Call get_bill and get_bill_text for both. Set out scope, key provisions, sponsors and status side by side, then the differences that matter. Quote sections by their labels and cite both records.",
    },
    Template {
        name: "member_profile",
        title: "Profile a member of Congress",
        about: "Committees, bills, leadership and votes of one member",
        args: &[("member", "Name or bioguide id", true), ("congress", "Number of a Congress", false)],
        text: "Profile {member}{congress: in the %th Congress}. Unless it is a bioguide id, call resolve_entity with entity_type legislators first and say which person was meant. Then call get_legislator_dossier and list_member_votes. Report service, committees, sponsored bills and notable votes, each with its citation.",
    },
    Template {
        name: "track_topic",
        title: "Track a topic",
        about: "What is new on a subject, across all sources",
        args: &[("topic", "Subject in a few words", true), ("since", "First day, like 2025-01-01", false)],
        text: "Report what happened on {topic}{since: since %}. Call search with the topic and look into every source that it covers; use time_series to show whether activity rises. Group findings by source, newest first, and cite each with its url. Say what the data do not cover.",
    },
    Template {
        name: "lobbying_landscape",
        title: "Map the lobbying on an issue",
        about: "Who lobbies on an issue, for whom and for how much",
        args: &[("issue", "Issue, bill or client", true), ("year", "Year of the filings", false)],
        text: "Map the lobbying on {issue}{year: in %}. Call resolve_entity with entity_type lda-filings for clients and registrants, and sum with resource lda-filings, sum_field amount, grouped by registrant and by client. Say which filings the numbers come from and what they leave out.",
    },
];

/// The tools and sources that a prompt speaks of must be there.
fn is_offered(template: &Template, has: &dyn Fn(&str) -> bool) -> bool {
    match template.name {
        "research_bill" | "compare_bills" => has("bills"),
        "member_profile" => has("legislators"),
        "lobbying_landscape" => has("lda-filings"),
        _ => true,
    }
}

pub fn list(has: &dyn Fn(&str) -> bool) -> Vec<Prompt> {
    let args = |template: &Template| {
        let arg = |(name, about, required): &(&str, &str, bool)| {
            PromptArgument::new(*name).with_description(*about).with_required(*required)
        };
        template.args.iter().map(arg).collect::<Vec<_>>()
    };
    let offered = TEMPLATES.iter().filter(|t| is_offered(t, has));
    offered.map(|t| Prompt::new(t.name, Some(t.about), Some(args(t))).with_title(t.title)).collect()
}

/// The argument names of a prompt.
pub fn arguments(name: &str) -> Vec<&'static str> {
    TEMPLATES.iter().filter(|t| t.name == name).flat_map(|t| t.args.iter().map(|(name, _, _)| *name)).collect()
}

/// The filled-in prompt; the error names what is wrong.
pub fn get(name: &str, given: Option<JsonObject>, has: &dyn Fn(&str) -> bool) -> Result<GetPromptResult, String> {
    let Some(template) = TEMPLATES.iter().filter(|t| is_offered(t, has)).find(|t| t.name == name) else {
        let names: Vec<&str> = TEMPLATES.iter().map(|t| t.name).collect();
        return Err(format!("There is no prompt {name:?}; there are {}.", names.join(", ")));
    };
    let given = given.unwrap_or_default();
    if let Some(unknown) = given.keys().find(|key| !template.args.iter().any(|(name, _, _)| name == key)) {
        return Err(format!("`{unknown}` is no argument of {name}."));
    }
    let mut text = template.text.to_string();
    for (arg, about, required) in template.args {
        let value = given.get(*arg).and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if value.is_empty() && *required {
            return Err(format!("`{arg}` is missing: {about}."));
        }
        text = text.replace(&format!("{{{arg}}}"), value);
        // `{year: in %}` is there only when a year is.
        while let Some(start) = text.find(&format!("{{{arg}:")) {
            let Some(length) = text[start..].find('}') else { break };
            let inner = text[start + arg.len() + 2..start + length].replace('%', value);
            text.replace_range(start..=start + length, if value.is_empty() { "" } else { &inner });
        }
    }
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(template.about))
}
