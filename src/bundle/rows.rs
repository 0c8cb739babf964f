//! The rows of one record's sub-resource, prepared in blocks that are stored column by column and
//! compressed: one record's rows resemble each other, and most requests want a few of them.
//!
//! The plain form of a block has for each column a letter and its values, each with a line end:
//!
//! ```text
//! t   texts without quotation marks, none of which needs an escape; "\0" stands for null
//! j   values as JSON
//! ```
//!
//! The first block of a record holds [`FIRST`] rows, every later one up to [`LATER`]. All blocks of
//! a sub-resource are compressed with one dictionary, its first rows in plain form: the members of
//! one roll call and the months of one series are those of the next.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use serde_json::value::RawValue;
use zstd::zstd_safe::{DCtx, DDict, get_frame_content_size};

/// Rows of a record's first block: the default page of a list.
pub const FIRST: usize = 20;

/// Rows of every later block.
const LATER: usize = 512;

/// Smaller by a tenth than at 3, and not yet slow.
const LEVEL: i32 = 9;

/// Bytes of a dictionary: several roll calls of the House.
pub(super) const DICTIONARY: usize = 64 << 10;

/// No block is that long; damage must not allocate more.
const MOST_BYTES: u64 = 256 << 20;

const NULL: &str = "\0";

/// How many rows the block with this number can hold.
pub(super) fn room(block: usize) -> usize {
    if block == 0 { FIRST } else { LATER }
}

/// The block that holds the row at this place of a record.
pub(super) fn block_of(place: usize) -> usize {
    place.checked_sub(FIRST).map_or(0, |later| later / LATER + 1)
}

/// The places of a record's rows that the block with this number holds, of so many.
pub(super) fn places(block: usize, rows: usize) -> Range<usize> {
    let start = block.checked_sub(1).map_or(0, |later| FIRST + later * LATER);
    start.min(rows)..(start + room(block)).min(rows)
}

/// Compresses blocks, one after the other.
pub(super) struct Encoder(zstd::bulk::Compressor<'static>);

impl Encoder {
    pub fn new(dictionary: &str) -> io::Result<Encoder> {
        Ok(Encoder(zstd::bulk::Compressor::with_dictionary(LEVEL, dictionary.as_bytes())?))
    }

    /// Takes a block in plain form.
    pub fn encode(&mut self, plain: &str) -> io::Result<Vec<u8>> {
        self.0.compress(plain.as_bytes())
    }
}

/// What the blocks of a sub-resource were compressed with.
pub(super) struct Dictionary(DDict<'static>);

impl Dictionary {
    pub fn new(bytes: &[u8]) -> Option<Dictionary> {
        DDict::try_create(bytes).map(Dictionary)
    }

    /// The plain form of a block, or nothing if it is damaged.
    fn decompress(&self, bytes: &[u8]) -> Option<String> {
        thread_local! {
            static CONTEXT: RefCell<Option<DCtx<'static>>> = RefCell::new(DCtx::try_create());
        }
        let length = get_frame_content_size(bytes).ok()?.filter(|length| *length <= MOST_BYTES)?;
        let mut plain = Vec::with_capacity(length as usize);
        CONTEXT.with_borrow_mut(|context| {
            context.as_mut()?.decompress_using_ddict(&mut plain, bytes, &self.0).ok()
        })?;
        String::from_utf8(plain).ok()
    }
}

/// A row that is a JSON object, by column.
type JsonRow<'r> = BTreeMap<&'r str, &'r RawValue>;

/// Rows that are JSON objects, in the plain form of a block.
pub(super) fn transposed(columns: &[&str], rows: &[impl AsRef<str>]) -> io::Result<String> {
    let rows: Vec<JsonRow> =
        rows.iter().map(|row| serde_json::from_str(row.as_ref())).collect::<Result<_, _>>()?;
    let mut plain = String::new();
    for column in columns {
        let values: Vec<&str> = rows.iter().map(|row| value_of(row, column)).collect();
        let texts: Option<Vec<&str>> = values.iter().map(|value| unquoted(value)).collect();
        plain.push(if texts.is_some() { 't' } else { 'j' });
        for value in texts.unwrap_or(values) {
            if value.contains('\n') {
                return Err(io::Error::other(format!("a line end in {column}")));
            }
            plain.push_str(value);
            plain.push('\n');
        }
    }
    Ok(plain)
}

fn value_of<'r>(row: &JsonRow<'r>, column: &str) -> &'r str {
    row.get(column).map_or("null", |value| value.get())
}

/// A string without its quotation marks, unless it needs them.
fn unquoted(value: &str) -> Option<&str> {
    match value {
        "null" => Some(NULL),
        text => text.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('\\')),
    }
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowValue<'b> {
    Null,
    /// A string that needs no escape in JSON.
    Text(&'b str),
    /// Anything as JSON.
    Json(&'b str),
}

/// Some rows of a record.
pub struct RowBlock<'a> {
    pub rows: usize,
    names: Vec<&'a str>,
    plain: String,
    /// For each column whether its values are texts, and where each of them is.
    columns: Vec<(bool, Vec<Range<usize>>)>,
}

impl<'a> RowBlock<'a> {
    /// A block of so many rows, or nothing if it is damaged.
    pub(super) fn decode(
        columns: &[&'a str],
        rows: usize,
        bytes: &[u8],
        dictionary: &Dictionary,
    ) -> Option<RowBlock<'a>> {
        RowBlock::read(columns, rows, dictionary.decompress(bytes)?)
    }

    /// The same of rows that are JSON objects.
    pub fn of_json(columns: &[&'a str], rows: &[&str]) -> Option<RowBlock<'a>> {
        RowBlock::read(columns, rows.len(), transposed(columns, rows).ok()?)
    }

    fn read(names: &[&'a str], rows: usize, plain: String) -> Option<RowBlock<'a>> {
        let mut at = 0;
        let mut line_ends = memchr::memchr_iter(b'\n', plain.as_bytes());
        let mut columns = Vec::with_capacity(names.len());
        for _ in names {
            let is_text = match plain.as_bytes().get(at)? {
                b't' => true,
                b'j' => false,
                _ => return None,
            };
            at += 1;
            let mut values = Vec::with_capacity(rows.min(LATER));
            for _ in 0..rows {
                let end = line_ends.next()?;
                values.push(at..end);
                at = end + 1;
            }
            columns.push((is_text, values));
        }
        (at == plain.len()).then_some(RowBlock { rows, names: names.to_vec(), plain, columns })
    }

    /// The number of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name)
    }

    pub fn value(&self, row: usize, column: usize) -> RowValue<'_> {
        let Some((is_text, values)) = self.columns.get(column) else { return RowValue::Null };
        let text = values.get(row).and_then(|place| self.plain.get(place.clone()));
        match (text, is_text) {
            (None | Some(NULL), _) | (Some("null"), false) => RowValue::Null,
            (Some(text), true) => RowValue::Text(text),
            (Some(json), false) => RowValue::Json(json),
        }
    }

    /// A value as text; nothing where it is null or no string.
    pub fn text(&self, row: usize, column: usize) -> Option<String> {
        match self.value(row, column) {
            RowValue::Null => None,
            RowValue::Text(text) => Some(text.to_string()),
            RowValue::Json(json) => serde_json::from_str(json).ok(),
        }
    }

    /// A row as it was given.
    pub fn json(&self, row: usize) -> String {
        let mut json = String::with_capacity(self.plain.len() / self.rows.max(1) + 64);
        json.push('{');
        for (column, name) in self.names.iter().enumerate() {
            json.push_str(if column > 0 { ",\"" } else { "\"" });
            json.push_str(name);
            json.push_str("\":");
            match self.value(row, column) {
                RowValue::Null => json.push_str("null"),
                RowValue::Json(value) => json.push_str(value),
                RowValue::Text(text) => {
                    json.push('"');
                    json.push_str(text);
                    json.push('"');
                }
            }
        }
        json.push('}');
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLUMNS: [&str; 3] = ["name", "count", "tags"];

    fn row(name: Option<String>, count: Option<i64>, tags: &[String]) -> String {
        let [name, count, tags] = [
            serde_json::to_string(&name).unwrap(),
            serde_json::to_string(&count).unwrap(),
            serde_json::to_string(tags).unwrap(),
        ];
        format!(r#"{{"name":{name},"count":{count},"tags":{tags}}}"#)
    }

    const DICTIONARY: &str = "tn1\nn2\nn3\nj1\n2\n3\n";

    fn encoded(rows: &[String]) -> Vec<u8> {
        let plain = transposed(&COLUMNS, rows).unwrap();
        Encoder::new(DICTIONARY).unwrap().encode(&plain).unwrap()
    }

    fn decoded(rows: usize, bytes: &[u8]) -> Option<Vec<String>> {
        let dictionary = Dictionary::new(DICTIONARY.as_bytes()).unwrap();
        let block = RowBlock::decode(&COLUMNS, rows, bytes, &dictionary)?;
        Some((0..block.rows).map(|row| block.json(row)).collect())
    }

    proptest! {
        #[test]
        fn rows_come_back_as_they_were(
            given in prop::collection::vec(
                (any::<Option<String>>(), any::<Option<i64>>(), any::<Vec<String>>()), 0..40,
            ),
        ) {
            let rows: Vec<String> =
                given.into_iter().map(|(name, count, tags)| row(name, count, &tags)).collect();
            prop_assert_eq!(decoded(rows.len(), &encoded(&rows)).unwrap(), rows);
        }

        #[test]
        fn damage_never_panics(at: usize, bits in 1u8.., cut: usize) {
            let rows: Vec<String> =
                (0..30).map(|n| row(Some(format!("n{n}")), Some(n), &[])).collect();
            let mut bytes = encoded(&rows);
            let length = bytes.len();
            bytes[at % length] ^= bits;
            drop(decoded(rows.len(), &bytes));
            prop_assert_eq!(decoded(rows.len(), &bytes[..cut % length]), None);
        }
    }

    #[test]
    fn every_place_is_in_one_block() {
        for rows in [1, FIRST, FIRST + 1, FIRST + LATER, FIRST + LATER + 1, 3_000] {
            let blocks = block_of(rows - 1) + 1;
            let all: Vec<usize> = (0..blocks).flat_map(|block| places(block, rows)).collect();
            assert_eq!(all, (0..rows).collect::<Vec<_>>());
            assert!(all.iter().all(|place| places(block_of(*place), rows).contains(place)));
        }
    }
}
