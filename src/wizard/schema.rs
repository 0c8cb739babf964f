//! JSON Schema draft-07, as much of it as user data schemas need. Anything else in a schema is
//! refused when the file is checked, so that nothing is silently not enforced. Problems name the
//! place and the rule, never the value: values are somebody's own.

use regex::Regex;
use serde_json::{Map, Value};

pub const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// Nothing needs more, and a schema comes from a file.
const DEEPEST: usize = 12;
/// Problems that are reported at once.
const MOST_PROBLEMS: usize = 50;

/// What is wrong with somebody's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// JSON Pointer into the data.
    pub pointer: String,
    pub rule: &'static str,
    pub message: String,
}

/// Keywords that explain and don't constrain.
const NOTES: [&str; 6] = ["$schema", "title", "description", "examples", "default", "$comment"];

/// Checks that a schema uses only what is understood here.
pub fn check(schema: &Value) -> Result<(), String> {
    check_at(schema, "#", 0)
}

fn check_at(schema: &Value, at: &str, depth: usize) -> Result<(), String> {
    let Some(fields) = schema.as_object() else {
        return Err(format!("schema {at}: must be an object"));
    };
    if depth > DEEPEST {
        return Err(format!("schema {at}: nested deeper than {DEEPEST} levels"));
    }
    for (keyword, value) in fields {
        let wrong = |what: &str| Err(format!("schema {at}/{keyword}: must be {what}"));
        let below = |name: &str| format!("{at}/{keyword}/{name}");
        match keyword.as_str() {
            note if NOTES.contains(&note) => {}
            "type" => {
                let known = ["string", "number", "integer", "boolean", "array", "object"];
                if !value.as_str().is_some_and(|kind| known.contains(&kind)) {
                    return wrong("one of string, number, integer, boolean, array, object");
                }
            }
            "const" => {}
            "enum" => match value.as_array() {
                Some(values) if !values.is_empty() => {}
                _ => return wrong("a list with at least one value"),
            },
            "pattern" => {
                let Some(pattern) = value.as_str() else { return wrong("a text") };
                compile(pattern).map_err(|error| format!("schema {at}/pattern: {error}"))?;
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" if value.is_u64() => {}
            "minLength" | "maxLength" | "minItems" | "maxItems" => return wrong("a count"),
            "minimum" | "maximum" | "multipleOf" if value.is_number() => {}
            "minimum" | "maximum" | "multipleOf" => return wrong("a number"),
            "additionalProperties" if value.is_boolean() => {}
            "additionalProperties" => return wrong("true or false"),
            "required" => {
                if !value.as_array().is_some_and(|names| names.iter().all(Value::is_string)) {
                    return wrong("a list of names");
                }
            }
            "properties" => {
                let Some(properties) = value.as_object() else { return wrong("an object") };
                for (name, property) in properties {
                    check_at(property, &below(name), depth + 1)?;
                }
            }
            "dependencies" => {
                let is_names = |v: &Value| {
                    v.as_array().is_some_and(|names| names.iter().all(Value::is_string))
                };
                if !value.as_object().is_some_and(|all| all.values().all(is_names)) {
                    return wrong("lists of names by name");
                }
            }
            "items" | "if" | "then" | "else" | "not" => {
                check_at(value, &format!("{at}/{keyword}"), depth + 1)?;
            }
            "allOf" => {
                let Some(all) = value.as_array() else { return wrong("a list of schemas") };
                for (n, one) in all.iter().enumerate() {
                    check_at(one, &below(&n.to_string()), depth + 1)?;
                }
            }
            _ => return Err(format!("schema {at}/{keyword}: this keyword is not supported")),
        }
    }
    Ok(())
}

fn compile(pattern: &str) -> Result<Regex, String> {
    let built = regex::RegexBuilder::new(pattern).size_limit(1 << 18).build();
    built.map_err(|_| "not a pattern that can be compiled".to_string())
}

/// Everything that is wrong with the data.
pub fn validate(schema: &Value, data: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    validate_at(schema, data, "", &mut problems);
    problems.truncate(MOST_PROBLEMS);
    problems
}

fn is_valid(schema: &Value, data: &Value) -> bool {
    validate(schema, data).is_empty()
}

fn validate_at(schema: &Value, data: &Value, at: &str, problems: &mut Vec<Problem>) {
    let Some(fields) = schema.as_object() else { return };
    let mut add = |rule: &'static str, message: String| {
        problems.push(Problem { pointer: at.to_string(), rule, message });
    };
    if let Some(kind) = fields.get("type").and_then(Value::as_str)
        && !is_of(kind, data)
    {
        add("type", format!("takes {}, not {}", article(kind), article(kind_of(data))));
        return;
    }
    if let Some(Value::Array(values)) = fields.get("enum")
        && !values.iter().any(|value| same(value, data))
    {
        let names: Vec<String> = values.iter().map(plain).collect();
        add("enum", format!("takes one of {}", names.join(", ")));
    }
    if let Some(value) = fields.get("const")
        && !same(value, data)
    {
        add("const", format!("must be {}", plain(value)));
    }
    if let Some(text) = data.as_str() {
        let length = text.chars().count() as u64;
        let count = |name: &str| fields.get(name).and_then(Value::as_u64);
        if let Some(least) = count("minLength").filter(|least| length < *least) {
            add("minLength", format!("must have at least {least} characters"));
        }
        if let Some(most) = count("maxLength").filter(|most| length > *most) {
            add("maxLength", format!("must have at most {most} characters"));
        }
        if let Some(pattern) = fields.get("pattern").and_then(Value::as_str)
            && !compile(pattern).is_ok_and(|regex| regex.is_match(text))
        {
            add("pattern", format!("must match the pattern {pattern}"));
        }
    }
    if let Some(number) = data.as_f64() {
        let bound = |name: &str| fields.get(name).and_then(Value::as_f64);
        if let Some(least) = bound("minimum").filter(|least| number < *least) {
            add("minimum", format!("must be at least {least}"));
        }
        if let Some(most) = bound("maximum").filter(|most| number > *most) {
            add("maximum", format!("must be at most {most}"));
        }
        if let Some(step) = bound("multipleOf")
            && step > 0.0
            && ((number / step) - (number / step).round()).abs() > 1e-9
        {
            add("multipleOf", format!("must be a multiple of {step}"));
        }
    }
    if let Some(items) = data.as_array() {
        let count = |name: &str| fields.get(name).and_then(Value::as_u64);
        let length = items.len() as u64;
        if let Some(least) = count("minItems").filter(|least| length < *least) {
            add("minItems", format!("must have at least {least} entries"));
        }
        if let Some(most) = count("maxItems").filter(|most| length > *most) {
            add("maxItems", format!("must have at most {most} entries"));
            return;
        }
        if let Some(each) = fields.get("items") {
            for (n, item) in items.iter().enumerate() {
                validate_at(each, item, &format!("{at}/{n}"), problems);
            }
        }
    }
    if let Some(object) = data.as_object() {
        validate_object(fields, object, at, problems);
    }
    for one in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        validate_at(one, data, at, problems);
    }
    if let Some(not) = fields.get("not")
        && is_valid(not, data)
    {
        let message = fields.get("description").and_then(Value::as_str);
        let message = message.unwrap_or("is not allowed in this combination").to_string();
        problems.push(Problem { pointer: at.to_string(), rule: "not", message });
    }
    if let Some(test) = fields.get("if") {
        let branch = if is_valid(test, data) { "then" } else { "else" };
        if let Some(branch) = fields.get(branch) {
            validate_at(branch, data, at, problems);
        }
    }
}

fn validate_object(
    fields: &Map<String, Value>,
    object: &Map<String, Value>,
    at: &str,
    problems: &mut Vec<Problem>,
) {
    let strings = |value: &Value| -> Vec<String> {
        let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_string).collect()
    };
    let mut missing = |name: &str, rule: &'static str, message: String| {
        problems.push(Problem { pointer: pointer(at, name), rule, message });
    };
    for name in fields.get("required").map(strings).unwrap_or_default() {
        if !object.contains_key(&name) {
            missing(&name, "required", "is missing".into());
        }
    }
    for (name, needs) in fields.get("dependencies").and_then(Value::as_object).into_iter().flatten()
    {
        for needed in strings(needs).iter().filter(|_| object.contains_key(name)) {
            if !object.contains_key(needed) {
                missing(needed, "dependencies", format!("is missing: {name} needs it"));
            }
        }
    }
    let properties = fields.get("properties").and_then(Value::as_object);
    let is_closed = fields.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, value) in object {
        match properties.and_then(|properties| properties.get(name)) {
            Some(property) => validate_at(property, value, &pointer(at, name), problems),
            None if is_closed => {
                let known: Vec<&str> =
                    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                let near = crate::spelling::nearest(name, &known);
                let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                problems.push(Problem {
                    pointer: pointer(at, name),
                    rule: "additionalProperties",
                    message: format!("is no property of this form{near}"),
                });
            }
            None => {}
        }
    }
}

/// A place below another. The name comes from the caller: it is cut, and nothing else.
fn pointer(at: &str, name: &str) -> String {
    let short: String = name.chars().take(60).collect();
    format!("{at}/{}", short.replace('~', "~0").replace('/', "~1"))
}

fn is_of(kind: &str, data: &Value) -> bool {
    match kind {
        "integer" => data.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => data.is_number(),
        other => kind_of(data) == other,
    }
}

fn kind_of(data: &Value) -> &'static str {
    match data {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn article(kind: &str) -> String {
    match kind {
        "null" => "null".into(),
        kind if kind.starts_with(['a', 'i', 'o']) => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}

/// Equality as JSON Schema has it: 1 is 1.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// A value of the schema, not of the data.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rules(schema: Value, data: Value) -> Vec<(String, &'static str)> {
        check(&schema).unwrap();
        validate(&schema, &data).into_iter().map(|p| (p.pointer, p.rule)).collect()
    }

    #[test]
    fn every_keyword_is_enforced_and_no_message_holds_the_value() {
        for (schema, bad, rule) in [
            (json!({ "type": "string" }), json!(77777), "type"),
            (json!({ "type": "integer" }), json!(77777.5), "type"),
            (json!({ "enum": ["a"] }), json!("77777"), "enum"),
            (json!({ "const": 0 }), json!(77777), "const"),
            (json!({ "minLength": 6 }), json!("77777"), "minLength"),
            (json!({ "maxLength": 4 }), json!("77777"), "maxLength"),
            (json!({ "pattern": "^[a-z]+$" }), json!("77777"), "pattern"),
            (json!({ "minimum": 80000 }), json!(77777), "minimum"),
            (json!({ "maximum": 8 }), json!(77777), "maximum"),
            (json!({ "multipleOf": 10 }), json!(77777), "multipleOf"),
            (json!({ "minItems": 2 }), json!([77777]), "minItems"),
            (json!({ "maxItems": 1 }), json!([77777, 77777]), "maxItems"),
            (json!({ "items": { "type": "string" } }), json!([77777]), "type"),
            (json!({ "required": ["a"] }), json!({ "b": 77777 }), "required"),
            (json!({ "dependencies": { "b": ["a"] } }), json!({ "b": 77777 }), "dependencies"),
            (
                json!({ "properties": {}, "additionalProperties": false }),
                json!({ "b": 77777 }),
                "additionalProperties",
            ),
            (json!({ "not": { "type": "number" } }), json!(77777), "not"),
            (json!({ "allOf": [{ "minimum": 80000 }] }), json!(77777), "minimum"),
            (json!({ "if": { "minimum": 1 }, "then": { "maximum": 8 } }), json!(77777), "maximum"),
            (json!({ "if": { "maximum": 1 }, "else": { "maximum": 8 } }), json!(77777), "maximum"),
        ] {
            check(&schema).unwrap();
            let problems = validate(&schema, &bad);
            assert_eq!(problems.len(), 1, "{schema}: {problems:?}");
            assert_eq!(problems[0].rule, rule, "{schema}");
            assert!(!format!("{problems:?}").contains("77777"), "{problems:?}");
        }
        let schema = json!({ "properties": { "a": { "items": { "minimum": 3 } } } });
        let found = rules(schema, json!({ "a": [5, 1] }));
        assert_eq!(found, [("/a/1".to_string(), "minimum")]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for schema in [
            json!({ "oneOf": [] }),
            json!({ "format": "date" }),
            json!({ "type": ["string", "null"] }),
            json!({ "pattern": "(" }),
            json!({ "properties": { "a": { "$ref": "#" } } }),
            json!(true),
        ] {
            assert!(check(&schema).is_err(), "{schema}");
        }
    }
}
