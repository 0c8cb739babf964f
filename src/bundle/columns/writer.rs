//! Makes the columns section from records as they are written. Keeps the columns of one source in
//! memory.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::column::{HAS_REPEATS, HEADER, IS_LIST, IS_TEXT, MAGIC, PARTS};
use super::ords::{are_bits, bit_bytes};
use super::{title_starts, titles};
use crate::bundle::days_since_1970;
use crate::bundle::pack::{self, PackedNumbers};
use crate::catalog::wording::day;
use crate::catalog::{Field, Kind, SOURCES, Source};

/// Writes the section.
pub struct Builder {
    folder: PathBuf,
}

impl Builder {
    pub fn new(folder: PathBuf) -> io::Result<Builder> {
        std::fs::create_dir_all(&folder)?;
        Ok(Builder { folder })
    }

    /// Starts the columns of a source.
    pub fn source(&self, source: &Source) -> SourceColumns<'_> {
        // Numbers with fractions are for computing, which is left to DuckDB.
        let is_kept = |field: &Field| field.can_filter() && field.kind != Kind::Number;
        let fields = source.columns().into_iter().filter(is_kept);
        let is_target = |other: &&Source| {
            other.columns().iter().any(|field| field.kind.target() == Some(source.key))
        };
        SourceColumns {
            builder: self,
            table: source.table(),
            title: SOURCES.iter().any(is_target).then_some(source.title),
            titles: String::new(),
            title_starts: vec![0],
            columns: fields.map(ColumnValues::new).collect(),
        }
    }

    pub fn finish(self, out: &Path) -> io::Result<()> {
        pack::pack(&self.folder, out, |_| true)
    }
}

/// The columns of one source.
pub struct SourceColumns<'a> {
    builder: &'a Builder,
    table: String,
    /// The field with the title, where ids refer to these records.
    title: Option<&'static str>,
    titles: String,
    title_starts: Vec<u32>,
    columns: Vec<ColumnValues>,
}

impl SourceColumns<'_> {
    /// Adds the next record.
    pub fn add(&mut self, record: &Map<String, Value>) {
        for column in &mut self.columns {
            column.add(record.get(column.field.name).unwrap_or(&Value::Null));
        }
        if let Some(title) = self.title {
            self.titles.push_str(record.get(title).and_then(Value::as_str).unwrap_or_default());
            self.title_starts.push(self.titles.len() as u32);
        }
    }

    /// Writes the files.
    pub fn finish(self) -> io::Result<()> {
        let write =
            |name: &str, bytes: &[u8]| std::fs::write(self.builder.folder.join(name), bytes);
        if self.title.is_some() && u32::try_from(self.titles.len()).is_ok() {
            write(&titles(&self.table), self.titles.as_bytes())?;
            let starts = PackedNumbers::bytes_of(&self.title_starts);
            write(&title_starts(&self.table), &starts)?;
        }
        for column in self.columns {
            let name = format!("{}.{}", self.table, column.field.name);
            if let Some(bytes) = column.bytes() {
                write(&name, &bytes)?;
            }
        }
        Ok(())
    }
}

/// The distinct values of a column, numbered as they come.
enum Keys {
    Texts(HashMap<String, u32>),
    Numbers(HashMap<i64, u32>),
}

/// The values of one field.
struct ColumnValues {
    field: Field,
    keys: Keys,
    /// Of each record, or of each item of the lists; 0 for none.
    codes: Vec<u32>,
    /// Where the list of each record begins.
    starts: Vec<u32>,
    has_repeats: bool,
    /// Whether all values so far have the field's type.
    fits: bool,
}

impl ColumnValues {
    fn new(field: Field) -> ColumnValues {
        let keys = match field.kind {
            Kind::Int | Kind::Bool | Kind::Date => Keys::Numbers(HashMap::new()),
            _ => Keys::Texts(HashMap::new()),
        };
        let (codes, starts) = (Vec::new(), vec![0]);
        ColumnValues { field, keys, codes, starts, has_repeats: false, fits: true }
    }

    fn add(&mut self, value: &Value) {
        if !self.field.kind.is_list() {
            let code = if value.is_null() { Some(0) } else { self.code(value) };
            self.fits &= code.is_some();
            self.codes.push(code.unwrap_or_default());
            return;
        }
        let first = self.codes.len();
        match value {
            Value::Null => {}
            Value::Array(items) => {
                for item in items {
                    let code = self.code(item);
                    self.fits &= code.is_some();
                    let code = code.unwrap_or_default();
                    self.has_repeats |= self.codes[first..].contains(&code);
                    self.codes.push(code);
                }
            }
            _ => self.fits = false,
        }
        self.starts.push(self.codes.len() as u32);
    }

    /// The number of a value; nothing if it has another type.
    fn code(&mut self, value: &Value) -> Option<u32> {
        let number = match self.field.kind {
            Kind::Int => Some(value.as_i64()?),
            Kind::Bool => Some(value.as_bool()?.into()),
            Kind::Date => Some(days_since_1970(day(value.as_str()?)?).into()),
            _ => None,
        };
        match (&mut self.keys, number) {
            (Keys::Numbers(known), Some(number)) => {
                let next = known.len() as u32 + 1;
                Some(*known.entry(number).or_insert(next))
            }
            (Keys::Texts(known), None) => {
                let (text, next) = (value.as_str()?, known.len() as u32 + 1);
                Some(match known.get(text) {
                    Some(code) => *code,
                    None => *known.entry(text.to_string()).or_insert(next),
                })
            }
            _ => None,
        }
    }

    /// The file, or nothing if it can't hold these values.
    fn bytes(mut self) -> Option<Vec<u8>> {
        if !self.fits {
            return None;
        }
        let is_list = self.field.kind.is_list();
        let records = if is_list { self.starts.len() - 1 } else { self.codes.len() };
        let mut parts: [Vec<u8>; PARTS] = Default::default();
        let renumbered = match std::mem::replace(&mut self.keys, Keys::Numbers(HashMap::new())) {
            Keys::Numbers(known) => {
                let mut known: Vec<(i64, u32)> = known.into_iter().collect();
                known.sort_unstable();
                parts[0] = known.iter().flat_map(|(number, _)| number.to_le_bytes()).collect();
                known.into_iter().map(|(_, code)| code).collect::<Vec<u32>>()
            }
            Keys::Texts(known) => {
                let mut known: Vec<(String, u32)> = known.into_iter().collect();
                known.sort_unstable();
                let texts: Vec<&str> = known.iter().map(|(text, _)| text.as_str()).collect();
                write_texts(&texts, self.field.kind, &mut parts)?;
                known.into_iter().map(|(_, code)| code).collect()
            }
        };
        let values = renumbered.len();
        let mut new_codes = vec![0; values + 1];
        for (at, old) in renumbered.into_iter().enumerate() {
            new_codes[old as usize] = at as u32 + 1;
        }
        self.codes.iter_mut().for_each(|code| *code = new_codes[*code as usize]);
        let width = match values {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 4,
        };
        let narrow = |codes: &[u32]| -> Vec<u8> {
            codes.iter().flat_map(|code| code.to_le_bytes().into_iter().take(width)).collect()
        };
        if is_list {
            parts[5] = PackedNumbers::bytes_of(&self.starts);
            parts[6] = narrow(&self.codes);
        } else {
            parts[5] = narrow(&self.codes);
        }
        (parts[7], parts[8]) = self.postings(values, records)?;
        let is_text = !matches!(self.field.kind, Kind::Int | Kind::Bool | Kind::Date);
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let flags =
            flag(is_text, IS_TEXT) | flag(is_list, IS_LIST) | flag(self.has_repeats, HAS_REPEATS);
        let mut header =
            vec![MAGIC, flags, u32::try_from(records).ok()?, values as u32, width as u32];
        let mut end = HEADER;
        for part in &parts {
            end += part.len();
            header.push(u32::try_from(end).ok()?);
        }
        header.resize(HEADER / 4, 0);
        let mut bytes = PackedNumbers::bytes_of(&header);
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        Some(bytes)
    }

    /// The records of each code, and where they are.
    fn postings(&self, values: usize, records: usize) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); values + 1];
        for ord in 0..records {
            let codes = match self.field.kind.is_list() {
                true => &self.codes[self.starts[ord] as usize..self.starts[ord + 1] as usize],
                false => &self.codes[ord..=ord],
            };
            for code in if codes.is_empty() { &[0] } else { codes } {
                let list = &mut lists[*code as usize];
                if list.last() != Some(&(ord as u32)) {
                    list.push(ord as u32);
                }
            }
        }
        let records = u32::try_from(records).ok()?;
        let (mut index, mut ords) = (Vec::new(), Vec::new());
        for list in lists {
            let count = u32::try_from(list.len()).ok()?;
            index.extend_from_slice(&u32::try_from(ords.len()).ok()?.to_le_bytes());
            index.extend_from_slice(&count.to_le_bytes());
            if are_bits(count, records) {
                let mut bits = vec![0u8; bit_bytes(records)];
                list.iter().for_each(|ord| bits[*ord as usize / 8] |= 1 << (ord % 8));
                ords.extend_from_slice(&bits);
            } else {
                ords.extend_from_slice(&PackedNumbers::bytes_of(&list));
            }
        }
        Some((index, ords))
    }
}

/// Writes the texts and, where a filter compares small letters and some are not, these as well.
fn write_texts(texts: &[&str], kind: Kind, parts: &mut [Vec<u8>; PARTS]) -> Option<()> {
    (parts[0], parts[1]) = joined(texts.iter().copied())?;
    if !matches!(kind, Kind::Keyword | Kind::Keywords) {
        return Some(());
    }
    let folded: Vec<String> = texts.iter().map(|text| small_letters(text)).collect();
    if folded.iter().zip(texts).all(|(folded, text)| folded == text) {
        return Some(());
    }
    (parts[2], parts[3]) = joined(folded.iter().map(String::as_str))?;
    let mut order: Vec<u32> = (1..=texts.len() as u32).collect();
    order.sort_by_key(|code| (&folded[*code as usize - 1], *code));
    parts[4] = PackedNumbers::bytes_of(&order);
    Some(())
}

/// Letter by letter, as DuckDB's `lower` does it.
fn small_letters(text: &str) -> String {
    let small = |letter: char| {
        let mut small = letter.to_lowercase();
        match (small.next(), small.next()) {
            (Some(small), None) => small,
            _ => letter,
        }
    };
    text.chars().map(small).collect()
}

/// The starts of texts, and all of them as one.
fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut starts, mut bytes) = (vec![0u32], Vec::new());
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        starts.push(u32::try_from(bytes.len()).ok()?);
    }
    Some((PackedNumbers::bytes_of(&starts), bytes))
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::*;
    use serde_json::json;

    fn bytes(field: Field, values: &[Value]) -> Option<Vec<u8>> {
        let mut column = ColumnValues::new(field);
        values.iter().for_each(|value| column.add(value));
        column.bytes()
    }

    #[test]
    fn values_and_records_are_found_both_ways() {
        let names = ["Ohio", "ohio", "Texas", "Ohio"].map(|name| json!(name));
        let values: Vec<Value> = names.into_iter().chain([Value::Null, json!("Écija")]).collect();
        let bytes = bytes(Field::keyword("state", ""), &values).unwrap();
        let column = Column::read(&bytes).unwrap();
        assert_eq!((column.records, column.values), (6, 4));
        let texts: Vec<_> = (0..6).map(|ord| column.text(column.code(ord))).collect();
        assert_eq!(texts[..5], [Some("Ohio"), Some("ohio"), Some("Texas"), Some("Ohio"), None]);
        let mut ords: Vec<u32> =
            column.folded_codes("ohio").into_iter().flat_map(|c| column.ords(c).iter()).collect();
        ords.sort_unstable();
        assert_eq!(ords, [0, 1, 3]);
        assert_eq!(column.folded_codes("écija").len(), 1);
        assert_eq!(column.folded_codes("Ohio"), [0u32; 0]);
        assert_eq!(column.ords(0).iter().collect::<Vec<_>>(), [4], "records without a value");
        assert_eq!(column.text_codes("P"), 2..2);
    }

    #[test]
    fn lists_numbers_and_days_keep_their_order() {
        let lists = [json!(["b", "a", "b"]), json!([]), Value::Null, json!(["a"])];
        let bytes_of_lists = bytes(Field::keywords("topics", ""), &lists).unwrap();
        let column = Column::read(&bytes_of_lists).unwrap();
        assert!(column.is_list && column.has_repeats);
        assert_eq!(column.list(0).collect::<Vec<_>>(), [2, 1, 2]);
        assert_eq!(column.ords(1).iter().collect::<Vec<_>>(), [0, 3]);
        assert_eq!((column.count(2), column.count(0)), (1, 2));
        let days = ["2025-01-31", "1789-03-04", "2025-01-31"].map(|day| json!(day));
        let bytes_of_days = bytes(Field::date("date", ""), &days).unwrap();
        let column = Column::read(&bytes_of_days).unwrap();
        assert_eq!(column.number_of(1), Some(-66_046));
        assert_eq!(column.number_codes(0), 2..2);
        let numbers: Vec<Value> = (0..1000).map(|n| json!((n % 300) - 5)).collect();
        let bytes_of_numbers = bytes(Field::int("count", ""), &numbers).unwrap();
        let column = Column::read(&bytes_of_numbers).unwrap();
        assert_eq!((column.number(1), column.values), (Some(-5), 300));
        assert!((0..1000).all(|n| column.number_of(n) == Some(i64::from(n % 300) - 5)));
    }

    /// Given columns whose codes take one, two and four bytes, when the records of a range of codes
    /// are looked for, then they are those whose own code is in it.
    #[test]
    fn records_are_found_by_ranges_of_codes() {
        for values in [200u32, 300, 70_000] {
            let numbers: Vec<Value> = (0..70_100).map(|n| json!(n * 7919 % values)).collect();
            let numbers = [&numbers[..], &[Value::Null]].concat();
            let bytes = bytes(Field::int("count", ""), &numbers).unwrap();
            let column = Column::read(&bytes).unwrap();
            assert_eq!(column.values, values);
            for codes in [0..1, 0..values + 1, 1..1, 5..150, 199..u32::MAX, values..values + 1] {
                let found: Vec<u32> = column.ords_within(&codes).iter().collect();
                let expected = (0..column.records).filter(|ord| codes.contains(&column.code(*ord)));
                assert_eq!(found, expected.collect::<Vec<_>>(), "{values} {codes:?}");
            }
        }
    }

    #[test]
    fn values_of_another_type_leave_the_column_to_duckdb() {
        assert!(bytes(Field::int("n", ""), &[json!(1), json!("two")]).is_none());
        assert!(bytes(Field::keywords("n", ""), &[json!(["a", null])]).is_none());
        assert!(bytes(Field::date("n", ""), &[json!("yesterday")]).is_none());
    }

    #[test]
    fn damage_hides_values_but_never_panics() {
        let lists: Vec<Value> = (0..70).map(|n| json!([format!("V{}", n % 3), "x"])).collect();
        let whole = bytes(Field::keywords("topics", ""), &lists).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            if let Some(column) = Column::read(&bytes) {
                for code in 0..6 {
                    let _ = (column.text(code), column.folded(code), column.number(code));
                    let _ = column.ords(code).iter().take(100).count();
                }
                let _ = (column.folded_codes("v1"), column.text_codes("V1"), column.code(3));
                let _ = column.list(3).take(100).count();
            }
            assert!(Column::read(&whole[..at]).is_none(), "cut at {at}");
        }
    }
}
