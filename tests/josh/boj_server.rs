//! A server on this machine that answers by a script, as the Bank of Japan's API would or as
//! something between would, and remembers what it was asked.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What is sent back.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
    /// Ends the connection before all of the body is sent.
    pub is_cut: bool,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Reply {
        Reply { status, body: body.into(), is_cut: false }
    }

    pub fn cut(self) -> Reply {
        Reply { is_cut: true, ..self }
    }
}

pub struct Bank {
    pub url: String,
    /// Targets of the requests and when they came.
    asked: Arc<Mutex<Vec<(String, Instant)>>>,
}

impl Bank {
    /// Answers each request with the next reply, and all further ones with the last.
    pub fn start(script: Vec<Reply>) -> Bank {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<(String, Instant)>>> = Arc::default();
        let seen = asked.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (seen, script) = (seen.clone(), script.clone());
                std::thread::spawn(move || answer(connection, &seen, &script));
            }
        });
        Bank { url, asked }
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|(target, _)| target.clone()).collect()
    }

    /// Milliseconds between the requests.
    pub fn pauses(&self) -> Vec<u128> {
        let asked = self.asked.lock().unwrap();
        asked.windows(2).map(|pair| pair[1].1.duration_since(pair[0].1).as_millis()).collect()
    }
}

fn answer(mut connection: TcpStream, seen: &Mutex<Vec<(String, Instant)>>, script: &[Reply]) {
    let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let target = first.split(' ').nth(1).unwrap_or_default().to_string();
    let at = {
        let mut seen = seen.lock().unwrap();
        seen.push((target, Instant::now()));
        seen.len() - 1
    };
    let Some(reply) = script.get(at).or(script.last()) else { return };
    let head = format!(
        "HTTP/1.1 {} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        reply.status,
        reply.body.len()
    );
    let sent = if reply.is_cut { reply.body.len() / 2 } else { reply.body.len() };
    let _ = connection.write_all(head.as_bytes());
    let _ = connection.write_all(&reply.body[..sent]);
}
