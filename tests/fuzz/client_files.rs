//! Fuzzes the editing of clients' files: any text is either refused or gets the entry and keeps
//! everything else; what was added can be taken out again.

use josh::client_config::edit::{self, EditError};
use josh::client_config::{Client, Payload, catalog};
use serde_json::{Map, Value, json};

use crate::mutate;
use crate::target::{MANY, Target};

const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "//",
    "/*",
    "*/",
    "#",
    "\n",
    "\r\n",
    "\t",
    "  ",
    " = ",
    "mcpServers",
    "mcp_servers",
    "extensions",
    "josh",
    "[mcp_servers.josh]",
    "- ",
    "|",
    "&a ",
    "*a",
    "\u{feff}",
    "null",
    "'''",
    "\"\"\"",
    "---\n",
    "é",
];

/// Files of a client, whole and damaged.
fn corpus(client: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for folder in ["files", "damaged"] {
        let folder = format!("{}/tests/clients/{folder}", env!("CARGO_MANIFEST_DIR"));
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().collect();
        paths.sort_by_key(|entry| entry.file_name());
        let is_own = |name: &str| name.starts_with(&format!("{client}--"));
        let own = paths.iter().filter(|entry| is_own(entry.file_name().to_str().unwrap()));
        found.extend(own.map(|entry| std::fs::read(entry.path()).unwrap()));
    }
    assert!(found.len() >= 5, "{client}");
    // A key without a value in braces: once a panic.
    found.push(b"extensions: {\xe2\x82\xac/*a*l}\nGOOSE_MODE: auto\n".to_vec());
    found
}

/// A document without our server; an empty container is as good as none.
fn others(client: &Client, text: &str) -> Map<String, Value> {
    let mut root =
        edit::read(client.format.unwrap(), text).unwrap().as_object().cloned().unwrap_or_default();
    let container = Payload::container(client);
    if let Some(servers) = root.get_mut(container).and_then(Value::as_object_mut) {
        servers.shift_remove("josh");
    }
    let is_empty = root.get(container).is_some_and(|c| c.is_null() || *c == json!({}));
    if is_empty {
        root.shift_remove(container);
    }
    root
}

fn fuzz(id: &str, count: u64) {
    let client = catalog().client(id).unwrap();
    let container = Payload::container(client).to_string();
    let entry = json!({ "url": "https://x.example/mcp", "args": ["a", "b c"], "on": true });
    let payload = Payload(json!({ container: { "josh": entry } }));
    let name = format!("client-files-{id}");
    let target = Target {
        name: &name,
        count,
        corpus: corpus(id),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    };
    target.run(|input| {
        let text = String::from_utf8_lossy(input);
        let edited = match edit::add(client, &text, &payload) {
            Ok(edited) => edited,
            Err(EditError::Unreadable { .. } | EditError::Unusual(_) | EditError::Unsafe) => return,
        };
        let document = edit::read(client.format.unwrap(), &edited).unwrap();
        assert_eq!(document[Payload::container(client)]["josh"], entry);
        assert_eq!(others(client, &edited), others(client, &text));
        assert_eq!(edit::add(client, &edited, &payload).unwrap(), edited);
        if let Ok(removed) = edit::remove(client, &edited, &["josh".to_string()]) {
            assert_eq!(others(client, &removed), others(client, &text));
        }
    });
}

#[test]
fn json_is_kept_or_refused() {
    fuzz("cursor", MANY);
}

#[test]
fn toml_is_kept_or_refused() {
    fuzz("codex", MANY);
}

#[test]
fn yaml_is_kept_or_refused() {
    fuzz("goose", MANY);
}
