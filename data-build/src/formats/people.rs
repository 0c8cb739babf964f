//! Formats names of people from registers, and makes slugs for ids.

use josh::catalog::wording;

/// Joins the parts of a name. Empty parts are left out; a suffix follows a comma unless it is a
/// numeral.
pub fn full_name(first: &str, middle: &str, last: &str, suffix: &str) -> String {
    let mut out = [first, middle, last]
        .iter()
        .filter(|p| !p.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(" ");
    if !suffix.is_empty() {
        let numeral = suffix.chars().all(|c| "IVX".contains(c));
        out.push_str(if numeral { " " } else { ", " });
        out.push_str(suffix);
    }
    out
}

/// "MCKAY III,ANN-LOU S" -> "Ann-Lou S McKay III". Without a comma the order is kept.
pub fn from_register(printed: &str) -> String {
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((last, first)) = printed.split_once(',') else { return capitalized(&printed) };
    let (last, suffix) = match last.trim().rsplit_once(' ') {
        Some((family, suffix)) if is_suffix(suffix) => (family, suffix),
        _ => (last.trim(), ""),
    };
    // The Senate prints "BRANDT, DANIEL P III"; a V there may be a middle initial.
    let (first, suffix) = match first.trim().rsplit_once(' ') {
        Some((given, last_word))
            if suffix.is_empty()
                && is_suffix(last_word)
                && last_word.trim_end_matches('.') != "V" =>
        {
            (given, last_word)
        }
        _ => (first.trim(), suffix),
    };
    let parts = [first, last, suffix];
    capitalized(&parts.iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join(" "))
}

/// "ANN DOE" -> "Ann Doe". Names in mixed case are kept.
pub fn capitalized(printed: &str) -> String {
    if printed.chars().any(char::is_lowercase) {
        return printed.to_string();
    }
    printed.split(' ').map(capitalize_word).collect::<Vec<_>>().join(" ")
}

fn is_suffix(word: &str) -> bool {
    matches!(word.trim_end_matches('.'), "JR" | "SR" | "II" | "III" | "IV" | "V")
}

fn capitalize_word(word: &str) -> String {
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
        // "O'NEIL", "ANN-LOU" and "MCKAY" have capitals inside the word.
        start = !c.is_alphanumeric() || (out == "Mc" && word.len() > 3);
    }
    // In "VETERANS'S" the last letter is a possessive, not a name.
    match out.strip_suffix("'S") {
        Some(stem) => format!("{stem}'s"),
        None => out,
    }
}

/// The catalog's slug in ASCII letters, as ids require, cut at a word to `max_length` bytes.
pub fn ascii_slug(text: &str, max_length: usize) -> String {
    let mut slug = wording::slug(&text.chars().map(without_accent).collect::<String>());
    slug.retain(|c| c.is_ascii_alphanumeric() || c == '-');
    if slug.len() > max_length {
        let cut = slug[..max_length].rfind('-').unwrap_or(max_length);
        slug.truncate(cut);
    }
    slug
}

fn without_accent(c: char) -> char {
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
    fn register_names_start_with_the_first_name() {
        assert_eq!(from_register("MCKAY III,ANN-LOU S"), "Ann-Lou S McKay III");
        assert_eq!(from_register("O'NEIL, PAT"), "Pat O'Neil");
        assert_eq!(from_register("DOE JANE"), "Doe Jane");
        assert_eq!(from_register("BRANDT, DANIEL P III"), "Daniel P Brandt III");
        assert_eq!(from_register("DOE, JOHN V"), "John V Doe");
    }

    #[test]
    fn slugs_are_ascii_and_cut_at_words() {
        assert_eq!(ascii_slug("José Ñandú", 80), "jose-nandu");
        assert_eq!(ascii_slug("one two three", 9), "one-two");
    }

    #[test]
    fn suffixes_follow_a_comma_unless_they_are_numerals() {
        assert_eq!(full_name("Ann", "", "Doe", "Jr."), "Ann Doe, Jr.");
        assert_eq!(full_name("Ann", "B.", "Doe", "III"), "Ann B. Doe III");
    }
}
