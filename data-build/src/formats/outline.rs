//! Builds the sections of a text from a sequence of headings and paragraphs.

use crate::record::Section;

/// Sections under construction, with the current headings.
#[derive(Default)]
pub struct Outline {
    path: Vec<(i64, String)>,
    sections: Vec<Section>,
}

impl Outline {
    /// Opens a section after closing headings of this depth or deeper.
    pub fn heading(&mut self, depth: i64, label: &str, title: &str) {
        self.path.retain(|(d, _)| *d < depth);
        self.path.push((depth, title.to_string()));
        let heading = self.path.iter().map(|(_, t)| t.as_str()).collect::<Vec<_>>().join(" > ");
        let level = self.path.len() as i64;
        self.sections.push(Section {
            section: label.to_string(),
            heading,
            level,
            text: String::new(),
        });
    }

    /// Adds a paragraph to the current section; before the first heading, to one without a heading.
    pub fn paragraph(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.sections.is_empty() {
            self.sections.push(Section::default());
        }
        if let Some(open) = self.sections.last_mut() {
            if !open.text.is_empty() {
                open.text.push_str("\n\n");
            }
            open.text.push_str(text);
        }
    }

    /// All sections, for texts whose headings are known to be headings.
    pub fn all(self) -> Vec<Section> {
        self.sections
    }

    /// The sections. A heading without text is kept only if it has subsections: otherwise it is an
    /// entry of a printed table of contents.
    pub fn finish(self) -> Vec<Section> {
        let has_subsections = |i: usize| {
            self.sections.get(i + 1).is_some_and(|next| next.level > self.sections[i].level)
        };
        let kept: Vec<bool> = self
            .sections
            .iter()
            .enumerate()
            .map(|(i, s)| !s.text.is_empty() || has_subsections(i))
            .collect();
        self.sections
            .into_iter()
            .zip(kept)
            .filter_map(|(section, keep)| keep.then_some(section))
            .collect()
    }
}

/// The number at the start of a heading, by which it is cited: "II. Background" -> "II",
/// "§ 12.3 Scope" -> "12.3".
pub fn label(heading: &str) -> &str {
    let text = heading.trim_start_matches(['§', ' ', '\u{a0}']);
    let text = ["Section ", "SECTION ", "Sec. ", "SEC. "]
        .iter()
        .find_map(|p| text.strip_prefix(p))
        .unwrap_or(text);
    let word = text.split_whitespace().next().unwrap_or_default();
    let stem = word.trim_end_matches(['.', ':', ')', ',']);
    let is_number = stem.starts_with(|c: char| c.is_ascii_digit())
        && stem.len() <= 20
        && stem.chars().all(|c| c.is_ascii_alphanumeric() || ".-()".contains(c));
    let is_ordered = stem.len() < word.len()
        && (stem.len() == 1 && stem.starts_with(|c: char| c.is_ascii_uppercase())
            || !stem.is_empty() && stem.chars().all(|c| "IVXLC".contains(c)));
    let marked = heading.len() > text.len() || stem.len() < word.len() || stem.contains('.');
    if (is_number && marked) || is_ordered { stem } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_nest_and_empty_ones_are_dropped() {
        let mut outline = Outline::default();
        outline.paragraph("Before.");
        outline.heading(1, "", "Contents entry");
        outline.heading(1, "I", "I. Rule");
        outline.heading(3, "A", "A. Scope");
        outline.paragraph("One.");
        outline.paragraph("Two.");
        let sections = outline.finish();
        let shown: Vec<_> =
            sections.iter().map(|s| (s.heading.as_str(), s.level, s.text.as_str())).collect();
        assert_eq!(
            shown,
            [("", 0, "Before."), ("I. Rule", 1, ""), ("I. Rule > A. Scope", 2, "One.\n\nTwo.")]
        );
    }

    #[test]
    fn labels_are_taken_from_numbered_headings() {
        assert_eq!(label("II. Background"), "II");
        assert_eq!(label("§ 122.26 Storm water"), "122.26");
        assert_eq!(label("Sec. 3. Policy"), "3");
        assert_eq!(label("2025 Budget"), "");
        assert_eq!(label("I think so"), "");
    }
}
