//! What people type into a search: read without complaint, and nothing in it that was not typed.

use josh::search::ask::{self, Ask};

use crate::{MANY, Target, mutate, texts};

/// More parts than this are left out.
const MOST: usize = 64;

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
    "\"", "“", "”", "-", "--", "title:", "TITLE:", "(", ")", " ", "AND", " OR ", " NOT ", "'", ",", ";", "-\"", "\"\"",
];

#[test]
fn what_is_read_was_typed() {
    let target = Target {
        name: "query",
        count: MANY,
        corpus: texts(TYPED),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    };
    target.run(|input| attempt(&String::from_utf8_lossy(input)));
}

fn attempt(text: &str) {
    let ask = ask::read(text);
    let Ask { words, phrases, without } = &ask;
    // As it is read: curly quotes are straight, control characters are spaces.
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let plain = plain.replace(['“', '”'], "\"");
    assert!(words.len() + phrases.len() + without.len() <= MOST);
    for word in words {
        assert!(!word.contains(char::is_whitespace) && word.contains(char::is_alphanumeric), "{word:?}");
        assert!(plain.contains(word), "{word:?}");
    }
    for phrase in phrases.iter().chain(without) {
        assert!(phrase.text.contains(char::is_alphanumeric), "{phrase:?}");
        assert!(phrase.text.split(' ').all(|word| !word.is_empty() && plain.contains(word)), "{phrase:?}");
    }
    // What is excluded is looked for by nobody.
    let positive = ask.positive(text);
    assert!(without.is_empty() && positive == text || positive.split(' ').all(|word| plain.contains(word)));
    assert_eq!(ask::read(text), ask);
}
