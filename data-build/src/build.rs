//! `josh-data-build build`: official files in, one bundle out. Offline and deterministic; memory
//! does not grow with the input.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use josh::bundle::Manifest;
use tempfile::TempDir;

use crate::bundle_output::BundleOutput;
use crate::checks::Limits;
use crate::embedding::{Embedding, default_cache};
use crate::estimate::{A_NIGHT, CHARACTERS, Estimate};
use crate::ingest::ingest;
use crate::layout::{InputFolder, Layout};
use crate::record_cache::RecordCache;
use crate::stage::Stage;
use crate::tables::{LinkCount, Tables};
use crate::{fetch, machine, progress, report};
use josh::output::note;

#[derive(Args)]
pub struct Build {
    #[command(flatten)]
    input: InputFolder,
    /// Bundle to write; with the extension .zst it is compressed, for shipping only
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Date of the data [default: the newest date in them]
    #[arg(long, value_name = "DATE")]
    as_of: Option<String>,
    /// Name of this edition [default: the as-of date]
    #[arg(long, value_name = "TEXT")]
    data_version: Option<String>,
    #[command(flatten)]
    limits: Limits,
    /// File that lists everything rejected, one JSON object per line: file, place, reason
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Sources whose passages are embedded for semantic search: auto, all, none or a
    /// comma-separated list
    ///
    /// auto embeds all of them, unless that would take this machine longer than ten hours; the
    /// build says how long it takes before it starts. One core embeds about 80 passages of 120
    /// tokens per second, or 30 without AVX-512. Vectors are cached and reused.
    #[arg(long, value_name = "SOURCES", default_value = "auto")]
    embed: String,
    /// Folder of an embedding model (model.onnx, tokenizer.json …) to use instead of the built-in
    /// one; the bundle then contains it
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Folder for cached records and vectors, which later builds reuse [default: josh in the
    /// user's cache folder]
    #[arg(long, alias = "vector-cache", value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// Folder for temporary files; needs about twice the size of the uncompressed input [default:
    /// the bundle's folder]
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,
}

/// The results of a build, for its report.
pub struct BuildSummary {
    pub manifest: Manifest,
    pub stage: Stage,
    pub links: Vec<LinkCount>,
    /// Source folders without files.
    pub empty: Vec<&'static str>,
    /// Entries of the input folder that were not read.
    pub ignored: Vec<String>,
    pub out: PathBuf,
    pub elapsed: Duration,
}

impl Build {
    pub fn run(&self) -> Result<()> {
        let as_of = match &self.as_of {
            None => None,
            Some(given) => match crate::formats::dates::iso(given) {
                Some(day) => Some(day),
                None => bail!("--as-of must be a date like 2025-01-31; got {given:?}"),
            },
        };
        let cache = self.cache.clone().unwrap_or_else(default_cache);
        let embedding = Embedding::choose(&self.embed, self.model.as_deref(), Some(&cache))?;
        let job = BuildJob {
            input: self.input.clone(),
            out: &self.out,
            as_of,
            data_version: self.data_version.clone(),
            limits: self.limits.clone(),
            rejects: self.rejects.as_deref(),
            work: self.work.as_deref(),
            embedding,
            cache: open_cache(&cache),
        };
        report::print(&job.run()?);
        Ok(())
    }
}

/// Opens the record cache. Without it every file is read, which is only slower.
pub fn open_cache(folder: &Path) -> Option<RecordCache> {
    let opened = RecordCache::open(folder);
    if let Err(error) = &opened {
        note!(
            "josh-data-build: warning: building without a cache, since {} cannot be written: \
             {error:#}",
            folder.display()
        );
    }
    opened.ok()
}

/// A build with validated arguments.
pub struct BuildJob<'a> {
    pub input: InputFolder,
    pub out: &'a Path,
    pub as_of: Option<String>,
    pub data_version: Option<String>,
    pub limits: Limits,
    /// File that gets every reject.
    pub rejects: Option<&'a Path>,
    pub work: Option<&'a Path>,
    pub embedding: Option<Embedding>,
    /// Without one, every file is read.
    pub cache: Option<RecordCache>,
}

/// Records, merged and linked in working tables.
struct Prepared {
    tables: Tables,
    stage: Stage,
    links: Vec<LinkCount>,
    empty: Vec<&'static str>,
    ignored: Vec<String>,
    /// For temporary files.
    folder: TempDir,
}

impl BuildJob<'_> {
    pub fn run(&self) -> Result<BuildSummary> {
        let started = Instant::now();
        let prepared = self.prepare()?;
        let output = self.output(&prepared, self.affordable_embedding(&prepared.tables)?);
        let manifest = match self.out.extension().is_some_and(|e| e == "zst") {
            true => write_compressed(&output, prepared.folder.path(), self.out)?,
            false => output.write(self.out)?,
        };
        let Prepared { stage, links, empty, ignored, .. } = prepared;
        let (out, elapsed) = (self.out.to_path_buf(), started.elapsed());
        Ok(BuildSummary { manifest, stage, links, empty, ignored, out, elapsed })
    }

    /// Embeds the passages into the cache, and writes nothing else. Returns how many were new.
    pub fn embed(&self) -> Result<u64> {
        let prepared = self.prepare()?;
        self.output(&prepared, self.embedding.as_ref()).embed()
    }

    fn prepare(&self) -> Result<Prepared> {
        let Layout { files, empty, ignored } = self.input.layout()?;
        let beside =
            self.out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let work = self.work.unwrap_or(beside);
        let folder = tempfile::Builder::new().prefix(".josh-build-").tempdir_in(work);
        let folder = folder.with_context(|| format!("cannot write to {}", work.display()))?;

        let stage = ingest(&files, self.cache.as_ref(), folder.path(), machine::cores())?;
        if let Some(path) = self.rejects {
            stage.write_rejects(path)?;
        }
        self.check_counts(&stage)?;

        let spinner = progress::spinner("merging records");
        let tables = Tables::open(folder.path())?;
        tables.load(&stage)?;
        spinner.set_message("linking records");
        tables.link()?;
        let links = tables.count_links()?;
        spinner.finish_and_clear();
        Ok(Prepared { tables, stage, links, empty, ignored, folder })
    }

    fn output<'a>(
        &'a self,
        prepared: &'a Prepared,
        embedding: Option<&'a Embedding>,
    ) -> BundleOutput<'a> {
        BundleOutput {
            tables: &prepared.tables,
            folder: prepared.folder.path(),
            as_of: self.as_of.clone(),
            data_version: self.data_version.clone(),
            fetched: fetch::fetched(&self.input.from),
            limits: &self.limits,
            embedding,
        }
    }

    /// The embedding, unless it may be left out and would take too long.
    fn affordable_embedding(&self, tables: &Tables) -> Result<Option<&Embedding>> {
        let automatic = self.embedding.as_ref().filter(|embedding| embedding.is_automatic);
        let Some(embedding) = automatic else { return Ok(self.embedding.as_ref()) };
        let cached = embedding.cache_files().count(embedding.dimensions()?);
        let characters = tables.count_characters(&embedding.sources)?;
        let passages = (characters / CHARACTERS).saturating_sub(cached);
        let estimate = Estimate::measure(embedding, passages)?;
        if estimate.time <= A_NIGHT {
            return Ok(Some(embedding));
        }
        note!(
            "josh-data-build: about {estimate}. That is longer than a night, so this bundle gets \
             no vectors, and search runs by words only. Choose with --embed all or a list of \
             sources, or embed on several machines (josh-data-build embed --help)."
        );
        Ok(None)
    }

    /// Fails if too much could not be read, or nothing was found.
    fn check_counts(&self, stage: &Stage) -> Result<()> {
        let checked = self.limits.check_counts(stage);
        if checked.is_ok() && stage.total().accepted > 0 {
            return Ok(());
        }
        report::print_rejects(stage);
        report::print_skipped(&stage.skipped);
        checked?;
        bail!("no records found; data-build/README.md lists the accepted formats")
    }
}

/// Writes a zstd-compressed bundle, the format of the embedded sample.
fn write_compressed(output: &BundleOutput, folder: &Path, out: &Path) -> Result<Manifest> {
    let plain = folder.join("plain.db");
    let manifest = output.write(&plain)?;
    let file =
        std::fs::File::create(out).with_context(|| format!("cannot write {}", out.display()))?;
    zstd::stream::copy_encode(std::fs::File::open(&plain)?, file, 19)?;
    Ok(manifest)
}
