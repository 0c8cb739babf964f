//! Who makes the vectors: the built-in model, one from a folder, or, for bundles that measure speed, hashes of words.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use josh::bundle::ModelFacts;
use josh::bundle::vectors::Vector;
use josh::catalog::{SOURCES, Shape};
use josh::embed::{BUILT_IN, FILE_NAMES, ModelFiles, Session};

/// Texts that go through the model at once. More gain nothing with tract, and the shorter wait for the longest.
const BATCH: usize = 4;

/// What to embed, and how.
pub struct Embedding {
    maker: Maker,
    /// Sources whose passages get vectors.
    pub sources: Vec<&'static str>,
    /// Folder that keeps vectors between builds.
    pub cache: PathBuf,
}

enum Maker {
    BuiltIn,
    Folder(ModelFolder),
    /// Words hashed into space: as quick as it is meaningless, but near texts are near.
    WordHashes,
}

/// A model's files, read whole.
struct ModelFolder {
    path: PathBuf,
    name: String,
    files: [Vec<u8>; 5],
}

impl ModelFolder {
    fn read(path: &Path) -> Result<ModelFolder> {
        let read = |name: &str| {
            std::fs::read(path.join(name)).with_context(|| format!("--model: no {name} in {}", path.display()))
        };
        let [a, b, c, d, e] = FILE_NAMES.map(read);
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_else(|| "model".into());
        Ok(ModelFolder { path: path.to_path_buf(), name, files: [a?, b?, c?, d?, e?] })
    }

    fn files(&self) -> ModelFiles<'_> {
        ModelFiles::new(&self.name, self.files.each_ref().map(Vec::as_slice))
    }
}

impl Embedding {
    /// From what was asked for: `all`, `none` or sources, and the folder of a model of one's own. `None` for no vectors.
    pub fn choose(embed: &str, model: Option<&Path>, cache: Option<&Path>) -> Result<Option<Embedding>> {
        let can: Vec<&'static str> = SOURCES.iter().filter(|s| s.shape == Shape::BodyBearing).map(|s| s.key).collect();
        let sources = match embed {
            "none" => return Ok(None),
            "all" => can,
            list => {
                let find = |key: &str| {
                    let found = can.iter().copied().find(|known| *known == key.trim());
                    found.with_context(|| format!("--embed takes all, none or some of {}; not {key:?}", can.join(", ")))
                };
                list.split(',').map(find).collect::<Result<_>>()?
            }
        };
        let maker = match model {
            Some(folder) => Maker::Folder(ModelFolder::read(folder)?),
            None => Maker::BuiltIn,
        };
        let cache = cache.map(Path::to_path_buf).unwrap_or_else(default_cache);
        Ok(Some(Embedding { maker, sources, cache }))
    }

    /// Vectors for a bundle that measures speed, not quality.
    pub fn word_hashes(cache: &Path) -> Embedding {
        let sources = SOURCES.iter().filter(|s| s.shape == Shape::BodyBearing).map(|s| s.key).collect();
        Embedding { maker: Maker::WordHashes, sources, cache: cache.to_path_buf() }
    }

    /// What the manifest says of the model. Word hashes pass for the built-in model, so that questions are embedded as usual.
    pub fn facts(&self) -> ModelFacts {
        let files = match &self.maker {
            Maker::Folder(folder) => folder.files(),
            Maker::BuiltIn | Maker::WordHashes => BUILT_IN.clone(),
        };
        ModelFacts { name: files.name.to_string(), sha256: files.sha256() }
    }

    /// The folder whose files the bundle must hold: those of a model that is not in the binary.
    pub fn model_folder(&self) -> Option<&Path> {
        match &self.maker {
            Maker::Folder(folder) if folder.files().sha256() != BUILT_IN.sha256() => Some(&folder.path),
            _ => None,
        }
    }

    /// A name for the file of vectors that this maker gives.
    pub fn cache_name(&self) -> String {
        match &self.maker {
            Maker::WordHashes => "vectors-word-hashes".into(),
            _ => format!("vectors-{}", &self.facts().sha256[..16]),
        }
    }

    /// One that embeds, for one thread.
    pub fn worker(&self) -> Result<Worker> {
        let load =
            |files: &ModelFiles| Session::load(files).map(|s| Worker::Model(Box::new(s))).map_err(anyhow::Error::msg);
        match &self.maker {
            Maker::BuiltIn => load(&BUILT_IN),
            Maker::Folder(folder) => load(&folder.files()),
            Maker::WordHashes => Ok(Worker::WordHashes),
        }
    }
}

/// Makes vectors, one call at a time.
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
                    let made = session.embed(batch).map_err(anyhow::Error::msg)?;
                    vectors.extend(made.iter().map(|v| Vector::of(v)));
                }
                Ok(vectors)
            }
            Worker::WordHashes => Ok(texts.iter().map(|text| Vector::of(&word_hashes(text))).collect()),
        }
    }
}

/// As many as the built-in model has.
const DIMENSIONS: usize = 384;

/// Every word points somewhere at random; a text points where its words do, the rarer (longer) ones more.
pub fn word_hashes(text: &str) -> Vec<f32> {
    let mut sum = vec![0.0f32; DIMENSIONS];
    for word in text.split_whitespace() {
        let mut state = josh::bundle::stable_hash(word.as_bytes()) | 1;
        let weight = word.len() as f32;
        for place in &mut sum {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *place += weight * ((state >> 40) as f32 / (1u64 << 23) as f32 - 1.0);
        }
    }
    sum
}

/// The user's cache folder, like the unpacked sample.
pub fn default_cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    base.or_else(home).unwrap_or_else(std::env::temp_dir).join("josh")
}
