//! `josh-data-build build`: official files in, one bundle out. Offline, deterministic, flat in memory.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use josh::bundle::Manifest;
use josh::catalog::SOURCES;

use crate::archive;
use crate::embedding::{Embedding, default_cache};
use crate::finish::Finish;
use crate::input::Input;
use crate::output::note;
use crate::reader::Outcome;
use crate::record::Sink;
use crate::record_cache::{Entry, RecordCache};
use crate::sources::{self, native};
use crate::stage::{Counts, Stage};
use crate::tables::{LinkCount, Tables};
use crate::{progress, report};

#[derive(Args)]
pub struct Build {
    /// Folder with one folder a source (bills/, federal-register/ …) of official files, or files SOURCE.josh.jsonl
    #[arg(long, value_name = "FOLDER", default_value = "federal-data")]
    from: PathBuf,
    /// Bundle to write; with the ending .zst it is compressed, for shipping only
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Day that the data are of [default: the newest date in them]
    #[arg(long, value_name = "DATE")]
    as_of: Option<String>,
    /// Name of this edition [default: the as-of day]
    #[arg(long, value_name = "TEXT")]
    data_version: Option<String>,
    /// Fail when more than this share of the records can't be read
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    max_rejected: f64,
    /// File for everything that can't be read, one JSON object a line: file, place, reason
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Sources whose passages are embedded, for search by meaning: all, none or a list separated by commas
    ///
    /// A core embeds about 7 passages of 120 tokens a second. What was embedded once is kept and taken again.
    #[arg(long, value_name = "SOURCES", default_value = "all")]
    embed: String,
    /// Folder of an embedding model (model.onnx, tokenizer.json …) to use instead of the built-in one; the bundle then holds it
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Folder that keeps what was read and embedded, for the next build [default: josh in the user's cache folder]
    #[arg(long, alias = "vector-cache", value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// Folder for working files; needs about twice the size of the unpacked input [default: beside the bundle]
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,
}

/// What a build did, for its closing report.
pub struct Done {
    pub manifest: Manifest,
    pub stage: Stage,
    pub links: Vec<LinkCount>,
    pub skipped: Vec<String>,
    /// What lies in the input folder and is named after no source.
    pub ignored: Vec<String>,
    /// Files taken from what the last builds kept.
    pub reused: usize,
    pub read_bytes: u64,
    pub out: PathBuf,
    pub took: Duration,
}

impl Build {
    pub fn run(&self) -> Result<()> {
        let as_of = match &self.as_of {
            None => None,
            Some(given) => match crate::formats::dates::iso(given) {
                Some(day) => Some(day),
                None => bail!("--as-of takes a date like 2025-01-31, not {given:?}"),
            },
        };
        let cache = self.cache.clone().unwrap_or_else(default_cache);
        let embedding = Embedding::choose(&self.embed, self.model.as_deref(), Some(&cache))?;
        let job = Job {
            from: &self.from,
            out: &self.out,
            as_of,
            data_version: self.data_version.clone(),
            max_rejected: self.max_rejected,
            work: self.work.as_deref(),
            embedding,
        };
        let reading = Reading { cache: open_cache(&cache), rejects: self.rejects.as_deref() };
        report::print(&job.run_reading(&reading)?);
        Ok(())
    }
}

/// The records kept so far; without them everything is read, which is slower and nothing else.
fn open_cache(folder: &Path) -> Option<RecordCache> {
    let opened = RecordCache::open(folder);
    if let Err(error) = &opened {
        note!("josh-data-build: cannot keep records in {}, so nothing is reused: {error:#}", folder.display());
    }
    opened.ok()
}

/// A build, its arguments checked.
pub struct Job<'a> {
    pub from: &'a Path,
    pub out: &'a Path,
    pub as_of: Option<String>,
    pub data_version: Option<String>,
    pub max_rejected: f64,
    pub work: Option<&'a Path>,
    pub embedding: Option<Embedding>,
}

/// How the files are read.
#[derive(Default)]
pub struct Reading<'a> {
    pub cache: Option<RecordCache>,
    /// Gets every reject.
    pub rejects: Option<&'a Path>,
}

impl Job<'_> {
    /// Reads everything anew.
    pub fn run(&self) -> Result<Done> {
        self.run_reading(&Reading::default())
    }

    pub fn run_reading(&self, reading: &Reading) -> Result<Done> {
        let started = Instant::now();
        let beside = self.out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let work = self.work.unwrap_or(beside);
        let folder = tempfile::Builder::new().prefix(".josh-build-").tempdir_in(work);
        let folder = folder.with_context(|| format!("cannot work in {}", work.display()))?;
        let (inputs, ignored) = inputs(self.from)?;

        let mut stage = Stage::new(folder.path());
        if let Some(path) = reading.rejects {
            stage.write_rejects_to(path)?;
        }
        let read = ReadAll::of(&inputs, reading, &mut stage)?;
        stage.finish()?;
        self.refuse_too_many_rejects(&stage)?;

        let steps = progress::spinner("merging records");
        let tables = Tables::open(folder.path())?;
        tables.load(&stage)?;
        steps.set_message("linking records");
        tables.link()?;
        let links = tables.count_links()?;
        steps.finish_and_clear();
        let finish = Finish {
            tables: &tables,
            folder: folder.path(),
            as_of: self.as_of.clone(),
            data_version: self.data_version.clone(),
            embedding: self.embedding.as_ref(),
        };
        let manifest = match self.out.extension().is_some_and(|e| e == "zst") {
            true => compressed(&finish, folder.path(), self.out)?,
            false => finish.write(self.out)?,
        };
        let (out, took) = (self.out.to_path_buf(), started.elapsed());
        let ReadAll { skipped, reused, read_bytes } = read;
        Ok(Done { manifest, stage, links, skipped, ignored, reused, read_bytes, out, took })
    }

    fn refuse_too_many_rejects(&self, stage: &Stage) -> Result<()> {
        let Counts { accepted, rejected, .. } = stage.total();
        let share = rejected as f64 * 100.0 / (rejected + accepted).max(1) as f64;
        if share > self.max_rejected {
            report::print_rejects(stage);
            bail!(
                "{rejected} records ({share:.1} %) can't be read, more than --max-rejected {} allows; no bundle was written",
                self.max_rejected
            );
        }
        Ok(())
    }
}

/// Writes the bundle compressed, as the embedded sample is kept.
fn compressed(finish: &Finish, folder: &Path, out: &Path) -> Result<Manifest> {
    let plain = folder.join("plain.db");
    let manifest = finish.write(&plain)?;
    let file = std::fs::File::create(out).with_context(|| format!("cannot write {}", out.display()))?;
    zstd::stream::copy_encode(std::fs::File::open(&plain)?, file, 19)?;
    Ok(manifest)
}

/// A file, and the source whose reader gets it.
pub type OfSource = (&'static str, Input);

/// Every file, with the source whose reader gets it, and what is left alone. The order decides ties between files, so it is fixed.
pub fn inputs(from: &Path) -> Result<(Vec<OfSource>, Vec<String>)> {
    anyhow::ensure!(from.is_dir(), "{} is not a folder", from.display());
    let (mut inputs, mut ignored) = (Vec::new(), Vec::new());
    for source in SOURCES {
        inputs.extend(Input::below(from, source.key).into_iter().map(|input| (source.key, input)));
    }
    for input in Input::directly_in(from)? {
        match native::source_of(&input) {
            Some(key) => inputs.push((key, input)),
            None if SOURCES.iter().any(|s| s.key == input.name) || input.name.starts_with('.') => {}
            None => ignored.push(input.name),
        }
    }
    anyhow::ensure!(
        !inputs.is_empty(),
        "{} holds no folder named after a source and no SOURCE.josh.jsonl file. Sources: {}",
        from.display(),
        SOURCES.iter().map(|s| s.key).collect::<Vec<_>>().join(", ")
    );
    Ok((inputs, ignored))
}

/// Has the right reader read a file.
pub fn read(key: &str, input: &Input, out: &mut dyn Sink) -> Result<Outcome> {
    input.ensure_there()?;
    match native::source_of(input) {
        Some(_) => native::read(input, out).map(|()| Outcome::Read),
        None => sources::reader(key)(input, out),
    }
}

/// What reading every file came to.
#[derive(Default)]
struct ReadAll {
    skipped: Vec<String>,
    reused: usize,
    read_bytes: u64,
}

impl ReadAll {
    fn of(inputs: &[OfSource], reading: &Reading, stage: &mut Stage) -> Result<ReadAll> {
        let mut all = ReadAll { read_bytes: inputs.iter().map(|(_, input)| input.size()).sum(), ..ReadAll::default() };
        let bar = progress::bar(all.read_bytes, "{bar:30} {percent:>3} %  {eta:>4} left  {msg}", "");
        for (key, input) in inputs {
            bar.set_message(input.name.chars().take(70).collect::<String>());
            all.read_input(key, input, reading, stage)?;
            bar.inc(input.size());
        }
        bar.finish_and_clear();
        if let Some(cache) = &reading.cache {
            cache.prune();
        }
        Ok(all)
    }

    /// Reads a file, or every member of an archive.
    fn read_input(&mut self, key: &'static str, input: &Input, reading: &Reading, stage: &mut Stage) -> Result<()> {
        if !input.is_archive() {
            return self.read_file(key, input, reading, stage);
        }
        let mut done = Ok(());
        let whole = archive::each_member(input, |member| {
            if done.is_ok() {
                done = self.read_file(key, &member, reading, stage);
            }
        });
        done?;
        if whole.is_err() {
            stage.begin(key, &input.name, None);
            stage.end(whole.map(|()| Outcome::Read));
        }
        Ok(())
    }

    /// Takes what was kept of a file, or reads it.
    fn read_file(&mut self, key: &'static str, input: &Input, reading: &Reading, stage: &mut Stage) -> Result<()> {
        let cache =
            reading.cache.as_ref().filter(|_| native::source_of(input).is_some() || !sources::looks_around(key));
        let entry = cache.and_then(|cache| cache.entry(key, input));
        stage.begin(key, &input.name, None);
        let before = stage.total().skipped;
        match entry {
            Some(entry) if entry.replay(stage)? => self.reused += 1,
            entry => {
                stage.begin(key, &input.name, entry.and_then(Entry::keeper));
                let outcome = read(key, input, stage);
                stage.end(outcome);
            }
        }
        if stage.total().skipped > before {
            self.skipped.push(input.name.clone());
        }
        Ok(())
    }
}
