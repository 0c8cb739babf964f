//! One feature set for every command: what `cargo run` compiled, `cargo test --workspace` uses
//! again.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Crates with the sets of features that a command builds them with.
fn features(arguments: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let out = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p}|{f}"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(out.stdout).unwrap().lines() {
        if let Some((package, features)) = line.trim_end_matches(" (*)").split_once('|') {
            let package = package.split(" (").next().unwrap().to_string();
            found.entry(package).or_default().insert(features.to_string());
        }
    }
    found
}

/// Given the trees of the README's two commands, when a crate is in both, then the second builds
/// it with a set of features that the first has built: otherwise it, and all that use it, compile
/// twice. The remedy is a line in workspace-hack/Cargo.toml.
#[test]
fn tests_turn_on_no_feature_that_the_binary_lacks() {
    let binary = features(&["--package", "josh", "--edges", "normal,build"]);
    let tests = features(&["--workspace", "--edges", "normal,build,dev"]);
    assert!(binary.len() > 300 && tests.len() > binary.len());
    for (package, sets) in &binary {
        for features in sets {
            let is_shared = tests.get(package).is_some_and(|tested| tested.contains(features));
            assert!(
                is_shared,
                "{package}: {features:?} in the binary, {:?} in tests",
                tests.get(package)
            );
        }
    }
}
