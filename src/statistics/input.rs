//! Arguments of the tools, as the reference names them. Whatever is wrong with them is a
//! `VALIDATION_ERROR`, also a wrong type: the caller can mend it.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::api::{Arguments, Given, Result};
use crate::boj::question::frequency;
use crate::boj::{Endpoint, Failure, Format, Lang, Question, Window};

/// The argument that holds all others, as they were given.
pub const WHOLE: &str = "{arguments}";

/// Bytes of all arguments: 1,250 codes have some 30,000.
const MOST_BYTES: usize = 100_000;

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub enum FormatName {
    #[default]
    #[serde(rename = "json", alias = "JSON", alias = "Json")]
    Json,
    #[serde(rename = "csv", alias = "CSV", alias = "Csv")]
    Csv,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub enum LangName {
    #[default]
    #[serde(rename = "jp", alias = "JP", alias = "Jp")]
    Jp,
    #[serde(rename = "en", alias = "EN", alias = "En")]
    En,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataCode {
    db: String,
    codes: Vec<String>,
    format: Option<FormatName>,
    lang: Option<LangName>,
    start_date: Option<String>,
    end_date: Option<String>,
    start_position: Option<u64>,
    pub include_raw: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataLayer {
    db: String,
    frequency: String,
    layers: Vec<String>,
    format: Option<FormatName>,
    lang: Option<LangName>,
    start_date: Option<String>,
    end_date: Option<String>,
    start_position: Option<u64>,
    pub include_raw: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    db: String,
    format: Option<FormatName>,
    lang: Option<LangName>,
    pub include_raw: Option<bool>,
    /// Words of the name or the code.
    pub contains: Option<String>,
    pub layers: Option<Vec<String>>,
    pub start_position: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterCatalog {
    pub endpoint: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageCatalog {
    pub status: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Reads all arguments of a call.
pub fn read<T: DeserializeOwned>(
    arguments: &mut Arguments,
) -> Result<std::result::Result<T, Failure>> {
    let given = match arguments.take(WHOLE)? {
        Some(Given::One(text)) => text,
        _ => "{}".to_string(),
    };
    if given.len() > MOST_BYTES {
        let message = format!("The arguments have more than {MOST_BYTES} bytes");
        return Ok(Err(Failure::invalid(message)));
    }
    Ok(serde_json::from_str(&given).map_err(|error| {
        // Without the place, which is one in our own text.
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(m, _)| m);
        Failure::invalid(format!("The arguments can't be read: {message}"))
    }))
}

fn question(
    db: String,
    format: Option<FormatName>,
    lang: Option<LangName>,
    endpoint: Endpoint,
) -> std::result::Result<Question, Failure> {
    let format = match format.unwrap_or_default() {
        FormatName::Json => Format::Json,
        FormatName::Csv => Format::Csv,
    };
    let lang = match lang.unwrap_or_default() {
        LangName::Jp => Lang::Jp,
        LangName::En => Lang::En,
    };
    Question { format, lang, db, endpoint }.checked()
}

impl DataCode {
    pub fn question(self) -> std::result::Result<Question, Failure> {
        let (start, end, position) = (self.start_date, self.end_date, self.start_position);
        let endpoint =
            Endpoint::Code { codes: self.codes, window: Window { start, end, position } };
        question(self.db, self.format, self.lang, endpoint)
    }
}

impl DataLayer {
    pub fn question(self) -> std::result::Result<Question, Failure> {
        let (start, end, position) = (self.start_date, self.end_date, self.start_position);
        let window = Window { start, end, position };
        let frequency = frequency(&self.frequency)?;
        let endpoint = Endpoint::Layer { layers: self.layers, frequency, window };
        question(self.db, self.format, self.lang, endpoint)
    }
}

impl Metadata {
    pub fn question(&self) -> std::result::Result<Question, Failure> {
        question(self.db.clone(), self.format, self.lang, Endpoint::Metadata)
    }
}
