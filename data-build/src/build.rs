//! `josh-data-build build`: official files in, one bundle out. Offline, deterministic, flat in memory.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use josh::bundle::Manifest;
use josh::catalog::SOURCES;

use crate::finish::Finish;
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::Sink;
use crate::report;
use crate::sources::{self, native};
use crate::stage::Stage;
use crate::tables::{LinkCount, Tables};

#[derive(Args)]
pub struct Build {
    /// Folder with one folder a source (bills/, federal-register/ …) of official files, or files SOURCE.josh.jsonl
    #[arg(long, value_name = "FOLDER")]
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
    /// Folder for working files; needs about twice the size of the unpacked input [default: beside the bundle]
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,
}

/// What a build did, for its closing report.
pub struct Done {
    pub manifest: Manifest,
    pub stage: Stage,
    pub links: Vec<LinkCount>,
    pub files: usize,
    pub skipped: Vec<String>,
    pub read_bytes: u64,
    pub out: PathBuf,
    pub took: Duration,
}

impl Build {
    pub fn run(&self) -> Result<()> {
        let started = Instant::now();
        let as_of = self.as_of.as_deref().map(crate::formats::dates::iso);
        if let (Some(None), Some(given)) = (&as_of, &self.as_of) {
            bail!("--as-of takes a date like 2025-01-31, not {given:?}");
        }
        let beside = self.out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
        let work = self.work.as_deref().unwrap_or(beside);
        let folder = tempfile::Builder::new().prefix(".josh-build-").tempdir_in(work);
        let folder = folder.with_context(|| format!("cannot work in {}", work.display()))?;
        let inputs = self.inputs()?;

        let mut stage = Stage::new(folder.path());
        let (skipped, read_bytes) = read_all(&inputs, &mut stage);
        stage.finish()?;
        self.refuse_too_many_rejects(&stage)?;

        let steps = spinner();
        steps.set_message("merging records");
        let tables = Tables::open(folder.path())?;
        tables.load(&stage)?;
        steps.set_message("linking records");
        tables.link()?;
        let links = tables.count_links()?;
        steps.set_message("writing the bundle");
        let finish = Finish {
            tables: &tables,
            folder: folder.path(),
            as_of: as_of.flatten(),
            data_version: self.data_version.clone(),
        };
        let manifest = match self.out.extension().is_some_and(|e| e == "zst") {
            true => compressed(&finish, folder.path(), &self.out)?,
            false => finish.write(&self.out)?,
        };
        steps.finish_and_clear();
        let (files, out, took) = (inputs.len(), self.out.clone(), started.elapsed());
        report::print(&Done { manifest, stage, links, files, skipped, read_bytes, out, took });
        Ok(())
    }

    /// Every file, with the source whose reader gets it. The order decides ties between files, so it is fixed.
    fn inputs(&self) -> Result<Vec<(&'static str, Input)>> {
        anyhow::ensure!(self.from.is_dir(), "{} is not a folder", self.from.display());
        let mut inputs = Vec::new();
        for source in SOURCES {
            for input in Input::below(&self.from, source.key)? {
                inputs.push((source.key, input));
            }
        }
        for input in Input::directly_in(&self.from)? {
            if let Some(key) = native::source_of(&input) {
                inputs.push((key, input));
            }
        }
        anyhow::ensure!(
            !inputs.is_empty(),
            "{} holds no folder named after a source and no SOURCE.josh.jsonl file. Sources: {}",
            self.from.display(),
            SOURCES.iter().map(|s| s.key).collect::<Vec<_>>().join(", ")
        );
        Ok(inputs)
    }

    fn refuse_too_many_rejects(&self, stage: &Stage) -> Result<()> {
        let rejected: u64 = stage.rejected.values().sum();
        let share = rejected as f64 * 100.0 / (rejected + stage.accepted).max(1) as f64;
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
fn compressed(finish: &Finish, folder: &std::path::Path, out: &std::path::Path) -> Result<Manifest> {
    let plain = folder.join("plain.db");
    let manifest = finish.write(&plain)?;
    let file = std::fs::File::create(out).with_context(|| format!("cannot write {}", out.display()))?;
    zstd::stream::copy_encode(std::fs::File::open(&plain)?, file, 19)?;
    Ok(manifest)
}

/// Reads every file; gives the names of those skipped and the bytes read.
fn read_all(inputs: &[(&'static str, Input)], stage: &mut Stage) -> (Vec<String>, u64) {
    let size = |input: &Input| std::fs::metadata(&input.path).map_or(0, |m| m.len());
    let total: u64 = inputs.iter().map(|(_, input)| size(input)).sum();
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {eta:>4} left  {msg}") {
        bar.set_style(style);
    }
    let mut skipped = Vec::new();
    for (key, input) in inputs {
        bar.set_message(input.name.chars().take(70).collect::<String>());
        stage.begin(key, &input.name);
        let outcome = match native::source_of(input) {
            Some(_) => native::read(input, stage).map(|()| Outcome::Read),
            None => sources::reader(key)(input, stage),
        };
        match outcome {
            Ok(Outcome::Read) => {}
            Ok(Outcome::Skipped) => skipped.push(input.name.clone()),
            Err(error) => stage.reject("the whole file", &format!("{error:#}")),
        }
        bar.inc(size(input));
    }
    bar.finish_and_clear();
    (skipped, total)
}

fn spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}
