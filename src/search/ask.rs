//! What a person typed, as a query: words, phrases that must match, and what must not. Nothing here is an error: what
//! can't be read as a rule is read as words, because a search box that scolds is worse than one that guesses.

/// More than anybody types; a longer query is somebody's document, and its beginning says enough.
const MOST: usize = 64;

/// Stripped from a word's ends, besides parentheses. Double quotes of all kinds are `"` by then.
const EDGES: &[char] = &['"', '\'', '‘', '’', ',', ';'];

/// What may stand right before a quote, a `-` or a `title:` without making it the inside of a word.
const OPENERS: &[char] = &['(', '\'', '‘', '’', ',', ';'];

/// No parenthesis belongs to this one.
const ALONE: usize = usize::MAX;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ask {
    /// Plain words, as typed.
    pub words: Vec<String>,
    /// All of these must match.
    pub phrases: Vec<Phrase>,
    /// None of these may match.
    pub without: Vec<Phrase>,
}

impl Ask {
    /// What is looked for, without what is not: a meaning has no `-`.
    pub fn positive(&self, question: &str) -> String {
        if self.without.is_empty() {
            return question.to_string();
        }
        let phrases = self.phrases.iter().map(|phrase| phrase.text.as_str());
        self.words.iter().map(String::as_str).chain(phrases).collect::<Vec<_>>().join(" ")
    }
}

/// A word or words in a row, with single spaces between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    pub text: String,
    pub title_only: bool,
}

enum Part {
    Word(String),
    Phrase(Phrase),
    Without(Phrase),
}

impl Part {
    fn is_operator(&self) -> bool {
        matches!(self, Part::Word(word) if matches!(word.as_str(), "AND" | "OR" | "NOT"))
    }

    /// Whether a search can be made of this alone.
    fn finds(&self) -> bool {
        !self.is_operator() && !matches!(self, Part::Without(_))
    }
}

/// `-` and `title:` in front of a word or phrase.
#[derive(Clone, Copy, Default)]
struct Sign {
    negated: bool,
    title_only: bool,
}

impl Sign {
    /// Takes the sign off the head of `text`. A hyphen that touches a phrase's end joins words and negates nothing.
    fn take(text: &str, touching: bool) -> (Sign, &str) {
        let (negated, text) = match text.strip_prefix('-') {
            Some(rest) if !touching => (true, rest),
            _ => (false, text),
        };
        let (title_only, text) = match text.split_at_checked("title:".len()) {
            Some((head, rest)) if head.eq_ignore_ascii_case("title:") => (true, rest),
            _ => (false, text),
        };
        (Sign { negated, title_only }, text)
    }

    fn is_plain(self) -> bool {
        !self.negated && !self.title_only
    }
}

pub fn read(text: &str) -> Ask {
    let text: String = text.chars().map(plain).collect();
    let mut reader = Reader { rest: &text, touching: false, parts: Vec::new() };
    while !reader.rest.is_empty() {
        reader.step();
    }
    sorted(reader.parts)
}

fn plain(c: char) -> char {
    match c {
        '“' | '”' => '"',
        c if c.is_control() => ' ',
        c => c,
    }
}

/// Parts in the order typed, so that what is over the limit is what came last.
fn sorted(mut parts: Vec<Part>) -> Ask {
    // "OR" alone may be Oregon; beside other words it is somebody's habit from another search engine.
    if parts.iter().any(Part::finds) {
        parts.retain(|part| !part.is_operator());
    }
    let mut ask = Ask::default();
    for part in parts.into_iter().take(MOST) {
        match part {
            Part::Word(word) => ask.words.push(word),
            Part::Phrase(phrase) => ask.phrases.push(phrase),
            Part::Without(phrase) => ask.without.push(phrase),
        }
    }
    ask
}

struct Reader<'a> {
    rest: &'a str,
    /// A phrase ended right before `rest`.
    touching: bool,
    parts: Vec<Part>,
}

impl<'a> Reader<'a> {
    /// Reads one word or phrase off `rest`, or the whole of it after a quote that nothing closes.
    fn step(&mut self) {
        let start = self.rest.trim_start();
        let ahead = start.trim_start_matches(OPENERS);
        let touching = self.touching && ahead.len() == self.rest.len();
        let (sign, body) = Sign::take(ahead, touching);
        match body.strip_prefix('"') {
            Some(quoted) => self.quoted(sign, quoted),
            // A plain word keeps its openers for now: the "(" of "(a)(1)" has a partner.
            None if sign.is_plain() => self.unquoted(sign, start),
            None => self.unquoted(sign, body),
        }
    }

    fn quoted(&mut self, sign: Sign, quoted: &'a str) {
        match quoted.split_once('"') {
            Some((text, rest)) => {
                self.term(sign, text);
                (self.rest, self.touching) = (rest, true);
            }
            None => {
                quoted.split_whitespace().for_each(|word| self.word(word));
                self.rest = "";
            }
        }
    }

    fn unquoted(&mut self, sign: Sign, text: &'a str) {
        let (token, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
        // "--x" and "-(a b)" are nothing we know; excluding their first word would lose what was asked for.
        if sign.is_plain() || token.starts_with(['-', '(']) {
            self.word(token);
        } else {
            self.term(sign, trimmed(token));
        }
        (self.rest, self.touching) = (rest, false);
    }

    fn word(&mut self, token: &str) {
        let word = trimmed(token);
        if is_searchable(word) {
            self.parts.push(Part::Word(word.to_owned()));
        }
    }

    fn term(&mut self, sign: Sign, text: &str) {
        if !is_searchable(text) {
            return;
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let phrase = Phrase { text, title_only: sign.title_only };
        self.parts.push(if sign.negated { Part::Without(phrase) } else { Part::Phrase(phrase) });
    }
}

/// Punctuation alone is in no index: as a word it says nothing, as a phrase it would match nothing.
fn is_searchable(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// The word without what surrounds it, hyphens at its head included: they negated nothing. A parenthesis goes if it has
/// no partner in the word or the two enclose all of it: "(tax" and "(4)" lose theirs, "c(4)" and "(a)(1)" keep them.
fn trimmed(word: &str) -> &str {
    let partners = partners(word);
    let partner = |at: usize| partners.get(at).copied().unwrap_or(ALONE);
    let (mut start, mut end) = (0, word.len());
    while let Some(inner) = word.get(start..end) {
        let (Some(head), Some(tail)) = (inner.chars().next(), inner.chars().next_back()) else { break };
        let last = end - tail.len_utf8();
        if EDGES.contains(&head) || matches!(head, '-' | ')') || (head == '(' && partner(start) >= last) {
            start += head.len_utf8();
        } else if EDGES.contains(&tail) || tail == '(' || (tail == ')' && !(start..end).contains(&partner(last))) {
            end = last;
        } else {
            break;
        }
    }
    word.get(start..end).unwrap_or_default()
}

/// For each byte the place of the parenthesis that belongs to it.
fn partners(word: &str) -> Vec<usize> {
    let mut partners = vec![ALONE; if word.contains(['(', ')']) { word.len() } else { 0 }];
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

    /// Written short: words as they are, phrases as `"…"`, with `title:` and `-` before them.
    fn short(text: &str) -> String {
        let ask = read(text);
        let phrase =
            |sign: &str, p: &Phrase| format!("{sign}{}\"{}\"", if p.title_only { "title:" } else { "" }, p.text);
        let words = ask.words.iter().cloned();
        let phrases = ask.phrases.iter().map(|p| phrase("", p));
        words.chain(phrases).chain(ask.without.iter().map(|p| phrase("-", p))).collect::<Vec<_>>().join(" | ")
    }

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(short(text), *expected, "{text:?}");
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
            ("hr:119:1 subtitle:x C++ 6\" pipe 4\" wide", "hr:119:1 | subtitle:x | C++ | 6 | pipe | 4 | wide"),
        ]);
    }

    #[test]
    fn what_surrounds_a_word_is_stripped() {
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
    fn a_title_can_be_asked_for() {
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
    fn what_is_malformed_becomes_words() {
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
    fn the_first_64_are_kept() {
        let ask = read(&"a \"b c\" -d AND ".repeat(100));
        assert_eq!((ask.words.len(), ask.phrases.len(), ask.without.len()), (22, 21, 21));
        assert_eq!(read(&"w ".repeat(64)).words.len(), 64);
    }

    #[test]
    fn long_input_takes_linear_time() {
        for text in ["(", ")", "(a)", "\"", "( ", "-", "-\"", "title:", "\" ", ",;'", "((a))"] {
            assert!(read(&text.repeat(80_000)).words.len() <= MOST);
        }
    }

    #[test]
    fn garbage_is_read_as_well_as_it_can_be() {
        const BITS: &[&str] =
            &["a", "é", "気", "\"", "“", "”", "-", "title:", "(", ")", " ", ",", "OR", "\0", "'", "’", "\u{301}", ":"];
        let mut seed = 7u64;
        for _ in 0..50_000 {
            let mut text = String::new();
            for _ in 0..seed >> 59 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                text.push_str(BITS[(seed >> 33) as usize % BITS.len()]);
            }
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let ask = read(&text);
            let phrases = ask.phrases.iter().chain(&ask.without).map(|p| &p.text);
            for part in ask.words.iter().chain(phrases) {
                assert!(is_searchable(part) && !part.contains(char::is_control), "{text:?}");
                assert_eq!(part.trim(), part, "{text:?}");
            }
            assert!(ask.words.iter().all(|word| trimmed(word) == word && !word.contains(' ')), "{text:?}");
        }
    }
}
