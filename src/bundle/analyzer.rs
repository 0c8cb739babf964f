//! The text analyzer, shared by the index and by queries: it turns text into lower-case terms with
//! accents removed and English words stemmed. Legal citations stay whole: "H.R." becomes `hr`, and
//! `119-21` and `122.26` are one term each. It knows nothing of the query syntax.

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
pub fn plain_words(text: &str) -> impl Iterator<Item = String> {
    let is_plain =
        |word: &&str| (4..=24).contains(&word.len()) && word.chars().all(char::is_alphabetic);
    text.split(|c: char| !c.is_alphanumeric()).filter(is_plain).map(str::to_lowercase)
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
        let mut tokens = Vec::new();
        for (from, run) in runs(text) {
            for (at, word) in words(run) {
                if word.len() <= MAX_TERM_LENGTH {
                    let (offset_from, position) = (from + at, tokens.len());
                    let text = word.replace(['.', '\'', '’'], "").to_lowercase();
                    // A number keeps its decimal point: 122.26 is not 12226.
                    let text = if is_number(word) { word.to_string() } else { text };
                    let offset_to = offset_from + word.len();
                    tokens.push(Token {
                        offset_from,
                        offset_to,
                        position,
                        text,
                        position_length: 1,
                    });
                }
            }
        }
        WordStream { tokens, next: 0 }
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

/// The words of a run. A number with points or hyphens and an abbreviation are one word; any other
/// run is split at hyphens and points.
fn words(run: &str) -> Vec<(usize, &str)> {
    let abbreviation = || run.split('.').all(|part| part.chars().count() == 1);
    if is_number(run) || !run.contains(['-', '.']) || abbreviation() {
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

#[derive(Clone)]
struct StemTokenizer<T>(T);

struct StemStream<S>(S);

impl TokenFilter for Stems {
    type Tokenizer<T: Tokenizer> = StemTokenizer<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> StemTokenizer<T> {
        StemTokenizer(tokenizer)
    }
}

impl<T: Tokenizer> Tokenizer for StemTokenizer<T> {
    type TokenStream<'a> = StemStream<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        StemStream(self.0.token_stream(text))
    }
}

impl<S: TokenStream> TokenStream for StemStream<S> {
    fn advance(&mut self) -> bool {
        if !self.0.advance() {
            return false;
        }
        let token = self.0.token_mut();
        if !token.text.bytes().any(|b| b.is_ascii_digit()) {
            token.text = STEMMER.stem(&token.text).into_owned();
        }
        true
    }
    fn token(&self) -> &Token {
        self.0.token()
    }
    fn token_mut(&mut self) -> &mut Token {
        self.0.token_mut()
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
