//! A file while it is downloaded: requested only if it changed, resumed after an interruption,
//! checked, and renamed when it is complete. Until then it has a hidden name, which `build`
//! ignores.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use base64::Engine;
use sha2::{Digest, Sha256};

use super::client::{HostResponse, RequestError};
use super::content;
use super::download::{Downloader, create_paths};
use super::listing::RemoteFile;
use super::state::{Entry, State, Version};

/// No official file is larger; a longer response is a mistake that would fill the disk.
const MAX_FILE_BYTES: u64 = 4 << 30;
/// Larger files are requested uncompressed, because only then can a download be resumed.
const LARGE_FILE_BYTES: u64 = 8 << 20;

pub struct PartialFile {
    path: PathBuf,
    temporary: PathBuf,
    length: u64,
    /// The greatest length of any attempt. A server that starts over each time and breaks off
    /// makes no progress.
    furthest: u64,
    hash: Sha256,
    /// The version of the downloaded part; without one it can't be resumed.
    version: Option<Version>,
}

impl PartialFile {
    /// Opens the part that an earlier run left, if it can be resumed.
    pub fn open(downloader: &Downloader, file: &RemoteFile) -> Result<PartialFile> {
        let (path, temporary) = create_paths(downloader.folder, &file.path)?;
        let version = downloader.state.partial(&file.path).filter(|v| v.validator().is_some());
        let mut partial =
            PartialFile { path, temporary, length: 0, furthest: 0, hash: Sha256::new(), version };
        if partial.version.is_some()
            && let Ok(mut file) = File::open(&partial.temporary)
        {
            partial.length = std::io::copy(&mut file, &mut HashWriter(&mut partial.hash))?;
        }
        partial.furthest = partial.length;
        if partial.length == 0 {
            partial.discard();
        }
        Ok(partial)
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn sha256(&self) -> String {
        hex::encode(self.hash.clone().finalize())
    }

    pub fn discard(&mut self) {
        (self.length, self.hash, self.version) = (0, Sha256::new(), None);
        let _ = std::fs::remove_file(&self.temporary);
    }

    /// Makes one request. Returns the version of the complete file, or `None` if the stored file
    /// is current.
    pub fn attempt(
        &mut self,
        downloader: &Downloader,
        file: &RemoteFile,
        stored: Option<&Entry>,
        attempt: u32,
    ) -> Result<Option<Version>, RequestError> {
        let headers = self.headers(file, stored, attempt);
        let mut response = downloader.client.request(&file.url, &headers)?;
        let length = self.length;
        match response.status().as_u16() {
            304 if stored.is_some() && length == 0 => return Ok(None),
            206 if starts_at(&response, length) => {}
            200 => {
                self.discard();
                self.version = resumable_version(&response);
                // Needed only if the process is killed; small files are not worth a line each.
                let size = full_length(&response).unwrap_or(file.size);
                if let Some(version) = self.version.clone().filter(|_| size >= LARGE_FILE_BYTES) {
                    downloader
                        .state
                        .set_partial(&file.path, version)
                        .map_err(|e| RequestError::Permanent(format!("{e:#}")))?;
                }
            }
            status => {
                self.discard();
                return Err(RequestError::transient(format!(
                    "status {status} does not match the partial download"
                )));
            }
        }
        self.receive(&mut response, &downloader.bytes)?;
        self.check(&response, file).inspect_err(|_| self.discard())?;
        Ok(Some(version(&response)))
    }

    fn headers(
        &self,
        file: &RemoteFile,
        stored: Option<&Entry>,
        attempt: u32,
    ) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if let Some(validator) =
            self.version.as_ref().and_then(Version::validator).filter(|_| self.length > 0)
        {
            headers.push(("Range", format!("bytes={}-", self.length)));
            headers.push(("If-Range", validator.to_string()));
        } else if let Some(entry) = stored {
            headers.extend(entry.version.etag.clone().map(|tag| ("If-None-Match", tag)));
            headers.extend(entry.version.modified.clone().map(|day| ("If-Modified-Since", day)));
        }
        if self.length > 0 || attempt > 0 || file.size >= LARGE_FILE_BYTES {
            headers.push(("Accept-Encoding", "identity".to_string()));
        }
        headers
    }

    fn receive(
        &mut self,
        response: &mut HostResponse,
        received: &AtomicU64,
    ) -> Result<(), RequestError> {
        let write_error = |e: std::io::Error| RequestError::Permanent(format!("cannot write: {e}"));
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.temporary)
            .map_err(write_error)?;
        let mut body = response.response.body_mut().as_reader();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(e) => {
                    let progressed = self.version.is_some() && self.length > self.furthest;
                    self.furthest = self.furthest.max(self.length);
                    if self.version.is_none() {
                        self.discard();
                    }
                    let reason = format!("connection lost: {e}");
                    return Err(RequestError::Transient { reason, progressed });
                }
            };
            file.write_all(&buffer[..count]).map_err(write_error)?;
            self.hash.update(&buffer[..count]);
            self.length += count as u64;
            received.fetch_add(count as u64, Ordering::Relaxed);
            if self.length > MAX_FILE_BYTES {
                self.discard();
                let reason = format!("larger than {} GiB", MAX_FILE_BYTES >> 30);
                return Err(RequestError::Permanent(reason));
            }
        }
    }

    /// Checks the stated length and checksum, and that it is the file that was requested.
    fn check(&self, response: &HostResponse, file: &RemoteFile) -> Result<(), RequestError> {
        if is_uncompressed(response) {
            let stated = full_length(response);
            if let Some(stated) = stated.filter(|stated| *stated != self.length) {
                let reason = format!("received {} of {stated} bytes", self.length);
                return Err(RequestError::transient(reason));
            }
            if let Some(stated) = stated_sha256(response).filter(|stated| *stated != self.sha256())
            {
                let reason = format!("its SHA-256 is not the stated {stated}");
                return Err(RequestError::transient(reason));
            }
        }
        let mut head = Vec::new();
        let read = File::open(&self.temporary)
            .and_then(|file| file.take(content::HEAD_BYTES).read_to_end(&mut head));
        read.map_err(|e| RequestError::Permanent(format!("cannot be read again: {e}")))?;
        content::check(file, response.header("content-type"), &head)
    }

    /// Where the file is until it is moved into place.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    pub fn move_into_place(&self) -> Result<()> {
        std::fs::rename(&self.temporary, &self.path)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// After a failure: keeps a part that the next run can resume, discards any other.
    pub fn keep_or_discard(&mut self, state: &State, path: &str) -> Result<()> {
        match self.version.clone().filter(|v| v.validator().is_some() && self.length > 0) {
            Some(version) => state.set_partial(path, version),
            None => {
                self.discard();
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

fn version(response: &HostResponse) -> Version {
    let header = |name: &str| response.header(name).map(str::to_string);
    Version { etag: header("etag"), modified: header("last-modified") }
}

/// Whether the body is the file itself, to which the stated length and checksum apply. The client
/// removes both headers from a response that was compressed in transit.
fn is_uncompressed(response: &HostResponse) -> bool {
    response.header("content-encoding").is_none() && response.header("content-length").is_some()
}

/// The version, if a part of this response can be resumed.
fn resumable_version(response: &HostResponse) -> Option<Version> {
    let refused = response.header("accept-ranges").is_some_and(|r| r.eq_ignore_ascii_case("none"));
    Some(version(response))
        .filter(|v| is_uncompressed(response) && !refused && v.validator().is_some())
}

/// Whether the response has the bytes from `start` on: "bytes 100-199/200" starts at 100.
fn starts_at(response: &HostResponse, start: u64) -> bool {
    let range = response.header("content-range").and_then(|r| r.trim().strip_prefix("bytes "));
    start > 0 && range.and_then(|r| r.split('-').next()?.parse::<u64>().ok()) == Some(start)
}

/// The stated length of the complete file.
fn full_length(response: &HostResponse) -> Option<u64> {
    match response.header("content-range") {
        Some(range) => range.rsplit('/').next()?.parse().ok(),
        None => response.header("content-length")?.parse().ok(),
    }
}

/// The stated checksum: `Repr-Digest: sha-256=:…:` (RFC 9530), or the older `Digest: SHA-256=…`.
fn stated_sha256(response: &HostResponse) -> Option<String> {
    ["repr-digest", "digest"].iter().filter_map(|name| response.header(name)).find_map(|stated| {
        let one = stated
            .split(',')
            .map(str::trim)
            .find(|s| s.to_ascii_lowercase().starts_with("sha-256="))?;
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(one[8..].trim_matches(':')).ok()?;
        Some(hex::encode(bytes))
    })
}
