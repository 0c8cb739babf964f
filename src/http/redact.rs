//! Query strings as they may be logged: without the values of parameters that look like secrets.
//! No parameter of Josh is one, but clients send keys in the wrong place.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Endings of the names, or of a part of the names, of parameters that carry secrets.
const SECRET: &[&str] = &["token", "key", "secret", "password", "jwt", "authorization", "payload"];
/// How API keys begin: one that is sent under any name is not logged.
const KEY_PREFIX: &str = "josh_";
const REDACTED: &str = "REDACTED";
/// Longer queries are cut.
const MAX_LENGTH: usize = 1000;

/// The query string for the log; `None` if there is none.
pub fn query(query: &str) -> Option<String> {
    if query.is_empty() {
        return None;
    }
    let parts: Vec<Cow<str>> = query.split('&').map(parameter).collect();
    let mut shown = parts.join("&");
    if shown.len() > MAX_LENGTH {
        shown.truncate(shown.floor_char_boundary(MAX_LENGTH));
        shown.push('…');
    }
    Some(shown)
}

fn parameter(part: &str) -> Cow<'_, str> {
    let (name, value) = part.split_once('=').unwrap_or((part, ""));
    let is_key = |text: &str| decode(text).contains(KEY_PREFIX);
    if is_key(name) {
        REDACTED.into()
    } else if is_secret(&decode(name)) || is_key(value) {
        format!("{name}={REDACTED}").into()
    } else {
        part.into()
    }
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().to_lowercase()
}

/// Whether one of the words of a name is that of a secret: `access_token`, `apiKey`, but not
/// `keyword`.
fn is_secret(name: &str) -> bool {
    name.split(|c: char| !c.is_alphanumeric())
        .any(|word| SECRET.iter().any(|secret| word.ends_with(secret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_not_shown() {
        for (given, shown) in [
            ("q=water&limit=3", "q=water&limit=3"),
            ("token=abc", "token=REDACTED"),
            ("q=a&access_token=abc&limit=3", "q=a&access_token=REDACTED&limit=3"),
            ("api_key=abc", "api_key=REDACTED"),
            ("apiKey=abc", "apiKey=REDACTED"),
            ("KEY=a=b", "KEY=REDACTED"),
            ("%74oken=abc", "%74oken=REDACTED"),
            ("q=josh_abc", "q=REDACTED"),
            ("q=%6Aosh_abc", "q=REDACTED"),
            ("josh_abc", "REDACTED"),
            ("keyword=a&tokens.gt=3", "keyword=a&tokens.gt=3"),
            ("&&=", "&&="),
        ] {
            assert_eq!(query(given).as_deref(), Some(shown), "{given}");
        }
        assert_eq!(query(""), None);
        assert!(query(&format!("q={}", "x".repeat(5000))).is_some_and(|q| q.len() < 1010));
    }
}
