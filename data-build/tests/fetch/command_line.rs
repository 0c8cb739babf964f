//! Arguments, the printed table of sources, and a closed pipe.

use std::path::Path;
use std::process::Command;

use super::support::*;

/// Given the table of feeds, when it is printed, then it is what is committed.
#[test]
fn the_committed_table_of_sources_is_the_printed_one() {
    let output = Command::new(env!("CARGO_BIN_EXE_josh-data-build"))
        .arg("sources")
        .output()
        .expect("it runs");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let committed =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("SOURCES.md"));
    let advice = "run: cargo run -p josh-data-build -- sources > data-build/SOURCES.md";
    assert_eq!(printed, committed.unwrap_or_default(), "{advice}");
    for source in josh::catalog::SOURCES {
        assert!(printed.contains(&format!("| {} |", source.key)), "{}", source.key);
    }
}

/// Given a reader that has gone, as after `| head`, when something is printed, then the run ends
/// as it would have.
#[test]
fn a_closed_pipe_is_no_failure() {
    for (args, code) in
        [(&["sources"][..], 0), (&["build", "--from", "nowhere", "--out", "x.db"], 1)]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_josh-data-build"));
        let status =
            command.args(args).stdout(writer.try_clone().expect("a pipe")).stderr(writer).status();
        assert_eq!(status.expect("it runs").code(), Some(code), "{args:?}");
    }
}

/// Given arguments that can't be, then they are refused with what would be right.
#[test]
fn wrong_arguments_are_refused() {
    let server = Server::start(vec![]);
    for (args, said) in [
        (["--sources", "bils"], "unknown source \"bils\""),
        (["--base", "nonsense"], "expected HOST=URL"),
        (["--pause", "nan"], "--pause must be a number of seconds"),
        (["--per-host", "0"], "0 is not in"),
    ] {
        let run = fetch(&server, &Folder::new(), &args);
        assert!(!run.success && run.text.contains(said), "{args:?}: {}", run.text);
    }
}
