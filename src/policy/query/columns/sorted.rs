//! The next records of a list in its order.

use super::{OrdSet, Table, column_value};
use crate::api::Result;
use crate::bundle::SqlValue;
use crate::bundle::columns::Column;
use crate::bundle::days_since_1970;
use crate::policy::query::cursor::Cursor;
use crate::policy::query::request::Sort;

/// A record's place in the list: its `ord` and its value in the sort column.
pub type Place = (u32, Option<String>);

/// Where a list goes on: behind this code and, within it, behind this `ord`.
struct Start {
    /// The value itself, if some record has it.
    within: Option<u32>,
    /// The first code behind it, in the direction of the sort; `None` is past all values.
    next: Option<u32>,
    ord: u32,
}

impl Table<'_> {
    /// The first `limit` records of the set after the cursor. Nothing where the columns can't tell.
    pub fn page(
        &self,
        set: &OrdSet,
        sort: Option<Sort>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Option<Vec<Place>>> {
        let Some(Sort { field, descending }) = sort else {
            let from = after.map_or(0, |cursor| cursor.ord.saturating_add(1));
            return Ok(Some(from_ord(set, from, limit).map(|ord| (ord, None)).collect()));
        };
        let Some(column) = self.column(field.name).filter(|column| !column.is_list) else {
            return Ok(None);
        };
        let start = match after {
            None => Start { within: None, next: first_code(&column, descending), ord: 0 },
            Some(cursor) => {
                let Some(start) =
                    start(&column, cursor, cursor.sort_value(field.kind)?, descending)
                else {
                    return Ok(None);
                };
                start
            }
        };
        // A sort of a few records is cheaper than a walk past all others.
        let ords = match set.len() * 16 < u64::from(self.records) {
            true => by_sorting(&column, set, &start, descending, limit),
            false => by_walking(&column, set, &start, descending, limit),
        };
        let place = |ord: u32| (ord, column_value(&column, field.kind, column.code(ord)));
        Ok(Some(ords.into_iter().map(place).collect()))
    }
}

fn from_ord(set: &OrdSet, from: u64, limit: usize) -> Box<dyn Iterator<Item = u32> + '_> {
    let from = u32::try_from(from).unwrap_or(u32::MAX);
    match set {
        OrdSet::All(records) => Box::new((from..*records).take(limit)),
        OrdSet::Listed(ords) => {
            let first = ords.partition_point(|ord| *ord < from);
            Box::new(ords[first..].iter().copied().take(limit))
        }
        OrdSet::Bits(bits) => Box::new(bits.iter().skip_while(move |ord| *ord < from).take(limit)),
    }
}

fn first_code(column: &Column, descending: bool) -> Option<u32> {
    let code = if descending { column.values } else { 1 };
    (column.values > 0).then_some(code)
}

fn next_code(column: &Column, code: u32, descending: bool) -> Option<u32> {
    match descending {
        true => code.checked_sub(1).filter(|code| *code > 0),
        false => Some(code + 1).filter(|code| *code <= column.values),
    }
}

/// Where the list goes on after a cursor. Anyone can make one up, so its value may be none that a
/// record has. Nothing if it has another type than the column.
fn start(
    column: &Column,
    cursor: &Cursor,
    value: Option<SqlValue>,
    descending: bool,
) -> Option<Start> {
    let ord = u32::try_from(cursor.ord.saturating_add(1)).unwrap_or(u32::MAX);
    let Some(value) = value else { return Some(Start { within: Some(0), next: None, ord }) };
    let equal = match &value {
        SqlValue::Text(text) => column.text_codes(text),
        SqlValue::Integer(number) => column.number_codes(*number),
        SqlValue::Boolean(flag) => column.number_codes((*flag).into()),
        SqlValue::Date(day) => column.number_codes(days_since_1970(*day).into()),
        SqlValue::Number(_) | SqlValue::Numbers(_) => return None,
    };
    let next = match descending {
        true => Some(equal.start - 1).filter(|code| *code > 0),
        false => Some(equal.end).filter(|code| *code <= column.values),
    };
    let within = (!equal.is_empty()).then_some(equal.start);
    Some(Start { within, next, ord })
}

/// Walks through the records value by value, those without one at the end.
fn by_walking(
    column: &Column,
    set: &OrdSet,
    start: &Start,
    descending: bool,
    limit: usize,
) -> Vec<u32> {
    let mut found = Vec::new();
    let take = |code: u32, from: u32, found: &mut Vec<u32>| {
        let room = limit - found.len();
        let fitting = column.ords(code).iter().filter(|ord| *ord >= from && set.contains(*ord));
        found.extend(fitting.take(room));
    };
    if let Some(code) = start.within {
        take(code, start.ord, &mut found);
        if code == 0 {
            return found;
        }
    }
    let mut code = start.next;
    while let Some(at) = code.filter(|_| found.len() < limit) {
        take(at, 0, &mut found);
        code = next_code(column, at, descending);
    }
    if found.len() < limit {
        take(0, 0, &mut found);
    }
    found
}

/// Sorts the records that come after the start.
fn by_sorting(
    column: &Column,
    set: &OrdSet,
    start: &Start,
    descending: bool,
    limit: usize,
) -> Vec<u32> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    let rank = |code: u32| match (code, descending) {
        (0, _) => u32::MAX,
        (code, true) => u32::MAX - code,
        (code, false) => code,
    };
    let (within, next) = (start.within.map(rank), start.next.map_or(u32::MAX, rank));
    set.each(|ord| {
        let rank = rank(column.code(ord));
        let is_after = match within {
            Some(within) if within == rank => ord >= start.ord,
            // Behind records without a value there is nothing.
            Some(u32::MAX) => false,
            _ => rank >= next,
        };
        if is_after {
            found.push((rank, ord));
        }
    });
    if limit < found.len() && limit > 0 {
        found.select_nth_unstable(limit - 1);
        found.truncate(limit);
    }
    found.sort_unstable();
    found.truncate(limit);
    found.into_iter().map(|(_, ord)| ord).collect()
}
