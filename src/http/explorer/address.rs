//! Addresses of pages: the path of REST without `/v1`, and the same parameters.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::api::{Arguments, Given};

/// What stays readable in an address.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':').remove(b',');

pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// The page of a record.
pub fn record(source: &str, id: &str) -> String {
    format!("/{source}/{}", encode(id))
}

/// A value as a filter takes it: a comma inside it does not separate two.
pub fn one_value(value: &str) -> String {
    if value.contains(',') { format!("\"{value}\"") } else { value.to_string() }
}

/// The parameters of an address, in order. Forms send empty ones, which mean nothing, and several
/// of one name, which mean alternatives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    pub fn read(arguments: &Arguments) -> Query {
        let mut query = Query::default();
        for (name, given) in arguments.iter() {
            let value = given.shown();
            let value = value.trim();
            if value.is_empty() || name.is_empty() {
                continue;
            }
            match query.0.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = format!("{known},{value}"),
                None => query.0.push((name.to_string(), value.to_string())),
            }
        }
        query
    }

    pub fn of(pairs: &[(&str, &str)]) -> Query {
        Query(pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same with one parameter set.
    pub fn with(&self, name: &str, value: &str) -> Query {
        let mut query = self.without(&[name]);
        query.0.push((name.to_string(), value.to_string()));
        query
    }

    /// The same with a parameter set, unless it has a value already.
    pub fn or(&self, name: &str, value: &str) -> Query {
        if self.has(name) { self.clone() } else { self.with(name, value) }
    }

    pub fn without(&self, names: &[&str]) -> Query {
        Query(self.0.iter().filter(|(name, _)| !names.contains(&name.as_str())).cloned().collect())
    }

    pub fn arguments(&self) -> Arguments {
        let mut arguments = Arguments::default();
        for (name, value) in &self.0 {
            arguments.push(name.clone(), Given::Query(value.clone()));
        }
        arguments
    }

    /// The address with these parameters.
    pub fn at(&self, path: &str) -> String {
        let pairs: Vec<String> = self
            .iter()
            .map(|(name, value)| format!("{}={}", encode(name), encode(value).replace("%20", "+")))
            .collect();
        if pairs.is_empty() { path.to_string() } else { format!("{path}?{}", pairs.join("&")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_written_alike() {
        let read = |text: &str| Query::read(&Arguments::from_query(text).unwrap());
        let query = read("q=clean+water&source=bills&source=saps&since=&client=%22VISA%2C+INC.%22");
        assert_eq!(query.get("source"), Some("bills,saps"));
        assert!(!query.has("since"), "an empty field of a form is no filter");
        let address = query.without(&["source"]).at("/search");
        assert_eq!(address, "/search?q=clean+water&client=%22VISA,+INC.%22");
        assert_eq!(read(address.split_once('?').unwrap().1), query.without(&["source"]));
        assert_eq!(Query::default().at("/bills"), "/bills");
        assert_eq!(record("gao-reports", "GAO/HEHS-98-12"), "/gao-reports/GAO%2FHEHS-98-12");
        assert_eq!(one_value("VISA, INC."), "\"VISA, INC.\"");
    }
}
