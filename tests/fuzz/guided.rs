//! The targets of `main.rs` under libFuzzer, which keeps the inputs that reach new code and mutates
//! those. `tests/fuzz/run` builds and runs it.

#![no_main]
#![expect(clippy::unwrap_used, reason = "a failure is a panic")]
#![expect(dead_code, reason = "shared with the tests, which use all of it")]

mod binary;
mod bundle;
mod citations;
mod cursor;
mod ids;
mod in_process;
mod manifest;
mod mutate;
mod params;
mod query;
mod requests;
mod sections;
mod target;

use std::path::PathBuf;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use mutate::Random;
use target::Target;

type Attempt = fn(&[u8]);

fn targets() -> Vec<(Target<'static>, Attempt)> {
    vec![
        (bundle::target(), bundle::attempt),
        (manifest::target(), manifest::attempt),
        (sections::records(), sections::read_records),
        (sections::links(), sections::read_links),
        (sections::names(), sections::read_names),
        (sections::columns(), sections::read_columns),
        (sections::vectors(), sections::read_vectors),
        (ids::target(), ids::attempt),
        (citations::target(), citations::attempt),
        (query::target(), query::attempt),
        (cursor::target(), cursor::attempt),
        (params::target(), params::attempt),
        (requests::paths(), in_process::get),
        (requests::messages(), in_process::post),
    ]
}

thread_local! {
    /// libFuzzer calls everything on one thread.
    static CHOSEN: (Target<'static>, Attempt) = {
        let name = std::env::var("FUZZ_TARGET").unwrap();
        let chosen = targets().into_iter().find(|(target, _)| target.name == name);
        chosen.unwrap_or_else(|| panic!("there is no target {name}"))
    };
}

fn sample() -> PathBuf {
    josh::bundle::sample_path().unwrap()
}

/// Writes what the tests begin with, and what was kept, to the folder where libFuzzer looks for
/// inputs. Fails here without a target: later libFuzzer would take that for a crash by the empty
/// input, and write one to wherever it was called.
fn write_seeds() {
    CHOSEN.with(|_| ());
    let Some(folder) = std::env::var_os("FUZZ_SEEDS").map(PathBuf::from) else { return };
    CHOSEN.with(|(target, _)| {
        for (number, input) in target.corpus.iter().chain(&target.kept()).enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), input).unwrap();
        }
    });
}

fuzz_target!(init: write_seeds(), |data: &[u8]| CHOSEN.with(|(_, attempt)| attempt(data)));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random::new(&[seed.into()]);
    if random.one_in(2) {
        fuzzer_mutate(data, size, max_size)
    } else {
        let known = [data[..size].to_vec()];
        let mut made = CHOSEN.with(|(target, _)| (target.mutate)(&mut random, &known));
        made.truncate(max_size);
        data[..made.len()].copy_from_slice(&made);
        made.len()
    }
});
