//! Runs a reader on inline text, for unit tests.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::input::Input;
use crate::reader::{Outcome, Reader};
use crate::record::{Record, Sink};

/// What a reader produced.
pub struct Collected {
    pub outcome: Outcome,
    pub records: Vec<Record>,
    pub rejects: Vec<String>,
}

#[derive(Default)]
struct Collector {
    records: Vec<Record>,
    rejects: Vec<String>,
}

impl Sink for Collector {
    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
    fn reject(&mut self, place: &str, reason: &str) {
        self.rejects.push(format!("{place}: {reason}"));
    }
}

impl Collected {
    pub fn ids(&self) -> Vec<&str> {
        self.records.iter().map(|r| r.id.as_str()).collect()
    }

    /// A field of the n-th record; null if it is absent.
    pub fn field(&self, n: usize, name: &str) -> &Value {
        self.records[n].fields.get(name).unwrap_or(&Value::Null)
    }
}

/// A file to which every fixture that is read adds the fields that its records have.
pub const FILLED: &str = "JOSH_TEST_FILLED_FIELDS";

fn note_filled(records: &[Record]) {
    if let Some(path) = std::env::var_os(FILLED) {
        let lines: String = records.iter().flat_map(filled).map(|line| line + "\n").collect();
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
        written.expect("the list of filled fields can be written");
    }
}

/// What a record has: `bills.title`, `bills/actions.date`, `bills/body`.
pub fn filled(record: &Record) -> Vec<String> {
    let source = record.source;
    let is_filled = |(_, value): &(&String, &Value)| !value.is_null() && value.as_str() != Some("");
    let own = record.fields.iter().filter(is_filled).map(|(name, _)| format!("{source}.{name}"));
    let rows = record.rows.iter().flat_map(|(sub, row)| {
        row.iter().filter(is_filled).map(move |(name, _)| format!("{source}/{sub}.{name}"))
    });
    let body = record.bodies.first().map(|_| format!("{source}/body"));
    own.chain(rows).chain(body).collect()
}

/// Reads `text` as a file of this name.
pub fn read_text(reader: Reader, name: &str, text: &str) -> Collected {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("josh-reader-{}-{n}", std::process::id()));
    std::fs::write(&path, text).expect("the temporary folder can be written");
    let mut sink = Collector::default();
    let outcome = reader(&Input::on_disk(path.clone(), name.into()), &mut sink)
        .expect("the file can be read");
    std::fs::remove_file(&path).expect("the file was just written");
    note_filled(&sink.records);
    Collected { outcome, records: sink.records, rejects: sink.rejects }
}
