//! How well a name fits what was typed, from 0 to 1. Pure: words in, a number out.
//!
//! Each typed word is paired with the name's word that it fits best: the same word, a nickname of
//! it, its beginning, an initial, a slip or two away, or one that sounds alike. Longer words count
//! more, and words that every name has hardly at all.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Groups of first names that stand for each other.
const NICKNAMES: &[&str] = &[
    "william bill billy will willie",
    "robert bob bobby rob",
    "richard rick dick ricky rich",
    "james jim jimmy jamie",
    "john jack johnny",
    "charles chuck charlie",
    "edward ed eddie ted teddy",
    "thomas tom tommy thom",
    "joseph joe joey",
    "michael mike mick mikie",
    "daniel dan danny",
    "david dave",
    "kenneth ken kenny",
    "ronald ron ronny",
    "donald don donny",
    "gerald gerry jerry",
    "lawrence larry",
    "patrick pat",
    "patricia pat patty",
    "christopher chris",
    "christine chris chrissy",
    "elizabeth liz beth betty lizzie",
    "katherine kathy kate katie catherine cathy",
    "margaret maggie peggy meg",
    "deborah debbie deb debra",
    "susan sue suzanne",
    "barbara barb",
    "steven steve stephen",
    "gregory greg",
    "andrew andy drew",
    "anthony tony",
    "benjamin ben",
    "samuel sam",
    "matthew matt",
    "nicholas nick",
    "peter pete",
    "philip phil",
    "raymond ray",
    "timothy tim",
    "theodore ted",
    "albert al",
    "alexander alex",
    "alexandria alex",
    "frederick fred",
    "francis frank",
    "franklin frank",
    "gary garry",
    "henry hank",
    "jeffrey jeff geoffrey",
    "leonard len lenny",
    "mitchell mitch",
    "nathaniel nate nathan",
    "rafael ralph",
    "randall randy",
    "russell russ",
    "stanley stan",
    "vincent vince",
    "walter walt",
    "zachary zach",
    "abigail abby",
    "angela angie",
    "jennifer jenny jen",
    "jacqueline jackie",
    "janet jan",
    "judith judy",
    "kimberly kim",
    "nancy nan",
    "pamela pam",
    "rebecca becky",
    "sandra sandy",
    "teresa terri theresa",
    "valerie val",
    "victoria vicky",
    "virginia ginny",
    "bernard bernie",
    "bernardo bernie",
    "cynthia cindy",
    "douglas doug",
    "eugene gene",
    "harold hal harry",
    "joshua josh",
    "marjorie margie",
    "maxine max",
    "melanie mel",
    "roger rog",
    "sylvester syl",
    "terrance terry terrence",
];

/// Words that are in many names and tell none from another.
const COMMON: &[&str] = &[
    "the",
    "of",
    "and",
    "on",
    "for",
    "in",
    "a",
    "to",
    "inc",
    "llc",
    "llp",
    "corp",
    "corporation",
    "company",
    "co",
    "ltd",
    "lp",
    "committee",
    "subcommittee",
    "house",
    "senate",
    "department",
    "office",
    "association",
    "jr",
    "sr",
    "ii",
    "iii",
    "iv",
];

const COMMON_WEIGHT: f32 = 0.15;

/// A word with what comparing it needs, worked out once: each typed word is compared with every
/// word of hundreds of names.
pub struct Word<'w> {
    text: &'w str,
    letters: usize,
    first: Option<char>,
    /// How often each letter occurs; letters may fall together.
    counts: [i8; LETTERS],
    has_digit: bool,
    sound: [u8; 4],
    /// The groups of nicknames that it is in.
    nicknames: &'static [usize],
    /// How much it matters.
    weight: f32,
}

const LETTERS: usize = 32;

impl<'w> Word<'w> {
    fn new(text: &'w str) -> Word<'w> {
        let mut counts = [0i8; LETTERS];
        let mut letters = 0;
        for letter in text.chars() {
            let count = &mut counts[letter as usize % LETTERS];
            *count = count.saturating_add(1);
            letters += 1;
        }
        let weight = match letters {
            _ if COMMON.contains(&text) => COMMON_WEIGHT,
            1 => 0.4,
            n => (n as f32).sqrt(),
        };
        let has_digit = text.bytes().any(|b| b.is_ascii_digit());
        let (first, sound) = (text.chars().next(), soundex(text));
        let nicknames = nicknames(text);
        Word { text, letters, first, counts, has_digit, sound, nicknames, weight }
    }

    pub fn all(words: &'w [String]) -> Vec<Word<'w>> {
        words.iter().map(|word| Word::new(word)).collect()
    }
}

/// The groups of nicknames that a name is in.
fn nicknames(name: &str) -> &'static [usize] {
    static GROUPS: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| {
        let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, group) in NICKNAMES.iter().enumerate() {
            group.split(' ').for_each(|name| groups.entry(name).or_default().push(number));
        }
        groups
    });
    GROUPS.get(name).map(Vec::as_slice).unwrap_or_default()
}

/// How well two words fit.
fn fit(typed: &Word, word: &Word) -> f32 {
    if typed.text == word.text {
        return 1.0;
    }
    let (short, long) = (typed.letters, word.letters);
    if short == 1 || long == 1 {
        return if typed.first == word.first { 0.75 } else { 0.0 };
    }
    if typed.nicknames.iter().any(|group| word.nicknames.contains(group)) {
        return 0.96;
    }
    if short >= 3 && word.text.starts_with(typed.text) {
        return 0.8 + 0.15 * short as f32 / long as f32;
    }
    if typed.has_digit || word.has_digit {
        // A number is right or wrong.
        return 0.0;
    }
    let alike = |slips: usize| 1.0 - slips as f32 / short.max(long) as f32;
    let bound = if short <= 4 { 0.7 } else { 0.6 };
    // Most words have so few letters in common that the slips need not be counted.
    if alike(short.abs_diff(long)) >= bound && alike(least_slips(typed, word)) >= bound {
        let alike = alike(strsim::damerau_levenshtein(typed.text, word.text));
        if alike >= bound {
            // A slip in the first letter is rare.
            return alike - if typed.first == word.first { 0.02 } else { 0.1 };
        }
    }
    if short >= 4 && long >= 4 && typed.sound == word.sound { 0.6 } else { 0.0 }
}

/// How many slips there are at least between two words: one for each letter that only one of them
/// has. Letters that fall together make it smaller, never larger.
fn least_slips(a: &Word, b: &Word) -> usize {
    let (mut more, mut fewer) = (0u32, 0u32);
    for (a, b) in a.counts.iter().zip(&b.counts) {
        let difference = i32::from(*a) - i32::from(*b);
        more += difference.max(0) as u32;
        fewer += (-difference).max(0) as u32;
    }
    more.max(fewer) as usize
}

/// Whether the words are the name's, but for those that every name has: "HELP committee" is HELP.
pub fn is_same(typed: &[String], name: &[String]) -> bool {
    telling(typed) == telling(name)
}

/// The words but for those that every name has.
pub fn telling(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !COMMON.contains(&word.as_str())).cloned().collect()
}

/// How well the words fit the name's words. Where it would be less than `least`, it may be anything
/// less.
pub fn score(typed: &[Word], name: &[Word], least: f32) -> f32 {
    if typed.is_empty() || name.is_empty() {
        return 0.0;
    }
    let is_same =
        typed.len() == name.len() && typed.iter().zip(name).all(|(a, b)| a.text == b.text);
    if is_same {
        return 1.0;
    }
    let mut used = vec![false; name.len()];
    let mut order = Vec::with_capacity(typed.len());
    // The longest words choose first: an initial must not take the word that another one spells
    // out.
    let mut turns: Vec<usize> = (0..typed.len()).collect();
    turns.sort_by_key(|at| std::cmp::Reverse(typed[*at].letters));
    let all: f32 = turns.iter().map(|at| typed[*at].weight).sum();
    let (mut got, mut missed) = (0.0, 0.0);
    for at in turns {
        let weight = typed[at].weight;
        let free = name.iter().enumerate().filter(|(n, _)| !used[*n]);
        let best = free
            .map(|(n, word)| (fit(&typed[at], word), n))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let fit = match best.filter(|(fit, _)| *fit > 0.0) {
            Some((fit, n)) => {
                used[n] = true;
                order.push((at, n));
                fit
            }
            None => 0.0,
        };
        got += weight * fit;
        missed += weight * (1.0 - fit);
        // Less a hair's breadth, for the rounding of sums.
        if 1.0 - missed / all < least - 0.001 {
            return 0.0;
        }
    }
    order.sort_unstable();
    let in_order = order.windows(2).all(|pair| pair[0].1 < pair[1].1);
    let name_weight: f32 = name.iter().map(|word| word.weight).sum();
    let named: f32 =
        name.iter().zip(&used).filter(|(_, used)| **used).map(|(word, _)| word.weight).sum();
    let covered = if name_weight > 0.0 { named / name_weight } else { 0.0 };
    (got / all) * (0.8 + 0.2 * covered) * if in_order { 1.0 } else { 0.97 }
}

/// The first letter and the sounds of the next three consonants.
fn soundex(word: &str) -> [u8; 4] {
    let code = |b: u8| match b {
        b'b' | b'f' | b'p' | b'v' => b'1',
        b'c' | b'g' | b'j' | b'k' | b'q' | b's' | b'x' | b'z' => b'2',
        b'd' | b't' => b'3',
        b'l' => b'4',
        b'm' | b'n' => b'5',
        b'r' => b'6',
        _ => 0,
    };
    let mut out = [b'0'; 4];
    let bytes = word.as_bytes();
    out[0] = bytes.first().copied().unwrap_or(b'0');
    let (mut at, mut last) = (1, code(out[0]));
    for b in bytes.iter().skip(1) {
        let sound = code(*b);
        if sound != 0 && sound != last && at < 4 {
            out[at] = sound;
            at += 1;
        }
        if !matches!(b, b'h' | b'w') {
            last = sound;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::analyzer::folded_words;

    fn of(typed: &str, name: &str) -> f32 {
        let (typed, name) = (folded_words(typed), folded_words(name));
        let (typed, name) = (Word::all(&typed), Word::all(&name));
        let score = score(&typed, &name, 0.0);
        for least in [0.3, 0.66, 0.85] {
            let bounded = super::score(&typed, &name, least);
            assert!(bounded == score || score.max(bounded) < least, "{score} {bounded}");
        }
        score
    }

    #[test]
    fn better_fits_score_higher() {
        assert_eq!(of("Edward Markey", "edward markey"), 1.0);
        for (better, worse, name) in [
            ("Edward Markey", "Edward Markley", "Edward J. Markey"),
            ("Edward Markley", "Markley", "Edward Markey"),
            ("Markey", "Marcus", "Edward Markey"),
            ("Ed Markey", "Bob Markey", "Edward Markey"),
            ("E Markey", "X Markey", "Edward Markey"),
            ("Markey Edward", "Markey Edgar", "Edward Markey"),
            ("Velázquez", "Valdez", "Nydia Velazquez"),
        ] {
            assert!(
                of(better, name) > of(worse, name),
                "{better} {} {worse} {} {name}",
                of(better, name),
                of(worse, name)
            );
        }
        assert!(
            of("Chuck Schumer", "Charles Schumer") > 0.9
                && of("Ways & Means", "Ways and Means") > 0.9
        );
        assert!(of("Smith", "Jones") < 0.3 && of("119", "118") == 0.0);
    }

    #[test]
    fn there_are_never_fewer_slips_than_letters_tell() {
        let words =
            ["markey", "markley", "amrkey", "mackay", "é", "velázquez", "日本", "aaaa", "a"];
        for (a, b) in words.iter().flat_map(|a| words.iter().map(move |b| (a, b))) {
            let least = least_slips(&Word::new(a), &Word::new(b));
            assert!(least <= strsim::damerau_levenshtein(a, b), "{a} {b}");
        }
        let least = |a, b| least_slips(&Word::new(a), &Word::new(b));
        assert_eq!((least("markey", "markley"), least("amrkey", "markey")), (1, 0));
    }

    #[test]
    fn any_words_score_between_0_and_1() {
        for (typed, name) in
            [("", "x"), ("x", ""), ("é", "日本"), ("a a a", "a"), ("of the", "the of")]
        {
            assert!((0.0..=1.0).contains(&of(typed, name)), "{typed} {name}");
        }
    }
}
