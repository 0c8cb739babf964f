//! Cuts a record's text into passages, the units of search and citation.

use crate::record::Section;

/// Target length in tokens: short enough that a hit shows where in the text the answer is.
const TARGET_TOKENS: usize = 120;
/// Paragraphs up to this length are not cut.
const MAX_UNCUT_TOKENS: usize = 150;
/// The model reads 256 tokens and uses two for its own markers.
const MODEL_TOKENS: usize = 256 - 2;
/// Limits for the record's title and the heading. The rest must have room for `MAX_UNCUT_TOKENS`.
const TITLE_TOKENS: usize = 40;
const HEADING_TOKENS: usize = 64;
/// Shorter passages are joined with a neighbour.
const MIN_TOKENS: usize = 20;

/// Words whose period does not end a sentence, besides initials and forms like "U.S.".
const ABBREVIATIONS: &str = "al amdt app apr art asst aug cf ch cir cl co col con cong corp ct dec \
    dept dist div doc dr feb fed fig figs ft gen gov hon inc jan jr jul jun lt ltd maj mar mr mrs \
    ms no nos nov oct par para pp prof pt pts pub reg regs rep reps res rev sec secs sen sens sep \
    sept seq sess sr st stat subch subpt subsec supp vol vols vs";

/// A part of one section. Title, heading and text together fit into the model's input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passage {
    pub section: String,
    pub heading: String,
    pub text: String,
}

/// The boundary before a word, weakest first. Text is cut at the strongest boundary that gives
/// parts of the right size.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Gap {
    /// No boundary: a very long word continues.
    Glue,
    Word,
    Clause,
    Sentence,
    Line,
    Paragraph,
}

struct Word<'a> {
    text: &'a str,
    tokens: usize,
    gap: Gap,
}

/// The passages of a text, in order. Long headings are shortened to their innermost parts.
pub fn cut(title: &str, sections: &[Section]) -> Vec<Passage> {
    let room = MODEL_TOKENS - tokens(&first_words(title, TITLE_TOKENS));
    sections.iter().flat_map(|section| cut_section(section, room)).collect()
}

/// The model's input for a passage. It includes title and heading, since the text alone often
/// does not name its subject.
pub fn model_text(title: &str, passage: &Passage) -> String {
    let parts = [first_words(title, TITLE_TOKENS), passage.heading.clone(), passage.text.clone()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn cut_section(section: &Section, room: usize) -> Vec<Passage> {
    let heading = short_heading(&section.heading);
    let room = room - tokens(&heading);
    let words = words(&section.text, room);
    let mut cutter = Cutter { room, passages: Vec::new() };
    cutter.group(&words, Gap::Paragraph);
    let mut rest = words.iter();
    let mut passage = |count| joined(rest.by_ref().take(count));
    let texts = cutter.passages.into_iter().map(|(count, _)| passage(count));
    texts
        .map(|text| Passage { section: section.section.clone(), heading: heading.clone(), text })
        .collect()
}

/// Groups words into passages.
struct Cutter {
    room: usize,
    /// Number of words and of tokens of each passage.
    passages: Vec<(usize, usize)>,
}

impl Cutter {
    /// Joins short parts between gaps of this strength, and cuts long ones at weaker gaps.
    fn group(&mut self, words: &[Word], gap: Gap) {
        let uncut = if gap >= Gap::Line { MAX_UNCUT_TOKENS } else { self.room };
        let (mut start, mut end, mut size) = (0, 0, 0);
        for part in words.chunk_by(|_, next| next.gap < gap) {
            let more = sum(part);
            // A few words before a longer part introduce it: keep them with its beginning.
            let introduces =
                size < MIN_TOKENS && gap > Gap::Glue && (size + more <= uncut || more > uncut);
            if size + more > TARGET_TOKENS && !introduces {
                self.close(&words[start..end], size, uncut, gap);
                (start, size) = (end, 0);
            }
            end += part.len();
            size += more;
        }
        self.close(&words[start..end], size, uncut, gap);
    }

    fn close(&mut self, words: &[Word], size: usize, uncut: usize, gap: Gap) {
        match (gap, self.passages.last_mut()) {
            (Gap::Paragraph, _) if size > uncut => self.group(words, Gap::Line),
            (Gap::Line, _) if size > uncut => self.group(words, Gap::Sentence),
            (Gap::Sentence, _) if size > uncut => self.group(words, Gap::Clause),
            (Gap::Clause, _) if size > uncut => self.group(words, Gap::Glue),
            (_, Some((count, before))) if size < MIN_TOKENS && *before + size <= self.room => {
                *count += words.len();
                *before += size;
            }
            _ if !words.is_empty() => self.passages.push((words.len(), size)),
            _ => {}
        }
    }
}

fn sum(words: &[Word]) -> usize {
    words.iter().map(|w| w.tokens).sum()
}

fn joined<'a>(words: impl Iterator<Item = &'a Word<'a>>) -> String {
    words.fold(String::new(), |text, word| {
        let space = if text.is_empty() || word.gap == Gap::Glue { "" } else { " " };
        text + space + word.text
    })
}

/// The words of a text with the gap before each. Words of more than `limit` tokens are split.
fn words(text: &str, limit: usize) -> Vec<Word<'_>> {
    let mut words: Vec<Word> = Vec::new();
    let mut above = Gap::Paragraph;
    for line in text.lines() {
        let mut gap = above;
        for word in line.split_whitespace() {
            let between = words.last().map_or(Gap::Paragraph, |before| gap_between(before, word));
            push_word(&mut words, word, if gap > between { gap } else { between }, limit);
            gap = Gap::Word;
        }
        above = if gap == Gap::Word { Gap::Line } else { Gap::Paragraph };
    }
    words
}

fn push_word<'a>(words: &mut Vec<Word<'a>>, word: &'a str, mut gap: Gap, limit: usize) {
    let all = tokens(word);
    if all <= limit {
        return words.push(Word { text: word, tokens: all, gap });
    }
    // The upper bound per character also holds when pieces are joined again.
    let (mut start, mut tokens) = (0, 0);
    for (at, c) in word.char_indices() {
        if tokens + max_tokens(c) > TARGET_TOKENS.min(limit) {
            words.push(Word { text: &word[start..at], tokens, gap });
            (start, tokens, gap) = (at, 0, Gap::Glue);
        }
        tokens += max_tokens(c);
    }
    words.push(Word { text: &word[start..], tokens, gap });
}

/// The gap between two words of a line, by their punctuation.
fn gap_between(before: &Word, next: &str) -> Gap {
    let wrapping = |c| "()[]\"'`“”‘’".contains(c);
    let end = before.text.trim_matches(wrapping);
    let continues = next.trim_start_matches(wrapping).starts_with(char::is_lowercase);
    // The first word of a sentence doesn't end it with its period: it is an item number.
    let is_item = before.gap >= Gap::Sentence;
    match end.chars().next_back() {
        Some('.') if !continues && !is_item && !is_abbreviation(end.trim_end_matches('.')) => {
            Gap::Sentence
        }
        Some('!' | '?') if !continues => Gap::Sentence,
        Some(';') => Gap::Clause,
        _ => Gap::Word,
    }
}

/// "Sec", "J", "U.S", "Ph.D": a listed word, an initial, or parts of at most two letters.
fn is_abbreviation(word: &str) -> bool {
    let max = if word.contains('.') { 2 } else { 1 };
    let short = |part: &str| part.chars().count() <= max && part.chars().all(char::is_alphabetic);
    word.split('.').all(short) || ABBREVIATIONS.split(' ').any(|a| a.eq_ignore_ascii_case(word))
}

/// The heading on one line. If it is too long, outermost parts are dropped, then trailing words.
fn short_heading(heading: &str) -> String {
    let words = words(heading, HEADING_TOKENS);
    let mut size = sum(&words);
    let mut start = 0;
    for (at, _) in words.iter().enumerate().filter(|(_, word)| word.text == ">") {
        if size > HEADING_TOKENS {
            size -= sum(&words[start..=at]);
            start = at + 1;
        }
    }
    leading_words(&words[start..], HEADING_TOKENS)
}

/// The beginning of a text, up to `limit` tokens.
fn first_words(text: &str, limit: usize) -> String {
    leading_words(&words(text, limit), limit)
}

fn leading_words(words: &[Word], limit: usize) -> String {
    let mut left = limit;
    joined(
        words
            .iter()
            .take_while(|word| left.checked_sub(word.tokens).map(|rest| left = rest).is_some()),
    )
}

/// An upper estimate of the model's tokens for a text: the sum of those of its words.
fn tokens(text: &str) -> usize {
    let kind = |b: &u8| (b.is_ascii_alphabetic(), b.is_ascii_digit(), b.is_ascii_whitespace());
    let runs = text.as_bytes().chunk_by(|a, b| kind(a) == kind(b));
    runs.map(|run| match (kind(&run[0]), run.len()) {
        // Usual words are one or two tokens; codes (no vowel, or very long) are split further.
        ((true, ..), n @ 1..=20) if run.iter().any(|b| b"aeiouyAEIOUY".contains(b)) => 1 + n / 8,
        ((true, ..) | (_, true, _), n) => n.div_ceil(2),
        ((.., true), _) => 0,
        _ => String::from_utf8_lossy(run).chars().map(max_tokens).sum(),
    })
    .sum()
}

/// Upper bound for one character: a Korean syllable is decomposed into up to three letters.
fn max_tokens(c: char) -> usize {
    if ('\u{ac00}'..='\u{d7a3}').contains(&c) { 3 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(heading: &str, text: &str) -> Vec<String> {
        titled("", heading, text)
    }

    fn titled(title: &str, heading: &str, text: &str) -> Vec<String> {
        let section =
            Section { section: "1".into(), heading: heading.into(), level: 1, text: text.into() };
        let passages = cut(title, &[section]);
        for p in &passages {
            assert!(tokens(&model_text(title, p)) <= MODEL_TOKENS, "{p:?}");
        }
        passages.into_iter().map(|p| p.text).collect()
    }

    /// Given arbitrary text, when the model's own tokenizer counts, then every passage fits into
    /// the model's input.
    #[test]
    fn no_passage_is_truncated_by_the_model() {
        use josh::embed::{MAX_TOKENS, count_tokens};
        let legal = "SEC. 101. (a) In general.—Section 1395w–4(b)(2)(A)(iii) of title 42, U.S.C., \
                     is amended by striking “$1,000,000” and inserting “€2.500.000,00”; PFAS/PFOS \
                     (CAS No. 1763-23-1) at 4.0 ng/L; see 87 Fed. Reg. 36,848–36,849. ";
        let codes = "xqzjkv TTTTGACA 0x3fA9 ƒ∂ß∆ 日本語テキスト 한국어 😀🇺🇸 a1b2c3d4e5f6 ------ \
                     ______ \u{301}\u{302} ﬁ Ⅷ ½ ";
        for text in [
            legal,
            codes,
            "antidisestablishmentarianism pneumonoultramicroscopic ",
            "a.b,c;d:e-f_g(h)i[j]k ",
            "ééé Åå ",
        ] {
            let text = text.repeat(40);
            let section = Section {
                section: "1".into(),
                heading: text.clone(),
                level: 1,
                text: text.clone(),
            };
            for passage in cut(&text, &[section]) {
                let counted = count_tokens(&model_text(&text, &passage)).unwrap();
                assert!(counted <= MAX_TOKENS, "{counted} tokens: {passage:?}");
            }
        }
    }

    /// A sentence with this many tokens.
    fn sentence(tokens: usize) -> String {
        format!("The{}.", " word".repeat(tokens - 2))
    }

    #[test]
    fn passages_do_not_span_sections_and_empty_sections_have_none() {
        let of = |section: &str, text: &str| Section {
            section: section.into(),
            text: text.into(),
            ..Default::default()
        };
        let passages =
            cut("", &[of("1", "One\u{a0} \t two."), of("2", " \n\n "), of("3", "Three.")]);
        let found: Vec<_> =
            passages.iter().map(|p| (p.section.as_str(), p.text.as_str())).collect();
        assert_eq!(found, [("1", "One two."), ("3", "Three.")]);
        assert_eq!(cut("", &[]), []);
    }

    #[test]
    fn structure_decides_where_to_cut() {
        let [a, b, c] = [50, 60, 100].map(sentence);
        assert_eq!(texts("", &format!("{a}\n\n{b}\r\n \r\n{c}")), [format!("{a} {b}"), c.clone()]);
        assert_eq!(
            texts("", &format!("{a} {b}\n{c} {a}\n\n{c}")),
            [format!("{a} {b}"), format!("{c} {a}"), c.clone()]
        );
        assert_eq!(texts("", &format!("{a} {c} {b}")), [&*a, &*c, &*b]);
        assert_eq!(texts("", &sentence(250)), [sentence(250)]);
        assert_eq!(texts("", &sentence(300)).len(), 3);
        let clauses = [100, 110, 90].map(|n| sentence(n).replace('.', ";"));
        assert_eq!(texts("", &clauses.join(" ")), clauses);
    }

    #[test]
    fn short_parts_are_joined_with_a_neighbour() {
        let [a, b, c] = [15, 110, 145].map(sentence);
        assert_eq!(texts("", &format!("{b}\n\n{a}")), [format!("{b} {a}")]);
        assert_eq!(texts("", &format!("{a}\n\n{b} {b}")), [format!("{a} {b}"), b.clone()]);
        assert_eq!(titled(&"Act ".repeat(40), &"Part ".repeat(64), &format!("{c}\n\n{a}")), [c, a]);
    }

    #[test]
    fn abbreviations_do_not_end_sentences() {
        let ends = |text: &str| {
            words(text, MODEL_TOKENS).iter().filter(|w| w.gap == Gap::Sentence).count()
        };
        for one in [
            "See Sec. 5 and (No. 7) of H.R. 1.",
            "The U.S. Senate",
            "John Q. Public",
            "1. Scope",
            "at 5 p.m. or",
        ] {
            assert_eq!(ends(one), 0, "{one}");
        }
        assert_eq!(ends("It ended in 2024. “Why?” Because (of him.) It did! Then § 5."), 4);
    }

    #[test]
    fn long_headings_keep_their_innermost_parts() {
        let heading = format!("Title I > {}> Sec. 1", "word ".repeat(63));
        assert_eq!(short_heading(&heading), "Sec. 1");
        assert_eq!(tokens(&short_heading(&"Ω".repeat(1000))), HEADING_TOKENS);
    }

    #[test]
    fn very_long_words_are_cut_between_characters() {
        let line = "é漢한x".repeat(700_000);
        assert!(texts("Heading", &line).concat() == line);
        let address = format!("See https://{} there.", "a1/".repeat(70));
        assert_eq!(texts("", &address).concat(), address);
    }

    #[test]
    fn no_word_is_lost() {
        let bits = [
            "a ",
            "Sec. ",
            "shall; ",
            "end. ",
            "\n",
            "\n\n",
            "straße ",
            "“Ωmega” ",
            "12,345.67",
            "regulation ",
            ".",
        ];
        let mut seed = 1_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        for _ in 0..2000 {
            let kinds = 1 + next(bits.len());
            let [heading, text] = [120, 1500]
                .map(|most| (0..next(most)).map(|_| bits[next(kinds)]).collect::<String>());
            let found = texts(&heading, &text).join(" ");
            assert_eq!(
                found.split(' ').collect::<String>(),
                text.split_whitespace().collect::<String>()
            );
            if text.split_whitespace().all(|word| tokens(word) <= MODEL_TOKENS - HEADING_TOKENS) {
                assert_eq!(found, text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    }
}
