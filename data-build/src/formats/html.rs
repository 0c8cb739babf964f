//! Converts HTML fragments (CRS summaries, notes) to plain text: one line per paragraph, character
//! references decoded.

/// Tags that end a line.
const BLOCKS: [&str; 16] = [
    "p",
    "br",
    "li",
    "div",
    "tr",
    "ul",
    "ol",
    "table",
    "pre",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
];

/// The text of a fragment. A `<` that doesn't start a tag is text ("revenue < cost").
pub fn to_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        if let Some(end) = invisible_length(after) {
            rest = &after[end..];
            continue;
        }
        let opens = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        match after.find('>').filter(|_| opens) {
            Some(end) => {
                if BLOCKS.contains(&tag_name(&after[..end]).as_str()) {
                    out.push('\n');
                }
                rest = &after[end + 1..];
            }
            None => {
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    collapse_lines(&decode_references(&out))
}

/// The length of a comment, script or style element whose `<` was just read.
fn invisible_length(after: &str) -> Option<usize> {
    if after.starts_with("!--") {
        return after.find("-->").map(|at| at + 3);
    }
    let name = ["script", "style"].into_iter().find(|name| {
        after.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && !after[name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
    })?;
    let end = after.to_ascii_lowercase().find(&format!("</{name}"))?;
    after[end..].find('>').map(|at| end + at + 1)
}

fn tag_name(tag: &str) -> String {
    tag.trim_start_matches('/')
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase()
}

fn collapse_lines(text: &str) -> String {
    let lines = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Decodes character references; unknown ones are kept.
pub fn decode_references(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let end = after.bytes().take(10).position(|b| b == b';');
        match end.and_then(|end| Some((character(&after[..end])?, end))) {
            Some((c, end)) => {
                out.push(c);
                rest = &after[end + 1..];
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

fn character(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "mdash" => '—',
        "ndash" => '–',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "sect" => '§',
        "bull" => '•',
        "hellip" => '…',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_become_lines() {
        assert_eq!(
            to_text("<p><strong>An  Act</strong></p> <p>This bill&nbsp;pays.</p>"),
            "An Act\nThis bill pays."
        );
        assert_eq!(to_text("<ul><li>one</li><li>two &amp; three</li></ul>"), "one\ntwo & three");
    }

    #[test]
    fn text_that_resembles_a_tag_is_kept() {
        assert_eq!(to_text("a < b & c &unknown; &#8212;"), "a < b & c &unknown; —");
        assert_eq!(to_text("broken <b"), "broken <b");
        assert_eq!(
            to_text("a<!-- b > c -->d<style>p > i {}</style><script>if (a<b) {}</script> e"),
            "ad e"
        );
    }
}
