//! Counts and sums, from columns or as SQL, with a budget of rows that is checked before and a
//! deadline that interrupts.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::aggregate_request::{AggregateRequest, Measure, Statistic};
use super::columns::{Grouped, Intervals, Measured, Series, Table, TimeQuestion};
use super::coverage::Covered;
use super::filter::{Filter, quoted};
use super::interval::Interval;
use super::listing::{Listing, ord_in};
use super::page::conditions;
use super::request::DEFAULT_LIMIT;
use super::row_numbers::RowNumbers;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::api::{Code, Context, Error, Result};
use crate::bundle::{QueryError, Row, SqlValue};
use crate::catalog::{Field, Kind};

/// Buckets of one answer over time: intervals times groups. A larger interval or fewer groups say
/// more.
pub const MOST_BUCKETS: u64 = 5_000;

/// Groups in a series over time, unless `limit` says otherwise.
const SERIES: usize = 10;

/// Numbers, and what they cost.
pub struct Aggregate {
    pub result: AggregateResult,
    pub rows: u64,
    pub took: Duration,
    /// Names of the dimensions of a bucket's keys.
    pub dimensions: Vec<&'static str>,
    /// Flags whose records are left out, and how many these are.
    pub left_out: Vec<(Field, u64)>,
}

pub enum AggregateResult {
    /// Nothing where no record has a value.
    Value(Option<Figure>),
    Buckets {
        buckets: Vec<Bucket>,
        total: u64,
        other: Option<i64>,
    },
}

/// A count or a sum of integers, or a statistic of numbers with fractions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Figure {
    Integer(i64),
    Decimal(f64),
}

impl JsonSchema for Figure {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Figure".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// One group, interval, or both. A key is null where records have none.
pub struct Bucket {
    pub keys: Vec<Option<String>>,
    pub value: Figure,
}

/// Runs the request. Blocks: call it on a blocking thread.
pub fn aggregate(
    context: &Context,
    listing: &Listing,
    request: &AggregateRequest,
) -> Result<Aggregate> {
    let started = Instant::now();
    let end = started + context.budget.time;
    let measured = measured(context, listing, request)?;
    let prepared = RowNumbers::of(context, listing, request)?;
    let run = AggregateRun { context, listing, request, end, measured, prepared };
    let rows = run.rows_touched()?;
    if rows > context.budget.rows {
        let message =
            format!("This would touch {rows} rows; at most {} are allowed.", context.budget.rows);
        return Err(run.suggest_narrowing(Error::new(Code::AggregateTooBroad, message)));
    }
    let left_out = run.left_out()?;
    let result = match (&request.time, request.groups.as_slice()) {
        (None, []) => AggregateResult::Value(run.total(rows)?),
        (None, _) => run.grouped()?,
        (Some((field, interval)), groups) => run.over_time(field, *interval, groups.first())?,
    };
    if Instant::now() >= end {
        return Err(run.timed_out());
    }
    listing.bundle.ensure_intact()?;
    let mut dimensions: Vec<&'static str> = request.time.iter().map(|(f, _)| f.name).collect();
    dimensions.extend(request.groups.iter().map(|f| f.name));
    Ok(Aggregate { result, rows, took: started.elapsed(), dimensions, left_out })
}

struct AggregateRun<'a> {
    context: &'a Context,
    listing: &'a Listing<'a>,
    request: &'a AggregateRequest,
    end: Instant,
    /// The records that are meant, where columns can tell.
    measured: Option<Measured<'a>>,
    /// The rows of a record that are meant, where they are prepared.
    prepared: Option<RowNumbers>,
}

fn measured<'a>(
    context: &Context,
    listing: &'a Listing,
    request: &AggregateRequest,
) -> Result<Option<Measured<'a>>> {
    let Some(table) = Table::of(listing)? else { return Ok(None) };
    let Some(mut set) = table.matched(context, &request.filters)? else { return Ok(None) };
    if let Some(matching) = &request.matching {
        set = set.among(matching);
    }
    Ok(Measured::new(table, set, &request.measure))
}

impl AggregateRun<'_> {
    /// The records that are meant, as a relation `t` with the columns of the groups unfolded:
    /// `FROM … WHERE …`.
    fn relation(&self, groups: &[Field], bound: &mut Vec<SqlValue>) -> String {
        self.filtered(&self.request.filters, groups, bound)
    }

    fn filtered(&self, filters: &[Filter], groups: &[Field], bound: &mut Vec<SqlValue>) -> String {
        let mut from = format!("{} t", quoted(&self.listing.table));
        for (at, group) in groups.iter().enumerate().filter(|(_, g)| g.kind.is_list()) {
            // A record with an empty list belongs to the group of those that have none.
            let column = format!("t.{}", quoted(group.name));
            from.push_str(&format!(
                ", LATERAL (SELECT unnest(CASE WHEN len({column}) > 0 \
                 THEN list_distinct({column}) ELSE [NULL] END) AS k) u{at}"
            ));
        }
        let mut wheres = conditions(self.listing, filters, bound);
        if let Some(matching) = &self.request.matching {
            wheres.push_str(" AND ");
            wheres.push_str(&ord_in(matching, bound));
        }
        if let Some(number) = self.request.measure.number() {
            wheres.push_str(&format!(" AND t.{} IS NOT NULL", quoted(number.name)));
        }
        format!("FROM {from} WHERE {wheres}")
    }

    fn key(&self, at: usize, group: &Field) -> String {
        match group.kind {
            kind if kind.is_list() => format!("u{at}.k::VARCHAR"),
            _ => format!("t.{}::VARCHAR", quoted(group.name)),
        }
    }

    fn value(&self) -> String {
        match self.request.measure {
            Measure::Count => "count(*)::BIGINT".to_string(),
            Measure::Sum(field) => format!("coalesce(sum(t.{}), 0)::BIGINT", quoted(field.name)),
            Measure::Of(statistic, field) => {
                let number = format!("t.{}", quoted(field.name));
                // Sums and means must not depend on the order in which threads add.
                let exact = "::DECIMAL(38, 6)";
                match statistic {
                    Statistic::Sum => format!("sum({number}{exact})::DOUBLE"),
                    Statistic::Mean => {
                        format!("sum({number}{exact})::DOUBLE / count({number})")
                    }
                    Statistic::Min => format!("min({number})"),
                    Statistic::Max => format!("max({number})"),
                    Statistic::First => format!("arg_min({number}, {})", self.time_column()),
                    Statistic::Last => format!("arg_max({number}, {})", self.time_column()),
                }
            }
        }
    }

    /// The column by which the first and the last are told.
    fn time_column(&self) -> String {
        let asked = self.request.time.map(|(field, _)| field.name);
        let name = asked.or_else(|| self.listing.columns_with(|f| f.time).first().copied());
        format!("t.{}", quoted(name.unwrap_or("ord")))
    }

    /// A value of the measure in this column of a row.
    fn figure(&self, row: &Row, column: usize) -> Result<Option<Figure>, QueryError> {
        match self.request.measure.number() {
            Some(_) => Ok(row.get::<Option<f64>>(column)?.map(Figure::Decimal)),
            None => Ok(row.get::<Option<i64>>(column)?.map(Figure::Integer)),
        }
    }

    /// Records that the filters leave, each counted as often as it falls into a group. Without
    /// filters and lists the bundle knows it.
    fn rows_touched(&self) -> Result<u64> {
        let request = self.request;
        let lists: Vec<&Field> = request.groups.iter().filter(|g| g.kind.is_list()).collect();
        let is_everything = request.filters.is_empty() && request.matching.is_none();
        if let (true, [], Some(facts)) = (is_everything, lists.as_slice(), self.listing.facts) {
            return Ok(facts.records);
        }
        if let Some(rows) = self.measured.as_ref().and_then(|measured| measured.rows(&lists)) {
            return Ok(rows);
        }
        if let Some(prepared) = &self.prepared {
            return Ok(prepared.len());
        }
        let mut bound = Vec::new();
        let times = lists.iter().map(|g| format!("greatest(len({}), 1)", quoted(g.name)));
        let times: Vec<String> = times.collect();
        let times = if times.is_empty() { "1".to_string() } else { times.join(" * ") };
        let relation = self.relation(&[], &mut bound);
        let sql = format!("SELECT coalesce(sum({times}), 0)::UBIGINT {relation}");
        self.one(&sql, &bound, |row| row.get::<u64>(0))
    }

    /// How many records each flag leaves out.
    fn left_out(&self) -> Result<Vec<(Field, u64)>> {
        let mut counts = Vec::new();
        for flag in &self.request.left_out {
            let others = self.request.filters.iter().filter(|filter| !filter.is_on(flag.name));
            let mut others: Vec<Filter> = others.cloned().collect();
            if let Some(measured) = &self.measured {
                others.push(Filter::with(*flag));
                let set = measured.table.matched(self.context, &others)?;
                let set = set.map(|set| match &self.request.matching {
                    Some(matching) => set.among(matching),
                    None => set,
                });
                if let Some(set) = set {
                    counts.push((*flag, set.len()));
                    continue;
                }
                others.pop();
            }
            let mut bound = Vec::new();
            let relation = self.filtered(&others, &[], &mut bound);
            let flag_name = quoted(flag.name);
            let sql = format!("SELECT count(*)::UBIGINT {relation} AND t.{flag_name}");
            counts.push((*flag, self.one(&sql, &bound, |row| row.get::<u64>(0))?));
        }
        Ok(counts)
    }

    fn total(&self, rows: u64) -> Result<Option<Figure>> {
        if matches!(self.request.measure, Measure::Count) {
            return Ok(Some(Figure::Integer(rows as i64)));
        }
        if let Some(total) = self.measured.as_ref().and_then(Measured::total) {
            return Ok(Some(Figure::Integer(total)));
        }
        if let Some(prepared) = &self.prepared {
            return Ok(prepared.total());
        }
        let mut bound = Vec::new();
        let sql = format!("SELECT {} {}", self.value(), self.relation(&[], &mut bound));
        self.one(&sql, &bound, |row| self.figure(row, 0))
    }

    /// The largest groups, how many there are, and what the others come to.
    fn grouped(&self) -> Result<AggregateResult> {
        let groups = &self.request.groups;
        let limit = self.request.limit_or(DEFAULT_LIMIT);
        if let Some(measured) = &self.measured
            && let Some(grouped) = measured.grouped(self.context, groups, limit)?
        {
            let Grouped { largest, groups: total, sum } = grouped;
            return Ok(with_others(largest, total, sum));
        }
        let mut bound = Vec::new();
        let keys = groups.iter().enumerate().map(|(at, g)| format!("{} AS k{at}", self.key(at, g)));
        let keys: Vec<String> = keys.collect();
        let names: Vec<String> = (0..groups.len()).map(|at| format!("k{at}")).collect();
        let order: Vec<String> = names.iter().map(|name| format!("{name} NULLS LAST")).collect();
        let sql = format!(
            "WITH g AS (SELECT {keys}, {value} AS v {relation} GROUP BY ALL), \
             r AS (SELECT *, count(*) OVER () AS n, sum(v) OVER () AS s FROM g) \
             SELECT v::BIGINT, n::UBIGINT, s::BIGINT, {names} FROM r \
             ORDER BY v DESC, {order} LIMIT {limit}",
            keys = keys.join(", "),
            value = self.value(),
            relation = self.relation(groups, &mut bound),
            names = names.join(", "),
            order = order.join(", "),
        );
        let rows = self.rows(&sql, &bound, |row| {
            let keys = (0..groups.len()).map(|at| row.get(3 + at)).collect::<Result<_, _>>()?;
            Ok((keys, row.get::<i64>(0)?, row.get::<u64>(1)?, row.get::<i64>(2)?))
        })?;
        let (total, sum) = rows.first().map_or((0, 0), |(_, _, total, sum)| (*total, *sum));
        let groups = rows.into_iter().map(|(keys, value, ..)| (keys, value)).collect();
        Ok(with_others(groups, total, sum))
    }

    /// Intervals in order, empty ones filled; with a group, a series for each of the largest
    /// groups.
    fn over_time(
        &self,
        field: &Field,
        interval: Interval,
        group: Option<&Field>,
    ) -> Result<AggregateResult> {
        let column = format!("t.{}", quoted(field.name));
        let series = self.request.limit_or(SERIES);
        let Some(intervals) = self.intervals(field, interval)? else {
            return Ok(AggregateResult::Buckets { buckets: Vec::new(), total: 0, other: None });
        };
        let most = if group.is_some() { intervals * series as u64 } else { intervals };
        if most > MOST_BUCKETS {
            let message = format!(
                "From the first to the last {} there are {intervals} intervals{}; \
                 at most {MOST_BUCKETS} buckets are shown.",
                field.name,
                if group.is_some() { format!(" of {series} groups") } else { String::new() },
            );
            let error = Error::new(Code::AggregateTooBroad, message).hint("time_interval", "year");
            return Err(self.suggest_narrowing(error));
        }
        if let Some(prepared) = &self.prepared {
            return Ok(in_series(prepared.over_time(interval), 1, series));
        }
        let gaps = Covered::of(self.listing, field.name).map_or(Vec::new(), |covered| covered.gaps);
        let question = TimeQuestion { field, interval, group, series, gaps: &gaps };
        if let Some(measured) = &self.measured
            && let Some(Series { values, groups }) = measured.series(self.context, &question)?
        {
            let bucket = |(day, key, value)| {
                let keys = if group.is_some() { vec![Some(day), key] } else { vec![Some(day)] };
                Bucket { keys, value: Figure::Integer(value) }
            };
            let buckets = values.into_iter().map(bucket).collect();
            return Ok(in_series(buckets, groups, series));
        }
        let groups: Vec<Field> = group.into_iter().copied().collect();
        let mut bound = Vec::new();
        let relation = self.relation(&groups, &mut bound);
        let key = group.map_or("NULL::VARCHAR".to_string(), |group| self.key(0, group));
        let (name, step, value) = (interval.name(), interval.step(), self.value());
        // Every shown group has every interval between the first and the last that the bundle
        // covers.
        let covered = covered_intervals(&gaps, step);
        // A count is 0 where nothing is; a mean or a last value is not.
        let (join, shown) = match self.request.measure.number() {
            Some(_) => ("JOIN", "g.v::DOUBLE"),
            None => ("LEFT JOIN", "coalesce(g.v, 0)::BIGINT"),
        };
        let sql = format!(
            "WITH g AS (SELECT date_trunc('{name}', {column})::DATE AS d, {key} AS k, {value} AS v \
             {relation} AND {column} IS NOT NULL GROUP BY ALL), \
             top AS (SELECT k, sum(v) AS s FROM g GROUP BY k \
             ORDER BY s DESC, k NULLS LAST LIMIT {series}), \
             every AS (SELECT unnest(generate_series(min(d)::TIMESTAMP, max(d)::TIMESTAMP, {step}))\
             ::DATE AS d FROM g), \
             days AS (SELECT d FROM every WHERE {covered} OR d IN (SELECT d FROM g)) \
             SELECT days.d::VARCHAR, top.k, {shown}, \
             (SELECT count(DISTINCT coalesce(k, '')) FROM g)::UBIGINT \
             FROM days CROSS JOIN top \
             {join} g ON g.d = days.d AND g.k IS NOT DISTINCT FROM top.k \
             ORDER BY days.d, top.s DESC, top.k NULLS LAST"
        );
        let rows = self.rows(&sql, &bound, |row| {
            let day: Option<String> = row.get(0)?;
            let keys = if group.is_some() { vec![day, row.get(1)?] } else { vec![day] };
            let value = self.figure(row, 2)?.unwrap_or(Figure::Integer(0));
            Ok((Bucket { keys, value }, row.get::<u64>(3)?))
        })?;
        let groups = rows.first().map_or(1, |(_, groups)| *groups);
        let buckets = rows.into_iter().map(|(bucket, _)| bucket).collect();
        Ok(in_series(buckets, groups, series))
    }

    /// How many intervals lie between the first and the last day; nothing where there is no day.
    fn intervals(&self, field: &Field, interval: Interval) -> Result<Option<u64>> {
        let known = self.measured.as_ref().and_then(|m| m.intervals(field, interval));
        let prepared = || self.prepared.as_ref().map(|rows| rows.intervals(interval));
        match known.or_else(prepared) {
            Some(Intervals::Some(intervals)) => return Ok(Some(intervals)),
            Some(Intervals::None) => return Ok(None),
            None => {}
        }
        let column = format!("t.{}", quoted(field.name));
        let mut bound = Vec::new();
        let relation = self.relation(&[], &mut bound);
        let name = interval.name();
        let sql = format!(
            "SELECT (date_diff('{name}', min({column}), max({column})) + 1)::UBIGINT \
             {relation} AND {column} IS NOT NULL"
        );
        self.one(&sql, &bound, |row| row.get::<Option<u64>>(0))
    }

    fn one<T>(
        &self,
        sql: &str,
        bound: &[SqlValue],
        read: impl FnMut(&Row) -> Result<T, QueryError>,
    ) -> Result<T> {
        let first = self.rows(sql, bound, read)?.into_iter().next();
        first.ok_or_else(|| Error::internal("an aggregate without a row"))
    }

    fn rows<T>(
        &self,
        sql: &str,
        bound: &[SqlValue],
        read: impl FnMut(&Row) -> Result<T, QueryError>,
    ) -> Result<Vec<T>> {
        let interrupt = self.context.interrupt().by(self.end);
        self.listing.bundle.db.query(sql, bound, &interrupt, read).map_err(|error| match error {
            QueryError::TimedOut => self.timed_out(),
            other => other.into(),
        })
    }

    fn timed_out(&self) -> Error {
        let limit = self.context.budget.time.as_millis();
        let message = format!("This took longer than {limit} ms and was stopped.");
        self.suggest_narrowing(Error::new(Code::AggregateTimeout, message))
    }

    /// Names the fields that would narrow the question and are not used yet.
    fn suggest_narrowing(&self, error: Error) -> Error {
        let is_unused =
            |f: &&Field| !self.request.filters.iter().any(|filter| filter.is_on(f.name));
        let columns = || self.listing.columns.iter();
        let small =
            |f: &&Field| f.group && matches!(f.kind, Kind::Int | Kind::Keyword | Kind::Id(_));
        let useful = columns().filter(|f| f.time).chain(columns().filter(small));
        let fields: Vec<&str> = useful.filter(is_unused).map(|f| f.name).take(6).collect();
        error.hint("suggest_narrowing", fields)
    }
}

/// The largest groups, and what the others come to.
fn with_others(groups: Vec<(Vec<Option<String>>, i64)>, total: u64, sum: i64) -> AggregateResult {
    let shown: i64 = groups.iter().map(|(_, value)| value).sum();
    let bucket = |(keys, value)| Bucket { keys, value: Figure::Integer(value) };
    let buckets: Vec<Bucket> = groups.into_iter().map(bucket).collect();
    let other = (total > buckets.len() as u64).then_some(sum - shown);
    AggregateResult::Buckets { buckets, total, other }
}

/// The buckets of some of the groups, with how many there would be of all.
fn in_series(buckets: Vec<Bucket>, groups: u64, series: usize) -> AggregateResult {
    let groups = groups.max(1);
    let total = buckets.len() as u64 / groups.min(series as u64) * groups;
    AggregateResult::Buckets { buckets, total, other: None }
}

/// The condition that an interval does not lie in a gap as a whole.
fn covered_intervals(gaps: &[(time::Date, time::Date)], step: &str) -> String {
    let inside = gaps
        .iter()
        .map(|(first, last)| format!("(d >= DATE '{first}' AND d + {step} <= DATE '{last}' + 1)"));
    let inside: Vec<String> = inside.collect();
    if inside.is_empty() { "TRUE".into() } else { format!("NOT ({})", inside.join(" OR ")) }
}
