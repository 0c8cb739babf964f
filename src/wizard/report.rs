//! What came of a run: how far it got, what it read, and if it failed, on which page and why.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde_json::{Value, json};

use super::file::ResultKind;

/// How far behind its words a number may stand.
const MOST_BEHIND: usize = 200;

/// Why a run did not reach an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The page is not the one of the file.
    PageChanged,
    FormRefused,
    FieldNotTaken,
    SiteRefused,
    Timeout,
    /// Nobody waits for it any more.
    Cancelled,
    BrowserUnavailable,
}

impl FailureKind {
    pub const fn code(self) -> &'static str {
        match self {
            FailureKind::PageChanged => "wizard_page_changed",
            FailureKind::FormRefused => "wizard_form_refused",
            FailureKind::FieldNotTaken => "wizard_field_not_taken",
            FailureKind::SiteRefused => "wizard_site_refused",
            FailureKind::Timeout => "wizard_timeout",
            FailureKind::Cancelled => "cancelled",
            FailureKind::BrowserUnavailable => "browser_unavailable",
        }
    }
}

/// A failure, without anybody's data. Boxed: failures travel in every `Result`.
#[derive(Clone, Debug)]
pub struct Failure(Box<Details>);

impl std::ops::Deref for Failure {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl std::ops::DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

#[derive(Clone, Debug)]
pub struct Details {
    pub kind: FailureKind,
    pub message: String,
    pub page: Option<String>,
    /// JSON Pointer into the data.
    pub field: Option<String>,
    pub expected: Vec<String>,
    pub found: Vec<String>,
    /// The form's own words.
    pub form_says: Vec<String>,
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure(Box::new(Details {
            kind,
            message: message.into(),
            page: None,
            field: None,
            expected: Vec::new(),
            found: Vec::new(),
            form_says: Vec::new(),
        }))
    }

    pub fn on(mut self, page: &str) -> Failure {
        self.page.get_or_insert_with(|| page.to_string());
        self
    }

    pub fn field(mut self, pointer: &str) -> Failure {
        self.field.get_or_insert_with(|| pointer.to_string());
        self
    }

    pub fn expected(mut self, expected: impl IntoIterator<Item = String>) -> Failure {
        self.expected.extend(expected);
        self
    }

    pub fn found(mut self, found: impl IntoIterator<Item = String>) -> Failure {
        self.found.extend(found);
        self
    }
}

/// A picture of a page.
pub struct Picture {
    pub title: String,
    pub base64: String,
}

/// An outcome of the file, and what was read there.
#[derive(Debug)]
pub struct Reached {
    pub outcome: String,
    pub results: BTreeMap<String, Reading>,
    /// The address without its query.
    pub url: String,
}

/// A value with the text that it was read from.
#[derive(Debug)]
pub struct Reading {
    pub kind: ResultKind,
    pub value: Value,
    pub text: String,
}

impl Reading {
    pub fn to_json(&self) -> Value {
        let kind = match self.kind {
            ResultKind::Dollars => "dollars",
            ResultKind::Number => "number",
            ResultKind::Text => "text",
        };
        json!({ "value": self.value, "type": kind, "text": self.text })
    }

    /// The first number that follows words on a page, as it is written there.
    pub fn text_after(body: &str, label: &str) -> Option<String> {
        static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
            Regex::new(r"[(\u{2212}\u{2013}-]?\s?\$?[0-9][0-9,]*(\.[0-9]+)?\)?").ok()
        });
        let place = Regex::new(&format!("(?i){}", regex::escape(label))).ok()?.find(body)?;
        let behind: String = body[place.end()..].chars().take(MOST_BEHIND).collect();
        Some(NUMBER.as_ref()?.find(&behind)?.as_str().trim().to_string())
    }

    /// Reads a text as what the file says it is.
    pub fn read(kind: ResultKind, text: &str) -> Option<Reading> {
        let text = text.trim().chars().take(500).collect::<String>();
        let value = match kind {
            ResultKind::Text => Some(json!(text)).filter(|_| !text.is_empty()),
            ResultKind::Dollars | ResultKind::Number => number(&text).map(|n| json!(n)),
        }?;
        Some(Reading { kind, value, text })
    }
}

/// The one number in a text: `$1,234.50`, `-1,500`, `(12)`. Two numbers are none.
fn number(text: &str) -> Option<f64> {
    let is_part = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
    let mut numbers = text.split(|c: char| !is_part(c)).filter_map(|part| {
        let digits = part.trim_matches(|c| c == '.' || c == ',').replace(',', "");
        digits.parse::<f64>().ok()
    });
    let one = numbers.next()?;
    if numbers.next().is_some() {
        return None;
    }
    let before = text.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
    let is_negative = before.contains(['-', '\u{2212}', '\u{2013}', '(']);
    Some(if is_negative { -one } else { one })
}

/// Everything about a run.
pub struct Report {
    pub result: Result<Reached, Failure>,
    pub pages_completed: usize,
    pub pages_total: usize,
    pub warnings: Vec<String>,
    pub pictures: Vec<Picture>,
    pub took: Duration,
}

impl Report {
    /// Of a run that did not come to its first page.
    pub fn of_failure(failure: Failure, pages_total: usize) -> Report {
        Report {
            result: Err(failure),
            pages_completed: 0,
            pages_total,
            warnings: Vec::new(),
            pictures: Vec::new(),
            took: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_agencies_write_them() {
        for (text, value) in [
            ("$1,234.50", Some(1234.5)),
            ("$1,543.00 per month", Some(1543.0)),
            ("-1500", Some(-1500.0)),
            ("\u{2212}1,500", Some(-1500.0)),
            ("(12)", Some(-12.0)),
            ("SAI: 0", Some(0.0)),
            ("none", None),
            ("", None),
            ("1 to 2", None),
        ] {
            assert_eq!(number(text), value, "{text}");
        }
        assert!(Reading::read(ResultKind::Text, "  ").is_none());
        let after = |body| Reading::text_after(body, "Student Aid Index");
        assert_eq!(
            after("Your student aid index\n(SAI) is\n -1,500 points").as_deref(),
            Some("-1,500")
        );
        assert_eq!(after("STUDENT AID INDEX: 4242").as_deref(), Some("4242"));
        assert_eq!(after("Student Aid Index"), None);
        assert_eq!(after("7"), None);
    }
}
