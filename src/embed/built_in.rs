//! The built-in model: its tokenizer and our own forward pass. Loaded once, for all threads.

use std::sync::OnceLock;

use josh_minilm::MiniLm;
use tokenizers::{Tokenizer, TruncationParams};

use super::{BUILT_IN, MAX_TOKENS};

pub struct BuiltIn {
    tokenizer: Tokenizer,
    model: MiniLm,
}

impl BuiltIn {
    /// The model, loaded by the first call, which takes some 40 ms.
    pub fn get() -> Result<&'static BuiltIn, String> {
        static LOADED: OnceLock<Result<BuiltIn, String>> = OnceLock::new();
        LOADED.get_or_init(BuiltIn::load).as_ref().map_err(Clone::clone)
    }

    fn load() -> Result<BuiltIn, String> {
        let context = |e: &dyn std::fmt::Display| format!("the tokenizer can't be loaded: {e}");
        let mut tokenizer = Tokenizer::from_bytes(BUILT_IN.tokenizer).map_err(|e| context(&e))?;
        let truncation = TruncationParams { max_length: MAX_TOKENS, ..Default::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|e| context(&e))?;
        tokenizer.with_padding(None);
        Ok(BuiltIn { tokenizer, model: MiniLm::load(BUILT_IN.model)? })
    }

    /// The vector of a text, or `None` if it was abandoned meanwhile.
    pub fn embed(
        &self,
        text: &str,
        is_abandoned: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<f32>>, String> {
        Ok(self.model.embed(&self.tokens(text)?, is_abandoned))
    }

    /// The tokens of a text as the model reads them: marked at start and end, and truncated.
    pub fn tokens(&self, text: &str) -> Result<Vec<u32>, String> {
        let encoded = self.tokenizer.encode_fast(text, true);
        let encoded = encoded.map_err(|e| format!("a text can't be split into tokens: {e}"))?;
        Ok(encoded.get_ids().to_vec())
    }

    /// The number of tokens of a whole text, including the two that mark its start and end.
    pub fn count_tokens(&self, text: &str) -> Result<usize, String> {
        let mut tokenizer = self.tokenizer.clone();
        tokenizer.with_truncation(None).map_err(|e| e.to_string())?;
        tokenizer.encode_fast(text, true).map(|encoded| encoded.len()).map_err(|e| e.to_string())
    }
}
