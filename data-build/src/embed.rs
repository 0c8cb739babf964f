//! `josh-data-build embed`: embeds one share of the passages into the cache, so that several
//! machines can do the longest part of a build together.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use josh::output::say;

use crate::build::{BuildJob, open_cache};
use crate::checks::Limits;
use crate::embedding::Embedding;
use crate::layout::InputFolder;
use crate::vector_cache::Shard;

#[derive(Args)]
pub struct Embed {
    #[command(flatten)]
    input: InputFolder,
    /// The share of this process: I/N, with I from 0 to N-1
    #[arg(long, value_name = "I/N")]
    shard: Shard,
    /// Folder for the vectors, which the build is given afterwards
    #[arg(long, value_name = "FOLDER")]
    cache: PathBuf,
    /// Sources whose passages are embedded: all or a comma-separated list
    #[arg(long, value_name = "SOURCES", default_value = "all")]
    embed: String,
    /// Folder of an embedding model to use instead of the built-in one
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    #[command(flatten)]
    limits: Limits,
    /// Folder for temporary files; needs about twice the size of the uncompressed input [default:
    /// the system's]
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,
}

impl Embed {
    pub fn run(&self) -> Result<()> {
        let model = self.model.as_deref();
        let Some(mut embedding) = Embedding::choose(&self.embed, model, Some(&self.cache))? else {
            anyhow::bail!("--embed none leaves nothing to embed; name sources, or leave it out");
        };
        embedding.shard = Some(self.shard);
        let work = self.work.clone().unwrap_or_else(std::env::temp_dir);
        let job = BuildJob {
            input: self.input.clone(),
            // Nothing is written there.
            out: &work,
            // Only citations depend on it.
            as_of: Some("2000-01-01".into()),
            data_version: None,
            limits: self.limits.clone(),
            rejects: None,
            work: Some(&work),
            embedding: Some(embedding),
            cache: open_cache(&self.cache),
        };
        let embedded = job.embed()?;
        say!("shard {}: {embedded} passages embedded, all of its vectors are cached", self.shard);
        Ok(())
    }
}
