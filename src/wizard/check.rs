//! Whether a wizard file holds together, without a browser: closed contract, every value of it
//! reachable, hosts that cover every address, answers required where they are needed, examples that
//! plan. All of it is checked at the start of a server, in `josh forms check`, and for shipped
//! files in a test.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use time::Date;

use super::file::{At, Do, Field, Page, ResultSpec, Wizard};
use super::plan::{plan, presence};
use super::{needs, schema};

const MOST_PAGES: usize = 50;
const MOST_FIELDS: usize = 200;
const LONGEST_LOCATOR: usize = 300;
/// What an imported file does not know.
const TODO: &str = "TODO";

/// What is wrong with a file, one sentence each.
pub fn check(wizard: &Wizard, today: Date) -> Vec<String> {
    let mut found = Vec::new();
    identity(wizard, &mut found);
    addresses(wizard, &mut found);
    contract(wizard, &mut found);
    pages(wizard, &mut found);
    outcomes(wizard, &mut found);
    // Examples of a file that is wrong elsewhere would only say the same again.
    if found.is_empty() {
        examples(wizard, today, &mut found);
        needs::check(wizard, today, &mut found);
    }
    found
}

fn is_id(text: &str) -> bool {
    (1..=60).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

fn identity(wizard: &Wizard, found: &mut Vec<String>) {
    if !is_id(&wizard.wizard_id) {
        found.push("wizard_id: takes small letters, digits and hyphens, at most 60".into());
    }
    for (name, text) in [
        ("wizard_name", &wizard.wizard_name),
        ("agency", &wizard.agency),
        ("effect", &wizard.effect),
        ("provenance.from", &wizard.provenance.from),
    ] {
        if text.trim().is_empty() {
            found.push(format!("{name}: is empty"));
        }
        if text.starts_with(TODO) {
            found.push(format!("{name}: is still to be written"));
        }
    }
    if !is_day(&wizard.provenance.recorded_on) {
        found.push("provenance.recorded_on: takes a day like 2026-06-10".into());
    }
    if !(1..=600).contains(&wizard.seconds) {
        found.push("seconds: takes 1 to 600".into());
    }
}

fn is_day(text: &str) -> bool {
    crate::catalog::wording::day(text).is_some()
}

/// Only https, only names, only the standard port, and only the hosts that are listed.
fn addresses(wizard: &Wizard, found: &mut Vec<String>) {
    if wizard.hosts.is_empty() {
        found.push("hosts: names no host".into());
    }
    for host in &wizard.hosts {
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b);
        let is_number = |label: &str| label.bytes().all(|b| b.is_ascii_digit());
        let is_name = host.bytes().all(is_plain)
            && host.contains('.')
            && host.split('.').all(|label| !label.is_empty())
            && !host.rsplit('.').next().is_some_and(is_number);
        if !is_name {
            found.push(format!("hosts: {host:?} is not the name of a host, in small letters"));
        }
    }
    match wizard.url.strip_prefix("https://").map(|rest| rest.split('/').next().unwrap_or(rest)) {
        None => found.push("url: must begin with https://".into()),
        Some(host) if host.contains(['@', ':', '?', '#', '[']) => {
            found.push("url: takes a host without port, user or number".into());
        }
        Some(host) if !wizard.hosts.iter().any(|known| known == host) => {
            found.push(format!("url: its host {host:?} is not among hosts"));
        }
        Some(_) => {}
    }
}

fn contract(wizard: &Wizard, found: &mut Vec<String>) {
    if let Err(why) = schema::check(&wizard.schema) {
        found.push(why);
        return;
    }
    let is = |key: &str, value: &Value| wizard.schema.get(key) == Some(value);
    if !is("$schema", &Value::from(schema::DRAFT)) {
        found.push(format!("schema: $schema must be {}", schema::DRAFT));
    }
    if !is("type", &Value::from("object")) || !is("additionalProperties", &Value::Bool(false)) {
        found.push("schema: must be an object with additionalProperties: false".into());
    }
    for name in wizard.properties() {
        let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if name.is_empty() || !name.bytes().all(is_name) {
            found.push(format!("schema: property {name:?} takes small letters, digits and _"));
        }
        let property = wizard.property(name).unwrap_or(&Value::Null);
        if property.get("type").is_none() {
            found.push(format!("schema: property {name} has no type"));
        }
        if property.get("description").and_then(Value::as_str).is_none_or(str::is_empty) {
            found.push(format!("schema: property {name} has no description"));
        }
        let is_rows = property.get("type") == Some(&Value::from("array"));
        if is_rows && property.get("maxItems").is_none() {
            found.push(format!("schema: property {name} has no maxItems"));
        }
    }
    let required = wizard.schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if wizard.property(name).is_none() {
            found.push(format!("schema: requires {name}, which is no property"));
        }
    }
    for rule in &wizard.rules {
        if ![1, 3].contains(&rule.day.len()) {
            found.push("rules: day takes one property, or those of year, month and day".into());
        }
        for name in rule.day.iter().filter(|name| wizard.property(name).is_none()) {
            found.push(format!("rules: {name} is no property"));
        }
    }
}

fn pages(wizard: &Wizard, found: &mut Vec<String>) {
    if wizard.pages.is_empty() || wizard.pages.len() > MOST_PAGES {
        found.push(format!("pages: there must be 1 to {MOST_PAGES}"));
    }
    wizard.start.iter().for_each(|press| locators("start", &press.find, found));
    let mut ids = BTreeSet::new();
    let mut asked: BTreeSet<&str> = BTreeSet::new();
    let mut ats: BTreeMap<String, &str> = BTreeMap::new();
    for page in &wizard.pages {
        let id = page.id.as_str();
        if !is_id(id) || !ids.insert(id) {
            found.push(format!("page {id:?}: takes an id of its own, in small letters"));
        }
        at(&format!("page {id}"), &page.at, found);
        let key = serde_json::to_string(&page.at).unwrap_or_default();
        if let Some(other) = ats.insert(key, id) {
            found.push(format!("page {id}: can't be told from page {other}"));
        }
        when(&format!("page {id}"), &page.when, &asked, wizard, found);
        locators(&format!("page {id}: next"), &page.next.find, found);
        let texts = page.errors.iter().chain(&page.untouched);
        texts.for_each(|text| locator(&format!("page {id}"), text, found));
        fields(page, wizard, &mut asked, found);
    }
    for name in wizard.properties().filter(|name| !asked.contains(name)) {
        found.push(format!("property {name}: no page asks for it"));
    }
}

fn fields<'a>(
    page: &'a Page,
    wizard: &'a Wizard,
    asked: &mut BTreeSet<&'a str>,
    found: &mut Vec<String>,
) {
    if page.fields.len() > MOST_FIELDS {
        found.push(format!("page {}: more than {MOST_FIELDS} fields", page.id));
        return;
    }
    for one in &page.fields {
        let name = one.field.as_deref().unwrap_or("press");
        let place = format!("page {}, {name}", page.id);
        when(&place, &one.when, asked, wizard, found);
        let Some(name) = one.field.as_deref() else {
            if one.action != Do::Press {
                found.push(format!("{place}: only press has no field"));
            }
            locators(&place, &one.find, found);
            continue;
        };
        match wizard.property(name) {
            None => found.push(format!("{place}: {name} is no property of the schema")),
            Some(property) => control(&place, one, property, found),
        }
        if !asked.insert(name) && one.form.is_none() && one.when.is_empty() {
            found.push(format!("{place}: {name} is asked for twice"));
        }
    }
}

/// One field against the schema of its values.
fn control(place: &str, field: &Field, property: &Value, found: &mut Vec<String>) {
    let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
    let takes = |kinds: &[&str]| kinds.contains(&kind);
    let fits = match field.action {
        Do::Fill | Do::Typeahead => takes(&["string", "number", "integer"]),
        Do::Choose => takes(&["string", "number", "integer", "boolean"]),
        Do::Check => takes(&["boolean"]),
        Do::Repeat => takes(&["array"]),
        Do::Press => false,
    };
    if !fits {
        let action = field.action.name();
        found.push(format!("{place}: {action} can't enter a value of type {kind:?}"));
        return;
    }
    match field.action {
        Do::Choose => choices(place, field, property, found),
        Do::Repeat => return repeat(place, field, property, found),
        _ => {}
    }
    let is_by_options = field.action == Do::Choose && field.find.is_empty();
    if !is_by_options {
        locators(place, &field.find, found);
    }
    if field.action == Do::Typeahead {
        locators(&format!("{place}: list"), &field.list, found);
    }
}

/// The values that a property can take, as texts, where they can be counted.
pub fn values_of(property: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| super::plan::written(value, None);
    let is_boolean = property.get("type") == Some(&Value::from("boolean"));
    let values = match (property.get("enum"), property.get("const")) {
        (Some(values), _) => values.as_array()?.clone(),
        (None, Some(value)) => vec![value.clone()],
        (None, None) if is_boolean => vec![Value::Bool(true), Value::Bool(false)],
        (None, None) => return None,
    };
    values.iter().map(text).collect()
}

/// Every value of the contract has its own option, and every option its value.
fn choices(place: &str, field: &Field, property: &Value, found: &mut Vec<String>) {
    if field.options.is_empty() {
        // The option of a select with the value itself: a part of a date, or an enum.
        if field.find.is_empty() {
            found.push(format!("{place}: choose names neither a select nor options"));
        }
        let values = values_of(property);
        if field.form.is_none() && values.is_none() {
            found.push(format!("{place}: choose takes an enum, a boolean or a part of a date"));
        }
        if values.iter().flatten().any(|value| value.starts_with(TODO)) {
            found.push(format!("{place}: an option is still to be written"));
        }
        return;
    }
    let Some(values) = values_of(property) else {
        found.push(format!("{place}: choose with options needs an enum or a boolean"));
        return;
    };
    for value in values.iter().filter(|value| !field.options.contains_key(*value)) {
        found.push(format!("{place}: {value:?} is allowed by the schema and has no option"));
    }
    for (value, choice) in &field.options {
        let place = format!("{place}, option {value}");
        if !values.contains(value) {
            found.push(format!("{place}: the schema does not allow this value"));
        }
        match (&choice.option, choice.find.is_empty()) {
            (Some(_), true) if !field.find.is_empty() => {}
            (Some(_), true) => found.push(format!("{place}: the select is missing in find")),
            (Some(_), false) => found.push(format!("{place}: give either find or option")),
            (None, _) => locators(&place, &choice.find, found),
        }
    }
    let targets: BTreeSet<_> =
        field.options.values().map(|choice| (&choice.option, choice.find.first())).collect();
    if targets.len() < field.options.len() {
        found.push(format!("{place}: two options choose the same control"));
    }
}

fn repeat(place: &str, field: &Field, property: &Value, found: &mut Vec<String>) {
    match (&field.add, &field.item) {
        (Some(add), Some(item)) => {
            locators(&format!("{place}: add"), &add.find, found);
            locator(&format!("{place}: item"), item, found);
        }
        _ => found.push(format!("{place}: repeat needs add and item")),
    }
    if let Some(save) = &field.save {
        locators(&format!("{place}: save"), &save.find, found);
    }
    let items = property.get("items").unwrap_or(&Value::Null);
    let empty = Map::new();
    let properties = items.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    if items.get("additionalProperties") != Some(&Value::Bool(false)) {
        found.push(format!("{place}: its rows must have additionalProperties: false"));
    }
    let mut asked = BTreeSet::new();
    for part in &field.parts {
        let name = part.field.as_deref().unwrap_or_default();
        let place = format!("{place}/{name}");
        asked.insert(name);
        match properties.get(name) {
            Some(_) if part.action == Do::Repeat => {
                found.push(format!("{place}: rows within rows are not supported"));
            }
            Some(property) => control(&place, part, property, found),
            None => found.push(format!("{place}: is no property of a row")),
        }
    }
    for name in properties.keys().filter(|name| !asked.contains(name.as_str())) {
        found.push(format!("{place}/{name}: no part asks for it"));
    }
}

/// A condition looks back, at answers of the contract, with values that it allows.
fn when(
    place: &str,
    when: &Map<String, Value>,
    asked: &BTreeSet<&str>,
    wizard: &Wizard,
    found: &mut Vec<String>,
) {
    for (name, wanted) in when {
        let Some(property) = wizard.property(name) else {
            found.push(format!("{place}: when names {name}, which is no property"));
            continue;
        };
        if presence(wanted).is_some() {
            continue;
        }
        if !asked.contains(name.as_str()) {
            found.push(format!("{place}: when looks at {name}, which is asked for later"));
        }
        if !schema::validate(property, wanted).is_empty() {
            found.push(format!("{place}: when {name} can never be that value"));
        }
    }
}

fn outcomes(wizard: &Wizard, found: &mut Vec<String>) {
    if wizard.outcomes.is_empty() {
        found.push("outcomes: there must be one: success is an outcome that was read".into());
    }
    let mut ids = BTreeSet::new();
    for outcome in &wizard.outcomes {
        let place = format!("outcome {:?}", outcome.id);
        let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let is_named = !outcome.id.is_empty() && outcome.id.bytes().all(is_name);
        if !is_named || !ids.insert(&outcome.id) {
            found.push(format!("{place}: takes an id of its own: small letters, digits and _"));
        }
        at(&place, &outcome.at, found);
        for (name, result) in &outcome.results {
            let place = format!("{place}, {name}");
            match result {
                ResultSpec { find, after: None, .. } => locators(&place, find, found),
                ResultSpec { find, after: Some(_), .. } if find.is_empty() => {}
                _ => found.push(format!("{place}: give either find or after")),
            }
        }
    }
}

fn at(place: &str, at: &At, found: &mut Vec<String>) {
    if at.is_empty() || (at.has.is_empty() && at.text.is_empty()) {
        found.push(format!("{place}: at names nothing that the page shows"));
    }
    at.has.iter().for_each(|text| locator(&format!("{place}: at"), text, found));
    if at.path.as_ref().is_some_and(|path| !path.starts_with('/')) {
        found.push(format!("{place}: at.path must begin with /"));
    }
}

fn locators(place: &str, find: &[String], found: &mut Vec<String>) {
    if find.is_empty() {
        found.push(format!("{place}: names no locator"));
    }
    find.iter().for_each(|text| locator(place, text, found));
}

/// CSS, `role=R[Name]` or `label=Text`. Nothing that runs: no script, no XPath.
fn locator(place: &str, text: &str, found: &mut Vec<String>) {
    let is_role = |rest: &str| {
        let (role, name) = rest.split_once('[').unwrap_or((rest, ""));
        ["button", "link", "checkbox", "radio", "textbox", "option", "heading"].contains(&role)
            && name.len() > 1
            && name.ends_with(']')
    };
    let wrong = if text.trim().is_empty() || text.len() > LONGEST_LOCATOR {
        Some(format!("a locator has 1 to {LONGEST_LOCATOR} characters"))
    } else if let Some(rest) = text.strip_prefix("role=") {
        (!is_role(rest)).then(|| format!("{text:?} must be like role=button[Continue]"))
    } else if text.starts_with(TODO) {
        Some("is still to be written".into())
    } else {
        let is_other = ["xpath", "//", "javascript:", "text="].iter().any(|p| text.starts_with(p));
        is_other.then(|| format!("{text:?} is neither CSS nor role= nor label="))
    };
    if let Some(wrong) = wrong {
        found.push(format!("{place}: {wrong}"));
    }
}

fn examples(wizard: &Wizard, today: Date, found: &mut Vec<String>) {
    if wizard.examples.is_empty() {
        found.push("examples: there must be one".into());
    }
    let mut reached = BTreeSet::new();
    for (n, example) in wizard.examples.iter().enumerate() {
        match plan(wizard, &example.data(today), today) {
            Ok(plan) => reached.extend(plan.pages.iter().map(|planned| planned.page.id.as_str())),
            Err(problems) => {
                let problem = problems.first().map(|p| format!("{} {}", p.pointer, p.message));
                let problem = problem.unwrap_or_default();
                found.push(format!("example {n}: does not fit the contract: {problem}"));
            }
        }
        if !wizard.outcomes.iter().any(|outcome| outcome.id == example.outcome) {
            found.push(format!("example {n}: {:?} is no outcome", example.outcome));
        }
    }
    for page in wizard.pages.iter().filter(|page| !reached.contains(page.id.as_str())) {
        found.push(format!("page {}: no example reaches it", page.id));
    }
}
