//! Splits Markdown into sections at its headings.

use crate::record::Section;

/// The sections at `#` headings, each with the headings above it.
pub fn sections(text: &str) -> Vec<Section> {
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut out = vec![Section::default()];
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let depth = line.bytes().take_while(|b| *b == b'#').count();
        if !fenced && (1..=6).contains(&depth) && line.as_bytes().get(depth) == Some(&b' ') {
            let title = line[depth..].trim().trim_matches(['#', '*', ' ']).to_string();
            path.retain(|(d, _)| *d < depth);
            path.push((depth, title.clone()));
            let heading = path.iter().map(|(_, t)| t.as_str()).collect::<Vec<_>>().join(" > ");
            out.push(Section {
                section: label(&title),
                heading,
                level: path.len() as i64,
                text: String::new(),
            });
        } else if let Some(current) = out.last_mut() {
            current.text.push_str(line);
            current.text.push('\n');
        }
    }
    for section in &mut out {
        section.text = section.text.trim().to_string();
    }
    out.retain(|s| !s.text.is_empty() || !s.heading.is_empty());
    out
}

/// The number at the start of a heading ("Sec. 2.", "II.", "3.1"), by which a section is cited.
fn label(title: &str) -> String {
    let mut words = title.split_whitespace();
    let first = words.next().unwrap_or_default();
    let word = match first.trim_end_matches('.').to_ascii_lowercase().as_str() {
        "sec" | "section" => words.next().unwrap_or_default(),
        _ => first,
    };
    let word = word.trim_end_matches(['.', ':', ')']);
    let is_label = !word.is_empty()
        && (word.chars().all(|c| c.is_ascii_digit() || c == '.')
            || (word.len() < first.len() && word.chars().all(|c| "IVXLC".contains(c))));
    if is_label { word.to_string() } else { String::new() }
}
