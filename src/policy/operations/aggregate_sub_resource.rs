//! The values of a record over time: the last, the mean or another statistic of each interval.

use std::sync::Arc;

use super::list_sub_resource::{self, is_offered, sub_resource};
use crate::api::{
    Arguments, Context, Cost, Endpoint, Error, Given, Kind, Operation, Outcome, Parameter, Result,
    Scope, Tool,
};
use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::{Source, SubResource};
use crate::policy::endpoints::{aggregate_parameters, filter_parameters, id_parameter};
use crate::policy::parameters::{DATES, PAGE};
use crate::policy::query::{AGGREGATE_PARAMETERS, Listing};
use crate::policy::record::require_source;
use crate::policy::{aggregate, schemas, understand};

const INTERVALS: &[&str] = &["week", "month", "quarter", "year"];
const STATISTICS: &[&str] = &["last", "first", "mean", "min", "max", "sum"];

pub const OPERATION: Operation = Operation {
    name: "aggregate_sub_resource",
    title: "Values over time",
    about: "The values of a record by interval: the last of each month, the mean of each year",
    route: Some("/v1/{source}/{id}/{sub}"),
    selects: Some(|arguments| AGGREGATE_PARAMETERS.iter().any(|name| arguments.has(name))),
    takes_body: false,
    scope: Scope::Read,
    cost: Cost::Query,
    cost_with: None,
    is_list: true,
    endpoints,
    tools: &[Tool {
        name: "get_series",
        title: "Get a statistical series",
        is_offered: |bundle| is_offered(bundle, "statistical-series", "observations"),
        about: |_| {
            "Values of an official time series (federal debt, interest rates, prices), newest \
             first, or one per `interval`."
                .into()
        },
        examples: &["federal debt by month since 2020"],
        fixed: &[("{source}", "statistical-series"), ("{sub}", "observations")],
        arguments: &[
            &[
                Parameter::required(
                    "series_id",
                    Kind::Id("ust:debt_to_penny:tot_pub_debt_out_amt"),
                    "Series: id or name",
                )
                .sets("{id}"),
                Parameter::optional("interval", Kind::Choice(INTERVALS), "One value for each")
                    .sets("time_interval"),
                Parameter::optional("statistic", Kind::Choice(STATISTICS), "last by default")
                    .sets("aggregate"),
            ],
            DATES,
            PAGE,
        ],
        output: |_| schemas::rows_or_numbers("statistical-series", "observations"),
    }],
    run,
};

fn endpoints(bundle: &Bundle) -> Vec<Endpoint> {
    let of_source = |(source, _): (&'static Source, &SourceFacts)| {
        let endpoint = |sub: &'static SubResource| {
            let listing = Listing::of_sub_resource(bundle, source, sub)?;
            time_field(&listing)?;
            let mut parameters = vec![id_parameter(bundle, source)];
            let own = aggregate_parameters(&listing, false).into_iter();
            parameters.extend(own.filter(|parameter| parameter.name != "group_by"));
            parameters.extend(filter_parameters(&listing));
            Some(Endpoint {
                path: format!("/v1/{}/{{id}}/{}", source.key, sub.name),
                id: format!("aggregate_{}_{}", source.table(), sub.name.replace('-', "_")),
                summary: format!("{} over time", source.key),
                parameters,
                output: schemas::numbers(),
            })
        };
        source.sub_resources.iter().filter_map(endpoint).collect::<Vec<_>>()
    };
    bundle.sources().flat_map(of_source).collect()
}

/// The date of rows that hold values over time.
fn time_field(listing: &Listing) -> Option<&'static str> {
    let has_values = listing.columns.iter().any(|field| field.sum) && listing.facts.is_none();
    listing.columns_with(|field| field.time).first().copied().filter(|_| has_values)
}

fn run(mut arguments: Arguments, context: &Arc<Context>) -> Result<Outcome> {
    let is_asked = AGGREGATE_PARAMETERS.iter().any(|name| arguments.has(name));
    if !is_asked {
        return list_sub_resource::run(arguments, context);
    }
    let bundle = &context.bundle;
    let (source, _) = require_source(bundle, &arguments.require("{source}")?)?;
    let id = arguments.require("{id}")?;
    let name = arguments.require("{sub}")?;
    let (sub, listing) = sub_resource(bundle, source, &name)?;
    let Some(time) = time_field(&listing) else {
        let first = AGGREGATE_PARAMETERS.into_iter().find(|name| arguments.has(name));
        let message = format!("{name} of {} are listed, not counted or added up.", source.key);
        return Err(Error::invalid(first.unwrap_or_default(), message));
    };
    if arguments.has("time_interval") && !arguments.has("bucket_by_time") {
        arguments.push_one("bucket_by_time", time);
    }
    if !arguments.has("aggregate") {
        arguments.push("aggregate", Given::One("last".into()));
    }
    let found = understand::record(context, source, &id)?;
    let listing = listing.under(source, sub, found.number, found.entry.id)?;
    let mut outcome = aggregate::numbers(context, source, &listing, arguments)?;
    outcome.notes.resolved = found.resolved();
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::query::{Interval, Statistic};

    #[test]
    fn the_tool_names_intervals_and_statistics_of_the_query() {
        assert_eq!(STATISTICS, Statistic::NAMES.map(|(name, _)| name));
        assert_eq!(INTERVALS, &Interval::NAMES.map(|(name, _)| name)[1..]);
    }
}
