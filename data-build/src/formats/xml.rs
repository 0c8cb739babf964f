//! Parses XML documents; access to elements by local name, and to text with collapsed white space.

use roxmltree::{Document, Node, ParsingOptions};

/// Bills and laws have some thirty levels; the stack has room for far more than this.
const MAX_DEPTH: u32 = 400;

/// Limit for the expansion of entities that a document defines.
const MAX_EXPANDED_BYTES: usize = 64 << 20;

/// Parses a document; a DOCTYPE is ignored. Excessive nesting is an error, since readers recurse.
pub fn parse(text: &str) -> anyhow::Result<Document<'_>> {
    check_entities(text)?;
    let options =
        ParsingOptions { allow_dtd: true, nodes_limit: u32::MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)?;
    anyhow::ensure!(depth(&document) <= MAX_DEPTH, "nested more than {MAX_DEPTH} elements deep");
    Ok(document)
}

/// The depth of the deepest element, computed without recursion.
fn depth(document: &Document) -> u32 {
    let (mut node, mut depth, mut deepest) = (document.root(), 0, 0);
    loop {
        if let Some(child) = node.first_child() {
            (node, depth) = (child, depth + 1);
            deepest = deepest.max(depth);
            continue;
        }
        loop {
            if let Some(next) = node.next_sibling() {
                node = next;
                break;
            }
            match node.parent() {
                Some(parent) => (node, depth) = (parent, depth - 1),
                None => return deepest,
            }
        }
    }
}

/// Rejects entity bombs. The parser stops recursive entities, but not a long one that is used a
/// million times.
fn check_entities(text: &str) -> anyhow::Result<()> {
    // True for nearly all files, and much faster than splitting.
    if !text.contains("<!ENTITY") {
        return Ok(());
    }
    let mut longest = 0;
    for declared in text.split("<!ENTITY").skip(1) {
        let quote = declared.find(['"', '\'']).map_or("", |at| &declared[at..at + 1]);
        let value = declared.split(quote).nth(1).filter(|_| !quote.is_empty()).unwrap_or_default();
        anyhow::ensure!(
            !value.replace("&#", "").contains('&'),
            "defines entities by other entities"
        );
        longest = longest.max(value.len());
    }
    let used = if longest > 0 { text.bytes().filter(|b| *b == b'&').count() } else { 0 };
    anyhow::ensure!(
        longest.saturating_mul(used) <= MAX_EXPANDED_BYTES,
        "entities expand to more than {} MiB",
        MAX_EXPANDED_BYTES >> 20
    );
    Ok(())
}

/// The children with this local name.
pub fn children<'a, 'd: 'a>(
    node: Node<'a, 'd>,
    name: &'a str,
) -> impl Iterator<Item = Node<'a, 'd>> {
    node.children().filter(move |n| n.tag_name().name() == name)
}

/// The first child with this local name.
pub fn child<'a, 'd: 'a>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    node.children().find(|n| n.tag_name().name() == name)
}

/// The first descendant at a path of local names.
pub fn at<'a, 'd: 'a>(node: Node<'a, 'd>, path: &[&str]) -> Option<Node<'a, 'd>> {
    path.iter().try_fold(node, |n, name| child(n, name))
}

/// The text at a path; empty if there is none.
pub fn text_at(node: Node<'_, '_>, path: &[&str]) -> String {
    at(node, path).map(text).unwrap_or_default()
}

/// All text below an element, with collapsed white space and spaces between elements.
pub fn text(node: Node<'_, '_>) -> String {
    let mut out = String::new();
    for piece in node.descendants().filter(Node::is_text) {
        out.push_str(piece.text().unwrap_or_default());
        out.push(' ');
    }
    fold(&out)
}

/// Collapses white space, and removes it before closing punctuation.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let closing = word.len() == 1 && ".,;:)".contains(word);
        if !out.is_empty() && !closing {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excessive_nesting_is_an_error() {
        let nested = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
        assert!(parse(&nested(300)).is_ok());
        assert!(parse(&nested(1_000_000)).is_err());
    }

    #[test]
    fn entity_expansion_is_limited() {
        let with = |dtd: &str, text: &str| {
            let document = format!("<!DOCTYPE a [{dtd}]><a>{text}</a>");
            parse(&document).map(|d| self::text(d.root_element())).map_err(|e| e.to_string())
        };
        assert_eq!(with("<!ENTITY sect '&#167;'>", "&sect; 1 &amp; 2").as_deref(), Ok("§ 1 & 2"));
        assert!(
            with("<!ENTITY b 'x'><!ENTITY c '&b;&b;'>", "&c;")
                .is_err_and(|e| e.contains("entities"))
        );
        let long = format!("<!ENTITY b \"{}\">", "x".repeat(1 << 16));
        assert!(with(&long, &"&b;".repeat(2_000)).is_err_and(|e| e.contains("expand")));
    }
}
