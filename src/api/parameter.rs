//! What an operation or a tool takes: each parameter is described once; its JSON Schema and its
//! check both come from that.

use serde_json::{Map, Value, json};

use super::argument::{Given, LONGEST_CURSOR, LONGEST_TEXT, MOST_FILTERS, MOST_VALUES};
use crate::bundle::Bundle;

/// Names to choose from, read from the open bundle: sources, fields, guides.
pub type Choices = fn(&Bundle) -> Vec<&'static str>;

/// One parameter.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// As the caller writes it.
    pub name: &'static str,
    /// The operation's own name for it, where a tool uses another.
    pub target: &'static str,
    /// Another name that is understood.
    pub alias: Option<&'static str>,
    pub kind: Kind,
    pub required: bool,
    pub about: &'static str,
}

#[derive(Clone, Copy)]
pub enum Kind {
    Text,
    /// An id, with an example.
    Id(&'static str),
    /// A day, a month or a year.
    Date,
    Cursor,
    Integer {
        min: u64,
        max: u64,
        default: Option<u64>,
    },
    /// One of a fixed set.
    Choice(&'static [&'static str]),
    /// One of what the open bundle offers; the operation explains any other.
    OneOf(Choices),
    /// One name or a list of at most so many.
    SomeOf(Choices, usize),
    /// Some names, which the operation checks.
    Names,
    Boolean,
    /// A JSON object of at most so many bytes, as it is.
    Json(usize),
    /// True or false; false by default.
    Flag,
    /// Not an argument: says that the operation reads all of them itself, as one JSON object, and
    /// answers in its own way for what is wrong with them.
    Whole,
    /// Fields and values; says of the open bundle which.
    Filters(fn(&Bundle) -> String),
}

impl Parameter {
    pub const fn required(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
        Parameter { name, target: name, alias: None, kind, required: true, about }
    }

    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
        Parameter { name, target: name, alias: None, kind, required: false, about }
    }

    /// The operation's parameter that this argument of a tool sets.
    pub const fn sets(mut self, target: &'static str) -> Parameter {
        self.target = target;
        self
    }

    pub const fn or(mut self, alias: &'static str) -> Parameter {
        self.alias = Some(alias);
        self
    }

    pub fn schema(&self, bundle: &Bundle) -> Value {
        let mut schema = match self.kind {
            Kind::Id(example) => json!({ "type": "string", "examples": [example] }),
            // Lengths are checked all the same: the list of tools must stay short.
            Kind::Text | Kind::Date | Kind::Cursor => json!({ "type": "string" }),
            Kind::Integer { min, max, default } => {
                let mut schema = json!({ "type": "integer", "minimum": min, "maximum": max });
                if let Some(default) = default {
                    schema["default"] = json!(default);
                }
                schema
            }
            Kind::Choice(names) => json!({ "type": "string", "enum": names }),
            Kind::OneOf(choices) => json!({ "type": "string", "enum": choices(bundle) }),
            // A single name is understood, too; but some hosts take only one type.
            Kind::SomeOf(choices, most) => json!({
                "type": "array",
                "items": { "type": "string", "enum": choices(bundle) },
                "maxItems": most,
            }),
            Kind::Names => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Json(_) => json!({ "type": "object" }),
            Kind::Flag => json!({ "type": "boolean", "default": false }),
            Kind::Whole => json!({ "type": "object" }),
            Kind::Filters(_) => json!({ "type": "object", "maxProperties": MOST_FILTERS }),
        };
        schema["description"] = match self.kind {
            Kind::Filters(describe) => json!(format!("{}{}", self.about, describe(bundle))),
            _ => json!(self.about),
        };
        schema
    }

    /// The pairs of name and value that a JSON value stands for; the error is one sentence that
    /// names the field.
    pub fn read(&self, value: &Value) -> Result<Vec<(String, Given)>, String> {
        let name = self.name;
        let (longest, most) = match self.kind {
            Kind::Cursor => (LONGEST_CURSOR, 1),
            Kind::SomeOf(_, most) => (LONGEST_TEXT, most),
            Kind::Names => (LONGEST_TEXT, MOST_VALUES),
            _ => (LONGEST_TEXT, 1),
        };
        match self.kind {
            Kind::Integer { min, max, .. } => match value.as_u64() {
                Some(n) if (min..=max).contains(&n) => {
                    Ok(vec![self.pair(Given::One(n.to_string()))])
                }
                _ => Err(format!(
                    "`{name}` must be an integer from {min} to {max}; got {}.",
                    short(value)
                )),
            },
            Kind::Boolean => match value.as_bool() {
                Some(state) => Ok(vec![self.pair(Given::One(state.to_string()))]),
                None => Err(format!("`{name}` takes true or false; got {}.", shape(value))),
            },
            Kind::Json(most) => match value.to_string() {
                _ if !value.is_object() => {
                    Err(format!("`{name}` takes an object; got {}.", shape(value)))
                }
                text if text.len() > most => {
                    Err(format!("`{name}` has {} bytes; the limit is {most}.", text.len()))
                }
                text => Ok(vec![self.pair(Given::One(text))]),
            },
            Kind::Flag => match value.as_bool() {
                Some(flag) => Ok(vec![self.pair(Given::One(flag.to_string()))]),
                None => Err(format!("`{name}` takes true or false; got {}.", shape(value))),
            },
            Kind::Whole => Ok(vec![self.pair(Given::One(value.to_string()))]),
            Kind::Filters(_) => {
                let Value::Object(filters) = value else {
                    return Err(format!(
                        "`{name}` takes an object of fields and values, like {{\"congress\": 119}}."
                    ));
                };
                if filters.len() > MOST_FILTERS {
                    return Err(format!(
                        "`{name}` holds {} filters; the limit is {MOST_FILTERS}.",
                        filters.len()
                    ));
                }
                filters.iter().map(|(field, value)| read_filter(name, field, value)).collect()
            }
            _ => {
                let given = match value {
                    Value::String(_) => Given::from_json(value),
                    Value::Array(items) if most > 1 && items.iter().all(Value::is_string) => {
                        Given::from_json(value)
                    }
                    _ => None,
                };
                let expected = if most > 1 { "a string or a list of strings" } else { "a string" };
                let given = given
                    .ok_or_else(|| format!("`{name}` takes {expected}; got {}.", shape(value)))?;
                check(name, &given, longest, most)?;
                if let (Kind::Choice(names), Given::One(text)) = (self.kind, &given)
                    && !names.contains(&text.as_str())
                {
                    let valid = names.join(", ");
                    return Err(format!("`{name}` takes one of {valid}; got {}.", short(value)));
                }
                Ok(vec![self.pair(given)])
            }
        }
    }

    fn pair(&self, given: Given) -> (String, Given) {
        (self.target.to_string(), given)
    }
}

fn read_filter(name: &str, field: &str, value: &Value) -> Result<(String, Given), String> {
    let shown: String = field.chars().take(60).collect();
    let path = format!("{name}.{shown}");
    let given = Given::from_json(value).ok_or_else(|| {
        format!("`{path}` takes a string, a number, true, false or a list of them.")
    })?;
    check(&path, &given, LONGEST_TEXT, MOST_VALUES)?;
    Ok((field.to_string(), given))
}

/// Bounds that hold for every string and every list.
fn check(name: &str, given: &Given, longest: usize, most: usize) -> Result<(), String> {
    let values: &[String] = match given {
        Given::One(text) | Given::Query(text) => std::slice::from_ref(text),
        Given::List(values) => values,
    };
    if values.is_empty() || values.iter().any(|v| v.trim().is_empty() || v.contains('\0')) {
        return Err(format!("`{name}` is empty."));
    }
    if values.len() > most {
        return Err(format!("`{name}` lists {} values; the limit is {most}.", values.len()));
    }
    if values.iter().any(|value| value.len() > longest) {
        return Err(format!("`{name}` is longer than {longest} bytes."));
    }
    Ok(())
}

fn shape(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 60 { shape(value).to_string() } else { text }
}

/// How much of a result an agent gets: an argument of most tools, which the surface reads itself.
pub const DETAIL: Parameter =
    Parameter::optional("detail", Kind::Choice(&["concise", "full"]), "full keeps empty fields");

/// The schema of an object with these parameters and no others.
pub fn object_schema<'a>(
    parameters: impl Iterator<Item = &'a Parameter> + Clone,
    bundle: &Bundle,
) -> Map<String, Value> {
    let parameters = parameters.filter(|p| !matches!(p.kind, Kind::Whole));
    let schemas = parameters.clone().map(|p| (p.name.to_string(), p.schema(bundle)));
    let properties: Map<String, Value> = schemas.collect();
    let required: Vec<&str> = parameters.filter(|p| p.required).map(|p| p.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_outside_their_bounds_are_refused_by_name() {
        let text = Parameter::optional("query", Kind::Text, "");
        let limit = Kind::Integer { min: 1, max: 100, default: None };
        let limit = Parameter::optional("limit", limit, "");
        let some = Parameter::optional("source", Kind::SomeOf(|_| vec![], 3), "");
        let filters = Parameter::optional("filters", Kind::Filters(|_| String::new()), "");
        for (parameter, value) in [
            (&text, json!("")),
            (&text, json!("x".repeat(LONGEST_TEXT + 1))),
            (&text, json!(["a"])),
            (&text, json!(null)),
            (&limit, json!(0)),
            (&limit, json!("5")),
            (&some, json!(["a", "b", "c", "d"])),
            (&some, json!([1])),
            (&DETAIL, json!("some")),
            (&filters, json!("congress=119")),
            (&filters, json!({ "congress": {} })),
            (&filters, json!({ "congress": [] })),
            (&filters, json!({ "client": vec!["x"; MOST_VALUES + 1] })),
        ] {
            let error = parameter.read(&value).unwrap_err();
            assert!(error.contains(&format!("`{}", parameter.name)), "{value}: {error}");
        }
        let many: Map<String, Value> =
            (0..=MOST_FILTERS).map(|n| (format!("f{n}"), json!(1))).collect();
        assert!(filters.read(&Value::Object(many)).is_err());
        let read =
            filters.read(&json!({ "client": "VISA, INC.", "congress": [118, 119] })).unwrap();
        assert_eq!(read[0], ("client".into(), Given::One("VISA, INC.".into())));
        assert_eq!(read[1], ("congress".into(), Given::List(vec!["118".into(), "119".into()])));
    }
}
