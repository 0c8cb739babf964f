//! W3C trace context: the caller's trace, and our span in it.

use actix_web::http::header::HeaderMap;

/// A trace that a request belongs to: its id, its flags, and the id of our own span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub trace_id: String,
    pub span_id: String,
    flags: String,
}

impl Trace {
    /// From `traceparent`; an invalid header is ignored.
    pub fn read(headers: &HeaderMap) -> Option<Trace> {
        let given = headers.get("traceparent")?.to_str().ok()?;
        let parts: Vec<&str> = given.split('-').collect();
        let is_hex = |part: &str, length: usize| {
            part.len() == length
                && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        let is_set = |part: &str| part.bytes().any(|b| b != b'0');
        match parts.as_slice() {
            // Later versions may have more parts; version ff is invalid.
            [version, trace, parent, flags, rest @ ..]
                if is_hex(version, 2)
                    && *version != "ff"
                    && (rest.is_empty() || *version != "00")
                    && is_hex(trace, 32)
                    && is_set(trace)
                    && is_hex(parent, 16)
                    && is_set(parent)
                    && is_hex(flags, 2) =>
            {
                Some(Trace {
                    trace_id: trace.to_string(),
                    span_id: new_span_id()?,
                    flags: flags.to_string(),
                })
            }
            _ => None,
        }
    }

    /// `traceparent` with our span as the parent.
    pub fn header(&self) -> String {
        format!("00-{}-{}-{}", self.trace_id, self.span_id, self.flags)
    }
}

/// Eight random bytes, which must not all be zero.
fn new_span_id() -> Option<String> {
    let id = getrandom::u64().ok()?.max(1);
    Some(hex::encode(id.to_be_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn a_valid_trace_is_continued_and_anything_else_is_ignored() {
        let read = |text: &str| {
            Trace::read(
                TestRequest::default()
                    .insert_header(("traceparent", text))
                    .to_http_request()
                    .headers(),
            )
        };
        let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let trace = read(given).unwrap();
        assert!(
            trace.header().starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-")
                && trace.header().ends_with("-01")
        );
        assert!(trace.span_id.len() == 16 && trace.span_id != "00f067aa0ba902b7");
        assert_ne!(read(given).unwrap().span_id, trace.span_id);
        for bad in [
            "",
            "00",
            &given.to_uppercase(),
            &given.replace("00f067aa0ba902b7", "0000000000000000"),
            &format!("{given}-more"),
            &given.replace("00-4", "ff-4"),
            &given.replace('4', "x"),
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
