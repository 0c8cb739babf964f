//! The text of bills and laws in XML as lines, one per printed paragraph. Struck text is left out.

use roxmltree::Node;

use super::legislative_headings::heading_text;
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
const BLOCKS: [&str; 30] = [
    "subsection",
    "paragraph",
    "subparagraph",
    "clause",
    "subclause",
    "item",
    "subitem",
    "p",
    "continuation",
    "quotedContent",
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
///
/// USLM contains its quotation marks. In the older DTD they are markup: the stylesheet prints one
/// before every paragraph of a quoted block, but for text that continues one, and one at its end.
#[derive(Default)]
pub struct Lines {
    done: Vec<String>,
    open: String,
    /// How many quoted blocks of the older DTD are open.
    blocks: usize,
    /// How many quotations within a line are open.
    quotes: usize,
    /// How many lines there were before the current table.
    before_table: usize,
}

impl Lines {
    pub fn text(&mut self, text: &str) {
        if self.blocks > 0 && !text.trim().is_empty() && self.open.trim().is_empty() {
            (0..self.blocks).for_each(|depth| self.open.push_str(marks(depth).0));
        }
        // Soft hyphens come from typesetting.
        self.open.extend(text.chars().filter(|c| *c != '\u{ad}'));
    }

    fn end_line(&mut self) {
        let line = self.open.split_whitespace().collect::<Vec<_>>().join(" ").replace(".— ", ".—");
        // An opening quotation mark belongs to the next line.
        if line == "“" {
            self.open = line;
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
        // An opening mark that no line followed.
        if !self.open.is_empty() {
            self.done.push(self.open);
        }
        self.done
    }

    pub fn block(&mut self, node: Node<'_, '_>) {
        if !is_inline(node) {
            self.end_line();
        } else if is_number(self.open.trim()) {
            self.open.truncate(self.open.trim_end().len());
        }
        node.children().skip_while(is_blank).for_each(|child| self.node(child));
        self.end_line();
    }

    /// Writes a section without its number and heading.
    pub fn write_body(&mut self, section: Node<'_, '_>) {
        for child in section.children().filter(|child| !is_heading_part(*child)) {
            self.node(child);
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
            "quote" => self.quote(node),
            "term" if is_quoted_term(node) => self.quote(node),
            "quoted-block" => self.quoted_block(node),
            "continuation-text" | "quoted-block-continuation-text" => self.unmarked(node),
            "row" if self.done.len() > self.before_table => self.unmarked(node),
            "table" => {
                self.end_line();
                self.before_table = self.done.len();
                self.block(node);
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
            name if self.blocks > 0 && (name == "section" || LEVELS.contains(&name)) => {
                self.end_line();
                self.text(&quoted_heading(node));
                if xml::child(node, "header").is_some() {
                    self.end_line();
                }
                self.write_body(node);
                self.end_line();
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

    /// A quotation within a line; single and double marks alternate with the depth.
    fn quote(&mut self, node: Node<'_, '_>) {
        let (opening, closing) = marks(self.blocks + self.quotes);
        self.quotes += 1;
        self.around(node, opening, closing);
        self.quotes -= 1;
    }

    /// Quoted paragraphs of the older DTD. What follows the closing mark is an element inside.
    fn quoted_block(&mut self, node: Node<'_, '_>) {
        let (opening, closing) = marks(self.blocks);
        if is_inline(node) {
            self.text(" ");
            self.text(opening);
        } else {
            self.end_line();
        }
        let quotes = std::mem::take(&mut self.quotes);
        self.blocks += 1;
        for child in node.children().filter(|c| c.tag_name().name() != "after-quoted-block") {
            self.node(child);
        }
        self.end_line();
        self.blocks -= 1;
        self.quotes = quotes;
        let after = xml::child(node, "after-quoted-block").map(inline).unwrap_or_default();
        match self.done.last_mut() {
            Some(last) => last.extend([closing, after.as_str()]),
            None => self.open.extend([closing, after.as_str()]),
        }
    }

    /// A line without marks of its own.
    fn unmarked(&mut self, node: Node<'_, '_>) {
        self.end_line();
        let blocks = std::mem::take(&mut self.blocks);
        self.quotes += blocks;
        self.write(node);
        self.quotes -= blocks;
        self.blocks = blocks;
        self.end_line();
    }
}

/// The quotation marks at a depth.
fn marks(depth: usize) -> (&'static str, &'static str) {
    if depth.is_multiple_of(2) { ("“", "”") } else { ("‘", "’") }
}

/// Whether a paragraph stands on the line of the one around it: "(a)(1) …".
fn is_inline(node: Node<'_, '_>) -> bool {
    let class = node.attribute("class").unwrap_or_default();
    node.attribute("display-inline") == Some("yes-display-inline")
        || class.split_whitespace().any(|word| word == "inline")
}

fn is_blank(node: &Node<'_, '_>) -> bool {
    node.is_text() && node.text().is_none_or(|text| text.trim().is_empty())
}

/// "(a)", after which the number of a paragraph on the same line follows without a space.
fn is_number(text: &str) -> bool {
    text.ends_with(')') && !text.contains(' ')
}

/// The older DTD marks a defined term instead of quoting it; USLM does both.
fn is_quoted_term(node: Node<'_, '_>) -> bool {
    node.tag_name().namespace().is_none()
        && node.parent().is_none_or(|p| p.tag_name().name() != "quote")
}

/// The number and heading of a section or title that is quoted, "SEC. 9. Rates.", "§ 9. Rates".
fn quoted_heading(node: Node<'_, '_>) -> String {
    let heading = heading_text(node);
    let is_complete = heading.starts_with('§')
        || heading.is_empty()
        || heading.ends_with(['.', '—'])
        || node.tag_name().name() != "section";
    if is_complete { heading + " " } else { heading + ". " }
}

/// Whether an element is its parent's number or heading.
pub fn is_heading_part(node: Node<'_, '_>) -> bool {
    matches!(node.tag_name().name(), "num" | "enum" | "heading" | "header")
}

/// "(a) In general.—" is followed by text without a space.
fn ends_with_dash(node: Node<'_, '_>) -> bool {
    inline(node).ends_with('—')
}

fn ends_sentence(node: Node<'_, '_>) -> bool {
    inline(node).ends_with(['.', '—', ':'])
}
