//! Parses Federal Register documents that were converted to lines without markup. A line break may
//! end a paragraph or only an emphasized word; the captions of the preamble, each on its own line,
//! are the only reliable structure.

use std::sync::LazyLock;

use regex::Regex;

use super::outline::{Outline, label};
use crate::patterns::pattern;
use crate::record::Section;

/// Captions of the preamble.
const CAPTIONS: &[&str] = &[
    "AGENCY:",
    "AGENCIES:",
    "ACTION:",
    "SUMMARY:",
    "DATES:",
    "DATE:",
    "ADDRESSES:",
    "ADDRESS:",
    "EFFECTIVE DATE:",
    "FOR FURTHER INFORMATION CONTACT:",
    "FOR FURTHER INFORMATION, CONTACT:",
    "FURTHER INFORMATION CONTACT:",
    "SUPPLEMENTARY INFORMATION:",
    "COMMENTS:",
];

/// Only these lines are searched for the title.
const HEADER_LINES: usize = 60;

/// The non-empty lines of a document.
pub struct SplitText<'a> {
    lines: Vec<&'a str>,
}

impl<'a> SplitText<'a> {
    pub fn of(text: &'a str) -> Self {
        SplitText { lines: text.lines().map(str::trim).filter(|l| !l.is_empty()).collect() }
    }

    fn first_caption(&self) -> Option<usize> {
        self.lines.iter().take(HEADER_LINES).position(|l| CAPTIONS.contains(l))
    }

    /// The text under a caption, as one line.
    pub fn part(&self, caption: &str) -> String {
        let Some(start) = self.lines.iter().position(|l| *l == caption) else {
            return String::new();
        };
        let rest = &self.lines[start + 1..];
        let end = rest.iter().position(|l| CAPTIONS.contains(l)).unwrap_or(rest.len());
        paragraphs(&rest[..end]).join(" ")
    }

    /// The document type, if the ACTION section states it clearly.
    pub fn kind_by_action(&self) -> Option<&'static str> {
        let action = self.part("ACTION:").to_lowercase();
        let has = |words: &[&str]| words.iter().any(|w| action.starts_with(w));
        if has(&[
            "proposed rule",
            "notice of proposed rule",
            "supplemental notice of proposed",
            "advance notice of proposed",
        ]) {
            Some("proposed_rule")
        } else if has(&[
            "final rule",
            "interim final",
            "direct final",
            "temporary final",
            "correcting amendment",
        ]) {
            Some("rule")
        } else {
            None
        }
    }

    /// The end of the page header: volume, issue, date, section of the issue.
    fn head_end(&self) -> usize {
        static RUNNING: LazyLock<Regex> = LazyLock::new(|| {
            pattern(concat!(
                r"^(?:\d{1,3}|\w+day, \w+ \d{1,2}, \d{4}|Presidential Documents|Notices|Proposed Rules|",
                r"Rules and Regulations|Title 3—|The President|Part [IVX]+|",
                // Contents of a part of the issue: "Notice of July 25, 2025—Continuation …".
                r"(?:Executive Order|Proclamation) \d+—.*|",
                r"(?:Memorandum|Notice|Order|Presidential \w+)[^—]* of \w+ \d{1,2}, \d{4}—.*)$",
            ))
        });
        self.lines.iter().position(|l| !RUNNING.is_match(l)).unwrap_or(self.lines.len())
    }

    /// The line that names a presidential document: "Executive Order 14140 of January 8, 2025".
    pub fn header(&self, presidential: bool) -> String {
        if !presidential {
            return String::new();
        }
        self.lines.get(self.head_end()).unwrap_or(&"").to_string()
    }

    /// The title: the line above the first caption; in a presidential document, the line below its
    /// name.
    pub fn title(&self, presidential: bool) -> Option<String> {
        static NOT_A_TITLE: LazyLock<Regex> = LazyLock::new(|| {
            pattern(r"(?i)^(?:\[|RIN\b|\d{4}-|\d+ CFR\b|Docket\b|.*\]$|[^a-z]{2,40}$)")
        });
        if presidential {
            return self.lines.get(self.head_end() + 1).map(|l| l.to_string());
        }
        let line = self.lines.get(self.first_caption()?.checked_sub(1)?)?;
        (!NOT_A_TITLE.is_match(line) && line.len() > 3).then(|| line.to_string())
    }

    /// The agencies above the title: departments in capitals, each followed by its office.
    pub fn agencies(&self) -> Vec<String> {
        static NUMBERS: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"(?i)^(?:\[|\d|RIN\b|Docket\b|.*\]$)"));
        // A correction has no captions: its agencies end where the numbers begin.
        let numbers = || self.lines.iter().skip(self.head_end()).position(|l| NUMBERS.is_match(l));
        let end = match self.first_caption() {
            Some(caption) => caption.saturating_sub(1),
            None => numbers().map_or(0, |n| self.head_end() + n),
        };
        let mut found: Vec<String> = Vec::new();
        let mut after_department = false;
        for line in self.lines.iter().take(end).skip(self.head_end()) {
            let department = line.chars().filter(char::is_ascii_uppercase).count() > 5
                && !line.chars().any(|c| c.is_lowercase() || c.is_ascii_digit());
            let name = super::agencies::title_case(line);
            if (department || after_department && !NUMBERS.is_match(line)) && !found.contains(&name)
            {
                found.push(name);
            }
            after_department = department;
        }
        found
    }

    /// The bracketed lines above the first caption.
    pub fn docket_line(&self) -> String {
        let end = self.first_caption().unwrap_or(0);
        self.lines[..end]
            .iter()
            .filter(|l| l.starts_with('['))
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The sections at captions and at the headings of SUPPLEMENTARY INFORMATION.
    pub fn sections(&self, presidential: bool) -> Vec<Section> {
        let mut outline = Outline::default();
        if presidential {
            let start = (self.head_end() + 2).min(self.lines.len());
            paragraphs(&self.lines[start..]).iter().for_each(|p| outline.paragraph(p));
            return outline.finish();
        }
        let start = self.first_caption().unwrap_or_else(|| self.head_end());
        let mut run: Vec<&str> = Vec::new();
        for i in start..self.lines.len() {
            let line = self.lines[i];
            let depth = if CAPTIONS.contains(&line) { Some(1) } else { self.heading_depth(i) };
            match depth {
                Some(depth) => {
                    paragraphs(&run).iter().for_each(|p| outline.paragraph(p));
                    run.clear();
                    outline.heading(depth, label(line), line.trim_end_matches(':'));
                }
                None => run.push(line),
            }
        }
        paragraphs(&run).iter().for_each(|p| outline.paragraph(p));
        outline.finish()
    }

    /// The depth of a line that is a heading: numbered, or a few words between the end of a
    /// paragraph and a long line.
    fn heading_depth(&self, i: usize) -> Option<i64> {
        static NUMBERED: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"^(?:([IVXL]+)|([A-Z])|(\d{1,2}))\. [A-Z“]"));
        let line = self.lines[i];
        let next = self.lines.get(i + 1).unwrap_or(&"");
        let words = line.split(' ').count();
        if line.len() > 120
            || words > 16
            || line.ends_with(['.', ';', ',', ':'])
            || !next.starts_with(|c: char| !c.is_lowercase() && !".,;)".contains(c))
        {
            return None;
        }
        if let Some(c) = NUMBERED.captures(line) {
            return Some(if c.get(1).is_some() {
                2
            } else if c.get(2).is_some() {
                3
            } else {
                4
            });
        }
        let previous = i.checked_sub(1).map_or("", |j| self.lines[j]);
        let after_paragraph = previous.ends_with(['.', ':', '?']) && previous.len() > 40
            || CAPTIONS.contains(&previous);
        let wordy = line.chars().filter(|c| c.is_alphabetic()).count() * 10 > line.len() * 7;
        (after_paragraph
            && wordy
            && words <= 10
            && line.starts_with(char::is_uppercase)
            && next.len() >= 60
            && line != "Federal Register")
            .then_some(2)
    }
}

/// Joins lines to paragraphs: a line continues if it ends without punctuation or the next one
/// starts without a capital.
fn paragraphs(lines: &[&str]) -> Vec<String> {
    static OPEN_SECTION: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^(?:Section|Sec\.) \d{1,3}\.(?: [A-Z][^.]{1,100}\.)?$"));
    let mut out: Vec<String> = Vec::new();
    for line in lines {
        let Some(open) = out.last_mut() else {
            out.push(line.to_string());
            continue;
        };
        let closing = line.starts_with(['.', ',', ';', ':', ')', ']', '”']);
        let ended = open.ends_with(['.', ':', ';', '?', '!', '”', '"', ')', ']']);
        let bullet = open.ends_with('•');
        if closing {
            open.push_str(line);
        } else if bullet
            || !ended
            || line.starts_with(char::is_lowercase)
            || OPEN_SECTION.is_match(open)
        {
            open.push(' ');
            open.push_str(line);
        } else {
            out.push(line.to_string());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_to_paragraphs() {
        let lines = [
            "See the",
            "Federal Register",
            ". It says:",
            "•",
            "One.",
            "Sec. 2",
            ".",
            "Scope.",
            "All of it.",
            "Next.",
        ];
        assert_eq!(
            paragraphs(&lines),
            ["See the Federal Register. It says:", "• One.", "Sec. 2. Scope. All of it.", "Next."]
        );
    }

    #[test]
    fn agencies_above_the_title() {
        let text = "DEPARTMENT OF BOATS\nFerry Office\n40 CFR Part 1\n[Docket No. 5]\n\
                    On Boats\nAGENCY:\nX";
        assert_eq!(SplitText::of(text).agencies(), ["Department of Boats", "Ferry Office"]);
    }

    #[test]
    fn a_title_is_not_a_number() {
        let title = |text: &str| SplitText::of(text).title(false);
        assert_eq!(title("RIN 2120-AA64\nAGENCY:\nX"), None);
        assert_eq!(title("On Boats\nAGENCY:\nX").as_deref(), Some("On Boats"));
        assert_eq!(title("On Boats\nno captions"), None);
    }
}
