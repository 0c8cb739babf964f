//! Records whose every listed field is known from the publisher's own file: `tests/golden/*.json`.
//!
//! The values there were taken from the files by hand, not by our readers. A record is looked up in
//! the built bundle with the real binary, as a user would.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Map, Value};

/// What a record must say.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Golden {
    /// Which folder of `../shared` the bundle was built from: `data` or `more`.
    #[serde(rename = "in")]
    bundle: String,
    id: String,
    /// Exact values; `null` for a field that must be absent.
    #[serde(default)]
    fields: Map<String, Value>,
    /// The number of rows of a sub-resource.
    #[serde(default)]
    counts: BTreeMap<String, u64>,
    /// Rows that must be there, each with at least these values.
    #[serde(default)]
    rows: BTreeMap<String, Vec<Map<String, Value>>>,
}

/// The two bundles that records are looked up in.
pub struct Bundles<'a> {
    pub data: &'a Path,
    pub more: &'a Path,
}

/// Checks every record of every file, and names all differences at once.
pub fn check(bundles: &Bundles) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("a folder").map(|e| e.expect("a file").path()).collect();
    files.sort();
    let (mut records, mut wrong) = (0, Vec::new());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let golden: Vec<Golden> = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for expected in golden {
            records += 1;
            let bundle = match expected.bundle.as_str() {
                "data" => bundles.data,
                "more" => bundles.more,
                other => panic!("{}: no bundle {other:?}", file.display()),
            };
            wrong.extend(differences(bundle, &expected));
        }
    }
    assert!(wrong.is_empty(), "{} differences in {records} records:\n{}", wrong.len(), {
        wrong.join("\n")
    });
    assert!(records >= 60, "only {records} golden records");
    println!("{records} golden records agree");
}

fn differences(bundle: &Path, expected: &Golden) -> Vec<String> {
    let id = &expected.id;
    let answer = match get(bundle, &format!("/v1/fetch/{id}")) {
        Ok(answer) => answer,
        Err(error) => return vec![format!("{id}: {error}")],
    };
    let record = &answer["data"];
    let mut wrong = Vec::new();
    for (field, value) in &expected.fields {
        let found = record.get(field).unwrap_or(&Value::Null);
        if found != value {
            wrong.push(format!("{id}.{field}: expected {value}, found {found}"));
        }
    }
    let source = record["source"].as_str().unwrap_or_default();
    let names = expected.counts.keys().chain(expected.rows.keys());
    for name in names.collect::<std::collections::BTreeSet<_>>() {
        let rows = match list(bundle, &format!("/v1/{source}/{id}/{name}?limit=100")) {
            Ok(rows) => rows,
            Err(error) => {
                wrong.push(format!("{id}/{name}: {error}"));
                continue;
            }
        };
        if let Some(count) = expected.counts.get(name).filter(|n| **n != rows.len() as u64) {
            wrong.push(format!("{id}/{name}: expected {count} rows, found {}", rows.len()));
        }
        for row in expected.rows.get(name).into_iter().flatten() {
            let holds =
                |found: &Value| row.iter().all(|(k, v)| found.get(k).unwrap_or(&Value::Null) == v);
            if !rows.iter().any(holds) {
                let row = Value::Object(row.clone());
                wrong.push(format!("{id}/{name}: no row {row}"));
            }
        }
    }
    wrong
}

/// All rows of a list, page by page.
fn list(bundle: &Path, path: &str) -> Result<Vec<Value>, String> {
    let (mut rows, mut next) = (Vec::new(), path.to_string());
    loop {
        let mut page = get(bundle, &next)?;
        rows.append(page["data"].as_array_mut().ok_or("not a list")?);
        match page["next_cursor"].as_str() {
            Some(cursor) => next = format!("{path}&cursor={cursor}"),
            None => return Ok(rows),
        }
    }
}

fn get(bundle: &Path, path: &str) -> Result<Value, String> {
    let josh = Path::new(env!("CARGO_BIN_EXE_josh-data-build")).with_file_name("josh");
    assert!(josh.exists(), "{} is missing: run cargo test --workspace", josh.display());
    let output = Command::new(josh).args(["get", path, "--bundle"]).arg(bundle).output();
    let output = output.expect("josh runs");
    let body: Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    match body.pointer("/error/message") {
        Some(message) => Err(format!("{path}: {message}")),
        None => Ok(body),
    }
}
