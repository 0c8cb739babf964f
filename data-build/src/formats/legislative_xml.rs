//! Splits bills and laws in XML into sections. Handles both the older bill DTD and USLM, which
//! have the same structure under different names. Struck text is left out.

use roxmltree::Node;

use super::legislative_headings::{heading_text, level_label, section_label};
pub use super::legislative_lines::inline;
use super::legislative_lines::{self, LEVELS, Lines, is_omitted};
use super::outline::Outline;
use super::xml;
use crate::record::Section;

/// The sections of a document.
pub fn sections(root: Node<'_, '_>) -> Vec<Section> {
    let mut walk =
        Walk { outline: Outline::default(), lines: Lines::default(), in_preamble: false };
    // In the older DTD the title is in the form, which is otherwise omitted.
    for form in ["form", "engrossed-amendment-form"] {
        for part in ["legis-type", "official-title"] {
            if let Some(node) = xml::at(root, &[form, part]) {
                walk.outline.paragraph(&inline(node));
            }
        }
    }
    walk.children(root, 1);
    walk.flush();
    walk.outline.all()
}

struct Walk {
    outline: Outline,
    lines: Lines,
    /// Whether the current section is the preamble of a resolution.
    in_preamble: bool,
}

impl Walk {
    /// Walks the structure; `depth` is the depth of the next heading. Appropriations are siblings
    /// whose rank is in an attribute.
    fn children(&mut self, node: Node<'_, '_>, depth: i64) {
        for child in node.children() {
            let name = child.tag_name().name();
            if child.is_text() {
                self.lines.text(child.text().unwrap_or_default());
            } else if !child.is_element() || is_omitted(child) || is_heading_part(child, node) {
                continue;
            } else if name == "preamble" {
                self.heading(depth, "", "Preamble");
                self.lines.write(child);
                self.in_preamble = true;
            } else if let Some(rank) = appropriations_rank(child) {
                self.heading(depth + rank, "", &heading_text(child));
                self.children(child, depth + rank + 1);
            } else if LEVELS.contains(&name) {
                let title = heading_text(child);
                self.heading(depth, &level_label(child), &title);
                self.children(child, if title.is_empty() { depth } else { depth + 1 });
            } else if name == "section" || name == "undesignated-section" {
                self.heading(depth, &section_label(child), &heading_text(child));
                self.lines.write_body(child);
            } else if has_structure(child) {
                self.children(child, depth);
            } else {
                self.leave_preamble(depth);
                self.lines.block(child);
            }
        }
    }

    /// Ends the preamble: the resolving text often has no heading of its own.
    fn leave_preamble(&mut self, depth: i64) {
        if self.in_preamble {
            self.heading(depth, "", "Resolved");
        }
    }

    /// Opens a section; without number and heading, text is added to the current one.
    fn heading(&mut self, depth: i64, label: &str, title: &str) {
        self.flush();
        if !title.is_empty() {
            self.in_preamble = false;
            self.outline.heading(depth, label, title);
        } else {
            self.leave_preamble(depth);
        }
    }

    fn flush(&mut self) {
        for line in std::mem::take(&mut self.lines).finish() {
            self.outline.paragraph(&line);
        }
    }
}

/// Whether a child is the number or heading of its parent, which were already used to open it.
fn is_heading_part(child: Node<'_, '_>, parent: Node<'_, '_>) -> bool {
    let has_heading =
        LEVELS.contains(&parent.tag_name().name()) || appropriations_rank(parent).is_some();
    has_heading && legislative_lines::is_heading_part(child)
}

fn appropriations_rank(node: Node<'_, '_>) -> Option<i64> {
    match (node.tag_name().name(), node.attribute("level").unwrap_or_default()) {
        ("appropriations-major", _) | ("appropriations", "major") => Some(0),
        ("appropriations-intermediate", _) | ("appropriations", "intermediate") => Some(1),
        ("appropriations-small", _) | ("appropriations", _) => Some(2),
        _ => None,
    }
}

/// Whether there are headings below an element, outside of quoted text.
fn has_structure(node: Node<'_, '_>) -> bool {
    node.children().filter(Node::is_element).any(|child| {
        let name = child.tag_name().name();
        let quoted = matches!(name, "quotedContent" | "quotedText" | "quoted-block" | "quote");
        let structure = LEVELS.contains(&name) || name == "section" || name == "preamble";
        !quoted
            && !is_omitted(child)
            && (structure || appropriations_rank(child).is_some() || has_structure(child))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(String, String, String)> {
        let document = xml::parse(text).expect("well-formed");
        sections(document.root_element())
            .into_iter()
            .map(|s| (s.section, s.heading, s.text))
            .collect()
    }

    fn triple(section: &str, heading: &str, text: &str) -> (String, String, String) {
        (section.into(), heading.into(), text.into())
    }

    #[test]
    fn the_older_dtd_is_split_into_sections() {
        let found = split("<bill><form><legis-num>H. R. 7</legis-num>
        <official-title>To do.</official-title></form><legis-body>
            <section><enum>1.</enum><header>Short title</header>
            <text>This is the <quote><short-title>Act</short-title></quote>.</text></section>
            <title><enum>I</enum><header>Money</header><section><enum>101.</enum><header>Rate</header>
            <subsection><enum>(a)</enum><header>In general</header><text>Amended to read:</text>
            <quoted-block><section><enum>9.</enum>
            <text>New.</text></section><after-quoted-block>.</after-quoted-block></quoted-block>
            </subsection></section></title></legis-body></bill>");
        assert_eq!(found[0], triple("", "", "To do."));
        assert_eq!(found[1], triple("1", "SECTION 1. Short title", "This is the “Act”."));
        assert_eq!(found[2], triple("Title I", "TITLE I—Money", ""));
        assert_eq!(found[3].1, "TITLE I—Money > SEC. 101. Rate");
        assert_eq!(found[3].2, "(a) In general.—Amended to read:\n\n“SEC. 9. New.”.");
    }

    fn text_of(section: &str) -> String {
        let found = split(&format!("<bill><legis-body>{section}</legis-body></bill>"));
        found.into_iter().map(|s| s.2).collect::<Vec<_>>().join("\n\n")
    }

    #[test]
    fn quotation_marks_of_the_older_dtd_are_printed() {
        let struck = "<section><enum>2.</enum><header>A</header><paragraph><enum>(1)</enum>
            <text>by striking <quote>or</quote>; and</text></paragraph><paragraph><enum>(2)</enum>
            <text>by inserting <quote>$100.</quote>.</text></paragraph></section>";
        assert_eq!(text_of(struck), "(1) by striking “or”; and\n\n(2) by inserting “$100.”.");
        let defined = "<section><enum>2.</enum><header>A</header>
            <text>The term <term>boat</term> (or <quote><term>ship</term></quote>) means—</text></section>";
        assert_eq!(text_of(defined), "The term “boat” (or “ship”) means—");
    }

    /// Each paragraph of a quoted block begins with a mark, but for text that continues one; marks
    /// inside are single, and those of a block in a block are both.
    #[test]
    fn quoted_blocks_of_the_older_dtd_have_their_marks() {
        let block = "<section><enum>2.</enum><header>A</header><text>is amended—</text>
            <paragraph><enum>(1)</enum><text>by adding:</text><quoted-block style='OLC'>
            <section><enum>9.</enum><header>Boats</header>
            <subsection><enum>(a)</enum><paragraph display-inline='yes-display-inline'>
            <enum>(1)</enum><text>The term <term>boat</term> means:</text>
            <quoted-block><clause><enum>(i)</enum><text>a <quote>hull</quote>.</text></clause>
            <after-quoted-block>; and</after-quoted-block></quoted-block></paragraph>
            <continuation-text>that floats.</continuation-text></subsection></section>
            <after-quoted-block>; and</after-quoted-block></quoted-block></paragraph>
            <paragraph><enum>(2)</enum><text>by inserting</text>
            <quoted-block display-inline='yes-display-inline' style='USC'><text>this:</text>
            <section><enum>5.</enum><header>Rates</header></section>
            <after-quoted-block>.</after-quoted-block></quoted-block></paragraph></section>";
        let expected = [
            "is amended—",
            "(1) by adding:",
            "“SEC. 9. Boats.",
            "“(a)(1) The term ‘boat’ means:",
            "“‘(i) a “hull”.’; and",
            "that floats.”; and",
            "(2) by inserting “this:",
            "“§ 5. Rates”.",
        ];
        assert_eq!(text_of(block), expected.join("\n\n"));
    }

    #[test]
    fn only_the_first_row_of_a_quoted_table_has_a_mark() {
        let table = "<section><enum>2.</enum><header>A</header><quoted-block><table><tgroup><tbody>
            <row><entry>1</entry><entry>2</entry></row><row><entry>3</entry><entry>4</entry></row>
            </tbody></tgroup></table><after-quoted-block>.</after-quoted-block></quoted-block></section>";
        assert_eq!(text_of(table), "“1 | 2\n\n3 | 4”.");
    }

    #[test]
    fn uslm_is_split_into_sections() {
        let found = split("<bill xmlns='u'><meta><congress>119</congress></meta><main>
        <longTitle><docTitle>A BILL</docTitle>
            <officialTitle>To do.</officialTitle></longTitle><section><num value='1'>SECTION 1. </num>
            <heading>SHORT TITLE.</heading>
            <content>This is “<shortTitle>it</shortTitle>”.<sidenote><p>margin</p></sidenote></content></section>
            <title><num value='I'>TITLE I—</num><heading>MONEY</heading><section>
            <num value='101'>SEC. 101. </num><heading>RATE.</heading>
            <chapeau>Each is—</chapeau><paragraph><num value='1'>(1) </num>
            <content>one; and</content></paragraph></section></title></main></bill>");
        assert_eq!(found[0], triple("", "", "A BILL\n\nTo do."));
        assert_eq!(found[1], triple("1", "SECTION 1. SHORT TITLE.", "This is “it”."));
        assert_eq!(
            found[3],
            triple("101", "TITLE I—MONEY > SEC. 101. RATE.", "Each is—\n\n(1) one; and")
        );
    }

    #[test]
    fn a_heading_before_its_number_stays_there() {
        let found = split(
            "<pLaw xmlns='u'><main><section><heading>rescissions</heading><num value='573'>Sec. 573. </num>
            <content>Of the funds—</content></section></main></pLaw>",
        );
        assert_eq!(found, [triple("573", "rescissions Sec. 573.", "Of the funds—")]);
    }

    #[test]
    fn struck_text_is_left_out() {
        let found = split(
            "<bill><legis-body changed='deleted'><section><enum>1.</enum>
        <text>Old.</text></section></legis-body>
            <legis-body changed='added'><section><enum>1.</enum>
            <text>New <deleted-phrase>gone</deleted-phrase><added-phrase>kept</added-phrase>.</text>
            </section></legis-body></bill>",
        );
        assert_eq!(found, [triple("1", "SECTION 1.", "New kept.")]);
        let uslm = split("<bill><main><collection><component changed='deleted'><main><section><num>SEC. 1.</num>
        <content>Old.</content></section></main></component>
            <component changed='added'><main><section><num>SEC. 1.</num>
            <content>New<deletedText>x</deletedText><del>y</del>.</content></section></main></component>
            </collection></main></bill>");
        assert_eq!(uslm, [triple("1", "SEC. 1.", "New.")]);
    }

    #[test]
    fn resolutions_have_a_preamble_and_unnumbered_text() {
        let found = split("<resolution><preamble><whereas><text>Whereas so: Now</text></whereas></preamble>
            <resolution-body><section><text>That the House is glad.</text></section></resolution-body></resolution>");
        let expected = [
            triple("", "Preamble", "Whereas so: Now"),
            triple("", "Resolved", "That the House is glad."),
        ];
        assert_eq!(found, expected);
    }
}
