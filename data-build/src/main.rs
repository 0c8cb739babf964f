//! Makes Josh bundles from official files.

mod amendatory;
mod archive;
mod build;
mod embedding;
mod encoding;
mod eval;
mod eval_names;
mod fetch;
mod finish;
mod formats;
mod input;
mod mentions;
mod output;
mod passages;
mod progress;
mod read;
mod reader;
mod record;
mod record_cache;
mod report;
mod sources;
mod stage;
mod synth;
mod tables;
mod texts;
mod vector_cache;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::output::{note, say};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Make bundles for Josh from the official files of federal publishers.
#[derive(Parser)]
#[command(name = "josh-data-build", version, max_term_width = 100)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Fetch official files from their publishers
    ///
    /// A run that breaks is gone on with by the next, and a later one fetches only what is new. Keys of APIs come from the
    /// environment; a source whose key is missing is skipped. `sources` lists where everything comes from.
    Fetch(fetch::Fetch),
    /// Print where the data come from, as Markdown: publisher, address, form, licence, rhythm
    Sources,
    /// Read official files, offline, and write a bundle
    ///
    /// The same files give the same bundle id. A record that can't be read is reported with its file and the reason.
    Build(build::Build),
    /// Read official files and write the records found in them, one JSON object a line
    ///
    /// Shows what a build would take from them, record by record, before anything is merged, linked or left out as a repetition.
    Read(read::Read),
    /// Write a bundle of meaningless texts, of any size, for benchmarks
    ///
    /// Its vectors are hashes of words, not the model's: it measures speed, not quality.
    Synth(synth::Synth),
    /// Measure how well the three modes of search find what people judged relevant
    Eval(eval::Eval),
    /// Measure how often a name as people type it leads to the record that is meant
    EvalNames(eval_names::EvalNames),
}

fn main() -> ExitCode {
    let done = match Command::parse().verb {
        Verb::Fetch(fetch) => fetch.run(),
        Verb::Sources => {
            say!("{}", fetch::docs::page().trim_end());
            Ok(())
        }
        Verb::Build(build) => build.run(),
        Verb::Read(read) => read.run(),
        Verb::Synth(synth) => synth.run(),
        Verb::Eval(eval) => eval.run(),
        Verb::EvalNames(eval) => eval.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note!("josh-data-build: {error:#}");
            ExitCode::FAILURE
        }
    }
}
