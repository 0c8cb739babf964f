//! What is fuzzed, and with which inputs. `main.rs` tries a fixed number of mutations, `guided.rs`
//! those that reach new code.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::mutate::Random;

/// The number of inputs for functions that only parse text.
pub const MANY: u64 = 20_000;
/// The number of inputs where each needs a file or a request.
pub const SOME: u64 = 2_000;

pub struct Target<'a> {
    pub name: &'a str,
    pub count: u64,
    /// Valid inputs, and inputs that failed once. They are tried unchanged before any mutation.
    pub corpus: Vec<Vec<u8>>,
    pub mutate: Mutate<'a>,
}

/// Makes a new input from the corpus.
type Mutate<'a> = &'a dyn Fn(&mut Random, &[Vec<u8>]) -> Vec<u8>;

impl Target<'_> {
    /// What guided fuzzing has found to be worth keeping: short inputs that reach as much code as
    /// it ever reached. One a line, in Base64.
    pub fn kept(&self) -> Vec<Vec<u8>> {
        let path = format!("{}/tests/fuzz/corpus/{}", env!("CARGO_MANIFEST_DIR"), self.name);
        let lines = std::fs::read_to_string(path).unwrap_or_default();
        lines.lines().map(|line| STANDARD.decode(line).unwrap()).collect()
    }
}

/// Texts as a corpus.
pub fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
