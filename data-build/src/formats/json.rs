//! Access to JSON of varying shape: numbers as strings, a single object instead of a list.

use std::fmt;
use std::io::Read;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::tree;

/// The trimmed string or the number at a path of keys; empty if there is none.
pub fn str_at(value: &Value, path: &[&str]) -> String {
    tree::str_at(value, path).into_owned()
}

/// The integer at a path: a number, or a string like "1,234" or "12.00".
pub fn int_at(value: &Value, path: &[&str]) -> Option<i64> {
    tree::int_at(value, path)
}

/// The items at a path: the elements of a list, a single object instead of a list, or either of
/// these under an `item` key, as in congress.gov's XML converted to JSON.
pub fn items_at<'a>(value: &'a Value, path: &[&str]) -> Vec<&'a Value> {
    match at(value, path) {
        Some(Value::Array(items)) => items.iter().collect(),
        Some(object @ Value::Object(map)) => match map.get("item") {
            Some(Value::Array(items)) => items.iter().collect(),
            Some(item) => vec![item],
            None if map.is_empty() => Vec::new(),
            None => vec![object],
        },
        _ => Vec::new(),
    }
}

/// The value at a path of keys.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    tree::at(value, path)
}

/// Receives a JSON object whose list is too long to hold.
pub trait LongList<T> {
    /// A member beside the list.
    fn member(&mut self, name: &str, value: Value);
    /// The next item of the list.
    fn item(&mut self, item: T);
}

/// Reads an object item by item: only one item of its member `list` is in memory at a time.
pub fn read_long_list<T: DeserializeOwned>(
    reader: impl Read,
    list: &'static str,
    receiver: &mut dyn LongList<T>,
) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_reader(reader);
    let object = Object { list, receiver };
    object.deserialize(&mut deserializer)?;
    deserializer.end()
}

struct Object<'a, T> {
    list: &'static str,
    receiver: &'a mut dyn LongList<T>,
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Object<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Object<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "an object with a list {:?}", self.list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name == self.list {
                true => map.next_value_seed(Items(&mut *self.receiver))?,
                false => self.receiver.member(&name, map.next_value()?),
            }
        }
        Ok(())
    }
}

struct Items<'a, T>(&'a mut dyn LongList<T>);

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Items<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Items<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            self.0.item(item);
        }
        Ok(())
    }
}
