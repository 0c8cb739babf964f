//! `josh bundle pull`: downloads a bundle, goes on after an interruption, checks every byte and the
//! signature, and puts it in place by renaming.
//!
//! Until it is checked, the file has a hidden name next to its place, and a note beside it says
//! which version of the bundle it is a part of.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::{Unusable, unusable};
use crate::bundle::{self, Trust};
use crate::output::{note, say};

/// How long a server may be silent.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Attempts in a row that bring nothing new.
const MAX_FAILURES: u32 = 5;
/// The pause after the first of them; it doubles.
const PAUSE: Duration = Duration::from_millis(500);
/// How often progress is reported.
const REPORT_EVERY: Duration = Duration::from_secs(10);

pub struct Pull<'a> {
    pub url: &'a str,
    /// The key with which the bundle must be signed.
    pub key: &'a Path,
    pub out: Option<&'a Path>,
}

/// What a partial download is a part of.
#[derive(PartialEq, Serialize, Deserialize)]
struct Version {
    url: String,
    /// The server's `ETag` or `Last-Modified`; without one it can't be resumed.
    validator: Option<String>,
}

enum Failure {
    /// Trying again may help.
    Transient(String),
    Permanent(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Permanent(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Permanent(error.into())
    }
}

impl Pull<'_> {
    pub fn run(&self) -> Result<()> {
        let out = self.place()?;
        Trust::Key(self.key).check().map_err(|e| unusable(&out, &e))?;
        let part = Part::open(&out, self.url)?;
        self.download(&part)?;
        let manifest = self.verify(&part, &out).inspect_err(|_| part.discard())?;
        part.move_to(&out)?;
        say!("{}: bundle {} is intact, signed and in place", out.display(), manifest.id);
        Ok(())
    }

    /// Where the bundle goes: by default, the file that the URL names, in the current folder.
    fn place(&self) -> Result<PathBuf> {
        let rest = ["https://", "http://"].iter().find_map(|scheme| self.url.strip_prefix(scheme));
        let Some(rest) = rest else {
            let message = format!("{:?} is not an http or https URL.", self.url);
            return Err(Unusable(message).into());
        };
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        let name = path.split_once('/').and_then(|(_, path)| path.rsplit('/').next());
        match (self.out, name.filter(|name| !name.is_empty() && *name != "..")) {
            (Some(out), _) => Ok(out.to_path_buf()),
            (None, Some(name)) => Ok(PathBuf::from(name)),
            (None, None) => {
                let message = "The URL names no file; say with --out where the bundle goes.";
                Err(Unusable(message.into()).into())
            }
        }
    }

    fn download(&self, part: &Part) -> Result<()> {
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("josh/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .timeout_connect(Some(TIMEOUT))
            .timeout_recv_response(Some(TIMEOUT))
            // Per read: a bundle may take hours, but the server must keep sending.
            .timeout_per_read(Some(TIMEOUT))
            .build()
            .into();
        let (mut failures, mut furthest) = (0, part.length()?);
        loop {
            match self.attempt(&agent, part) {
                Ok(()) => return Ok(()),
                Err(Failure::Permanent(error)) => return Err(error),
                Err(Failure::Transient(reason)) => {
                    let length = part.length()?;
                    failures = if length > furthest { 0 } else { failures + 1 };
                    furthest = furthest.max(length);
                    anyhow::ensure!(
                        failures < MAX_FAILURES,
                        "{}: {reason}. What was received is kept; run the same command again to \
                         go on.",
                        self.url
                    );
                    note!("josh: {reason}; trying again");
                    std::thread::sleep(PAUSE * 2u32.pow(failures));
                }
            }
        }
    }

    /// One request, for what is still missing.
    fn attempt(&self, agent: &Agent, part: &Part) -> Result<(), Failure> {
        let have = part.length()?;
        // Compressed parts could not be joined.
        let mut request = agent.get(self.url).header("Accept-Encoding", "identity");
        let validator = part.version()?.and_then(|version| version.validator);
        if let (true, Some(validator)) = (have > 0, validator) {
            request = request.header("Range", format!("bytes={have}-"));
            request = request.header("If-Range", validator);
        }
        let mut response =
            request.call().map_err(|e| Failure::Transient(format!("no answer: {e}")))?;
        let range = header(&response, "content-range").map(str::to_string);
        let (first, all) = match response.status().as_u16() {
            206 if range.as_ref().is_some_and(|r| r.starts_with(&format!("bytes {have}-"))) => {
                note!("josh: going on after {}", megabytes(have));
                (have, range.as_deref().and_then(|r| r.rsplit('/').next()?.parse().ok()))
            }
            200 => {
                part.start(&self.version_of(&response))?;
                (0, header(&response, "content-length").and_then(|length| length.parse().ok()))
            }
            206 | 416 => {
                part.discard();
                return Err(Failure::Transient("the part does not match the server's file".into()));
            }
            status @ (408 | 429 | 500..=599) => {
                return Err(Failure::Transient(format!("the server answers with status {status}")));
            }
            status => {
                let message = format!("{}: the server answers with status {status}.", self.url);
                return Err(Failure::Permanent(Unusable(message).into()));
            }
        };
        receive(&mut response, part, first, all)
    }

    fn version_of(&self, response: &Response<Body>) -> Version {
        // A weak tag does not promise the same bytes.
        let tag = header(response, "etag").filter(|tag| !tag.starts_with("W/"));
        let validator = tag.or_else(|| header(response, "last-modified"));
        Version { url: self.url.to_string(), validator: validator.map(str::to_string) }
    }

    fn verify(&self, part: &Part, out: &Path) -> Result<bundle::Manifest> {
        note!("josh: checking {}", megabytes(part.length()?));
        let refused = |e: &bundle::BundleError| {
            let Unusable(why) = unusable(out, e);
            Unusable(format!("{why} What was downloaded is not kept."))
        };
        let manifest = bundle::verify(&part.path, |_, _| {}).map_err(|e| refused(&e))?;
        let is_signed = manifest.check_signature(&Trust::Key(self.key));
        match is_signed.map_err(|e| refused(&e))? {
            true => Ok(manifest),
            false => {
                let name = out.display();
                let message = format!("{name}: it is unsigned. What was downloaded is not kept.");
                Err(Unusable(message).into())
            }
        }
    }
}

fn receive(
    response: &mut Response<Body>,
    part: &Part,
    first: u64,
    all: Option<u64>,
) -> Result<(), Failure> {
    let mut file = OpenOptions::new().append(true).open(&part.path)?;
    let mut body = response.body_mut().as_reader();
    let (mut length, mut reported) = (first, Instant::now());
    let mut buffer = vec![0; 256 << 10];
    loop {
        let count = match body.read(&mut buffer) {
            Ok(count) => count,
            Err(e) => return Err(Failure::Transient(format!("the connection was lost: {e}"))),
        };
        if count == 0 {
            break;
        }
        file.write_all(&buffer[..count]).context("the part can't be written")?;
        length += count as u64;
        if reported.elapsed() >= REPORT_EVERY {
            reported = Instant::now();
            let of = all.map(|all| format!(" of {}", megabytes(all))).unwrap_or_default();
            note!("josh: {}{of}", megabytes(length));
        }
    }
    match all.filter(|all| *all != length) {
        Some(all) => Err(Failure::Transient(format!("{length} of {all} bytes were received"))),
        None => Ok(file.sync_all()?),
    }
}

/// A bundle while it is downloaded.
struct Part {
    path: PathBuf,
    note: PathBuf,
    /// Locked while this process writes it.
    _file: File,
}

impl Part {
    /// Opens what an earlier download left; anything else is dropped.
    fn open(out: &Path, url: &str) -> Result<Part> {
        let name = out.file_name().context("--out must name a file")?.to_string_lossy();
        let path = out.with_file_name(format!(".{name}.part"));
        let note = out.with_file_name(format!(".{name}.part.json"));
        let context = || format!("cannot write {}", path.display());
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(&path).with_context(context)?;
        if file.try_lock().is_err() {
            let message = format!("{}: another download is writing it.", out.display());
            return Err(Unusable(message).into());
        }
        let part = Part { path, note, _file: file };
        let version = part.version()?;
        if version.is_none_or(|version| version.url != url || version.validator.is_none()) {
            part.start(&Version { url: url.to_string(), validator: None })?;
        }
        Ok(part)
    }

    fn length(&self) -> std::io::Result<u64> {
        Ok(self.path.metadata()?.len())
    }

    /// What the part belongs to. A damaged note is none.
    fn version(&self) -> Result<Option<Version>> {
        match std::fs::read(&self.note) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e).with_context(|| format!("cannot read {}", self.note.display())),
        }
    }

    /// Begins anew, with a version of the bundle.
    fn start(&self, version: &Version) -> Result<()> {
        OpenOptions::new().write(true).open(&self.path)?.set_len(0)?;
        std::fs::write(&self.note, serde_json::to_vec(version)?)
            .with_context(|| format!("cannot write {}", self.note.display()))
    }

    fn discard(&self) {
        // What can't be removed is not used either: its version is gone, or it is checked again.
        let _ = std::fs::remove_file(&self.note);
        let _ = File::options().write(true).open(&self.path).and_then(|file| file.set_len(0));
    }

    fn move_to(&self, out: &Path) -> Result<()> {
        std::fs::set_permissions(&self.path, Permissions::from_mode(0o444))?;
        std::fs::rename(&self.path, out)
            .with_context(|| format!("cannot write {}", out.display()))?;
        let _ = std::fs::remove_file(&self.note);
        Ok(())
    }
}

fn header<'a>(response: &'a Response<Body>, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
