//! A set of records by filters alone, for those who rank them otherwise.

use super::filter::{Filter, ReadId, quoted};
use super::listing::{conditions, read_filter};
use super::params::Params;
use super::table::Table;
use crate::bundle::Bundle;
use crate::error::Result;

/// Filters on one table, checked.
pub struct Selection {
    filters: Vec<Filter>,
}

impl Selection {
    pub fn read(params: &Params, table: &Table, read_id: ReadId) -> Result<Selection> {
        let filters =
            params.iter().map(|(name, value)| read_filter(name, value, table, read_id)).collect::<Result<_>>()?;
        Ok(Selection { filters })
    }

    pub fn is_everything(&self) -> bool {
        self.filters.is_empty()
    }

    /// What tells this selection from others on the same table.
    pub fn key(&self) -> String {
        self.filters.iter().map(|f| f.key() + "\n").collect()
    }
}

/// The positions of the records that a selection leaves.
pub fn select_ords(bundle: &Bundle, table: &Table, selection: &Selection) -> Result<Vec<u32>> {
    let mut bound = Vec::new();
    let conditions = conditions(table, &selection.filters, &mut bound);
    let sql = format!("SELECT ord::UINTEGER FROM {} WHERE {conditions} ORDER BY ord", quoted(&table.name));
    bundle.db.numbers(&sql, &bound)
}
