//! Decodes bytes to text. Most official files are UTF-8; older ones are Windows-1252 (which
//! includes Latin-1), some mix both, a few are UTF-16. Bytes without a meaning become U+FFFD.

use std::borrow::Cow;

/// Windows-1252 for the bytes 0x80 to 0x9f; all others are the same as in Latin-1.
const HIGH: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž',
    '\u{fffd}', '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}',
    'ž', 'Ÿ',
];

/// How many bytes are searched for an encoding declaration.
const DECLARATION_BYTES: usize = 1024;

/// Decodes a whole file. Valid UTF-8 is read as UTF-8 whatever the file declares: wrong
/// declarations occur, while Latin-1 text that happens to be valid UTF-8 practically does not.
pub fn decode(bytes: Vec<u8>) -> String {
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => return decode_utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return decode_utf16(rest, u16::from_be_bytes),
        _ => {}
    }
    let bytes = match without_bom(&bytes).len() < bytes.len() {
        true => bytes[3..].to_vec(),
        false => bytes,
    };
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let bytes = error.into_bytes();
            if declares_windows_1252(&bytes) {
                bytes.iter().copied().map(windows_1252).collect()
            } else {
                decode_mixed(&bytes)
            }
        }
    }
}

/// Decodes a part of a file, such as a line, without looking for a declaration.
pub fn decode_part(bytes: Cow<[u8]>) -> String {
    String::from_utf8(bytes.into_owned()).unwrap_or_else(|error| decode_mixed(error.as_bytes()))
}

/// Strips a UTF-8 byte order mark.
pub fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Keeps valid UTF-8 and reads the bytes between as Windows-1252.
fn decode_mixed(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().copied().map(windows_1252));
    }
    out
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

fn decode_utf16(bytes: &[u8], from_bytes: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| from_bytes([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Whether an XML declaration or an HTML `charset` near the top names Windows-1252 or Latin-1.
fn declares_windows_1252(bytes: &[u8]) -> bool {
    let top =
        String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES)]).to_ascii_lowercase();
    let named = top.split_once("encoding=").or_else(|| top.split_once("charset="));
    let name = named.map_or("", |(_, after)| after.trim_start_matches(['"', '\'']));
    ["windows-1252", "cp1252", "iso-8859-1", "latin1", "us-ascii"]
        .iter()
        .any(|known| name.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_supported_encodings_are_decoded() {
        let declared =
            |name: &str| format!("<?xml version=\"1.0\" encoding=\"{name}\"?><a>").into_bytes();
        let with = |mut head: Vec<u8>, tail: &[u8]| {
            head.extend_from_slice(tail);
            decode(head)
        };
        assert!(with(declared("ISO-8859-1"), b"Jos\xe9 \x93x\x94").ends_with("José “x”"));
        // Declared or not, valid UTF-8 is UTF-8; mojibake that is valid stays as it is.
        assert!(with(declared("ISO-8859-1"), "José".as_bytes()).ends_with("José"));
        assert_eq!(decode("JosÃ©".into()), "JosÃ©");
        // A stray byte does not affect the characters around it.
        assert_eq!(decode(b"Mu\xc3\xb1oz \x96 Jos\xe9".to_vec()), "Muñoz – José");
        assert_eq!(decode(b"\xef\xbb\xbfa".to_vec()), "a");
        assert_eq!(decode(b"\xff\xfea\0\xe9\0".to_vec()), "aé");
        assert_eq!(decode(b"\xfe\xff\0a\0\xe9".to_vec()), "aé");
    }
}
