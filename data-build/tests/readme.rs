//! README.md against the program: it documents exactly the flags that exist, and its example of a
//! hand-written record builds. Says nothing about the prose.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::process::Command;

use josh::bundle::{Bundle, Interrupt};
use serde_json::Value;

const README: &str = include_str!("../README.md");

const SUBCOMMANDS: [&str; 8] =
    ["fetch", "sources", "build", "embed", "read", "synth", "eval", "eval-names"];

fn josh_data_build() -> Command {
    Command::new(env!("CARGO_BIN_EXE_josh-data-build"))
}

fn help(arguments: &[&str]) -> String {
    let output = josh_data_build().args(arguments).arg("--help").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The flag that a text starts with: `--from` for `--from <FOLDER>`.
fn flag_at_start(text: &str) -> Option<&str> {
    let name = text.strip_prefix("--")?;
    let end = name.find(|c: char| c != '-' && !c.is_ascii_lowercase()).unwrap_or(name.len());
    (end > 0).then(|| &text[..end + 2])
}

/// The flags that a subcommand's help lists, other than `--help` and `--version`.
fn flags_in_help(subcommand: &str) -> BTreeSet<String> {
    let listed = help(&[subcommand]);
    let flags = listed.lines().filter_map(|line| {
        let line = line.trim_start();
        // "-o, --out <FILE>" has a short form first.
        let long = line.split_once(", --").filter(|(short, _)| short.len() == 2);
        flag_at_start(long.map_or(line, |(short, _)| &line[short.len() + 2..]))
    });
    flags.filter(|flag| !["--help", "--version"].contains(flag)).map(str::to_string).collect()
}

/// The flags in backticks in a text.
fn flags_in_backticks(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).filter_map(flag_at_start).map(str::to_string).collect()
}

/// The README's part about a subcommand: from its heading to the next one that is no deeper.
fn chapter(heading: &str) -> &'static str {
    let start = README.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let text = &README[start + 1 + heading.len()..];
    let depth = heading.chars().take_while(|c| *c == '#').count();
    let ends = (1..=depth).filter_map(|n| text.find(&format!("\n{} ", "#".repeat(n))));
    &text[..ends.min().unwrap_or(text.len())]
}

/// The flags in the first cells of a chapter's tables.
fn flags_in_tables(chapter: &str) -> BTreeSet<String> {
    let cells = chapter.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    cells.flat_map(flags_in_backticks).collect()
}

#[test]
fn every_subcommand_is_in_the_readme() {
    let listed = help(&[]);
    let commands = listed.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: BTreeSet<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();

    assert_eq!(names, BTreeSet::from(SUBCOMMANDS));
    for name in names {
        assert!(README.contains(&format!("| [`{name}`](#")), "the README does not list {name}");
    }
}

#[test]
fn the_readme_documents_exactly_the_flags_that_exist() {
    for subcommand in SUBCOMMANDS {
        let heading = match subcommand {
            "fetch" => "## Fetching".to_string(),
            "build" => "### Flags of `build`".to_string(),
            other => format!("### `{other}`"),
        };

        let (documented, existing) =
            (flags_in_tables(chapter(&heading)), flags_in_help(subcommand));

        assert_eq!(
            documented, existing,
            "{heading:?} on the left, {subcommand} --help on the right"
        );
    }
}

#[test]
fn every_flag_that_the_readme_mentions_exists() {
    let existing: BTreeSet<String> = SUBCOMMANDS.iter().flat_map(|s| flags_in_help(s)).collect();
    assert!(existing.contains("--from"), "the help was not understood: {existing:?}");

    // Code blocks have three backticks at each end, which would shift the pairs.
    let prose: String = README.split("```").step_by(2).collect();
    let unknown: Vec<String> =
        flags_in_backticks(&prose).into_iter().filter(|flag| !existing.contains(flag)).collect();

    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn the_example_of_a_hand_written_record_builds() {
    let (_, example) = README.split_once("```json\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let record: Value = serde_json::from_str(example).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("in"), folder.path().join("out.db"));
    std::fs::create_dir(&input).unwrap();
    std::fs::write(input.join("bills.josh.jsonl"), format!("{record}\n")).unwrap();

    let output = josh_data_build()
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .args(["build", "--embed", "none", "--max-rejected", "0", "--from"])
        .arg(&input)
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();

    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let bundle = Bundle::open(&out).unwrap();
    assert!(bundle.records().by_id(record["id"].as_str().unwrap()).is_some());
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        bundle.db.query(&sql, &[], &Interrupt::never(), |row| row.get::<i64>(0)).unwrap()
    };
    assert_eq!(count("bills_actions"), [2]);
    let bills = bundle.manifest.sources.iter().find(|facts| facts.key == "bills").unwrap();
    assert!(bills.passages > 0, "the body is not searchable");
}
