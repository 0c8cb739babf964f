//! The columns section: every field that can be filtered or sorted by, prepared so that lists,
//! counts and sums need no query. Read in place from the memory map; what a request makes of it is
//! up to `policy::query`.
//!
//! Each field of a source has one file, `table.field` (see `Column`), and each source that ids
//! refer to one with the titles of its records. A field whose values don't fit has none: DuckDB
//! answers for it.

mod column;
mod ords;
mod writer;

use std::ops::Range;

use super::SharedMap;
use super::pack::{Files, PackedNumbers};
pub use column::Column;
pub use ords::{OrdBits, OrdIter, Ords};
pub use writer::{Builder, SourceColumns};

/// The columns, opened from their section.
pub struct Columns {
    files: Files,
}

impl Columns {
    pub fn open(map: SharedMap, section: Range<usize>) -> Result<Columns, String> {
        Ok(Columns { files: Files::open(map, section)? })
    }

    /// A field of a table, if it was prepared.
    pub fn column(&self, table: &str, field: &str) -> Option<Column<'_>> {
        Column::read(self.files.bytes(&format!("{table}.{field}")))
    }

    /// The title of the record with this `ord`.
    pub fn title(&self, table: &str, ord: usize) -> Option<&str> {
        let starts = PackedNumbers::in_bytes(self.files.bytes(&title_starts(table)));
        let place = starts.span(ord);
        let title = self.files.bytes(&titles(table)).get(place)?;
        std::str::from_utf8(title).ok().filter(|title| !title.is_empty())
    }
}

/// No field has a name with a space in it.
fn titles(table: &str) -> String {
    format!("{table} titles")
}

fn title_starts(table: &str) -> String {
    format!("{table} title_starts")
}
