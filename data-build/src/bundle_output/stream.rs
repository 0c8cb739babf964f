//! Reads tables of the bundle from start to end, in the order in which they are stored, a batch at
//! a time. A table is read once, whatever its length.

use anyhow::{Context, Result, ensure};
use duckdb::arrow::array::{Array, AsArray, RecordBatch, StringArray};
use duckdb::arrow::datatypes::UInt64Type;
use duckdb::{ArrowStream, Connection};

/// Calls `visit` with each batch of a query's result.
pub fn each_batch(
    db: &Connection,
    sql: &str,
    mut visit: impl FnMut(&RecordBatch) -> Result<()>,
) -> Result<()> {
    let context = || format!("in: {}", sql.chars().take(300).collect::<String>());
    let mut statement = db.prepare(sql).with_context(context)?;
    for batch in statement.stream_arrow([]).with_context(context)? {
        visit(&batch.with_context(context)?)?;
    }
    Ok(())
}

/// Calls `visit` with the JSON of every row of a table that is stored in the order of `ord`.
pub fn each_row(
    db: &Connection,
    table: &str,
    json: &str,
    mut visit: impl FnMut(u64, &str) -> Result<()>,
) -> Result<()> {
    let mut next = 0;
    each_batch(db, &format!("SELECT ord::UBIGINT, {json} FROM {table}"), |batch| {
        let ords = batch.column(0).as_primitive_opt::<UInt64Type>().context("ord is no number")?;
        let rows = texts(batch, 1)?;
        for at in 0..batch.num_rows() {
            ensure!(ords.value(at) == next, "{table} is not in the order of its rows");
            visit(next, rows.value(at))?;
            next += 1;
        }
        Ok(())
    })
}

/// A column of texts.
pub fn texts(batch: &RecordBatch, column: usize) -> Result<&StringArray> {
    batch.column(column).as_string_opt::<i32>().context("a column is not text")
}

/// The text at this place; null is the empty text.
pub fn text_at(texts: &StringArray, at: usize) -> &str {
    if texts.is_null(at) { "" } else { texts.value(at) }
}

/// The records of a source with their titles, in order, beside rows that belong to them.
pub struct Parents<'s> {
    batches: ArrowStream<'s>,
    batch: Option<RecordBatch>,
    /// The next record's place in the batch, and its `ord`.
    at: usize,
    ord: u64,
}

impl<'s> Parents<'s> {
    /// `batches` have the id and the title of every record.
    pub fn new(batches: ArrowStream<'s>) -> Parents<'s> {
        Parents { batches, batch: None, at: 0, ord: 0 }
    }

    /// The next record: `ord`, id, title.
    pub fn advance(&mut self) -> Result<Option<(u64, &str, &str)>> {
        while self.batch.as_ref().is_none_or(|batch| self.at == batch.num_rows()) {
            let Some(batch) = self.batches.next().transpose()? else { return Ok(None) };
            (self.batch, self.at) = (Some(batch), 0);
        }
        let Some(batch) = &self.batch else { return Ok(None) };
        let (at, ord) = (self.at, self.ord);
        (self.at, self.ord) = (at + 1, ord + 1);
        Ok(Some((ord, text_at(texts(batch, 0)?, at), text_at(texts(batch, 1)?, at))))
    }

    /// The `ord` of the record with this id, which is the last one or comes after it.
    pub fn find(&mut self, id: &str) -> Result<u64> {
        while let Some((ord, next, _)) = self.advance()? {
            if next == id {
                return Ok(ord);
            }
        }
        anyhow::bail!("the rows of {id} are not in the order of the records")
    }
}
