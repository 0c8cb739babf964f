//! Reads all input files into the staging area, on all cores. Files that did not change since an
//! earlier build come from the record cache.
//!
//! Every file has a number, its place in reading order, which decides between files that describe
//! the same record. So it does not matter which thread reads a file, nor when.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};
use indicatif::ProgressBar;

use crate::archive::{self, Member, Unpacker};
use crate::input::Input;
use crate::layout::SourceFile;
use crate::memory_budget::MemoryBudget;
use crate::progress;
use crate::reader::Outcome;
use crate::record::Sink;
use crate::record_cache::{Entry, RecordCache};
use crate::sources::{self, native};
use crate::stage::Stage;
use crate::stage_writer::StageWriter;

/// Stack of a reading thread, as large as that of the main thread: readers descend into documents.
const STACK_BYTES: usize = 8 << 20;

/// Documents that are read at the same time may have so many bytes together. The largest official
/// one has 160 MB, and a parsed tree takes about four times as much.
const DOCUMENTS_AT_ONCE: u64 = 192 << 20;

/// How much a compressed document grows, for the estimate of its memory.
const USUAL_COMPRESSION: u64 = 8;

/// A file or a member of an archive, in reading order.
struct Unit<'a> {
    source: &'static str,
    input: &'a Input,
    part: Part,
}

enum Part {
    Whole,
    Member(Member),
    /// Why nothing, or nothing more, of an archive is read.
    Unreadable(String),
}

/// Reads every file with so many threads, and stages what is in it.
pub fn ingest(
    files: &[SourceFile],
    cache: Option<&RecordCache>,
    folder: &Path,
    threads: usize,
) -> Result<Stage> {
    let bytes = files.iter().map(|file| file.input.size()).sum();
    let units: Vec<Unit> = files.iter().flat_map(units).collect();
    let bar =
        progress::bar(units.len() as u64, "{bar:30} {percent:>3} %  {eta:>4} left  {msg}", "");
    let ingest = Ingest {
        units: &units,
        next: AtomicUsize::new(0),
        memory: MemoryBudget::new(DOCUMENTS_AT_ONCE),
        cache,
        bar: &bar,
    };
    let writers = thread::scope(|scope| {
        let spawn = |n: usize| {
            let ingest = &ingest;
            thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || ingest.work(StageWriter::new(folder, n)))
                .context("cannot start a thread")
        };
        let spawned = (0..threads.max(1)).map(spawn).collect::<Result<Vec<_>>>()?;
        let join = |thread: thread::ScopedJoinHandle<Result<StageWriter>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        spawned.into_iter().map(join).collect::<Result<Vec<_>>>()
    })?;
    bar.finish_and_clear();
    if let Some(cache) = cache {
        cache.prune();
    }
    Stage::join(folder, writers, bytes)
}

/// Reads a file with the reader for its format.
pub fn read(source: &str, input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    input.ensure_readable()?;
    match native::source_of(input) {
        Some(_) => native::read(input, out).map(|()| Outcome::Read),
        None => sources::reader(source)(input, out),
    }
}

/// A file, or the members of an archive.
fn units(file: &SourceFile) -> Vec<Unit<'_>> {
    let unit = |part| Unit { source: file.source, input: &file.input, part };
    if !file.input.is_archive() {
        return vec![unit(Part::Whole)];
    }
    match archive::members(&file.input) {
        Ok(members) => {
            let listed = members.listed.into_iter().map(Part::Member);
            listed.chain(members.stopped.map(Part::Unreadable)).map(unit).collect()
        }
        Err(error) => vec![unit(Part::Unreadable(format!("{error:#}")))],
    }
}

struct Ingest<'a> {
    units: &'a [Unit<'a>],
    /// The next unit that nobody has begun.
    next: AtomicUsize,
    memory: MemoryBudget,
    cache: Option<&'a RecordCache>,
    bar: &'a ProgressBar,
}

impl Ingest<'_> {
    /// Reads units until there are no more.
    fn work(&self, mut writer: StageWriter) -> Result<StageWriter> {
        let mut unpacker = Unpacker::default();
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(unit) = self.units.get(number) else { break };
            if let Err(error) = self.read_unit(number, unit, &mut unpacker, &mut writer) {
                // The other threads stop after what they are reading.
                self.next.store(self.units.len(), Ordering::Relaxed);
                return Err(error);
            }
            self.bar.set_message(unit.input.name.chars().take(70).collect::<String>());
            self.bar.inc(1);
        }
        writer.flush()?;
        Ok(writer)
    }

    fn read_unit(
        &self,
        number: usize,
        unit: &Unit,
        unpacker: &mut Unpacker,
        writer: &mut StageWriter,
    ) -> Result<()> {
        match &unit.part {
            Part::Whole => {
                let _share = self.memory.take(document_bytes(unit.input));
                self.read_file(number, unit.source, unit.input, writer)
            }
            Part::Member(member) => {
                let _share = self.memory.take(member.size);
                let input = unpacker.unpack(unit.input, member);
                self.read_file(number, unit.source, &input, writer)
            }
            Part::Unreadable(reason) => {
                writer.begin(number, unit.source, &unit.input.name, None);
                writer.end(Err(anyhow::anyhow!("{reason}")));
                Ok(())
            }
        }
    }

    /// Replays a cached file, or reads it.
    fn read_file(
        &self,
        number: usize,
        source: &'static str,
        input: &Input,
        writer: &mut StageWriter,
    ) -> Result<()> {
        let cacheable = native::source_of(input).is_some() || !sources::reads_siblings(source);
        let cache = self.cache.filter(|_| cacheable);
        let entry = cache.and_then(|cache| cache.entry(source, input));
        writer.begin(number, source, &input.name, None);
        match entry {
            Some(entry) if entry.replay(writer)? => writer.reused += 1,
            entry => {
                writer.begin(number, source, &input.name, entry.and_then(Entry::writer));
                let outcome = read(source, input, writer);
                writer.end(outcome);
            }
        }
        Ok(())
    }
}

/// The memory that a file takes while it is read, roughly. Lines are read one by one.
fn document_bytes(input: &Input) -> u64 {
    match (input.extension(), input.uncompressed_name().len() < input.name.len()) {
        ("jsonl" | "ndjson" | "csv", _) => 0,
        (_, false) => input.size(),
        (_, true) => input.size().saturating_mul(USUAL_COMPRESSION),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::layout::InputFolder;

    /// What was staged, in an order that does not depend on threads.
    fn staged(from: &Path, threads: usize) -> (Vec<String>, Vec<String>, String) {
        let work = tempfile::tempdir().unwrap();
        let files = InputFolder::new(from).layout().unwrap().files;
        let stage = ingest(&files, None, work.path(), threads).unwrap();
        let mut lines = Vec::new();
        for table in ["bills", "bills_actions", "bills_body", "public_laws"] {
            for path in stage.paths(table) {
                lines.extend(std::fs::read_to_string(path).unwrap().lines().map(str::to_string));
            }
        }
        lines.sort();
        let rejects = work.path().join("all-rejects");
        stage.write_rejects(&rejects).unwrap();
        let rejects = std::fs::read_to_string(rejects).unwrap();
        (lines, stage.skipped, rejects)
    }

    /// Given files, archives, faults and several descriptions of one bill, when read by one thread
    /// or by many, then the same rows have the same places, and faults are listed in order.
    #[test]
    fn the_number_of_threads_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let bills = folder.path().join("bills");
        std::fs::create_dir(&bills).unwrap();
        let status = |number: usize, title: &str| {
            format!(
                "<billStatus><bill><type>HR</type><number>{number}</number>\
                 <congress>119</congress><title>{title}</title>\
                 <introducedDate>2025-01-03</introducedDate></bill></billStatus>"
            )
        };
        let zip = std::fs::File::create(bills.join("m.zip")).unwrap();
        let mut zip = zip::ZipWriter::new(zip);
        for n in 0..60 {
            std::fs::write(bills.join(format!("{n}.xml")), status(n % 40 + 1, &format!("{n}")))
                .unwrap();
            std::fs::write(bills.join(format!("{n}.bad.xml")), "<billStatus>").unwrap();
            std::fs::write(bills.join(format!("{n}.md")), "nothing").unwrap();
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(format!("z{n}.xml"), options).unwrap();
            zip.write_all(status(n % 50 + 1, "zipped").as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        let one = staged(folder.path(), 1);
        assert_eq!((one.0.len(), one.1.len(), one.2.lines().count()), (120, 60, 60));
        for threads in [2, 5] {
            assert_eq!(staged(folder.path(), threads), one, "{threads} threads");
        }
    }
}
