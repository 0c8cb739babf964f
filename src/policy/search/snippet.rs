//! Cuts the best part out of a matching passage and marks the hits. The result is HTML: `<mark>`
//! around each hit is its only markup, and all text is escaped. What counts as a hit is decided by
//! the caller.

use std::collections::HashMap;
use std::ops::Range;

/// A word of the text.
struct Word<'a> {
    /// Punctuation before, the word itself, punctuation after.
    head: &'a str,
    core: &'a str,
    tail: &'a str,
    /// Whether a space comes before it.
    spaced: bool,
    /// Its position in characters. Any white space between words counts as one, as it is shown.
    shown: Range<usize>,
    /// The number of the hit, if it is one. Words that differ only in case have the same number.
    hit: Option<usize>,
}

/// The window of at most `longest` characters with the most distinct hits, and the earliest of
/// several such windows. `matches` is called with each word, without surrounding punctuation. What
/// is added (`…`, marks, escapes) does not count.
pub fn snippet(text: &str, matches: &dyn Fn(&str) -> bool, longest: usize) -> String {
    let words = words(text, matches);
    let window = best_window(&words, longest);
    let shown = words.get(window.clone()).unwrap_or_default();
    let mut out = String::new();
    if window.start > 0 {
        out.push('…');
    }
    // Only a window of a single word can be too long: a window has at least one.
    let cut = match shown {
        [word] if word.shown.len() > longest => {
            push_cut(&mut out, word, longest);
            true
        }
        _ => {
            push_words(&mut out, shown);
            window.end < words.len()
        }
    };
    if cut {
        out.push('…');
    }
    out
}

fn words<'a>(text: &'a str, matches: &dyn Fn(&str) -> bool) -> Vec<Word<'a>> {
    let mut hits = HashMap::new();
    let mut words = Vec::new();
    let mut at = 0;
    for chunk in
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|chunk| !chunk.is_empty())
    {
        // Statutes join a heading and a sentence with a dash ("IN GENERAL.—The Secretary"), which
        // separates words.
        for (nth, whole) in chunk.split_inclusive('—').enumerate() {
            let spaced = nth == 0 && !words.is_empty();
            let start = at + usize::from(spaced);
            at = start + whole.chars().count();
            let (head, core, tail) = parts(whole);
            let is_hit = !core.is_empty() && matches(core);
            let next = hits.len();
            let hit = is_hit.then(|| *hits.entry(core.to_lowercase()).or_insert(next));
            words.push(Word { head, core, tail, spaced, shown: start..at, hit });
        }
    }
    words
}

/// Splits off the punctuation on both sides. Punctuation alone is all head.
fn parts(whole: &str) -> (&str, &str, &str) {
    let from = whole.trim_start_matches(is_punctuation);
    let core = from.trim_end_matches(is_punctuation);
    let (head, _) = whole.split_at(whole.len() - from.len());
    let (_, tail) = from.split_at(core.len());
    (head, core, tail)
}

/// Combining accents belong to the letter before them and are not punctuation.
fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !('\u{300}'..='\u{36f}').contains(&c)
}

/// Slides a window over the words. Both ends only move forward, so this takes linear time.
fn best_window(words: &[Word], longest: usize) -> Range<usize> {
    let mut seen = Seen::default();
    let (mut best, mut most) = (0..0, None);
    let mut end = 0;
    for (start, first) in words.iter().enumerate() {
        // The first word always belongs to its window, even if it is too long by itself.
        while let Some(word) =
            words.get(end).filter(|w| end == start || w.shown.end - first.shown.start <= longest)
        {
            seen.add(word);
            end += 1;
        }
        if most.is_none_or(|most| seen.distinct > most) {
            (best, most) = (start..end, Some(seen.distinct));
        }
        if end == words.len() {
            break; // All later windows are contained in this one.
        }
        seen.remove(first);
    }
    best
}

/// How often each hit occurs in a window, and how many distinct ones do.
#[derive(Default)]
struct Seen {
    times: HashMap<usize, usize>,
    distinct: usize,
}

impl Seen {
    fn add(&mut self, word: &Word) {
        let Some(hit) = word.hit else { return };
        let times = self.times.entry(hit).or_default();
        *times += 1;
        self.distinct += usize::from(*times == 1);
    }

    fn remove(&mut self, word: &Word) {
        let Some(times) = word.hit.and_then(|hit| self.times.get_mut(&hit)) else { return };
        *times -= 1;
        self.distinct -= usize::from(*times == 0);
    }
}

fn push_words(out: &mut String, words: &[Word]) {
    for (nth, word) in words.iter().enumerate() {
        if nth > 0 && word.spaced {
            out.push(' ');
        }
        push_parts(out, word.head, word.core, word.tail, word.hit.is_some());
    }
}

/// The first `longest` characters of a word.
fn push_cut(out: &mut String, word: &Word, longest: usize) {
    let (head, left) = first_chars(word.head, longest);
    let (core, left) = first_chars(word.core, left);
    let (tail, _) = first_chars(word.tail, left);
    push_parts(out, head, core, tail, word.hit.is_some());
}

/// At most the first `most` characters of a text, and how many of these it leaves unused.
fn first_chars(text: &str, most: usize) -> (&str, usize) {
    match text.char_indices().nth(most) {
        Some((at, _)) => (text.split_at(at).0, 0),
        None => (text, most - text.chars().count()),
    }
}

fn push_parts(out: &mut String, head: &str, core: &str, tail: &str, is_hit: bool) {
    let marked = is_hit && !core.is_empty();
    push_escaped(out, head);
    out.push_str(if marked { "<mark>" } else { "" });
    push_escaped(out, core);
    out.push_str(if marked { "</mark>" } else { "" });
    push_escaped(out, tail);
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The snippet with these words as hits, regardless of case.
    fn cut(text: &str, hits: &[&str], longest: usize) -> String {
        snippet(text, &|word| hits.contains(&word.to_lowercase().as_str()), longest)
    }

    /// The text that a reader sees.
    fn seen(html: &str) -> String {
        let text = html.replace("<mark>", "").replace("</mark>", "");
        assert!(!text.contains(['<', '>', '"']), "{html}");
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        assert_eq!(cut("", &["a"], 10), "");
        assert_eq!(cut(" \n\t\0 ", &["a"], 10), "");
        assert_eq!(cut("clean air", &[], 9), "clean air");
        assert_eq!(cut("  clean \n\n air\u{1}act ", &["air"], 13), "clean <mark>air</mark> act");
    }

    #[test]
    fn punctuation_is_not_marked() {
        assert_eq!(
            cut("(air), “Air” air's", &["air"], 99),
            "(<mark>air</mark>), “<mark>Air</mark>” air's"
        );
        assert_eq!(
            cut("well-known, c(4)a.", &["well-known", "c(4)a"], 99),
            "<mark>well-known</mark>, <mark>c(4)a</mark>."
        );
        assert_eq!(
            cut("IN GENERAL.—The tax", &["general", "the"], 99),
            "IN <mark>GENERAL</mark>.—<mark>The</mark> tax"
        );
    }

    #[test]
    fn punctuation_alone_is_never_a_hit() {
        let out = snippet("a — § … ** b", &|word| !word.is_empty(), 99);
        assert_eq!(out, "<mark>a</mark> — § … ** <mark>b</mark>");
    }

    #[test]
    fn cuts_fall_between_words() {
        assert_eq!(cut("one two three", &[], 7), "one two…");
        assert_eq!(cut("one two three", &[], 12), "one two…");
        assert_eq!(cut("one two three", &["three"], 9), "…two <mark>three</mark>");
        assert_eq!(cut("one two three", &["two"], 5), "…<mark>two</mark>…");
        assert_eq!(cut("one.—two", &["two"], 6), "…<mark>two</mark>");
    }

    #[test]
    fn the_window_with_the_most_distinct_hits_wins_and_the_earliest_of_equals() {
        assert_eq!(
            cut("tax tax Tax x x x x tax law x", &["tax", "law"], 11),
            "…x x <mark>tax</mark> <mark>law</mark>…"
        );
        assert_eq!(cut("a b x x x a b", &["a", "b"], 3), "<mark>a</mark> <mark>b</mark>…");
        assert_eq!(cut("x x x x", &["a"], 3), "x x…");
    }

    #[test]
    fn markup_is_escaped_and_escapes_do_not_count() {
        assert_eq!(cut("<b>\"x\"&y</b>", &[], 13), "&lt;b&gt;&quot;x&quot;&amp;y&lt;/b&gt;");
        assert_eq!(cut("&&& <<< >", &[], 7), "&amp;&amp;&amp; &lt;&lt;&lt;…");
        assert_eq!(cut("<a&b> c", &["a&b"], 5), "&lt;<mark>a&amp;b</mark>&gt;…");
        assert_eq!(cut("<mark>", &["mark"], 9), "&lt;<mark>mark</mark>&gt;");
    }

    #[test]
    fn a_word_that_is_too_long_is_cut() {
        assert_eq!(cut("überlänge", &[], 3), "übe…");
        assert_eq!(cut("a überlänge, b", &["überlänge"], 4), "…<mark>über</mark>…");
        assert_eq!(cut("((((word", &["word"], 3), "(((…");
        assert_eq!(cut("((word", &["word"], 3), "((<mark>w</mark>…");
        assert_eq!(cut("word)))", &["word"], 5), "<mark>word</mark>)…");
        assert_eq!(cut("&&&&", &[], 2), "&amp;&amp;…");
        assert_eq!(cut("word x", &["word"], 0), "…");
    }

    #[test]
    fn length_is_counted_in_characters() {
        assert_eq!(cut("気候 変動 éé", &["変動"], 5), "気候 <mark>変動</mark>…");
        assert_eq!(cut("cafe\u{301}.", &["cafe\u{301}"], 9), "<mark>cafe\u{301}</mark>.");
        assert_eq!(cut("🦀🦀🦀", &[], 2), "🦀🦀…");
    }

    #[test]
    fn long_text_takes_linear_time() {
        let text = "tax law, and \"order\" ".repeat(40_000);
        assert!(seen(&cut(&text, &["law", "order"], 200)).chars().count() <= 202);
        assert!(cut(&text, &["law"], 400_000).ends_with('…'));
        assert_eq!(cut(&"x".repeat(800_000), &[], 10), "xxxxxxxxxx…");
        let all_different: String = (0..80_000).map(|n| format!("w{n} ")).collect();
        assert!(snippet(&all_different, &|_| true, 100_000).starts_with("<mark>w0</mark> "));
    }

    /// The most distinct hits of any window, found by trying all of them.
    fn most_hits(text: &str, matches: &dyn Fn(&str) -> bool, longest: usize) -> usize {
        let words = words(text, matches);
        let windows =
            (0..words.len()).flat_map(|start| (start + 1..=words.len()).map(move |end| start..end));
        let fitting = windows.filter(|w| {
            w.len() == 1 || words[w.end - 1].shown.end - words[w.start].shown.start <= longest
        });
        let distinct = |w: Range<usize>| {
            words[w].iter().filter_map(|w| w.hit).collect::<std::collections::HashSet<_>>().len()
        };
        fitting.map(distinct).max().unwrap_or(0)
    }

    #[test]
    fn garbage_gives_balanced_marks_and_the_best_window() {
        const BITS: &[&str] = &[
            "a", "B", "é", "気", "&", "<", ">", "\"", " ", " ", "  ", "\0", "—", ".", "<mark>",
            "</mark>", "\u{301}", "🦀", "&amp;",
        ];
        let mut seed = 11u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize
        };
        for _ in 0..20_000 {
            let text: String = (0..random() % 40).map(|_| BITS[random() % BITS.len()]).collect();
            let (longest, letter) = (random() % 24, ["a", "é", "m", "x"][random() % 4]);
            let matches = |word: &str| word.starts_with(letter) || word.len() == 2;
            let out = snippet(&text, &matches, longest);
            check(&text, &out, longest);

            let words = words(&text, &matches);
            let window = best_window(&words, longest);
            let mut hits: Vec<_> = words[window].iter().filter_map(|w| w.hit).collect();
            hits.sort_unstable();
            hits.dedup();
            assert_eq!(hits.len(), most_hits(&text, &matches, longest), "{text:?} {longest}");
        }
    }

    /// Marks are balanced, not nested and not empty; what is seen is part of the text and fits.
    fn check(text: &str, out: &str, longest: usize) {
        for piece in out.split("<mark>").skip(1) {
            let marked = piece.split_once("</mark>").unwrap().0;
            assert!(
                !marked.is_empty() && !piece[marked.len() + 7..].contains("</mark>"),
                "{text:?} {out:?}"
            );
        }
        assert_eq!(
            out.matches("<mark>").count(),
            out.matches("</mark>").count(),
            "{text:?} {out:?}"
        );
        let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let whole = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
        let seen = seen(out);
        let piece = seen.trim_matches('…');
        assert!(whole.contains(piece) && piece.chars().count() <= longest, "{text:?} {out:?}");
    }
}
