//! Files to read: found below a source's folder, opened by name, decompressed on the way, never held whole
//! unless a reader asks for it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A single document larger than this is not an official file; refusing it keeps memory flat.
const LARGEST_DOCUMENT: u64 = 512 * 1024 * 1024;

/// One file of the input.
#[derive(Clone, Debug)]
pub struct Input {
    pub path: PathBuf,
    /// Path below the input folder, with `/`: what reports and determinism go by.
    pub name: String,
}

impl Input {
    /// Every file below `root/folder`, in the order of their names.
    pub fn below(root: &Path, folder: &str) -> Result<Vec<Input>> {
        let mut found = Vec::new();
        collect(root, &root.join(folder), &mut found)?;
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The files of the folder itself, in the order of their names.
    pub fn directly_in(root: &Path) -> Result<Vec<Input>> {
        let entries = std::fs::read_dir(root).with_context(|| format!("cannot read {}", root.display()))?;
        let mut found = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.is_file() {
                let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                found.push(Input { path, name });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The extension that tells the format, lower case, without `.zst`.
    pub fn extension(&self) -> &str {
        let name = self.name.strip_suffix(".zst").unwrap_or(&self.name);
        let file = name.rsplit('/').next().unwrap_or(name);
        file.rsplit_once('.').map_or("", |(_, ext)| ext)
    }

    /// The last part of the name.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The bytes, decompressed.
    pub fn open(&self) -> Result<Box<dyn Read>> {
        let file = File::open(&self.path).with_context(|| format!("cannot open {}", self.name))?;
        Ok(if self.name.ends_with(".zst") { Box::new(zstd::Decoder::new(file)?) } else { Box::new(file) })
    }

    /// The lines of a JSONL file: (line number from 1, text). A line that is not UTF-8 comes as an error text.
    pub fn lines(&self) -> Result<impl Iterator<Item = (usize, std::result::Result<String, String>)>> {
        let mut reader = BufReader::with_capacity(1 << 20, self.open()?);
        let mut number = 0;
        Ok(std::iter::from_fn(move || {
            loop {
                let mut line = Vec::new();
                number += 1;
                match reader.read_until(b'\n', &mut line) {
                    Ok(0) => return None,
                    Ok(_) => {
                        while line.last().is_some_and(u8::is_ascii_whitespace) {
                            line.pop();
                        }
                        if line.is_empty() {
                            continue;
                        }
                        return Some((number, String::from_utf8(line).map_err(|_| "not UTF-8".to_string())));
                    }
                    // A reader that fails once fails for ever (a truncated .zst): say so, then stop.
                    Err(e) => {
                        reader = BufReader::new(Box::new(std::io::empty()));
                        return Some((number, Err(format!("cannot be read further: {e}"))));
                    }
                }
            }
        }))
    }

    /// The whole file as text; a stray byte is replaced, not fatal.
    pub fn text(&self) -> Result<String> {
        let mut bytes = Vec::new();
        self.open()?.take(LARGEST_DOCUMENT + 1).read_to_end(&mut bytes)?;
        anyhow::ensure!(bytes.len() as u64 <= LARGEST_DOCUMENT, "larger than {} MiB", LARGEST_DOCUMENT >> 20);
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Input>) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
        if hidden {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, found)?;
        } else {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            found.push(Input { path, name });
        }
    }
    Ok(())
}
