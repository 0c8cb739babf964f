//! Files to read: found below a source's folder, opened by name, decompressed on the way, never held whole
//! unless a reader asks for it or they are members of an archive.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};

use crate::encoding;

/// A single document larger than this is not an official file; refusing it keeps memory flat. The largest that is one, the eCFR's
/// title 40, has 160 MB, and its tree takes about four times as much.
pub const LARGEST_DOCUMENT: u64 = 256 << 20;

/// A line longer than this is no record: those of whole bills have 10 MB.
const LONGEST_LINE: u64 = 64 << 20;

/// What is packed tighter than this is a bomb, once it has passed `UNPACKED_FREELY`: official files pack 5 to 40 to one.
pub const HIGHEST_RATIO: u64 = 250;
pub const UNPACKED_FREELY: u64 = 64 << 20;

/// Packed forms of one file, by their endings.
const PACKED: [&str; 2] = [".zst", ".gz"];

/// One file of the input.
#[derive(Clone, Debug)]
pub struct Input {
    pub path: PathBuf,
    /// Path below the input folder, with `/`: what reports and determinism go by.
    pub name: String,
    contents: Contents,
}

/// Where the bytes are.
#[derive(Clone, Debug)]
enum Contents {
    OnDisk,
    /// A member of an archive, unpacked.
    Held(Arc<[u8]>),
    /// There are none, for this reason.
    Missing(String),
}

impl Input {
    pub fn on_disk(path: PathBuf, name: String) -> Input {
        Input { path, name, contents: Contents::OnDisk }
    }

    /// Something that has a name and no bytes: opening it gives the reason.
    pub fn missing(path: PathBuf, name: String, reason: String) -> Input {
        Input { path, name, contents: Contents::Missing(reason) }
    }

    /// A member of this archive.
    pub fn member(&self, name: &str, bytes: Result<Vec<u8>, String>) -> Input {
        let contents = match bytes {
            Ok(bytes) => Contents::Held(bytes.into()),
            Err(reason) => Contents::Missing(reason),
        };
        Input { path: self.path.join(name), name: format!("{}/{name}", self.name), contents }
    }

    /// Every file below `root/folder`, in the order of their names. What can't be read is among them, with the reason.
    pub fn below(root: &Path, folder: &str) -> Vec<Input> {
        let mut found = Vec::new();
        let top = root.join(folder);
        if std::fs::symlink_metadata(&top).is_ok() {
            collect(root, top, &mut Vec::new(), &mut found);
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// What lies in the folder itself, in the order of the names; a folder in it has no bytes.
    pub fn directly_in(root: &Path) -> Result<Vec<Input>> {
        let entries = std::fs::read_dir(root).with_context(|| format!("cannot read {}", root.display()))?;
        let mut found = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            found.push(match kind_of(&path) {
                Kind::File => Input::on_disk(path, name),
                Kind::Folder => Input::missing(path, name, "a folder where a file is meant".into()),
                Kind::Unreadable(reason) => Input::missing(path, name, reason),
            });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The name without what says only that it is packed.
    pub fn unpacked_name(&self) -> &str {
        PACKED.iter().find_map(|ending| self.name.strip_suffix(ending)).unwrap_or(&self.name)
    }

    /// The extension that tells the format, without `.zst` or `.gz`.
    pub fn extension(&self) -> &str {
        let name = self.unpacked_name();
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

    /// Says why there are no bytes, if there are none: a reader that goes by the name alone would pass over it.
    pub fn ensure_there(&self) -> Result<()> {
        match &self.contents {
            Contents::Missing(reason) => Err(anyhow::anyhow!("{reason}")),
            Contents::OnDisk | Contents::Held(_) => Ok(()),
        }
    }

    /// Bytes as stored, packed or not.
    pub fn size(&self) -> u64 {
        match &self.contents {
            Contents::OnDisk => std::fs::metadata(&self.path).map_or(0, |m| m.len()),
            Contents::Held(bytes) => bytes.len() as u64,
            Contents::Missing(_) => 0,
        }
    }

    /// The bytes as stored, packed or not.
    pub fn open_stored(&self) -> Result<Box<dyn Read>> {
        self.ensure_there()?;
        Ok(match &self.contents {
            Contents::OnDisk => Box::new(File::open(&self.path).context("cannot be opened")?),
            Contents::Held(bytes) => Box::new(Cursor::new(bytes.clone())),
            Contents::Missing(_) => Box::new(io::empty()),
        })
    }

    /// The bytes, decompressed.
    pub fn open(&self) -> Result<Box<dyn Read>> {
        let stored = self.open_stored()?;
        let most = UNPACKED_FREELY.max(self.size().saturating_mul(HIGHEST_RATIO));
        Ok(match self.name.rsplit('.').next() {
            Some("zst") => Box::new(Bounded { inner: zstd::Decoder::new(stored)?, left: most }),
            Some("gz") => Box::new(Bounded { inner: flate2::read::MultiGzDecoder::new(stored), left: most }),
            _ => stored,
        })
    }

    /// The lines of a JSONL file: (line number from 1, text). A line that can't be read comes as an error text.
    pub fn lines(&self) -> Result<impl Iterator<Item = (usize, std::result::Result<String, String>)>> {
        let mut reader = BufReader::with_capacity(1 << 20, self.open()?);
        let mut number = 0;
        Ok(std::iter::from_fn(move || {
            loop {
                let mut line = Vec::new();
                number += 1;
                match read_line(&mut reader, &mut line) {
                    Ok(0) => return None,
                    Ok(read) if read > LONGEST_LINE => {
                        return Some((number, Err(format!("longer than {} MiB", LONGEST_LINE >> 20))));
                    }
                    Ok(_) => {
                        let text = line.trim_ascii_end();
                        let text = if number == 1 { encoding::without_mark(text) } else { text };
                        if text.is_empty() {
                            continue;
                        }
                        return Some((number, Ok(encoding::repaired(Cow::Borrowed(text)))));
                    }
                    // A reader that fails once fails for ever (a truncated .zst): say so, then stop.
                    Err(e) => {
                        reader = BufReader::new(Box::new(io::empty()));
                        return Some((number, Err(format!("cannot be read further: {e}"))));
                    }
                }
            }
        }))
    }

    /// The whole file as text, whatever its encoding.
    pub fn text(&self) -> Result<String> {
        // A packed file grows as it comes; one byte more than the rest has finds its end without growing.
        let mut bytes = Vec::with_capacity(self.size().min(LARGEST_DOCUMENT) as usize + 1);
        self.open()?.take(LARGEST_DOCUMENT + 1).read_to_end(&mut bytes)?;
        anyhow::ensure!(bytes.len() as u64 <= LARGEST_DOCUMENT, "larger than {} MiB", LARGEST_DOCUMENT >> 20);
        Ok(encoding::text(bytes))
    }
}

/// Reads to the end of a line, but keeps no more of it than may be. Gives the length of the whole line.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<u64> {
    let mut read = reader.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', line)? as u64;
    let mut at_end = read <= LONGEST_LINE || line.ends_with(b"\n");
    while !at_end {
        let buffer = reader.fill_buf()?;
        let end = buffer.iter().position(|b| *b == b'\n');
        let passed = end.map_or(buffer.len(), |at| at + 1);
        at_end = end.is_some() || passed == 0;
        reader.consume(passed);
        read += passed as u64;
    }
    Ok(read)
}

/// Unpacked bytes, as many as may come.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other(format!("unpacks to more than {HIGHEST_RATIO} times its size")))?;
        Ok(read)
    }
}

enum Kind {
    File,
    Folder,
    Unreadable(String),
}

/// What a path leads to. A pipe would block for ever and a device never end, so neither is opened.
fn kind_of(path: &Path) -> Kind {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Kind::Folder,
        Ok(found) if found.is_file() => Kind::File,
        Ok(_) => Kind::Unreadable("neither a file nor a folder".into()),
        Err(e) => Kind::Unreadable(format!("cannot be opened: {e}")),
    }
}

/// Gathers what is at a path and below it. `above` are the folders that lead there, links resolved.
fn collect(root: &Path, path: PathBuf, above: &mut Vec<PathBuf>, found: &mut Vec<Input>) {
    let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
    match kind_of(&path) {
        Kind::File => found.push(Input::on_disk(path, name)),
        Kind::Unreadable(reason) => found.push(Input::missing(path, name, reason)),
        Kind::Folder => {
            let entries = path.canonicalize().and_then(|real| Ok((real, std::fs::read_dir(&path)?)));
            match entries {
                Err(e) => found.push(Input::missing(path, name, format!("the folder cannot be read: {e}"))),
                Ok((real, _)) if above.contains(&real) => {
                    found.push(Input::missing(path, name, "a link back to a folder that it lies in".into()));
                }
                Ok((real, entries)) => {
                    above.push(real);
                    for entry in entries.flatten().map(|entry| entry.path()) {
                        let hidden = entry.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
                        if !hidden {
                            collect(root, entry, above, found);
                        }
                    }
                    above.pop();
                }
            }
        }
    }
}
