//! Prompts: tasks that people start from a menu. Each names the tools to use and asks for
//! citations.

use crate::api::Prompt;

pub const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "research_bill",
        title: "Research a bill",
        about: "A cited brief on one bill: what it does, who is behind it, where it stands",
        arguments: &[("bill_id", "Bill, like hr:119:1 or H.R. 1", true)],
        text: "Write a brief on bill {bill_id}. Call get_bill_dossier for it, then get_bill_text \
               for the sections that matter. Say what it would do, who sponsors and cosponsors it, \
               where it stands and what happened last. Where a section is amendatory, say which \
               law it would change and do not report struck or inserted words as law. Cite each \
               statement with the citation text and url of the record it comes from.",
        reply: None,
        is_offered: |bundle| bundle.source("bills").is_some(),
    },
    Prompt {
        name: "compare_bills",
        title: "Compare two bills",
        about: "What two bills have in common and where they differ",
        arguments: &[
            ("first_bill", "Bill, like hr:119:1", true),
            ("second_bill", "The other bill", true),
        ],
        text: "Compare {first_bill} and {second_bill}. Call get_bill and get_bill_text for both. \
               Set out scope, key provisions, sponsors and status side by side, then the \
               differences that matter. Quote sections by their labels and cite both records.",
        reply: None,
        is_offered: |bundle| bundle.source("bills").is_some(),
    },
    Prompt {
        name: "member_profile",
        title: "Profile a member of Congress",
        about: "Committees, bills, leadership and votes of one member",
        arguments: &[
            ("member", "Name or bioguide id", true),
            ("congress", "Number of a Congress", false),
        ],
        text: "Profile {member}{congress: in the %th Congress}. Unless it is a bioguide id, call \
               resolve_entity with entity_type legislators first and say which person was meant. \
               Then call get_legislator_dossier and list_member_votes. Report service, committees, \
               sponsored bills and notable votes, each with its citation.",
        reply: None,
        is_offered: |bundle| bundle.source("legislators").is_some(),
    },
    Prompt {
        name: "track_topic",
        title: "Track a topic",
        about: "What is new on a subject, across all sources",
        arguments: &[
            ("topic", "Subject in a few words", true),
            ("since", "First day, like 2025-01-01", false),
        ],
        text: "Report what happened on {topic}{since: since %}. Call search with the topic and \
               look into every source that it covers; use time_series to show whether activity \
               rises. Group findings by source, newest first, and cite each with its url. Say what \
               the data do not cover.",
        reply: None,
        is_offered: |_| true,
    },
    Prompt {
        name: "lobbying_landscape",
        title: "Map the lobbying on an issue",
        about: "Who lobbies on an issue, for whom and for how much",
        arguments: &[
            ("issue", "Issue, bill or client", true),
            ("year", "Year of the filings", false),
        ],
        text: "Map the lobbying on {issue}{year: in %}. Call resolve_entity with entity_type \
               lda-filings for clients and registrants, and sum with resource lda-filings, \
               sum_field amount, grouped by registrant and by client. Say which filings the \
               numbers come from and what they leave out.",
        reply: None,
        is_offered: |bundle| bundle.source("lda-filings").is_some(),
    },
];
