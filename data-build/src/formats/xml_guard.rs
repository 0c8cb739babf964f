//! Parsing XML that will be walked by recursion: a document nested beyond reason is refused, not followed down.

use anyhow::Result;
use roxmltree::Document;

use super::xml;

/// Bills and laws nest some thirty elements deep; the stack holds far more than this.
const DEEPEST: u32 = 400;

/// The document, unless it is nested too deeply.
pub fn parse(text: &str) -> Result<Document<'_>> {
    let document = xml::parse(text)?;
    let mut depths: Vec<u32> = Vec::new();
    // Nodes are numbered in document order, so a parent's depth is known before its children's.
    for node in document.descendants() {
        let depth = node.parent().and_then(|p| depths.get(p.id().get_usize())).map_or(0, |d| d + 1);
        anyhow::ensure!(depth <= DEEPEST, "nested more than {DEEPEST} elements deep");
        depths.resize(node.id().get_usize() + 1, 0);
        depths[node.id().get_usize()] = depth;
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_nesting_is_refused() {
        let nested = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
        assert!(parse(&nested(300)).is_ok());
        assert!(parse(&nested(100_000)).is_err());
    }
}
