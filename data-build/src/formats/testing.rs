//! Runs a reader on inline text, for unit tests, and on mutations of that text: every fixture of
//! every reader is also a fuzz target. The mutations are always the same; for more, or for others:
//!
//! ```sh
//! FUZZ_COUNT=100000 FUZZ_SEED=7 cargo test --release -p josh-data-build --bin josh-data-build cfr
//! ```
//!
//! `tests/fuzz/run` looks for mutations that reach new code (`guided.rs`).

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::formats::pieces::PIECES;
use crate::input::Input;
use crate::reader::{Outcome, Reader};
use crate::record::{Record, Sink};

#[path = "../../../tests/fuzz/mutate.rs"]
mod mutate;

/// Mutations of each fixture. There are some 200 fixtures.
const MUTATIONS: u64 = 100;

const DEFAULT_SEED: u64 = 119;

/// Far more than any mutation takes on a busy machine. One that takes longer has probably found
/// something quadratic.
const MAX_TIME: Duration = Duration::from_secs(10);

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

/// Reads `text` as a file of this name, after mutations of it that may fail in any way but a panic.
pub fn read_text(reader: Reader, name: &str, text: &str) -> Collected {
    read_mutations(reader, name, text);
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("josh-reader-{}-{n}", std::process::id()));
    std::fs::write(&path, text).expect("the temporary folder can be written");
    let mut sink = Collector::default();
    let outcome = reader(&Input::on_disk(path.clone(), name.into()), &mut sink)
        .expect("the file can be read");
    std::fs::remove_file(&path).expect("the file was just written");
    note_filled(&sink.records);
    write_seed(name, text, &sink.records);
    Collected { outcome, records: sink.records, rejects: sink.rejects }
}

/// Keeps a fixture that gave records as an input for guided fuzzing, if there is a folder for them.
fn write_seed(name: &str, text: &str, records: &[Record]) {
    let (Some(folder), Some(record)) = (std::env::var_os("FUZZ_SEEDS"), records.first()) else {
        return;
    };
    let file = name.split_once('/').map_or(name, |(_, file)| file);
    let input = format!("{}/{file}\n{text}", record.source);
    let hash = josh::bundle::stable_hash(input.as_bytes());
    std::fs::write(PathBuf::from(folder).join(format!("seed-{hash:016x}")), input)
        .expect("the folder for inputs can be written");
}

fn read_mutations(reader: Reader, name: &str, text: &str) {
    let from_environment = |name: &str| std::env::var(name).ok().and_then(|n| n.parse().ok());
    let count = from_environment("FUZZ_COUNT").unwrap_or(MUTATIONS);
    let seed = from_environment("FUZZ_SEED").unwrap_or(DEFAULT_SEED);
    let corpus = [text.as_bytes().to_vec()];
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    // A folder that does not exist, for readers that look at the files beside theirs.
    let folder = Input::on_disk(PathBuf::from("/nowhere"), folder.to_string());
    for number in 0..count {
        let key = josh::bundle::stable_hash(text.as_bytes());
        let bytes = mutate::bytes(&mut mutate::Random::new(&[seed, key, number]), &corpus, PIECES);
        let input = folder.member(file, Ok(bytes.clone()));
        let begun = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| reader(&input, &mut Collector::default())));
        let slow = begun.elapsed() > MAX_TIME;
        if outcome.is_err() || slow {
            eprintln!("mutation {number} of {name}, seed {seed}: b\"{}\"", bytes.escape_ascii());
        }
        if let Err(panic) = outcome {
            resume_unwind(panic);
        }
        assert!(!slow, "{:?}", begun.elapsed());
    }
}
