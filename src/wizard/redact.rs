//! Takes somebody's data out of texts that come from a page, before they leave a run.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::plan::written;

/// Shorter values are in any text: a month, a number of people.
const SHORTEST: usize = 4;
const HIDDEN: &str = "•••";

pub struct Redactor {
    values: Vec<String>,
}

impl Redactor {
    pub fn new(data: &Value) -> Redactor {
        let mut values = Vec::new();
        collect(data, &mut values);
        let encoded: Vec<String> =
            values.iter().map(|v| utf8_percent_encode(v, NON_ALPHANUMERIC).to_string()).collect();
        let grouped: Vec<String> = values.iter().filter_map(|value| grouped(value)).collect();
        values.extend(encoded);
        values.extend(grouped);
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Redactor { values }
    }

    pub fn clean(&self, text: &str) -> String {
        let mut clean = text.to_string();
        for value in &self.values {
            clean = clean.replace(value.as_str(), HIDDEN);
        }
        clean
    }
}

fn collect(data: &Value, values: &mut Vec<String>) {
    match data {
        Value::Object(fields) => fields.values().for_each(|value| collect(value, values)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, values)),
        scalar => values.extend(written(scalar, None).filter(|text| text.len() >= SHORTEST)),
    }
}

/// A sum as forms write it: 75,000.
fn grouped(value: &str) -> Option<String> {
    if !value.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut out = String::new();
    for (n, digit) in value.chars().enumerate() {
        if n > 0 && (value.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_taken_out_in_every_spelling() {
        let data = json!({ "year": "1987", "sum": 75123, "rows": [{ "name": "O'Neil & Co" }],
                           "month": "05", "yes": true });
        let redactor = Redactor::new(&data);
        for text in ["born 1987", "$75,123", "75123", "a=O%27Neil%20%26%20Co", "O'Neil & Co!"] {
            let clean = redactor.clean(text);
            assert!(clean.contains(HIDDEN), "{clean}");
            assert!(!["1987", "75", "Neil"].iter().any(|value| clean.contains(value)), "{clean}");
        }
        assert_eq!(redactor.clean("page 05"), "page 05");
    }
}
