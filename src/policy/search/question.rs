//! What a question is about: the words of a query that carry its subject, without those that only
//! ask.

use super::query_syntax::ParsedQuery;
use crate::bundle::analyzer::is_stop_word;

/// Words with which people ask, and which say nothing of the subject: "what did Congress do about
/// deepfakes" means "deepfakes".
const ASKING: &[&str] = &[
    "about",
    "any",
    "anything",
    "bill",
    "bills",
    "concerning",
    "congress",
    "could",
    "did",
    "done",
    "federal",
    "find",
    "give",
    "going",
    "government",
    "happened",
    "happening",
    "law",
    "laws",
    "legislation",
    "list",
    "regarding",
    "related",
    "say",
    "says",
    "show",
    "should",
    "tell",
    "there",
];

/// Words that make a question of what follows them.
const QUESTION_WORDS: &[&str] = &[
    "are", "can", "could", "did", "do", "does", "has", "have", "how", "is", "should", "show",
    "tell", "was", "were", "what", "when", "where", "which", "who", "why", "will",
];

impl ParsedQuery {
    /// Whether it reads like a question: "which bills …", "tell me …".
    fn is_question(&self) -> bool {
        let first = self.words.first().map(|word| word.to_lowercase());
        first.is_some_and(|word| QUESTION_WORDS.contains(&word.as_str()))
    }

    /// The words that are looked for: those that are too common are left out, and in a question
    /// those that only ask, unless nothing else would be left.
    pub fn content_words(&self) -> Vec<&str> {
        let words = || self.words.iter().map(String::as_str);
        let asks = |word: &str| ASKING.contains(&word.to_lowercase().trim_end_matches('?'));
        let content: Vec<&str> = words().filter(|word| !is_stop_word(word)).collect();
        let subject: Vec<&str> = content.iter().copied().filter(|word| !asks(word)).collect();
        if self.is_question() && (!subject.is_empty() || !self.phrases.is_empty()) {
            return subject;
        }
        match content.is_empty() && self.phrases.is_empty() {
            true => words().collect(),
            false => content,
        }
    }

    /// What the query is about, to be embedded: a question without the words that only ask.
    pub fn subject(&self, query: &str) -> String {
        if !self.is_question() {
            return self.without_exclusions(query);
        }
        let phrases = self.phrases.iter().map(|phrase| phrase.text.as_str());
        self.content_words().into_iter().chain(phrases).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::query_syntax::parse;

    #[test]
    fn a_question_is_asked_for_its_subject() {
        for (query, content) in [
            ("what did Congress do about deepfakes", "deepfakes"),
            ("deepfakes", "deepfakes"),
            ("which bills are there on drinking water", "drinking water"),
            // Without a question these words are what is looked for.
            ("federal law", "federal law"),
            ("Congress and the bill of rights", "Congress bill rights"),
            // Nothing else is left.
            ("what is the law", "law"),
            ("who are they", "who are they"),
        ] {
            let parsed = parse(query);
            assert_eq!(parsed.content_words().join(" "), content, "{query}");
        }
        let parsed = parse("what did Congress do about \"revenge porn\"");
        assert_eq!(parsed.subject(""), "revenge porn");
    }
}
