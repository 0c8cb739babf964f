//! Fuzzing on stable Rust: seeded mutations of known inputs against everything that reads what strangers send. One file a target.
//!
//! A run is the same every time. A longer or another one:
//!
//! ```sh
//! FUZZ_COUNT=1000000 FUZZ_SEED=7 cargo test --release --workspace --test fuzz ids
//! ```
//!
//! A failure prints the input as a byte string: put it into the target's corpus, where it is tried first from then on. If an
//! input takes the whole process down or never ends, it is in `fuzz-TARGET.last` in the target folder's `tmp`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bundle;
mod cursor;
mod ids;
mod mutate;
mod params;
mod query;
mod rest;
mod rpc;
#[expect(dead_code, reason = "shared with the tests of the contract, which use all of it")]
#[path = "../josh/support.rs"]
mod support;
mod wire;

use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use mutate::Random;

/// Inputs for functions that only read a text.
const MANY: u64 = 20_000;
/// Inputs that cost a file or a request each.
const SOME: u64 = 2_000;

const DEFAULT_SEED: u64 = 119;

/// Far above the slowest on a busy machine: one that takes longer has found something quadratic.
const LONGEST: Duration = Duration::from_secs(10);

/// What is fuzzed, from which inputs.
struct Target<'a> {
    name: &'a str,
    count: u64,
    /// Valid inputs, and those that once failed. Tried as they are before anything else.
    corpus: Vec<Vec<u8>>,
    mutate: Mutate<'a>,
}

/// Makes an input from the corpus.
type Mutate<'a> = &'a dyn Fn(&mut Random, &[Vec<u8>]) -> Vec<u8>;

impl Target<'_> {
    /// Tries the corpus and then `count` mutations of it. Each depends on seed, target and number only, so that any one can be
    /// made again.
    fn run(&self, attempt: impl Fn(&[u8])) {
        let (count, seed) = (asked("FUZZ_COUNT").unwrap_or(self.count), asked("FUZZ_SEED").unwrap_or(DEFAULT_SEED));
        let last = std::fs::File::create(format!("{}/fuzz-{}.last", env!("CARGO_TARGET_TMPDIR"), self.name)).unwrap();
        let mutations = (0..count).map(|number| {
            let mut random = Random::new(&[seed, josh::bundle::stable_hash(self.name.as_bytes()), number]);
            (format!("number {number}"), (self.mutate)(&mut random, &self.corpus))
        });
        let known = self.corpus.iter().enumerate().map(|(number, known)| (format!("corpus {number}"), known.clone()));
        for (which, input) in known.chain(mutations) {
            last.set_len(0).and_then(|()| last.write_all_at(&input, 0)).unwrap();
            let begun = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| attempt(&input)));
            let slow = begun.elapsed() > LONGEST;
            if outcome.is_err() || slow {
                let how = if slow { "took too long" } else { "failed" };
                eprintln!(
                    "\nfuzz target {} {how}: seed {seed}, {which}, input\nb\"{}\"",
                    self.name,
                    input.escape_ascii()
                );
            }
            outcome.unwrap_or_else(|panic| resume_unwind(panic));
            assert!(!slow, "{:?}", begun.elapsed());
        }
    }
}

/// A number from the environment. Not named `JOSH_*`: the binary refuses those that it does not know.
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}")))
}

/// Texts as a corpus.
fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
