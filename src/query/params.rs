//! The query string as decoded pairs.

use percent_encoding::percent_decode;

use crate::error::{Error, Result};

/// Longer query strings are not written by people or agents; a bound keeps parsing cheap.
const LONGEST: usize = 16 * 1024;

#[derive(Clone, Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    pub fn parse(query: &str) -> Result<Params> {
        if query.len() > LONGEST {
            return Err(Error::invalid("query", format!("The query string is longer than {LONGEST} bytes.")));
        }
        let pairs = query.split('&').filter(|p| !p.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        });
        Ok(Params(pairs.collect::<Result<_>>()?))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }

    pub fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_string(), value.to_string()));
    }

    /// The first value with this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// Gives the parameter another value.
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.retain(|(n, _)| n != name);
        self.push(name, value);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Decodes one part of a URL; what is not UTF-8 is an error, not a guess.
pub fn decode(text: &str) -> Result<String> {
    let spaced = text.replace('+', " ");
    match percent_decode(spaced.as_bytes()).decode_utf8() {
        Ok(text) if !text.contains('\0') => Ok(text.into_owned()),
        _ => Err(Error::invalid("query", "The query string is not valid percent-encoded UTF-8.")),
    }
}
