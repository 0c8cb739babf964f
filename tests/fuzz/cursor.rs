//! Cursors as clients send them back: unreadable is an error, and what is read is written the same again.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use josh::bundle::stable_hash;
use josh::error::Code;
use josh::query::Cursor;

use crate::{MANY, Target, mutate};

/// The list that all cursors here are for.
const LIST: u64 = 7;

const WORDS: &[&str] =
    &["=", "==", "-", "_", "+", "/", "null", "\"", "[7,", "\\u0000", "\\ud800", ",", "]", "1e3", " "];

#[test]
fn what_is_read_is_written_the_same() {
    let keys = [None, Some("2025-05-21".to_string()), Some("é \"\\ \0".to_string())];
    let cursors = keys.map(|key| Cursor { list: LIST, ord: 41, key, total: u64::MAX });
    let corpus = cursors.iter().flat_map(|cursor| {
        let text = cursor.encode();
        // What is inside, too: the target seals it, so that mutations get past the check.
        let inside = opened(&text);
        [text.into_bytes(), inside]
    });
    let target = Target {
        name: "cursor",
        count: MANY,
        corpus: corpus.collect(),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    };
    target.run(|input| {
        check(&String::from_utf8_lossy(input));
        check(&sealed(input));
    });
}

/// What a cursor holds, without its check.
pub fn opened(cursor: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(cursor).unwrap().split_off(8)
}

/// These bytes as a cursor that says of itself that it is whole.
pub fn sealed(inside: &[u8]) -> String {
    let check = format!("{:08x}", stable_hash(inside) as u32);
    URL_SAFE_NO_PAD.encode([check.as_bytes(), inside].concat())
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
    // Never for another list.
    assert!(Cursor::decode(text, LIST + 1, None).is_err() || Cursor::decode(text, LIST, None).is_err());
}
