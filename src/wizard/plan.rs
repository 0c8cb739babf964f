//! From somebody's data to the steps of a run, without a browser: validated, every condition
//! decided. A run takes exactly the steps of its plan.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use time::{Date, Month};

use super::file::{Do, Field, Form, Page, Rule, When, Wizard};
use super::schema::{self, Problem};

/// Everything that a run will do.
#[derive(Debug)]
pub struct Plan<'a> {
    pub pages: Vec<PlannedPage<'a>>,
}

#[derive(Debug)]
pub struct PlannedPage<'a> {
    pub page: &'a Page,
    pub steps: Vec<Step<'a>>,
}

/// One thing that is done to one control.
pub struct Step<'a> {
    /// Where the value stands in the data; empty for what has none.
    pub pointer: String,
    pub action: Action<'a>,
}

pub enum Action<'a> {
    Fill {
        find: &'a [String],
        text: String,
    },
    /// A control of its own for the value: a radio button.
    Choose {
        find: &'a [String],
        value: &'a str,
    },
    /// An option of a select.
    Select {
        find: &'a [String],
        option: String,
    },
    Check {
        find: &'a [String],
        state: bool,
    },
    Typeahead {
        find: &'a [String],
        list: &'a [String],
        text: String,
    },
    Press {
        find: &'a [String],
    },
    Repeat {
        field: &'a Field,
        rows: Vec<Vec<Step<'a>>>,
    },
}

impl std::fmt::Debug for Step<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.action.name(), self.pointer, self.action.shown())
    }
}

impl Action<'_> {
    pub const fn name(&self) -> &'static str {
        match self {
            Action::Fill { .. } => "fill",
            Action::Choose { .. } | Action::Select { .. } => "choose",
            Action::Check { .. } => "check",
            Action::Typeahead { .. } => "typeahead",
            Action::Press { .. } => "press",
            Action::Repeat { .. } => "repeat",
        }
    }

    /// What is entered, without saying it: a choice by its name, anything else by its shape.
    pub fn shown(&self) -> String {
        match self {
            Action::Fill { text, .. } | Action::Typeahead { text, .. } => hidden(text),
            Action::Choose { value, .. } => (*value).to_string(),
            Action::Select { option, .. } => hidden(option),
            Action::Check { state, .. } => if *state { "on" } else { "off" }.to_string(),
            Action::Press { .. } => String::new(),
            Action::Repeat { rows, .. } => match rows.len() {
                1 => "1 row".into(),
                n => format!("{n} rows"),
            },
        }
    }
}

fn hidden(text: &str) -> String {
    let count = text.chars().count();
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let what = if is_number { "digit" } else { "character" };
    format!("••• ({count} {what}{})", if count == 1 { "" } else { "s" })
}

/// The steps for this data, or everything that is wrong with it.
pub fn plan<'a>(wizard: &'a Wizard, data: &Value, today: Date) -> Result<Plan<'a>, Vec<Problem>> {
    let mut problems = schema::validate(&wizard.schema, data);
    let empty = Map::new();
    let given = data.as_object().unwrap_or(&empty);
    if problems.is_empty() {
        problems.extend(wizard.rules.iter().filter_map(|rule| broken(rule, given, today)));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut used = BTreeSet::new();
    let mut pages = Vec::new();
    for page in wizard.pages.iter().filter(|page| holds(&page.when, given)) {
        used.extend(page.when.keys().map(String::as_str));
        let steps = steps(&page.fields, given, "", &mut used).map_err(|problem| vec![problem])?;
        pages.push(PlannedPage { page, steps });
    }
    let unused = given.keys().filter(|name| !used.contains(name.as_str()));
    let unused: Vec<Problem> = unused.map(|name| not_asked(name)).collect();
    if unused.is_empty() { Ok(Plan { pages }) } else { Err(unused) }
}

fn not_asked(name: &str) -> Problem {
    let message = "is not asked for with these answers; leave it out".to_string();
    Problem { pointer: format!("/{name}"), rule: "when", message }
}

/// The steps of some fields, in order.
fn steps<'a>(
    fields: &'a [Field],
    given: &Map<String, Value>,
    at: &str,
    used: &mut BTreeSet<&'a str>,
) -> Result<Vec<Step<'a>>, Problem> {
    let mut steps = Vec::new();
    for field in fields.iter().filter(|field| holds(&field.when, given)) {
        used.extend(field.when.keys().map(String::as_str));
        let Some(name) = &field.field else {
            steps
                .push(Step { pointer: String::new(), action: Action::Press { find: &field.find } });
            continue;
        };
        let Some(value) = given.get(name) else {
            if field.optional {
                continue;
            }
            let (pointer, message) = (format!("{at}/{name}"), "is missing".to_string());
            return Err(Problem { pointer, rule: "required", message });
        };
        used.insert(name);
        let pointer = format!("{at}/{name}");
        let unfit = |message: &str| Problem {
            pointer: pointer.clone(),
            rule: "type",
            message: message.to_string(),
        };
        let action = match field.action {
            Do::Press => Action::Press { find: &field.find },
            Do::Check => Action::Check {
                find: &field.find,
                state: value.as_bool().ok_or_else(|| unfit("takes true or false"))?,
            },
            Do::Repeat => Action::Repeat { field, rows: rows(field, value, &pointer)? },
            Do::Fill | Do::Typeahead | Do::Choose => {
                let text = written(value, field.form).ok_or_else(|| unfit("can't be written"))?;
                entered(field, text).ok_or_else(|| unfit("is no option of this form"))?
            }
        };
        steps.push(Step { pointer, action });
    }
    Ok(steps)
}

fn entered(field: &Field, text: String) -> Option<Action<'_>> {
    let find = &field.find[..];
    Some(match field.action {
        Do::Typeahead => Action::Typeahead { find, list: &field.list, text },
        Do::Choose if field.options.is_empty() => Action::Select { find, option: text },
        Do::Choose => {
            let (value, choice) = field.options.get_key_value(&text)?;
            match &choice.option {
                Some(option) => Action::Select { find, option: option.clone() },
                None => Action::Choose { find: &choice.find, value },
            }
        }
        _ => Action::Fill { find, text },
    })
}

fn rows<'a>(field: &'a Field, value: &Value, pointer: &str) -> Result<Vec<Vec<Step<'a>>>, Problem> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let empty = Map::new();
    let row = |(n, item): (usize, &Value)| {
        let given = item.as_object().unwrap_or(&empty);
        steps(&field.parts, given, &format!("{pointer}/{n}"), &mut BTreeSet::new())
    };
    items.iter().enumerate().map(row).collect()
}

/// A value as it is typed.
pub fn written(value: &Value, form: Option<Form>) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Bool(state) => state.to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => {
                format!("{}", float as i64)
            }
            Some(float) if form == Some(Form::Dollars) => format!("{float:.2}"),
            _ => number.to_string(),
        },
        _ => return None,
    };
    match form {
        None | Some(Form::Dollars) => Some(text),
        Some(part) => {
            let mut parts = text.splitn(3, '-');
            let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
            Some(match part {
                Form::Year => year.to_string(),
                Form::Month => month.to_string(),
                _ => day.to_string(),
            })
        }
    }
}

/// Whether all conditions hold.
pub fn holds(when: &When, given: &Map<String, Value>) -> bool {
    when.iter().all(|(name, wanted)| match (presence(wanted), given.get(name)) {
        (Some(is_present), found) => found.is_some() == is_present,
        (None, Some(found)) => match (wanted.as_f64(), found.as_f64()) {
            (Some(a), Some(b)) => a == b,
            _ => wanted == found,
        },
        (None, None) => false,
    })
}

/// `{"present": true}` asks whether an answer was given at all.
pub fn presence(wanted: &Value) -> Option<bool> {
    wanted.as_object()?.get("present")?.as_bool()
}

/// What a rule has against the data, if anything.
fn broken(rule: &Rule, given: &Map<String, Value>, today: Date) -> Option<Problem> {
    let text = |name: &String| given.get(name).and_then(|value| written(value, None));
    let parts: Vec<String> = match &rule.day[..] {
        [one] => text(one)?.splitn(3, '-').map(str::to_string).collect(),
        several => several.iter().map(text).collect::<Option<_>>()?,
    };
    let pointer = format!("/{}", rule.day.last().cloned().unwrap_or_default());
    let problem = |rule: &'static str, message: String| {
        Some(Problem { pointer: pointer.clone(), rule, message })
    };
    let number = |n: usize| parts.get(n).and_then(|part| part.parse::<u16>().ok());
    let day = (|| {
        let month = Month::try_from(u8::try_from(number(1)?).ok()?).ok()?;
        let day = u8::try_from(number(2)?).ok()?;
        Date::from_calendar_date(i32::from(number(0)?), month, day).ok()
    })();
    let Some(day) = day else {
        return problem("day", "is no day of that month".into());
    };
    if day > today {
        return problem("day", "lies in the future".into());
    }
    if rule.this_year && day.year() != today.year() {
        return problem("this_year", format!("must lie in {}", today.year()));
    }
    let had_birthday = (today.month() as u8, today.day()) >= (day.month() as u8, day.day());
    let age = today.year() - day.year() - i32::from(!had_birthday);
    match rule.min_age {
        Some(least) if age < i32::try_from(least).unwrap_or(i32::MAX) => {
            problem("min_age", format!("must be at least {least} years ago"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_as_forms_take_them() {
        for (value, form, text) in [
            (json!("05"), None, "05"),
            (json!(75000), None, "75000"),
            (json!(75000.0), None, "75000"),
            (json!(12.5), Some(Form::Dollars), "12.50"),
            (json!(12), Some(Form::Dollars), "12"),
            (json!("2026-04-05"), Some(Form::Month), "04"),
            (json!("2026-04-05"), Some(Form::Day), "05"),
            (json!("2026-04-05"), Some(Form::Year), "2026"),
            (json!(true), None, "true"),
        ] {
            assert_eq!(written(&value, form).as_deref(), Some(text), "{value}");
        }
        assert_eq!(written(&json!([]), None), None);
        assert_eq!(written(&json!("2026"), Some(Form::Day)), None);
    }

    #[test]
    fn days_must_exist_and_lie_where_they_should() {
        let today = Date::from_calendar_date(2026, Month::November, 17).unwrap();
        let rule = |min_age, this_year| Rule { day: vec!["day".into()], min_age, this_year };
        let broken = |rule: &Rule, day: &str| {
            let data = json!({ "day": day });
            broken(rule, data.as_object().unwrap(), today).map(|problem| problem.rule)
        };
        let plain = rule(None, false);
        assert_eq!(broken(&plain, "2000-02-29"), None);
        for bad in ["2001-02-29", "2000-06-31", "2000-13-01", "2000-00-01", "2000-1", "x", ""] {
            assert_eq!(broken(&plain, bad), Some("day"), "{bad}");
        }
        assert_eq!(broken(&plain, "2026-11-18"), Some("day"));
        let old = rule(Some(22), false);
        assert_eq!(broken(&old, "2004-11-17"), None);
        assert_eq!(broken(&old, "2004-11-18"), Some("min_age"));
        let recent = rule(None, true);
        assert_eq!(broken(&recent, "2026-01-02"), None);
        assert_eq!(broken(&recent, "2025-12-31"), Some("this_year"));
    }
}
