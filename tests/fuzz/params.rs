//! Fuzzes query strings and paths: decoding, encoding and decoding again gives the same.

use josh::api::Arguments;
use josh::api::error::Code;
use josh::http::Router;
use josh::toolsets::Toolsets;

use crate::mutate;
use crate::target::{MANY, Target, texts};

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

pub fn target() -> Target<'static> {
    Target {
        name: "params",
        count: MANY,
        corpus: texts(SENT),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    }
}

#[test]
fn encoding_and_decoding_again_gives_the_same() {
    target().run(attempt);
}

pub fn attempt(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    check_query(&text);
    check_path(&text);
}

/// Percent-encodes everything that could have a meaning in a path or a query.
fn segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn check_query(text: &str) {
    let pairs = |arguments: &Arguments| {
        arguments.iter().map(|(n, v)| (n.to_string(), v.shown())).collect::<Vec<_>>()
    };
    match Arguments::from_query(text) {
        Ok(params) => {
            let read = pairs(&params);
            let expected = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decoded(name), decoded(value))
            });
            assert_eq!(read, expected.collect::<Vec<_>>());
            assert!(read.iter().all(|(name, value)| !name.contains('\0') && !value.contains('\0')));
            let written: Vec<_> =
                read.iter().map(|(n, v)| format!("{}={}", segment(n), segment(v))).collect();
            // The encoded form may exceed the length limit, which is an error.
            if let Ok(again) = Arguments::from_query(&written.join("&")) {
                assert_eq!(pairs(&again), read);
            } else {
                assert!(written.join("&").len() > 16 * 1024);
            }
        }
        Err(error) => {
            assert_eq!(error.code, Code::InvalidParameter);
            // Names in braces are those of paths: no caller may give them.
            let field = error.field.as_deref().unwrap_or_default();
            assert!(field == "query" || field.starts_with('{'), "{error}");
            assert!(error.message.ends_with('.'), "{error}");
        }
    }
}

/// A second, simple implementation of decoding.
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
    String::from_utf8(out).expect("invalid UTF-8 is an error")
}

/// What is read of a path is read again from the same variables, encoded.
fn check_path(text: &str) {
    let router = Router::new(&Toolsets::default());
    let read = |path: &str| {
        let (operation, arguments) = router.find(path, Arguments::default())?;
        let pairs = arguments.iter().map(|(name, given)| (name.to_string(), given.shown()));
        Ok::<_, josh::api::Error>((operation, pairs.collect::<Vec<_>>()))
    };
    let (operation, variables) = match read(&format!("/v1/{text}")) {
        Ok(found) => found,
        Err(error) => return assert_eq!(error.code, Code::RouteNotFound, "{error}"),
    };
    let mut path = operation.route.expect("it was found by its route").replace("...", "");
    for (name, value) in &variables {
        path = path.replace(name.as_str(), &segment(value));
    }
    let (again, same) = read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!((again.name, same), (operation.name, variables), "{path}");
}
