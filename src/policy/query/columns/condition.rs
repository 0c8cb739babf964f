//! A filter as a test of codes: which values of a column it allows.

use std::ops::Range;

use super::{OrdSet, Table};
use crate::bundle::columns::{Column, OrdBits};
use crate::bundle::{SqlValue, days_since_1970};
use crate::catalog::Kind;
use crate::policy::query::filter::{Condition, Filter, Op};

/// Allowing more codes than that, a test looks at the code of every record instead of collecting
/// the records of every code.
const MOST_CODES: u32 = 1024;

/// What a filter asks of a record.
pub enum Test<'a> {
    Codes {
        column: Column<'a>,
        /// In order and apart from each other.
        allowed: Vec<Range<u32>>,
        /// How many records pass at most.
        count: u64,
    },
    /// A comparison of two numbers of the record.
    Pair { left: Column<'a>, op: Op, right: Column<'a> },
}

impl<'a> Test<'a> {
    /// Nothing where the columns can't tell.
    pub fn of(table: &Table<'a>, filter: &Filter) -> Option<Test<'a>> {
        let column = table.column(filter.column)?;
        let allowed = match &filter.condition {
            Condition::AnyOf(values) => {
                let codes = values.iter().map(|value| codes_of(&column, filter.kind, value));
                let mut codes: Vec<u32> = codes.collect::<Option<Vec<_>>>()?.concat();
                codes.sort_unstable();
                codes.dedup();
                codes.into_iter().map(|code| code..code + 1).collect()
            }
            Condition::Within(spans) => {
                let span = |(first, last): &(time::Date, time::Date)| {
                    let first = column.number_codes(days_since_1970(*first).into()).start;
                    first..column.number_codes(days_since_1970(*last).into()).end
                };
                joined(spans.iter().map(span).collect())
            }
            Condition::Compare(op, value) => {
                let number = match value {
                    SqlValue::Integer(number) => *number,
                    SqlValue::Date(day) => days_since_1970(*day).into(),
                    _ => return None,
                };
                let equal = column.number_codes(number);
                let end = column.values + 1;
                let allowed = match op {
                    Op::Any => equal,
                    Op::Lt => 1..equal.start,
                    Op::Lte => 1..equal.end,
                    Op::Gt => equal.end..end,
                    Op::Gte => equal.start..end,
                };
                joined(vec![allowed])
            }
            Condition::IsNotTrue => {
                let set = column.number_codes(1);
                joined(vec![0..set.start, set.end..column.values + 1])
            }
            Condition::CompareColumns(op, other) => {
                let right = table.column(other)?;
                return Some(Test::Pair { left: column, op: *op, right });
            }
        };
        let codes: u32 = allowed.iter().map(|range| range.end - range.start).sum();
        let count = match codes > MOST_CODES {
            true => u64::from(column.records),
            false => allowed.iter().cloned().flatten().map(|c| u64::from(column.count(c))).sum(),
        };
        Some(Test::Codes { column, allowed, count })
    }

    /// How many records pass at most, as far as that is known beforehand.
    pub fn count(&self) -> u64 {
        match self {
            Test::Codes { count, .. } => *count,
            Test::Pair { left, .. } => u64::from(left.records),
        }
    }

    /// Whether a record passes.
    #[inline]
    pub fn accepts(&self, ord: u32) -> bool {
        match self {
            Test::Codes { column, allowed, .. } if column.is_list => {
                column.list(ord).any(|code| is_in(allowed, code))
            }
            Test::Codes { column, allowed, .. } => is_in(allowed, column.code(ord)),
            Test::Pair { left, op, right } => match (left.number_of(ord), right.number_of(ord)) {
                (Some(left), Some(right)) => op.holds(left.cmp(&right)),
                _ => false,
            },
        }
    }

    /// All records that pass.
    pub fn all(&self, records: u32) -> OrdSet {
        match self {
            Test::Codes { column, allowed, count } if *count < u64::from(records) => {
                let sets = allowed.iter().cloned().flatten().map(|code| column.ords(code));
                if *count * 32 > u64::from(records) {
                    let mut bits = OrdBits::new(records);
                    sets.for_each(|ords| bits.add(ords));
                    return OrdSet::Bits(bits);
                }
                let is_one = allowed.len() == 1 && allowed[0].len() == 1;
                // Damage must not make records of other sources pass.
                let known = sets.flat_map(|ords| ords.iter()).filter(|ord| *ord < records);
                let mut ords: Vec<u32> = known.collect();
                if !is_one {
                    ords.sort_unstable();
                    ords.dedup();
                }
                OrdSet::Listed(ords)
            }
            Test::Codes { column, allowed, .. } if !column.is_list && allowed.len() == 1 => {
                OrdSet::Bits(column.ords_within(&allowed[0]))
            }
            _ => {
                let mut bits = OrdBits::new(records);
                (0..records).filter(|ord| self.accepts(*ord)).for_each(|ord| bits.insert(ord));
                OrdSet::Bits(bits)
            }
        }
    }
}

fn is_in(allowed: &[Range<u32>], code: u32) -> bool {
    let at = allowed.partition_point(|range| range.end <= code);
    allowed.get(at).is_some_and(|range| range.start <= code)
}

/// The codes of a value that a filter names; nothing if it has another type than the column.
fn codes_of(column: &Column, kind: Kind, value: &SqlValue) -> Option<Vec<u32>> {
    Some(match (kind, value) {
        (Kind::Keyword | Kind::Keywords, SqlValue::Text(text)) => column.folded_codes(text),
        (Kind::Id(_) | Kind::Ids(_), SqlValue::Text(text)) => column.text_codes(text).collect(),
        (Kind::Int, SqlValue::Integer(number)) => column.number_codes(*number).collect(),
        (Kind::Bool, SqlValue::Boolean(flag)) => column.number_codes((*flag).into()).collect(),
        _ => return None,
    })
}

/// Ranges in order, those that touch as one.
fn joined(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
