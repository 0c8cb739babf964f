//! Lists, counts and sums from the bundle's columns, without SQL: which records the filters leave,
//! in which order, in which groups. Gives the same as the SQL beside it; whatever columns can't
//! answer is `None` here and left to DuckDB.

mod condition;
mod groups;
mod ord_set;
mod series;
mod sorted;
mod values;

pub(super) use groups::{Grouped, Measured};
pub(super) use ord_set::OrdSet;
pub(super) use series::{Intervals, Series, TimeQuestion};

use super::filter::Filter;
use super::listing::{Items, Listing, Ords};
use crate::api::{Context, Error, Result};
use crate::bundle::columns::{Column, Columns};
use crate::catalog::{Field, Kind};
use condition::Test;

/// Records between two looks at whether anyone still waits.
const CHECKED: usize = 1 << 16;

/// The records of a source as columns.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    columns: &'a Columns,
    listing: &'a Listing<'a>,
    pub records: u32,
}

impl<'a> Table<'a> {
    /// The table of a listing; nothing for rows of sub-resources and for bundles without columns.
    pub fn of(listing: &'a Listing) -> Result<Option<Table<'a>>> {
        let (Items::Records { .. }, Some(facts)) = (listing.items, listing.facts) else {
            return Ok(None);
        };
        let columns = listing.bundle.columns()?;
        let records = u32::try_from(facts.records).map_err(Error::internal)?;
        Ok(columns.map(|columns| Table { columns, listing, records }))
    }

    pub fn column(&self, field: &str) -> Option<Column<'a>> {
        let column = self.columns.column(&self.listing.table, field)?;
        (column.records == self.records).then_some(column)
    }

    /// The records that belong to the listing and pass all filters.
    pub fn matched(&self, context: &Context, filters: &[Filter]) -> Result<Option<OrdSet>> {
        let tests: Option<Vec<Test>> =
            filters.iter().map(|filter| Test::of(self, filter)).collect();
        let Some(mut tests) = tests else { return Ok(None) };
        // The test that leaves the fewest goes first: the others then look at those only.
        tests.sort_by_key(Test::count);
        let mut set = match self.listing.parent.as_ref().map(|parent| &parent.ords) {
            Some(Ords::Records(ords)) => OrdSet::Listed(ords.clone()),
            Some(Ords::Rows(_)) => return Ok(None),
            None => OrdSet::All(self.records),
        };
        for test in tests {
            context.check()?;
            set = set.keep(&test, self.records);
        }
        Ok(Some(set))
    }
}

/// A value of a column as DuckDB writes it.
pub fn column_value(column: &Column, kind: Kind, code: u32) -> Option<String> {
    if let Some(text) = column.text(code) {
        return Some(text.to_string());
    }
    let number = column.number(code)?;
    Some(match kind {
        Kind::Bool => (number != 0).to_string(),
        Kind::Date => date(number)?.to_string(),
        _ => number.to_string(),
    })
}

/// The day with this number.
fn date(days: i64) -> Option<time::Date> {
    let epoch = time::OffsetDateTime::UNIX_EPOCH.to_julian_day();
    time::Date::from_julian_day(i32::try_from(days).ok()?.checked_add(epoch)?).ok()
}

/// A field that records are grouped by.
#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    column: Column<'a>,
    kind: Kind,
}

impl<'a> Group<'a> {
    pub fn of(table: &Table<'a>, field: &Field) -> Option<Group<'a>> {
        Some(Group { column: table.column(field.name)?, kind: field.kind })
    }

    /// Calls `visit` with each code that a record falls into, once.
    #[inline]
    fn each(&self, ord: u32, mut visit: impl FnMut(u32)) {
        if !self.column.is_list {
            return visit(self.column.code(ord));
        }
        let mut is_empty = true;
        for (at, code) in self.column.list(ord).enumerate() {
            is_empty = false;
            let is_repeated = self.column.has_repeats
                && self.column.list(ord).take(at).any(|before| before == code);
            if !is_repeated {
                visit(code);
            }
        }
        if is_empty {
            visit(0);
        }
    }

    fn key(&self, code: u32) -> Option<String> {
        column_value(&self.column, self.kind, code)
    }
}
