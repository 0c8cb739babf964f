//! Embeds text: turns it into a vector, with the model in the binary or one from a bundle. Nothing
//! is downloaded, and nothing is known of passages or search.
//!
//! fastembed runs the model, on tract, which is pure Rust, instead of the ONNX runtime. A session
//! handles one call at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use fastembed::{
    InitOptionsUserDefined, Pooling, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};
use ort::sys::{OrtApi, OrtSessionOptions, OrtStatusPtr};
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};

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
    model: include_bytes!("../assets/model/model.onnx"),
    tokenizer: include_bytes!("../assets/model/tokenizer.json"),
    config: include_bytes!("../assets/model/config.json"),
    special_tokens: include_bytes!("../assets/model/special_tokens_map.json"),
    tokenizer_config: include_bytes!("../assets/model/tokenizer_config.json"),
};

impl<'a> ModelFiles<'a> {
    /// The files in the order of [`FILE_NAMES`].
    pub fn new(name: &'a str, files: [&'a [u8]; 5]) -> ModelFiles<'a> {
        let [model, tokenizer, config, special_tokens, tokenizer_config] = files;
        ModelFiles { name, model, tokenizer, config, special_tokens, tokenizer_config }
    }

    /// A hash of everything that affects the vectors.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        for file in
            [self.model, self.tokenizer, self.config, self.special_tokens, self.tokenizer_config]
        {
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

/// A loaded model that embeds one batch of texts at a time.
pub struct Session(TextEmbedding);

impl Session {
    pub fn load(files: &ModelFiles) -> Result<Session, String> {
        use_tract();
        let tokenizer = TokenizerFiles {
            tokenizer_file: files.tokenizer.to_vec(),
            config_file: files.config.to_vec(),
            special_tokens_map_file: files.special_tokens.to_vec(),
            tokenizer_config_file: files.tokenizer_config.to_vec(),
        };
        let model = UserDefinedEmbeddingModel::new(files.model.to_vec(), tokenizer)
            .with_pooling(Pooling::Mean);
        let options = InitOptionsUserDefined::new().with_max_length(MAX_TOKENS);
        let loaded = TextEmbedding::try_new_from_user_defined(model, options);
        loaded.map(Session).map_err(|e| format!("the embedding model can't be loaded: {e:#}"))
    }

    /// The vectors of some texts. They should have about the same length: shorter ones are padded
    /// to the longest.
    pub fn embed<S: AsRef<str> + Send + Sync>(
        &mut self,
        texts: &[S],
    ) -> Result<Vec<Vec<f32>>, String> {
        self.0
            .embed(texts, Some(texts.len().max(1)))
            .map_err(|e| format!("a text can't be embedded: {e:#}"))
    }

    /// The number of tokens of a text, including the two that mark its start and end.
    pub fn count_tokens(&self, text: &str) -> Result<usize, String> {
        let mut tokenizer = self.0.tokenizer.clone();
        tokenizer.with_truncation(None).map_err(|e| e.to_string())?;
        tokenizer.encode(text, true).map(|encoding| encoding.len()).map_err(|e| e.to_string())
    }
}

/// A model for queries: one session and a cache of the vectors of recent queries.
pub struct Model {
    session: Mutex<Session>,
    cache: Cache<String, Arc<Vec<f32>>>,
}

impl Model {
    pub fn load(files: &ModelFiles) -> Result<Model, String> {
        Ok(Model { session: Mutex::new(Session::load(files)?), cache: Cache::new(CACHED_QUERIES) })
    }

    /// Hits and misses of the cache.
    pub fn cache_lookups(&self) -> (u64, u64) {
        (self.cache.hits(), self.cache.misses())
    }

    /// The vector of a query. Blocks for about 10 ms unless it is cached; a query that is
    /// abandoned by the time the session is free is not embedded.
    pub fn embed_query(
        &self,
        text: &str,
        is_abandoned: &dyn Fn() -> bool,
    ) -> Result<Arc<Vec<f32>>, String> {
        if let Some(known) = self.cache.get(text) {
            return Ok(known);
        }
        // A poisoned session is usable: it keeps no state of the text that made it panic.
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if is_abandoned() {
            return Err("the query was abandoned".into());
        }
        let vector =
            session.embed(&[text])?.pop().map(Arc::new).ok_or("the model returned no vector")?;
        drop(session);
        self.cache.insert(text.to_string(), vector.clone());
        Ok(vector)
    }
}

/// How often a caller that waits for a model looks whether it is still wanted.
const LOADING_POLL: Duration = Duration::from_millis(5);

/// A model that the first query loads, in a thread of its own. Loading takes most of a second and
/// can't be interrupted, so a caller waits for it only as long as somebody waits for the caller.
#[derive(Default)]
pub struct LazyModel {
    begun: OnceLock<()>,
    loaded: Arc<OnceLock<LoadedModel>>,
}

pub type LoadedModel = Result<Arc<Model>, String>;

impl LazyModel {
    /// The model, if it has been loaded.
    pub fn get(&self) -> Option<&LoadedModel> {
        self.loaded.get()
    }

    /// Loads the model, or waits until it is loaded. None if the caller was abandoned before.
    pub fn wait(
        &self,
        load: impl FnOnce() -> LoadedModel + Send + 'static,
        is_abandoned: &dyn Fn() -> bool,
    ) -> Option<&LoadedModel> {
        self.begun.get_or_init(|| {
            let loaded = self.loaded.clone();
            let load = move || {
                // Without a result after a panic, everybody would wait for ever.
                let result = catch_unwind(AssertUnwindSafe(load));
                let _ = loaded.set(result.unwrap_or_else(|_| Err("loading it panicked".into())));
            };
            if let Err(error) = thread::Builder::new().name("model".into()).spawn(load) {
                let _ = self.loaded.set(Err(format!("no thread to load it: {error}")));
            }
        });
        loop {
            if let Some(loaded) = self.loaded.get() {
                return Some(loaded);
            }
            if is_abandoned() {
                return None;
            }
            thread::sleep(LOADING_POLL);
        }
    }
}

/// Uses tract instead of the ONNX runtime. It lacks one function, which only sets the number of
/// threads.
fn use_tract() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        ort::set_api(OrtApi { SetIntraOpNumThreads: ignore_threads, ..ort_tract::api() });
    });
}

unsafe extern "system" fn ignore_threads(_: *mut OrtSessionOptions, _: i32) -> OrtStatusPtr {
    OrtStatusPtr::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    #[test]
    fn texts_of_similar_meaning_have_similar_vectors() {
        let model = built_in().unwrap();
        let vector = |text: &str| model.embed_query(text, &|| false).unwrap();
        let person = vector("That is a happy person");
        assert_eq!(person.len(), 384);
        let (near, far) = (vector("That is a very happy person"), vector("Today is a sunny day"));
        assert!((cosine(&person, &near) - 0.942).abs() < 0.01, "{}", cosine(&person, &near));
        assert!((cosine(&person, &far) - 0.260).abs() < 0.02, "{}", cosine(&person, &far));
        assert!(
            Arc::ptr_eq(&person, &vector("That is a happy person")),
            "a repeated query comes from the cache"
        );
    }

    #[test]
    fn nobody_waits_for_a_model_longer_than_they_want_to() {
        let model = LazyModel::default();
        let (finish, finished) = std::sync::mpsc::channel::<()>();
        let load = move || {
            let _ = finished.recv();
            Err("a load that takes its time".to_string())
        };
        assert!(model.wait(load, &|| true).is_none(), "an abandoned caller leaves");
        finish.send(()).unwrap();
        let unused = || unreachable!("a model is loaded once");
        assert!(model.wait(unused, &|| false).is_some_and(Result::is_err));
        let panicking = LazyModel::default();
        let panic = || panic!("a damaged model");
        assert!(panicking.wait(panic, &|| false).is_some_and(Result::is_err));
    }

    #[test]
    fn any_text_has_a_vector() {
        let model = built_in().unwrap();
        for text in ["", " ", "\u{0}", "😀", &"word ".repeat(5000), &"x".repeat(50_000)] {
            assert_eq!(model.embed_query(text, &|| false).unwrap().len(), 384);
        }
    }
}
