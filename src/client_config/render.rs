//! A payload as the text of a client's file, to paste.

use serde_json::Value;

use super::catalog::Format;

/// The text of a tree in a format. Trees of payloads hold no null.
pub fn render(value: &Value, format: Format) -> String {
    match format {
        Format::Json | Format::Jsonc => {
            serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
        }
        Format::Toml => toml_tables(value, &mut Vec::new()).trim_start().to_string(),
        Format::Yaml => yaml_block(value, 0),
    }
}

/// Tables of a tree, each under its header, the plain values of a table before its sub-tables.
pub fn toml_tables(value: &Value, path: &mut Vec<String>) -> String {
    let Value::Object(members) = value else { return String::new() };
    let plain: Vec<_> = members.iter().filter(|(_, value)| !value.is_object()).collect();
    let mut out = String::new();
    if !plain.is_empty() || members.is_empty() {
        let header: Vec<String> = path.iter().map(|key| toml_key(key)).collect();
        out.push_str(&format!("\n[{}]\n", header.join(".")));
        for (key, value) in plain {
            out.push_str(&format!("{} = {}\n", toml_key(key), toml_value(value)));
        }
    }
    for (key, value) in members.iter().filter(|(_, value)| value.is_object()) {
        path.push(key.clone());
        out.push_str(&toml_tables(value, path));
        path.pop();
    }
    out
}

pub fn toml_key(key: &str) -> String {
    let is_bare = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    match !key.is_empty() && key.bytes().all(is_bare) {
        true => key.to_string(),
        false => toml_string(key),
    }
}

/// A value on one line.
pub fn toml_value(value: &Value) -> String {
    match value {
        Value::String(text) => toml_string(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(toml_value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                format!("{} = {}", toml_key(key), toml_value(value))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{ {} }}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// A basic string. JSON's escapes are TOML's, and TOML escapes DEL too.
fn toml_string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A mapping in block style. Strings are written as in JSON, which YAML contains.
pub fn yaml_block(value: &Value, indent: usize) -> String {
    let Value::Object(members) = value else { return String::new() };
    let pad = " ".repeat(indent);
    let mut out = String::new();
    for (key, value) in members {
        let key = yaml_key(key);
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                out.push_str(&format!("{pad}{key}:\n{}", yaml_block(value, indent + 2)));
            }
            other => out.push_str(&format!("{pad}{key}: {other}\n")),
        }
    }
    out
}

/// A key, in quotes unless it is a plain word: `no`, `true` and the like would not be strings.
pub fn yaml_key(key: &str) -> String {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let is_plain = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(is_word)
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&key.to_ascii_lowercase().as_str());
    if is_plain { key.to_string() } else { Value::from(key).to_string() }
}
