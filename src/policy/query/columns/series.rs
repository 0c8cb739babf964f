//! Counts and sums over time: one value for each interval, and for each group in it.

use std::collections::{BTreeSet, HashMap};

use time::Date;

use super::groups::by_key;
use super::{Group, Measured, date};
use crate::api::{Context, Result};
use crate::bundle::columns::Column;
use crate::catalog::Field;
use crate::policy::query::aggregate::MOST_BUCKETS;
use crate::policy::query::interval::Interval;

/// What is asked of a series.
pub struct TimeQuestion<'q> {
    pub field: &'q Field,
    pub interval: Interval,
    pub group: Option<&'q Field>,
    /// Groups that are shown.
    pub series: usize,
    /// Days of which the bundle knows nothing, as first and last.
    pub gaps: &'q [(Date, Date)],
}

/// How many intervals lie between the first and the last day.
pub enum Intervals {
    /// No record has a day.
    None,
    Some(u64),
}

/// The values in the order of time; within an interval the largest group first.
pub struct Series {
    pub values: Vec<(String, Option<String>, i64)>,
    /// How many groups there are.
    pub groups: u64,
}

impl Measured<'_> {
    /// Nothing where columns can't tell.
    pub fn intervals(&self, field: &Field, interval: Interval) -> Option<Intervals> {
        let column = self.table.column(field.name)?;
        let (mut first, mut last) = (u32::MAX, 0);
        self.set.each(|ord| {
            let code = column.code(ord);
            if code > 0 {
                (first, last) = (first.min(code), last.max(code));
            }
        });
        let (Some(first), Some(last)) = (day(&column, first), day(&column, last)) else {
            return Some(Intervals::None);
        };
        let between = interval.number(last) - interval.number(first);
        Some(Intervals::Some(u64::try_from(between).ok()? + 1))
    }

    /// Nothing where columns can't tell.
    pub fn series(&self, context: &Context, question: &TimeQuestion) -> Result<Option<Series>> {
        let group = question.group.map(|field| Group::of(&self.table, field));
        let (Some(column), Some(group)) = (
            self.table.column(question.field.name),
            group.map_or(Some(None), |group| group.map(Some)),
        ) else {
            return Ok(None);
        };
        // Days first: each is truncated once, however many records have it.
        let start_of = |code: u32| day(&column, code).map(|day| question.interval.start(day));
        let mut sums: HashMap<(Date, u32), i128> = HashMap::new();
        match &group {
            None => {
                let mut days: Vec<Option<i128>> = vec![None; column.values as usize + 1];
                self.visit(context, |ord| {
                    if let Some(sum) = days.get_mut(column.code(ord) as usize) {
                        *sum.get_or_insert(0) += self.value(ord);
                    }
                })?;
                for (code, sum) in days.into_iter().enumerate().skip(1) {
                    if let (Some(sum), Some(start)) = (sum, start_of(code as u32)) {
                        *sums.entry((start, 0)).or_default() += sum;
                    }
                }
            }
            Some(group) => {
                let mut starts: Vec<Option<Date>> = vec![None; column.values as usize + 1];
                self.visit(context, |ord| {
                    let code = column.code(ord);
                    let Some(start) = starts.get_mut(code as usize).filter(|_| code > 0) else {
                        return;
                    };
                    if start.is_none() {
                        *start = start_of(code);
                    }
                    let Some(start) = *start else { return };
                    let value = self.value(ord);
                    group.each(ord, |code| *sums.entry((start, code)).or_default() += value);
                })?;
            }
        }
        Ok(assembled(question, group.as_ref(), sums))
    }
}

/// The intervals in order with the values of the largest groups, 0 where there is none.
fn assembled(
    question: &TimeQuestion,
    group: Option<&Group>,
    sums: HashMap<(Date, u32), i128>,
) -> Option<Series> {
    let mut known: HashMap<(Date, u32), i64> = HashMap::with_capacity(sums.len());
    let mut by_group: HashMap<u32, i128> = HashMap::new();
    for ((start, code), sum) in sums {
        known.insert((start, code), i64::try_from(sum).ok()?);
        *by_group.entry(code).or_default() += sum;
    }
    let key = |code: u32| group.and_then(|group| group.key(code));
    // An empty text and none at all count as one, as SQL counts them.
    let is_empty_text = |code: &u32| *code > 0 && key(*code).is_some_and(|key| key.is_empty());
    let has_both = by_group.contains_key(&0) && by_group.keys().any(is_empty_text);
    let groups = by_group.len() as u64 - u64::from(has_both);
    let mut top: Vec<(u32, i128)> = by_group.into_iter().collect();
    top.sort_by(|a, b| {
        let keys = || group.map_or(std::cmp::Ordering::Equal, |group| by_key(group, a.0, b.0));
        b.1.cmp(&a.1).then_with(keys)
    });
    top.truncate(question.series);
    let starts: BTreeSet<Date> = known.keys().map(|(start, _)| *start).collect();
    let mut values = Vec::new();
    let (Some(first), Some(last)) = (starts.first(), starts.last()) else {
        return Some(Series { values, groups });
    };
    let keys: Vec<(u32, Option<String>)> =
        top.iter().map(|(code, _)| (*code, key(*code))).collect();
    for start in question.interval.starts(*first, *last) {
        let next = question.interval.next(start);
        let is_gap = |(from, to): &(Date, Date)| {
            start >= *from && next.is_some_and(|next| Some(next) <= to.next_day())
        };
        // The caller looked at how many there are; only damage makes more.
        if values.len() as u64 > MOST_BUCKETS {
            return None;
        }
        if starts.contains(&start) || !question.gaps.iter().any(is_gap) {
            for (code, key) in &keys {
                let value = known.get(&(start, *code)).copied().unwrap_or_default();
                values.push((start.to_string(), key.clone(), value));
            }
        }
    }
    Some(Series { values, groups })
}

fn day(column: &Column, code: u32) -> Option<Date> {
    date(column.number(code)?)
}
