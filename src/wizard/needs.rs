//! Whether the contract requires an answer exactly where the form needs it: a field that is not
//! `optional` is required whenever it is asked for, and nothing is required where it is not. Tried
//! on the examples of the file and on every other value of the answers that conditions look at.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use time::Date;

use super::file::{Do, Field, When, Wizard};
use super::plan::{holds, presence};
use super::schema;

type Data = Map<String, Value>;

/// Other values of an answer that are tried.
const MOST_VALUES: usize = 100;

/// A field with everything that must hold for it to be asked for.
struct Asked<'a> {
    place: String,
    name: &'a str,
    field: &'a Field,
    page: Option<&'a When>,
}

impl Asked<'_> {
    fn conditions(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.page.into_iter().flatten().chain(&self.field.when)
    }

    fn is_asked(&self, data: &Data) -> bool {
        self.page.is_none_or(|when| holds(when, data)) && holds(&self.field.when, data)
    }
}

pub fn check(wizard: &Wizard, today: Date, found: &mut Vec<String>) {
    let mut fields = Vec::new();
    for page in &wizard.pages {
        for field in &page.fields {
            let Some(name) = field.field.as_deref() else { continue };
            let place = format!("page {}, {name}", page.id);
            fields.push(Asked { place, name, field, page: Some(&page.when) });
        }
    }
    let examples = wizard.examples.iter().map(|example| example.data(today));
    let examples: Vec<Data> = examples.filter_map(|data| data.as_object().cloned()).collect();
    check_fields(&fields, &wizard.schema, &examples, found);
    for group in fields.iter().filter(|asked| asked.field.action == Do::Repeat) {
        let parts = group.field.parts.iter().filter_map(|field| {
            let name = field.field.as_deref()?;
            Some(Asked { place: format!("{}/{name}", group.place), name, field, page: None })
        });
        let items = wizard.property(group.name).and_then(|property| property.get("items"));
        let rows = examples.iter().filter_map(|data| data.get(group.name)?.as_array());
        let mut rows: Vec<Data> =
            rows.flatten().filter_map(|row| row.as_object().cloned()).collect();
        rows.push(Data::new());
        check_fields(&parts.collect::<Vec<_>>(), items.unwrap_or(&Value::Null), &rows, found);
    }
}

fn check_fields(fields: &[Asked], schema: &Value, examples: &[Data], found: &mut Vec<String>) {
    let mut complaints = BTreeSet::new();
    for asked in fields {
        let is_optional = asked.field.optional;
        if is_optional && is_always_required(schema, asked.name) {
            let complaint = "is optional, and the schema always requires it";
            complaints.insert(format!("{}: {complaint}", asked.place));
        }
        if asked.conditions().next().is_none() && is_always_required(schema, asked.name) {
            continue;
        }
        for data in trials(asked, schema, examples) {
            let mut data = only_asked(fields, data);
            data.remove(asked.name);
            let is_asked_anywhere =
                || fields.iter().any(|one| one.name == asked.name && one.is_asked(&data));
            let complaint = match (asked.is_asked(&data), requires(schema, &data, asked.name)) {
                (true, false) if !is_optional => {
                    "the schema does not require it where the form needs it; is it optional?"
                }
                (false, true) if !is_asked_anywhere() => {
                    "the schema requires it where no page asks for it"
                }
                _ => continue,
            };
            complaints.insert(format!("{}: {complaint}", asked.place));
        }
    }
    found.extend(complaints);
}

/// The examples, as they are, so that the field is asked for, and so that it is not.
fn trials(asked: &Asked, schema: &Value, examples: &[Data]) -> Vec<Data> {
    let mut trials = Vec::new();
    for example in examples {
        let mut fitting = example.clone();
        for (name, wanted) in asked.conditions() {
            match presence(wanted) {
                None => drop(fitting.insert(name.clone(), wanted.clone())),
                Some(false) => drop(fitting.remove(name)),
                Some(true) => {
                    let known = examples.iter().find_map(|other| other.get(name));
                    fitting.extend(known.map(|known| (name.clone(), known.clone())));
                }
            }
        }
        for (name, wanted) in asked.conditions() {
            for other in others(schema, name, wanted, examples) {
                let mut trial = fitting.clone();
                trial.insert(name.clone(), other);
                trials.push(trial);
            }
            if !is_always_required(schema, name) {
                let mut trial = fitting.clone();
                trial.remove(name);
                trials.push(trial);
            }
        }
        trials.extend([example.clone(), fitting]);
    }
    trials
}

/// Other values of an answer: all where they can be counted, otherwise those of the examples and
/// for a number the next one.
fn others(schema: &Value, name: &str, wanted: &Value, examples: &[Data]) -> Vec<Value> {
    let property = schema.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
    let listed = property.get("enum").and_then(Value::as_array);
    let is_boolean = property.get("type") == Some(&Value::from("boolean"));
    let mut values: Vec<Value> = match listed {
        Some(listed) => listed.iter().take(MOST_VALUES).cloned().collect(),
        None if is_boolean => vec![Value::Bool(true), Value::Bool(false)],
        None => {
            let known = examples.iter().filter_map(|example| example.get(name).cloned());
            known.chain(wanted.as_f64().map(|number| Value::from(number + 1.0))).collect()
        }
    };
    values.retain(|value| schema::validate(property, value).is_empty());
    values
}

/// The data without answers to questions that are not asked then.
fn only_asked(fields: &[Asked], mut data: Data) -> Data {
    loop {
        let asked = fields.iter().filter(|one| one.is_asked(&data)).map(|one| one.name);
        let asked: BTreeSet<&str> = asked.collect();
        let before = data.len();
        data.retain(|name, _| asked.contains(name.as_str()));
        if data.len() == before {
            return data;
        }
    }
}

fn is_always_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|one| one == name))
}

fn requires(schema: &Value, data: &Data, name: &str) -> bool {
    let problems = schema::validate(schema, &Value::Object(data.clone()));
    let pointer = format!("/{name}");
    let is_missing = |rule: &str| ["required", "dependencies"].contains(&rule);
    problems.iter().any(|problem| problem.pointer == pointer && is_missing(problem.rule))
}
