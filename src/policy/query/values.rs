//! The values that a column has.

use super::columns::Table;
use super::filter::quoted;
use super::listing::Listing;
use crate::api::{Context, Result};
use crate::bundle::SqlValue;
use crate::catalog::Field;

/// The values of a column that have all of these words somewhere in them, the most frequent first.
/// Blocks: call it on a blocking thread.
pub fn values_with(
    context: &Context,
    listing: &Listing,
    column: Field,
    words: &[String],
    most: usize,
) -> Result<Vec<String>> {
    let table = Table::of(listing)?;
    let found = table.map(|table| table.values_with(context, &column, words, most)).transpose()?;
    if let Some(found) = found.flatten() {
        return Ok(found);
    }
    let (name, table) = (quoted(column.name), quoted(&listing.table));
    let value = if column.kind.is_list() { format!("unnest({name})") } else { name };
    let has = " AND contains(lower(v), ?::VARCHAR)".repeat(words.len());
    let sql = format!(
        "SELECT v FROM (SELECT {value} AS v FROM {table}) WHERE v IS NOT NULL{has} \
         GROUP BY v ORDER BY count(*) DESC, v LIMIT {most}"
    );
    let bound: Vec<SqlValue> = words.iter().cloned().map(SqlValue::Text).collect();
    Ok(listing.bundle.db.query(&sql, &bound, &context.interrupt(), |row| row.get(0))?)
}
