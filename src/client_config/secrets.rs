//! What looks like a secret, by its name or by how it begins. Such values are neither taken into a
//! payload nor repeated in an answer.

/// Whether a name is that of a secret, by one of its words.
pub fn looks_secret(name: &str) -> bool {
    const WORDS: [&str; 8] =
        ["token", "key", "apikey", "secret", "password", "passwd", "authorization", "credential"];
    let words = name.split(|c: char| !c.is_alphanumeric());
    words.map(str::to_ascii_lowercase).any(|word| WORDS.iter().any(|w| word.ends_with(w)))
}

/// Whether a value begins like the keys of well-known services.
pub fn looks_like_key(value: &str) -> bool {
    const PREFIXES: [&str; 10] = [
        "josh_",
        "sk-",
        "ghp_",
        "gho_",
        "github_pat_",
        "xoxb-",
        "AKIA",
        "AIza",
        "glpat-",
        "Bearer ",
    ];
    let value = value.rsplit('=').next().unwrap_or_default();
    value.len() >= 12 && PREFIXES.iter().any(|prefix| value.starts_with(prefix))
}
