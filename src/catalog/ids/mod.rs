//! Reads identifiers: canonical forms, and every other way in which people write them.
//!
//! A source's file lists its spellings (see [`Spelling`]); this module compiles them once, tries
//! them in the order of [`Precedence`] and returns the canonical id. Nothing here knows a source
//! or looks at a bundle: "H.R. 1" without a congress is [`Parsed::AnyCongress`], and the caller,
//! who has the bundle, picks the congress.

pub mod readers;
pub mod spelling;

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::SOURCES;
use spelling::{Precedence, Reading, Spelling};

/// Longer inputs are not identifiers; the longest official address is well below this.
const MAX_INPUT_BYTES: usize = 400;

/// What an input turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// A complete id.
    Id(Id),
    /// An id that lacks its congress: `{kind}:?:{number}`.
    AnyCongress { source: &'static str, kind: String, number: String },
}

/// A canonical id and the key of the source that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id {
    pub source: &'static str,
    pub text: String,
}

impl Parsed {
    fn new(source: &'static str, reading: Reading) -> Parsed {
        match reading {
            Reading::Complete(text) => Parsed::Id(Id { source, text }),
            Reading::AnyCongress { kind, number } => Parsed::AnyCongress { source, kind, number },
        }
    }

    pub fn source(&self) -> &'static str {
        match self {
            Parsed::Id(id) => id.source,
            Parsed::AnyCongress { source, .. } => source,
        }
    }

    /// The complete id, with `congress` if the input named none.
    pub fn in_congress(&self, congress: i64) -> Id {
        match self {
            Parsed::Id(id) => id.clone(),
            Parsed::AnyCongress { source, kind, number } => {
                Id { source, text: format!("{kind}:{congress}:{number}") }
            }
        }
    }
}

/// Compiles the patterns, some 40 ms of work that the first request should not wait for.
pub fn prepare() {
    LazyLock::force(&RULES);
}

/// Reads an id of any source, in any spelling.
pub fn parse(input: &str) -> Option<Parsed> {
    parse_by(input, |_| true)
}

/// Reads an id where the source is known: only its own spellings count, and its prefix may be left
/// out (`119-21` for public-laws).
pub fn parse_for(source: &'static str, input: &str) -> Option<Parsed> {
    let is_own = |rule: &Rule| rule.source == source;
    parse_by(input, is_own).or_else(|| {
        let prefix = super::source(source)?.ids.bare_prefix?;
        parse_by(&format!("{prefix}{}", input.trim()), is_own)
    })
}

/// The canonical form of an id of `source`, if the input is one that needs no bundle to complete.
pub fn canonical(source: &'static str, input: &str) -> Option<String> {
    match parse_for(source, input)? {
        Parsed::Id(id) => Some(id.text),
        Parsed::AnyCongress { .. } => None,
    }
}

fn parse_by(input: &str, applies: impl Fn(&Rule) -> bool) -> Option<Parsed> {
    if input.len() > MAX_INPUT_BYTES {
        return None;
    }
    let cleaned = clean(input);
    if !cleaned.is_ascii() {
        return None;
    }
    RULES.iter().filter(|rule| applies(rule)).find_map(|rule| {
        let parsed = Parsed::new(rule.source, rule.read(&cleaned)?);
        (rule.is_canonical() || is_own_form(&parsed)).then_some(parsed)
    })
}

/// Whether a canonical form of its source reads this as itself. Other spellings match more loosely
/// and may have matched something else.
fn is_own_form(parsed: &Parsed) -> bool {
    let id = parsed.in_congress(119);
    RULES
        .iter()
        .filter(|rule| rule.is_canonical() && rule.source == id.source)
        .any(|rule| matches!(rule.read(&id.text), Some(Reading::Complete(text)) if text == id.text))
}

/// A spelling, compiled.
struct Rule {
    source: &'static str,
    precedence: Precedence,
    pattern: Regex,
    reader: fn(&Captures) -> Option<Reading>,
}

impl Rule {
    fn new(source: &'static str, spelling: &Spelling) -> Rule {
        Rule {
            source,
            precedence: spelling.precedence,
            pattern: spelling::compile(&format!("^{}$", spelling.pattern.concat())),
            reader: spelling.reader,
        }
    }

    fn is_canonical(&self) -> bool {
        self.precedence == Precedence::Canonical
    }

    fn read(&self, cleaned: &str) -> Option<Reading> {
        (self.reader)(&self.pattern.captures(cleaned)?)
    }
}

/// The spellings of all sources in the order in which they are tried.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut rules: Vec<Rule> = SOURCES
        .iter()
        .flat_map(|source| source.ids.spellings.iter().map(|s| Rule::new(source.key, s)))
        .collect();
    // Stable: within one precedence the order of SOURCES remains.
    rules.sort_by_key(|rule| rule.precedence);
    rules
});

/// Typographic variants made alike: dashes, spaces, section signs, quotes. A URL becomes `url:`
/// and its host and path, without scheme, query and fragment.
fn clean(input: &str) -> String {
    let mut out = String::with_capacity(input.len());
    for c in input.trim().chars() {
        match c {
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            '§' | '\u{200b}' | '\u{feff}' | '"' | '“' | '”' => {}
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
    }
    let lower = out.to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("www.") {
        let end = out.find(['?', '#']).unwrap_or(out.len());
        out.truncate(end);
        let start = out.find("://").map_or(0, |i| i + 3);
        return format!("url:{}", out[start..].trim_end_matches('/'));
    }
    out.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given the example of a source, when it is parsed, then it is a canonical id of that source
    /// and of no other.
    #[test]
    fn each_example_is_a_canonical_id_of_its_source_alone() {
        for source in SOURCES {
            let example = source.ids.example;
            let id = Parsed::Id(Id { source: source.key, text: example.to_string() });
            assert_eq!(parse(example), Some(id.clone()), "{example}");
            assert_eq!(parse_for(source.key, example), Some(id), "{example}");
            let claimed_by: Vec<&str> = RULES
                .iter()
                .filter(|rule| rule.is_canonical() && rule.read(example).is_some())
                .map(|rule| rule.source)
                .collect();
            assert_eq!(claimed_by, [source.key], "{example}");
        }
    }

    /// Given a source whose prefix may be left out, when its example is parsed for it without the
    /// prefix, then the prefix is added.
    #[test]
    fn a_bare_prefix_completes_an_id() {
        for source in SOURCES {
            let Some(bare) =
                source.ids.bare_prefix.and_then(|p| source.ids.example.strip_prefix(p))
            else {
                continue;
            };
            let example = source.ids.example;
            assert_eq!(canonical(source.key, bare).as_deref(), Some(example), "{bare}");
        }
    }

    /// An address that names two records is read by the spelling with the higher precedence, in
    /// whichever order the sources are listed.
    #[test]
    fn precedence_decides_where_an_address_names_two_records() {
        for (address, id) in [
            (
                "https://www.congress.gov/event/119th-congress/house-event/s000033",
                "hearing:119:s000033",
            ),
            ("https://www.congress.gov/nomination/119th-congress/12/x/s000033", "pn:119:12"),
            ("https://www.congress.gov/bills-119hr1/s000033", "S000033"),
            ("https://example.com/bills-119hr1/plaw-119publ21", "pl:119:21"),
            ("https://www.federalregister.gov/d/2026-08558/bills-119hr1", "hr:119:1"),
        ] {
            let parsed = parse(address).map(|parsed| parsed.in_congress(1).text);
            assert_eq!(parsed.as_deref(), Some(id), "{address}");
        }
    }
}
