//! HTTP as bytes: sends what no client would, and takes the answer apart.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::support::Server;

/// These frame a request; a wrong one makes the server wait for more, which other tests do.
const FRAMING: [&[u8]; 4] = [b"content-length", b"transfer-encoding", b"connection", b"upgrade"];

pub struct Reply {
    pub status: u16,
    /// The body; empty if there is none.
    pub said: String,
    /// Status line and headers, in lower case.
    head: String,
}

impl Reply {
    pub fn must_be_no_fault_of(&self, server: &Server) {
        assert!((200..500).contains(&self.status), "{} {}; {}", self.status, self.said, last_words(server));
    }

    /// Whether there is nothing to read although there should be. A notification is taken without a word, a list of lines may have
    /// none, and what is no HTTP, or too much of it, is refused by actix before it is anybody's request.
    pub fn is_mute(&self) -> bool {
        let is_lines = self.status == 200 && self.head.contains("content-type: application/x-ndjson");
        self.said.is_empty() && !is_lines && !matches!(self.status, 202 | 400 | 431)
    }

    /// The body as JSON, if it says that it is.
    pub fn json(&self) -> Option<Value> {
        let is_json = self.head.contains("content-type: application/json") && !self.head.contains("content-encoding: ");
        is_json.then(|| serde_json::from_str(&self.said).unwrap_or_else(|e| panic!("{e}: {}", self.said)))
    }
}

/// Sends a request over a connection of its own. What comes back must be HTTP.
pub fn send(server: &Server, line: &[u8], headers: &[u8], body: &[u8]) -> Reply {
    let reply = exchange(server, &request(server, line, headers, body));
    reply.unwrap_or_else(|reason| panic!("{reason}; {}", last_words(server)))
}

/// What the server logged last: causes are there and not in answers.
pub fn last_words(server: &Server) -> String {
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
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
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
    // The server may answer and close before it has read all of a request that it refuses.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    // What answers `expect: 100-continue` comes before the answer.
    if let Some(rest) = answer.strip_prefix(b"HTTP/1.1 100 Continue\r\n\r\n") {
        answer = rest.to_vec();
    }
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or_else(|| format!("no answer ({read:?}): {}", answer.escape_ascii()))?;
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let body = &answer[end + 4..];
    let body = if head.contains("transfer-encoding: chunked") { dechunked(body)? } else { body.to_vec() };
    let status = head.strip_prefix("http/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.ok_or_else(|| format!("no status: {head}"))?;
    Ok(Reply { status, said: String::from_utf8_lossy(&body).into_owned(), head })
}

fn dechunked(mut rest: &[u8]) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n").ok_or("a chunk without its length")?;
        let length = std::str::from_utf8(&rest[..line]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let length = length.ok_or("a length that is none")?;
        if length == 0 {
            return Ok(body);
        }
        body.extend_from_slice(rest.get(line + 2..line + 2 + length).ok_or("a chunk cut short")?);
        rest = rest.get(line + 4 + length..).ok_or("a chunk without end")?;
    }
}
