//! From a name as people type it to the records of a registry.

use std::sync::Arc;

use crate::api::{
    Arguments, Code, Context, Cost, Endpoint, Error, Kind, Operation, Outcome, Parameter, Result,
    Scope, Tool,
};
use crate::bundle::SourceFacts;
use crate::catalog::{Shape, Source};
use crate::policy::endpoints::{
    fields_parameter, filter_parameters, page_parameters, query_parameter, text,
};
use crate::policy::parameters::{DATES, FILTERS, PAGE};
use crate::policy::query::{AGGREGATE_PARAMETERS, Listing};
use crate::policy::record::require_source;
use crate::policy::{advertised, resolve, schemas, understand};

pub const OPERATION: Operation = Operation {
    name: "resolve_entity",
    title: "Find records by name",
    about: "Records of a registry by a name as people type it, the best match first",
    route: Some("/v1/{source}"),
    takes_body: false,
    selects: Some(|arguments| {
        arguments.has("q") && !AGGREGATE_PARAMETERS.iter().any(|name| arguments.has(name))
    }),
    scope: Scope::Read,
    cost: Cost::Query,
    cost_with: None,
    is_list: true,
    endpoints: |bundle| {
        let endpoint = |(source, facts): (&'static Source, &SourceFacts)| {
            let about = "A name, as people type it: ranked records with `match`";
            let mut parameters = vec![query_parameter("q", text(), about), fields_parameter()];
            parameters.extend(page_parameters());
            parameters.extend(filter_parameters(&Listing::of_source(bundle, source, facts)));
            Endpoint {
                path: format!("/v1/{}", source.key),
                id: format!("resolve_{}", source.table()),
                summary: format!("{} by name", source.key),
                parameters,
                output: schemas::matches(),
            }
        };
        let registries = bundle.sources().filter(|(source, _)| source.shape == Shape::Registry);
        registries.map(endpoint).collect()
    },
    tools: &[Tool {
        name: "resolve_entity",
        title: "Find a person, committee or organization by name",
        is_offered: |bundle| !advertised::registries(bundle).is_empty(),
        about: |bundle| {
            format!(
                "From a name, however misspelt or partial, to the record and its canonical id, \
                 best match first, each with match.score. Who is, what is the id of: {}. \
                 \"Sen. Markley from Mass.\" finds Edward Markey. Not for subjects or documents \
                 (search).",
                advertised::registries(bundle).join(", ")
            )
        },
        examples: &[
            "who is Sen. Markley from Mass.",
            "committee code of Senate HELP",
            "a staffer whose name I half remember",
            "PN number of the Yellen nomination",
            "official subject heading for guns",
        ],
        fixed: &[],
        arguments: &[
            &[
                Parameter::required(
                    "query",
                    Kind::Text,
                    "The name as known; title, state, party and year around it help",
                )
                .sets("q"),
                Parameter::required(
                    "entity_type",
                    Kind::OneOf(advertised::registries),
                    "The registry to look in",
                )
                .sets("{source}"),
            ],
            FILTERS,
            DATES,
            PAGE,
        ],
        output: |_| schemas::matches(),
    }],
    run,
};

fn run(mut arguments: Arguments, context: &Arc<Context>) -> Result<Outcome> {
    let (source, facts) = require_source(&context.bundle, &arguments.require("{source}")?)?;
    if source.shape != Shape::Registry {
        let question = arguments.take_one("q")?.unwrap_or_default();
        let message = "`q` finds names in registries; these records carry a text, which \
                       /v1/search searches.";
        let error = Error::new(Code::SourceNotResolvable, message).hint("use_tool", "search");
        let error = Error { field: Some("q".into()), ..error };
        return Err(error.hint("use", format!("/v1/search?q={question}")));
    }
    let listing = Listing::of_source(&context.bundle, source, facts);
    let understood = understand::filters(context, &listing, &mut arguments)?;
    let mut outcome = resolve::resolve(context, source, &listing, arguments)?;
    outcome.notes.understood = understood;
    Ok(outcome)
}
