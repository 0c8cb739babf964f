//! What may stand directly before and after a citation.

/// Whether a citation may begin here: not inside a word, a number or an abbreviation, as "S. 113"
/// is in "U.S. 113".
pub fn begins(text: &str, start: usize) -> bool {
    !text[..start]
        .chars()
        .next_back()
        .is_some_and(|c| c.is_alphanumeric() || ".'’&$#=%".contains(c))
}

/// Whether a number ends here. "1396.4b", "1/2", "5th", "257,606", "20°" and "7-09" go on.
pub fn number_ends(text: &str, end: usize) -> bool {
    let mut after = text[end..].chars();
    let first = after.next();
    let digits = after.clone().take_while(char::is_ascii_digit).count();
    match first {
        Some(c) if c.is_alphanumeric() => false,
        Some('%' | '°' | '′' | '″') => false,
        Some('.' | '/' | '-' | '–') => digits == 0,
        Some(',') => digits != 3,
        _ => true,
    }
}

/// The word before a position if only spaces stand between, and whether they hold a line break.
pub fn word_before(text: &str, start: usize) -> Option<(&str, bool)> {
    let before = &text[..start];
    let trimmed = before.trim_end();
    if trimmed.len() == before.len() {
        return None;
    }
    let breaks = before[trimmed.len()..].contains('\n');
    trimmed.split_whitespace().next_back().map(|word| (word, breaks))
}

/// The word after a position if one space or line break stands between.
pub fn word_after(text: &str, end: usize) -> Option<&str> {
    let after = text[end..].strip_prefix(char::is_whitespace)?;
    let end = after.find(|c: char| !c.is_alphanumeric()).unwrap_or(after.len());
    Some(&after[..end]).filter(|word| !word.is_empty())
}

/// The longest slice of at most `bytes` after a position that ends between characters.
pub fn window_after(text: &str, end: usize, bytes: usize) -> &str {
    let mut to = (end + bytes).min(text.len());
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    &text[end..to]
}

/// The longest slice of at most `bytes` before a position that begins between characters.
pub fn window_before(text: &str, start: usize, bytes: usize) -> &str {
    let mut from = start.saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..start]
}

/// Whether a text between two citations only joins them.
pub fn joins(between: &str) -> bool {
    between.len() < 12
        && between
            .split(|c: char| c.is_whitespace() || "/,;&()".contains(c))
            .all(|word| matches!(word, "" | "and" | "or"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_go_on_do_not_end() {
        for rest in [".4b", "/2", "th", ",606 sea lions", "°", "-09-22", "%"] {
            assert!(!number_ends(&format!("5{rest}"), 1), "{rest}");
        }
        for rest in ["", ".", ", 6", ")", "'s", ". 7", "-related", "/H.R. 6", "\u{a0}x", ",1234"] {
            assert!(number_ends(&format!("5{rest}"), 1), "{rest}");
        }
    }

    #[test]
    fn windows_keep_characters_whole() {
        assert_eq!(window_before("é§5", 4, 3), "§");
        assert_eq!(window_after("5é§", 1, 3), "é");
        assert_eq!(window_after("5", 1, 3), "");
    }
}
