//! Templates of the catalog: `{name}` in a text is replaced, in one pass, so that a value that
//! holds braces is not read again.

/// Replaces the placeholders that are known; other braces stay as they are.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let known = values.iter().find(|(name, _)| {
            behind.strip_prefix(*name).is_some_and(|after| after.starts_with('}'))
        });
        match known {
            Some((name, value)) => {
                out.push_str(value);
                rest = &behind[name.len() + 1..];
            }
            None => {
                out.push('{');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A word as a POSIX shell reads it.
pub fn shell_word(text: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"@%_-+=:,./".contains(&b);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_once_and_other_braces_stay() {
        let values = [("variable", "KEY"), ("url", "https://x/{variable}")];
        assert_eq!(fill("${{variable}}", &values), "${KEY}");
        assert_eq!(fill("{env:{variable}}", &values), "{env:KEY}");
        assert_eq!(fill("{url} {urls} {", &values), "https://x/{variable} {urls} {");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(shell_word("/usr/bin/josh"), "/usr/bin/josh");
        assert_eq!(shell_word("a b"), "'a b'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
