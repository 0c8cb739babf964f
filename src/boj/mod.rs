//! The Bank of Japan's API for time series, as its manual documents it: questions and their checks,
//! answers, both formats on the wire, and a client. Must not know where answers are shown.

pub mod answer;
pub mod catalog;
mod csv;
mod json;
pub mod live;
pub mod question;

pub use answer::{Answer, Failure, FailureKind, Row};
pub use live::{BANK, Live, LiveOptions};
pub use question::{Endpoint, Format, Lang, Question, Window};

use std::borrow::Cow;

/// Reads a body in either format. An error is JSON whatever was asked for.
pub fn decode(body: &[u8], format: Format, lang: Lang) -> Result<Answer, Failure> {
    let starts_object = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if format == Format::Json || starts_object {
        return json::read(&utf8(body));
    }
    let text = match (std::str::from_utf8(body), lang) {
        (Err(_), Lang::Jp) => encoding_rs::SHIFT_JIS.decode(body).0,
        _ => utf8(body),
    };
    csv::read(text.trim_start_matches('\u{feff}'))
}

fn utf8(body: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body))
}

/// Writes an answer as the Bank would, as text.
pub fn encode(answer: &Answer, question: &Question) -> String {
    match question.format {
        Format::Json => json::write(answer, question),
        Format::Csv => csv::write(answer, question),
    }
}
