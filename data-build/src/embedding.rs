//! Computes vectors: with the built-in model, with a model from a folder, or, for benchmarks, by
//! hashing words.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use josh::bundle::ModelFacts;
use josh::bundle::vectors::Vector;
use josh::catalog::{SOURCES, Shape};
use josh::embed::{BUILT_IN, FILE_NAMES, ModelFiles, Session};

use crate::synth::Random;
use crate::vector_cache::{CacheFiles, Shard};

/// Texts per model call. Larger batches are no faster, and fastembed pads all texts of a batch to
/// the longest.
const BATCH: usize = 4;

/// What to embed, and how.
pub struct Embedding {
    model: Model,
    /// Sources whose passages get vectors.
    pub sources: Vec<&'static str>,
    /// Embed only if that takes no longer than a night.
    pub is_automatic: bool,
    /// Embed only this share of the passages, into the cache.
    pub shard: Option<Shard>,
    /// Folder of the vector cache.
    cache: PathBuf,
}

enum Model {
    BuiltIn,
    Folder(ModelFolder),
    /// Fast and without meaning, but texts with common words are close to each other.
    WordHashes,
}

/// A model's files, in memory.
struct ModelFolder {
    path: PathBuf,
    name: String,
    files: [Vec<u8>; 5],
}

impl ModelFolder {
    fn read(path: &Path) -> Result<ModelFolder> {
        let read = |name: &str| {
            std::fs::read(path.join(name))
                .with_context(|| format!("--model: no {name} in {}", path.display()))
        };
        let [a, b, c, d, e] = FILE_NAMES.map(read);
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_else(|| "model".into());
        Ok(ModelFolder { path: path.to_path_buf(), name, files: [a?, b?, c?, d?, e?] })
    }

    fn files(&self) -> ModelFiles<'_> {
        ModelFiles::new(&self.name, self.files.each_ref().map(Vec::as_slice))
    }
}

impl Embedding {
    /// Parses `--embed` (`auto`, `all`, `none` or sources) and loads `--model`. `None` means no
    /// vectors.
    pub fn choose(
        embed: &str,
        model: Option<&Path>,
        cache: Option<&Path>,
    ) -> Result<Option<Embedding>> {
        let sources = match embed {
            "none" => return Ok(None),
            "all" | "auto" => embeddable_sources(),
            list => {
                let valid = embeddable_sources();
                let find = |key: &str| {
                    let found = valid.iter().copied().find(|known| *known == key.trim());
                    found.with_context(|| {
                        format!(
                            "--embed must be auto, all, none or a list of {}; got {key:?}",
                            valid.join(", ")
                        )
                    })
                };
                list.split(',').map(find).collect::<Result<_>>()?
            }
        };
        let model = match model {
            Some(folder) => Model::Folder(ModelFolder::read(folder)?),
            None => Model::BuiltIn,
        };
        let cache = cache.map(Path::to_path_buf).unwrap_or_else(default_cache);
        let is_automatic = embed == "auto";
        Ok(Some(Embedding { model, sources, is_automatic, shard: None, cache }))
    }

    /// Word-hash vectors, for bundles that measure speed.
    pub fn word_hashes(cache: &Path) -> Embedding {
        let (sources, cache) = (embeddable_sources(), cache.to_path_buf());
        let model = Model::WordHashes;
        Embedding { model, sources, is_automatic: false, shard: None, cache }
    }

    /// The manifest's description of the model. Word hashes claim to be the built-in model, so
    /// that queries are embedded as usual.
    pub fn facts(&self) -> ModelFacts {
        let files = match &self.model {
            Model::Folder(folder) => folder.files(),
            Model::BuiltIn | Model::WordHashes => BUILT_IN.clone(),
        };
        ModelFacts { name: files.name.to_string(), sha256: files.sha256() }
    }

    /// The model folder to include in the bundle; `None` for the built-in model.
    pub fn model_folder(&self) -> Option<&Path> {
        match &self.model {
            Model::Folder(folder) if folder.files().sha256() != BUILT_IN.sha256() => {
                Some(&folder.path)
            }
            _ => None,
        }
    }

    /// The model's cache. Vectors of another version of the model's code are not mixed with its
    /// own.
    pub fn cache_files(&self) -> CacheFiles {
        let name = match &self.model {
            Model::BuiltIn => format!("vectors-{}", BUILT_IN.vectors_name()),
            Model::Folder(folder) => format!("vectors-{}", folder.files().vectors_name()),
            Model::WordHashes => "vectors-word-hashes".into(),
        };
        CacheFiles::new(&self.cache, name)
    }

    /// The dimensions of the model's vectors.
    pub fn dimensions(&self) -> Result<usize> {
        let probe = self.worker()?.embed(&["a".to_string()])?;
        Ok(probe.first().map_or(0, |vector| vector.numbers().len()))
    }

    /// An instance of the model for one thread.
    pub fn worker(&self) -> Result<Worker> {
        let load = |files: &ModelFiles| {
            Session::load(files).map(|s| Worker::Model(Box::new(s))).map_err(anyhow::Error::msg)
        };
        match &self.model {
            Model::BuiltIn => load(&BUILT_IN),
            Model::Folder(folder) => load(&folder.files()),
            Model::WordHashes => Ok(Worker::WordHashes),
        }
    }
}

fn embeddable_sources() -> Vec<&'static str> {
    SOURCES.iter().filter(|s| s.shape == Shape::BodyBearing).map(|s| s.key).collect()
}

/// A loaded model.
pub enum Worker {
    Model(Box<Session>),
    WordHashes,
}

impl Worker {
    pub fn embed(&mut self, texts: &[String]) -> Result<Vec<Vector>> {
        match self {
            Worker::Model(session) => {
                let mut vectors = Vec::with_capacity(texts.len());
                for batch in texts.chunks(BATCH) {
                    let embedded = session.embed(batch).map_err(anyhow::Error::msg)?;
                    vectors.extend(embedded.iter().map(|v| Vector::of(v)));
                }
                Ok(vectors)
            }
            Worker::WordHashes => {
                Ok(texts.iter().map(|text| Vector::of(&word_hashes(text))).collect())
            }
        }
    }
}

/// The same as the built-in model.
const DIMENSIONS: usize = 384;

/// The sum of one vector of random signs per word, weighted by length, since longer words are
/// rarer.
fn word_hashes(text: &str) -> Vec<f32> {
    let mut sum = [0i32; DIMENSIONS];
    for word in text.split_whitespace() {
        let mut random = Random(josh::bundle::stable_hash(word.as_bytes()));
        let weight = word.len() as i32;
        for coordinates in sum.chunks_mut(64) {
            let signs = random.next();
            for (at, coordinate) in coordinates.iter_mut().enumerate() {
                *coordinate += weight * (1 - 2 * ((signs >> at) & 1) as i32);
            }
        }
    }
    sum.iter().map(|coordinate| *coordinate as f32).collect()
}

/// `josh` in the user's cache folder, where Josh also unpacks its sample.
pub fn default_cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    base.or_else(home).unwrap_or_else(std::env::temp_dir).join("josh")
}
