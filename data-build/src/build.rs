//! `josh-data-build build`: official files in, one bundle out. Offline, deterministic, flat in memory.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use josh::bundle::Manifest;
use josh::catalog::SOURCES;

use crate::embedding::Embedding;
use crate::finish::Finish;
use crate::input::Input;
use crate::reader::Outcome;
use crate::record::Sink;
use crate::sources::{self, native};
use crate::stage::Stage;
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
    /// Sources whose passages are embedded, for search by meaning: all, none or a list separated by commas
    ///
    /// A core embeds about 7 passages of 120 tokens a second. What was embedded once is kept and taken again.
    #[arg(long, value_name = "SOURCES", default_value = "all")]
    embed: String,
    /// Folder of an embedding model (model.onnx, tokenizer.json …) to use instead of the built-in one; the bundle then holds it
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Folder that keeps vectors between builds [default: josh in the user's cache folder]
    #[arg(long, value_name = "FOLDER")]
    vector_cache: Option<PathBuf>,
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
        let as_of = match &self.as_of {
            None => None,
            Some(given) => match crate::formats::dates::iso(given) {
                Some(day) => Some(day),
                None => bail!("--as-of takes a date like 2025-01-31, not {given:?}"),
            },
        };
        let embedding = Embedding::choose(&self.embed, self.model.as_deref(), self.vector_cache.as_deref())?;
        let job = Job {
            from: &self.from,
            out: &self.out,
            as_of,
            data_version: self.data_version.clone(),
            max_rejected: self.max_rejected,
            work: self.work.as_deref(),
            embedding,
        };
        report::print(&job.run()?);
        Ok(())
    }
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

impl Job<'_> {
    pub fn run(&self) -> Result<Done> {
        let started = Instant::now();
        let beside = self.out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let work = self.work.unwrap_or(beside);
        let folder = tempfile::Builder::new().prefix(".josh-build-").tempdir_in(work);
        let folder = folder.with_context(|| format!("cannot work in {}", work.display()))?;
        let inputs = self.inputs()?;

        let mut stage = Stage::new(folder.path());
        let (skipped, read_bytes) = read_all(&inputs, &mut stage);
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
        let (files, out, took) = (inputs.len(), self.out.to_path_buf(), started.elapsed());
        Ok(Done { manifest, stage, links, files, skipped, read_bytes, out, took })
    }

    /// Every file, with the source whose reader gets it. The order decides ties between files, so it is fixed.
    fn inputs(&self) -> Result<Vec<(&'static str, Input)>> {
        anyhow::ensure!(self.from.is_dir(), "{} is not a folder", self.from.display());
        let mut inputs = Vec::new();
        for source in SOURCES {
            for input in Input::below(self.from, source.key)? {
                inputs.push((source.key, input));
            }
        }
        for input in Input::directly_in(self.from)? {
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
fn compressed(finish: &Finish, folder: &Path, out: &Path) -> Result<Manifest> {
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
    let bar = progress::bar(total, "{bar:30} {percent:>3} %  {eta:>4} left  {msg}", "");
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
