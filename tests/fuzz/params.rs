//! Query strings and paths: what is decoded stays the same when it is encoded and decoded again.

use josh::error::Code;
use josh::query::Params;
use josh::service::Call;

use crate::support::segment;
use crate::{MANY, Target, mutate, texts};

const SENT: &[&str] = &[
    "congress=119&limit=5&sort=-introduced_date",
    "q=clean+air%20act&source=bills,crs-reports&mode=lexical",
    "cursor=MDEyMzQ1Njdb&fields=id,title&format=csv",
    "introduced_date.gte=2025-01-01&title=%E2%80%9Cx%E2%80%9D&a=%00&b",
    "aggregate=count&group_by=congress&=&&a==b",
    "bills/hr:119:1/actions",
    "fetch/https://www.congress.gov/bill/119th-congress/house-bill/1",
    "sources/bills",
    "search",
    "legislators/S000033/dossier/",
    "cfr-sections/cfr%3A40%3A122.26%2Fx/body",
];

const WORDS: &[&str] = &[
    "%",
    "%%",
    "%2",
    "%00",
    "%ff",
    "%FF%FE",
    "%C3%A9",
    "%ED%A0%80",
    "+",
    "&",
    "=",
    "&&",
    "/",
    "//",
    "..",
    "%2F",
    "%2f..",
    "fetch/",
];

#[test]
fn what_is_decoded_is_decoded_the_same_again() {
    let target = Target {
        name: "params",
        count: MANY,
        corpus: texts(SENT),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    };
    target.run(|input| {
        let text = String::from_utf8_lossy(input);
        check_query(&text);
        check_path(&text);
    });
}

fn check_query(text: &str) {
    let pairs = |params: &Params| params.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect::<Vec<_>>();
    match Params::parse(text) {
        Ok(params) => {
            let read = pairs(&params);
            let expected = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decoded(name), decoded(value))
            });
            assert_eq!(read, expected.collect::<Vec<_>>());
            assert!(read.iter().all(|(name, value)| !name.contains('\0') && !value.contains('\0')));
            let written: Vec<_> = read.iter().map(|(n, v)| format!("{}={}", segment(n), segment(v))).collect();
            // Encoding may make it too long, which is an error of its own.
            if let Ok(again) = Params::parse(&written.join("&")) {
                assert_eq!(pairs(&again), read);
            } else {
                assert!(written.join("&").len() > 16 * 1024);
            }
        }
        Err(error) => {
            assert_eq!((error.code, error.field.as_deref()), (Code::InvalidParameter, Some("query")));
            assert!(error.message.ends_with('.'), "{error}");
        }
    }
}

/// Decoding, written once more and as simply as can be.
fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        let hex = |at: usize| behind.get(at).and_then(|digit| (*digit as char).to_digit(16));
        (rest, _) = match (byte, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => (&behind[2..], out.push((high * 16 + low) as u8)),
            (b'+', ..) => (behind, out.push(b' ')),
            _ => (behind, out.push(*byte)),
        };
    }
    String::from_utf8(out).expect("what is not UTF-8 is an error")
}

fn check_path(text: &str) {
    let encoded = |parts: &[&String]| parts.iter().map(|part| segment(part)).collect::<Vec<_>>().join("/");
    let call = match Call::read(text) {
        Ok(call) => call,
        Err(error) => return assert_eq!(error.code, Code::RouteNotFound, "{error}"),
    };
    let path = match &call {
        Call::Fetch(id) => format!("fetch/{}", segment(id)),
        Call::Source(key) => format!("sources/{}", segment(key)),
        Call::List(key) => encoded(&[key]),
        Call::Record(key, id) => encoded(&[key, id]),
        Call::Dossier(key, id) => format!("{}/dossier", encoded(&[key, id])),
        Call::Sub(key, id, sub) => encoded(&[key, id, sub]),
        Call::Sources | Call::Search => return,
        Call::Document(_) => panic!("no path asks for {call:?}"),
    };
    // An empty last part is no part: "bills/" is "bills".
    if !path.ends_with('/') {
        assert_eq!(Call::read(&path).ok(), Some(call), "{path}");
    }
}
