//! CSV read row by row, by column name, whatever its encoding and however ragged its rows.

use std::io::Read;

use anyhow::Result;

use crate::encoding;
use crate::input::Input;

/// A CSV file with a header line.
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
    /// Reads the first row as the names of the columns.
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

    /// The next row; an error says what is wrong with it.
    pub fn next_row(&mut self) -> Option<Result<Row, String>> {
        self.rows.next()
    }

    /// The cell under a column's name; empty where the row or the table has none.
    pub fn get<'a>(&self, row: &'a Row, name: &str) -> &'a str {
        self.column(name).and_then(|i| row.cells.get(i)).map_or("", String::as_str)
    }

    /// Whether a row has something behind this column, which is the table's last.
    pub fn reaches_beyond(&self, row: &Row, last: &str) -> bool {
        let end = self.column(last).map_or(self.names.len(), |column| column + 1);
        row.cells.iter().skip(end).any(|cell| !cell.is_empty())
    }
}

impl Rows {
    /// The rows of a file without a header, or with its header as the first row.
    pub fn open(input: &Input) -> Result<Rows> {
        let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input.open()?);
        Ok(Rows(reader.into_byte_records()))
    }
}

impl Iterator for Rows {
    type Item = Result<Row, String>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(match self.0.next()? {
            Ok(record) => {
                let line = record.position().map_or(0, csv::Position::line);
                let text =
                    |cell: &[u8]| encoding::repaired(cell.into()).trim_matches(['\u{feff}', ' ', '\t']).to_string();
                Ok(Row { line, cells: record.iter().map(text).collect() })
            }
            Err(e) => Err(e.to_string()),
        })
    }
}
