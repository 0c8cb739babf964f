//! Counts and sums: which fields can be grouped, summed and bucketed is the catalog's plan; here it becomes SQL, with a
//! budget of rows asked about before and a deadline that interrupts.

use std::time::{Duration, Instant};

use super::filter::{Filter, ReadId, quoted};
use super::listing::{Format, conditions, read_filter, read_format, read_limit};
use super::params::Params;
use super::table::{Table, among};
use crate::bundle::Bundle;
use crate::catalog::{Field, Kind};
use crate::error::{Code, Error, Result};

/// Parameters that make a request for a list one for numbers.
pub const PARAMETERS: [&str; 5] = ["aggregate", "group_by", "sum_field", "bucket_by_time", "time_interval"];

/// More intervals than this are a picture of nothing; a larger interval is.
const MOST_INTERVALS: u64 = 5_000;

/// Groups in a series over time, unless `limit` says otherwise.
const SERIES: usize = 10;

/// What an aggregation may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub rows: u64,
    pub time: Duration,
}

impl Default for Limits {
    /// A million filings grouped by registrant take some 30 ms: these are far above what a question needs.
    fn default() -> Self {
        Limits { rows: 50_000_000, time: Duration::from_secs(5) }
    }
}

#[derive(Clone, Copy, Debug)]
enum Measure {
    Count,
    Sum(Field),
}

/// Intervals, as SQL says them.
pub const INTERVALS: [(&str, &str); 5] = [
    ("day", "INTERVAL 1 DAY"),
    ("week", "INTERVAL 7 DAY"),
    ("month", "INTERVAL 1 MONTH"),
    ("quarter", "INTERVAL 3 MONTH"),
    ("year", "INTERVAL 1 YEAR"),
];

/// What a caller asks to be counted or summed, checked.
pub struct AggregateRequest {
    measure: Measure,
    groups: Vec<Field>,
    time: Option<(Field, &'static str)>,
    filters: Vec<Filter>,
    limit: Option<usize>,
    pub format: Format,
    /// Words that the texts must have; whoever holds the index turns them into `matching`.
    pub question: Option<String>,
    /// Positions of the records that have these words.
    pub matching: Option<Vec<u32>>,
}

/// Numbers, and what they cost.
pub struct Aggregate {
    pub answer: Answer,
    pub rows: u64,
    pub took: Duration,
    /// Names of the dimensions, for tables.
    pub dimensions: Vec<&'static str>,
}

pub enum Answer {
    Value(i64),
    Buckets { buckets: Vec<Bucket>, total: u64, other: Option<i64> },
}

/// One group, interval, or both. A key is null where records have none.
pub struct Bucket {
    pub keys: Vec<Option<String>>,
    pub value: i64,
}

impl AggregateRequest {
    /// Whether these parameters ask for numbers rather than records.
    pub fn is_meant(params: &Params) -> bool {
        params.iter().any(|(name, _)| PARAMETERS.contains(&name))
    }

    pub fn read(params: &Params, table: &Table, read_id: ReadId) -> Result<AggregateRequest> {
        let (mut aggregate, mut sum_field, mut field, mut interval) = (None, None, None, None);
        let mut request = AggregateRequest {
            measure: Measure::Count,
            groups: Vec::new(),
            time: None,
            filters: Vec::new(),
            limit: None,
            format: Format::default(),
            question: None,
            matching: None,
        };
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in params.iter() {
            if PARAMETERS.contains(&name) || ["limit", "format", "q"].contains(&name) {
                if seen.contains(&name) {
                    return Err(Error::invalid(name, format!("`{name}` is given twice.")));
                }
                seen.push(name);
            }
            match name {
                "aggregate" => aggregate = Some(value),
                "sum_field" => sum_field = Some(planned(table, name, value, |f| f.sum)?),
                "bucket_by_time" => field = Some(planned(table, name, value, |f| f.time)?),
                "time_interval" => interval = Some(read_interval(value)?),
                "group_by" => {
                    request.groups = value
                        .split(',')
                        .map(|part| planned(table, name, part.trim(), |f| f.group))
                        .collect::<Result<_>>()?;
                }
                "limit" => request.limit = Some(read_limit(value)?),
                "format" => request.format = read_format(value)?,
                "q" if table.has_text => request.question = Some(value.trim().to_string()).filter(|q| !q.is_empty()),
                "q" => return Err(Error::invalid("q", "`q` finds names here; it does not go with numbers.")),
                "sort" | "cursor" | "fields" => {
                    return Err(Error::invalid(name, format!("`{name}` is for records; this asks for numbers.")));
                }
                _ => request.filters.push(read_filter(name, value, table, read_id)?),
            }
        }
        request.measure = match (aggregate, sum_field) {
            (Some("count") | None, None) => Measure::Count,
            (Some("sum") | None, Some(field)) => Measure::Sum(field),
            (Some("sum"), None) => {
                let message = "`aggregate=sum` needs `sum_field`.";
                return Err(Error::invalid("sum_field", message).hint("valid", plan(table, |f| f.sum)));
            }
            (Some("count"), Some(_)) => {
                return Err(Error::invalid("sum_field", "`sum_field` goes with `aggregate=sum`, not with `count`."));
            }
            (Some(other), _) => {
                let message = format!("`aggregate` can't be {other:?}.");
                return Err(Error::invalid("aggregate", message).suggest(other, ["count", "sum"]));
            }
        };
        request.time = match (field, interval) {
            (None, None) => None,
            (Some(field), interval) => Some((field, interval.unwrap_or("month"))),
            (None, Some(_)) => {
                let message = "`time_interval` goes with `bucket_by_time`.";
                return Err(Error::invalid("time_interval", message).hint("valid", plan(table, |f| f.time)));
            }
        };
        let most = if request.time.is_some() { 1 } else { 2 };
        if request.groups.len() > most {
            let message = format!("`group_by` takes at most {most} fields here.");
            return Err(Error::invalid("group_by", message));
        }
        if let [first, second] = request.groups.as_slice()
            && first.name == second.name
        {
            return Err(Error::invalid("group_by", "`group_by` names the same field twice."));
        }
        Ok(request)
    }

    pub fn groups(&self) -> &[Field] {
        &self.groups
    }

    /// The interval, if this dimension is time.
    pub fn interval_of(&self, dimension: &str) -> Option<&'static str> {
        self.time.filter(|(field, _)| field.name == dimension).map(|(_, interval)| interval)
    }
}

/// The names of the fields that a plan allows.
fn plan(table: &Table, allows: fn(&Field) -> bool) -> Vec<&'static str> {
    table.columns.iter().filter(|f| allows(f)).map(|f| f.name).collect()
}

fn planned(table: &Table, parameter: &str, name: &str, allows: fn(&Field) -> bool) -> Result<Field> {
    table.column(name).filter(allows).ok_or_else(|| {
        let message = format!("`{parameter}` can't be {name:?} here.");
        Error::invalid(parameter, message).suggest(name, plan(table, allows))
    })
}

fn read_interval(value: &str) -> Result<&'static str> {
    let found = INTERVALS.iter().find(|(name, _)| *name == value).map(|(name, _)| *name);
    found.ok_or_else(|| {
        let message = format!("`time_interval` can't be {value:?}.");
        Error::invalid("time_interval", message).suggest(value, INTERVALS.map(|(name, _)| name))
    })
}

/// Runs the request. Blocks: call it on a blocking thread.
pub fn aggregate(bundle: &Bundle, table: &Table, request: &AggregateRequest, limits: Limits) -> Result<Aggregate> {
    let started = Instant::now();
    let run = Run { bundle, table, request, limits, end: started + limits.time };
    let rows = run.rows_touched()?;
    if rows > limits.rows {
        let message = format!("This would touch {rows} rows; at most {} are allowed.", limits.rows);
        return Err(run.narrowing(Error::new(Code::AggregateTooBroad, message)));
    }
    let answer = match (&request.time, request.groups.as_slice()) {
        (None, []) => Answer::Value(run.total()?),
        (None, _) => run.grouped()?,
        (Some((field, interval)), groups) => run.over_time(field, interval, groups.first())?,
    };
    bundle.check_whole()?;
    let mut dimensions: Vec<&'static str> = request.time.iter().map(|(field, _)| field.name).collect();
    dimensions.extend(request.groups.iter().map(|f| f.name));
    Ok(Aggregate { answer, rows, took: started.elapsed(), dimensions })
}

struct Run<'a> {
    bundle: &'a Bundle,
    table: &'a Table<'a>,
    request: &'a AggregateRequest,
    limits: Limits,
    end: Instant,
}

impl Run<'_> {
    /// The records that are meant, as a relation `t` with the columns of the groups unfolded: `FROM … WHERE …`.
    fn relation(&self, groups: &[Field], bound: &mut Vec<String>) -> String {
        let mut from = format!("{} t", quoted(&self.table.name));
        for (at, group) in groups.iter().enumerate().filter(|(_, g)| g.kind.is_list()) {
            // A record with an empty list belongs to the group of those that have none.
            let column = format!("t.{}", quoted(group.name));
            from.push_str(&format!(
                ", LATERAL (SELECT unnest(CASE WHEN len({column}) > 0 THEN list_distinct({column}) ELSE [NULL] END) AS k) u{at}"
            ));
        }
        let mut wheres = conditions(self.table, &self.request.filters, bound);
        if let Some(matching) = &self.request.matching {
            wheres.push_str(" AND ");
            wheres.push_str(&among(matching, bound));
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
            Measure::Count => "count(*)".to_string(),
            Measure::Sum(field) => format!("coalesce(sum(t.{}), 0)", quoted(field.name)),
        }
    }

    /// Records that the filters leave, each counted as often as it falls into a group.
    fn rows_touched(&self) -> Result<u64> {
        let mut bound = Vec::new();
        let times: Vec<String> = self
            .request
            .groups
            .iter()
            .filter(|g| g.kind.is_list())
            .map(|g| format!("greatest(len({}), 1)", quoted(g.name)))
            .collect();
        let times = if times.is_empty() { "1".to_string() } else { times.join(" * ") };
        let sql = format!("SELECT coalesce(sum({times}), 0)::VARCHAR {}", self.relation(&[], &mut bound));
        self.number(&sql, &bound).map(|n| n as u64)
    }

    fn total(&self) -> Result<i64> {
        let mut bound = Vec::new();
        let sql = format!("SELECT ({})::VARCHAR {}", self.value(), self.relation(&[], &mut bound));
        self.number(&sql, &bound)
    }

    /// The largest groups, how many there are, and what the others come to.
    fn grouped(&self) -> Result<Answer> {
        let groups = &self.request.groups;
        let mut bound = Vec::new();
        let keys: Vec<String> =
            groups.iter().enumerate().map(|(at, g)| format!("{} AS k{at}", self.key(at, g))).collect();
        let names: Vec<String> = (0..groups.len()).map(|at| format!("k{at}")).collect();
        let limit = self.request.limit.unwrap_or(super::listing::DEFAULT_LIMIT);
        let sql = format!(
            "WITH g AS (SELECT {}, {} AS v {} GROUP BY ALL), r AS (SELECT *, count(*) OVER () AS n, sum(v) OVER () AS s FROM g) \
             SELECT {}, v::VARCHAR, n::VARCHAR, s::VARCHAR FROM r ORDER BY v DESC, {} LIMIT {limit}",
            keys.join(", "),
            self.value(),
            self.relation(groups, &mut bound),
            names.join(", "),
            names.iter().map(|n| format!("{n} NULLS LAST")).collect::<Vec<_>>().join(", "),
        );
        let mut rows = self.rows(&sql, &bound)?;
        let number = |row: &[Option<String>], at: usize| parse(row.get(groups.len() + at).and_then(Option::as_deref));
        let (total, sum) = match rows.first() {
            Some(first) => (number(first, 1)? as u64, number(first, 2)?),
            None => (0, 0),
        };
        let mut buckets = Vec::with_capacity(rows.len());
        for row in &mut rows {
            let value = number(row, 0)?;
            buckets.push(Bucket { keys: row.drain(..groups.len()).collect(), value });
        }
        let shown: i64 = buckets.iter().map(|b| b.value).sum();
        let other = (total > buckets.len() as u64).then_some(sum - shown);
        Ok(Answer::Buckets { buckets, total, other })
    }

    /// Intervals in order, empty ones filled; with a group, a series for each of the largest groups.
    fn over_time(&self, field: &Field, interval: &str, group: Option<&Field>) -> Result<Answer> {
        let column = format!("t.{}", quoted(field.name));
        let step = INTERVALS.iter().find(|(name, _)| *name == interval).map_or("INTERVAL 1 MONTH", |(_, step)| step);
        let mut bound = Vec::new();
        let relation = self.relation(&[], &mut bound);
        let span = format!(
            "SELECT date_diff('{interval}', min({column}), max({column}))::VARCHAR {relation} AND {column} IS NOT NULL"
        );
        let intervals = self.rows(&span, &bound)?.into_iter().flatten().flatten().next();
        let Some(intervals) = intervals.and_then(|n| n.parse::<u64>().ok()) else {
            return Ok(Answer::Buckets { buckets: Vec::new(), total: 0, other: None });
        };
        if intervals > MOST_INTERVALS {
            let message = format!(
                "From the first to the last {} there are {intervals} intervals; at most {MOST_INTERVALS} are shown.",
                field.name
            );
            let error = Error::new(Code::AggregateTooBroad, message).hint("time_interval", "year");
            return Err(self.narrowing(error));
        }
        let groups: Vec<Field> = group.into_iter().copied().collect();
        let mut bound = Vec::new();
        let relation = self.relation(&groups, &mut bound);
        let key = group.map_or("NULL::VARCHAR".to_string(), |group| self.key(0, group));
        let series = self.request.limit.unwrap_or(SERIES);
        let value = self.value();
        // Every shown group has every interval between the first and the last.
        let sql = format!(
            "WITH g AS (SELECT date_trunc('{interval}', {column})::DATE AS d, {key} AS k, {value} AS v {relation} AND {column} IS NOT NULL GROUP BY ALL), \
             top AS (SELECT k, sum(v) AS s FROM g GROUP BY k ORDER BY s DESC, k NULLS LAST LIMIT {series}), \
             days AS (SELECT unnest(generate_series(min(d)::TIMESTAMP, max(d)::TIMESTAMP, {step}))::DATE AS d FROM g) \
             SELECT days.d::VARCHAR, top.k, coalesce(g.v, 0)::VARCHAR, (SELECT count(DISTINCT coalesce(k, '')) FROM g)::VARCHAR \
             FROM days CROSS JOIN top LEFT JOIN g ON g.d = days.d AND g.k IS NOT DISTINCT FROM top.k \
             ORDER BY days.d, top.s DESC, top.k NULLS LAST"
        );
        let rows = self.rows(&sql, &bound)?;
        let mut buckets = Vec::with_capacity(rows.len());
        let mut all_groups = 0;
        for mut row in rows {
            let of = row.pop().flatten();
            let value = row.pop().flatten();
            all_groups = parse(of.as_deref())? as u64;
            let keys = if group.is_some() { row } else { row.into_iter().take(1).collect() };
            buckets.push(Bucket { keys, value: parse(value.as_deref())? });
        }
        let shown = (all_groups.min(series as u64)).max(1);
        let total = buckets.len() as u64 / shown * all_groups.max(1);
        Ok(Answer::Buckets { buckets, total, other: None })
    }

    fn number(&self, sql: &str, bound: &[String]) -> Result<i64> {
        let rows = self.rows(sql, bound)?;
        parse(rows.first().and_then(|row| row.first()).and_then(Option::as_deref))
    }

    fn rows(&self, sql: &str, bound: &[String]) -> Result<Vec<Vec<Option<String>>>> {
        let left = self.end.saturating_duration_since(Instant::now());
        match self.bundle.db.rows_within(sql, bound, left)? {
            Some(rows) => Ok(rows),
            None => {
                let message = format!("This took longer than {} ms and was stopped.", self.limits.time.as_millis());
                Err(self.narrowing(Error::new(Code::AggregateTimeout, message)))
            }
        }
    }

    /// Names the fields that would narrow the question and are not used yet.
    fn narrowing(&self, error: Error) -> Error {
        let unused = |f: &&Field| !self.request.filters.iter().any(|filter| filter.is_on(f.name));
        let dates = self.table.columns.iter().filter(|f| f.time);
        let few =
            self.table.columns.iter().filter(|f| f.group && matches!(f.kind, Kind::Int | Kind::Keyword | Kind::Id(_)));
        let fields: Vec<&str> = dates.chain(few).filter(unused).map(|f| f.name).take(6).collect();
        error.hint("suggest_narrowing", fields)
    }
}

fn parse(text: Option<&str>) -> Result<i64> {
    text.and_then(|t| t.parse().ok()).ok_or_else(|| Error::internal(format!("a number was expected, not {text:?}")))
}
