//! Reading XML documents: elements by local name, text with its white space folded.

use roxmltree::{Document, Node, ParsingOptions};

/// Bills and laws nest some thirty elements deep; the stack holds far more than this.
const DEEPEST: u32 = 400;

/// Entities that a document defines itself may unfold to this much in all.
const UNFOLDED: usize = 64 << 20;

/// Parses a document; official files carry a DOCTYPE, which is passed over. One nested beyond reason is refused: readers walk
/// it by recursion.
pub fn parse(text: &str) -> anyhow::Result<Document<'_>> {
    refuse_entity_bombs(text)?;
    let options = ParsingOptions { allow_dtd: true, nodes_limit: u32::MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)?;
    anyhow::ensure!(depth(&document) <= DEEPEST, "nested more than {DEEPEST} elements deep");
    Ok(document)
}

/// How deep the deepest element lies, found without recursion.
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

/// The parser stops entities that unfold into each other for ever, but not a long one that is used a million times.
fn refuse_entity_bombs(text: &str) -> anyhow::Result<()> {
    // Nearly all files; to find that out takes a fraction of the time that splitting takes.
    if !text.contains("<!ENTITY") {
        return Ok(());
    }
    let mut longest = 0;
    for declared in text.split("<!ENTITY").skip(1) {
        let quote = declared.find(['"', '\'']).map_or("", |at| &declared[at..at + 1]);
        let value = declared.split(quote).nth(1).filter(|_| !quote.is_empty()).unwrap_or_default();
        anyhow::ensure!(!value.replace("&#", "").contains('&'), "it defines entities by other entities");
        longest = longest.max(value.len());
    }
    let used = if longest > 0 { text.bytes().filter(|b| *b == b'&').count() } else { 0 };
    anyhow::ensure!(
        longest.saturating_mul(used) <= UNFOLDED,
        "its entities unfold to more than {} MiB",
        UNFOLDED >> 20
    );
    Ok(())
}

/// The children with this local name.
pub fn children<'a, 'd: 'a>(node: Node<'a, 'd>, name: &'a str) -> impl Iterator<Item = Node<'a, 'd>> {
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

/// The text at a path, white space folded; empty when there is none.
pub fn text_at(node: Node<'_, '_>, path: &[&str]) -> String {
    at(node, path).map(text).unwrap_or_default()
}

/// All text below an element, white space folded, with a space between block elements.
pub fn text(node: Node<'_, '_>) -> String {
    let mut out = String::new();
    for piece in node.descendants().filter(Node::is_text) {
        out.push_str(piece.text().unwrap_or_default());
        out.push(' ');
    }
    fold(&out)
}

/// Runs of white space become one space, and none is left before a closing mark.
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
    fn endless_nesting_is_refused() {
        let nested = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
        assert!(parse(&nested(300)).is_ok());
        assert!(parse(&nested(1_000_000)).is_err());
    }

    #[test]
    fn entities_unfold_within_reason() {
        let with = |dtd: &str, text: &str| {
            let document = format!("<!DOCTYPE a [{dtd}]><a>{text}</a>");
            parse(&document).map(|d| self::text(d.root_element())).map_err(|e| e.to_string())
        };
        assert_eq!(with("<!ENTITY sect '&#167;'>", "&sect; 1 &amp; 2").as_deref(), Ok("§ 1 & 2"));
        assert!(with("<!ENTITY b 'x'><!ENTITY c '&b;&b;'>", "&c;").is_err_and(|e| e.contains("entities")));
        let long = format!("<!ENTITY b \"{}\">", "x".repeat(1 << 16));
        assert!(with(&long, &"&b;".repeat(2_000)).is_err_and(|e| e.contains("unfold")));
    }
}
