//! The sub-resources of one record: filtered, sorted, page by page.

use std::sync::Arc;

use serde_json::Value;

use crate::api::{
    Arguments, Code, Context, Cost, Endpoint, Error, Kind, Operation, Outcome, Parameter, Result,
    Scope, Tool,
};
use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::{self, Source, SubResource, SubResourceKind};
use crate::policy::advertised::row_filter_fields;
use crate::policy::endpoints::{id_parameter, list_parameters};
use crate::policy::parameters::{
    BILL, COMMITTEE, CONGRESS, CURSOR, DATES, DETAIL, MEMBER, PAGE, row_filters,
};
use crate::policy::query::{self, LEAST_TEXT, ListRequest, Listing};
use crate::policy::record::require_source;
use crate::policy::{schemas, understand};

/// Bytes of a text that an agent gets at once, and at most.
const TEXT_BYTES: u64 = 30_000;
const MOST_TEXT_BYTES: u64 = 80_000;

pub const OPERATION: Operation = Operation {
    name: "list_sub_resource",
    title: "List a sub-resource",
    about: "A sub-resource of a record: filtered, sorted, page by page",
    route: Some("/v1/{source}/{id}/{sub}"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Query,
    cost_with: None,
    is_list: true,
    endpoints,
    tools: &[
        Tool {
            name: "list_committee_members",
            title: "List a committee's members",
            is_offered: |bundle| is_offered(bundle, "committees", "members"),
            about: |_| {
                "The roster of one committee: who sits on it, chair and ranking member first, \
                 party and rank, in one Congress or all. Not the committees of a member \
                 (get_legislator_dossier)."
                    .into()
            },
            examples: &[
                "who chairs HSJU",
                "roster of SSFI",
                "Democrats on the committee this Congress",
            ],
            fixed: &[("{source}", "committees"), ("{sub}", "members")],
            arguments: &[
                COMMITTEE,
                CONGRESS,
                &[row_filters(|bundle| row_filter_fields(bundle, "committees", "members"))],
                PAGE,
            ],
            output: |_| output("committees", "members"),
        },
        Tool {
            name: "list_cosponsors",
            title: "List a bill's cosponsors",
            is_offered: |bundle| is_offered(bundle, "bills", "cosponsors"),
            about: |_| {
                "The members who cosponsor one bill, with party, state and the day they signed on. \
                 The sponsor is in get_bill."
                    .into()
            },
            examples: &["who put their names on S. 1", "which Republicans back HR 25"],
            fixed: &[("{source}", "bills"), ("{sub}", "cosponsors")],
            arguments: &[
                BILL,
                &[row_filters(|bundle| row_filter_fields(bundle, "bills", "cosponsors"))],
                PAGE,
            ],
            output: |_| output("bills", "cosponsors"),
        },
        Tool {
            name: "get_bill_text",
            title: "Read a bill's text",
            is_offered: |bundle| is_offered(bundle, "bills", "body"),
            about: |_| {
                "The wording of one bill, section by section, newest version unless `version` says \
                 otherwise. A long text begins with its table of contents (`contents`): read a \
                 part with `section`, look for words with `find`, or continue with `cursor`. A \
                 section with is_amendatory changes another law (`amends`): what it strikes or \
                 inserts is not that law as it stands."
                    .into()
            },
            examples: &[
                "what exactly does section 101 of H.R. 1 say",
                "how does the bill define small business",
            ],
            fixed: &[("{source}", "bills"), ("{sub}", "body"), ("limit", "100")],
            arguments: &[
                BILL,
                &[
                    Parameter::optional("section", Kind::Text, "Section label, like 101"),
                    Parameter::optional(
                        "find",
                        Kind::Text,
                        "Only sections with these words, and the sentences around them",
                    ),
                    Parameter::optional(
                        "version",
                        Kind::Text,
                        "Version of the text: ih, rh, eh, enr …",
                    ),
                    Parameter::optional(
                        "max_bytes",
                        Kind::Integer {
                            min: LEAST_TEXT as u64,
                            max: MOST_TEXT_BYTES,
                            default: Some(TEXT_BYTES),
                        },
                        "Size of the part",
                    ),
                    CURSOR,
                ],
                DETAIL,
            ],
            output: |_| output("bills", "body"),
        },
        Tool {
            name: "list_member_votes",
            title: "List a member's votes",
            is_offered: |bundle| is_offered(bundle, "legislators", "votes"),
            about: |_| {
                "How one member voted, roll call by roll call, newest first: position, question, \
                 result, bill; on one bill with filters {\"bill_id\": \"hr:119:1\"}. How all \
                 members voted in one roll call: list_vote_positions."
                    .into()
            },
            examples: &["how did S000033 vote", "his voting record for 2025", "last yeas and nays"],
            fixed: &[("{source}", "legislators"), ("{sub}", "votes")],
            arguments: &[
                MEMBER,
                CONGRESS,
                &[row_filters(|bundle| row_filter_fields(bundle, "legislators", "votes"))],
                DATES,
                PAGE,
            ],
            output: |_| output("legislators", "votes"),
        },
        Tool {
            name: "list_vote_positions",
            title: "List how members voted",
            is_offered: |bundle| is_offered(bundle, "roll-call-votes", "positions"),
            about: |_| {
                "How each member voted in one roll call: name, party, state, position; by filters \
                 only one party, state or position. The roll calls of a bill: list_records with \
                 resource roll-call-votes and filters bill_id. One member over time: \
                 list_member_votes."
                    .into()
            },
            examples: &[
                "which Republicans voted no on house:119:1:145",
                "who did not vote",
                "how did the Massachusetts delegation split",
            ],
            fixed: &[("{source}", "roll-call-votes"), ("{sub}", "positions")],
            arguments: &[
                &[Parameter::required(
                    "vote_id",
                    Kind::Id("house:119:1:145"),
                    "Roll call: house:119:1:145",
                )
                .sets("{id}")],
                &[row_filters(|b| row_filter_fields(b, "roll-call-votes", "positions"))],
                PAGE,
            ],
            output: |_| output("roll-call-votes", "positions"),
        },
    ],
    run,
};

fn output(source: &str, sub: &str) -> Value {
    catalog::source(source).map_or(Value::Null, |source| schemas::sub_resource(source, sub))
}

pub fn is_offered(bundle: &Bundle, key: &str, name: &str) -> bool {
    let source = bundle.source(key).map(|(source, _)| source);
    source.is_some_and(|source| {
        let sub = source.sub_resource(name);
        sub.is_some_and(|sub| Listing::of_sub_resource(bundle, source, sub).is_some())
    })
}

fn endpoints(bundle: &Bundle) -> Vec<Endpoint> {
    let of_source = |(source, _): (&'static Source, &SourceFacts)| {
        let endpoint = |sub: &'static SubResource| {
            let listing = Listing::of_sub_resource(bundle, source, sub)?;
            let mut parameters = vec![id_parameter(bundle, source)];
            parameters.extend(list_parameters(&listing));
            Some(Endpoint {
                path: format!("/v1/{}/{{id}}/{}", source.key, sub.name),
                id: format!("list_{}_{}", source.table(), sub.name.replace('-', "_")),
                summary: sub.about.to_string(),
                parameters,
                output: schemas::sub_resource(source, sub.name),
            })
        };
        source.sub_resources.iter().filter_map(endpoint).collect::<Vec<_>>()
    };
    bundle.sources().flat_map(of_source).collect()
}

pub fn run(mut arguments: Arguments, context: &Arc<Context>) -> Result<Outcome> {
    let bundle = &context.bundle;
    let (source, _) = require_source(bundle, &arguments.require("{source}")?)?;
    let id = arguments.require("{id}")?;
    let name = arguments.require("{sub}")?;
    let (sub, listing) = sub_resource(bundle, source, &name)?;
    let found = understand::record(context, source, &id)?;
    let listing = listing.under(source, sub, found.number, found.entry.id)?;
    let understood = understand::filters(context, &listing, &mut arguments)?;
    let request = ListRequest::read(arguments, &listing, &[])?;
    let mut outcome = query::list(context, &listing, &request)?;
    outcome.notes.resolved = found.resolved();
    outcome.notes.understood = understood;
    Ok(outcome)
}

/// The sub-resource with this name, if this bundle holds it.
pub fn sub_resource<'a>(
    bundle: &'a Bundle,
    source: &'static Source,
    name: &str,
) -> Result<(&'static SubResource, Listing<'a>)> {
    let known = source.sub_resource(name);
    let listing = known.and_then(|sub| Listing::of_sub_resource(bundle, source, sub));
    if let (Some(sub), Some(listing)) = (known, listing) {
        return Ok((sub, listing));
    }
    let message = match known.map(|sub| sub.kind) {
        None => format!("A {} has no sub-resource {name:?}.", source.singular),
        Some(SubResourceKind::Records { source: other, .. }) => {
            format!(
                "This bundle holds no {other}, so there are no {name} of a {}.",
                source.singular
            )
        }
        Some(_) => format!("This bundle holds no {name} of {}.", source.key),
    };
    let is_held = |sub: &&SubResource| Listing::of_sub_resource(bundle, source, sub).is_some();
    let valid: Vec<&str> =
        source.sub_resources.iter().filter(is_held).map(|sub| sub.name).collect();
    Err(Error::new(Code::RouteNotFound, message).suggest(name, valid))
}
