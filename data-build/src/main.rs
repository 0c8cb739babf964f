//! The `josh-data-build` command: downloads official files and builds Josh bundles from them.

mod amendatory;
mod archive;
mod build;
mod bundle_output;
mod checks;
mod embed;
mod embedding;
mod encoding;
mod estimate;
mod eval;
mod eval_names;
mod fetch;
mod formats;
mod ingest;
mod input;
mod layout;
mod machine;
mod memory_budget;
mod mentions;
mod passage_vectors;
mod passages;
mod patterns;
mod progress;
mod read;
mod reader;
mod record;
mod record_cache;
mod report;
mod sources;
mod stage;
mod stage_writer;
mod synth;
mod tables;
mod text_parts;
mod texts;
mod vector_cache;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::layout::LayoutError;
use josh::output::{note, say};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Exit code for an input folder that is not laid out as expected; clap uses it for wrong
/// arguments.
const EXIT_USAGE: u8 = 2;

/// Build Josh bundles from the official files of federal publishers.
#[derive(Parser)]
#[command(name = "josh-data-build", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Download official files from their publishers
    ///
    /// Partial downloads resume, and later runs download only new and changed files. API keys come
    /// from the environment; a source whose key is missing is skipped. `sources` lists where
    /// everything comes from.
    Fetch(fetch::Fetch),
    /// Print the table of data feeds as Markdown: publisher, address, format, licence, frequency
    Sources,
    /// Read official files, offline, and write a bundle
    ///
    /// The same files give the same bundle ID. Records that can't be read are reported with their
    /// file and the reason.
    Build(build::Build),
    /// Embed a share of the passages of official files, for a build on several machines
    ///
    /// Each of N machines embeds its share into a cache folder that they share, or that is copied
    /// together afterwards; a build with that cache then embeds nothing. A shard that was
    /// interrupted goes on where it stopped.
    Embed(embed::Embed),
    /// Read official files and write the records found in them, one JSON object per line
    ///
    /// Shows each record as a build would receive it, before merging and linking.
    Read(read::Read),
    /// Write a bundle of random text, of any size, for benchmarks
    ///
    /// Its vectors are hashes of words instead of model output: use it to measure speed, not
    /// quality.
    Synth(synth::Synth),
    /// Measure how well the three search modes find documents that people judged relevant
    Eval(eval::Eval),
    /// Measure how often a name as people type it resolves to the right record
    EvalNames(eval_names::EvalNames),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Fetch(fetch) => fetch.run(),
        Command::Sources => {
            say!("{}", fetch::docs::page().trim_end());
            Ok(())
        }
        Command::Build(build) => build.run(),
        Command::Embed(embed) => embed.run(),
        Command::Read(read) => read.run(),
        Command::Synth(synth) => synth.run(),
        Command::Eval(eval) => eval.run(),
        Command::EvalNames(eval) => eval.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note!("josh-data-build: {error:#}");
            if error.is::<LayoutError>() { ExitCode::from(EXIT_USAGE) } else { ExitCode::FAILURE }
        }
    }
}
