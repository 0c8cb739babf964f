//! What readers made of files before: the next build takes it again instead of reading a file that did not change.
//!
//! What is staged of a file depends on its bytes, its name, its source and the readers' code, so these are the key; the
//! bytes are always hashed, since 100 MB take a tenth of a second and times of files lie. One compressed file a key, written aside and
//! renamed, with its own hash behind it: one that is damaged is not believed. The oldest go when all take more than `MOST_BYTES`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use josh::bundle::writer::hex;
use josh::catalog;
use sha2::{Digest, Sha256};

use crate::input::Input;
use crate::stage::{Line, Stage};

/// What all entries may take together: those of two full federal builds.
const MOST_BYTES: u64 = 2 << 30;

/// An entry is marked as used again only when it has not been for this long.
const USED_LATELY: Duration = Duration::from_secs(24 * 3600);

/// Quick: it must cost less than reading the file again.
const LEVEL: i32 = 1;

const HASH: usize = 32;

/// One thing that a reader found in a file, in the order it was found.
pub enum Item {
    /// A record of this source begins.
    Record(&'static str),
    /// A line of the record that began last.
    Line(Line),
    Reject {
        source: &'static str,
        place: String,
        reason: String,
    },
    Read,
    Skipped,
    Failed,
}

pub struct RecordCache {
    folder: PathBuf,
    /// Names the readers' code: the binary's version, size and time.
    readers: String,
}

/// Where what is found in one file is kept.
pub struct Entry {
    path: PathBuf,
}

/// Keeps what is found in one file. A failure to keep it is no failure of the build.
pub struct Keeper {
    path: PathBuf,
    aside: tempfile::NamedTempFile,
    encoder: Option<zstd::Encoder<'static, BufWriter<File>>>,
}

impl RecordCache {
    pub fn open(folder: &Path) -> Result<RecordCache> {
        let folder = folder.join("records");
        std::fs::create_dir_all(&folder)?;
        let binary = std::fs::metadata(std::env::current_exe()?)?;
        let built = binary.modified()?.duration_since(SystemTime::UNIX_EPOCH)?;
        let readers = format!("{} {} {}", env!("CARGO_PKG_VERSION"), binary.len(), built.as_nanos());
        Ok(RecordCache { folder, readers })
    }

    /// The place for what is found in a file, if its bytes can be read.
    pub fn entry(&self, source: &str, input: &Input) -> Option<Entry> {
        let content = sha256(&mut input.open_stored().ok()?).ok()?;
        let mut hash = Sha256::new();
        for part in [self.readers.as_bytes(), source.as_bytes(), input.name.as_bytes(), &content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let name = hex(&hash.finalize()[..20]);
        Some(Entry { path: self.folder.join(&name[..2]).join(&name[2..]) })
    }

    /// Removes the entries that were used longest ago, until the rest fits.
    pub fn prune(&self) {
        prune(&self.folder, MOST_BYTES);
    }
}

fn prune(folder: &Path, most: u64) {
    let listed = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let files = listed(folder).flat_map(|shard| listed(&shard).collect::<Vec<_>>());
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = files
        .filter_map(|path| {
            let facts = std::fs::metadata(&path).ok()?;
            Some((facts.modified().ok()?, facts.len(), path))
        })
        .collect();
    entries.sort();
    let mut total: u64 = entries.iter().map(|(_, size, _)| size).sum();
    for (_, size, path) in entries {
        if total <= most {
            return;
        }
        if std::fs::remove_file(path).is_ok() {
            total -= size;
        }
    }
}

impl Entry {
    /// Hands over what was kept, if something was and is whole.
    pub fn replay(&self, stage: &mut Stage) -> Result<bool> {
        let Some(mut kept) = whole(&self.path) else { return Ok(false) };
        mark_used(kept.get_ref().get_ref());
        let mut decoder = zstd::Decoder::with_buffer(&mut kept)?;
        loop {
            let item = read_item(&mut decoder)
                .with_context(|| format!("cannot take up {} again; remove it", self.path.display()))?;
            let last = matches!(item, Item::Read | Item::Skipped | Item::Failed);
            stage.take(item);
            if last {
                return Ok(true);
            }
        }
    }

    /// What keeps what is found now; nothing where the folder can't be written.
    pub fn keeper(self) -> Option<Keeper> {
        let folder = self.path.parent()?;
        std::fs::create_dir_all(folder).ok()?;
        let aside = tempfile::Builder::new().prefix(".new-").tempfile_in(folder).ok()?;
        let file = BufWriter::with_capacity(1 << 16, aside.reopen().ok()?);
        let encoder = zstd::Encoder::new(file, LEVEL).ok();
        Some(Keeper { path: self.path, aside, encoder })
    }
}

impl Keeper {
    pub fn keep(&mut self, item: &Item) {
        if let Some(encoder) = &mut self.encoder
            && write_item(encoder, item).is_err()
        {
            self.encoder = None;
        }
    }

    /// Puts the entry into its place, its hash behind it.
    pub fn finish(self) {
        let Keeper { path, aside, encoder } = self;
        let place = || -> Result<()> {
            let encoder = encoder.context("it could not be written")?;
            encoder.finish()?.into_inner().map_err(|e| e.into_error())?;
            let mut file = aside.reopen()?;
            let hash = sha256(&mut file)?;
            file.write_all(&hash)?;
            aside.persist(path)?;
            Ok(())
        };
        // Without an entry the file is read again next time, and nothing else.
        let _ = place();
    }
}

/// The packed items of an entry, if its hash says that it is whole.
fn whole(path: &Path) -> Option<BufReader<io::Take<File>>> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len().checked_sub(HASH as u64)?;
    let found = sha256(&mut (&file).take(length)).ok()?;
    let mut said = [0; HASH];
    file.read_exact(&mut said).ok()?;
    file.seek(SeekFrom::Start(0)).ok()?;
    (found == said).then(|| BufReader::with_capacity(1 << 18, file.take(length)))
}

fn mark_used(file: &File) {
    let used = file.metadata().and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
    if used.is_none_or(|ago| ago > USED_LATELY) {
        let _ = file.set_modified(SystemTime::now());
    }
}

fn sha256(reader: &mut impl Read) -> io::Result<[u8; HASH]> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hash.finalize().into()),
            read => hash.update(&buffer[..read]),
        }
    }
}

fn write_item(out: &mut impl Write, item: &Item) -> io::Result<()> {
    match item {
        Item::Record(source) => {
            out.write_all(b"r")?;
            write_bytes(out, source.as_bytes())
        }
        Item::Line(line) => {
            out.write_all(b"l")?;
            out.write_all(&[line.rank])?;
            out.write_all(&line.n.to_le_bytes())?;
            write_bytes(out, line.table.as_bytes())?;
            write_bytes(out, line.newest.as_bytes())?;
            write_bytes(out, &line.columns)
        }
        Item::Reject { source, place, reason } => {
            out.write_all(b"x")?;
            [source, place.as_str(), reason.as_str()].iter().try_for_each(|part| write_bytes(out, part.as_bytes()))
        }
        Item::Read => out.write_all(b"R"),
        Item::Skipped => out.write_all(b"S"),
        Item::Failed => out.write_all(b"F"),
    }
}

fn write_bytes(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(bytes)
}

fn read_item(from: &mut impl Read) -> Result<Item> {
    let [kind] = read_array(from)?;
    Ok(match kind {
        b'r' => Item::Record(read_source(from)?),
        b'l' => {
            let ([rank], n) = (read_array(from)?, u32::from_le_bytes(read_array(from)?));
            let (table, newest, columns) = (read_text(from)?, read_text(from)?, read_bytes(from)?);
            Item::Line(Line { table, rank, newest, n, columns })
        }
        b'x' => Item::Reject { source: read_source(from)?, place: read_text(from)?, reason: read_text(from)? },
        b'R' => Item::Read,
        b'S' => Item::Skipped,
        b'F' => Item::Failed,
        other => anyhow::bail!("there is no item {other}"),
    })
}

fn read_array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut array = [0; N];
    from.read_exact(&mut array)?;
    Ok(array)
}

fn read_bytes(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; u32::from_le_bytes(read_array(from)?) as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_text(from: &mut impl Read) -> Result<String> {
    Ok(String::from_utf8(read_bytes(from)?)?)
}

fn read_source(from: &mut impl Read) -> Result<&'static str> {
    let key = read_text(from)?;
    Ok(catalog::source(&key).with_context(|| format!("there is no source {key}"))?.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entries_used_longest_ago_go_first() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ab")).unwrap();
        for (name, days) in [("old", 9), ("new", 1), ("older", 20)] {
            let path = folder.path().join("ab").join(name);
            std::fs::write(&path, [0; 100]).unwrap();
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(days * 86_400)).unwrap();
        }
        prune(folder.path(), 250);
        let left = |name: &str| folder.path().join("ab").join(name).exists();
        assert_eq!((left("older"), left("old"), left("new")), (false, true, true));
    }
}
