//! Derives file names from addresses. Input from the network can name a file, never a folder, so
//! that nothing is written outside of the folders in the table of feeds.

use anyhow::{Result, ensure};

/// Below the limits of file systems.
const MAX_NAME_LENGTH: usize = 160;

/// The host of an `http` or `https` address in lower case; `None` if it contains a user name.
pub fn host(address: &str) -> Option<String> {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next()?;
    (!host.is_empty() && !host.contains('@')).then(|| host.to_ascii_lowercase())
}

/// Whether two addresses name the same file, wherever it is: the last parts of their paths agree.
pub fn same_file(one: &str, other: &str) -> bool {
    let last = |address: &str| {
        let path = address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase()
    };
    last(one) == last(other)
}

/// The file name of an address: its last part, or all parts after `after`, joined by hyphens.
pub fn file_name(address: &str, after: &str) -> Result<String> {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let part = match path.split_once(after) {
        Some((_, rest)) if !after.is_empty() => rest.trim_matches('/').replace('/', "-"),
        _ => path.rsplit('/').next().unwrap_or_default().to_string(),
    };
    let name = sanitized(&part);
    ensure!(!name.is_empty(), "no file name in {address:?}");
    Ok(name)
}

/// The name with only letters, digits, `-`, `_`, `.` and `,`, and without a leading dot.
pub fn sanitized(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "-_.,".contains(c) { c } else { '_' };
    name.trim_start_matches(|c: char| c == '.' || c.is_whitespace())
        .chars()
        .take(MAX_NAME_LENGTH)
        .map(kept)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_escapes_its_folder() {
        for evil in [
            "https://h/a/..",
            "https://h/a/../../etc/",
            "https://h/%2e%2e%2fetc%2fpasswd",
            r"https://h/..\..\x",
        ] {
            let name = file_name(evil, "").unwrap_or_default();
            assert!(
                !name.starts_with('.') && !name.contains(['/', '\\', '%']),
                "{evil} gave {name}"
            );
        }
        assert_eq!(
            file_name("https://h/v3/amendment/119/samdt/8?format=json", "/v3/").expect("a name"),
            "amendment-119-samdt-8"
        );
        assert_eq!(file_name("https://h/v3/../../../x", "/v3/").expect("a name"), "-..-..-x");
        assert_eq!(
            file_name("https://h/b/BILLS-119hr1ih.xml", "").expect("a name"),
            "BILLS-119hr1ih.xml"
        );
    }

    #[test]
    fn the_same_file_may_be_elsewhere() {
        assert!(same_file("http://h/a/x.zip", "https://mirror/b/X.zip?y=1"));
        assert!(same_file("https://h/list", "https://h/list/"));
        assert!(!same_file("https://h/pkg/x.zip", "https://h/error"));
    }

    #[test]
    fn hosts_are_extracted_from_plain_web_addresses_only() {
        assert_eq!(host("https://API.congress.gov/v3?x").as_deref(), Some("api.congress.gov"));
        assert_eq!(host("https://user@evil/"), None);
        assert_eq!(host("file:///etc/passwd"), None);
    }
}
