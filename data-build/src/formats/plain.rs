//! GPO's fixed-width text (the Congressional Record, committee reports): joins wrapped lines to
//! paragraphs and recognizes centred headings.

/// A block of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Heading(String),
    Paragraph(String),
}

/// A line of at least this length was wrapped, so the next one continues it.
const MIN_WRAPPED: usize = 50;
/// The middle column; pages are about 72 columns wide.
const CENTRE: i64 = 35;
/// Maximum lines of a heading.
const MAX_HEADING_LINES: usize = 6;

/// The headings and paragraphs of a text.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end).chain([""]) {
        if line.trim().is_empty() || is_ornament(line) {
            finish(&mut lines, &mut out);
        } else {
            lines.push(line);
        }
    }
    out
}

fn finish(lines: &mut Vec<&str>, out: &mut Vec<Block>) {
    if lines.is_empty() {
        return;
    }
    if lines.len() <= MAX_HEADING_LINES && lines.iter().all(|line| is_centred(line)) {
        let joined = lines.iter().map(|l| l.trim()).collect::<Vec<_>>().join(" ");
        out.push(Block::Heading(collapse_spaces(&joined)));
    } else {
        out.extend(paragraphs(lines).into_iter().map(Block::Paragraph));
    }
    lines.clear();
}

/// Prefixes of the lines at the top of every granule.
const PAGE_HEADERS: [&str; 8] = [
    "[Congressional Record Volume ",
    "[House]",
    "[Senate]",
    "[Extensions of Remarks]",
    "[Daily Digest]",
    "[Page ",
    "[Pages ",
    "From the Congressional Record Online ",
];

/// "[[Page H12]]", page headers, and rules of underscores, dashes or asterisks.
fn is_ornament(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("[[Page ")
        || PAGE_HEADERS.iter().any(|header| line.starts_with(header))
        || line.chars().all(|c| "_-=* ".contains(c))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_centred(line: &str) -> bool {
    let text = line.trim();
    let middle = indent(line) as i64 + text.chars().count() as i64 / 2;
    indent(line) >= 4
        && (middle - CENTRE).abs() <= 4
        && text.chars().any(char::is_alphabetic)
        && !text.ends_with(',')
}

/// Whether a line belongs to a table and must not be joined with others.
fn is_tabular(line: &str) -> bool {
    let text = line.trim();
    text.contains("....") || text.contains("   ")
}

/// "SEC. 4. INSPECTION OF …", whose further lines are indented more than the first.
fn is_section_heading(text: &str) -> bool {
    ["SEC. ", "SECTION "].iter().any(|start| text.starts_with(start))
}

fn paragraphs(lines: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut previous: Option<&str> = None;
    for line in lines {
        let hangs = out.last().is_some_and(|open| is_section_heading(open));
        let continues = previous.is_some_and(|p| {
            (p.len() >= MIN_WRAPPED || p.ends_with('-'))
                && (indent(line) <= indent(p) || hangs)
                && !is_tabular(line)
                && !is_tabular(p)
        });
        match out.last_mut() {
            Some(open) if continues => {
                // "119-" + "21" and "non-" + "profit" keep their hyphens.
                if !open.ends_with('-') {
                    open.push(' ');
                }
                open.push_str(line.trim());
            }
            _ => out.push(line.trim().to_string()),
        }
        previous = Some(line);
    }
    out
}

/// Removes the double spaces of justified text.
pub fn collapse_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centred_lines_are_headings_and_wrapped_ones_are_joined() {
        let text = concat!(
            "[Congressional Record Volume 171, Number 12 (Monday, January 20, 2025)]\n",
            "[House]\n[Page H12]\n",
            "From the Congressional Record Online through the Government Publishing Office ",
            "[www.gpo.gov]\n\n\n",
            "                        PURPOSE OF THE BILL\n\n",
            "  The bill would do one thing and then it would do some other \n",
            "thing (Rept. 119-\n21).\n",
            "  A second paragraph.\n\n[[Page H12]]\n\n  Third.",
        );
        assert_eq!(
            blocks(text),
            [
                Block::Heading("PURPOSE OF THE BILL".into()),
                Block::Paragraph(
                    "The bill would do one thing and then it would do some other thing \
                     (Rept. 119-21)."
                        .into()
                ),
                Block::Paragraph("A second paragraph.".into()),
                Block::Paragraph("Third.".into()),
            ]
        );
    }
}
