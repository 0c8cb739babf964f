//! Reading JSON whose shape varies: numbers as strings, one object where a list is meant, names in two generations.

use serde_json::Value;

/// The string at a path of keys, trimmed; a number is written out. Empty when there is none.
pub fn str_at(value: &Value, path: &[&str]) -> String {
    match at(value, path) {
        Some(Value::String(s)) => s.trim().to_string(),
        Some(Value::Number(n)) => n.to_string(),
        _ => String::new(),
    }
}

/// The integer at a path: a number, or a string that holds one ("1,234", "12.00").
pub fn int_at(value: &Value, path: &[&str]) -> Option<i64> {
    match at(value, path)? {
        Value::Number(n) => n.as_i64().or_else(|| n.as_f64().map(|f| f.round() as i64)),
        Value::String(s) => {
            let s = s.trim().replace([',', '$'], "");
            s.parse::<i64>().ok().or_else(|| s.parse::<f64>().ok().map(|f| f.round() as i64))
        }
        _ => None,
    }
}

/// The truth at a path: a boolean or "True", "Y", "1" as a string.
pub fn bool_at(value: &Value, path: &[&str]) -> Option<bool> {
    match at(value, path)? {
        Value::Bool(b) => Some(*b),
        Value::String(s) => match s.trim().to_ascii_lowercase().as_str() {
            "true" | "y" | "yes" | "1" => Some(true),
            "false" | "n" | "no" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
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
    path.iter().try_fold(value, |v, key| v.get(key))
}
