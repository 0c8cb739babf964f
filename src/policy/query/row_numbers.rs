//! Counts and statistics over the rows of one record, without SQL: the values of a series by
//! interval. Gives the same as the SQL beside it; what can't be answered here is `None` and left
//! to DuckDB.

use std::collections::BTreeMap;

use time::Date;

use super::aggregate::{Bucket, Figure};
use super::aggregate_request::{AggregateRequest, Measure, Statistic};
use super::columns::Intervals;
use super::filter::Filter;
use super::interval::Interval;
use super::listing::Listing;
use super::rows::{all, matched, typed};
use crate::api::{Context, Result};
use crate::bundle::SqlValue;
use crate::bundle::rows::RowBlock;
use crate::catalog::Kind;

/// Sums are exact to so many parts of one, as in SQL: they must not depend on the order.
const PARTS: i128 = 1_000_000;

/// The rows that are meant, and what is asked of them.
pub struct RowNumbers {
    /// Nothing where rows are counted.
    statistic: Option<Statistic>,
    rows: Vec<Measured>,
}

/// What counts of a row.
#[derive(Clone, Copy)]
struct Measured {
    day: Option<Date>,
    number: f64,
}

impl RowNumbers {
    /// Nothing where the rows are not prepared, or more is asked than they can tell.
    pub fn of(
        context: &Context,
        listing: &Listing,
        request: &AggregateRequest,
    ) -> Result<Option<RowNumbers>> {
        let (statistic, field) = match request.measure {
            Measure::Count => (None, None),
            Measure::Of(statistic, field) => (Some(statistic), Some(field.name)),
            Measure::Sum(_) => return Ok(None),
        };
        let asked = request.time.map(|(field, _)| field.name);
        let time = asked.or_else(|| listing.columns_with(|field| field.time).first().copied());
        let (Some(rows), Some(time)) = (listing.rows(), time) else { return Ok(None) };
        let is_more = !request.groups.is_empty() || !request.left_out.is_empty();
        let Some(blocks) = all(rows).filter(|_| !is_more && request.matching.is_none()) else {
            return Ok(None);
        };
        let filters: Vec<&Filter> = request.filters.iter().collect();
        let Some(places) = matched(context, &blocks, &filters)? else { return Ok(None) };
        let columns: Option<Vec<(usize, Option<usize>)>> = blocks
            .iter()
            .map(|block| {
                let number = field.map_or(Some(None), |name| block.column(name).map(Some))?;
                Some((block.column(time)?, number))
            })
            .collect();
        let Some(columns) = columns else { return Ok(None) };
        let measured = places.into_iter().filter_map(|(_, block, at)| {
            let ((time, number), block) = (columns[block], &blocks[block]);
            let number = number.map_or(Some(0.0), |column| number_at(block, at, column))?;
            Some(Measured { day: day_at(block, at, time), number })
        });
        Ok(Some(RowNumbers { statistic, rows: measured.collect() }))
    }

    pub fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Of all rows together; nothing where none has a value.
    pub fn total(&self) -> Option<Figure> {
        let mut all = Tally::default();
        self.rows.iter().for_each(|row| all.add(row));
        all.figure(self.statistic)
    }

    /// How many intervals lie between the first and the last day.
    pub fn intervals(&self, interval: Interval) -> Intervals {
        let numbers = self.rows.iter().filter_map(|row| Some(interval.number(row.day?)));
        match (numbers.clone().min(), numbers.max()) {
            (Some(first), Some(last)) => Intervals::Some(last.abs_diff(first) + 1),
            _ => Intervals::None,
        }
    }

    /// The intervals in order: every one between the first and the last where rows are counted,
    /// those with a value otherwise.
    pub fn over_time(&self, interval: Interval) -> Vec<Bucket> {
        let mut tallies: BTreeMap<Date, Tally> = BTreeMap::new();
        for row in &self.rows {
            if let Some(day) = row.day {
                tallies.entry(interval.start(day)).or_default().add(row);
            }
        }
        let ends = tallies.first_key_value().zip(tallies.last_key_value());
        if let (None, Some((first, last))) = (self.statistic, ends.map(|(a, b)| (*a.0, *b.0))) {
            for start in interval.starts(first, last) {
                tallies.entry(start).or_default();
            }
        }
        let bucket = |(start, tally): (Date, Tally)| {
            let value = tally.figure(self.statistic)?;
            Some(Bucket { keys: vec![Some(start.to_string())], value })
        };
        tallies.into_iter().filter_map(bucket).collect()
    }
}

/// Everything that may be asked of some rows, in one pass.
#[derive(Default)]
struct Tally {
    rows: i64,
    sum: i128,
    least: Option<f64>,
    most: Option<f64>,
    first: Option<(Date, f64)>,
    last: Option<(Date, f64)>,
}

impl Tally {
    fn add(&mut self, row: &Measured) {
        let Measured { day, number } = *row;
        self.rows += 1;
        self.sum = self.sum.saturating_add(parts(number));
        self.least = Some(self.least.map_or(number, |least| least.min(number)));
        self.most = Some(self.most.map_or(number, |most| most.max(number)));
        if let Some(day) = day {
            // Of several on one day the one that comes first in the list, as in SQL.
            if self.first.is_none_or(|(first, _)| day < first) {
                self.first = Some((day, number));
            }
            if self.last.is_none_or(|(last, _)| day > last) {
                self.last = Some((day, number));
            }
        }
    }

    fn figure(&self, statistic: Option<Statistic>) -> Option<Figure> {
        let Some(statistic) = statistic else { return Some(Figure::Integer(self.rows)) };
        let sum = || whole(self.sum);
        let value = match statistic {
            Statistic::Sum => (self.rows > 0).then(sum),
            Statistic::Mean => (self.rows > 0).then(|| sum() / self.rows as f64),
            Statistic::Min => self.least,
            Statistic::Max => self.most,
            Statistic::First => self.first.map(|(_, number)| number),
            Statistic::Last => self.last.map(|(_, number)| number),
        };
        value.map(Figure::Decimal)
    }
}

/// A number in parts of one. The tiny addition is DuckDB's, for halves that binary can't hold.
fn parts(number: f64) -> i128 {
    let scaled = number * PARTS as f64;
    (scaled + scaled.signum() * 1e-9).round() as i128
}

/// The number that parts of one come to, as DuckDB turns a decimal into a double.
fn whole(parts: i128) -> f64 {
    const EXACT: u128 = 1 << f64::MANTISSA_DIGITS;
    match parts.unsigned_abs() <= EXACT || parts % PARTS == 0 {
        true => parts as f64 / PARTS as f64,
        false => (parts / PARTS) as f64 + (parts % PARTS) as f64 / PARTS as f64,
    }
}

fn number_at(block: &RowBlock, row: usize, column: usize) -> Option<f64> {
    match typed(block.value(row, column), Kind::Number)? {
        SqlValue::Number(number) => Some(number),
        _ => None,
    }
}

fn day_at(block: &RowBlock, row: usize, column: usize) -> Option<Date> {
    match typed(block.value(row, column), Kind::Date)? {
        SqlValue::Date(day) => Some(day),
        _ => None,
    }
}
