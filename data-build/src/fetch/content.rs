//! Whether a response is the file that was requested. Servers send error pages with status 200, and
//! a page must never be stored as data, so both the stated type and the first bytes are checked.

use super::client::RequestError;
use super::listing::RemoteFile;

/// Bytes that are looked at: a prolog, comments and the start of the document.
pub const HEAD_BYTES: u64 = 4096;

/// Checks the start of a complete file. `stated_type` is the response's `Content-Type`.
pub fn check(
    file: &RemoteFile,
    stated_type: Option<&str>,
    head: &[u8],
) -> Result<(), RequestError> {
    let extension = file.path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let wrong = |reason: String| Err(RequestError::Permanent(reason));
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let document = without_prolog(&text);
    let has_magic = match extension.as_str() {
        "zip" => head.starts_with(b"PK"),
        "pdf" => head.starts_with(b"%PDF"),
        "xml" => document.starts_with('<') && !is_page(document),
        _ => !is_page(document),
    };
    if head.is_empty() {
        return wrong("the file is empty".to_string());
    }
    // A page that is labelled as such is one, even if it does not look like it.
    let is_binary = has_magic && matches!(extension.as_str(), "zip" | "pdf");
    if is_page(document) || (states_page(stated_type) && !is_binary) {
        return match extension.as_str() {
            "zip" if text.contains("generating") => {
                Err(RequestError::transient("the publisher is still making the archive"))
            }
            _ => wrong(format!("received a web page instead of {extension}")),
        };
    }
    if !has_magic {
        return wrong(format!("not {}", extension.to_ascii_uppercase()));
    }
    match file.root {
        Some(root) if !document_has_root(&text, root) => {
            let start: String = document.chars().take(60).collect();
            Err(RequestError::NotFound(format!("not a {root} document: {start:?}")))
        }
        _ => Ok(()),
    }
}

fn states_page(stated_type: Option<&str>) -> bool {
    let essence = stated_type.and_then(|t| t.split(';').next()).unwrap_or_default().trim();
    ["text/html", "application/xhtml+xml"].iter().any(|page| essence.eq_ignore_ascii_case(page))
}

/// Whether a document in lower case is HTML.
fn is_page(document: &str) -> bool {
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|start| document.starts_with(start))
}

/// Skips a byte order mark, the XML declaration, processing instructions and comments.
fn without_prolog(text: &str) -> &str {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let end = match rest {
            _ if rest.starts_with("<?") => "?>",
            _ if rest.starts_with("<!--") => "-->",
            _ => return rest,
        };
        let Some((_, after)) = rest.split_once(end) else { return rest };
        rest = after.trim_start();
    }
}

/// Whether an element of this name is opened in the text.
fn document_has_root(text: &str, root: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        text[at + 1..]
            .strip_prefix(root)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_whitespace() || c == '>'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &str, stated_type: Option<&str>, head: &str) -> Option<&'static str> {
        let mut file = RemoteFile::file("bills", path.to_string(), "https://h/x".to_string());
        file.root = path.contains("roll").then_some("rollcall-vote");
        match check(&file, stated_type, head.as_bytes()) {
            Ok(()) => None,
            Err(RequestError::NotFound(_)) => Some("missing"),
            Err(RequestError::Transient { .. }) => Some("later"),
            Err(_) => Some("wrong"),
        }
    }

    #[test]
    fn pages_are_never_data() {
        let xhtml = "\u{feff}<?xml version='1.0'?>\n<!-- x -->\n<!DOCTYPE html><html/>";
        for (path, stated_type, head, expected) in [
            ("a.xml", None, "<?xml version='1.0'?><FEDREG/>", None),
            ("a.xml", Some("text/xml"), xhtml, Some("wrong")),
            ("a.xml", Some("text/html; charset=utf-8"), "<div>Sorry</div>", Some("wrong")),
            ("a.xml", None, "Sorry", Some("wrong")),
            ("a.csv", Some("Text/HTML"), "Sorry, not here", Some("wrong")),
            ("a.csv", Some("text/csv"), "name,office\n", None),
            ("a.yaml", None, " \n<html><body>", Some("wrong")),
            ("a.zip", Some("text/html"), "PK\u{3}\u{4}", None),
            ("a.zip", None, "<html>Generating File", Some("later")),
            ("a.zip", Some("text/html"), "<html>Page Not Found", Some("wrong")),
            ("a.pdf", Some("application/pdf"), "%PDF-1.7", None),
            ("a.pdf", Some("application/pdf"), "gone", Some("wrong")),
            ("a.xml", None, "", Some("wrong")),
        ] {
            assert_eq!(refused(path, stated_type, head), expected, "{path} {head:?}");
        }
    }

    #[test]
    fn a_document_of_another_kind_is_a_missing_file() {
        let vote =
            "<?xml version='1.0'?>\n<!DOCTYPE rollcall-vote PUBLIC 'x' 'y'>\n<rollcall-vote>";
        assert_eq!(refused("roll001.xml", None, vote), None);
        let error = "<xml>Error sanitizing file \"roll999.xml\".</xml>";
        assert_eq!(refused("roll999.xml", Some("text/xml"), error), Some("missing"));
        let other = "<rollcall-votes/>";
        assert_eq!(refused("roll001.xml", None, other), Some("missing"));
    }
}
