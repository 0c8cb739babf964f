//! The readers under libFuzzer (`tests/fuzz/run`). An input is the name of a file, which begins
//! with its source, a line feed, and the file. Fixtures of the unit tests are what it begins with.

#![no_main]
#![expect(dead_code, reason = "shared with the command, which uses all of it")]

mod encoding;
mod formats;
mod input;
mod mentions;
#[path = "../../tests/fuzz/mutate.rs"]
mod mutate;
mod patterns;
mod reader;
mod record;
mod sources;

use std::path::PathBuf;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

use formats::pieces::PIECES;
use input::Input;
use mutate::Random;
use record::{Record, Sink};

/// Takes what is read and forgets it.
struct Nobody;

impl Sink for Nobody {
    fn record(&mut self, _: Record) {}
    fn reject(&mut self, _: &str, _: &str) {}
}

/// Where the file begins.
fn start(input: &[u8]) -> usize {
    input.iter().position(|byte| *byte == b'\n').map_or(input.len(), |end| end + 1)
}

fuzz_target!(|data: &[u8]| {
    let (name, file) = data.split_at(start(data));
    let name = String::from_utf8_lossy(name);
    let Some((source, name)) = name.trim_end().split_once('/') else { return };
    // A folder that does not exist, for readers that look at the files beside theirs.
    let folder = Input::on_disk(PathBuf::from("/nowhere"), source.to_string());
    let _ = sources::reader(source)(&folder.member(name, Ok(file.to_vec())), &mut Nobody);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random::new(&[seed.into()]);
    let start = start(&data[..size]).min(max_size);
    let file = &mut data[start..];
    if random.one_in(2) {
        start + fuzzer_mutate(file, size - start, max_size - start)
    } else {
        let known = [file[..size - start].to_vec()];
        let mut made = mutate::bytes(&mut random, &known, PIECES);
        made.truncate(max_size - start);
        file[..made.len()].copy_from_slice(&made);
        start + made.len()
    }
});
