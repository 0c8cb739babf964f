//! Answers of the Bank, decoded: the same from JSON and from CSV.

use std::collections::BTreeMap;

use super::catalog;

/// The members of a row that are not extras, as the Bank names them.
pub const SERIES_MEMBERS: &[&str] = &[
    "SERIES_CODE",
    "NAME_OF_TIME_SERIES_J",
    "NAME_OF_TIME_SERIES",
    "UNIT_J",
    "UNIT",
    "FREQUENCY",
    "CATEGORY_J",
    "CATEGORY",
    "LAST_UPDATE",
];

/// Further members of the rows of a database's list.
pub const ENTRY_MEMBERS: &[&str] = &[
    "LAYER1",
    "LAYER2",
    "LAYER3",
    "LAYER4",
    "LAYER5",
    "START_OF_THE_TIME_SERIES",
    "END_OF_THE_TIME_SERIES",
    "NOTES_J",
    "NOTES",
];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub status: i64,
    pub message_id: String,
    pub message: String,
    pub date: Option<String>,
    /// As asked, in upper case.
    pub parameter: BTreeMap<String, String>,
    /// Of a database's list.
    pub db: Option<String>,
    pub next_position: Option<u64>,
    pub rows: Vec<Row>,
}

/// A series with its values, or a row of a database's list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Members by the Bank's names; blank ones are absent.
    pub members: BTreeMap<String, String>,
    pub points: Vec<Point>,
    /// Its place in the database's list, where it is known.
    pub position: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub period: String,
    pub value: Option<String>,
}

impl Row {
    pub fn member(&self, name: &str) -> &str {
        self.members.get(name).map_or("", String::as_str)
    }

    pub fn set(&mut self, name: &str, value: &str) {
        if !value.trim().is_empty() {
            self.members.insert(name.to_string(), value.trim().to_string());
        }
    }
}

impl Answer {
    /// An answer with a message of the Bank.
    pub fn with_message(id: &str, is_japanese: bool) -> Answer {
        let known = catalog::message_with(id);
        let text = known.map_or("", |m| if is_japanese { m.japanese } else { m.english });
        Answer {
            status: known.map_or(500, |message| message.status),
            message_id: id.to_string(),
            message: text.to_string(),
            ..Answer::default()
        }
    }

    /// The answer, or the error that it is.
    pub fn checked(self) -> Result<Answer, Failure> {
        if self.status == 200 {
            return Ok(self);
        }
        let kind = FailureKind::Api { status: self.status, message_id: self.message_id };
        Err(Failure { kind, message: self.message })
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The question can't be asked.
    Validation,
    /// The Bank could not be reached, or something between it and us answered.
    Transport,
    /// Its answer can't be read.
    Decode,
    /// It refused.
    Api { status: i64, message_id: String },
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into() }
    }

    pub fn invalid(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Validation, message)
    }

    /// Whether the same question may be answered later.
    pub fn is_retryable(&self) -> bool {
        match &self.kind {
            FailureKind::Transport => true,
            FailureKind::Api { status, .. } => [500, 503].contains(status),
            FailureKind::Validation | FailureKind::Decode => false,
        }
    }

    pub fn name(&self) -> &'static str {
        match self.kind {
            FailureKind::Validation => "VALIDATION_ERROR",
            FailureKind::Transport => "TRANSPORT_ERROR",
            FailureKind::Decode => "DECODE_ERROR",
            FailureKind::Api { .. } => "API_ERROR",
        }
    }
}
