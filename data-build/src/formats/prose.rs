//! The text of official XML: paragraphs with their inline marks resolved, tables row by row, headings as an outline.

use roxmltree::Node;

use super::outline::Outline;

/// What an element is to the text around it.
pub enum Role {
    /// Not part of the text: page numbers, graphics, tables of contents.
    Skip,
    /// One paragraph with everything below it.
    Paragraph,
    /// Comes before the next paragraph: "(a)", "Authority:".
    Prefix,
    /// A row of a table.
    Row,
    Heading {
        depth: i64,
        label: String,
        title: String,
    },
    /// Undecided: a container if other blocks stand in it, otherwise a paragraph.
    Auto,
}

/// Elements that stand inside a line; all others break it.
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

/// Never text, wherever they stand.
const SILENT: &[&str] = &["PRTPAGE", "GID", "MID", "EAR", "ear", "img", "page"];

/// Writes what is below a node into the outline, as `role` decides element by element.
pub fn write(node: Node<'_, '_>, outline: &mut Outline, role: &dyn Fn(Node<'_, '_>) -> Role) {
    let mut prefix = String::new();
    blocks(node, outline, role, &mut prefix);
    outline.paragraph(&prefix);
}

fn blocks(node: Node<'_, '_>, outline: &mut Outline, role: &dyn Fn(Node<'_, '_>) -> Role, prefix: &mut String) {
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

fn block(node: Node<'_, '_>, outline: &mut Outline, role: &dyn Fn(Node<'_, '_>) -> Role, prefix: &mut String) {
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
    node.is_element() && !is_inline(node) && !SILENT.contains(&node.tag_name().name())
}

fn emit(outline: &mut Outline, prefix: &mut String, text: &str) {
    if !text.is_empty() {
        outline.paragraph(&format!("{prefix}{text}"));
        prefix.clear();
    }
}

/// The cells of a row, with a bar between them.
fn row(node: Node<'_, '_>) -> String {
    let cells: Vec<String> = node.children().filter(Node::is_element).map(inline).collect();
    if cells.iter().all(String::is_empty) { String::new() } else { cells.join(" | ").trim().to_string() }
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

/// White space folded; none before a closing mark or after an opening one, where the markup had left some.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let mut chars = word.chars();
        let closes =
            chars.next().is_some_and(|c| ".,;:)]”".contains(c)) && !chars.next().is_some_and(char::is_alphanumeric);
        if !out.is_empty() && !closes && !out.ends_with(" (") && !out.ends_with(['[', '“']) {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Dashes of every kind as "-": numbers of documents, dockets and laws are set with en dashes in some files.
pub fn plain_dashes(text: &str) -> String {
    text.replace(['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_leaves_no_gaps() {
        let xml = "<P>\n See\n <E>regulations.gov</E>\n . (<E>i.e.</E>, part\n <SU>1</SU> .5 of it)</P>";
        let document = roxmltree::Document::parse(xml).expect("well formed");
        assert_eq!(inline(document.root_element()), "See regulations.gov. (i.e., part 1 .5 of it)");
    }

    #[test]
    fn blocks_prefixes_and_rows() {
        let xml =
            "<s><num>(a)</num><content>Text <ref>here</ref>.</content><table><tr><td>1</td><td>2</td></tr></table></s>";
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
