//! Cuts a record's text into passages, the pieces that are searched and cited as one.

use crate::record::Section;

/// What a passage aims at, in tokens: a thought or two, so that a hit says where in the text the answer stands.
const TARGET: usize = 120;
/// A paragraph this long is still left whole: a cut would cost more than the length does.
const WHOLE: usize = 150;
/// The model reads 256 tokens and spends two on its own marks.
const LIMIT: usize = 256 - 2;
/// The most that the title of the record and the heading may take; what is left must hold `WHOLE`.
const TITLE: usize = 40;
const HEADING: usize = 64;
/// Below this a passage says too little to stand alone.
const TAIL: usize = 20;

/// Words that end in a full stop inside a sentence, apart from initials and the likes of "U.S.".
const ABBREVIATIONS: &str = "al amdt app apr art asst aug cf ch cir cl co col con cong corp ct dec dept dist div doc dr \
    feb fed fig figs ft gen gov hon inc jan jr jul jun lt ltd maj mar mr mrs ms no nos nov oct par para pp prof pt pts \
    pub reg regs rep reps res rev sec secs sen sens sep sept seq sess sr st stat subch subpt subsec supp vol vols vs";

/// A piece of one section; title, heading and text together stay within what the model reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    pub section: String,
    pub heading: String,
    pub text: String,
}

/// What stands before a word, the weakest first. Cuts are made at the strongest that gives pieces of a fitting size.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Gap {
    /// Nothing: an endless word goes on.
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

/// The passages of a text in its order. A heading too long to leave room for text keeps its innermost parts.
pub fn cut(title: &str, sections: &[Section]) -> Vec<Passage> {
    let room = LIMIT - tokens(&first_words(title, TITLE));
    sections.iter().flat_map(|section| cut_section(section, room)).collect()
}

/// What the model reads of a passage: a piece of text alone often does not say what it is about.
pub fn model_text(title: &str, passage: &Passage) -> String {
    let parts = [first_words(title, TITLE), passage.heading.clone(), passage.text.clone()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn cut_section(section: &Section, room: usize) -> Vec<Passage> {
    let heading = short_heading(&section.heading);
    let room = room - tokens(&heading);
    let words = words(&section.text, room);
    let mut cutter = Cutter { room, done: Vec::new() };
    cutter.group(&words, Gap::Paragraph);
    let mut rest = words.iter();
    let mut passage = |count| joined(rest.by_ref().take(count));
    let texts = cutter.done.into_iter().map(|(count, _)| passage(count));
    texts.map(|text| Passage { section: section.section.clone(), heading: heading.clone(), text }).collect()
}

/// Notes how many words each passage takes, and their tokens.
struct Cutter {
    room: usize,
    done: Vec<(usize, usize)>,
}

impl Cutter {
    /// Joins short neighbours between gaps of this strength, and cuts what is too long at weaker ones.
    fn group(&mut self, words: &[Word], gap: Gap) {
        let whole = if gap >= Gap::Line { WHOLE } else { self.room };
        let (mut start, mut end, mut size) = (0, 0, 0);
        for part in words.chunk_by(|_, next| next.gap < gap) {
            let more = sum(part);
            // A few words before something longer introduce it, so they go with it even if it must be cut.
            let leads = size < TAIL && gap > Gap::Glue && (size + more <= whole || more > whole);
            if size + more > TARGET && !leads {
                self.close(&words[start..end], size, whole, gap);
                (start, size) = (end, 0);
            }
            end += part.len();
            size += more;
        }
        self.close(&words[start..end], size, whole, gap);
    }

    fn close(&mut self, words: &[Word], size: usize, whole: usize, gap: Gap) {
        match (gap, self.done.last_mut()) {
            (Gap::Paragraph, _) if size > whole => self.group(words, Gap::Line),
            (Gap::Line, _) if size > whole => self.group(words, Gap::Sentence),
            (Gap::Sentence, _) if size > whole => self.group(words, Gap::Clause),
            (Gap::Clause, _) if size > whole => self.group(words, Gap::Glue),
            (_, Some((count, before))) if size < TAIL && *before + size <= self.room => {
                *count += words.len();
                *before += size;
            }
            _ if !words.is_empty() => self.done.push((words.len(), size)),
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

/// The words of a text with the gap before each; a word of more than `limit` tokens comes in pieces.
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
    let whole = tokens(word);
    if whole <= limit {
        return words.push(Word { text: word, tokens: whole, gap });
    }
    // Pieces count what their characters can be at most, which holds for any of them put together again.
    let (mut start, mut tokens) = (0, 0);
    for (at, c) in word.char_indices() {
        if tokens + most(c) > TARGET.min(limit) {
            words.push(Word { text: &word[start..at], tokens, gap });
            (start, tokens, gap) = (at, 0, Gap::Glue);
        }
        tokens += most(c);
    }
    words.push(Word { text: &word[start..], tokens, gap });
}

/// What the words alone say about the gap between them.
fn gap_between(before: &Word, next: &str) -> Gap {
    let wrapping = |c| "()[]\"'`“”‘’".contains(c);
    let end = before.text.trim_matches(wrapping);
    let goes_on = next.trim_start_matches(wrapping).starts_with(char::is_lowercase);
    // A word with a full stop that opens a sentence doesn't end it: it is the number of an item.
    let is_item = before.gap >= Gap::Sentence;
    match end.chars().next_back() {
        Some('.') if !goes_on && !is_item && !is_abbreviation(end.trim_end_matches('.')) => Gap::Sentence,
        Some('!' | '?') if !goes_on => Gap::Sentence,
        Some(';') => Gap::Clause,
        _ => Gap::Word,
    }
}

/// "Sec", "J", "U.S", "Ph.D": a listed word, an initial, or parts of at most two letters.
fn is_abbreviation(word: &str) -> bool {
    let most = if word.contains('.') { 2 } else { 1 };
    let short = |part: &str| part.chars().count() <= most && part.chars().all(char::is_alphabetic);
    word.split('.').all(short) || ABBREVIATIONS.split(' ').any(|a| a.eq_ignore_ascii_case(word))
}

/// The heading on one line; one that is too long loses its outermost parts, then its last words.
fn short_heading(heading: &str) -> String {
    let words = words(heading, HEADING);
    let mut size = sum(&words);
    let mut start = 0;
    for (at, _) in words.iter().enumerate().filter(|(_, word)| word.text == ">") {
        if size > HEADING {
            size -= sum(&words[start..=at]);
            start = at + 1;
        }
    }
    fitting(&words[start..], HEADING)
}

/// The beginning of a text, as much as has so many tokens.
fn first_words(text: &str, most: usize) -> String {
    fitting(&words(text, most), most)
}

fn fitting(words: &[Word], most: usize) -> String {
    let mut left = most;
    joined(words.iter().take_while(|word| left.checked_sub(word.tokens).map(|rest| left = rest).is_some()))
}

/// About how many word pieces the model makes of a text, rather too many than too few; those of its words add up.
fn tokens(text: &str) -> usize {
    let kind = |b: &u8| (b.is_ascii_alphabetic(), b.is_ascii_digit(), b.is_ascii_whitespace());
    let runs = text.as_bytes().chunk_by(|a, b| kind(a) == kind(b));
    runs.map(|run| match (kind(&run[0]), run.len()) {
        // Usual words are a piece or two; what has no vowel or no end is a code, and falls apart.
        ((true, ..), n @ 1..=20) if run.iter().any(|b| b"aeiouyAEIOUY".contains(b)) => 1 + n / 8,
        ((true, ..) | (_, true, _), n) => n.div_ceil(2),
        ((.., true), _) => 0,
        _ => String::from_utf8_lossy(run).chars().map(most).sum(),
    })
    .sum()
}

/// The most that one character can add: a Korean syllable is taken apart into up to three letters.
fn most(c: char) -> usize {
    if ('\u{ac00}'..='\u{d7a3}').contains(&c) { 3 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(heading: &str, text: &str) -> Vec<String> {
        titled("", heading, text)
    }

    fn titled(title: &str, heading: &str, text: &str) -> Vec<String> {
        let section = Section { section: "1".into(), heading: heading.into(), level: 1, text: text.into() };
        let passages = cut(title, &[section]);
        for p in &passages {
            assert!(tokens(&model_text(title, p)) <= LIMIT, "{p:?}");
        }
        passages.into_iter().map(|p| p.text).collect()
    }

    /// Given anything at all, when the model's own tokenizer counts, then no passage is longer than what the model reads.
    #[test]
    fn no_passage_is_cut_off_by_the_model() {
        use josh::embed::{BUILT_IN, MOST_TOKENS, Session};
        let session = Session::load(&BUILT_IN).unwrap();
        let legal = "SEC. 101. (a) In general.—Section 1395w–4(b)(2)(A)(iii) of title 42, U.S.C., is amended by striking “$1,000,000” and \
                     inserting “€2.500.000,00”; PFAS/PFOS (CAS No. 1763-23-1) at 4.0 ng/L; see 87 Fed. Reg. 36,848–36,849. ";
        let codes =
            "xqzjkv TTTTGACA 0x3fA9 ƒ∂ß∆ 日本語テキスト 한국어 😀🇺🇸 a1b2c3d4e5f6 ------ ______ \u{301}\u{302} ﬁ Ⅷ ½ ";
        for text in [
            legal,
            codes,
            "antidisestablishmentarianism pneumonoultramicroscopic ",
            "a.b,c;d:e-f_g(h)i[j]k ",
            "ééé Åå ",
        ] {
            let text = text.repeat(40);
            let section = Section { section: "1".into(), heading: text.clone(), level: 1, text: text.clone() };
            for passage in cut(&text, &[section]) {
                let counted = session.tokens(&model_text(&text, &passage)).unwrap();
                assert!(counted <= MOST_TOKENS, "{counted} tokens: {passage:?}");
            }
        }
    }

    /// A sentence of so many tokens.
    fn sentence(tokens: usize) -> String {
        format!("The{}.", " word".repeat(tokens - 2))
    }

    #[test]
    fn sections_stay_apart_and_empty_ones_vanish() {
        let of =
            |section: &str, text: &str| Section { section: section.into(), text: text.into(), ..Default::default() };
        let passages = cut("", &[of("1", "One\u{a0} \t two."), of("2", " \n\n "), of("3", "Three.")]);
        let found: Vec<_> = passages.iter().map(|p| (p.section.as_str(), p.text.as_str())).collect();
        assert_eq!(found, [("1", "One two."), ("3", "Three.")]);
        assert_eq!(cut("", &[]), []);
    }

    #[test]
    fn structure_decides_where_to_cut() {
        let [a, b, c] = [50, 60, 100].map(sentence);
        assert_eq!(texts("", &format!("{a}\n\n{b}\r\n \r\n{c}")), [format!("{a} {b}"), c.clone()]);
        assert_eq!(texts("", &format!("{a} {b}\n{c} {a}\n\n{c}")), [format!("{a} {b}"), format!("{c} {a}"), c.clone()]);
        assert_eq!(texts("", &format!("{a} {c} {b}")), [&*a, &*c, &*b]);
        assert_eq!(texts("", &sentence(250)), [sentence(250)]);
        assert_eq!(texts("", &sentence(300)).len(), 3);
        let clauses = [100, 110, 90].map(|n| sentence(n).replace('.', ";"));
        assert_eq!(texts("", &clauses.join(" ")), clauses);
    }

    #[test]
    fn small_pieces_go_with_a_neighbour() {
        let [a, b, c] = [15, 110, 145].map(sentence);
        assert_eq!(texts("", &format!("{b}\n\n{a}")), [format!("{b} {a}")]);
        assert_eq!(texts("", &format!("{a}\n\n{b} {b}")), [format!("{a} {b}"), b.clone()]);
        assert_eq!(titled(&"Act ".repeat(40), &"Part ".repeat(64), &format!("{c}\n\n{a}")), [c, a]);
    }

    #[test]
    fn sentences_end_where_they_end() {
        let ends = |text: &str| words(text, LIMIT).iter().filter(|w| w.gap == Gap::Sentence).count();
        for one in
            ["See Sec. 5 and (No. 7) of H.R. 1.", "The U.S. Senate", "John Q. Public", "1. Scope", "at 5 p.m. or"]
        {
            assert_eq!(ends(one), 0, "{one}");
        }
        assert_eq!(ends("It ended in 2024. “Why?” Because (of him.) It did! Then § 5."), 4);
    }

    #[test]
    fn long_headings_keep_their_innermost_parts() {
        let heading = format!("Title I > {}> Sec. 1", "word ".repeat(63));
        assert_eq!(short_heading(&heading), "Sec. 1");
        assert_eq!(tokens(&short_heading(&"Ω".repeat(1000))), HEADING);
    }

    #[test]
    fn endless_words_are_cut_between_characters() {
        let line = "é漢한x".repeat(700_000);
        assert!(texts("Heading", &line).concat() == line);
        let address = format!("See https://{} there.", "a1/".repeat(70));
        assert_eq!(texts("", &address).concat(), address);
    }

    #[test]
    fn no_word_is_lost() {
        let bits =
            ["a ", "Sec. ", "shall; ", "end. ", "\n", "\n\n", "straße ", "“Ωmega” ", "12,345.67", "regulation ", "."];
        let mut seed = 1_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        for _ in 0..2000 {
            let kinds = 1 + next(bits.len());
            let [heading, text] =
                [120, 1500].map(|most| (0..next(most)).map(|_| bits[next(kinds)]).collect::<String>());
            let found = texts(&heading, &text).join(" ");
            assert_eq!(found.split(' ').collect::<String>(), text.split_whitespace().collect::<String>());
            if text.split_whitespace().all(|word| tokens(word) <= LIMIT - HEADING) {
                assert_eq!(found, text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    }
}
