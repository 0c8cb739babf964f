//! Fuzzes the query syntax: any text parses, and every parsed term occurs in the text.

use josh::policy::search::query_syntax::{self, ParsedQuery};

use crate::mutate;
use crate::target::{MANY, Target, texts};

/// The parser keeps no more terms than this.
const MAX_TERMS: usize = 64;

const TYPED: &[&str] = &[
    "clean air",
    "\"clean air\" act -smog",
    "“clean  air” title:tax -title:\"hot dogs\"",
    "cats AND (dogs OR birds) NOT fish",
    "501(c)(3), (a)(1); ((6)) )7(",
    "-(hot dogs) --flag -\"\" - title:",
    "H.R. 1 119-21 c(4) 6\" pipe",
    "café 気候 Müller’s workers' 'solar' ‘wind’",
    "\"a\"\"b\",\"c\"-d",
    "title:\"clean air",
    "OR",
];

const WORDS: &[&str] = &[
    "\"", "“", "”", "-", "--", "title:", "TITLE:", "(", ")", " ", "AND", " OR ", " NOT ", "'", ",",
    ";", "-\"", "\"\"",
];

pub fn target() -> Target<'static> {
    Target {
        name: "query",
        count: MANY,
        corpus: texts(TYPED),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    }
}

#[test]
fn every_parsed_term_was_typed() {
    target().run(attempt);
}

pub fn attempt(input: &[u8]) {
    let text = &*String::from_utf8_lossy(input);
    let query = query_syntax::parse(text);
    let ParsedQuery { words, phrases, excluded } = &query;
    // As the parser normalizes it: straight quotes for curly ones, spaces for control characters.
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let plain = plain.replace(['“', '”'], "\"");
    assert!(words.len() + phrases.len() + excluded.len() <= MAX_TERMS);
    for word in words {
        assert!(
            !word.contains(char::is_whitespace) && word.contains(char::is_alphanumeric),
            "{word:?}"
        );
        assert!(plain.contains(word), "{word:?}");
    }
    for phrase in phrases.iter().chain(excluded) {
        assert!(phrase.text.contains(char::is_alphanumeric), "{phrase:?}");
        assert!(
            phrase.text.split(' ').all(|word| !word.is_empty() && plain.contains(word)),
            "{phrase:?}"
        );
    }
    // Only what is not excluded is embedded.
    let wanted = words.iter().chain(phrases.iter().map(|phrase| &phrase.text));
    let expected = match excluded.is_empty() {
        true => text.to_string(),
        false => wanted.map(String::as_str).collect::<Vec<_>>().join(" "),
    };
    assert_eq!(query.without_exclusions(text), expected);
    assert_eq!(query_syntax::parse(text), query);
}
