//! One condition on one column: read from an argument into values of the column's type, written as
//! SQL with bound values.

use std::borrow::Cow;
use std::cmp::Ordering;

use time::Date;

use super::listing::Listing;
use crate::api::argument::{MOST_FILTERS, unknown};
use crate::api::{Arguments, Error, Given, Result};
use crate::bundle::SqlValue;
use crate::catalog::wording::day;
use crate::catalog::{Field, Kind, vocabulary};
use crate::policy::record;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Any,
    Lt,
    Lte,
    Gt,
    Gte,
}

impl Op {
    pub const SUFFIXES: [(&'static str, Op); 4] =
        [("lt", Op::Lt), ("lte", Op::Lte), ("gt", Op::Gt), ("gte", Op::Gte)];

    const fn sql(self) -> &'static str {
        match self {
            Op::Any => "=",
            Op::Lt => "<",
            Op::Lte => "<=",
            Op::Gt => ">",
            Op::Gte => ">=",
        }
    }

    /// Whether two values in this order pass.
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Op::Any => order.is_eq(),
            Op::Lt => order.is_lt(),
            Op::Lte => order.is_le(),
            Op::Gt => order.is_gt(),
            Op::Gte => order.is_ge(),
        }
    }
}

/// A field, an operator and values of the field's type.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The argument as it was written, for explanations.
    pub written: String,
    pub(super) column: &'static str,
    pub(super) kind: Kind,
    pub(super) condition: Condition,
}

#[derive(Clone, Debug)]
pub(super) enum Condition {
    AnyOf(Vec<SqlValue>),
    /// Days from the first to the last of each span.
    Within(Vec<(Date, Date)>),
    Compare(Op, SqlValue),
    /// A flag that is false or absent.
    IsNotTrue,
    /// With another column of the same record.
    CompareColumns(Op, &'static str),
}

impl Filter {
    /// Rows of the current version of a text.
    pub fn current_version() -> Filter {
        Filter {
            written: String::new(),
            column: "current",
            kind: Kind::Bool,
            condition: Condition::AnyOf(vec![SqlValue::Boolean(true)]),
        }
    }

    /// Records with this flag.
    pub fn with(flag: Field) -> Filter {
        let condition = Condition::AnyOf(vec![SqlValue::Boolean(true)]);
        Filter { condition, ..Filter::without(flag) }
    }

    /// Records without this flag.
    pub fn without(flag: Field) -> Filter {
        Filter {
            written: String::new(),
            column: flag.name,
            kind: flag.kind,
            condition: Condition::IsNotTrue,
        }
    }

    pub fn is_on(&self, column: &str) -> bool {
        self.column == column
    }

    /// Every argument as a filter; `valid` names what else the caller could have meant.
    pub fn read_all(
        arguments: &Arguments,
        listing: &Listing,
        valid: &[&str],
    ) -> Result<Vec<Filter>> {
        let read = |(name, given): (&str, &Given)| Filter::read(name, given, listing, valid);
        let filters = arguments.iter().map(read).collect::<Result<Vec<_>>>()?;
        if filters.len() > MOST_FILTERS {
            let message =
                format!("There are {} filters; the limit is {MOST_FILTERS}.", filters.len());
            return Err(Error::invalid("filters", message));
        }
        Ok(filters)
    }

    /// Reads the argument `name`: a column, a column with a comparison, `since` or `until`.
    fn read(name: &str, given: &Given, listing: &Listing, valid: &[&str]) -> Result<Filter> {
        let main_date = listing.main_date.and_then(|date| listing.column(date));
        let comparison = |suffix: &str| Op::SUFFIXES.iter().find(|(s, _)| *s == suffix);
        let (column, op) = match (name, main_date) {
            ("since", Some(date)) => (Some(date), Op::Gte),
            ("until", Some(date)) => (Some(date), Op::Lte),
            _ => match name.rsplit_once('.').map(|(base, suffix)| (base, comparison(suffix))) {
                Some((base, Some((_, op)))) => (listing.column(base), *op),
                _ => (listing.column(name), Op::Any),
            },
        };
        match column {
            Some(column) => Filter::on(column, op, name, given, listing),
            None => {
                let base = name.rsplit_once('.').map_or(name, |(base, _)| base);
                let dates = if main_date.is_some() { &["since", "until"][..] } else { &[] };
                let fields = listing.columns_with(Field::can_filter);
                let all: Vec<&str> = valid.iter().chain(dates).chain(&fields).copied().collect();
                let error = unknown(name, &all);
                Err(if base == name { error } else { error.suggest(base, all) })
            }
        }
    }

    fn on(column: Field, op: Op, name: &str, given: &Given, listing: &Listing) -> Result<Filter> {
        let fail = |message: String| Error::invalid(name, message);
        if !column.can_filter() {
            return Err(fail(format!("`{}` is prose and can't be filtered.", column.name)));
        }
        if op != Op::Any && !column.can_compare() {
            let kind = column.kind.name();
            let message =
                format!("`{}` is a {kind}: only numbers and dates can be compared.", column.name);
            return Err(fail(message));
        }
        let written = format!("{name}={}", given.shown());
        if let Some(other) = other_column(column, name, given, listing)? {
            let condition = Condition::CompareColumns(op, other);
            return Ok(Filter { written, column: column.name, kind: column.kind, condition });
        }
        let values = values(column, op, name, given, listing)?;
        if values.is_empty() {
            return Err(fail(format!("`{name}` has no value.")));
        }
        let read = |value: &Cow<str>| read_value(column, name, value, listing);
        let condition = match (column.kind, op, values.as_slice()) {
            (Kind::Date, Op::Any, spans) => {
                Condition::Within(spans.iter().map(|v| read_span(name, v)).collect::<Result<_>>()?)
            }
            (Kind::Date, op, [span]) => {
                let (first, last) = read_span(name, span)?;
                // `lte=2025` means up to the last day of 2025, `gt=2025` after it.
                let bound = if matches!(op, Op::Lt | Op::Gte) { first } else { last };
                Condition::Compare(op, SqlValue::Date(bound))
            }
            (_, Op::Any, values) => {
                Condition::AnyOf(values.iter().map(read).collect::<Result<_>>()?)
            }
            (_, op, [value]) => Condition::Compare(op, read(value)?),
            _ => return Err(fail(format!("`{name}` compares with one value."))),
        };
        Ok(Filter { written, column: column.name, kind: column.kind, condition })
    }

    /// The condition, with its values pushed onto `bound`.
    pub fn sql(&self, bound: &mut Vec<SqlValue>) -> String {
        let column = quoted(self.column);
        match &self.condition {
            Condition::AnyOf(values) => {
                bound.extend(values.iter().cloned());
                let marks = vec![self.mark(); values.len()].join(", ");
                match self.kind {
                    Kind::Keyword | Kind::Text => format!("lower({column}) IN ({marks})"),
                    Kind::Keywords => format!(
                        "list_has_any(list_transform({column}, lambda x: lower(x)), [{marks}])"
                    ),
                    Kind::Ids(_) => format!("list_has_any({column}, [{marks}])"),
                    _ => format!("{column} IN ({marks})"),
                }
            }
            Condition::Within(spans) => {
                let between = spans.iter().map(|(first, last)| {
                    bound.extend([SqlValue::Date(*first), SqlValue::Date(*last)]);
                    format!("{column} BETWEEN ?::DATE AND ?::DATE")
                });
                format!("({})", between.collect::<Vec<_>>().join(" OR "))
            }
            Condition::Compare(op, value) => {
                bound.push(value.clone());
                format!("{column} {} {}", op.sql(), self.mark())
            }
            Condition::CompareColumns(op, other) => {
                format!("{column} {} {}", op.sql(), quoted(other))
            }
            Condition::IsNotTrue => format!("{column} IS NOT TRUE"),
        }
    }

    /// The days that a filter on a date allows, from the first to the last of each span.
    pub fn days(&self) -> Vec<(Date, Date)> {
        match &self.condition {
            Condition::Within(spans) => spans.clone(),
            Condition::Compare(op, SqlValue::Date(day)) => match op {
                Op::Any => vec![(*day, *day)],
                Op::Lt => vec![(Date::MIN, day.previous_day().unwrap_or(Date::MIN))],
                Op::Lte => vec![(Date::MIN, *day)],
                Op::Gt => vec![(day.next_day().unwrap_or(Date::MAX), Date::MAX)],
                Op::Gte => vec![(*day, Date::MAX)],
            },
            _ => vec![(Date::MIN, Date::MAX)],
        }
    }

    /// The numbers that a filter names; none for a comparison.
    pub fn numbers(&self) -> Vec<i64> {
        let number = |value: &SqlValue| match value {
            SqlValue::Integer(number) => Some(*number),
            _ => None,
        };
        match &self.condition {
            Condition::AnyOf(values) => values.iter().filter_map(number).collect(),
            _ => Vec::new(),
        }
    }

    /// The values that a filter names, as they are in ids; none for a comparison.
    pub fn words(&self) -> Vec<String> {
        let word = |value: &SqlValue| match value {
            SqlValue::Integer(number) => Some(number.to_string()),
            SqlValue::Text(text) => Some(text.clone()),
            _ => None,
        };
        match &self.condition {
            Condition::AnyOf(values) => values.iter().filter_map(word).collect(),
            _ => Vec::new(),
        }
    }

    /// A place for a value of the column's type.
    fn mark(&self) -> &'static str {
        match self.kind {
            Kind::Int => "?::BIGINT",
            Kind::Number => "?::DOUBLE",
            Kind::Bool => "?::BOOLEAN",
            Kind::Date => "?::DATE",
            _ => "?::VARCHAR",
        }
    }

    /// What tells this condition from others, for cursors and caches.
    pub fn key(&self) -> String {
        format!("{} {:?}", self.column, self.condition)
    }
}

/// What tells these conditions together from others, whatever their order.
pub fn filters_key(filters: &[Filter]) -> String {
    let mut keys: Vec<String> = filters.iter().map(|filter| filter.key() + "\n").collect();
    keys.sort_unstable();
    keys.concat()
}

/// The column that a value like `$nay` names: `yea=$nay` finds ties.
fn other_column(
    column: Field,
    name: &str,
    given: &Given,
    listing: &Listing,
) -> Result<Option<&'static str>> {
    if !column.can_compare() {
        return Ok(None);
    }
    let text = given.shown();
    let Some(other) = text.trim().strip_prefix('$') else { return Ok(None) };
    let is_alike = |field: &&Field| field.kind == column.kind && field.name != column.name;
    let alike: Vec<&'static str> =
        listing.columns.iter().filter(is_alike).map(|field| field.name).collect();
    match alike.iter().find(|field| **field == other) {
        Some(field) => Ok(Some(field)),
        None => {
            let message = format!("`{name}` can't be compared with a field {other:?}.");
            Err(Error::invalid(name, message).suggest(other, alike))
        }
    }
}

/// The values of an argument. A text of a query string that is a known value as a whole is that
/// value: "Arts, Culture, Religion" is one, not three.
fn values<'g>(
    column: Field,
    op: Op,
    name: &str,
    given: &'g Given,
    listing: &Listing,
) -> Result<Vec<Cow<'g, str>>> {
    if op != Op::Any {
        let value = given.one(name)?.trim();
        return Ok(if value.is_empty() { Vec::new() } else { vec![Cow::Borrowed(value)] });
    }
    let known = listing.values(column.name);
    if let (Given::Query(text), Some(known)) = (given, known)
        && text.contains(',')
        && let Some(value) = known_value(known, text.trim())
    {
        return Ok(vec![Cow::Owned(value.to_string())]);
    }
    given.values(name)
}

fn read_value(column: Field, name: &str, value: &str, listing: &Listing) -> Result<SqlValue> {
    let value = value.trim();
    let fail = |message: String| Error::invalid(name, message);
    match column.kind {
        Kind::Int => match value.parse::<i64>() {
            Ok(number) => Ok(SqlValue::Integer(number)),
            Err(_) => Err(fail(format!("`{name}` must be an integer; got {value:?}."))),
        },
        Kind::Number => match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(SqlValue::Number(number)),
            _ => Err(fail(format!("`{name}` must be a number; got {value:?}."))),
        },
        Kind::Bool => match value.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => Ok(SqlValue::Boolean(true)),
            "false" | "0" | "no" => Ok(SqlValue::Boolean(false)),
            _ => Err(fail(format!("`{name}` takes true or false; got {value:?}."))),
        },
        Kind::Date => Ok(SqlValue::Date(read_span(name, value)?.0)),
        Kind::Id(source) | Kind::Ids(source) => {
            let id = record::canonical(listing.bundle, source, value);
            id.map(SqlValue::Text).map_err(|error| Error { field: Some(name.to_string()), ..error })
        }
        Kind::Keyword | Kind::Keywords => match listing.values(column.name) {
            None => {
                let meant = vocabulary::meant(column.vocabulary.iter().copied(), value);
                let state = || vocabulary::state(value).filter(|_| column.name.ends_with("state"));
                Ok(SqlValue::Text(meant.or_else(state).unwrap_or(value).to_lowercase()))
            }
            Some(known) => match known_value(known, value) {
                Some(value) => Ok(SqlValue::Text(value.to_lowercase())),
                None => Err(fail(format!("No record has {} {value:?}.", column.name))
                    .suggest(value, known.iter().map(String::as_str))),
            },
        },
        Kind::Text => Ok(SqlValue::Text(value.to_string())),
    }
}

/// An identifier of the catalog as SQL. Names come from the catalog only; quoting guards reserved
/// words.
pub fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn known_value<'v>(values: &'v [String], text: &str) -> Option<&'v str> {
    vocabulary::meant(values.iter().map(String::as_str), text)
}

fn read_span(name: &str, text: &str) -> Result<(Date, Date)> {
    span(text.trim()).ok_or_else(|| {
        let message = format!("`{name}` takes a date (2025-01-31, 2025-01 or 2025); got {text:?}.");
        Error::invalid(name, message)
    })
}

/// A day, a month or a year as its first and last day.
fn span(text: &str) -> Option<(Date, Date)> {
    let is_digits = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|b| b.is_ascii_digit())
    };
    let parts: Vec<&str> = text.split('-').collect();
    let year = parts.first().filter(|year| is_digits(year, 4) && **year != "0000")?;
    match parts.as_slice() {
        [_] => Some((day(&format!("{year}-01-01"))?, day(&format!("{year}-12-31"))?)),
        [_, month] if is_digits(month, 2) => {
            let first = day(&format!("{year}-{month}-01"))?;
            Some((first, first.replace_day(first.month().length(first.year())).ok()?))
        }
        [_, month, last] if is_digits(month, 2) && is_digits(last, 2) => {
            let day = day(text)?;
            Some((day, day))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_day_a_month_or_a_year() {
        let pair = |a: &str, b: &str| Some((day(a).unwrap(), day(b).unwrap()));
        assert_eq!(span("2024"), pair("2024-01-01", "2024-12-31"));
        assert_eq!(span("2024-02"), pair("2024-02-01", "2024-02-29"));
        assert_eq!(span("2025-01-31"), pair("2025-01-31", "2025-01-31"));
        for bad in ["", "25", "2025-13", "2025-02-29", "2025-1-1", "2025-01-01-01", "-2025", "20x5"]
        {
            assert_eq!(span(bad), None, "{bad}");
        }
        assert_eq!((span("2025-00-01"), span("0000")), (None, None));
    }
}
