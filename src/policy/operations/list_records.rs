//! The records of a source: filtered, sorted, page by page.

use std::sync::Arc;

use serde_json::json;

use super::list_sub_resource;
use crate::api::{
    Arguments, Context, Cost, Endpoint, Kind, Operation, Outcome, Parameter, Result, Scope, Tool,
};
use crate::bundle::SourceFacts;
use crate::catalog::Source;
use crate::policy::endpoints::list_parameters;
use crate::policy::parameters::{DATES, FACETS, FILTERS, PAGE};
use crate::policy::query::{self, AGGREGATE_PARAMETERS, ListRequest, Listing};
use crate::policy::record::{self, require_source};
use crate::policy::{advertised, schemas, understand};

pub const OPERATION: Operation = Operation {
    name: "list_records",
    title: "List records",
    about: "Records of a source: filtered, sorted, page by page",
    route: Some("/v1/{source}"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Query,
    cost_with: None,
    is_list: true,
    endpoints: |bundle| {
        let endpoint = |(source, facts): (&'static Source, &SourceFacts)| Endpoint {
            path: format!("/v1/{}", source.key),
            id: format!("list_{}", source.table()),
            summary: source.about.to_string(),
            parameters: list_parameters(&Listing::of_source(bundle, source, facts)),
            output: schemas::records(source),
        };
        bundle.sources().map(endpoint).collect()
    },
    tools: &[Tool {
        name: "list_records",
        title: "List records by filter and order",
        is_offered: |_| true,
        about: |bundle| {
            format!(
                "Records of one source by filters and sort order, without search words; `total` is \
                 exact. The most, the largest, the newest: `sort`. A value $field compares two \
                 fields: {{\"yea\": \"$nay\"}} finds ties. With `of`, a list that belongs to one \
                 record: {{\"resource\": \"actions\", \"of\": \"hr:119:1\"}}. Fields to filter by \
                 (* also to group by in count and sum), with their values where they are few: {}. \
                 Numbers alone: count. By subject: search. By name: resolve_entity.",
                advertised::filter_fields(bundle)
            )
        },
        examples: &[
            "which bill has the most cosponsors",
            "bills that were vetoed",
            "tied roll calls",
            "the docket with the most documents",
        ],
        fixed: &[],
        arguments: &[
            &[
                Parameter::required(
                    "resource",
                    Kind::OneOf(advertised::listable),
                    "A source; with `of`, a list that belongs to a record",
                )
                .sets("{source}"),
                Parameter::optional("of", Kind::Id("hr:119:1"), "The record whose list it is")
                    .sets("{of}"),
            ],
            FILTERS,
            DATES,
            &[
                Parameter::optional("sort", Kind::Text, "A field; -field for descending"),
                Parameter::optional("fields", Kind::Names, "Only these fields"),
            ],
            FACETS,
            PAGE,
        ],
        output: |_| schemas::page(json!({ "type": "object" })),
    }],
    run,
};

fn run(mut arguments: Arguments, context: &Arc<Context>) -> Result<Outcome> {
    if let Some(id) = arguments.take_one("{of}")? {
        let found = record::fetch(&context.bundle, &id)?;
        let list = arguments.require("{source}")?;
        arguments.push_one("{source}", found.source.key);
        arguments.push_one("{id}", found.entry.id);
        arguments.push_one("{sub}", list);
        return list_sub_resource::run(arguments, context);
    }
    let (source, facts) = require_source(&context.bundle, &arguments.require("{source}")?)?;
    let listing = Listing::of_source(&context.bundle, source, facts);
    let valid: Vec<&str> = AGGREGATE_PARAMETERS.into_iter().chain(["q"]).collect();
    let understood = understand::filters(context, &listing, &mut arguments)?;
    let request = ListRequest::read(arguments, &listing, &valid)?;
    let mut outcome = query::list(context, &listing, &request)?;
    outcome.notes.understood = understood;
    Ok(outcome)
}
