//! Fuzzing on stable Rust: seeded mutations of known inputs for everything that parses untrusted
//! data. One file per target.
//!
//! Every run uses the same inputs. For more, or for others:
//!
//! ```sh
//! FUZZ_COUNT=1000000 FUZZ_SEED=7 cargo test --release --workspace --test fuzz ids
//! ```
//!
//! `tests/fuzz/run` looks for inputs that reach new code, with libFuzzer (`guided.rs`). What it
//! kept is in `corpus/`.
//!
//! A failure prints the input as a byte string. Add it to the target's corpus, which is tried
//! first. If an input kills the process or never returns, it is in `tmp/fuzz-TARGET.last` of the
//! Cargo target folder.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod binary;
mod bundle;
mod citations;
mod client_files;
mod cursor;
mod ids;
mod manifest;
mod mutate;
mod params;
mod query;
mod requests;
mod rest;
mod rpc;
mod sections;
#[expect(dead_code, reason = "shared with the tests of the contract, which use all of it")]
#[path = "../josh/support.rs"]
mod support;
mod target;
mod wire;

use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use mutate::Random;
use support::sample;
use target::{Target, texts};

const DEFAULT_SEED: u64 = 119;

/// Far more than the slowest input takes on a busy machine. One that takes longer has probably
/// found something quadratic.
const MAX_TIME: Duration = Duration::from_secs(10);

impl Target<'_> {
    /// Tries the corpus and then `count` mutations of it. A mutation depends only on the seed, the
    /// target and its number, so that each can be reproduced.
    fn run(&self, attempt: impl Fn(&[u8])) {
        let corpus = [self.corpus.clone(), self.kept()].concat();
        let count = from_environment("FUZZ_COUNT").unwrap_or(self.count);
        let seed = from_environment("FUZZ_SEED").unwrap_or(DEFAULT_SEED);
        let last = std::fs::File::create(format!(
            "{}/fuzz-{}.last",
            env!("CARGO_TARGET_TMPDIR"),
            self.name
        ))
        .unwrap();
        let mutations = (0..count).map(|number| {
            let mut random =
                Random::new(&[seed, josh::bundle::stable_hash(self.name.as_bytes()), number]);
            (format!("number {number}"), (self.mutate)(&mut random, &corpus))
        });
        let known = corpus
            .iter()
            .enumerate()
            .map(|(number, known)| (format!("corpus {number}"), known.clone()));
        for (which, input) in known.chain(mutations) {
            last.set_len(0).and_then(|()| last.write_all_at(&input, 0)).unwrap();
            let begun = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| attempt(&input)));
            let slow = begun.elapsed() > MAX_TIME;
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

/// A number from an environment variable. Not named `JOSH_*`, because the binary refuses variables
/// with that prefix that it does not know.
fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}")))
}

#[test]
fn the_same_seed_gives_the_same_inputs_and_another_seed_others() {
    let corpus = texts(&["H.R. 1 (119th Congress)", "40 CFR 122.26"]);
    let make = |seed: u64| {
        (0..200)
            .map(|n| mutate::bytes(&mut Random::new(&[seed, n]), &corpus, &["x"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(make(1), make(1));
    assert_ne!(make(1), make(2));
    let different: std::collections::HashSet<_> = make(1).into_iter().collect();
    assert!(different.len() > 150, "{}", different.len());
}
