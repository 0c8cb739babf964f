//! Extracts the text of official XML: paragraphs without inline markup, tables row by row, headings
//! as an outline.

use roxmltree::Node;

use super::outline::Outline;

/// How an element contributes to the text.
pub enum Role {
    /// Not part of the text: page numbers, graphics, tables of contents.
    Skip,
    /// One paragraph, including all descendants.
    Paragraph,
    /// The start of the next paragraph: "(a)", "Authority:".
    Prefix,
    /// A row of a table.
    Row,
    Heading {
        depth: i64,
        label: String,
        title: String,
    },
    /// A container if it has block elements, otherwise a paragraph.
    Auto,
}

/// Elements within a line; all others are blocks.
const INLINE: &[&str] = &[
    "E",
    "SU",
    "I",
    "B",
    "U",
    "AC",
    "FR",
    "XREF",
    "inline",
    "ref",
    "date",
    "sup",
    "sub",
    "i",
    "b",
    "em",
    "strong",
    "term",
    "amendingAction",
    "entity",
    "a",
    "span",
    "property",
    "headingText",
    "D-SUP",
    "D-SUB",
    "STYLE",
];

/// Elements that are never text.
const OMITTED: &[&str] = &["PRTPAGE", "GID", "MID", "EAR", "ear", "img", "page"];

/// Writes the content of a node into the outline; `role` classifies each element.
pub fn write(node: Node<'_, '_>, outline: &mut Outline, role: &dyn Fn(Node<'_, '_>) -> Role) {
    let mut prefix = String::new();
    blocks(node, outline, role, &mut prefix);
    outline.paragraph(&prefix);
}

fn blocks(
    node: Node<'_, '_>,
    outline: &mut Outline,
    role: &dyn Fn(Node<'_, '_>) -> Role,
    prefix: &mut String,
) {
    // Text and inline elements between two blocks make one paragraph.
    let mut run = String::new();
    for child in node.children() {
        if child.is_text() {
            run.push_str(child.text().unwrap_or_default());
        } else if is_inline(child) {
            gather(child, &mut run);
        } else if is_block(child) {
            emit(outline, prefix, &fold(&std::mem::take(&mut run)));
            block(child, outline, role, prefix);
        }
    }
    emit(outline, prefix, &fold(&run));
}

fn block(
    node: Node<'_, '_>,
    outline: &mut Outline,
    role: &dyn Fn(Node<'_, '_>) -> Role,
    prefix: &mut String,
) {
    match role(node) {
        Role::Skip => {}
        Role::Auto if node.children().any(is_block) => blocks(node, outline, role, prefix),
        Role::Paragraph | Role::Auto => emit(outline, prefix, &inline(node)),
        Role::Row => emit(outline, prefix, &row(node)),
        Role::Prefix => {
            prefix.push_str(&inline(node));
            prefix.push(' ');
        }
        Role::Heading { depth, label, title } => {
            emit(outline, prefix, "");
            outline.heading(depth, &label, &title);
        }
    }
}

fn is_inline(node: Node<'_, '_>) -> bool {
    node.is_element() && INLINE.contains(&node.tag_name().name())
}

fn is_block(node: Node<'_, '_>) -> bool {
    node.is_element() && !is_inline(node) && !OMITTED.contains(&node.tag_name().name())
}

fn emit(outline: &mut Outline, prefix: &mut String, text: &str) {
    if !text.is_empty() {
        outline.paragraph(&format!("{prefix}{text}"));
        prefix.clear();
    }
}

/// The cells of a row, separated by bars.
fn row(node: Node<'_, '_>) -> String {
    let cells: Vec<String> = node.children().filter(Node::is_element).map(inline).collect();
    if cells.iter().all(String::is_empty) {
        String::new()
    } else {
        cells.join(" | ").trim().to_string()
    }
}

/// The text of one paragraph or heading on one line.
pub fn inline(node: Node<'_, '_>) -> String {
    let mut raw = String::new();
    gather(node, &mut raw);
    fold(&raw)
}

fn gather(node: Node<'_, '_>, raw: &mut String) {
    for child in node.children() {
        if child.is_text() {
            raw.push_str(child.text().unwrap_or_default());
        } else if is_inline(child) {
            gather(child, raw);
        } else if is_block(child) {
            raw.push(' ');
            gather(child, raw);
            raw.push(' ');
        }
    }
}

/// Collapses white space, and removes it where markup left it before closing and after opening
/// punctuation.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let mut chars = word.chars();
        let closes = chars.next().is_some_and(|c| ".,;:)]”".contains(c))
            && !chars.next().is_some_and(char::is_alphanumeric);
        if !out.is_empty() && !closes && !out.ends_with(" (") && !out.ends_with(['[', '“']) {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Replaces all kinds of dashes by "-": some files have en dashes in numbers of documents, dockets
/// and laws.
pub fn plain_dashes(text: &str) -> String {
    text.replace(['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_markup_leaves_no_extra_spaces() {
        let xml =
            "<P>\n See\n <E>regulations.gov</E>\n . (<E>i.e.</E>, part\n <SU>1</SU> .5 of it)</P>";
        let document = roxmltree::Document::parse(xml).expect("well formed");
        assert_eq!(inline(document.root_element()), "See regulations.gov. (i.e., part 1 .5 of it)");
    }

    #[test]
    fn prefixes_and_table_rows_become_paragraphs() {
        let xml = "<s><num>(a)</num><content>Text <ref>here</ref>.</content>\
                   <table><tr><td>1</td><td>2</td></tr></table></s>";
        let document = roxmltree::Document::parse(xml).expect("well formed");
        let mut outline = Outline::default();
        write(document.root_element(), &mut outline, &|n| match n.tag_name().name() {
            "num" => Role::Prefix,
            "tr" => Role::Row,
            _ => Role::Auto,
        });
        assert_eq!(outline.finish()[0].text, "(a) Text here.\n\n1 | 2");
    }
}
