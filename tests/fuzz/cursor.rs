//! Fuzzes the cursors that clients send back: a bad one is an error, and a decoded one encodes to
//! the same text again.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use josh::api::error::Code;
use josh::bundle::stable_hash;
use josh::policy::query::Cursor;

use crate::mutate;
use crate::target::{MANY, Target};

/// The hash of the list that all cursors here belong to.
const LIST: u64 = 7;

const WORDS: &[&str] = &[
    "=", "==", "-", "_", "+", "/", "null", "\"", "[7,", "\\u0000", "\\ud800", ",", "]", "1e3", " ",
];

pub fn target() -> Target<'static> {
    let keys = [None, Some("2025-05-21".to_string()), Some("é \"\\ \0".to_string())];
    let cursors = keys.map(|key| Cursor { list: LIST, ord: 41, key, total: u64::MAX });
    let corpus = cursors.iter().flat_map(|cursor| {
        let text = cursor.encode();
        // The payload alone, too: the target adds a valid checksum, so that mutations get past it.
        let inside = opened(&text);
        [text.into_bytes(), inside]
    });
    Target {
        name: "cursor",
        count: MANY,
        corpus: corpus.collect(),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    }
}

#[test]
fn decoding_and_encoding_give_the_same_cursor() {
    target().run(attempt);
}

pub fn attempt(input: &[u8]) {
    check(&String::from_utf8_lossy(input));
    check(&sealed(input));
}

/// The payload of a cursor, without its checksum.
pub fn opened(cursor: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(cursor).unwrap().split_off(8)
}

/// A cursor with this payload and a valid checksum.
pub fn sealed(payload: &[u8]) -> String {
    let checksum = format!("{:08x}", stable_hash(payload) as u32);
    URL_SAFE_NO_PAD.encode([checksum.as_bytes(), payload].concat())
}

fn check(text: &str) {
    match Cursor::decode(text, LIST, None) {
        Ok(cursor) => {
            assert_eq!(cursor.list, LIST);
            let again = cursor.encode();
            assert_eq!(Cursor::decode(&again, LIST, None).unwrap(), cursor);
            assert_eq!(Cursor::decode(&again, LIST, None).unwrap().encode(), again);
        }
        Err(error) => {
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidCursor, Some("cursor")));
            assert!(error.message.ends_with('.'), "{error}");
        }
    }
    // A cursor is never valid for two lists.
    assert!(
        Cursor::decode(text, LIST + 1, None).is_err() || Cursor::decode(text, LIST, None).is_err()
    );
}
