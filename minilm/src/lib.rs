//! A forward pass for one model, all-MiniLM-L6-v2, many times as fast as a general runtime. It
//! knows tokens and vectors only, and depends on nothing.
//!
//! Weights have 8 bits and a scale for each output; the inputs of a linear layer have 8 bits and a
//! scale for each token. Texts are embedded one by one: batches would be no faster. Every step is
//! computed in the same order on every machine, without fused operations, so that a text has the
//! same vector, byte for byte, wherever it is embedded.
//!
//! `steps` has the arithmetic, once for all machines; `cpu` has what differs between them, and
//! `x86` the fast paths, with all of the `unsafe`.

mod cpu;
mod onnx;
mod steps;
#[cfg(test)]
mod tests;
mod weights;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use cpu::Path;
use weights::Weights;

/// To be changed whenever a text's vector changes, however little: caches of vectors depend on it.
pub const VERSION: u32 = 1;

/// The shape of the model.
const HIDDEN: usize = 384;
const LAYERS: usize = 6;
const HEADS: usize = 12;
const HEAD: usize = HIDDEN / HEADS;
const FEED_FORWARD: usize = 4 * HIDDEN;
const VOCABULARY: usize = 30_522;
const POSITIONS: usize = 512;

/// What the model reads for a word that it does not know.
const UNKNOWN_TOKEN: u32 = 100;

/// The model, ready to embed on any number of threads.
pub struct MiniLm {
    weights: Weights,
    path: Path,
}

impl MiniLm {
    /// Arranges the weights in an ONNX file for the fastest path that this machine has.
    pub fn load(file: &'static [u8]) -> Result<MiniLm, String> {
        Ok(MiniLm { weights: Weights::read(file)?, path: Path::fastest() })
    }

    /// The same model on another path, to compare them.
    pub fn on_path(self, path: Path) -> MiniLm {
        MiniLm { path, ..self }
    }

    /// The vector, of length 1, of a text, given as its tokens, of which those beyond the model's
    /// 512 positions are ignored. `None` if `is_abandoned` says so meanwhile: it is asked several
    /// times.
    pub fn embed(&self, text: &[u32], is_abandoned: &dyn Fn() -> bool) -> Option<Vec<f32>> {
        let text = &text[..text.len().min(POSITIONS)];
        self.path.forward(&self.weights, text, is_abandoned)
    }
}
