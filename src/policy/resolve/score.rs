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

/// How much a word matters.
fn weight(word: &str) -> f32 {
    match word.chars().count() {
        _ if COMMON.contains(&word) => COMMON_WEIGHT,
        1 => 0.4,
        n => (n as f32).sqrt(),
    }
}

/// Whether the two stand for each other. Asked for every pair of words, so the groups of a name
/// are looked up, not searched for.
fn are_nicknames(a: &str, b: &str) -> bool {
    static GROUPS: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| {
        let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, group) in NICKNAMES.iter().enumerate() {
            group.split(' ').for_each(|name| groups.entry(name).or_default().push(number));
        }
        groups
    });
    let (Some(a), Some(b)) = (GROUPS.get(a), GROUPS.get(b)) else { return false };
    a.iter().any(|group| b.contains(group))
}

/// How well two words fit.
pub fn fit(typed: &str, word: &str) -> f32 {
    if typed == word {
        return 1.0;
    }
    let (short, long) = (typed.chars().count(), word.chars().count());
    if short == 1 || long == 1 {
        return if typed.chars().next() == word.chars().next() { 0.75 } else { 0.0 };
    }
    if are_nicknames(typed, word) {
        return 0.96;
    }
    if short >= 3 && word.starts_with(typed) {
        return 0.8 + 0.15 * short as f32 / long as f32;
    }
    if typed.bytes().chain(word.bytes()).any(|b| b.is_ascii_digit()) {
        // A number is right or wrong.
        return 0.0;
    }
    let alike = |slips: usize| 1.0 - slips as f32 / short.max(long) as f32;
    let bound = if short <= 4 { 0.7 } else { 0.6 };
    // Most words have so few letters in common that the slips need not be counted.
    if alike(least_slips(typed, word)) >= bound {
        let alike = alike(strsim::damerau_levenshtein(typed, word));
        if alike >= bound {
            // A slip in the first letter is rare.
            let first = typed.chars().next() == word.chars().next();
            return alike - if first { 0.02 } else { 0.1 };
        }
    }
    if short >= 4 && long >= 4 && soundex(typed) == soundex(word) { 0.6 } else { 0.0 }
}

/// How many slips there are at least between two words: one for each letter that only one of them
/// has. Letters that fall together here make it smaller, never larger.
fn least_slips(a: &str, b: &str) -> usize {
    let mut letters = [0i16; 64];
    a.chars().for_each(|letter| letters[letter as usize % 64] += 1);
    b.chars().for_each(|letter| letters[letter as usize % 64] -= 1);
    let sum = |sign: i16| letters.iter().map(|n| (n * sign).max(0) as usize).sum::<usize>();
    sum(1).max(sum(-1))
}

/// Whether the words are the name's, but for those that every name has: "HELP committee" is HELP.
pub fn is_same(typed: &[String], name: &[String]) -> bool {
    let telling = |words: &[String]| {
        words.iter().filter(|w| !COMMON.contains(&w.as_str())).cloned().collect::<Vec<_>>()
    };
    telling(typed) == telling(name)
}

/// How well the words fit the name's words.
pub fn score(typed: &[String], name: &[String]) -> f32 {
    if typed.is_empty() || name.is_empty() {
        return 0.0;
    }
    if typed == name {
        return 1.0;
    }
    let mut used = vec![false; name.len()];
    let mut order = Vec::new();
    let (mut got, mut all) = (0.0, 0.0);
    // The longest words choose first: an initial must not take the word that another one spells
    // out.
    let mut turns: Vec<usize> = (0..typed.len()).collect();
    turns.sort_by_key(|at| std::cmp::Reverse(typed[*at].chars().count()));
    for at in turns {
        let weight = weight(&typed[at]);
        all += weight;
        let free = name.iter().enumerate().filter(|(n, _)| !used[*n]);
        let best = free
            .map(|(n, word)| (fit(&typed[at], word), n))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        if let Some((fit, n)) = best.filter(|(fit, _)| *fit > 0.0) {
            used[n] = true;
            order.push((at, n));
            got += weight * fit;
        }
    }
    order.sort_unstable();
    let in_order = order.windows(2).all(|pair| pair[0].1 < pair[1].1);
    let name_weight: f32 = name.iter().map(|w| weight(w)).sum();
    let named: f32 =
        name.iter().zip(&used).filter(|(_, used)| **used).map(|(w, _)| weight(w)).sum();
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
        score(&folded_words(typed), &folded_words(name))
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
            assert!(least_slips(a, b) <= strsim::damerau_levenshtein(a, b), "{a} {b}");
        }
        assert_eq!((least_slips("markey", "markley"), least_slips("amrkey", "markey")), (1, 0));
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
