//! The syntax of a search query: words, phrases that must match and terms that must not. It only
//! parses text and knows neither the index nor the request.
//!
//! No input is an error. Anything that is not valid syntax is read as plain words, because users
//! expect a search box to guess rather than to complain.

/// The most terms that are kept. Nobody types more; a longer query is a pasted document, and its
/// beginning is enough.
const MAX_TERMS: usize = 64;

/// Punctuation stripped from both ends of a word, besides parentheses. By then every kind of double
/// quote has become `"`.
const EDGES: &[char] = &['"', '\'', '‘', '’', ',', ';'];

/// Punctuation that may directly precede a quote, a `-` or a `title:`. After any other character
/// these are part of a word.
const OPENERS: &[char] = &['(', '\'', '‘', '’', ',', ';'];

/// Marks a parenthesis without a partner.
const UNMATCHED: usize = usize::MAX;

/// A query, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedQuery {
    /// Plain words, as typed.
    pub words: Vec<String>,
    /// All of these must match.
    pub phrases: Vec<Phrase>,
    /// None of these may match.
    pub excluded: Vec<Phrase>,
}

impl ParsedQuery {
    /// The query without its excluded terms, to be embedded: a vector cannot express "not". `query`
    /// is the text that this was parsed from.
    pub fn without_exclusions(&self, query: &str) -> String {
        if self.excluded.is_empty() {
            return query.to_string();
        }
        let phrases = self.phrases.iter().map(|phrase| phrase.text.as_str());
        self.words.iter().map(String::as_str).chain(phrases).collect::<Vec<_>>().join(" ")
    }
}

/// One word, or several consecutive words separated by single spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    pub text: String,
    pub title_only: bool,
}

enum Part {
    Word(String),
    Phrase(Phrase),
    Excluded(Phrase),
}

impl Part {
    fn is_operator(&self) -> bool {
        matches!(self, Part::Word(word) if matches!(word.as_str(), "AND" | "OR" | "NOT"))
    }

    /// Whether this part alone is enough to search for.
    fn is_sufficient(&self) -> bool {
        !self.is_operator() && !matches!(self, Part::Excluded(_))
    }
}

/// The operators `-` and `title:` in front of a word or phrase.
#[derive(Clone, Copy, Default)]
struct Prefix {
    excluded: bool,
    title_only: bool,
}

impl Prefix {
    /// Splits the operators off the start of `text`. A hyphen directly after the closing quote of a
    /// phrase joins two words and excludes nothing.
    fn split(text: &str, after_phrase: bool) -> (Prefix, &str) {
        let (excluded, text) = match text.strip_prefix('-') {
            Some(rest) if !after_phrase => (true, rest),
            _ => (false, text),
        };
        let (title_only, text) = match text.split_at_checked("title:".len()) {
            Some((head, rest)) if head.eq_ignore_ascii_case("title:") => (true, rest),
            _ => (false, text),
        };
        (Prefix { excluded, title_only }, text)
    }

    fn is_empty(self) -> bool {
        !self.excluded && !self.title_only
    }
}

/// Parses a query as a user typed it.
pub fn parse(text: &str) -> ParsedQuery {
    let text: String = text.chars().map(normalized).collect();
    let mut parser = Parser { rest: &text, after_phrase: false, parts: Vec::new() };
    while !parser.rest.is_empty() {
        parser.step();
    }
    collect(parser.parts)
}

/// Straight quotes for curly ones, spaces for control characters.
fn normalized(c: char) -> char {
    match c {
        '“' | '”' => '"',
        c if c.is_control() => ' ',
        c => c,
    }
}

/// Groups the parts by kind. They come in the order typed, so the limit drops the last ones.
fn collect(mut parts: Vec<Part>) -> ParsedQuery {
    // A lone "OR" may mean Oregon; next to other words it is a habit from other search engines.
    if parts.iter().any(Part::is_sufficient) {
        parts.retain(|part| !part.is_operator());
    }
    let mut query = ParsedQuery::default();
    for part in parts.into_iter().take(MAX_TERMS) {
        match part {
            Part::Word(word) => query.words.push(word),
            Part::Phrase(phrase) => query.phrases.push(phrase),
            Part::Excluded(phrase) => query.excluded.push(phrase),
        }
    }
    query
}

struct Parser<'a> {
    rest: &'a str,
    /// Whether a phrase ended directly before `rest`.
    after_phrase: bool,
    parts: Vec<Part>,
}

impl<'a> Parser<'a> {
    /// Consumes one word or phrase, or everything that is left after a quote without a partner.
    fn step(&mut self) {
        let start = self.rest.trim_start();
        let ahead = start.trim_start_matches(OPENERS);
        let after_phrase = self.after_phrase && ahead.len() == self.rest.len();
        let (prefix, body) = Prefix::split(ahead, after_phrase);
        match body.strip_prefix('"') {
            Some(quoted) => self.quoted(prefix, quoted),
            // A plain word keeps its openers for now: the "(" of "(a)(1)" has a partner.
            None if prefix.is_empty() => self.unquoted(prefix, start),
            None => self.unquoted(prefix, body),
        }
    }

    fn quoted(&mut self, prefix: Prefix, quoted: &'a str) {
        match quoted.split_once('"') {
            Some((text, rest)) => {
                self.term(prefix, text);
                (self.rest, self.after_phrase) = (rest, true);
            }
            None => {
                quoted.split_whitespace().for_each(|word| self.word(word));
                self.rest = "";
            }
        }
    }

    fn unquoted(&mut self, prefix: Prefix, text: &'a str) {
        let (token, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
        // "--x" and "-(a b)" are not in the syntax; excluding their first word could exclude what
        // the user wants.
        if prefix.is_empty() || token.starts_with(['-', '(']) {
            self.word(token);
        } else {
            self.term(prefix, trimmed(token));
        }
        (self.rest, self.after_phrase) = (rest, false);
    }

    fn word(&mut self, token: &str) {
        let word = trimmed(token);
        if is_searchable(word) {
            self.parts.push(Part::Word(word.to_owned()));
        }
    }

    fn term(&mut self, prefix: Prefix, text: &str) {
        if !is_searchable(text) {
            return;
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let phrase = Phrase { text, title_only: prefix.title_only };
        self.parts.push(if prefix.excluded {
            Part::Excluded(phrase)
        } else {
            Part::Phrase(phrase)
        });
    }
}

/// Punctuation alone is not indexed: as a word it would be useless, as a phrase match nothing.
fn is_searchable(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// The word without surrounding punctuation and leading hyphens (those that excluded nothing). A
/// parenthesis is stripped if it has no partner within the word, or if the pair encloses the whole
/// word: "(tax" and "(4)" lose theirs, "c(4)" and "(a)(1)" keep them.
fn trimmed(word: &str) -> &str {
    let partners = partners(word);
    let partner = |at: usize| partners.get(at).copied().unwrap_or(UNMATCHED);
    let (mut start, mut end) = (0, word.len());
    while let Some(inner) = word.get(start..end) {
        let (Some(head), Some(tail)) = (inner.chars().next(), inner.chars().next_back()) else {
            break;
        };
        let last = end - tail.len_utf8();
        if EDGES.contains(&head)
            || matches!(head, '-' | ')')
            || (head == '(' && partner(start) >= last)
        {
            start += head.len_utf8();
        } else if EDGES.contains(&tail)
            || tail == '('
            || (tail == ')' && !(start..end).contains(&partner(last)))
        {
            end = last;
        } else {
            break;
        }
    }
    word.get(start..end).unwrap_or_default()
}

/// For each byte that is a parenthesis, the position of its partner; empty for a word without any.
fn partners(word: &str) -> Vec<usize> {
    let mut partners = vec![UNMATCHED; if word.contains(['(', ')']) { word.len() } else { 0 }];
    let mut open = Vec::new();
    for (at, byte) in word.bytes().enumerate() {
        if byte == b'(' {
            open.push(at);
        } else if byte == b')'
            && let Some(opened) = open.pop()
        {
            (partners[opened], partners[at]) = (at, opened);
        }
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A compact form: words as they are, phrases as `"…"`, prefixed with `title:` and `-`.
    fn compact(text: &str) -> String {
        let query = parse(text);
        let phrase = |prefix: &str, p: &Phrase| {
            format!("{prefix}{}\"{}\"", if p.title_only { "title:" } else { "" }, p.text)
        };
        let words = query.words.iter().cloned();
        let phrases = query.phrases.iter().map(|p| phrase("", p));
        words
            .chain(phrases)
            .chain(query.excluded.iter().map(|p| phrase("-", p)))
            .collect::<Vec<_>>()
            .join(" | ")
    }

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(compact(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn plain_words_stay_as_typed() {
        check(&[
            ("", ""),
            ("   ", ""),
            ("clean  air", "clean | air"),
            ("H.R. 1 119-21 c(4)", "H.R. | 1 | 119-21 | c(4)"),
            ("café 気候 Müller’s", "café | 気候 | Müller’s"),
            (
                "hr:119:1 subtitle:x C++ 6\" pipe 4\" wide",
                "hr:119:1 | subtitle:x | C++ | 6 | pipe | 4 | wide",
            ),
        ]);
    }

    #[test]
    fn surrounding_punctuation_is_stripped() {
        check(&[
            ("tax, (credit); 'solar' ‘wind’ workers'", "tax | credit | solar | wind | workers"),
            ("(clean air)", "clean | air"),
            ("(c(4)), 501(c)(3); (a)(1)", "c(4) | 501(c)(3) | (a)(1)"),
            ("(4) ,(5), ((6)) )7( (8", "4 | 5 | 6 | 7 | 8"),
            ("( ) , ; () '' … §", ""),
            ("(é) ((é)é)", "é | (é)é"),
        ]);
    }

    #[test]
    fn quoted_text_must_match() {
        check(&[
            ("\"clean air\" act", "act | \"clean air\""),
            ("\"  clean \t air \"", "\"clean air\""),
            ("“clean air” “act\"", "\"clean air\" | \"act\""),
            ("(\"clean air\"), \"a\",\"b\"\"c\"", "\"clean air\" | \"a\" | \"b\" | \"c\""),
            ("\"\" \"--\" x", "x"),
            ("\"\"clean air\"\"", "clean | air"),
            ("\"clean air\"s", "s | \"clean air\""),
            ("\"-a title:b\"", "\"-a title:b\""),
        ]);
    }

    #[test]
    fn a_hyphen_before_a_word_excludes_it() {
        check(&[
            ("cats -dogs", "cats | -\"dogs\""),
            ("cats -\"hot dogs\" -“a  b”", "cats | -\"hot dogs\" | -\"a b\""),
            ("-well-known well-known", "well-known | -\"well-known\""),
            ("(-dogs)", "-\"dogs\""),
            ("cats,-\"é\"", "cats,-\"é"),
            ("-(c)(4)", "(c)(4)"),
        ]);
    }

    #[test]
    fn other_hyphens_exclude_nothing() {
        check(&[
            ("a - b", "a | b"),
            ("-", ""),
            ("-, a", "a"),
            ("--flag ---", "flag"),
            ("-(hot dogs)", "hot | dogs"),
            ("\"well\"-known", "known | \"well\""),
            ("\"well\" -known", "\"well\" | -\"known\""),
            ("\"well\",-known", "\"well\" | -\"known\""),
            ("-\"\" -\" \" a", "a"),
            ("pre- –dash", "pre- | –dash"),
        ]);
    }

    #[test]
    fn a_term_can_be_limited_to_the_title() {
        check(&[
            ("title:tax", "title:\"tax\""),
            ("Title:\"clean air\" x", "x | title:\"clean air\""),
            ("-title:tax -title:“clean air”", "-title:\"tax\" | -title:\"clean air\""),
            ("(title:H.R.,)", "title:\"H.R.\""),
            ("title:é", "title:\"é\""),
            ("titlé: titl", "titlé: | titl"),
        ]);
    }

    #[test]
    fn malformed_syntax_becomes_words() {
        check(&[
            ("title:", ""),
            ("-title: tax", "tax"),
            ("title: \"clean air\"", "\"clean air\""),
            ("title:\"\" title:, x", "x"),
            ("title:-tax title:(a b)", "tax | a | b"),
            ("a \"clean air -smog title:x", "a | clean | air | smog | title:x"),
            ("-\"hot dogs", "hot | dogs"),
            ("title:\"clean air", "clean | air"),
            ("“clean air", "clean | air"),
            ("\"", ""),
            ("\"a b\" \"c d", "c | d | \"a b\""),
        ]);
    }

    #[test]
    fn operators_are_words_if_there_are_no_others() {
        check(&[
            ("OR", "OR"),
            ("AND OR NOT", "AND | OR | NOT"),
            ("cats AND (dogs OR birds)", "cats | dogs | birds"),
            ("OR \"clean air\"", "\"clean air\""),
            ("OR -dogs", "OR | -\"dogs\""),
            ("cats and dogs or not", "cats | and | dogs | or | not"),
            ("x title:OR \"AND\" -NOT", "x | title:\"OR\" | \"AND\" | -\"NOT\""),
        ]);
    }

    #[test]
    fn control_characters_are_spaces() {
        check(&[
            ("a\0b\tc\nd\u{7f}e\u{85}f", "a | b | c | d | e | f"),
            ("\"a\u{1}\u{2}b\"", "\"a b\""),
            ("a\u{3000}b", "a | b"),
        ]);
    }

    #[test]
    fn the_first_64_terms_are_kept() {
        let query = parse(&"a \"b c\" -d AND ".repeat(100));
        assert_eq!((query.words.len(), query.phrases.len(), query.excluded.len()), (22, 21, 21));
        assert_eq!(parse(&"w ".repeat(64)).words.len(), 64);
    }

    #[test]
    fn long_input_takes_linear_time() {
        for text in ["(", ")", "(a)", "\"", "( ", "-", "-\"", "title:", "\" ", ",;'", "((a))"] {
            assert!(parse(&text.repeat(80_000)).words.len() <= MAX_TERMS);
        }
    }

    #[test]
    fn garbage_gives_searchable_terms_only() {
        const BITS: &[&str] = &[
            "a", "é", "気", "\"", "“", "”", "-", "title:", "(", ")", " ", ",", "OR", "\0", "'",
            "’", "\u{301}", ":",
        ];
        let mut seed = 7u64;
        for _ in 0..50_000 {
            let mut text = String::new();
            for _ in 0..seed >> 59 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                text.push_str(BITS[(seed >> 33) as usize % BITS.len()]);
            }
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let query = parse(&text);
            let phrases = query.phrases.iter().chain(&query.excluded).map(|p| &p.text);
            for part in query.words.iter().chain(phrases) {
                assert!(is_searchable(part) && !part.contains(char::is_control), "{text:?}");
                assert_eq!(part.trim(), part, "{text:?}");
            }
            assert!(
                query.words.iter().all(|word| trimmed(word) == word && !word.contains(' ')),
                "{text:?}"
            );
        }
    }
}
