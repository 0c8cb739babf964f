//! Arguments of a call as a surface received them: named values that no capability has read yet.
//! Where a value came from decides how it is split, and nothing else: text of a query string may
//! list values with commas, a JSON string or a path segment is always one value.

use std::borrow::Cow;

use serde_json::Value;

use super::error::{Error, Result};

/// Bytes of one string. Longer ones are pasted documents, not arguments.
pub const LONGEST_TEXT: usize = 2_000;
/// Bytes of a cursor, which holds the sort value of the last item.
pub const LONGEST_CURSOR: usize = 8_000;
/// Values in one list.
pub const MOST_VALUES: usize = 100;
/// Filters in one call.
pub const MOST_FILTERS: usize = 32;
/// How many items a surface wants at once where it shows or streams a whole list.
pub const WHOLE_PAGE: &str = "{limit}";
/// How well a name must fit where a surface shows only those that fit well, from 0 to 1.
pub const LEAST_FIT: &str = "{fit}";
/// Bytes of a whole query string.
const LONGEST_QUERY: usize = 16 * 1024;

/// One argument's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// From a query string: commas separate values unless they stand in double quotes.
    Query(String),
    /// One value, whatever it holds.
    One(String),
    List(Vec<String>),
}

impl Given {
    /// A JSON value: a string, number or boolean, or a list of them.
    pub fn from_json(value: &Value) -> Option<Given> {
        let scalar = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        match value {
            Value::Array(items) => items.iter().map(scalar).collect::<Option<_>>().map(Given::List),
            other => scalar(other).map(Given::One),
        }
    }

    /// The one value of an argument that takes no list.
    pub fn one(&self, name: &str) -> Result<&str> {
        match self {
            Given::Query(text) | Given::One(text) => within(name, text),
            Given::List(values) => match values.as_slice() {
                [one] => within(name, one),
                _ => Err(Error::invalid(name, format!("`{name}` takes one value."))),
            },
        }
    }

    /// The values of an argument that may list several.
    pub fn values(&self, name: &str) -> Result<Vec<Cow<'_, str>>> {
        let values: Vec<Cow<'_, str>> = match self {
            Given::Query(text) => split(text).into_iter().map(Cow::Owned).collect(),
            Given::One(text) => vec![Cow::Borrowed(text.as_str())],
            Given::List(values) => values.iter().map(|v| Cow::Borrowed(v.as_str())).collect(),
        };
        let values: Vec<_> = values.into_iter().filter(|v| !v.trim().is_empty()).collect();
        if values.len() > MOST_VALUES {
            let message =
                format!("`{name}` lists {} values; the limit is {MOST_VALUES}.", values.len());
            return Err(Error::invalid(name, message));
        }
        values.iter().try_for_each(|value| within(name, value).map(drop))?;
        Ok(values)
    }

    /// The value as one text, for explanations.
    pub fn shown(&self) -> String {
        match self {
            Given::Query(text) | Given::One(text) => text.clone(),
            Given::List(values) => values.join(", "),
        }
    }
}

fn within<'a>(name: &str, text: &'a str) -> Result<&'a str> {
    if text.len() > LONGEST_TEXT {
        let message = format!("`{name}` is longer than {LONGEST_TEXT} bytes.");
        return Err(Error::invalid(name, message).hint("max_bytes", LONGEST_TEXT));
    }
    Ok(text)
}

/// Comma-separated values; one that holds a comma is written in double quotes.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut in_quotes = false;
    for c in text.chars() {
        match (c, parts.last_mut()) {
            ('"', _) => in_quotes = !in_quotes,
            (',', _) if !in_quotes => parts.push(String::new()),
            (c, Some(part)) => part.push(c),
            (_, None) => {}
        }
    }
    parts.iter().map(|part| part.trim().to_string()).collect()
}

/// Named values in the order in which they were given.
#[derive(Clone, Debug, Default)]
pub struct Arguments(Vec<(Cow<'static, str>, Given)>);

impl Arguments {
    /// Reads a query string.
    pub fn from_query(query: &str) -> Result<Arguments> {
        if query.len() > LONGEST_QUERY {
            let message = format!("The query string is longer than {LONGEST_QUERY} bytes.");
            return Err(Error::invalid("query", message));
        }
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((Cow::Owned(decode(name)?), Given::Query(decode(value)?)))
        });
        Ok(Arguments(pairs.collect::<Result<_>>()?))
    }

    /// The arguments in the query string of a request. Names in braces are those of the variables
    /// of a path: no caller gives them.
    pub fn from_request(query: &str) -> Result<Arguments> {
        let arguments = Arguments::from_query(query)?;
        if let Some((name, _)) = arguments.iter().find(|(name, _)| name.starts_with('{')) {
            return Err(unknown(name, &[]));
        }
        Ok(arguments)
    }

    /// The members of a JSON object. An object among them stays JSON; the operation reads it.
    pub fn from_body(body: &[u8]) -> Result<Arguments> {
        let body: Value = serde_json::from_slice(body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Error::invalid("body", format!("The body is not JSON: line {line}, column {column}."))
        })?;
        let Value::Object(members) = body else {
            return Err(Error::invalid("body", "The body must be a JSON object."));
        };
        let mut arguments = Arguments::default();
        for (name, value) in members {
            if name.starts_with('{') {
                return Err(unknown(&name, &[]));
            }
            let given = match &value {
                Value::Null => continue,
                Value::Object(_) => Some(Given::One(value.to_string())),
                other => Given::from_json(other),
            };
            let wrong = || Error::invalid(name.as_str(), format!("`{name}` can't be read."));
            let given = given.ok_or_else(wrong)?;
            arguments.push(name, given);
        }
        Ok(arguments)
    }

    pub fn push(&mut self, name: impl Into<Cow<'static, str>>, value: Given) {
        self.0.push((name.into(), value));
    }

    /// Adds a value that is one whatever it holds.
    pub fn push_one(&mut self, name: &'static str, value: impl Into<String>) {
        self.push(name, Given::One(value.into()));
    }

    /// Adds all of these.
    pub fn extend(&mut self, others: Arguments) {
        self.0.extend(others.0);
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Given)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    pub fn has(&self, name: &str) -> bool {
        self.iter().any(|(given, _)| given == name)
    }

    /// Replaces values of the arguments whose names pass the test; nothing leaves a value as it is.
    pub fn replace_values(
        &mut self,
        is_meant: impl Fn(&str) -> bool,
        mut replace: impl FnMut(&str, &str) -> Result<Option<Vec<String>>>,
    ) -> Result<()> {
        for (name, given) in self.0.iter_mut().filter(|(name, _)| is_meant(name)) {
            let mut is_changed = false;
            let mut values = Vec::new();
            for value in given.values(name)? {
                let replaced = replace(name, &value)?;
                is_changed |= replaced.is_some();
                values.extend(replaced.unwrap_or_else(|| vec![value.into_owned()]));
            }
            if is_changed {
                *given = Given::List(values);
            }
        }
        Ok(())
    }

    /// The one value of an argument, which stays.
    pub fn one(&self, name: &str) -> Option<&str> {
        let (_, given) = self.iter().find(|(given, _)| *given == name)?;
        given.one(name).ok()
    }

    /// Takes an argument out; giving it twice is an error.
    pub fn take(&mut self, name: &str) -> Result<Option<Given>> {
        let mut taken = self.0.extract_if(.., |(given, _)| given == name);
        match (taken.next(), taken.next()) {
            (_, Some(_)) => Err(Error::invalid(name, format!("`{name}` is given twice."))),
            (first, None) => Ok(first.map(|(_, value)| value)),
        }
    }

    /// Takes out a text that may be longer than others, up to so many bytes.
    pub fn take_long(&mut self, name: &str, longest: usize) -> Result<Option<String>> {
        let text = match self.take(name)? {
            None => return Ok(None),
            Some(Given::Query(text) | Given::One(text)) => text,
            Some(list) => list.one(name)?.to_string(),
        };
        if text.len() > longest {
            let message = format!("`{name}` is longer than {longest} bytes.");
            return Err(Error::invalid(name, message).hint("max_bytes", longest));
        }
        Ok(Some(text))
    }

    /// Takes out the one value of an argument.
    pub fn take_one(&mut self, name: &str) -> Result<Option<String>> {
        self.take(name)?.map(|given| given.one(name).map(str::to_string)).transpose()
    }

    /// Takes out an argument that an operation can't do without.
    pub fn require(&mut self, name: &str) -> Result<String> {
        let missing = || Error::invalid(name, format!("`{name}` is missing."));
        self.take_one(name)?.ok_or_else(missing)
    }

    /// An error when anything is left that nobody read.
    pub fn finish(&self, valid: &[&str]) -> Result<()> {
        let Some((name, _)) = self.iter().next() else { return Ok(()) };
        Err(unknown(name, valid))
    }
}

/// The error for a parameter that an operation does not have.
pub fn unknown(name: &str, valid: &[&str]) -> Error {
    let shown: String = name.chars().take(60).collect();
    let error = Error::invalid(shown.as_str(), format!("There is no parameter {shown:?} here."));
    match valid {
        [] => error.hint("next", "This takes no parameters."),
        valid => error.suggest(&shown, valid.iter().copied()),
    }
}

/// Decodes one part of a query string; anything but UTF-8 is an error, not a guess.
fn decode(text: &str) -> Result<String> {
    let spaced = text.replace('+', " ");
    match percent_encoding::percent_decode(spaced.as_bytes()).decode_utf8() {
        Ok(text) if !text.contains('\0') => Ok(text.into_owned()),
        _ => Err(Error::invalid("query", "The query string is not valid percent-encoded UTF-8.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Given the same text from JSON and from a query string, only the latter is split at commas.
    #[test]
    fn a_comma_separates_values_only_in_a_query_string_and_outside_quotes() {
        let values = |given: Given| -> Vec<String> {
            given.values("client").unwrap().into_iter().map(Cow::into_owned).collect()
        };
        let query = |text: &str| values(Given::Query(text.into()));
        assert_eq!(query("118,119"), ["118", "119"]);
        assert_eq!(query(r#""VISA, INC.", Pfizer"#), ["VISA, INC.", "Pfizer"]);
        assert!(query(",,").is_empty());
        let json = |value: Value| values(Given::from_json(&value).unwrap());
        assert_eq!(json(json!("VISA, INC.")), ["VISA, INC."]);
        assert_eq!(json(json!(["VISA, INC.", 7, true])), ["VISA, INC.", "7", "true"]);
        assert_eq!(json(json!("a \"quoted\" name")), ["a \"quoted\" name"]);
        assert_eq!(Given::from_json(&json!({})), None);
    }

    #[test]
    fn strings_and_lists_have_limits() {
        let long = "x".repeat(LONGEST_TEXT + 1);
        assert!(Given::One(long.clone()).one("q").unwrap_err().message.contains("2000 bytes"));
        assert!(Given::List(vec![long]).values("q").is_err());
        let many = vec!["a".to_string(); MOST_VALUES + 1];
        assert!(Given::Query(many.join(",")).values("q").unwrap_err().message.contains("101"));
        assert!(Arguments::from_query(&"a=b&".repeat(5_000)).is_err());
    }

    #[test]
    fn an_argument_is_taken_once_and_what_is_left_is_named() {
        let mut arguments = Arguments::from_query("limit=5&limt=3").unwrap();
        assert_eq!(arguments.take_one("limit").unwrap().as_deref(), Some("5"));
        let error = arguments.finish(&["limit"]).unwrap_err();
        assert_eq!(
            (error.field.as_deref(), error.hint["did_you_mean"].as_str()),
            (Some("limt"), Some("limit"))
        );
        assert!(Arguments::from_query("a=1&a=2").unwrap().take("a").is_err());
        for bad in ["a=%ff", "%00=1"] {
            assert!(Arguments::from_query(bad).is_err(), "{bad}");
        }
    }
}
