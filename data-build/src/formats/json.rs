//! Access to JSON of varying shape: numbers as strings, a single object instead of a list.

use serde_json::Value;

use super::tree;

/// The trimmed string or the number at a path of keys; empty if there is none.
pub fn str_at(value: &Value, path: &[&str]) -> String {
    tree::str_at(value, path).into_owned()
}

/// The integer at a path: a number, or a string like "1,234" or "12.00".
pub fn int_at(value: &Value, path: &[&str]) -> Option<i64> {
    tree::int_at(value, path)
}

/// The items at a path: the elements of a list, a single object instead of a list, or either of
/// these under an `item` key, as in congress.gov's XML converted to JSON.
pub fn items_at<'a>(value: &'a Value, path: &[&str]) -> Vec<&'a Value> {
    match at(value, path) {
        Some(Value::Array(items)) => items.iter().collect(),
        Some(object @ Value::Object(map)) => match map.get("item") {
            Some(Value::Array(items)) => items.iter().collect(),
            Some(item) => vec![item],
            None if map.is_empty() => Vec::new(),
            None => vec![object],
        },
        _ => Vec::new(),
    }
}

/// The value at a path of keys.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    tree::at(value, path)
}
