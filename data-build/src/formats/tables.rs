//! Reads CSV row by row, by column name. Rows may differ in length and encoding.

use std::io::Read;

use anyhow::Result;

use crate::encoding;
use crate::input::Input;
use crate::record::Sink;

/// A CSV file with a header row.
pub struct Table {
    names: Vec<String>,
    rows: Rows,
}

/// The rows of a CSV file.
pub struct Rows(csv::ByteRecordsIntoIter<Box<dyn Read>>);

/// One row: its line in the file and its cells, trimmed.
pub struct Row {
    pub line: u64,
    pub cells: Vec<String>,
}

impl Table {
    /// Reads the first row as column names.
    pub fn open(input: &Input) -> Result<Table> {
        let mut rows = Rows::open(input)?;
        let names = match rows.next() {
            Some(first) => first.map_err(anyhow::Error::msg)?.cells,
            None => Vec::new(),
        };
        Ok(Table { names: names.into_iter().map(|n| n.to_ascii_lowercase()).collect(), rows })
    }

    /// Whether it has all these columns.
    pub fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.column(name).is_some())
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// The next row, or why it can't be read.
    pub fn next_row(&mut self) -> Option<Result<Row, String>> {
        self.rows.next()
    }

    /// The next readable row; unreadable rows are rejected.
    pub fn next_readable(&mut self, out: &mut dyn Sink) -> Option<Row> {
        loop {
            match self.next_row()? {
                Ok(row) => return Some(row),
                Err(reason) => out.reject("row", &reason),
            }
        }
    }

    /// The cell in a column; empty if the row or the table has none.
    pub fn get<'a>(&self, row: &'a Row, name: &str) -> &'a str {
        self.column(name).and_then(|i| row.cells.get(i)).map_or("", String::as_str)
    }

    /// Whether a row has non-empty cells after this column.
    pub fn has_cells_after(&self, row: &Row, last: &str) -> bool {
        let end = self.column(last).map_or(self.names.len(), |column| column + 1);
        row.cells.iter().skip(end).any(|cell| !cell.is_empty())
    }
}

impl Rows {
    /// The rows of a file without a header, or with its header as the first row.
    pub fn open(input: &Input) -> Result<Rows> {
        let reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input.open()?);
        Ok(Rows(reader.into_byte_records()))
    }
}

impl Iterator for Rows {
    type Item = Result<Row, String>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(match self.0.next()? {
            Ok(record) => {
                let line = record.position().map_or(0, csv::Position::line);
                let text = |cell: &[u8]| {
                    encoding::decode_part(cell.into())
                        .trim_matches(['\u{feff}', ' ', '\t'])
                        .to_string()
                };
                Ok(Row { line, cells: record.iter().map(text).collect() })
            }
            Err(e) => Err(e.to_string()),
        })
    }
}
