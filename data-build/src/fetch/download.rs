//! One file from its address to its place: asked for only if it changed, gone on with where it broke off, checked, and
//! renamed into place when it is whole. Until then it lies beside its place under a hidden name that `build` passes
//! over.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use base64::Engine;
use sha2::{Digest, Sha256};

use super::calendar::Day;
use super::client::{Answer, Client, NotThere, Trouble};
use super::listing::{Kind, Wanted};
use super::state::{Entry, State, Version};
use super::{items, publishers::Part};

/// No publisher's file is larger; more than this is a mistake, and would fill the disk.
const LARGEST_FILE: u64 = 4 << 30;
/// Larger files are asked for uncompressed, because only these can be gone on with.
const LARGE: u64 = 8 << 20;

/// What a run works with.
pub struct Workshop<'a> {
    pub client: &'a Client,
    pub state: &'a State,
    pub folder: &'a Path,
    pub today: Day,
    /// Bytes that came in, for the display.
    pub bytes: AtomicU64,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    New,
    Changed,
    Unchanged,
    /// Not published yet.
    NotYet,
}

impl Workshop<'_> {
    /// Gets what is wanted into its place.
    pub fn get(&self, wanted: &Wanted) -> Result<Outcome> {
        let got = match wanted.kind {
            Kind::File => self.file(wanted),
            Kind::Item(parts) => self.item(wanted, parts),
        };
        match got {
            Err(error) if wanted.may_lack && error.is::<NotThere>() => Ok(Outcome::NotYet),
            got => got,
        }
    }

    fn file(&self, wanted: &Wanted) -> Result<Outcome> {
        let known = self.state.get(&wanted.path).filter(|entry| entry.url == wanted.url);
        let mut part = Partial::open(self, wanted)?;
        let done = self.client.persist(&wanted.url, |attempt| part.attempt(self, wanted, known.as_ref(), attempt));
        match done {
            Ok(Some(version)) => {
                let entry = self.entry(wanted, part.sha256(), part.length, version);
                part.settle()?;
                self.settled(wanted, known, entry)
            }
            Ok(None) => {
                let entry = known.context("the server says that nothing changed, but there is no file")?;
                self.state.got(&wanted.path, Entry { stamp: wanted.stamp.clone(), ..entry })?;
                Ok(Outcome::Unchanged)
            }
            Err(error) => {
                part.leave(self.state, &wanted.path)?;
                Err(error)
            }
        }
    }

    /// An answer of an API with what it only links to.
    fn item(&self, wanted: &Wanted, parts: &[Part]) -> Result<Outcome> {
        let mut value = self.client.json(&wanted.url)?;
        items::complete(self.client, &wanted.url, &mut value, parts)?;
        self.store(wanted, &serde_json::to_vec(&value)?)
    }

    /// Puts bytes that are held in memory into their place.
    pub fn store(&self, wanted: &Wanted, bytes: &[u8]) -> Result<Outcome> {
        let known = self.state.get(&wanted.path);
        let (place, hidden) = places(self.folder, &wanted.path)?;
        std::fs::write(&hidden, bytes).with_context(|| format!("cannot write {}", hidden.display()))?;
        std::fs::rename(&hidden, &place).with_context(|| format!("cannot write {}", place.display()))?;
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let entry = self.entry(wanted, hex(&Sha256::digest(bytes)), bytes.len() as u64, Version::default());
        self.settled(wanted, known, entry)
    }

    fn entry(&self, wanted: &Wanted, sha256: String, bytes: u64, version: Version) -> Entry {
        let (url, fetched, stamp) = (wanted.url.clone(), self.today.to_string(), wanted.stamp.clone());
        Entry { url, sha256, bytes, fetched, stamp, version }
    }

    fn settled(&self, wanted: &Wanted, known: Option<Entry>, entry: Entry) -> Result<Outcome> {
        let outcome = match known {
            None => Outcome::New,
            Some(before) if before.sha256 == entry.sha256 => Outcome::Unchanged,
            Some(_) => Outcome::Changed,
        };
        self.state.got(&wanted.path, entry)?;
        Ok(outcome)
    }
}

/// A file's place and, beside it, where it lies until it is whole.
fn places(folder: &Path, path: &str) -> Result<(PathBuf, PathBuf)> {
    let place = folder.join(path);
    let above = place.parent().context("a file without a folder")?;
    std::fs::create_dir_all(above).with_context(|| format!("cannot make {}", above.display()))?;
    let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let hidden = above.join(format!(".{name}.part"));
    Ok((place, hidden))
}

/// What is there of a file so far.
struct Partial {
    place: PathBuf,
    hidden: PathBuf,
    length: u64,
    /// How far any try came: a server that begins anew each time and breaks off brings nothing nearer.
    furthest: u64,
    hash: Sha256,
    /// The version that the part is of; without one it can't be gone on with.
    version: Option<Version>,
}

impl Partial {
    fn open(shop: &Workshop, wanted: &Wanted) -> Result<Partial> {
        let (place, hidden) = places(shop.folder, &wanted.path)?;
        let mut part = Partial { place, hidden, length: 0, furthest: 0, hash: Sha256::new(), version: None };
        part.version = shop.state.part(&wanted.path).filter(|v| v.validator().is_some());
        if part.version.is_some()
            && let Ok(mut file) = File::open(&part.hidden)
        {
            part.length = std::io::copy(&mut file, &mut HashWriter(&mut part.hash))?;
        }
        part.furthest = part.length;
        if part.length == 0 {
            part.forget();
        }
        Ok(part)
    }

    fn forget(&mut self) {
        (self.length, self.hash, self.version) = (0, Sha256::new(), None);
        let _ = std::fs::remove_file(&self.hidden);
    }

    /// One request. Gives the version of the whole file, or nothing when the file in place is the newest.
    fn attempt(
        &mut self,
        shop: &Workshop,
        wanted: &Wanted,
        known: Option<&Entry>,
        attempt: u32,
    ) -> Result<Option<Version>, Trouble> {
        let mut answer = shop.client.ask(&wanted.url, &self.headers(wanted, known, attempt))?;
        let length = self.length;
        match answer.status().as_u16() {
            304 if known.is_some() && length == 0 => return Ok(None),
            206 if begins_at(&answer, length) => {}
            200 => {
                self.forget();
                self.version = resumable(&answer);
                // Only after a kill is this note needed; small files are not worth a line each.
                let size = whole_length(&answer).unwrap_or(wanted.size);
                if let Some(version) = self.version.clone().filter(|_| size >= LARGE) {
                    shop.state.keep_part(&wanted.path, version).map_err(|e| Trouble::Final(format!("{e:#}")))?;
                }
            }
            status => {
                self.forget();
                return Err(Trouble::passing(format!("the answer {status} does not fit the part that is here")));
            }
        }
        self.receive(&mut answer, &shop.bytes)?;
        self.check(&answer, wanted).inspect_err(|_| self.forget())?;
        Ok(Some(version(&answer)))
    }

    fn headers(&self, wanted: &Wanted, known: Option<&Entry>, attempt: u32) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if let Some(validator) = self.version.as_ref().and_then(Version::validator).filter(|_| self.length > 0) {
            headers.push(("Range", format!("bytes={}-", self.length)));
            headers.push(("If-Range", validator.to_string()));
        } else if let Some(entry) = known {
            headers.extend(entry.version.etag.clone().map(|tag| ("If-None-Match", tag)));
            headers.extend(entry.version.modified.clone().map(|day| ("If-Modified-Since", day)));
        }
        if self.length > 0 || attempt > 0 || wanted.size >= LARGE {
            headers.push(("Accept-Encoding", "identity".to_string()));
        }
        headers
    }

    fn receive(&mut self, answer: &mut Answer, seen: &AtomicU64) -> Result<(), Trouble> {
        let broken = |e: std::io::Error| Trouble::Final(format!("cannot write: {e}"));
        let mut file = OpenOptions::new().create(true).append(true).open(&self.hidden).map_err(broken)?;
        let mut body = answer.response.body_mut().as_reader();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(e) => {
                    let gained = self.version.is_some() && self.length > self.furthest;
                    self.furthest = self.furthest.max(self.length);
                    if self.version.is_none() {
                        self.forget();
                    }
                    return Err(Trouble::Passing { reason: format!("broke off: {e}"), gained });
                }
            };
            file.write_all(&buffer[..count]).map_err(broken)?;
            self.hash.update(&buffer[..count]);
            self.length += count as u64;
            seen.fetch_add(count as u64, Ordering::Relaxed);
            if self.length > LARGEST_FILE {
                self.forget();
                return Err(Trouble::Final(format!("larger than {} GiB", LARGEST_FILE >> 30)));
            }
        }
    }

    /// Whether it is what was asked for: by its length, by the publisher's checksum, by its beginning.
    fn check(&self, answer: &Answer, wanted: &Wanted) -> Result<(), Trouble> {
        if is_plain(answer) {
            let stated = whole_length(answer);
            if let Some(stated) = stated.filter(|stated| *stated != self.length) {
                return Err(Trouble::passing(format!("{} bytes came of {stated}", self.length)));
            }
            if let Some(stated) = stated_sha256(answer).filter(|stated| *stated != self.sha256()) {
                return Err(Trouble::passing(format!("its SHA-256 is not the stated {stated}")));
            }
        }
        let mut head = Vec::new();
        let read = File::open(&self.hidden).and_then(|file| file.take(256).read_to_end(&mut head));
        read.map_err(|e| Trouble::Final(format!("cannot be read again: {e}")))?;
        match misfit(&wanted.path, &head) {
            None => Ok(()),
            Some(reason) => Err(Trouble::Final(reason)),
        }
    }

    fn sha256(&self) -> String {
        hex(&self.hash.clone().finalize())
    }

    fn settle(&self) -> Result<()> {
        std::fs::rename(&self.hidden, &self.place).with_context(|| format!("cannot write {}", self.place.display()))
    }

    /// Keeps a part that can be gone on with for the next run, and nothing else.
    fn leave(&mut self, state: &State, path: &str) -> Result<()> {
        match self.version.clone().filter(|v| v.validator().is_some() && self.length > 0) {
            Some(version) => state.keep_part(path, version),
            None => {
                self.forget();
                Ok(())
            }
        }
    }
}

struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn version(answer: &Answer) -> Version {
    let header = |name: &str| answer.header(name).map(str::to_string);
    Version { etag: header("etag"), modified: header("last-modified") }
}

/// Whether the body is what the server keeps: its length and checksum are stated of that. Of an answer that was
/// compressed on the way, the client takes both headers away.
fn is_plain(answer: &Answer) -> bool {
    answer.header("content-encoding").is_none() && answer.header("content-length").is_some()
}

/// The version, if a part of this answer can be gone on with: what was compressed on the way can't.
fn resumable(answer: &Answer) -> Option<Version> {
    let refused = answer.header("accept-ranges").is_some_and(|r| r.eq_ignore_ascii_case("none"));
    Some(version(answer)).filter(|v| is_plain(answer) && !refused && v.validator().is_some())
}

/// "bytes 100-199/200" for a part from 100 on.
fn begins_at(answer: &Answer, start: u64) -> bool {
    let range = answer.header("content-range").and_then(|r| r.trim().strip_prefix("bytes "));
    start > 0 && range.and_then(|r| r.split('-').next()?.parse::<u64>().ok()) == Some(start)
}

/// The length of the whole file, where the answer states it.
fn whole_length(answer: &Answer) -> Option<u64> {
    match answer.header("content-range") {
        Some(range) => range.rsplit('/').next()?.parse().ok(),
        None => answer.header("content-length")?.parse().ok(),
    }
}

/// The publisher's checksum: `Repr-Digest: sha-256=:…:` (RFC 9530), or `Digest: SHA-256=…` of before.
fn stated_sha256(answer: &Answer) -> Option<String> {
    ["repr-digest", "digest"].iter().filter_map(|name| answer.header(name)).find_map(|stated| {
        let one = stated.split(',').map(str::trim).find(|s| s.to_ascii_lowercase().starts_with("sha-256="))?;
        let bytes = base64::engine::general_purpose::STANDARD.decode(one[8..].trim_matches(':')).ok()?;
        Some(hex(&bytes))
    })
}

/// Why a file can't be of the form that its name says: a page that says "sorry" with status 200 is no data.
fn misfit(path: &str, head: &[u8]) -> Option<String> {
    let ending = path.rsplit('.').next().unwrap_or_default();
    let text = String::from_utf8_lossy(head).trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    let page = text.starts_with("<!doctype html") || text.starts_with("<html");
    match ending {
        "htm" | "html" => None,
        _ if head.is_empty() => Some("the file is empty".to_string()),
        _ if page => Some(format!("a web page came instead of {ending}")),
        "xml" if !text.starts_with('<') => Some("this is no XML".to_string()),
        "zip" if !head.starts_with(b"PK") => Some("this is no ZIP".to_string()),
        _ => None,
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
