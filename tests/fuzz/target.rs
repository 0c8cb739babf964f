//! What is fuzzed, and with which inputs. `main.rs` tries a fixed number of mutations, `guided.rs`
//! those that reach new code.

use std::path::PathBuf;

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
    /// What guided fuzzing has found to be worth keeping: the fewest inputs that reach all code
    /// that was ever reached.
    pub fn kept(&self) -> Vec<Vec<u8>> {
        let folder: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "tests/fuzz/corpus", self.name].iter().collect();
        let mut paths: Vec<PathBuf> = match std::fs::read_dir(folder) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
            Err(_) => Vec::new(),
        };
        paths.sort();
        paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
    }
}

/// Texts as a corpus.
pub fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
