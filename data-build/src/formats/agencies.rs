//! Names of agencies as printed in running heads.

/// Words that are not capitalized inside a name.
const LOWERCASE_WORDS: &[&str] =
    &["a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "under", "with"];

/// "DEPARTMENT OF THE INTERIOR" -> "Department of the Interior". A name in mixed case is kept.
pub fn title_case(printed: &str) -> String {
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    if printed.chars().any(char::is_lowercase) {
        return printed;
    }
    let words = printed.split(' ').enumerate().map(|(i, word)| {
        let lower = word.to_lowercase();
        if word.contains('.') {
            // "U.S." keeps its capitals.
            word.to_string()
        } else if i > 0 && LOWERCASE_WORDS.contains(&lower.as_str()) {
            lower
        } else {
            capitalize(&lower)
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn capitalize(lower: &str) -> String {
    let mut out = String::with_capacity(lower.len());
    let mut start = true;
    for c in lower.chars() {
        if start {
            out.extend(c.to_uppercase())
        } else {
            out.push(c)
        }
        start = "-(/—".contains(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_capitals_become_title_case() {
        assert_eq!(title_case("DEPARTMENT OF THE INTERIOR"), "Department of the Interior");
        assert_eq!(title_case("Coast Guard"), "Coast Guard");
        assert_eq!(title_case("NON-PROFIT  OFFICE"), "Non-Profit Office");
        assert_eq!(title_case("OFFICE OF U.S. BOATS"), "Office of U.S. Boats");
    }
}
