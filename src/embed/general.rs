//! Any model in ONNX, with fastembed. It is also the reference for our own forward pass.
//!
//! fastembed runs the model on tract, which is pure Rust, instead of the ONNX runtime.

use fastembed::{
    InitOptionsUserDefined, Pooling, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};
use ort::sys::{OrtApi, OrtSessionOptions, OrtStatusPtr};

use super::{MAX_TOKENS, ModelFiles};

/// A loaded model that embeds one batch of texts at a time.
pub struct GeneralModel(Box<TextEmbedding>);

impl GeneralModel {
    pub fn load(files: &ModelFiles) -> Result<GeneralModel, String> {
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
        let loaded = loaded.map(|model| GeneralModel(Box::new(model)));
        loaded.map_err(|e| format!("the embedding model can't be loaded: {e:#}"))
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

    /// The tokens of a text as the model reads them.
    #[cfg(test)]
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.0.tokenizer.encode(text, true).unwrap().get_ids().to_vec()
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
