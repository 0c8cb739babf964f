//! Regular expressions that are constants of the program.

use regex::Regex;

/// Compiles a constant pattern. Use it inside a `LazyLock`; a test of the same module must reach
/// it, since a syntax error panics on first use.
pub fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|e| unreachable!("invalid constant pattern: {e}"))
}
