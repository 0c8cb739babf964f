//! The text of bills and laws in XML as lines, one per printed paragraph. Struck text is left out.

use roxmltree::Node;

use super::xml;

/// Elements with headings, outermost first.
pub const LEVELS: [&str; 9] = [
    "division",
    "title",
    "subtitle",
    "part",
    "subpart",
    "chapter",
    "subchapter",
    "article",
    "level",
];

/// Elements that are not text: struck passages, additions of the printer, marginal notes.
const OMITTED: [&str; 23] = [
    "del",
    "deletedText",
    "deleted-phrase",
    "meta",
    "metadata",
    "amendMeta",
    "preface",
    "amendPreface",
    "form",
    "amendment-form",
    "engrossed-amendment-form",
    "sidenote",
    "page",
    "pagebreak",
    "endMarker",
    "endorsement",
    "attestation",
    "attestation-group",
    "signatures",
    "legislativeHistory",
    "legis-num",
    "notation",
    "dublinCore",
];

/// Elements that start a new line.
const BLOCKS: [&str; 33] = [
    "subsection",
    "paragraph",
    "subparagraph",
    "clause",
    "subclause",
    "item",
    "subitem",
    "p",
    "continuation",
    "continuation-text",
    "quotedContent",
    "quoted-block",
    "toc",
    "toc-entry",
    "referenceItem",
    "tr",
    "row",
    "recital",
    "whereas",
    "listItem",
    "list-item",
    "section",
    "docTitle",
    "officialTitle",
    "enactingFormula",
    "resolvingClause",
    "amendmentInstruction",
    "amendmentContent",
    "amendment-block",
    "amendment-instruction",
    "proviso-block",
    "table",
    "caption",
];

/// Whether an element is left out, by name or because it is marked as deleted: reported bills
/// contain the struck text before the new one.
pub fn is_omitted(node: Node<'_, '_>) -> bool {
    OMITTED.contains(&node.tag_name().name()) || node.attribute("changed") == Some("deleted")
}

/// The text of an element on one line, without struck text.
pub fn inline(node: Node<'_, '_>) -> String {
    let mut lines = Lines::default();
    lines.write(node);
    lines.finish().join(" ")
}

/// Collects text line by line.
#[derive(Default)]
pub struct Lines {
    done: Vec<String>,
    open: String,
}

impl Lines {
    pub fn text(&mut self, text: &str) {
        // Soft hyphens come from typesetting.
        self.open.extend(text.chars().filter(|c| *c != '\u{ad}'));
    }

    fn end_line(&mut self) {
        let line = self.open.split_whitespace().collect::<Vec<_>>().join(" ").replace(".— ", ".—");
        // An opening quotation mark belongs to the next line.
        if line == "“" {
            return;
        }
        self.open.clear();
        match self.done.last_mut() {
            // A closing quotation mark belongs to the previous line.
            Some(last) if line.chars().all(|c| ".,;:)”’".contains(c)) => last.push_str(&line),
            _ if line.is_empty() => {}
            _ => self.done.push(line),
        }
    }

    pub fn finish(mut self) -> Vec<String> {
        self.end_line();
        self.done
    }

    pub fn block(&mut self, node: Node<'_, '_>) {
        self.end_line();
        self.write(node);
        self.end_line();
    }

    /// Writes a section without its number and heading.
    pub fn write_body(&mut self, section: Node<'_, '_>) {
        for child in section.children() {
            if !matches!(child.tag_name().name(), "num" | "enum" | "heading" | "header") {
                self.node(child);
            }
        }
    }

    pub fn write(&mut self, node: Node<'_, '_>) {
        for child in node.children() {
            self.node(child);
        }
    }

    fn node(&mut self, node: Node<'_, '_>) {
        if node.is_text() {
            return self.text(node.text().unwrap_or_default());
        }
        if !node.is_element() || is_omitted(node) {
            return;
        }
        match node.tag_name().name() {
            "br" | "linebreak" => self.end_line(),
            "quote" => self.around(node, "“", "”"),
            "quoted-block" => {
                self.end_line();
                self.text("“");
                for child in node.children().filter(|c| c.tag_name().name() != "after-quoted-block")
                {
                    self.node(child);
                }
                self.end_line();
                self.text("”");
                xml::child(node, "after-quoted-block")
                    .into_iter()
                    .for_each(|after| self.write(after));
                self.end_line();
            }
            "enum" | "num" | "designator" | "heading" => {
                self.around(node, "", if ends_with_dash(node) { "" } else { " " })
            }
            "header" => self.around(node, "", if ends_sentence(node) { " " } else { ".—" }),
            "td" | "th" | "entry" => {
                if !self.open.trim().is_empty() {
                    self.text(" | ");
                }
                self.write(node);
            }
            name if BLOCKS.contains(&name) || LEVELS.contains(&name) => self.block(node),
            _ => self.write(node),
        }
    }

    fn around(&mut self, node: Node<'_, '_>, before: &str, after: &str) {
        self.text(before);
        self.write(node);
        self.text(after);
    }
}

/// "(a) In general.—" is followed by text without a space.
fn ends_with_dash(node: Node<'_, '_>) -> bool {
    inline(node).ends_with('—')
}

fn ends_sentence(node: Node<'_, '_>) -> bool {
    inline(node).ends_with(['.', '—', ':'])
}
