//! Reading JSON whose shape varies: numbers as strings, one object where a list is meant, names in two generations.

use serde_json::Value;

use super::tree;

/// The string at a path of keys, trimmed; a number is written out. Empty when there is none.
pub fn str_at(value: &Value, path: &[&str]) -> String {
    tree::str_at(value, path).into_owned()
}

/// The integer at a path: a number, or a string that holds one ("1,234", "12.00").
pub fn int_at(value: &Value, path: &[&str]) -> Option<i64> {
    tree::int_at(value, path)
}

/// The items at a path: the elements of a list, or the one object that stands where a list is meant, also under an
/// `item` key as the congress.gov XML-to-JSON forms have it.
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
