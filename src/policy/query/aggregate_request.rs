//! What a caller asks to be counted or summed, read from arguments and checked against the plan of
//! the listing: which fields can be grouped, summed and bucketed by time.

use super::filter::Filter;
use super::interval::Interval;
use super::listing::Listing;
use super::request::{MOST_ITEMS, take_limit};
use crate::api::{Arguments, Error, Result};
use crate::catalog::{Field, Kind};

/// Parameters that ask for numbers instead of records.
pub const AGGREGATE_PARAMETERS: [&str; 5] =
    ["aggregate", "group_by", "sum_field", "bucket_by_time", "time_interval"];

#[derive(Clone, Copy, Debug)]
pub enum Measure {
    Count,
    Sum(Field),
    /// Of a field with fractions; intervals and groups without a value have none.
    Of(Statistic, Field),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    Sum,
    Mean,
    Min,
    Max,
    /// By time.
    First,
    Last,
}

impl Statistic {
    pub const NAMES: [(&'static str, Statistic); 6] = [
        ("last", Statistic::Last),
        ("first", Statistic::First),
        ("mean", Statistic::Mean),
        ("min", Statistic::Min),
        ("max", Statistic::Max),
        ("sum", Statistic::Sum),
    ];
}

impl Measure {
    /// The field with fractions that is measured.
    pub fn number(&self) -> Option<&Field> {
        match self {
            Measure::Of(_, field) => Some(field),
            Measure::Count | Measure::Sum(_) => None,
        }
    }
}

/// What `aggregate` takes for a list: statistics where it has values over time.
pub fn aggregates(listing: &Listing) -> Vec<&'static str> {
    match number_of(listing) {
        Some(_) => ["count"].into_iter().chain(Statistic::NAMES.map(|(name, _)| name)).collect(),
        None => vec!["count", "sum"],
    }
}

/// The field with fractions that a list has.
fn number_of(listing: &Listing) -> Option<Field> {
    listing.columns.iter().copied().find(|f| f.sum && f.kind == Kind::Number)
}

pub struct AggregateRequest {
    pub measure: Measure,
    pub groups: Vec<Field>,
    pub time: Option<(Field, Interval)>,
    pub filters: Vec<Filter>,
    /// Flags whose records are left out, since no filter asks for them.
    pub left_out: Vec<Field>,
    pub limit: Option<usize>,
    /// Words that the texts must have; the caller turns them into `matching`.
    pub question: Option<String>,
    /// Positions of the records that have these words.
    pub matching: Option<Vec<u32>>,
}

impl AggregateRequest {
    /// Reads the arguments; `has_text` says whether `q` can ask for words of a text.
    pub fn read(
        mut arguments: Arguments,
        listing: &Listing,
        has_text: bool,
    ) -> Result<AggregateRequest> {
        let aggregate = arguments.take_one("aggregate")?;
        let sum_field = take_field(&mut arguments, listing, "sum_field", |f| f.sum)?;
        let time_field = take_field(&mut arguments, listing, "bucket_by_time", |f| f.time)?;
        let interval = take_interval(&mut arguments)?;
        let groups = take_groups(&mut arguments, listing)?;
        let limit = take_limit(&mut arguments)?;
        let question = arguments.take_one("q")?.map(|q| q.trim().to_string());
        if question.is_some() && !has_text {
            return Err(Error::invalid("q", "`q` finds names here; it does not go with numbers."));
        }
        for name in ["sort", "cursor", "fields"] {
            if arguments.has(name) {
                let message = format!("`{name}` is for records; this asks for numbers.");
                return Err(Error::invalid(name, message));
            }
        }
        let measure = measure(aggregate.as_deref(), sum_field, listing)?;
        let time = match (time_field, interval) {
            (None, None) => None,
            (Some(field), interval) => Some((field, interval.unwrap_or(Interval::Month))),
            (None, Some(_)) => {
                let message = "`time_interval` goes with `bucket_by_time`.";
                let error = Error::invalid("time_interval", message);
                return Err(error.hint("valid", listing.columns_with(|f| f.time)));
            }
        };
        check_groups(&groups, time.is_some())?;
        let valid: Vec<&str> = AGGREGATE_PARAMETERS.into_iter().chain(["limit", "q"]).collect();
        let mut filters = Filter::read_all(&arguments, listing, &valid)?;
        let is_left_out =
            |f: &&Field| f.left_out.is_some() && !filters.iter().any(|filter| filter.is_on(f.name));
        let left_out: Vec<Field> = listing.columns.iter().filter(is_left_out).copied().collect();
        filters.extend(left_out.iter().map(|flag| Filter::without(*flag)));
        let question = question.filter(|question| !question.is_empty());
        Ok(AggregateRequest {
            measure,
            groups,
            time,
            filters,
            left_out,
            limit,
            question,
            matching: None,
        })
    }

    /// Groups or series to show, unless the request says otherwise.
    pub fn limit_or(&self, default: usize) -> usize {
        self.limit.unwrap_or(default).min(MOST_ITEMS)
    }

    /// The interval, if this dimension is time.
    pub fn interval_of(&self, dimension: &str) -> Option<Interval> {
        self.time.filter(|(field, _)| field.name == dimension).map(|(_, interval)| interval)
    }
}

fn measure(
    aggregate: Option<&str>,
    sum_field: Option<Field>,
    listing: &Listing,
) -> Result<Measure> {
    let statistic = |name: &str| Statistic::NAMES.into_iter().find(|(known, _)| *known == name);
    if let (Some(number), Some((_, statistic))) =
        (sum_field.or_else(|| number_of(listing)), aggregate.and_then(statistic))
        && number.kind == Kind::Number
    {
        return Ok(Measure::Of(statistic, number));
    }
    match (aggregate, sum_field) {
        (None, Some(field)) if field.kind == Kind::Number => Ok(Measure::Of(Statistic::Sum, field)),
        (Some("count") | None, None) => Ok(Measure::Count),
        (Some("sum") | None, Some(field)) => Ok(Measure::Sum(field)),
        (Some("sum"), None) => {
            let error = Error::invalid("sum_field", "`aggregate=sum` needs `sum_field`.");
            Err(error.hint("valid", listing.columns_with(|f| f.sum)))
        }
        (Some("count"), Some(_)) => {
            let message = "`sum_field` goes with `aggregate=sum`, not with `count`.";
            Err(Error::invalid("sum_field", message))
        }
        (Some(other), _) => {
            let message = format!("`aggregate` can't be {other:?}.");
            Err(Error::invalid("aggregate", message).suggest(other, aggregates(listing)))
        }
    }
}

fn check_groups(groups: &[Field], over_time: bool) -> Result<()> {
    let most = if over_time { 1 } else { 2 };
    if groups.len() > most {
        let message = format!("`group_by` takes at most {most} fields here.");
        return Err(Error::invalid("group_by", message));
    }
    match groups {
        [first, second] if first.name == second.name => {
            Err(Error::invalid("group_by", "`group_by` names the same field twice."))
        }
        _ => Ok(()),
    }
}

fn planned(
    listing: &Listing,
    parameter: &str,
    name: &str,
    allows: fn(&Field) -> bool,
) -> Result<Field> {
    listing.column(name).filter(allows).ok_or_else(|| {
        let message = format!("`{parameter}` can't be {name:?} here.");
        Error::invalid(parameter, message).suggest(name, listing.columns_with(allows))
    })
}

fn take_field(
    arguments: &mut Arguments,
    listing: &Listing,
    parameter: &str,
    allows: fn(&Field) -> bool,
) -> Result<Option<Field>> {
    let given = arguments.take_one(parameter)?;
    given.map(|name| planned(listing, parameter, name.trim(), allows)).transpose()
}

fn take_groups(arguments: &mut Arguments, listing: &Listing) -> Result<Vec<Field>> {
    let Some(given) = arguments.take("group_by")? else { return Ok(Vec::new()) };
    let names = given.values("group_by")?;
    if names.is_empty() {
        let error = Error::invalid("group_by", "`group_by` names no field.");
        return Err(error.hint("valid", listing.columns_with(|f| f.group)));
    }
    names.iter().map(|name| planned(listing, "group_by", name.trim(), |f| f.group)).collect()
}

fn take_interval(arguments: &mut Arguments) -> Result<Option<Interval>> {
    let Some(given) = arguments.take_one("time_interval")? else { return Ok(None) };
    let found = Interval::NAMES.iter().find(|(name, _)| *name == given.trim());
    found.map(|(_, interval)| Some(*interval)).ok_or_else(|| {
        let message = format!("`time_interval` can't be {given:?}.");
        let names = Interval::NAMES.map(|(name, _)| name);
        Error::invalid("time_interval", message).suggest(&given, names)
    })
}
