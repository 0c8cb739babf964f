//! Lists of the rows of one record, without SQL: the rows are prepared, and they are few. Gives the
//! same as the SQL beside it; what can't be answered here is `None` and left to DuckDB.

use std::cmp::Ordering;

use super::cursor::Cursor;
use super::filter::{Condition, Filter};
use super::page::ListRow;
use super::request::{ListRequest, Sort};
use crate::api::{Code, Context, Error, Result};
use crate::bundle::SqlValue;
use crate::bundle::links::Rows;
use crate::bundle::rows::{RowBlock, RowValue};
use crate::catalog::Kind;
use crate::catalog::wording::day;

/// Of more rows than that, DuckDB finds some sooner.
pub const MOST_ROWS: usize = 20_000;

/// A row that is meant: its place, its block and its number there.
pub type Place = (usize, usize, usize);

/// How many rows the list has, and the next `limit` of them.
pub fn page(
    context: &Context,
    rows: &Rows,
    request: &ListRequest,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Option<(u64, Vec<ListRow>)>> {
    let ord = |place: usize| (rows.range.start + place) as u64;
    if request.filters.is_empty() && request.sort.is_none() {
        let from = after.map_or(0, |cursor| (cursor.ord + 1).saturating_sub(ord(0)) as usize);
        let found = rows.json(from..from.saturating_add(limit));
        let row = |(at, json): (usize, String)| ListRow {
            ord: ord(from + at),
            key: None,
            json: Some(json),
        };
        let found = found.map(|found| found.into_iter().enumerate().map(row).collect());
        return Ok(found.map(|found| (rows.range.len() as u64, found)));
    }
    let Some(blocks) = all(rows) else { return Ok(None) };
    let Some(places) = places(context, &blocks, request)? else { return Ok(None) };
    let found = page_of(&blocks, &places, ord(0), after, limit)?;
    Ok(Some((places.len() as u64, found)))
}

/// The rows that are meant, in order. Nothing where that depends on a column that is not kept.
pub fn places(
    context: &Context,
    blocks: &[RowBlock],
    request: &ListRequest,
) -> Result<Option<Vec<Place>>> {
    let filters: Vec<&Filter> = request.filters.iter().collect();
    let Some(mut places) = matched(context, blocks, &filters)? else { return Ok(None) };
    let is_sorted = request.sort.is_none_or(|sort| sort_places(blocks, &mut places, sort));
    Ok(is_sorted.then_some(places))
}

/// The next `limit` of these rows; the first one of all has the number `first`.
pub fn page_of(
    blocks: &[RowBlock],
    places: &[Place],
    first: u64,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Vec<ListRow>> {
    let ord = |place: usize| first + place as u64;
    let from = match after {
        None => 0,
        Some(cursor) => {
            let at = places.iter().position(|(place, ..)| ord(*place) == cursor.ord);
            let unfit = || Error::new(Code::InvalidCursor, "The cursor can't be read.");
            at.ok_or_else(unfit)? + 1
        }
    };
    let row = |(place, block, at): &Place| ListRow {
        ord: ord(*place),
        key: None,
        json: Some(blocks[*block].json(*at)),
    };
    Ok(places.iter().skip(from).take(limit).map(row).collect())
}

/// How many rows each filter leaves by itself.
pub fn matches_alone(
    context: &Context,
    rows: &Rows,
    filters: &[&Filter],
) -> Result<Option<Vec<u64>>> {
    let Some(blocks) = all(rows) else { return Ok(None) };
    let alone = |filter: &&Filter| matched(context, &blocks, &[*filter]);
    let places: Option<Vec<_>> = filters.iter().map(alone).collect::<Result<_>>()?;
    Ok(places.map(|places| places.iter().map(|places| places.len() as u64).collect()))
}

/// All rows, where they are kept and few enough.
pub(super) fn all<'a>(rows: &Rows<'a>) -> Option<Vec<RowBlock<'a>>> {
    if rows.range.len() <= MOST_ROWS { rows.all() } else { None }
}

/// The rows that pass all filters. Nothing where a filter is on a column that is not kept.
pub(super) fn matched(
    context: &Context,
    blocks: &[RowBlock],
    filters: &[&Filter],
) -> Result<Option<Vec<Place>>> {
    let (mut places, mut before) = (Vec::new(), 0);
    for (number, block) in blocks.iter().enumerate() {
        context.check()?;
        let tests: Option<Vec<Test>> = filters.iter().map(|f| Test::of(block, f)).collect();
        let Some(tests) = tests else { return Ok(None) };
        let passing = (0..block.rows).filter(|at| tests.iter().all(|test| test.accepts(*at)));
        places.extend(passing.map(|at| (before + at, number, at)));
        before += block.rows;
    }
    Ok(Some(places))
}

/// Sorts by a column, rows without a value last. Returns whether that column is kept.
fn sort_places(blocks: &[RowBlock], places: &mut [Place], sort: Sort) -> bool {
    let Sort { field, descending } = sort;
    if blocks.iter().any(|block| block.column(field.name).is_none()) {
        return false;
    }
    let key = |(_, block, at): &Place| {
        let block = &blocks[*block];
        block.column(field.name).and_then(|column| typed(block.value(*at, column), field.kind))
    };
    let mut keyed: Vec<(Option<SqlValue>, Place)> =
        places.iter().map(|place| (key(place), *place)).collect();
    keyed.sort_by(|(left, left_place), (right, right_place)| {
        let order = match (left, right) {
            (Some(left), Some(right)) => {
                let order = compare(left, right).unwrap_or(Ordering::Equal);
                if descending { order.reverse() } else { order }
            }
            (left, right) => left.is_none().cmp(&right.is_none()),
        };
        order.then(left_place.cmp(right_place))
    });
    places.iter_mut().zip(keyed).for_each(|(place, (_, sorted))| *place = sorted);
    true
}

/// A filter on a column of a block.
struct Test<'b> {
    block: &'b RowBlock<'b>,
    filter: &'b Filter,
    column: usize,
    /// The column that it is compared with.
    other: Option<usize>,
}

impl<'b> Test<'b> {
    fn of(block: &'b RowBlock<'b>, filter: &'b Filter) -> Option<Test<'b>> {
        let column = block.column(filter.column)?;
        let other = match &filter.condition {
            Condition::CompareColumns(_, other) => Some(block.column(other)?),
            _ => None,
        };
        Some(Test { block, filter, column, other })
    }

    fn accepts(&self, row: usize) -> bool {
        let kind = self.filter.kind;
        let value = self.block.value(row, self.column);
        match &self.filter.condition {
            Condition::AnyOf(wanted) => match kind {
                Kind::Keywords | Kind::Ids(_) => listed(value).into_iter().any(|word| {
                    let word = if kind == Kind::Keywords { word.to_lowercase() } else { word };
                    wanted.contains(&SqlValue::Text(word))
                }),
                Kind::Keyword | Kind::Text => match typed(value, kind) {
                    Some(SqlValue::Text(word)) => {
                        wanted.contains(&SqlValue::Text(word.to_lowercase()))
                    }
                    _ => false,
                },
                _ => typed(value, kind).is_some_and(|value| wanted.contains(&value)),
            },
            Condition::Within(spans) => match typed(value, kind) {
                Some(SqlValue::Date(day)) => {
                    spans.iter().any(|(first, last)| (*first..=*last).contains(&day))
                }
                _ => false,
            },
            Condition::Compare(op, other) => {
                let order = typed(value, kind).and_then(|value| compare(&value, other));
                order.is_some_and(|order| op.holds(order))
            }
            Condition::CompareColumns(op, _) => {
                let other = self.other.and_then(|other| typed(self.block.value(row, other), kind));
                let pair = typed(value, kind).zip(other);
                let order = pair.and_then(|(left, right)| compare(&left, &right));
                order.is_some_and(|order| op.holds(order))
            }
            Condition::IsNotTrue => typed(value, kind) != Some(SqlValue::Boolean(true)),
        }
    }
}

/// A value of a column of this kind, which is no list.
pub(super) fn typed(value: RowValue, kind: Kind) -> Option<SqlValue> {
    match (value, kind) {
        (RowValue::Null, _) => None,
        (RowValue::Json(json), Kind::Int) => json.parse().ok().map(SqlValue::Integer),
        (RowValue::Json(json), Kind::Number) => json.parse().ok().map(SqlValue::Number),
        (RowValue::Json(json), Kind::Bool) => json.parse().ok().map(SqlValue::Boolean),
        (RowValue::Text(text), Kind::Date) => day(text).map(SqlValue::Date),
        (RowValue::Text(text), _) => Some(SqlValue::Text(text.to_string())),
        (RowValue::Json(json), _) => serde_json::from_str(json).ok().map(SqlValue::Text),
    }
}

/// The words of a list.
fn listed(value: RowValue) -> Vec<String> {
    match value {
        RowValue::Json(json) => serde_json::from_str(json).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The order of two values of one type.
fn compare(left: &SqlValue, right: &SqlValue) -> Option<Ordering> {
    match (left, right) {
        (SqlValue::Text(left), SqlValue::Text(right)) => Some(left.cmp(right)),
        (SqlValue::Integer(left), SqlValue::Integer(right)) => Some(left.cmp(right)),
        (SqlValue::Number(left), SqlValue::Number(right)) => left.partial_cmp(right),
        (SqlValue::Boolean(left), SqlValue::Boolean(right)) => Some(left.cmp(right)),
        (SqlValue::Date(left), SqlValue::Date(right)) => Some(left.cmp(right)),
        _ => None,
    }
}
