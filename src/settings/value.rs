//! What the types of settings accept, in words for error messages and as parsers for flags.
//! Messages never name a Rust type.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::{EnumValueParser, ValueParser};

use super::{Auth, FormsMode, LogFormat, TlsMode};

pub trait SettingValue {
    /// What a value must be, as in `must be an integer`.
    fn expects() -> String;
    /// Reads the value of a flag or variable.
    fn parser() -> ValueParser;
}

impl SettingValue for String {
    fn expects() -> String {
        "a text in quotes".into()
    }
    fn parser() -> ValueParser {
        ValueParser::string()
    }
}

impl SettingValue for PathBuf {
    fn expects() -> String {
        "a path in quotes".into()
    }
    fn parser() -> ValueParser {
        ValueParser::path_buf()
    }
}

impl SettingValue for bool {
    fn expects() -> String {
        "true or false".into()
    }
    fn parser() -> ValueParser {
        ValueParser::bool()
    }
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl SettingValue for $type {
            fn expects() -> String {
                integer(<$type>::MAX)
            }
            fn parser() -> ValueParser {
                integer_parser::<$type>(<$type>::MAX)
            }
        }
    )+};
}

integers!(u32, u64, usize);

/// The upper bound is named only where a user could reach it.
fn integer(largest: impl Display + TryInto<u32>) -> String {
    let bound = largest.to_string();
    match largest.try_into() {
        Ok(_) => format!("an integer from 0 to {bound}"),
        Err(_) => "an integer of at least 0".into(),
    }
}

fn integer_parser<T>(largest: T) -> ValueParser
where
    T: FromStr + Display + TryInto<u32> + Clone + Send + Sync + 'static,
{
    let expected = integer(largest);
    ValueParser::new(move |text: &str| text.parse::<T>().map_err(|_| format!("must be {expected}")))
}

macro_rules! choices {
    ($($type:ty),+) => {$(
        impl SettingValue for $type {
            fn expects() -> String {
                one_of::<$type>()
            }
            fn parser() -> ValueParser {
                ValueParser::new(EnumValueParser::<$type>::new())
            }
        }
    )+};
}

choices!(Auth, FormsMode, LogFormat, TlsMode);

fn one_of<T: ValueEnum>() -> String {
    let values = T::value_variants().iter().filter_map(|variant| variant.to_possible_value());
    let quoted: Vec<String> = values.map(|value| format!("{:?}", value.get_name())).collect();
    quoted.join(" or ")
}
