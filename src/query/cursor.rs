//! Where the next page begins. A cursor holds the last item's place and the total, so that following pages neither
//! count again nor skip: the bundle does not change under it. It is opaque to clients and tied to one list of one bundle.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::bundle::stable_hash;
use crate::error::{Code, Error, Result};

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
        let json = serde_json::to_string(&(self.list, self.ord, &self.key, self.total)).unwrap_or_default();
        let check = stable_hash(json.as_bytes()) as u32;
        URL_SAFE_NO_PAD.encode(format!("{check:08x}{json}"))
    }

    /// Reads a cursor that was made for the list with this hash.
    pub fn decode(text: &str, list: u64) -> Result<Cursor> {
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
            let (list, ord, key, total) = serde_json::from_str(json).ok()?;
            Some(Cursor { list, ord, key, total })
        };
        let cursor = read().ok_or_else(|| bad("The cursor can't be read."))?;
        if cursor.list != list {
            return Err(bad("The cursor belongs to another list, other parameters or another bundle."));
        }
        Ok(cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_comes_back_as_it_was(list: u64, ord: u64, key: Option<String>, total: u64) {
            let cursor = Cursor { list, ord, key, total };
            prop_assert_eq!(Cursor::decode(&cursor.encode(), list).unwrap(), cursor);
        }

        #[test]
        fn garbage_is_an_invalid_cursor(text in ".{0,80}") {
            prop_assert_eq!(Cursor::decode(&text, 1).unwrap_err().code, Code::InvalidCursor);
        }
    }
}
