//! Counts, sums and time series over the records of a source.

use std::sync::Arc;

use crate::api::{
    Arguments, Context, Cost, Endpoint, Kind, Operation, Outcome, Parameter, Result, Scope, Tool,
};
use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::Source;
use crate::policy::endpoints::{aggregate_parameters, filter_parameters, page_parameters};
use crate::policy::parameters::{DATES, FILTERS, TOP};
use crate::policy::query::{AGGREGATE_PARAMETERS, Listing};
use crate::policy::record::require_source;
use crate::policy::{advertised, aggregate, schemas};

/// The widths of a time bucket, as `query::Interval` names them.
const INTERVALS: &[&str] = &["day", "week", "month", "quarter", "year"];

const QUERY: Parameter =
    Parameter::optional("query", Kind::Text, "Words that the texts must have").sets("q");

const fn resource(choices: fn(&Bundle) -> Vec<&'static str>) -> Parameter {
    Parameter::required("resource", Kind::OneOf(choices), "A source").sets("{source}")
}

const GROUP_BY: Parameter = Parameter::optional(
    "group_by",
    Kind::SomeOf(|bundle| advertised::fields(bundle, |f| f.group, |_| true), 2),
    "One field or two",
);

/// The same without the enum, which the list of tools has room for once.
const GROUP_BY_AS_IN_COUNT: Parameter =
    Parameter::optional("group_by", Kind::Names, "One field or two, as in count");

pub const OPERATION: Operation = Operation {
    name: "aggregate_records",
    title: "Count or sum records",
    about: "Counts and sums of a source's records, by group or over time",
    route: Some("/v1/{source}"),
    takes_body: false,
    selects: Some(|arguments| AGGREGATE_PARAMETERS.iter().any(|name| arguments.has(name))),
    scope: Scope::Read,
    cost: Cost::Query,
    cost_with: None,
    is_list: true,
    endpoints: |bundle| {
        let endpoint = |(source, facts): (&'static Source, &SourceFacts)| {
            let listing = Listing::of_source(bundle, source, facts);
            let mut parameters = aggregate_parameters(&listing, source.shape.has_body());
            parameters.extend(page_parameters().into_iter().filter(|p| p.name == "limit"));
            parameters.extend(filter_parameters(&listing));
            Endpoint {
                path: format!("/v1/{}", source.key),
                id: format!("aggregate_{}", source.table()),
                summary: format!("Counts and sums of {}", source.key),
                parameters,
                output: schemas::numbers(),
            }
        };
        bundle.sources().map(endpoint).collect()
    },
    tools: &[
        Tool {
            name: "count",
            title: "Count records",
            is_offered: |_| true,
            about: |_| {
                "How many records there are, in all or by one or two fields (top groups first, the \
                 rest as `other`): how many, number of, which has the most. `query` counts only \
                 records whose text has the words. Fields to group by: those with a star in \
                 list_records. Amounts of money: sum. Over time: time_series. The records \
                 themselves: list_records."
                    .into()
            },
            examples: &[
                "how many bills became law",
                "which firm turned in the most reports",
                "break down the House by party",
            ],
            fixed: &[("aggregate", "count")],
            arguments: &[&[resource(advertised::sources), GROUP_BY, QUERY], FILTERS, DATES, TOP],
            output: |_| schemas::numbers(),
        },
        Tool {
            name: "sum",
            title: "Add up a field",
            is_offered: |bundle| !advertised::sources_with(bundle, |f| f.sum).is_empty(),
            about: |bundle| {
                format!(
                    "The total of a number over records, in all or by one or two fields: money \
                     spent, top spenders, largest totals. Fields that can be added up: {}. \
                     group_by as in count.",
                    advertised::describe_fields(bundle, |f| f.sum)
                )
            },
            examples: &[
                "how much did Pfizer put into lobbying in 2024, all quarters together",
                "top 20 lobbying spenders",
            ],
            fixed: &[("aggregate", "sum")],
            arguments: &[
                &[
                    resource(|bundle| advertised::sources_with(bundle, |f| f.sum)),
                    GROUP_BY_AS_IN_COUNT,
                    Parameter::required(
                        "sum_field",
                        Kind::OneOf(|bundle| advertised::fields(bundle, |f| f.sum, |f| f.sum)),
                        "Field to add up",
                    ),
                ],
                FILTERS,
                DATES,
                TOP,
            ],
            output: |_| schemas::numbers(),
        },
        Tool {
            name: "time_series",
            title: "Count or add up over time",
            is_offered: |bundle| !advertised::sources_with(bundle, |f| f.time).is_empty(),
            about: |bundle| {
                format!(
                    "Counts, or sums of `sum_field`, per day, week, month, quarter or year; 0 \
                     where there are none, nothing where the bundle has no data: trends, by month, \
                     over the years, since. `query` counts only records whose text has the words. \
                     Date fields: {}. group_by (one field) as in count.",
                    advertised::describe_fields(bundle, |f| f.time)
                )
            },
            examples: &[
                "bills on AI each month since 2018",
                "rules per quarter",
                "lobbying dollars by quarter",
            ],
            fixed: &[],
            arguments: &[
                &[
                    resource(|bundle| advertised::sources_with(bundle, |f| f.time)),
                    GROUP_BY_AS_IN_COUNT,
                    Parameter::required(
                        "time_field",
                        Kind::OneOf(|bundle| advertised::fields(bundle, |f| f.time, |f| f.time)),
                        "Date field",
                    )
                    .sets("bucket_by_time"),
                    Parameter::required("interval", Kind::Choice(INTERVALS), "Width of a bucket")
                        .sets("time_interval"),
                    Parameter::optional(
                        "sum_field",
                        Kind::OneOf(|bundle| advertised::fields(bundle, |f| f.sum, |f| f.time)),
                        "Field to add up; without it records are counted",
                    ),
                    QUERY,
                ],
                FILTERS,
                DATES,
                TOP,
            ],
            output: |_| schemas::numbers(),
        },
    ],
    run,
};

fn run(mut arguments: Arguments, context: &Arc<Context>) -> Result<Outcome> {
    let (source, facts) = require_source(&context.bundle, &arguments.require("{source}")?)?;
    let listing = Listing::of_source(&context.bundle, source, facts);
    aggregate::numbers(context, source, &listing, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::query::Interval;

    #[test]
    fn the_tool_names_the_intervals_of_the_query() {
        assert_eq!(INTERVALS, Interval::NAMES.map(|(name, _)| name));
    }
}
