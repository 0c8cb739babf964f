//! Mistakes in the layout of the input folder: each is an error that says what to do, and nothing
//! is built from half of the files without a word.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

const BILL: &str = "{\"id\":\"hr:119:1\",\"introduced_date\":\"2025-05-20\"}\n";

fn build(folder: &Path, from: &Path, more: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_josh-data-build"))
        .args(["build", "--embed", "none", "--from"])
        .arg(from)
        .arg("--out")
        .arg(folder.join("out.db"))
        .args(more)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&stderr).into_owned() + &String::from_utf8_lossy(&stdout);
    (status.code(), said)
}

/// Given good files in a folder that is named after no source, when built, then it is an error
/// with the nearest name, exit code 2, and no bundle; unless such folders are to be ignored.
#[test]
fn a_folder_named_after_no_source_is_an_error_with_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    std::fs::create_dir_all(input.join("mybills")).unwrap();
    std::fs::write(input.join("mybills/bills.josh.jsonl"), BILL).unwrap();
    std::fs::write(input.join("bills.josh.jsonl"), BILL).unwrap();
    let (code, said) = build(folder.path(), &input, &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("\"mybills\"") && said.contains("\"bills\"?"), "{said}");
    assert!(said.contains("federal-register"), "every source is named: {said}");
    assert!(!folder.path().join("out.db").exists());
    let (code, said) = build(folder.path(), &input, &["--ignore-unknown-folders"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("ignored in the input folder: mybills"), "{said}");
}

/// Given an empty folder of a source, when built, then the error does not claim that there is none.
#[test]
fn an_empty_folder_of_a_source_is_named_as_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    std::fs::create_dir_all(input.join("bills/119")).unwrap();
    let (code, said) = build(folder.path(), &input, &[]);
    assert_ne!(code, Some(0), "{said}");
    assert!(said.contains("bills") && !said.contains("no folder named after a source"), "{said}");
}

/// Given an input folder that is not there, or is a file, when built, then the error names it.
#[test]
fn an_input_folder_that_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, BILL).unwrap();
    for from in [folder.path().join("nowhere"), file] {
        let (code, said) = build(folder.path(), &from, &[]);
        assert!(code == Some(1) || code == Some(2), "{said}");
        assert!(said.contains(from.to_str().unwrap()) && !said.contains("panicked"), "{said}");
    }
}
