//! Parses JSON, JSONL and YAML documents, and builds optional JSON values.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::input::Input;

/// The document; `None` if the extension is neither JSON nor YAML.
pub fn value(input: &Input) -> Result<Option<Value>> {
    Ok(match input.extension() {
        "json" => Some(serde_json::from_str(&input.text()?).context("not JSON")?),
        "yaml" | "yml" => Some(serde_yaml_ng::from_str(&input.text()?).context("not YAML")?),
        _ => None,
    })
}

/// The documents of a JSONL file with their line numbers; an invalid line is an error text.
pub fn lines(input: &Input) -> Result<impl Iterator<Item = (usize, Result<Value, String>)>> {
    Ok(input.lines()?.map(|(number, line)| {
        (number, line.and_then(|l| serde_json::from_str(&l).map_err(|e| e.to_string())))
    }))
}

/// A JSON list, or null if it is empty, which leaves the field absent.
pub fn non_empty_list(items: Vec<String>) -> Value {
    if items.is_empty() { Value::Null } else { Value::from(items) }
}

/// A JSON string, or null if it is empty.
pub fn non_empty(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { Value::from(text) }
}
