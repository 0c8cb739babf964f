//! Reads all input files into the staging area. Files that did not change since an earlier build
//! come from the record cache.

use anyhow::Result;

use crate::input::Input;
use crate::layout::SourceFile;
use crate::reader::Outcome;
use crate::record::Sink;
use crate::record_cache::{Entry, RecordCache};
use crate::sources::{self, native};
use crate::stage::Stage;
use crate::{archive, progress};

/// What was read, for the report.
#[derive(Default)]
pub struct Totals {
    /// Names of the files that no reader recognized.
    pub skipped: Vec<String>,
    /// Files taken from the cache.
    pub reused: usize,
    pub bytes: u64,
}

/// Reads every file, in order.
pub fn ingest(
    files: &[SourceFile],
    cache: Option<&RecordCache>,
    stage: &mut Stage,
) -> Result<Totals> {
    let bytes = files.iter().map(|file| file.input.size()).sum();
    let bar = progress::bar(bytes, "{bar:30} {percent:>3} %  {eta:>4} left  {msg}", "");
    let mut ingest = Ingest { cache, stage, totals: Totals { bytes, ..Totals::default() } };
    for SourceFile { source, input } in files {
        bar.set_message(input.name.chars().take(70).collect::<String>());
        ingest.read_input(source, input)?;
        bar.inc(input.size());
    }
    bar.finish_and_clear();
    if let Some(cache) = cache {
        cache.prune();
    }
    Ok(ingest.totals)
}

/// Reads a file with the reader for its format.
pub fn read(source: &str, input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    input.ensure_readable()?;
    match native::source_of(input) {
        Some(_) => native::read(input, out).map(|()| Outcome::Read),
        None => sources::reader(source)(input, out),
    }
}

struct Ingest<'a> {
    cache: Option<&'a RecordCache>,
    stage: &'a mut Stage,
    totals: Totals,
}

impl Ingest<'_> {
    /// Reads a file, or every member of an archive.
    fn read_input(&mut self, source: &'static str, input: &Input) -> Result<()> {
        if !input.is_archive() {
            return self.read_file(source, input);
        }
        let mut result = Ok(());
        let opened = archive::each_member(input, |member| {
            if result.is_ok() {
                result = self.read_file(source, &member);
            }
        });
        result?;
        if opened.is_err() {
            self.stage.begin(source, &input.name, None);
            self.stage.end(opened.map(|()| Outcome::Read));
        }
        Ok(())
    }

    /// Replays a cached file, or reads it.
    fn read_file(&mut self, source: &'static str, input: &Input) -> Result<()> {
        let cacheable = native::source_of(input).is_some() || !sources::reads_siblings(source);
        let cache = self.cache.filter(|_| cacheable);
        let entry = cache.and_then(|cache| cache.entry(source, input));
        self.stage.begin(source, &input.name, None);
        let skipped_before = self.stage.total().skipped;
        match entry {
            Some(entry) if entry.replay(self.stage)? => self.totals.reused += 1,
            entry => {
                self.stage.begin(source, &input.name, entry.and_then(Entry::writer));
                let outcome = read(source, input, self.stage);
                self.stage.end(outcome);
            }
        }
        if self.stage.total().skipped > skipped_before {
            self.totals.skipped.push(input.name.clone());
        }
        Ok(())
    }
}
