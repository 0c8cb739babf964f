//! JSON and YAML documents read whole, into the same kind of value.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::input::Input;

/// The document, or nothing when the extension is of neither format.
pub fn value(input: &Input) -> Result<Option<Value>> {
    Ok(match input.extension() {
        "json" => Some(serde_json::from_str(&input.text()?).context("not JSON")?),
        "yaml" | "yml" => Some(serde_yaml_ng::from_str(&input.text()?).context("not YAML")?),
        _ => None,
    })
}

/// The documents of a JSONL file, line by line: (line number, value or what is wrong with it).
pub fn lines(input: &Input) -> Result<impl Iterator<Item = (usize, Result<Value, String>)>> {
    Ok(input
        .lines()?
        .map(|(number, line)| (number, line.and_then(|l| serde_json::from_str(&l).map_err(|e| e.to_string())))))
}

/// The strings as a JSON list, or null when there are none: an empty list states nothing.
pub fn list(items: Vec<String>) -> Value {
    if items.is_empty() { Value::Null } else { Value::from(items) }
}

/// The text as a JSON string, or null when it is empty.
pub fn stated(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { Value::from(text) }
}
