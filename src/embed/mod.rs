//! Embeds text: turns it into a vector, with the model in the binary or one from a bundle. Nothing
//! is downloaded, and nothing is known of passages or search.
//!
//! The built-in model has a forward pass of its own (the crate `josh-minilm`); any other one runs
//! on fastembed (`general`). Vectors of the two are alike (a cosine of 0.999), so that questions
//! embedded by one are answered from vectors made by the other: the model's hash, which a bundle
//! names, is the same.

mod built_in;
pub mod general;
mod lazy;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};

use built_in::BuiltIn;
use general::GeneralModel;
pub use lazy::{LazyModel, LoadedModel};

/// The model reads this many tokens of a text and ignores the rest.
pub const MAX_TOKENS: usize = 256;

/// Queries whose vectors are cached, because people turn pages and agents repeat queries. About 500
/// bytes each.
const CACHED_QUERIES: usize = 4096;

/// The content of a model's files.
#[derive(Clone)]
pub struct ModelFiles<'a> {
    pub name: &'a str,
    pub model: &'a [u8],
    pub tokenizer: &'a [u8],
    pub config: &'a [u8],
    pub special_tokens: &'a [u8],
    pub tokenizer_config: &'a [u8],
}

/// The names of these files in a model's folder, in the order of [`ModelFiles`].
pub const FILE_NAMES: [&str; 5] = [
    "model.onnx",
    "tokenizer.json",
    "config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
];

/// The model in the binary: all-MiniLM-L6-v2, 8-bit weights (`assets/model/NOTICE`).
pub static BUILT_IN: ModelFiles = ModelFiles {
    name: "all-MiniLM-L6-v2",
    model: include_bytes!("../../assets/model/model.onnx"),
    tokenizer: include_bytes!("../../assets/model/tokenizer.json"),
    config: include_bytes!("../../assets/model/config.json"),
    special_tokens: include_bytes!("../../assets/model/special_tokens_map.json"),
    tokenizer_config: include_bytes!("../../assets/model/tokenizer_config.json"),
};

impl<'a> ModelFiles<'a> {
    /// The files in the order of [`FILE_NAMES`].
    pub fn new(name: &'a str, files: [&'a [u8]; 5]) -> ModelFiles<'a> {
        let [model, tokenizer, config, special_tokens, tokenizer_config] = files;
        ModelFiles { name, model, tokenizer, config, special_tokens, tokenizer_config }
    }

    /// Whether these are the files of the built-in model.
    fn are_built_in(&self) -> bool {
        // Comparing 23 MB with themselves would take longer than reading the weights.
        let is_same = |a: &[u8], b: &[u8]| std::ptr::eq(a, b) || a == b;
        self.all().into_iter().zip(BUILT_IN.all()).all(|(a, b)| is_same(a, b))
    }

    fn all(&self) -> [&'a [u8]; 5] {
        [self.model, self.tokenizer, self.config, self.special_tokens, self.tokenizer_config]
    }

    /// A name for the vectors of this model, for caches: unlike those in bundles, which need only
    /// be alike, vectors with the same name are the same, byte for byte.
    pub fn vectors_name(&self) -> String {
        let hash = &self.sha256()[..16];
        match self.are_built_in() {
            true => format!("{hash}-v{}", josh_minilm::VERSION),
            false => hash.to_string(),
        }
    }

    /// A hash of the model's files.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        for file in self.all() {
            hash.update((file.len() as u64).to_le_bytes());
            hash.update(file);
        }
        hex::encode(hash.finalize())
    }
}

/// The built-in model's hash, computed once.
pub fn built_in_sha256() -> &'static str {
    static HASH: LazyLock<String> = LazyLock::new(|| BUILT_IN.sha256());
    &HASH
}

/// The built-in model, loaded on first use and shared by all bundles.
pub fn built_in() -> Result<Arc<Model>, String> {
    static MODEL: OnceLock<Result<Arc<Model>, String>> = OnceLock::new();
    MODEL.get_or_init(|| Model::load(&BUILT_IN).map(Arc::new)).clone()
}

/// The number of tokens of a whole text, for the built-in model, including the two that mark its
/// start and end.
pub fn count_tokens(text: &str) -> Result<usize, String> {
    BuiltIn::get()?.count_tokens(text)
}

/// A loaded model for one thread, to embed many texts.
pub struct Session(Texts);

enum Texts {
    BuiltIn(&'static BuiltIn),
    General(GeneralModel),
}

impl Session {
    pub fn load(files: &ModelFiles) -> Result<Session, String> {
        match files.are_built_in() {
            true => BuiltIn::get().map(Texts::BuiltIn),
            false => GeneralModel::load(files).map(Texts::General),
        }
        .map(Session)
    }

    /// The vectors of some texts. They should have about the same length: fastembed pads shorter
    /// ones to the longest.
    pub fn embed<S: AsRef<str> + Send + Sync>(
        &mut self,
        texts: &[S],
    ) -> Result<Vec<Vec<f32>>, String> {
        match &mut self.0 {
            Texts::BuiltIn(model) => {
                let embed = |text: &S| {
                    let vector = model.embed(text.as_ref(), &|| false)?;
                    vector.ok_or_else(|| "nobody abandoned this text".into())
                };
                texts.iter().map(embed).collect()
            }
            Texts::General(model) => model.embed(texts),
        }
    }
}

/// A model for queries, with a cache of the vectors of recent ones.
pub struct Model {
    runtime: Runtime,
    cache: Cache<String, Arc<Vec<f32>>>,
}

enum Runtime {
    BuiltIn(&'static BuiltIn),
    /// It handles one query at a time.
    General(Mutex<GeneralModel>),
}

impl Model {
    pub fn load(files: &ModelFiles) -> Result<Model, String> {
        let runtime = match files.are_built_in() {
            true => Runtime::BuiltIn(BuiltIn::get()?),
            false => Runtime::General(Mutex::new(GeneralModel::load(files)?)),
        };
        Ok(Model { runtime, cache: Cache::new(CACHED_QUERIES) })
    }

    /// Hits and misses of the cache.
    pub fn cache_lookups(&self) -> (u64, u64) {
        (self.cache.hits(), self.cache.misses())
    }

    /// The vector of a query. Blocks for about 1 ms, or 10 ms with fastembed, unless it is cached;
    /// an abandoned query ends with an error.
    pub fn embed_query(
        &self,
        text: &str,
        is_abandoned: &dyn Fn() -> bool,
    ) -> Result<Arc<Vec<f32>>, String> {
        if let Some(known) = self.cache.get(text) {
            return Ok(known);
        }
        let vector = match &self.runtime {
            Runtime::BuiltIn(model) => model.embed(text, is_abandoned)?,
            Runtime::General(model) => {
                // A poisoned model is usable: it keeps no state of the text that made it panic.
                let mut model = model.lock().unwrap_or_else(PoisonError::into_inner);
                if is_abandoned() { None } else { model.embed(&[text])?.pop() }
            }
        };
        let vector = vector.map(Arc::new).ok_or("the query was abandoned")?;
        self.cache.insert(text.to_string(), vector.clone());
        Ok(vector)
    }
}
