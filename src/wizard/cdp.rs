//! The Chrome DevTools Protocol over a pipe: JSON messages, each ended by a NUL byte. No port is
//! opened, so nobody else can reach the browser. Messages stay JSON values: what is not known is
//! ignored, and a newer Chromium that says more breaks nothing.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};

/// A screenshot of a large page has a few megabytes.
const LARGEST_MESSAGE: usize = 64 << 20;
/// Messages that may wait to be read.
const MOST_WAITING: usize = 10_000;

/// Why nothing came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Not within this time.
    NotYet,
    /// The browser has ended.
    Closed,
}

/// A connection to one browser.
pub struct Connection {
    commands: File,
    messages: Receiver<Value>,
    last_id: u64,
    /// Where everything that is said is written down, for whoever looks into a failure.
    trace: Option<File>,
}

impl Connection {
    /// Over the browser's ends of two pipes: what it reads, and what it writes.
    pub fn new(commands: File, answers: File) -> Connection {
        let (sender, messages) = sync_channel(MOST_WAITING);
        // Ends when the browser closes its end, or nobody listens any more.
        std::thread::spawn(move || {
            let mut reader = BufReader::with_capacity(1 << 16, answers);
            while let Some(message) = read(&mut reader) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Connection { commands, messages, last_id: 0, trace: None }
    }

    /// Writes down everything from now on, one message a line.
    pub fn write_down(&mut self, trace: File) {
        self.trace = Some(trace);
    }

    fn note(&self, direction: &str, message: &Value) {
        if let Some(mut trace) = self.trace.as_ref() {
            // A disk that is full ends the trace, not the run.
            let _ = writeln!(trace, "{}", json!({ direction: message }));
        }
    }

    /// Sends a command and gives its number. A session is a page; without one it is for the
    /// browser.
    pub fn send(&mut self, session: Option<&str>, method: &str, params: Value) -> Option<u64> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        self.note("sent", &message);
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).ok()?;
        Some(self.last_id)
    }

    /// The next message.
    pub fn receive(&self, patience: Duration) -> Result<Value, Silence> {
        let received = self.messages.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => Silence::NotYet,
            RecvTimeoutError::Disconnected => Silence::Closed,
        });
        received.inspect(|message| self.note("received", message))
    }
}

/// One message; nothing at the end of the pipe, or when what comes is no message.
fn read(reader: &mut impl BufRead) -> Option<Value> {
    let mut bytes = Vec::new();
    loop {
        let available = reader.fill_buf().ok().filter(|available| !available.is_empty())?;
        let end = available.iter().position(|byte| *byte == 0);
        bytes.extend_from_slice(&available[..end.unwrap_or(available.len())]);
        let taken = end.map_or(available.len(), |end| end + 1);
        reader.consume(taken);
        if end.is_some() {
            return serde_json::from_slice(&bytes).ok();
        }
        if bytes.len() > LARGEST_MESSAGE {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_end_at_a_nul_byte_wherever_reads_end() {
        let bytes = b"{\"id\":1}\0{\"method\":\"x\"}\0{\"id\"".to_vec();
        for size in 1..12 {
            let mut reader = BufReader::with_capacity(size, &bytes[..]);
            assert_eq!(read(&mut reader), Some(json!({ "id": 1 })));
            assert_eq!(read(&mut reader), Some(json!({ "method": "x" })));
            assert_eq!(read(&mut reader), None);
        }
        assert_eq!(read(&mut BufReader::new(&b"nonsense\0{}\0"[..])), None);
    }
}
