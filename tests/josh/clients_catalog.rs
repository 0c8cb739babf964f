//! The data file about clients: a test for every rule that its facts must keep.

use std::collections::BTreeSet;

use josh::client_config::{Catalog, Client, ClientKind, FactGroup, Format, catalog};
use serde_json::Value;

const DATA: &str = include_str!("../../assets/clients.toml");
const SCHEMA: &str = include_str!("../../assets/clients.schema.json");

fn each(check: impl Fn(&Client)) {
    catalog().clients.iter().for_each(check);
}

/// The clients that the contract names are there, each once, under IDs that fit everywhere.
#[test]
fn the_clients_of_the_contract_are_there() {
    let ids: Vec<&str> = catalog().ids().collect();
    for id in [
        "claude-code",
        "claude-desktop",
        "claude-ai",
        "chatgpt",
        "cursor",
        "vscode",
        "copilot-cli",
        "visual-studio",
        "codex",
        "devin",
        "windsurf",
        "antigravity",
        "gemini-cli",
        "zed",
        "cline",
        "opencode",
        "kilo",
        "goose",
        "kiro",
        "jetbrains-ai",
        "junie",
        "lm-studio",
        "warp",
        "librechat",
        "open-webui",
    ] {
        assert!(ids.contains(&id), "{id} is missing");
    }
    assert_eq!(BTreeSet::from_iter(&ids).len(), ids.len(), "an ID is there twice");
    each(|client| {
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        assert!(client.id.bytes().all(is_plain), "{}", client.id);
        assert!(!client.name.is_empty());
    });
}

/// The file is valid by its schema, and the schema is the one that the types have. With
/// UPDATE_DOCS=1 it is written instead.
#[test]
fn the_generated_schema_of_the_clients_is_up_to_date() {
    let schema = schemars::schema_for!(Catalog);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/clients.schema.json");
        std::fs::write(path, &text).unwrap();
        return;
    }
    assert!(SCHEMA == text, "UPDATE_DOCS=1 cargo test --release --test josh generated");
    let document: Value =
        serde_json::to_value(toml::from_str::<toml::Table>(DATA).unwrap()).unwrap();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let typo = DATA.replacen("servers = \"mcpServers\"", "server = \"mcpServers\"", 1);
    assert!(Catalog::parse(&typo).is_err(), "an unknown member is an error");
}

/// Every group of facts that is used names a source; every source has a date and is used.
#[test]
fn every_fact_has_a_source_and_a_date() {
    let mut used = BTreeSet::new();
    each(|client| {
        let id = &client.id;
        let shapes = [client.http.as_ref(), client.stdio.as_ref()];
        let shapes: Vec<_> = shapes.into_iter().flatten().collect();
        for (group, is_used) in [
            (FactGroup::Files, client.kind == ClientKind::File),
            (FactGroup::Shape, shapes.iter().any(|shape| shape.entry.is_some())),
            (FactGroup::Secret, client.secret.is_some()),
            (FactGroup::Command, shapes.iter().any(|shape| shape.command.is_some())),
            (FactGroup::Deeplink, shapes.iter().any(|shape| shape.deeplink.is_some())),
            (FactGroup::Steps, !client.steps.is_empty()),
        ] {
            let has_source = client.facts.get(&group).is_some_and(|keys| !keys.is_empty());
            assert!(has_source || !is_used, "{id}: {group:?} without a source");
        }
        for group in client.uncertain.keys() {
            assert!(client.facts.contains_key(group), "{id}: {group:?} is in doubt but not there");
        }
    });
    for key in catalog().clients.iter().flat_map(|client| client.facts.values()).flatten() {
        assert!(catalog().sources.contains_key(key), "there is no source {key}");
        used.insert(key.as_str());
    }
    for (key, source) in &catalog().sources {
        assert!(used.contains(key.as_str()), "nobody uses {key}");
        let date: Vec<&str> = source.date.split('-').collect();
        assert!(date.len() == 3 && source.date.starts_with("2026-"), "{key}: {}", source.date);
        assert!(!source.what.is_empty());
    }
}

/// A client with a file says where, in which format and under which member; one without says what
/// to do.
#[test]
fn files_and_steps_are_complete() {
    each(|client| {
        let id = &client.id;
        let has_file = !client.user.is_empty() || !client.project.is_empty();
        match client.kind {
            ClientKind::File => {
                assert!(has_file && client.format.is_some() && client.servers.is_some(), "{id}");
            }
            ClientKind::Form => {
                assert!(!has_file && client.format.is_some() && !client.steps.is_empty(), "{id}");
            }
            ClientKind::Hosted => {
                assert!(!has_file && client.format.is_none() && !client.steps.is_empty(), "{id}");
            }
        }
        for (system, paths) in client.user.all() {
            for path in paths {
                let is_fine = match system {
                    "windows" => path.starts_with('%') || path.starts_with("~/"),
                    _ => path.starts_with("~/"),
                };
                assert!(is_fine && !path.contains(".."), "{id}: {path}");
            }
        }
        let is_below = |path: &String| !path.starts_with(['/', '~']) && !path.contains("..");
        assert!(client.project.iter().all(is_below), "{id}");
    });
}

/// Shapes are JSON objects, use only placeholders that exist, and are there for what the client
/// supports.
#[test]
fn shapes_can_be_filled() {
    let known = [
        "url",
        "command",
        "args",
        "command_line",
        "env",
        "env_names",
        "name",
        "description",
        "key",
        "variable",
    ];
    let placeholder = regex::Regex::new(r"\{([a-z_]+)\}").unwrap();
    each(|client| {
        let id = &client.id;
        assert_eq!(client.http.is_some(), client.supports.http, "{id}");
        assert_eq!(client.stdio.is_some(), client.supports.stdio, "{id}");
        for shape in [&client.http, &client.stdio].into_iter().flatten() {
            for text in [&shape.entry, &shape.key].into_iter().flatten() {
                let value: Value =
                    serde_json::from_str(text).unwrap_or_else(|e| panic!("{id}: {e}"));
                assert!(value.is_object(), "{id}");
                for found in placeholder.captures_iter(text) {
                    assert!(known.contains(&&found[1]), "{id}: {{{}}}", &found[1]);
                }
            }
        }
        let http = client.http.as_ref().filter(|shape| shape.entry.is_some());
        if let Some(http) = http {
            assert!(http.key.is_some(), "{id} has no place for a key");
            let is_by_name = http.key.as_ref().is_some_and(|key| key.contains("{variable}"));
            assert!(client.secret.is_none() || !is_by_name, "{id} has two ways to name a secret");
        }
        assert_eq!(
            client.input.is_some(),
            client.secret.as_ref().is_some_and(|s| s.contains("input"))
        );
        assert!(client.format != Some(Format::Toml) || client.input.is_none(), "{id}");
    });
}
