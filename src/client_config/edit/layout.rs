//! How a text is laid out: its line ends, its indentation, and where an item goes in a list that
//! stands in brackets. JSON objects and arrays, inline tables of TOML and flow mappings of YAML are
//! all such lists.

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::Splice;

/// The line end that a text uses.
pub fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The white space at the beginning of the line on which `at` stands.
pub fn indent_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// One step of indentation: that of the first indented line, or two spaces.
pub fn unit(text: &str) -> &str {
    let mut lines = text.lines().filter(|line| line.trim_start().starts_with(['"', '\'']));
    let indents = lines.by_ref().map(|line| &line[..line.len() - line.trim_start().len()]);
    indents.into_iter().find(|indent| !indent.is_empty()).unwrap_or("  ")
}

/// A value as JSON over several lines, which begin with `indent` but for the first.
pub fn pretty(value: &Value, unit: &str, indent: &str, newline: &str) -> String {
    let mut out = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    // Writing to a vector does not fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut out, formatter));
    String::from_utf8_lossy(&out).replace('\n', &format!("{newline}{indent}"))
}

/// Items between two brackets, in order, each with its bytes; `from` and `to` are the insides of
/// the brackets.
pub struct Items<'a> {
    pub text: &'a str,
    pub from: usize,
    pub to: usize,
    pub items: Vec<(usize, usize)>,
    /// How a comment to the end of the line begins, if there are any.
    pub line_comment: &'static str,
}

impl Items<'_> {
    /// Whether items stand on lines of their own. An empty list goes by its document.
    pub fn is_multi_line(&self) -> bool {
        match self.items.first() {
            Some((start, _)) => self.text[self.from..*start].contains('\n'),
            None => true,
        }
    }

    /// Adds an item at the end; `render` writes it for an indentation.
    pub fn insert(&self, unit: &str, render: impl Fn(Option<&str>) -> String) -> Splice {
        let text = self.text;
        let newline = newline(text);
        let Some((start, end)) = self.items.last().copied() else {
            let outer = indent_at(text, self.from);
            let inner = format!("{outer}{unit}");
            let at = self.end_of_line(self.from);
            let is_open = text[at..self.to].contains('\n');
            let close = if is_open { String::new() } else { format!("{newline}{outer}") };
            let item = render(Some(&inner));
            return Splice { from: at, to: at, text: format!("{newline}{inner}{item}{close}") };
        };
        let comma = self.comma(end);
        if !self.is_multi_line() {
            let at = comma.map_or(end, |comma| comma + 1);
            let before = if comma.is_some() { " " } else { ", " };
            return Splice { from: at, to: at, text: format!("{before}{}", render(None)) };
        }
        let indent = indent_at(text, start);
        let item = render(Some(indent));
        match comma {
            // The style of the file: every item ends with a comma.
            Some(comma) => {
                let at = self.end_of_line(comma + 1);
                Splice { from: at, to: at, text: format!("{newline}{indent}{item},") }
            }
            None => {
                let at = self.end_of_line(end);
                let kept = &text[end..at];
                Splice { from: end, to: at, text: format!(",{kept}{newline}{indent}{item}") }
            }
        }
    }

    /// Adds an item at the end of a list that stands on one line, if it is empty.
    pub fn insert_inline(&self, item: &str) -> Splice {
        if !self.items.is_empty() {
            return self.insert("", |_| item.to_string());
        }
        Splice { from: self.from, to: self.from, text: format!(" {item} ") }
    }

    /// Takes an item out, with the comma and the line that it needed.
    pub fn remove(&self, number: usize) -> Splice {
        let text = self.text;
        let (start, end) = self.items[number];
        let before = text[self.from..start].trim_end().len() + self.from;
        if let Some(comma) = self.comma(end) {
            return Splice { from: before, to: comma + 1, text: String::new() };
        }
        match number.checked_sub(1).map(|previous| self.items[previous].1) {
            // The last of several: the comma behind the one before goes, too.
            Some(previous) => {
                let comma = self.comma(previous).unwrap_or(previous);
                let kept = [&text[previous..comma], &text[(comma + 1).min(before)..before]];
                Splice { from: previous, to: end, text: kept.concat() }
            }
            None => {
                let rest = &text[end..self.to];
                let is_alone = before == self.from && rest.trim().is_empty();
                let to = if is_alone { self.to } else { end };
                Splice { from: before, to, text: String::new() }
            }
        }
    }

    /// The comma after an item, past white space and comments.
    fn comma(&self, end: usize) -> Option<usize> {
        let at = self.past(end, true);
        self.text[at..self.to].starts_with(',').then_some(at)
    }

    /// The end of the line, if only white space and comments are before it; otherwise `at`.
    fn end_of_line(&self, at: usize) -> usize {
        let end = self.past(at, false);
        match self.text[end..self.to].starts_with(['\n', '\r']) {
            true => self.text[at..end].trim_end().len() + at,
            false => at,
        }
    }

    /// Behind white space and comments, over lines or within one.
    fn past(&self, mut at: usize, over_lines: bool) -> usize {
        loop {
            let Some(rest) = self.text.get(at..self.to) else { return at };
            let is_line_comment =
                !self.line_comment.is_empty() && rest.starts_with(self.line_comment);
            let is_line_end = rest.starts_with(['\n', '\r']);
            let step = if rest.starts_with([' ', '\t']) || (over_lines && is_line_end) {
                1
            } else if is_line_comment {
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return at;
            };
            at += step;
        }
    }
}
