//! `benches/embed.py` runs this beside onnxruntime: how long the model takes to load and to embed
//! texts of some lengths, on each path that this machine has. One line for each: path, tokens,
//! milliseconds, the least of some runs.

use std::time::Instant;

use josh_minilm::{MiniLm, Path};

static FILE: &[u8] = include_bytes!("../assets/model/model.onnx");

/// The least time of some runs, in milliseconds.
fn least(runs: usize, mut work: impl FnMut()) -> f64 {
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::MAX, f64::min)
}

fn main() {
    let load = || MiniLm::load(FILE).expect("the built-in model");
    println!("load 0 {:.3}", least(3, || drop(load())));
    let mut model = load();
    let tokens: Vec<u32> = (0..512).map(|at| 1000 + at * 7919 % 28_000).collect();
    for path in Path::available() {
        model = model.on_path(path);
        for length in [11, 32, 128, 256, 512] {
            let runs = if path.name() == "portable" { 2 } else { 15 };
            let time = least(runs, || {
                model.embed(&tokens[..length], &|| false);
            });
            println!("{} {length} {time:.3}", path.name());
        }
    }
}
