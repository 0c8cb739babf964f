//! Names of people as registers print them, and slugs that fit the id grammar.

use josh::catalog::wording;

/// Parts of a name joined by spaces; empty parts are left out, a suffix follows a comma unless it is a numeral.
pub fn full(first: &str, middle: &str, last: &str, suffix: &str) -> String {
    let mut out = [first, middle, last].iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join(" ");
    if !suffix.is_empty() {
        let numeral = suffix.chars().all(|c| "IVX".contains(c));
        out.push_str(if numeral { " " } else { ", " });
        out.push_str(suffix);
    }
    out
}

/// "MCKAY III,ANN-LOU S" -> "Ann-Lou S McKay III"; without a comma the order is kept.
pub fn from_register(printed: &str) -> String {
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((last, first)) = printed.split_once(',') else { return capitalized(&printed) };
    let (last, suffix) = match last.trim().rsplit_once(' ') {
        Some((family, suffix)) if is_suffix(suffix) => (family, suffix),
        _ => (last.trim(), ""),
    };
    let parts = [first.trim(), last, suffix];
    capitalized(&parts.iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join(" "))
}

/// Words printed in capitals, with only their first letters kept so; names that mix the cases are left alone.
pub fn capitalized(printed: &str) -> String {
    if printed.chars().any(char::is_lowercase) {
        return printed.to_string();
    }
    printed.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn is_suffix(word: &str) -> bool {
    matches!(word.trim_end_matches('.'), "JR" | "SR" | "II" | "III" | "IV" | "V")
}

fn word(word: &str) -> String {
    if matches!(word, "II" | "III" | "IV") {
        return word.to_string();
    }
    let mut out = String::with_capacity(word.len());
    let mut start = true;
    for c in word.chars() {
        if start {
            out.push(c)
        } else {
            out.extend(c.to_lowercase())
        }
        // "O'NEIL", "ANN-LOU" and "MCKAY" begin anew inside the word.
        start = !c.is_alphanumeric() || (out == "Mc" && word.len() > 3);
    }
    // "VETERANS'S" is no name: a single letter after an apostrophe at the end is not a beginning.
    match out.strip_suffix("'S") {
        Some(stem) => format!("{stem}'s"),
        None => out,
    }
}

/// The catalog's slug in plain letters, which is what ids are made of, cut to `longest` bytes at a word.
pub fn plain_slug(text: &str, longest: usize) -> String {
    let mut slug = wording::slug(&text.chars().map(plain).collect::<String>());
    slug.retain(|c| c.is_ascii_alphanumeric() || c == '-');
    if slug.len() > longest {
        let cut = slug[..longest].rfind('-').unwrap_or(longest);
        slug.truncate(cut);
    }
    slug
}

fn plain(c: char) -> char {
    match c {
        'À'..='Å' | 'à'..='å' => 'a',
        'Ç' | 'ç' => 'c',
        'È'..='Ë' | 'è'..='ë' => 'e',
        'Ì'..='Ï' | 'ì'..='ï' => 'i',
        'Ñ' | 'ñ' => 'n',
        'Ò'..='Ö' | 'Ø' | 'ò'..='ö' | 'ø' => 'o',
        'Ù'..='Ü' | 'ù'..='ü' => 'u',
        'Ý' | 'ý' | 'ÿ' => 'y',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_names_are_turned_round() {
        assert_eq!(from_register("MCKAY III,ANN-LOU S"), "Ann-Lou S McKay III");
        assert_eq!(from_register("O'NEIL, PAT"), "Pat O'Neil");
        assert_eq!(from_register("DOE JANE"), "Doe Jane");
    }

    #[test]
    fn slugs_are_plain() {
        assert_eq!(plain_slug("José Ñandú", 80), "jose-nandu");
        assert_eq!(plain_slug("one two three", 9), "one-two");
    }

    #[test]
    fn suffixes() {
        assert_eq!(full("Ann", "", "Doe", "Jr."), "Ann Doe, Jr.");
        assert_eq!(full("Ann", "B.", "Doe", "III"), "Ann B. Doe III");
    }
}
