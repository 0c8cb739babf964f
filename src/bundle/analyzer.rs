//! The text analyzer, shared by the index and by queries: it turns text into lower-case terms with
//! accents removed and English words stemmed. Legal citations stay whole: "H.R." becomes `hr`, and
//! `119-21` and `122.26` are one term each. It knows nothing of the query syntax.

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use tantivy::tokenizer::{
    AsciiFoldingFilter, TextAnalyzer, Token, TokenFilter, TokenStream, Tokenizer,
};

/// The name of the analyzer in an index's schema.
pub const NAME: &str = "josh";

/// Longer runs of letters are not words and are not indexed. In bytes.
const MAX_TERM_LENGTH: usize = 64;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

pub fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(Words).filter(AsciiFoldingFilter).filter(Stems).build()
}

/// The terms of a text, in order.
pub fn terms(text: &str) -> Vec<String> {
    thread_local! {
        static ANALYZER: std::cell::RefCell<TextAnalyzer> = std::cell::RefCell::new(analyzer());
    }
    let mut out = Vec::new();
    ANALYZER.with_borrow_mut(|analyzer| {
        analyzer.token_stream(text).process(&mut |token| out.push(token.text.clone()))
    });
    out
}

/// The words of a name: lower-case, accents removed, not stemmed.
pub fn folded_words(text: &str) -> Vec<String> {
    thread_local! {
        static ANALYZER: std::cell::RefCell<TextAnalyzer> = std::cell::RefCell::new(
            TextAnalyzer::builder(Words).filter(AsciiFoldingFilter).build(),
        );
    }
    let mut out = Vec::new();
    ANALYZER.with_borrow_mut(|analyzer| {
        analyzer.token_stream(text).process(&mut |token| out.push(token.text.clone()))
    });
    out
}

/// The words of a text for spelling suggestions: lower-case and unstemmed, without numbers and
/// without words too short to correct.
pub fn plain_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_plain_word(text, |word| words.push(word.to_string()));
    words
}

/// Calls `visit` with each of the plain words, without allocating them.
pub fn each_plain_word(text: &str, mut visit: impl FnMut(&str)) {
    let is_plain =
        |word: &&str| (4..=24).contains(&word.len()) && word.chars().all(char::is_alphabetic);
    let mut lower = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(is_plain) {
        if word.bytes().all(|b| b.is_ascii_lowercase()) {
            visit(word);
            continue;
        }
        lower.clear();
        match word.is_ascii() {
            true => {
                lower.push_str(word);
                lower.make_ascii_lowercase();
            }
            false => lower.push_str(&word.to_lowercase()),
        }
        visit(&lower);
    }
}

/// Words that occur in nearly every text.
const STOP_WORDS: &str = "a an and are as at be been but by can do does for from had has have \
    how i if in into is it its me my no not of on or our she so such than that the their them then \
    there these they this those to under was we were what when where which who whom why will with \
    would you your";

/// Whether a word is too common to search for.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.split(' ').any(|stop| stop.eq_ignore_ascii_case(word))
}

/// Splits text into lower-case words.
#[derive(Clone)]
struct Words;

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream {
        // About one word in six bytes.
        let mut tokens = Vec::with_capacity(text.len() / 6 + 1);
        let mut add = |offset_from: usize, word: &str| {
            if word.len() <= MAX_TERM_LENGTH {
                tokens.push(Token {
                    offset_from,
                    offset_to: offset_from + word.len(),
                    position: tokens.len(),
                    text: lower_case(word),
                    position_length: 1,
                });
            }
        };
        for (from, run) in runs(text) {
            match run.contains(['-', '.']) {
                false => add(from, run),
                true => words(run).into_iter().for_each(|(at, word)| add(from + at, word)),
            }
        }
        WordStream { tokens, next: 0 }
    }
}

/// The word as a term, before accents and endings are removed. A number keeps its decimal point:
/// 122.26 is not 12226.
fn lower_case(word: &str) -> String {
    if is_number(word) {
        word.to_string()
    } else if word.bytes().all(|b| b.is_ascii_alphanumeric()) {
        word.to_ascii_lowercase()
    } else {
        word.replace(['.', '\'', '’'], "").to_lowercase()
    }
}

/// The runs of letters, digits, points, hyphens and apostrophes, without punctuation at their ends,
/// each with its start.
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '\'' | '’');
    let mut rest = 0;
    std::iter::from_fn(move || {
        loop {
            let start = rest + text[rest..].find(char::is_alphanumeric)?;
            let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |n| start + n);
            rest = end;
            let run = text[start..end].trim_end_matches(|c: char| !c.is_alphanumeric());
            if !run.is_empty() {
                return Some((start, run));
            }
        }
    })
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(|c: char| c.is_ascii_digit())
}

/// The words of a run with points or hyphens. A number and an abbreviation are one word; any other
/// run is split at hyphens and points.
fn words(run: &str) -> Vec<(usize, &str)> {
    let abbreviation = || run.split('.').all(|part| part.chars().count() == 1);
    if is_number(run) || abbreviation() {
        return vec![(0, run)];
    }
    let mut out = Vec::new();
    let mut at = 0;
    for part in run.split(['-', '.']) {
        let trimmed = part.trim_matches(|c: char| !c.is_alphanumeric());
        if !trimmed.is_empty() {
            let inside = part.find(trimmed).unwrap_or_default();
            out.push((at + inside, trimmed));
        }
        at += part.len() + 1;
    }
    out
}

struct WordStream {
    tokens: Vec<Token>,
    next: usize,
}

impl TokenStream for WordStream {
    fn advance(&mut self) -> bool {
        self.next += 1;
        self.next <= self.tokens.len()
    }
    fn token(&self) -> &Token {
        &self.tokens[self.next - 1]
    }
    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokens[self.next - 1]
    }
}

/// Stems English words. A term with a digit is a number or a citation and stays as it is.
#[derive(Clone)]
struct Stems;

/// How many stems a tokenizer remembers. Texts repeat their words, and looking one up is several
/// times faster than stemming it.
const REMEMBERED_STEMS: usize = 1 << 15;

#[derive(Clone)]
struct StemTokenizer<T> {
    inner: T,
    known: HashMap<String, String>,
}

struct StemStream<'a, S> {
    inner: S,
    known: &'a mut HashMap<String, String>,
}

impl TokenFilter for Stems {
    type Tokenizer<T: Tokenizer> = StemTokenizer<T>;

    fn transform<T: Tokenizer>(self, inner: T) -> StemTokenizer<T> {
        StemTokenizer { inner, known: HashMap::new() }
    }
}

impl<T: Tokenizer> Tokenizer for StemTokenizer<T> {
    type TokenStream<'a> = StemStream<'a, T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        StemStream { inner: self.inner.token_stream(text), known: &mut self.known }
    }
}

impl<S: TokenStream> TokenStream for StemStream<'_, S> {
    fn advance(&mut self) -> bool {
        if !self.inner.advance() {
            return false;
        }
        let token = self.inner.token_mut();
        if token.text.bytes().any(|b| b.is_ascii_digit()) {
            return true;
        }
        if let Some(stem) = self.known.get(&token.text) {
            token.text.clone_from(stem);
            return true;
        }
        let stem = STEMMER.stem(&token.text).into_owned();
        let word = std::mem::replace(&mut token.text, stem.clone());
        if self.known.len() < REMEMBERED_STEMS {
            self.known.insert(word, stem);
        }
        true
    }
    fn token(&self) -> &Token {
        self.inner.token()
    }
    fn token_mut(&mut self) -> &mut Token {
        self.inner.token_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_cased_and_stemmed() {
        assert_eq!(terms("Regulations, regulating: Velázquez's"), ["regul", "regul", "velazquez"]);
        assert_eq!(terms("well-known PFAS"), ["well", "known", "pfas"]);
    }

    #[test]
    fn citations_stay_whole() {
        assert_eq!(
            terms("H.R. 1, P.L. 119-21, 40 CFR 122.26."),
            ["hr", "1", "pl", "119-21", "40", "cfr", "122.26"]
        );
        assert_eq!(terms("U.S.C."), ["usc"]);
    }

    #[test]
    fn no_text_panics() {
        for text in
            ["", "...", "-'-", "a.-b", "é.-é", "١٢", "x".repeat(1000).as_str(), "日本語 テキスト"]
        {
            let _ = terms(text);
        }
    }
}
