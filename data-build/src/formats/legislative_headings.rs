//! The numbers and headings of divisions, titles and sections in bills and laws. USLM has their
//! full text; the older DTD has only numbers and names, to which its stylesheet adds words.

use roxmltree::Node;

use super::legislative_lines::{LEVELS, inline};
use super::xml;

/// "1" for SECTION 1: from USLM's attribute, or the number without its period.
pub fn section_label(node: Node<'_, '_>) -> String {
    let number = xml::child(node, "num").or_else(|| xml::child(node, "enum"));
    let Some(number) = number else { return String::new() };
    let value = number.attribute("value").map(str::to_string);
    let label =
        value.unwrap_or_else(|| inline(number).rsplit(' ').next().unwrap_or_default().to_string());
    label.trim_matches([' ', '.', '—', '§']).to_string()
}

/// "Title I", "Subtitle A".
pub fn level_label(node: Node<'_, '_>) -> String {
    let name = node.tag_name().name();
    let number = section_label(node);
    if number.is_empty() || name == "level" {
        return String::new();
    }
    let (first, rest) = name.split_at(1);
    format!("{}{rest} {number}", first.to_ascii_uppercase())
}

/// "TITLE I—GENERAL", "SEC. 101. SHORT TITLE.". Appropriations have the heading first.
pub fn heading_text(node: Node<'_, '_>) -> String {
    let heading = xml::child(node, "heading").or_else(|| xml::child(node, "header"));
    let number = xml::child(node, "num");
    let heading_first = heading
        .zip(number)
        .is_some_and(|(heading, number)| heading.next_siblings().any(|n| n == number));
    let heading = heading.map(inline).unwrap_or_default();
    let (number, dash) = match xml::child(node, "enum") {
        Some(number) => with_level_name(node, &inline(number)),
        None => (number.map(inline).unwrap_or_default(), ""),
    };
    match (number.is_empty(), heading.is_empty()) {
        (false, false) if heading_first => format!("{heading} {number}"),
        (false, false) if !dash.is_empty() || number.ends_with('—') => {
            format!("{number}{dash}{heading}")
        }
        (false, false) => format!("{number} {heading}"),
        (_, true) => number,
        (true, false) => heading,
    }
}

/// Adds what the older DTD does not contain: the word before a number, and what separates it from
/// the heading. In the United States Code, which some bills quote, the word is a sign.
fn with_level_name(node: Node<'_, '_>, number: &str) -> (String, &'static str) {
    let name = node.tag_name().name();
    let quoted = node.ancestors().find(|a| a.tag_name().name() == "quoted-block");
    let number = number.trim_end_matches('.');
    match (name, quoted.map(|q| q.attribute("style"))) {
        _ if number.is_empty() => (String::new(), ""),
        ("section" | "undesignated-section", Some(Some("USC"))) => (format!("§ {number}."), ""),
        ("section" | "undesignated-section", None) if number == "1" => ("SECTION 1.".into(), ""),
        ("section" | "undesignated-section", _) => (format!("SEC. {number}."), ""),
        (level, _) if LEVELS.contains(&level) && level != "level" => {
            (format!("{} {number}", level.to_ascii_uppercase()), "—")
        }
        _ => (number.to_string(), ""),
    }
}
