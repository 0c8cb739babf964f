//! Makes Josh bundles from official files.

mod build;
mod finish;
mod formats;
mod input;
mod mentions;
mod reader;
mod record;
mod report;
mod sources;
mod stage;
mod tables;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Make bundles for Josh from the official files of federal publishers.
#[derive(Parser)]
#[command(name = "josh-data-build", version, max_term_width = 100)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Read official files, offline, and write a bundle
    ///
    /// The same files give the same bundle id. A record that can't be read is reported with its file and the reason.
    Build(build::Build),
}

fn main() -> ExitCode {
    let Verb::Build(build) = Command::parse().verb;
    match build.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("josh-data-build: {error:#}");
            ExitCode::FAILURE
        }
    }
}
