//! A set of records by filters alone, for callers that rank them otherwise.

use super::columns::Table;
use super::filter::{Filter, filters_key, quoted};
use super::listing::Listing;
use super::page::conditions;
use crate::api::{Arguments, Context, Result};

/// Filters on one listing, checked.
#[derive(Clone)]
pub struct Selection {
    filters: Vec<Filter>,
}

impl Selection {
    /// Reads every argument as a filter; `valid` names what else the caller could have meant.
    pub fn read(arguments: &Arguments, listing: &Listing, valid: &[&str]) -> Result<Selection> {
        Ok(Selection { filters: Filter::read_all(arguments, listing, valid)? })
    }

    pub fn is_everything(&self) -> bool {
        self.filters.is_empty()
    }

    /// The filters as they were written.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        self.filters.iter().map(|filter| filter.written.as_str())
    }

    /// The same with only the filter at this place.
    pub fn only(&self, at: usize) -> Selection {
        Selection { filters: self.filters.get(at).cloned().into_iter().collect() }
    }

    /// The same without the filter at this place.
    pub fn without(&self, at: usize) -> Selection {
        let mut filters = self.filters.clone();
        if at < filters.len() {
            filters.remove(at);
        }
        Selection { filters }
    }

    /// What tells this selection from others on the same listing.
    pub fn key(&self) -> String {
        filters_key(&self.filters)
    }
}

/// The positions of the records that a selection leaves, in ascending order.
pub fn select_ords(
    context: &Context,
    listing: &Listing,
    selection: &Selection,
) -> Result<Vec<u32>> {
    let table = Table::of(listing)?;
    let set = table.map(|table| table.matched(context, &selection.filters)).transpose()?;
    if let Some(set) = set.flatten() {
        let mut ords = Vec::with_capacity(usize::try_from(set.len()).unwrap_or_default());
        set.each(|ord| ords.push(ord));
        return Ok(ords);
    }
    let mut bound = Vec::new();
    let conditions = conditions(listing, &selection.filters, &mut bound);
    let table = quoted(&listing.table);
    let sql = format!("SELECT ord::UINTEGER FROM {table} WHERE {conditions} ORDER BY ord");
    Ok(listing.bundle.db.query(&sql, &bound, &context.interrupt(), |row| row.get(0))?)
}
