//! The names of a registry's record, each with its kind. The index of names is made from them at
//! build time. Which fields are names is said by each source (see `spec::Naming`).

use serde_json::Value;

use super::spec::{Fields, Source};

/// The names of a record with their kinds. A name that several fields hold keeps its first kind.
pub fn names_of(source: &Source, record: &Fields) -> Vec<(&'static str, String)> {
    let mut names: Vec<(&'static str, String)> = Vec::new();
    let mut add = |kind: &'static str, name: &str| {
        let name = name.trim();
        if !name.is_empty() && !names.iter().any(|(_, known)| known.eq_ignore_ascii_case(name)) {
            names.push((kind, name.to_string()));
        }
    };
    if let Some(naming) = &source.naming {
        (naming.names)(record, &mut add);
    }
    names
}

/// Passes every string of a list field to `f`.
pub fn each(record: &Fields, field: &str, f: impl FnMut(&str)) {
    record
        .get(field)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .for_each(f);
}
