//! Bytes to text. Official files are UTF-8, but for older ones in Windows-1252 (which covers Latin-1), some that mix
//! both, and a few in UTF-16. Nothing is lost: a byte that no encoding explains becomes U+FFFD.

use std::borrow::Cow;

/// Characters of the bytes 0x80 to 0x9f in Windows-1252; all others are those of Latin-1.
const HIGH: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž', '\u{fffd}', '\u{fffd}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}', 'ž', 'Ÿ',
];

/// How far into a file a declaration is looked for.
const DECLARED_WITHIN: usize = 1024;

/// The text of a whole file. What is valid UTF-8 is taken for it, even where the file declares another: in real text of
/// Latin-1 no run of accented letters happens to be UTF-8, while wrong declarations happen.
pub fn text(bytes: Vec<u8>) -> String {
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => return utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return utf16(rest, u16::from_be_bytes),
        _ => {}
    }
    let bytes = match without_mark(&bytes).len() < bytes.len() {
        true => bytes[3..].to_vec(),
        false => bytes,
    };
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let bytes = error.into_bytes();
            if declares_latin(&bytes) { bytes.iter().copied().map(latin).collect() } else { mended(&bytes) }
        }
    }
}

/// The text of a part of a file, where no declaration can be seen.
pub fn repaired(bytes: Cow<[u8]>) -> String {
    String::from_utf8(bytes.into_owned()).unwrap_or_else(|error| mended(error.as_bytes()))
}

/// Bytes without a byte order mark in front.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// What is UTF-8 stays; the bytes between are read as Windows-1252.
fn mended(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().copied().map(latin));
    }
    out
}

fn latin(byte: u8) -> char {
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

fn utf16(bytes: &[u8], number: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| number([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Whether an XML declaration or an HTML `charset` near the top names Windows-1252 or Latin-1.
fn declares_latin(bytes: &[u8]) -> bool {
    let top = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED_WITHIN)]).to_ascii_lowercase();
    let named = top.split_once("encoding=").or_else(|| top.split_once("charset="));
    let name = named.map_or("", |(_, after)| after.trim_start_matches(['"', '\'']));
    ["windows-1252", "cp1252", "iso-8859-1", "latin1", "us-ascii"].iter().any(|known| name.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_gives_its_text() {
        let declared = |name: &str| format!("<?xml version=\"1.0\" encoding=\"{name}\"?><a>").into_bytes();
        let with = |mut head: Vec<u8>, tail: &[u8]| {
            head.extend_from_slice(tail);
            text(head)
        };
        assert!(with(declared("ISO-8859-1"), b"Jos\xe9 \x93x\x94").ends_with("José “x”"));
        // Declared or not, valid UTF-8 is UTF-8; mojibake that is valid stays as it is.
        assert!(with(declared("ISO-8859-1"), "José".as_bytes()).ends_with("José"));
        assert_eq!(text("JosÃ©".into()), "JosÃ©");
        // One stray byte spoils nothing around it.
        assert_eq!(text(b"Mu\xc3\xb1oz \x96 Jos\xe9".to_vec()), "Muñoz – José");
        assert_eq!(text(b"\xef\xbb\xbfa".to_vec()), "a");
        assert_eq!(text(b"\xff\xfea\0\xe9\0".to_vec()), "aé");
        assert_eq!(text(b"\xfe\xff\0a\0\xe9".to_vec()), "aé");
    }
}
