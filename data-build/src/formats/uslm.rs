//! Classifies the elements of USLM regulations (Federal Register, CFR) for text extraction.

use roxmltree::Node;

use super::outline::label;
use super::prose::{Role, inline};
use super::xml;

/// The SGML element that an element was converted from: `style="-uslm-sgm:HD1; …"` -> "HD1".
pub fn style<'a>(node: Node<'a, '_>) -> &'a str {
    let style = node.attribute("style").unwrap_or_default();
    style.strip_prefix("-uslm-sgm:").and_then(|s| s.split([';', ' ']).next()).unwrap_or_default()
}

/// Whether an element's number and heading form a heading of the text.
pub fn is_division(name: &str) -> bool {
    matches!(name, "section" | "part" | "subpart" | "subchapter" | "chapter" | "subtitle" | "title")
}

/// Whether an element's heading is the start of a paragraph.
pub fn is_run_in(name: &str) -> bool {
    matches!(
        name,
        "paragraph"
            | "subsection"
            | "subparagraph"
            | "clause"
            | "subclause"
            | "item"
            | "authority"
            | "source"
            | "note"
            | "editorialNote"
            | "effectiveDateNote"
            | "crossReferenceNote"
            | "footnote"
            | "explanationNote"
    )
}

/// The number and heading of a division on one line: "§ 447.1 General."
pub fn heading(division: Node<'_, '_>) -> String {
    let part = |name: &str| xml::child(division, name).map(inline).unwrap_or_default();
    let (num, heading) = (part("num"), part("heading"));
    let gap = if num.is_empty() || num.ends_with('—') { "" } else { " " };
    format!("{num}{gap}{heading}").trim().to_string()
}

/// How an element contributes to the text. An amending instruction is a `section` without heading:
/// its number is the start of a paragraph.
pub fn role(node: Node<'_, '_>) -> Role {
    let Some(parent) = node.parent() else { return Role::Auto };
    let within = parent.tag_name().name();
    let divides = is_division(within) && xml::child(parent, "heading").is_some();
    match node.tag_name().name() {
        "meta" | "toc" | "figure" | "autograph" | "frDocId" | "billingCode" | "ear" => Role::Skip,
        "num" if divides => {
            let title = heading(parent);
            let depth = if within == "section" { 2 } else { 1 };
            Role::Heading { depth, label: label(&title).to_string(), title }
        }
        "heading" if divides && xml::child(parent, "num").is_some() => Role::Skip,
        "num" => Role::Prefix,
        "heading" if is_run_in(within) => Role::Prefix,
        "tr" => Role::Row,
        _ => Role::Auto,
    }
}
