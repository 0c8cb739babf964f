//! The tools: name, wording, arguments, and the call that each one is. Everything they list comes from the open bundle.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as Advertised, ToolAnnotations};

use super::args::{Arg, Args, DEFAULT_BYTES, DEFAULT_LIMIT, Kind, Plan, optional, required, schema};
use super::offer::Offer;
use super::output::{self, Output};
use crate::query::Params;
use crate::service::Call;

pub struct Tool {
    pub name: &'static str,
    title: &'static str,
    /// The source that the bundle must hold for this tool to be there.
    needs: Option<&'static str>,
    about: fn(&Offer) -> String,
    /// Questions that it answers, as people ask them.
    asked: &'static [&'static str],
    args: &'static [&'static [Arg]],
    output: Output,
    run: Run,
}

pub enum Run {
    Call(fn(&Args, &mut Params) -> Call),
    Ping,
    Guide,
}

/// What a tool is about to do.
pub enum Work {
    Call(Call, Params),
    Ping,
    Guide(String),
}

const DETAIL_ARG: Arg = optional("detail", Kind::Detail, "full keeps fields without a value");
const DETAIL: &[Arg] = &[DETAIL_ARG];
const PAGE: &[Arg] = &[
    optional("limit", Kind::Limit, "Items a page"),
    optional("cursor", Kind::Text, "next_cursor of the page before"),
    DETAIL_ARG,
];
const BILL: &[Arg] =
    &[required("bill_id", Kind::Id("hr:119:1"), "Bill: hr:119:1, or as people write it (H.R. 1, 119th)")];
const MEMBER: &[Arg] = &[required("bioguide_id", Kind::Id("M000133"), "Bioguide id of a member").or("bioguide")];
const COMMITTEE: &[Arg] = &[required("committee_id", Kind::Id("HSWM"), "Committee id").or("id")];
const CONGRESS: &[Arg] = &[optional("congress", Kind::Congress, "Number of a Congress, to narrow to it")];
const QUERY: &[Arg] =
    &[required("query", Kind::Text, "What to look for; \"exact phrases\", -word and title:word are understood")];
const FILTERS: &[Arg] = &[optional(
    "filters",
    Kind::Filters,
    "Fields and values: {\"congress\": 119, \"introduced_date.gte\": \"2025-01-01\"}",
)];
const fn resource(plan: Plan) -> Arg {
    required("resource", Kind::Resource(plan), "A source")
}
const fn group_by(plan: Plan) -> Arg {
    optional("group_by", Kind::GroupBy(plan), "One field or two")
}
const TOP: &[Arg] = &[optional("limit", Kind::Limit, "Buckets, the largest first"), DETAIL_ARG];

/// In the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "get_bill",
        title: "Get a bill",
        needs: Some("bills"),
        about: |_| {
            "One bill or resolution by its number: title, sponsor, status, latest action, committees, the law it became, with citation. Not for its wording (get_bill_text), everything around it (get_bill_dossier) or finding bills on a subject (search).".into()
        },
        asked: &["H.R. 815, 118th", "where does S. 5 stand", "who sponsors HR 22, which committees was it sent to"],
        args: &[BILL, DETAIL],
        output: Output::Record("bills"),
        run: Run::Call(|args, _| Call::Record("bills".into(), args.text("bill_id"))),
    },
    Tool {
        name: "get_legislator",
        title: "Get a legislator",
        needs: Some("legislators"),
        about: |_| {
            "One member of Congress by bioguide id: name, party, state, chamber, service, contact. With only a name use resolve_entity first; for votes list_member_votes, for a profile with bills and committees get_legislator_dossier.".into()
        },
        asked: &["state, party and district of bioguide P000197", "is member S000033 still in office"],
        args: &[MEMBER, DETAIL],
        output: Output::Record("legislators"),
        run: Run::Call(|args, _| Call::Record("legislators".into(), args.text("bioguide_id"))),
    },
    Tool {
        name: "get_committee",
        title: "Get a committee",
        needs: Some("committees"),
        about: |_| {
            "One congressional committee or subcommittee by id: name, chamber, jurisdiction, parent. Who sits on it: list_committee_members. With only a name use resolve_entity first.".into()
        },
        asked: &["what is HSWM", "which committee is this subcommittee part of"],
        args: &[COMMITTEE, DETAIL],
        output: Output::Record("committees"),
        run: Run::Call(|args, _| Call::Record("committees".into(), args.text("committee_id"))),
    },
    Tool {
        name: "list_committee_members",
        title: "List a committee's members",
        needs: Some("committees"),
        about: |_| {
            "The roster of one committee: who sits on it, chair and ranking member first, party and rank, in one Congress or all. Not the committees of a member (get_legislator_dossier).".into()
        },
        asked: &["who chairs HSJU", "roster of SSFI", "Democrats on the committee this Congress"],
        args: &[COMMITTEE, CONGRESS, PAGE],
        output: Output::Rows("committees", "members"),
        run: Run::Call(|args, params| {
            args.pass(params, "congress", "congress");
            paged(args, params);
            Call::Sub("committees".into(), args.text("committee_id"), "members".into())
        }),
    },
    Tool {
        name: "list_cosponsors",
        title: "List a bill's cosponsors",
        needs: Some("bills"),
        about: |_| {
            "The members who cosponsor one bill, with party, state and the day they signed on. The sponsor is in get_bill.".into()
        },
        asked: &["who put their names on S. 1", "which Republicans back HR 25"],
        args: &[BILL, PAGE],
        output: Output::Rows("bills", "cosponsors"),
        run: Run::Call(|args, params| {
            paged(args, params);
            Call::Sub("bills".into(), args.text("bill_id"), "cosponsors".into())
        }),
    },
    Tool {
        name: "get_bill_text",
        title: "Read a bill's text",
        needs: Some("bills"),
        about: |_| {
            "The wording of one bill, section by section, newest version unless `version` says otherwise. A long text begins with its table of contents (`contents`): read a part with `section`, or go on with `cursor`. A section with is_amendatory changes another law (`amends`): what it strikes or inserts is not that law as it stands.".into()
        },
        asked: &["what exactly does section 101 of H.R. 1 say", "how does the bill define small business"],
        args: &[
            BILL,
            &[
                optional("section", Kind::Text, "Section label, like 101"),
                optional("version", Kind::Text, "Version of the text: ih, rh, eh, enr …"),
                optional("max_bytes", Kind::Bytes, "Size of the part"),
                optional("cursor", Kind::Text, "next_cursor of the part before"),
                DETAIL_ARG,
            ],
        ],
        output: Output::Rows("bills", "body"),
        run: Run::Call(|args, params| {
            args.pass(params, "section", "section");
            args.pass(params, "version", "version");
            args.pass(params, "cursor", "cursor");
            params.push("max_bytes", &DEFAULT_BYTES.to_string());
            args.pass(params, "max_bytes", "max_bytes");
            params.push("limit", "100");
            Call::Sub("bills".into(), args.text("bill_id"), "body".into())
        }),
    },
    Tool {
        name: "list_member_votes",
        title: "List a member's votes",
        needs: Some("roll-call-votes"),
        about: |_| {
            "How one member voted, roll call by roll call, newest first: position (Yea, Nay, Present, Not Voting), question, result, bill. Needs a bioguide id. How all members voted on one bill is in get_bill_dossier (votes).".into()
        },
        asked: &["how did S000033 vote", "his voting record for 2025", "last yeas and nays"],
        args: &[MEMBER, CONGRESS, PAGE],
        output: Output::Rows("legislators", "votes"),
        run: Run::Call(|args, params| {
            args.pass(params, "congress", "congress");
            paged(args, params);
            Call::Sub("legislators".into(), args.text("bioguide_id"), "votes".into())
        }),
    },
    Tool {
        name: "search",
        title: "Search federal documents",
        needs: None,
        about: |offer| {
            format!(
                "Search by words and by meaning together, over the texts of: {}. The first choice for a question on a subject, or to find documents, with dates or sources to narrow. Results have id, title, url, a marked snippet and a citation; pass an id to fetch. Only exact wording: lexical_search. Only similar meaning: semantic_search. People, committees and organizations by name: resolve_entity. How many: count.",
                offer.searchable().join(", ")
            )
        },
        asked: &[
            "what has EPA done on lead pipes since 2024",
            "what is out there on data centers from Congress, agencies and CRS",
            "any recent GAO work on ships",
        ],
        args: &[
            QUERY,
            &[
                optional("source", Kind::Searchable, "One source or several"),
                optional("since", Kind::Date, "First day: 2025-01-31, 2025-01 or 2025"),
                optional("until", Kind::Date, "Last day, written alike"),
            ],
            PAGE,
        ],
        output: Output::Results,
        run: Run::Call(|args, params| searched(args, params, None)),
    },
    Tool {
        name: "lexical_search",
        title: "Search exact words",
        needs: None,
        about: |offer| {
            format!(
                "Keyword search (BM25) for texts that contain, mention or use these very words, a quoted phrase or a statutory citation; `total` is the exact number of records. No synonyms: for a subject in other words use search. Sources: {}.",
                offer.searchable().join(", ")
            )
        },
        asked: &[
            "every rule that cites 5 U.S.C. 553",
            "documents that say \"clear and convincing\"",
            "bills with 'lynching' in the title",
        ],
        args: &[QUERY, &[optional("source", Kind::Searchable, "One source or several")], FILTERS, PAGE],
        output: Output::Results,
        run: Run::Call(|args, params| searched(args, params, Some("lexical"))),
    },
    Tool {
        name: "semantic_search",
        title: "Search by meaning",
        needs: None,
        about: |offer| {
            format!(
                "Vector search for passages similar in meaning to a description, concept or another text, though they share no word with it: \"like\", \"similar to\", \"about the idea of\". Filters apply before ranking. Not for names, numbers or exact words. Sources: {}.",
                offer.meaningful().join(", ")
            )
        },
        asked: &[
            "anything in the spirit of a wealth tax, whatever it is called",
            "which bills come closest to this paragraph of our draft",
            "the same argument in other words",
        ],
        args: &[QUERY, &[optional("source", Kind::Meaningful, "One source or several")], FILTERS, PAGE],
        output: Output::Results,
        run: Run::Call(|args, params| searched(args, params, Some("semantic"))),
    },
    Tool {
        name: "fetch",
        title: "Fetch any record by id",
        needs: None,
        about: |_| {
            "Any record by any id, among them those that search returned, with its text, from any source. `text` is the document, `data` the whole record, `url` its official page. Bills, members and committees have tools of their own.".into()
        },
        asked: &["Executive Order 14008", "FR doc 2024-01234, whole", "CRS report R47892", "40 CFR 122.26"],
        args: &[
            &[required(
                "id",
                Kind::Id("hr:119:1"),
                "Id as returned by another tool, a citation, or an official address",
            )],
            DETAIL,
        ],
        output: Output::Document,
        run: Run::Call(|args, _| Call::Document(args.text("id"))),
    },
    Tool {
        name: "resolve_entity",
        title: "Find a person, committee or organization by name",
        needs: None,
        about: |offer| {
            format!(
                "From a name, however misspelt or partial, to the record and its canonical id, best match first, each with match.score. Who is, what is the id of: {}. \"Sen. Markley from Mass.\" finds Edward Markey. Not for subjects or documents (search).",
                offer.registries().join(", ")
            )
        },
        asked: &[
            "who is Sen. Markley from Mass.",
            "committee code of Senate HELP",
            "a staffer whose name I half remember",
            "PN number of the Yellen nomination",
            "official subject heading for guns",
        ],
        args: &[QUERY_NAME, &[required("entity_type", Kind::Registry, "The registry to look in")], FILTERS, PAGE],
        output: Output::Matches,
        run: Run::Call(|args, params| {
            args.pass(params, "query", "q");
            args.pass_filters(params);
            paged(args, params);
            Call::List(args.text("entity_type"))
        }),
    },
    Tool {
        name: "count",
        title: "Count records",
        needs: None,
        about: |offer| {
            format!(
                "How many records there are, in all or by one or two fields (top groups first, the rest as `other`): how many, number of, which has the most. `query` counts only records whose text has the words. Fields to group by: {}. Amounts of money: sum. Over time: time_series. The records themselves: search.",
                offer.plan(|f| f.group)
            )
        },
        asked: &["how many bills became law", "which firm turned in the most reports", "break down the House by party"],
        args: &[
            &[resource(Plan::Count), group_by(Plan::Count)],
            &[optional("query", Kind::Text, "Words that the texts must have")],
            FILTERS,
            TOP,
        ],
        output: Output::Numbers,
        run: Run::Call(|args, params| {
            params.push("aggregate", "count");
            numbers(args, params)
        }),
    },
    Tool {
        name: "sum",
        title: "Add up a field",
        needs: None,
        about: |offer| {
            format!(
                "The total of a number over records, in all or by one or two fields: money spent, top spenders, largest totals. Fields that can be added up: {}. group_by as in count.",
                offer.plan(|f| f.sum)
            )
        },
        asked: &["how much did Pfizer put into lobbying in 2024, all quarters together", "top 20 lobbying spenders"],
        args: &[
            &[resource(Plan::Sum), group_by(Plan::Sum)],
            &[required("sum_field", Kind::SumField, "Field to add up")],
            FILTERS,
            TOP,
        ],
        output: Output::Numbers,
        run: Run::Call(|args, params| {
            params.push("aggregate", "sum");
            args.pass(params, "sum_field", "sum_field");
            numbers(args, params)
        }),
    },
    Tool {
        name: "time_series",
        title: "Count over time",
        needs: None,
        about: |offer| {
            format!(
                "Counts per day, week, month, quarter or year, gaps filled with 0: trends, by month, over the years, since. `query` counts only records whose text has the words. Date fields: {}. group_by (one field) as in count.",
                offer.plan(|f| f.time)
            )
        },
        asked: &["bills on AI each month since 2018", "rules per quarter"],
        args: &[
            &[resource(Plan::Time), group_by(Plan::Time)],
            &[
                required("time_field", Kind::TimeField, "Date field"),
                required("interval", Kind::Interval, "Width of a bucket"),
                optional("query", Kind::Text, "Words that the texts must have"),
            ],
            FILTERS,
            TOP,
        ],
        output: Output::Numbers,
        run: Run::Call(|args, params| {
            args.pass(params, "time_field", "bucket_by_time");
            args.pass(params, "interval", "time_interval");
            numbers(args, params)
        }),
    },
    Tool {
        name: "get_bill_dossier",
        title: "Everything about a bill",
        needs: Some("bills"),
        about: |offer| {
            format!(
                "Everything about one bill in one answer: the record and the first items of {}, each with its total and more_url. Only the record: get_bill.",
                offer.listed_sections("bills")
            )
        },
        asked: &["everything about HR 1", "prep me on S. 5: cost estimate, White House position, roll calls"],
        args: &[BILL, DETAIL],
        output: Output::Dossier("bills"),
        run: Run::Call(|args, _| Call::Dossier("bills".into(), args.text("bill_id"))),
    },
    Tool {
        name: "get_legislator_dossier",
        title: "A member's profile",
        needs: Some("legislators"),
        about: |offer| {
            format!(
                "A member's whole profile in one answer: the record and the first items of {}. Needs a bioguide id. Single facts: get_legislator; votes: list_member_votes.",
                offer.listed_sections("legislators")
            )
        },
        asked: &["profile of S000033", "which committees does she sit on, what has she sponsored"],
        args: &[MEMBER, CONGRESS, DETAIL],
        output: Output::Dossier("legislators"),
        run: Run::Call(|args, params| {
            args.pass(params, "congress", "congress");
            Call::Dossier("legislators".into(), args.text("bioguide_id"))
        }),
    },
    Tool {
        name: "get_committee_dossier",
        title: "Everything about a committee",
        needs: Some("committees"),
        about: |offer| {
            format!(
                "A committee's work in one answer: the record and the first items of {}. Only who sits on it: list_committee_members.",
                offer.listed_sections("committees")
            )
        },
        asked: &["complete rundown on HSAG", "what has SSFI been up to: hearings, measures, reports"],
        args: &[COMMITTEE, CONGRESS, DETAIL],
        output: Output::Dossier("committees"),
        run: Run::Call(|args, params| {
            args.pass(params, "congress", "congress");
            Call::Dossier("committees".into(), args.text("committee_id"))
        }),
    },
    Tool {
        name: "get_public_law_dossier",
        title: "Everything about a public law",
        needs: Some("public-laws"),
        about: |offer| {
            format!(
                "One enacted public law in one answer: the record and the first items of {}. Only the record or its text: fetch.",
                offer.listed_sections("public-laws")
            )
        },
        asked: &["everything on P.L. 117-58", "what regulations came out of a public law"],
        args: &[&[required("id", Kind::Id("pl:119:21"), "Public law: pl:119:21, or P.L. 119-21")], DETAIL],
        output: Output::Dossier("public-laws"),
        run: Run::Call(|args, _| Call::Dossier("public-laws".into(), args.text("id"))),
    },
    Tool {
        name: "ping",
        title: "Check the server",
        needs: None,
        about: |_| "Whether the server answers, its version, and the day up to which its data go.".into(),
        asked: &["are you up", "how current are the data"],
        args: &[],
        output: Output::Ping,
        run: Run::Ping,
    },
    Tool {
        name: "get_guide",
        title: "Read a guide",
        needs: None,
        about: |_| {
            "A short guide on using this server: how to choose a tool, write ids, filter, cite, and read bill text safely.".into()
        },
        asked: &["the right way to cite these records", "how to write ids"],
        args: &[&[required("guide_key", Kind::Guide, "Which guide")]],
        output: Output::Guide,
        run: Run::Guide,
    },
];

const QUERY_NAME: &[Arg] =
    &[required("query", Kind::Text, "The name as known; title, state, party and year around it help")];

fn paged(args: &Args, params: &mut Params) {
    params.push("limit", &DEFAULT_LIMIT.to_string());
    args.pass(params, "limit", "limit");
    args.pass(params, "cursor", "cursor");
}

fn searched(args: &Args, params: &mut Params, mode: Option<&str>) -> Call {
    args.pass(params, "query", "q");
    for name in ["source", "since", "until"] {
        args.pass(params, name, name);
    }
    if let Some(mode) = mode {
        params.push("mode", mode);
    }
    args.pass_filters(params);
    paged(args, params);
    Call::Search
}

fn numbers(args: &Args, params: &mut Params) -> Call {
    args.pass(params, "group_by", "group_by");
    args.pass(params, "query", "q");
    args.pass(params, "limit", "limit");
    args.pass_filters(params);
    Call::List(args.text("resource"))
}

impl Tool {
    pub fn find(offer: &Offer, name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name && tool.is_offered(offer))
    }

    pub fn is_offered(&self, offer: &Offer) -> bool {
        self.needs.is_none_or(|key| offer.bundle.source(key).is_some())
    }

    /// What these arguments ask for; the error names the argument that is wrong.
    pub fn read(&self, given: Option<JsonObject>) -> Result<(Work, bool), String> {
        let args = Args::read(self.args, given)?;
        let is_full = args.is_full();
        let work = match self.run {
            Run::Call(call) => {
                let mut params = Params::default();
                let call = call(&args, &mut params);
                Work::Call(call, params)
            }
            Run::Ping => Work::Ping,
            Run::Guide => Work::Guide(args.text("guide_key")),
        };
        Ok((work, is_full))
    }

    pub fn advertised(&self, offer: &Offer) -> Advertised {
        let bare = offer.bare_search && self.name == "search";
        let args = self.args.iter().flat_map(|part| part.iter()).filter(move |arg| !bare || arg.required);
        let about = format!("{} For example: {}.", (self.about)(offer), self.asked.join("; "));
        Advertised::new(self.name, about, Arc::new(schema(args, offer)))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(output::schema(self.output, offer)))
            .with_annotations(
                ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false),
            )
    }
}
