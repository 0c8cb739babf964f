//! Folders for the user's files, by the XDG base directory specification.

use std::path::PathBuf;

/// The folder that the variable names, or else `in_home` below the user's home.
pub fn of_user(variable: &str, in_home: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    named.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(in_home)))
}
