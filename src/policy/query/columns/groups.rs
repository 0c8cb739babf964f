//! Counts and sums of a set of records, in all and by group, in one pass over their columns.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use super::{CHECKED, Group, OrdSet, Table, date};
use crate::api::{Context, Result};
use crate::bundle::ValueCounts;
use crate::bundle::columns::{Column, OrdBits};
use crate::catalog::{Field, Kind};
use crate::policy::query::aggregate_request::Measure;

/// A set of records and what is added up over it.
pub struct Measured<'a> {
    pub table: Table<'a>,
    pub set: OrdSet,
    /// The numbers that are summed; without them records are counted.
    summed: Option<Column<'a>>,
}

/// The largest groups.
pub struct Grouped {
    /// Keys and values, the largest first.
    pub largest: Vec<(Vec<Option<String>>, i64)>,
    /// How many groups there are.
    pub groups: u64,
    /// What all groups come to.
    pub sum: i64,
}

/// The value of one group: codes of its keys and what it comes to.
type Tally = ([u32; 2], i64);

impl<'a> Measured<'a> {
    pub fn new(table: Table<'a>, set: OrdSet, measure: &Measure) -> Option<Measured<'a>> {
        let summed = match measure {
            Measure::Count => None,
            Measure::Sum(field) => Some(table.column(field.name)?),
            // Numbers with fractions have no column.
            Measure::Of(..) => return None,
        };
        Some(Measured { table, set, summed })
    }

    /// A set whose records are counted.
    pub fn counted(table: Table<'a>, set: OrdSet) -> Measured<'a> {
        Measured { table, set, summed: None }
    }

    /// The records, each as often as its lists have items.
    pub fn rows(&self, lists: &[&Field]) -> Option<u64> {
        if lists.is_empty() {
            return Some(self.set.len());
        }
        let columns: Option<Vec<Column>> =
            lists.iter().map(|field| self.table.column(field.name)).collect();
        let columns = columns?;
        let mut rows = 0u64;
        self.set.each(|ord| {
            let times = columns.iter().map(|column| column.list(ord).count().max(1) as u64);
            rows = rows.saturating_add(times.product());
        });
        Some(rows)
    }

    /// What one record adds.
    #[inline]
    fn number(&self, ord: u32) -> i64 {
        match &self.summed {
            None => 1,
            Some(column) => column.number_of(ord).unwrap_or_default(),
        }
    }

    /// The same for sums that may be larger than it.
    #[inline]
    pub(super) fn value(&self, ord: u32) -> i128 {
        self.number(ord).into()
    }

    /// What all records come to; nothing if that is more than DuckDB's sums can be.
    pub fn total(&self) -> Option<i64> {
        let mut total = 0i128;
        self.set.each(|ord| total += self.value(ord));
        i64::try_from(total).ok()
    }

    /// The groups by one field or two. Nothing where columns can't tell.
    pub fn grouped(
        &self,
        context: &Context,
        fields: &[Field],
        limit: usize,
    ) -> Result<Option<Grouped>> {
        let groups: Option<Vec<Group>> =
            fields.iter().map(|field| Group::of(&self.table, field)).collect();
        let Some(groups) = groups else { return Ok(None) };
        let tallies = match groups.as_slice() {
            [one] => self.by_one(context, one)?,
            [one, two] => self.by_two(context, one, two)?,
            _ => return Ok(None),
        };
        let Some(tallies) = tallies else { return Ok(None) };
        let total = tallies.len() as u64;
        let sum: i128 = tallies.iter().map(|(_, value)| i128::from(*value)).sum();
        let Ok(sum) = i64::try_from(sum) else { return Ok(None) };
        let largest = largest(tallies, &groups, limit);
        let keys = |codes: [u32; 2]| {
            groups.iter().zip(codes).map(|(group, code)| group.key(code)).collect()
        };
        let largest = largest.into_iter().map(|(codes, value)| (keys(codes), value)).collect();
        Ok(Some(Grouped { largest, groups: total, sum }))
    }

    fn by_one(&self, context: &Context, group: &Group) -> Result<Option<Vec<Tally>>> {
        let codes = group.column.values + 1;
        if let (OrdSet::All(_), None) = (&self.set, &self.summed) {
            // How many records have a value is known.
            let counts = (0..codes).map(|code| ([code, 0], i64::from(group.column.count(code))));
            return Ok(Some(counts.filter(|(_, count)| *count > 0).collect()));
        }
        if self.summed.is_none() {
            let counts = self.counts(context, group)?.into_iter().enumerate();
            let tally = |(code, count): (usize, u32)| ([code as u32, 0], i64::from(count));
            return Ok(Some(counts.filter(|(_, count)| *count > 0).map(tally).collect()));
        }
        // Sums of 64 bits and apart from what is known of them, since half of the memory is half of
        // the time; DuckDB takes what exceeds them.
        let (mut sums, mut has_rows) = (vec![0i64; codes as usize], OrdBits::new(codes));
        let mut fits = true;
        self.visit(context, |ord| {
            let value = self.number(ord);
            group.each(ord, |code| {
                if let Some(sum) = sums.get_mut(code as usize) {
                    let (added, exceeds) = sum.overflowing_add(value);
                    *sum = added;
                    has_rows.insert(code);
                    fits &= !exceeds;
                }
            });
        })?;
        let sum = |code: u32| sums.get(code as usize).copied().unwrap_or_default();
        Ok(fits.then(|| has_rows.iter().map(|code| ([code, 0], sum(code))).collect()))
    }

    /// How many records each code has.
    fn counts(&self, context: &Context, group: &Group) -> Result<Vec<u32>> {
        let mut counts = vec![0u32; group.column.values as usize + 1];
        self.visit(context, |ord| {
            group.each(ord, |code| {
                if let Some(count) = counts.get_mut(code as usize) {
                    *count += 1;
                }
            });
        })?;
        Ok(counts)
    }

    /// Adds how many records each year of a date has. Returns whether columns can tell.
    pub fn add_years(
        &self,
        context: &Context,
        field: &Field,
        years: &mut BTreeMap<i32, u64>,
    ) -> Result<bool> {
        let Some(group) = Group::of(&self.table, field) else { return Ok(false) };
        let Some(tallies) = self.by_one(context, &group)? else { return Ok(false) };
        for ([code, _], count) in tallies {
            let day = group.column.number(code).and_then(date);
            if let Some(day) = day {
                *years.entry(day.year()).or_default() += count as u64;
            }
        }
        Ok(true)
    }

    fn by_two(&self, context: &Context, one: &Group, two: &Group) -> Result<Option<Vec<Tally>>> {
        let mut tallies: HashMap<[u32; 2], i128> = HashMap::new();
        self.visit(context, |ord| {
            let value = self.value(ord);
            one.each(ord, |a| two.each(ord, |b| *tallies.entry([a, b]).or_default() += value));
        })?;
        let tally = |(codes, sum): ([u32; 2], i128)| Some((codes, i64::try_from(sum).ok()?));
        Ok(tallies.into_iter().map(tally).collect())
    }

    /// Calls `visit` with each record, and looks now and then whether anyone still waits.
    pub(super) fn visit(&self, context: &Context, mut visit: impl FnMut(u32)) -> Result<()> {
        let mut visited = 0usize;
        self.set.try_each(|ord| {
            visited += 1;
            if visited.is_multiple_of(CHECKED) {
                context.check()?;
            }
            visit(ord);
            Ok(())
        })
    }

    /// How many records have each value of a field: its `most` most frequent ones, and how many
    /// there are.
    pub fn frequent(
        &self,
        context: &Context,
        field: &Field,
        most: usize,
    ) -> Result<Option<ValueCounts>> {
        let Some(group) = Group::of(&self.table, field) else { return Ok(None) };
        let Some(mut tallies) = self.by_one(context, &group)? else { return Ok(None) };
        tallies.retain(|(codes, _)| codes[0] > 0);
        let distinct = tallies.len() as u64;
        let largest = largest(tallies, &[group], most).into_iter();
        let shown = largest.filter_map(|(codes, count)| Some((group.key(codes[0])?, count as u64)));
        Ok(Some(ValueCounts { values: shown.collect(), distinct }))
    }
}

/// The groups with the largest values, those of equal ones in the order of their keys.
fn largest(mut tallies: Vec<Tally>, groups: &[Group], limit: usize) -> Vec<Tally> {
    let order = |a: &Tally, b: &Tally| {
        let keys = groups.iter().zip(a.0.iter().zip(b.0));
        b.1.cmp(&a.1).then_with(|| {
            keys.fold(Ordering::Equal, |order, (group, (a, b))| {
                order.then_with(|| by_key(group, *a, b))
            })
        })
    };
    if limit > 0 && limit < tallies.len() {
        tallies.select_nth_unstable_by(limit - 1, order);
    }
    tallies.truncate(limit);
    tallies.sort_unstable_by(order);
    tallies
}

/// The order of keys as texts, records without one last. Codes of texts, flags and days have it.
pub(super) fn by_key(group: &Group, a: u32, b: u32) -> Ordering {
    match (a, b) {
        (a, b) if a == b => Ordering::Equal,
        (0, _) => Ordering::Greater,
        (_, 0) => Ordering::Less,
        (a, b) if group.kind == Kind::Int => group.key(a).cmp(&group.key(b)),
        (a, b) => a.cmp(&b),
    }
}
