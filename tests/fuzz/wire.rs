//! A raw HTTP client: sends bytes that no normal client would, and parses the response.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::support::Server;

/// Headers that delimit a request. A wrong one makes the server wait for more, which other tests
/// cover.
const FRAMING: [&[u8]; 4] = [b"content-length", b"transfer-encoding", b"connection", b"upgrade"];

pub struct Reply {
    pub status: u16,
    /// The body; empty if there is none.
    pub body: String,
    /// Status line and headers, in lower case.
    head: String,
}

impl Reply {
    pub fn assert_no_server_error(&self, server: &Server) {
        assert!(
            (200..500).contains(&self.status),
            "{} {}; {}",
            self.status,
            self.body,
            last_log_lines(server)
        );
    }

    /// Whether the body is missing although there should be one. A notification gets none, NDJSON
    /// may have no lines, and actix itself refuses invalid or oversized HTTP without a body.
    pub fn lacks_body(&self) -> bool {
        let is_ndjson =
            self.status == 200 && self.head.contains("content-type: application/x-ndjson");
        self.body.is_empty() && !is_ndjson && !matches!(self.status, 202 | 400 | 431)
    }

    /// The body as JSON, if that is its content type.
    pub fn json(&self) -> Option<Value> {
        let is_json = self.head.contains("content-type: application/json")
            && !self.head.contains("content-encoding: ");
        is_json.then(|| {
            serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
        })
    }
}

/// Sends a request over a new connection. Panics if the response is not HTTP.
pub fn send(server: &Server, line: &[u8], headers: &[u8], body: &[u8]) -> Reply {
    let reply = exchange(server, &request(server, line, headers, body));
    reply.unwrap_or_else(|reason| panic!("{reason}; {}", last_log_lines(server)))
}

/// The last lines of the server's log: the causes of errors are there, not in responses.
pub fn last_log_lines(server: &Server) -> String {
    let log = server.log();
    log[log.len().saturating_sub(3)..].join("\n")
}

fn request(server: &Server, line: &[u8], headers: &[u8], body: &[u8]) -> Vec<u8> {
    let host = server.url.strip_prefix("http://").unwrap();
    let mut request = line.to_vec();
    request.extend_from_slice(b" HTTP/1.1\r\nconnection: close\r\n");
    if !body.is_empty() {
        request.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
    }
    let mut has_host = false;
    for line in headers.split(|byte| *byte == b'\n') {
        let line: Vec<u8> = line.iter().copied().filter(|byte| *byte != b'\r').collect();
        let name = line
            .split(|byte| *byte == b':')
            .next()
            .unwrap_or_default()
            .trim_ascii()
            .to_ascii_lowercase();
        if !line.is_empty() && !FRAMING.contains(&&name[..]) {
            has_host |= name == b"host";
            request.extend_from_slice(&line);
            request.extend_from_slice(b"\r\n");
        }
    }
    if !has_host {
        request.extend_from_slice(format!("host: {host}\r\n").as_bytes());
    }
    request.extend_from_slice(b"\r\n");
    request.extend_from_slice(body);
    request
}

fn exchange(server: &Server, request: &[u8]) -> Result<Reply, String> {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).map_err(|e| format!("no connection: {e}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    // The server may respond and close before it has read all of a request that it refuses.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    // The interim response to `expect: 100-continue`.
    if let Some(rest) = answer.strip_prefix(b"HTTP/1.1 100 Continue\r\n\r\n") {
        answer = rest.to_vec();
    }
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or_else(|| format!("no response ({read:?}): {}", answer.escape_ascii()))?;
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let body = &answer[end + 4..];
    let body =
        if head.contains("transfer-encoding: chunked") { dechunked(body)? } else { body.to_vec() };
    let status = head.strip_prefix("http/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.ok_or_else(|| format!("no status: {head}"))?;
    Ok(Reply { status, body: String::from_utf8_lossy(&body).into_owned(), head })
}

fn dechunked(mut rest: &[u8]) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        let line =
            rest.windows(2).position(|two| two == b"\r\n").ok_or("a chunk without a length")?;
        let length = std::str::from_utf8(&rest[..line])
            .ok()
            .and_then(|text| usize::from_str_radix(text, 16).ok());
        let length = length.ok_or("a chunk with an invalid length")?;
        if length == 0 {
            return Ok(body);
        }
        body.extend_from_slice(rest.get(line + 2..line + 2 + length).ok_or("a truncated chunk")?);
        rest = rest.get(line + 4 + length..).ok_or("a chunk without an end")?;
    }
}
