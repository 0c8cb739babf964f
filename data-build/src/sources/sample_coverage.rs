//! The sample shows only what readers can fill from official files: its fields are compared with
//! those of every fixture of every reader.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;

use super::{READERS, native};
use crate::formats::testing::{FILLED, filled, read_text};
use crate::input::Input;
use crate::patterns::pattern;
use crate::reader::Outcome;
use crate::record::Sink;

/// Runs the readers' tests, which note what their fixtures fill.
fn filled_by_readers() -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("filled");
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["sources::", "--skip", "sample_coverage"])
        .env(FILLED, &list)
        // Only the fixtures as they are.
        .env("FUZZ_COUNT", "0")
        .output()
        .expect("the readers' tests run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let lines = std::fs::read_to_string(list).expect("the fixtures fill something");
    lines.lines().map(str::to_string).collect()
}

/// What the files in `tests/fixtures` fill, which have more fields than most tests need.
fn filled_by_files() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("the fixtures").flatten() {
        let source = entry.file_name().into_string().expect("UTF-8");
        let (_, reader) = READERS.iter().find(|(key, _)| *key == source).expect("a source");
        for file in std::fs::read_dir(entry.path()).expect("a folder").flatten() {
            let name = format!("{source}/{}", file.file_name().display());
            let text = std::fs::read_to_string(file.path()).expect("UTF-8");
            let read = read_text(*reader, &name, &text);
            assert_eq!((read.outcome, &read.rejects[..]), (Outcome::Read, &[][..]), "{name}");
            found.extend(read.records.iter().flat_map(filled));
        }
    }
    found
}

/// The columns that `links.sql` fills from other records.
fn filled_by_links() -> BTreeSet<String> {
    static UPDATE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?s)^UPDATE (\w+) SET (.*?)(?:\sFROM\s|\sWHERE\s|$)"));
    static COLUMN: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|,\s+)(\w+) = "));
    let statements = include_str!("../links.sql").split(";\n");
    let without_comments = |statement: &str| {
        let lines = statement.lines().filter(|line| !line.starts_with("--"));
        lines.collect::<Vec<_>>().join("\n").trim().to_string()
    };
    let mut columns = BTreeSet::new();
    for statement in statements.map(without_comments) {
        if let Some(update) = UPDATE.captures(&statement) {
            let found = COLUMN.captures_iter(update.get(2).map_or("", |m| m.as_str()));
            columns.extend(found.map(|column| format!("{}.{}", &update[1], &column[1])));
        }
    }
    columns
}

/// `bills/actions.date` as `links.sql` writes it: `bills_actions.date`.
fn in_sql(field: &str) -> String {
    field.replace(['-', '/'], "_")
}

fn read_native(input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    native::read(input, out).map(|()| Outcome::Read)
}

#[test]
fn the_sample_has_no_field_that_no_reader_fills() {
    let (mut by_readers, by_links) = (filled_by_readers(), filled_by_links());
    by_readers.extend(filled_by_files());
    assert!(by_readers.contains("bills/actions.date") && by_links.contains("bills.text_versions"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/sample");
    let mut shown = BTreeSet::new();
    for file in std::fs::read_dir(folder).expect("the sample").flatten() {
        let text = std::fs::read_to_string(file.path()).expect("UTF-8");
        let name = file.file_name().into_string().expect("UTF-8");
        shown.extend(read_text(read_native, &name, &text).records.iter().flat_map(filled));
    }
    assert!(shown.contains("bills/body") && shown.len() > 300, "{} fields", shown.len());
    // The build fills in the address where a reader gives none.
    let is_filled = |field: &&String| {
        by_readers.contains(*field) || by_links.contains(&in_sql(field)) || field.ends_with(".url")
    };
    let unfilled: Vec<&String> = shown.iter().filter(|field| !is_filled(field)).collect();
    assert!(unfilled.is_empty(), "no fixture of a reader fills these: {unfilled:#?}");
}
