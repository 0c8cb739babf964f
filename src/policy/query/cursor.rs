//! Where the next page begins. A cursor holds the last item's place and the total, so that
//! following pages neither count again nor skip: the bundle does not change under it. It is opaque
//! to clients and tied to one list of one bundle.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::api::error::{Code, Error, Result};
use crate::bundle::{SqlValue, stable_hash};
use crate::catalog::Kind;
use crate::catalog::wording::day;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cursor {
    /// Which list: bundle, table, filters and sort, hashed.
    pub list: u64,
    /// `ord` of the last item.
    pub ord: u64,
    /// Its value in the sort column, if the list is sorted and the value is not null.
    pub key: Option<String>,
    pub total: u64,
}

impl Cursor {
    pub fn encode(&self) -> String {
        let json = serde_json::to_string(&(self.list, self.ord, &self.key, self.total))
            .unwrap_or_default();
        let check = stable_hash(json.as_bytes()) as u32;
        URL_SAFE_NO_PAD.encode(format!("{check:08x}{json}"))
    }

    /// Reads a cursor that was made for the list with this hash, sorted by a column of this kind.
    /// Anyone can make one up: what it says must fit where it goes.
    pub fn decode(text: &str, list: u64, sorted: Option<Kind>) -> Result<Cursor> {
        let bad = |message: &str| {
            let mut error = Error::new(Code::InvalidCursor, message);
            error.field = Some("cursor".into());
            error
        };
        let read = || -> Option<Cursor> {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
            let text = std::str::from_utf8(&bytes).ok()?;
            let (check, json) = text.split_at_checked(8)?;
            if u32::from_str_radix(check, 16).ok()? != stable_hash(json.as_bytes()) as u32 {
                return None;
            }
            let (list, ord, key, total): (u64, u64, Option<String>, u64) =
                serde_json::from_str(json).ok()?;
            let cursor = Cursor { list, ord, key, total };
            let fits = sorted.is_none_or(|kind| cursor.sort_value(kind).is_ok());
            (fits && ord <= i64::MAX as u64).then_some(cursor)
        };
        let cursor = read().ok_or_else(|| bad("The cursor can't be read."))?;
        if cursor.list != list {
            return Err(bad(
                "The cursor belongs to another list, other parameters or another bundle.",
            ));
        }
        Ok(cursor)
    }
}

impl Cursor {
    /// Its sort value as one of the column's type; nothing where the last item had none.
    pub fn sort_value(&self, kind: Kind) -> Result<Option<SqlValue>> {
        let Some(key) = &self.key else { return Ok(None) };
        let value = match kind {
            Kind::Date => day(key).map(SqlValue::Date),
            Kind::Int => key.parse().ok().map(SqlValue::Integer),
            Kind::Number => key.parse().ok().filter(|n: &f64| n.is_finite()).map(SqlValue::Number),
            Kind::Bool => key.parse().ok().map(SqlValue::Boolean),
            _ => Some(SqlValue::Text(key.clone())),
        };
        let unfit = || Error::new(Code::InvalidCursor, "The cursor can't be read.");
        value.map(Some).ok_or_else(unfit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_comes_back_as_it_was(list: u64, ord: u32, key: Option<String>, total: u64) {
            let cursor = Cursor { list, ord: ord.into(), key, total };
            prop_assert_eq!(Cursor::decode(&cursor.encode(), list, None).unwrap(), cursor);
        }

        #[test]
        fn garbage_is_an_invalid_cursor(text in ".{0,80}") {
            prop_assert_eq!(Cursor::decode(&text, 1, None).unwrap_err().code, Code::InvalidCursor);
        }
    }

    #[test]
    fn a_cursor_whose_key_does_not_fit_its_column_is_invalid() {
        let decode = |ord: u64, key: &str, kind: Kind| {
            let cursor = Cursor { list: 1, ord, key: Some(key.into()), total: 5 };
            Cursor::decode(&cursor.encode(), 1, Some(kind))
        };
        assert!(decode(1, "2025-01-31", Kind::Date).is_ok() && decode(1, "-5", Kind::Int).is_ok());
        for (ord, key, kind) in [
            (1, "no date", Kind::Date),
            (1, "2025-02-30", Kind::Date),
            (1, "five", Kind::Int),
            (1, "1", Kind::Bool),
            (u64::MAX, "a", Kind::Keyword),
        ] {
            assert_eq!(decode(ord, key, kind).unwrap_err().code, Code::InvalidCursor, "{key}");
        }
    }
}
