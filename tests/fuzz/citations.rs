//! Fuzzes the scanner for citations: any text gives citations within it, each with an id that its
//! source reads as itself.

use josh::catalog::citations::{Setting, scan};
use josh::catalog::ids;

use crate::mutate;
use crate::target::{MANY, Target, texts};

const WORDS: &[&str] = &[
    "H.R. ",
    "S. ",
    "S ",
    "U.S. ",
    "Pub. L. ",
    "-",
    "–",
    ", ",
    " and ",
    "119th Congress",
    "(118th)",
    "40 CFR ",
    "§§ ",
    "E.O. ",
    "CRS ",
    "R47892",
    "FR Doc. ",
    "H. Rept. ",
    "\u{a0}",
    "\n",
    "https://",
];

pub fn target() -> Target<'static> {
    Target {
        name: "citations",
        count: MANY,
        corpus: texts(&[
            "S. 5 (119th Congress) became Pub. L. 119-1; see H. Rept. 119-106, E.O. 14110, 40 CFR \
             122.26(b), FR Doc. 2026-08558 and CRS Report R47892.",
            "H.R. 1, 2, and 3; S. 9, 21-29, S.J. Res. 1; HR 4365/S 2587; 410 U.S. 113 (1973)",
            "S.Res. 598 and H.Res. 339 in the 115th Cong.; Public Laws 111-148 and 111-152",
            "https://www.congress.gov/bill/118th-congress/senate-bill/5 and H. Con.\nRes. 14.",
        ]),
        mutate: &|random, corpus| mutate::bytes(random, corpus, WORDS),
    }
}

#[test]
fn any_text_gives_citations_within_it() {
    target().run(attempt);
}

pub fn attempt(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for citation in scan(&text) {
        assert!(text.get(citation.range.clone()).is_some_and(|cited| !cited.is_empty()));
        let id = citation.cited.in_congress(119);
        assert_eq!(ids::canonical(id.source, &id.text).as_ref(), Some(&id.text));
        let _ = citation.id(&text, Setting::LookingBack(119));
        let _ = citation.id(&text, Setting::During(119));
    }
}
