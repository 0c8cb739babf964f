//! The records of a source: filtered, sorted, page by page.

use std::sync::Arc;

use crate::api::{Arguments, Context, Cost, Endpoint, Operation, Outcome, Result, Scope};
use crate::bundle::SourceFacts;
use crate::catalog::Source;
use crate::policy::endpoints::list_parameters;
use crate::policy::query::{self, AGGREGATE_PARAMETERS, ListRequest, Listing};
use crate::policy::record::require_source;
use crate::policy::schemas;

pub const OPERATION: Operation = Operation {
    name: "list_records",
    title: "List records",
    about: "Records of a source: filtered, sorted, page by page",
    route: Some("/v1/{source}"),
    selects: None,
    scope: Scope::Read,
    cost: Cost::Query,
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
    tools: &[],
    run,
};

fn run(mut arguments: Arguments, context: &Arc<Context>) -> Result<Outcome> {
    let (source, facts) = require_source(&context.bundle, &arguments.require("{source}")?)?;
    let listing = Listing::of_source(&context.bundle, source, facts);
    let valid: Vec<&str> = AGGREGATE_PARAMETERS.into_iter().chain(["q"]).collect();
    let request = ListRequest::read(arguments, &listing, &valid)?;
    query::list(context, &listing, &request)
}
