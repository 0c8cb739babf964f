//! What is linked into the executables: licences, banned crates and where they come from, by the
//! rules of `deny.toml`. `cargo deny` checks the same and the advisories, where it is installed and
//! has a network; this needs only what cargo has fetched.

use std::collections::{BTreeSet, HashMap};
use std::process::Command;

use serde_json::Value;

/// The packages that the executables are built from, by id.
fn shipped() -> HashMap<String, Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let packages: HashMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|p| (text(&p["id"]), p)).collect();
    let nodes: HashMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|n| (text(&n["id"]), n)).collect();
    let mut waiting: Vec<String> = list(&metadata["workspace_members"]).iter().map(text).collect();
    let mut found = HashMap::new();
    while let Some(id) = waiting.pop() {
        if found.insert(id.clone(), packages[&id].clone()).is_some() {
            continue;
        }
        // Macros and build scripts run where it is built; only what they make is shipped.
        let is_macro = |target: &Value| list(&target["kind"]).contains(&"proc-macro".into());
        if list(&packages[&id]["targets"]).iter().any(is_macro) {
            continue;
        }
        for dependency in list(&nodes[&id]["deps"]) {
            let kinds = list(&dependency["dep_kinds"]);
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                waiting.push(text(&dependency["pkg"]));
            }
        }
    }
    found
}

/// Whether an SPDX expression can be met with these licences: one of each choice.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    plain.split(" AND ").all(|choice| {
        let mut licences = choice.split(" OR ").map(str::trim);
        licences.any(|licence| allowed.contains(licence.trim_end_matches(" WITH LLVM-exception")))
    })
}

#[test]
fn shipped_crates_follow_the_rules() {
    let rules: toml::Table = include_str!("../../deny.toml").parse().unwrap();
    let strings = |value: &toml::Value| -> BTreeSet<String> {
        value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string()).collect()
    };
    let allowed = strings(&rules["licenses"]["allow"]);
    let banned: BTreeSet<&str> = rules["bans"]["deny"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ban| ban["crate"].as_str().unwrap())
        .collect();
    let registries = strings(&rules["sources"]["allow-registry"]);
    let shipped = shipped();
    assert!(shipped.len() > 200, "{}", shipped.len());
    for package in shipped.values() {
        let name = package["name"].as_str().unwrap();
        assert!(!banned.contains(name), "{name} is banned by deny.toml");
        let Some(source) = package["source"].as_str() else { continue };
        let registry = source.strip_prefix("registry+").unwrap_or_default();
        assert!(registries.contains(registry), "{name} comes from {source}");
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_met(licence, &allowed), "{name} has the licence {licence:?}");
    }
}
