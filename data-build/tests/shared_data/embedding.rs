//! The built-in model's own forward pass beside fastembed, over a thousand abstracts of SciFact.

use std::sync::Mutex;

use josh::embed::general::GeneralModel;
use josh::embed::{BUILT_IN, Session};
use serde_json::Value;

const PASSAGES: usize = 1_000;

/// About as long as Josh's passages.
const WORDS: usize = 80;

fn passages() -> Vec<String> {
    let path = super::shared().expect("../shared").join("data/retrieval/scifact/corpus.jsonl");
    let corpus = std::fs::read_to_string(path).expect("SciFact");
    let passage = |line: &str| {
        let document: Value = serde_json::from_str(line).expect("JSON");
        let text = document["text"].as_str().expect("a text");
        text.split_whitespace().take(WORDS).collect::<Vec<_>>().join(" ")
    };
    corpus.lines().take(PASSAGES).map(passage).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Given a thousand passages, when both embed them, then the vectors are alike.
pub fn shared_data_vectors_are_those_of_fastembed() {
    let passages = passages();
    let cosines = Mutex::new(Vec::new());
    let share =
        passages.len().div_ceil(std::thread::available_parallelism().map_or(1, |n| n.get()));
    std::thread::scope(|scope| {
        for passages in passages.chunks(share) {
            let cosines = &cosines;
            scope.spawn(move || {
                let mut reference = GeneralModel::load(&BUILT_IN).expect("the model");
                let own = Session::load(&BUILT_IN).expect("the model").embed(passages);
                for (text, vector) in passages.iter().zip(own.expect("vectors")) {
                    let expected = reference.embed(&[text]).expect("a vector").remove(0);
                    cosines.lock().expect("no panic").push(cosine(&vector, &expected));
                }
            });
        }
    });
    let cosines = cosines.into_inner().expect("no panic");
    assert_eq!(cosines.len(), PASSAGES);
    let mean = cosines.iter().sum::<f32>() / PASSAGES as f32;
    let least = cosines.iter().copied().fold(f32::MAX, f32::min);
    println!("cosine to fastembed over {PASSAGES} passages: mean {mean:.5}, least {least:.5}");
    assert!(mean >= 0.998 && least >= 0.995, "mean {mean}, least {least}");
}
