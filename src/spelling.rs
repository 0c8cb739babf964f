//! The nearest valid name to a misspelt one, for error messages.

/// The closest of `valid`, if it is close enough to be a slip.
pub fn nearest<'a>(given: &str, valid: &[&'a str]) -> Option<&'a str> {
    let given = given.to_lowercase();
    valid
        .iter()
        .map(|v| (strsim::jaro_winkler(&given, &v.to_lowercase()), *v))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, v)| v)
}
