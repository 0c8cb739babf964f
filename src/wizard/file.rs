//! A wizard file, version 1: one form of one agency, as JSON. Types only; `check` says whether a
//! file holds together, `plan` what it does with somebody's data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the format that this program reads.
pub const VERSION: u32 = 1;

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Wizard {
    pub josh_wizard: u32,
    pub wizard_id: String,
    pub wizard_name: String,
    /// Who runs the form.
    pub agency: String,
    /// Where a run begins.
    pub url: String,
    /// The only hosts that the browser may talk to.
    pub hosts: Vec<String>,
    /// How long a run usually takes.
    pub seconds: u32,
    pub provenance: Provenance,
    /// What a run does in the world.
    pub effect: String,
    /// The contract: JSON Schema draft-07 of the user's data.
    pub schema: Value,
    /// What a schema can't say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// What is pressed before the first page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<Press>,
    pub pages: Vec<Page>,
    pub outcomes: Vec<Outcome>,
    pub examples: Vec<Example>,
}

/// Where the description comes from, and how far it was tried.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    pub status: Status,
    pub recorded_on: String,
    pub from: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// From other people's material; never run by whoever wrote the file.
    Described,
    /// Recorded from the real pages.
    Recorded,
    /// A whole run with the examples succeeded.
    Verified,
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Status::Described => "described",
            Status::Recorded => "recorded",
            Status::Verified => "verified",
        }
    }
}

/// A day that must exist, and what else is asked of it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// One property with a day (2026-04-15), or those of year, month and day.
    pub day: Vec<String>,
    /// Years that must have passed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_age: Option<u32>,
    /// Whether it must lie in the running year.
    #[serde(default, skip_serializing_if = "is_false")]
    pub this_year: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Equality or presence of answers: all must hold.
pub type When = Map<String, Value>;

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub id: String,
    pub title: String,
    /// What makes this page this page.
    pub at: At,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub when: When,
    pub fields: Vec<Field>,
    pub next: Press,
    /// Where the form says what it refuses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// Controls that are required on the page and are left as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untouched: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct At {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Locators of elements that are there, seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub has: Vec<String>,
    /// Words that the page shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
}

impl At {
    pub fn is_empty(&self) -> bool {
        self.path.is_none() && self.has.is_empty() && self.text.is_empty()
    }
}

/// A button or link.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Press {
    pub find: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The property that it takes; `press` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    #[serde(rename = "do")]
    pub action: Do,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub find: Vec<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub when: When,
    /// Whether the form takes the page without it. Anything else is required when it is asked for.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
    /// How the value is written.
    #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// For `choose`: a control for each value, or the option of the select at `find`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Choice>,
    /// For `typeahead`: the list that appears.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
    /// For `repeat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<Press>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub save: Option<Press>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Field>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Do {
    Fill,
    Choose,
    /// Sets a state; never toggles.
    Check,
    Typeahead,
    Repeat,
    Press,
}

impl Do {
    pub const fn name(self) -> &'static str {
        match self {
            Do::Fill => "fill",
            Do::Choose => "choose",
            Do::Check => "check",
            Do::Typeahead => "typeahead",
            Do::Repeat => "repeat",
            Do::Press => "press",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    Year,
    /// Two digits.
    Month,
    Day,
    /// A sum without cents where it has none.
    Dollars,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// A radio button or another control of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub find: Vec<String>,
    /// The option of a select, by its value or its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
}

/// A way in which the form can end.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub id: String,
    pub about: String,
    pub at: At,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub results: BTreeMap<String, ResultSpec>,
}

/// A value to read: an element, or what follows words on the page.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ResultSpec {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub find: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(rename = "as")]
    pub kind: ResultKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultKind {
    Dollars,
    Number,
    Text,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// `$TODAY` stands for the day of the run: some forms take only recent days.
    pub user_data: Value,
    pub outcome: String,
}

impl Example {
    pub fn data(&self, today: time::Date) -> Value {
        let mut data = self.user_data.clone();
        let iso = format!("{}-{:02}-{:02}", today.year(), today.month() as u8, today.day());
        for value in data.as_object_mut().into_iter().flat_map(|fields| fields.values_mut()) {
            if value == "$TODAY" {
                *value = Value::from(iso.as_str());
            }
        }
        data
    }
}

impl Wizard {
    /// Reads a file. The error says what is wrong and where.
    pub fn read(text: &str) -> Result<Wizard, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        match value.get("josh_wizard") {
            Some(version) if version.as_u64() == Some(u64::from(VERSION)) => {}
            Some(_) => return Err(format!("josh_wizard: this program reads version {VERSION}")),
            None => {
                return Err("josh_wizard is missing: this is no wizard file of Josh. Files of \
                            FederalRunner are read by josh forms import"
                    .into());
            }
        }
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    pub fn property(&self, name: &str) -> Option<&Value> {
        self.schema.get("properties")?.get(name)
    }

    /// Names of the properties, in the order of the schema.
    pub fn properties(&self) -> impl Iterator<Item = &str> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|properties| properties.keys()).map(String::as_str)
    }
}
