//! What a tool takes: each argument is described once, and its schema and its check both come from that.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::offer::Offer;
use crate::catalog::Field;
use crate::error::nearest;
use crate::query::{AGGREGATE_PARAMETERS, INTERVALS, LEAST_TEXT, MOST_ITEMS, Params, RESERVED};

/// One argument of a tool.
pub struct Arg {
    pub name: &'static str,
    /// Another name that is understood, for those who guess.
    pub alias: Option<&'static str>,
    pub kind: Kind,
    pub required: bool,
    pub about: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// An id, with an example.
    Id(&'static str),
    Date,
    Congress,
    Limit,
    Bytes,
    Detail,
    Interval,
    /// Sources that can be searched, all of them or those with vectors.
    Searchable,
    Meaningful,
    Registry,
    /// Sources with a field of this plan, and the fields to group them by.
    Resource(Plan),
    GroupBy(Plan),
    SumField,
    TimeField,
    Filters,
    Guide,
}

/// What a source must be able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    Count,
    Sum,
    Time,
}

impl Plan {
    pub fn allows(self, field: &Field) -> bool {
        match self {
            Plan::Count => true,
            Plan::Sum => field.sum,
            Plan::Time => field.time,
        }
    }
}

pub const fn required(name: &'static str, kind: Kind, about: &'static str) -> Arg {
    Arg { name, alias: None, kind, required: true, about }
}

pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Arg {
    Arg { name, alias: None, kind, required: false, about }
}

impl Arg {
    pub const fn or(mut self, alias: &'static str) -> Arg {
        self.alias = Some(alias);
        self
    }

    fn schema(&self, offer: &Offer) -> Value {
        let one_of = |names: Vec<&str>| json!({ "type": "string", "enum": names });
        let some_of = |names: Vec<&str>, most: usize| json!({ "type": ["string", "array"], "items": { "type": "string", "enum": names }, "maxItems": most });
        let mut schema = match self.kind {
            Kind::Text => json!({ "type": "string", "minLength": 1 }),
            Kind::Id(example) => json!({ "type": "string", "minLength": 1, "examples": [example] }),
            Kind::Date => json!({ "type": "string", "pattern": r"^\d{4}(-\d{2}(-\d{2})?)?$" }),
            Kind::Congress => json!({ "type": "integer", "minimum": 1, "maximum": 200 }),
            Kind::Limit => json!({ "type": "integer", "minimum": 1, "maximum": MOST_ITEMS, "default": DEFAULT_LIMIT }),
            Kind::Bytes => {
                json!({ "type": "integer", "minimum": LEAST_TEXT, "maximum": MOST_BYTES, "default": DEFAULT_BYTES })
            }
            Kind::Detail => json!({ "type": "string", "enum": DETAILS, "default": DETAILS[0] }),
            Kind::Interval => one_of(INTERVALS.iter().map(|(name, _)| *name).collect()),
            Kind::Searchable => some_of(offer.searchable(), 21),
            Kind::Meaningful => some_of(offer.meaningful(), 21),
            Kind::Registry => one_of(offer.registries()),
            Kind::Resource(plan) => one_of(offer.resources(plan)),
            Kind::GroupBy(plan) => some_of(offer.fields(plan, |f| f.group), 2),
            Kind::SumField => one_of(offer.fields(Plan::Sum, |f| f.sum)),
            Kind::TimeField => one_of(offer.fields(Plan::Time, |f| f.time)),
            Kind::Filters => json!({
                "type": "object",
                "additionalProperties": { "type": ["string", "number", "boolean", "array"] },
            }),
            Kind::Guide => one_of(super::resources::GUIDES.iter().map(|g| g.key).collect()),
        };
        schema["description"] = json!(self.about);
        schema
    }

    /// What is wrong with a value, if anything.
    fn refuse(&self, value: &Value) -> Option<String> {
        let name = self.name;
        let whole = |least: u64, most: u64| match value.as_u64() {
            Some(n) if (least..=most).contains(&n) => None,
            _ => Some(format!("`{name}` takes a whole number from {least} to {most}, not {value}")),
        };
        let one_of = |names: &[&str]| match value.as_str() {
            Some(text) if names.contains(&text) => None,
            _ => Some(format!("`{name}` takes one of {}, not {value}", names.join(", "))),
        };
        match self.kind {
            Kind::Congress => whole(1, 200),
            Kind::Limit => whole(1, MOST_ITEMS as u64),
            Kind::Bytes => whole(LEAST_TEXT as u64, MOST_BYTES),
            Kind::Detail => one_of(&DETAILS),
            Kind::Interval => one_of(&INTERVALS.map(|(name, _)| name)),
            Kind::Searchable | Kind::Meaningful | Kind::GroupBy(_) => match value {
                Value::String(_) => None,
                Value::Array(items) if items.iter().all(Value::is_string) => None,
                _ => Some(format!("`{name}` takes a string or a list of strings")),
            },
            Kind::Filters => match value {
                Value::Object(filters) => filters.iter().find_map(|(key, value)| refuse_filter(key, value)),
                _ => Some(format!("`{name}` takes an object of fields and values, like {{\"congress\": 119}}")),
            },
            _ => match value.as_str() {
                Some(text) if !text.trim().is_empty() && !text.contains('\0') => None,
                Some(_) => Some(format!("`{name}` is empty")),
                None => Some(format!("`{name}` takes a string, not {}", shape(value))),
            },
        }
    }
}

pub const DEFAULT_LIMIT: usize = 10;
const MOST_BYTES: u64 = 80_000;
pub const DEFAULT_BYTES: u64 = 30_000;
pub const DETAILS: [&str; 2] = ["concise", "full"];

/// Parameters of REST that are arguments of a tool, or none of its business: not fields.
fn is_parameter(name: &str) -> bool {
    RESERVED.contains(&name) || AGGREGATE_PARAMETERS.contains(&name) || ["q", "mode"].contains(&name)
}

fn refuse_filter(key: &str, value: &Value) -> Option<String> {
    if is_parameter(key) {
        return Some(format!("`filters.{key}` is not a field to filter by"));
    }
    let plain = |v: &Value| v.is_string() || v.is_number() || v.is_boolean();
    let fits = plain(value) || value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(plain));
    (!fits).then(|| format!("`filters.{key}` takes a string, a number, true, false or a list of them"))
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

/// The schema of a tool's arguments.
pub fn schema<'a>(args: impl Iterator<Item = &'a Arg> + Clone, offer: &Offer) -> JsonObject {
    let properties: Map<String, Value> = args.clone().map(|arg| (arg.name.to_string(), arg.schema(offer))).collect();
    let required: Vec<&str> = args.filter(|arg| arg.required).map(|arg| arg.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

/// Arguments as given, checked.
pub struct Args(JsonObject);

impl Args {
    /// Checks what was given; the error is one sentence that begins with the field's name.
    pub fn read(args: &'static [&'static [Arg]], given: Option<JsonObject>) -> Result<Args, String> {
        let known = || args.iter().flat_map(|part| part.iter());
        let mut read = JsonObject::new();
        for (name, value) in given.unwrap_or_default() {
            let Some(arg) = known().find(|arg| arg.name == name || arg.alias == Some(name.as_str())) else {
                let names: Vec<&str> = known().map(|arg| arg.name).collect();
                let near = nearest(&name, &names).map(|n| format!(" Did you mean `{n}`?")).unwrap_or_default();
                return Err(format!("`{name}` is no argument of this tool.{near} It takes: {}.", names.join(", ")));
            };
            if value.is_null() && !arg.required {
                continue;
            }
            if let Some(reason) = arg.refuse(&value) {
                return Err(format!("{reason}."));
            }
            read.insert(arg.name.to_string(), value);
        }
        match known().find(|arg| arg.required && !read.contains_key(arg.name)) {
            Some(missing) => Err(format!("`{}` is missing: {}.", missing.name, missing.about)),
            None => Ok(Args(read)),
        }
    }

    /// A string, or the empty one.
    pub fn text(&self, name: &str) -> String {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default().to_string()
    }

    pub fn is_full(&self) -> bool {
        self.text("detail") == DETAILS[1]
    }

    /// Adds an argument, if it was given, as the parameter of REST with this name.
    pub fn pass(&self, params: &mut Params, name: &str, parameter: &str) {
        if let Some(value) = self.0.get(name) {
            params.set(parameter, &written(value));
        }
    }

    /// Adds every filter.
    pub fn pass_filters(&self, params: &mut Params) {
        for (name, value) in self.0.get("filters").and_then(Value::as_object).into_iter().flatten() {
            params.push(name, &written(value));
        }
    }
}

/// A value as REST writes it: lists joined by commas, elements that hold one in quotes.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let quoted = |text: String| if text.contains(',') { format!("\"{text}\"") } else { text };
            items.iter().map(|item| quoted(written(item))).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}
