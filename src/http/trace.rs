//! Trace context (W3C): what a caller's trace is called, and our part in it.

use std::sync::atomic::{AtomicU64, Ordering};

use actix_web::http::header::HeaderMap;

/// A trace that we take part in: its id, the flags it came with, and the id of our own span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub trace_id: String,
    pub span_id: String,
    flags: String,
}

impl Trace {
    /// From `traceparent`; what is not one is as good as none.
    pub fn read(headers: &HeaderMap) -> Option<Trace> {
        let given = headers.get("traceparent")?.to_str().ok()?;
        let parts: Vec<&str> = given.split('-').collect();
        let is_hex = |part: &str, length: usize| {
            part.len() == length && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        let is_set = |part: &str| part.bytes().any(|b| b != b'0');
        match parts.as_slice() {
            // Later versions may have more parts; version ff is none.
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
                Some(Trace { trace_id: trace.to_string(), span_id: new_span_id(), flags: flags.to_string() })
            }
            _ => None,
        }
    }

    /// Our span, as the next one down the line gets it.
    pub fn header(&self) -> String {
        format!("00-{}-{}-{}", self.trace_id, self.span_id, self.flags)
    }
}

/// Unlikely to be anyone else's, which is all that is asked of it.
fn new_span_id() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
    format!("{:016x}", hasher.finish().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn a_trace_is_carried_on_and_anything_else_is_not() {
        let read = |text: &str| {
            Trace::read(TestRequest::default().insert_header(("traceparent", text)).to_http_request().headers())
        };
        let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let trace = read(given).unwrap();
        assert!(trace.header().starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && trace.header().ends_with("-01"));
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
