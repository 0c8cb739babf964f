//! GPO's fixed-width text (the Congressional Record, committee reports): paragraphs out of hard-wrapped lines, and
//! the headings that are centred between blank lines.

/// One piece of such a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Heading(String),
    Paragraph(String),
}

/// A line at least this long was wrapped, so the next one continues it.
const WRAPPED: usize = 50;
/// The page is about 72 columns wide.
const CENTRE: i64 = 35;
/// A heading is not longer than this many lines.
const LONGEST_HEADING: usize = 6;

/// The headings and paragraphs of a text.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end).chain([""]) {
        if line.trim().is_empty() || is_ornament(line) {
            finish(&mut block, &mut out);
        } else {
            block.push(line);
        }
    }
    out
}

fn finish(block: &mut Vec<&str>, out: &mut Vec<Piece>) {
    if block.is_empty() {
        return;
    }
    if block.len() <= LONGEST_HEADING && block.iter().all(|line| is_centred(line)) {
        let joined = block.iter().map(|l| l.trim()).collect::<Vec<_>>().join(" ");
        out.push(Piece::Heading(squeeze(&joined)));
    } else {
        out.extend(paragraphs(block).into_iter().map(Piece::Paragraph));
    }
    block.clear();
}

/// Lines that GPO puts on top of every granule, by how they begin.
const PAGE_HEADS: [&str; 8] = [
    "[Congressional Record Volume ",
    "[House]",
    "[Senate]",
    "[Extensions of Remarks]",
    "[Daily Digest]",
    "[Page ",
    "[Pages ",
    "From the Congressional Record Online ",
];

/// "[[Page H12]]", the head of a page, rules of underscores, dashes or asterisks.
fn is_ornament(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("[[Page ")
        || PAGE_HEADS.iter().any(|head| line.starts_with(head))
        || line.chars().all(|c| "_-=* ".contains(c))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_centred(line: &str) -> bool {
    let text = line.trim();
    let middle = indent(line) as i64 + text.chars().count() as i64 / 2;
    indent(line) >= 4 && (middle - CENTRE).abs() <= 4 && text.chars().any(char::is_alphabetic) && !text.ends_with(',')
}

/// A line of a table keeps to itself.
fn is_tabular(line: &str) -> bool {
    let text = line.trim();
    text.contains("....") || text.contains("   ")
}

fn paragraphs(lines: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut previous: Option<&str> = None;
    for line in lines {
        let continues = previous.is_some_and(|p| {
            (p.len() >= WRAPPED || p.ends_with('-')) && indent(line) <= indent(p) && !is_tabular(line) && !is_tabular(p)
        });
        match out.last_mut() {
            Some(open) if continues => {
                // "119-" + "21" and "non-" + "profit" keep their hyphen and lose the line break.
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

/// Double spaces set for justification become single.
fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centred_lines_are_headings_and_wrapped_ones_are_joined() {
        let text = concat!(
            "[Congressional Record Volume 171, Number 12 (Monday, January 20, 2025)]\n[House]\n[Page H12]\n",
            "From the Congressional Record Online through the Government Publishing Office [www.gpo.gov]\n\n\n",
            "                        PURPOSE OF THE BILL\n\n",
            "  The bill would do one thing and then it would do some other \nthing (Rept. 119-\n21).\n",
            "  A second paragraph.\n\n[[Page H12]]\n\n  Third.",
        );
        assert_eq!(
            pieces(text),
            [
                Piece::Heading("PURPOSE OF THE BILL".into()),
                Piece::Paragraph(
                    "The bill would do one thing and then it would do some other thing (Rept. 119-21).".into()
                ),
                Piece::Paragraph("A second paragraph.".into()),
                Piece::Paragraph("Third.".into()),
            ]
        );
    }
}
