//! Input files: found below a source's folder, decompressed while they are read. A file is not
//! loaded into memory unless a reader asks for its text or it is a member of an archive.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};

use crate::encoding;

/// Bounds memory. The largest official document, title 40 of the eCFR, has 160 MB, and its parsed
/// tree takes about four times as much.
pub const MAX_DOCUMENT_BYTES: u64 = 256 << 20;

/// The longest real records, whole bills, have 10 MB.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// A file that decompresses to more than `UNRESTRICTED_BYTES` and exceeds this ratio is taken for
/// a decompression bomb. Official files have ratios of 5 to 40.
pub const MAX_COMPRESSION_RATIO: u64 = 250;
pub const UNRESTRICTED_BYTES: u64 = 64 << 20;

const COMPRESSED_SUFFIXES: [&str; 2] = [".zst", ".gz"];

/// One file of the input.
#[derive(Clone, Debug)]
pub struct Input {
    pub path: PathBuf,
    /// Path relative to the input folder, separated by `/`. Used for sorting and in reports.
    pub name: String,
    contents: Contents,
}

#[derive(Clone, Debug)]
enum Contents {
    OnDisk,
    /// An unpacked member of an archive.
    InMemory(Arc<[u8]>),
    /// Nothing to read, with the reason.
    Unreadable(String),
}

impl Input {
    pub fn on_disk(path: PathBuf, name: String) -> Input {
        Input { path, name, contents: Contents::OnDisk }
    }

    /// An input that fails with this reason when opened, so that it is reported.
    pub fn unreadable(path: PathBuf, name: String, reason: String) -> Input {
        Input { path, name, contents: Contents::Unreadable(reason) }
    }

    /// A member of this archive.
    pub fn member(&self, name: &str, bytes: Result<Vec<u8>, String>) -> Input {
        let contents = match bytes {
            Ok(bytes) => Contents::InMemory(bytes.into()),
            Err(reason) => Contents::Unreadable(reason),
        };
        Input { path: self.path.join(name), name: format!("{}/{name}", self.name), contents }
    }

    /// Every file below `root/folder`, sorted by name. Unreadable entries are included, with the
    /// reason; hidden ones are not.
    pub fn all_below(root: &Path, folder: &str) -> Vec<Input> {
        let mut found = Vec::new();
        let top = root.join(folder);
        if std::fs::symlink_metadata(&top).is_ok() {
            collect(root, top, &mut Vec::new(), &mut found);
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// One entry directly in `root`. A folder is unreadable as a file.
    pub fn in_folder(root: &Path, name: String) -> Input {
        let path = root.join(&name);
        match entry_kind(&path) {
            EntryKind::File => Input::on_disk(path, name),
            EntryKind::Folder => {
                Input::unreadable(path, name, "a folder where a file is expected".into())
            }
            EntryKind::Unreadable(reason) => Input::unreadable(path, name, reason),
        }
    }

    /// The name without `.zst` or `.gz`.
    pub fn uncompressed_name(&self) -> &str {
        COMPRESSED_SUFFIXES
            .iter()
            .find_map(|suffix| self.name.strip_suffix(suffix))
            .unwrap_or(&self.name)
    }

    /// The extension of the uncompressed file.
    pub fn extension(&self) -> &str {
        let name = self.uncompressed_name();
        let file = name.rsplit('/').next().unwrap_or(name);
        file.rsplit_once('.').map_or("", |(_, ext)| ext)
    }

    pub fn is_archive(&self) -> bool {
        self.extension().eq_ignore_ascii_case("zip")
    }

    /// The last part of the name.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Fails with the reason if the input is unreadable. Readers that decide by name alone would
    /// otherwise skip it silently.
    pub fn ensure_readable(&self) -> Result<()> {
        match &self.contents {
            Contents::Unreadable(reason) => Err(anyhow::anyhow!("{reason}")),
            Contents::OnDisk | Contents::InMemory(_) => Ok(()),
        }
    }

    /// Size in bytes as stored, compressed or not.
    pub fn size(&self) -> u64 {
        match &self.contents {
            Contents::OnDisk => std::fs::metadata(&self.path).map_or(0, |m| m.len()),
            Contents::InMemory(bytes) => bytes.len() as u64,
            Contents::Unreadable(_) => 0,
        }
    }

    /// The bytes as stored, compressed or not.
    pub fn open_stored(&self) -> Result<Box<dyn Read>> {
        self.ensure_readable()?;
        Ok(match &self.contents {
            Contents::OnDisk => Box::new(File::open(&self.path).context("cannot be opened")?),
            Contents::InMemory(bytes) => Box::new(Cursor::new(bytes.clone())),
            Contents::Unreadable(_) => Box::new(io::empty()),
        })
    }

    /// The decompressed bytes.
    pub fn open(&self) -> Result<Box<dyn Read>> {
        let stored = self.open_stored()?;
        let left = UNRESTRICTED_BYTES.max(self.size().saturating_mul(MAX_COMPRESSION_RATIO));
        Ok(match self.name.rsplit('.').next() {
            Some("zst") => Box::new(Bounded { inner: zstd::Decoder::new(stored)?, left }),
            Some("gz") => {
                Box::new(Bounded { inner: flate2::read::MultiGzDecoder::new(stored), left })
            }
            _ => stored,
        })
    }

    /// The non-empty lines of a JSONL file with their numbers from 1; an unreadable line is an
    /// error text.
    pub fn lines(
        &self,
    ) -> Result<impl Iterator<Item = (usize, std::result::Result<String, String>)>> {
        let mut reader = BufReader::with_capacity(1 << 20, self.open()?);
        let mut number = 0;
        Ok(std::iter::from_fn(move || {
            loop {
                let mut line = Vec::new();
                number += 1;
                match read_line(&mut reader, &mut line) {
                    Ok(0) => return None,
                    Ok(read) if read > MAX_LINE_BYTES => {
                        return Some((
                            number,
                            Err(format!("longer than {} MiB", MAX_LINE_BYTES >> 20)),
                        ));
                    }
                    Ok(_) => {
                        let text = line.trim_ascii_end();
                        let text = if number == 1 { encoding::without_bom(text) } else { text };
                        if text.is_empty() {
                            continue;
                        }
                        return Some((number, Ok(encoding::decode_part(Cow::Borrowed(text)))));
                    }
                    // A truncated .zst fails on every further read: report it once, then stop.
                    Err(e) => {
                        reader = BufReader::new(Box::new(io::empty()));
                        return Some((number, Err(format!("cannot be read further: {e}"))));
                    }
                }
            }
        }))
    }

    /// The whole file as text, in any supported encoding.
    pub fn text(&self) -> Result<String> {
        // With one spare byte, `read_to_end` sees the end of an uncompressed file without
        // reallocating.
        let mut bytes = Vec::with_capacity(self.size().min(MAX_DOCUMENT_BYTES) as usize + 1);
        self.open()?.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes)?;
        anyhow::ensure!(
            bytes.len() as u64 <= MAX_DOCUMENT_BYTES,
            "larger than {} MiB",
            MAX_DOCUMENT_BYTES >> 20
        );
        Ok(encoding::decode(bytes))
    }
}

/// Reads to the end of a line, storing at most `MAX_LINE_BYTES + 1` bytes. Returns the full length
/// of the line.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<u64> {
    let mut read = reader.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', line)? as u64;
    let mut at_end = read <= MAX_LINE_BYTES || line.ends_with(b"\n");
    while !at_end {
        let buffer = reader.fill_buf()?;
        let end = buffer.iter().position(|b| *b == b'\n');
        let skipped = end.map_or(buffer.len(), |at| at + 1);
        at_end = end.is_some() || skipped == 0;
        reader.consume(skipped);
        read += skipped as u64;
    }
    Ok(read)
}

/// Fails once more than `left` decompressed bytes were read.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::other(format!("unpacks to more than {MAX_COMPRESSION_RATIO} times its size"))
        })?;
        Ok(read)
    }
}

enum EntryKind {
    File,
    Folder,
    Unreadable(String),
}

/// What a path points to. Pipes and devices count as unreadable: reading them might never end.
fn entry_kind(path: &Path) -> EntryKind {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => EntryKind::Folder,
        Ok(found) if found.is_file() => EntryKind::File,
        Ok(_) => EntryKind::Unreadable("neither a file nor a folder".into()),
        Err(e) => EntryKind::Unreadable(format!("cannot be opened: {e}")),
    }
}

/// Collects the files at and below a path. `ancestors` are the folders above it, links resolved.
fn collect(root: &Path, path: PathBuf, ancestors: &mut Vec<PathBuf>, found: &mut Vec<Input>) {
    let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
    match entry_kind(&path) {
        EntryKind::File => found.push(Input::on_disk(path, name)),
        EntryKind::Unreadable(reason) => found.push(Input::unreadable(path, name, reason)),
        EntryKind::Folder => {
            let entries =
                path.canonicalize().and_then(|real| Ok((real, std::fs::read_dir(&path)?)));
            match entries {
                Err(e) => {
                    let reason = format!("the folder cannot be read: {e}");
                    found.push(Input::unreadable(path, name, reason));
                }
                Ok((real, _)) if ancestors.contains(&real) => {
                    let reason = "a link to one of its parent folders".to_string();
                    found.push(Input::unreadable(path, name, reason));
                }
                Ok((real, entries)) => {
                    ancestors.push(real);
                    for entry in entries.flatten().map(|entry| entry.path()) {
                        if !is_hidden(&entry) {
                            collect(root, entry, ancestors, found);
                        }
                    }
                    ancestors.pop();
                }
            }
        }
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}
