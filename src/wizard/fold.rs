//! Words as people compare them: without case, with one kind of quotes, dashes and spaces. The page
//! folds in the same way (`page.js`).

/// The words in the form in which they are compared.
pub fn fold(text: &str) -> String {
    let plain: String = text
        .chars()
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{ad}'))
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2032}' | '`' | '\u{b4}' => '\'',
            '\u{201c}' | '\u{201d}' | '\u{201f}' | '\u{2033}' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            c if c.is_whitespace() => ' ',
            c => c,
        })
        .collect();
    let words: Vec<&str> = plain.split(' ').filter(|word| !word.is_empty()).collect();
    words.join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_dashes_spaces_and_case_make_no_difference() {
        for other in ["Bachelor\u{2019}s  degree", " BACHELOR'S\u{a0}DEGREE", "bachelor`s degree"] {
            assert_eq!(fold(other), fold("Bachelor's degree"));
        }
        assert_ne!(fold("Virginia"), fold("West Virginia"));
    }
}
