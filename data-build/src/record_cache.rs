//! Caches what readers produce, so that a build reads only files that changed.
//!
//! What a file produces depends on its bytes, its name, its source and the readers' code; these
//! form the key. The bytes are always hashed: modification times are unreliable, and hashing
//! 100 MB takes a tenth of a second. Each key has one compressed file, written under a temporary
//! name and then renamed, and followed by its own hash, so that a damaged entry is ignored. The
//! least recently used entries are removed when all take more than `MAX_CACHE_BYTES`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use josh::catalog;
use sha2::{Digest, Sha256};

use crate::input::Input;
use crate::stage::Line;
use crate::stage_writer::StageWriter;

/// Enough for two full federal builds.
const MAX_CACHE_BYTES: u64 = 2 << 30;

/// How often the time of last use of an entry is updated.
const TOUCH_INTERVAL: Duration = Duration::from_secs(24 * 3600);

/// Fast, since decompression must cost less than reading the file again.
const ZSTD_LEVEL: i32 = 1;

const HASH_LENGTH: usize = 32;

/// One event of reading a file, in order.
pub enum Item {
    /// A record of this source starts.
    Record(&'static str),
    /// A line of the current record.
    Line(Line),
    Reject {
        source: &'static str,
        place: String,
        reason: String,
    },
    /// The file was read, and nothing follows; likewise the next two.
    Read,
    Skipped,
    Failed,
}

pub struct RecordCache {
    folder: PathBuf,
    /// Identifies the readers' code: version, size and modification time of the binary.
    readers: String,
}

/// The cache file for one input file.
pub struct Entry {
    path: PathBuf,
}

/// Writes the cache file of one input file. Write errors only mean that nothing is cached.
pub struct EntryWriter {
    path: PathBuf,
    temporary: tempfile::NamedTempFile,
    encoder: Option<zstd::Encoder<'static, BufWriter<File>>>,
}

impl RecordCache {
    pub fn open(folder: &Path) -> Result<RecordCache> {
        let folder = folder.join("records");
        std::fs::create_dir_all(&folder)?;
        let binary = std::fs::metadata(std::env::current_exe()?)?;
        let built = binary.modified()?.duration_since(SystemTime::UNIX_EPOCH)?;
        let readers =
            format!("{} {} {}", env!("CARGO_PKG_VERSION"), binary.len(), built.as_nanos());
        Ok(RecordCache { folder, readers })
    }

    /// The entry of a file; `None` if its bytes can't be read.
    pub fn entry(&self, source: &str, input: &Input) -> Option<Entry> {
        let content = sha256(&mut input.open_stored().ok()?).ok()?;
        let mut hash = Sha256::new();
        for part in [self.readers.as_bytes(), source.as_bytes(), input.name.as_bytes(), &content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let name = hex::encode(&hash.finalize()[..20]);
        Some(Entry { path: self.folder.join(&name[..2]).join(&name[2..]) })
    }

    /// Removes the least recently used entries until the rest fits.
    pub fn prune(&self) {
        prune(&self.folder, MAX_CACHE_BYTES);
    }
}

fn prune(folder: &Path, max_bytes: u64) {
    let listed =
        |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
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
        if total <= max_bytes {
            return;
        }
        if std::fs::remove_file(path).is_ok() {
            total -= size;
        }
    }
}

impl Entry {
    /// Stages the cached items. Returns false if there is no intact entry.
    pub fn replay(&self, stage: &mut StageWriter) -> Result<bool> {
        let Some(mut cached) = open_verified(&self.path) else { return Ok(false) };
        touch(cached.get_ref().get_ref());
        let mut decoder = zstd::Decoder::with_buffer(&mut cached)?;
        loop {
            let item = read_item(&mut decoder).with_context(|| {
                format!("cannot read the cache file {}; delete it", self.path.display())
            })?;
            let last = matches!(item, Item::Read | Item::Skipped | Item::Failed);
            stage.push(item);
            if last {
                return Ok(true);
            }
        }
    }

    /// A writer for this entry; `None` if the folder can't be written.
    pub fn writer(self) -> Option<EntryWriter> {
        let folder = self.path.parent()?;
        std::fs::create_dir_all(folder).ok()?;
        let temporary = tempfile::Builder::new().prefix(".new-").tempfile_in(folder).ok()?;
        let file = BufWriter::with_capacity(1 << 16, temporary.reopen().ok()?);
        let encoder = zstd::Encoder::new(file, ZSTD_LEVEL).ok();
        Some(EntryWriter { path: self.path, temporary, encoder })
    }
}

impl EntryWriter {
    pub fn write(&mut self, item: &Item) {
        if let Some(encoder) = &mut self.encoder
            && write_item(encoder, item).is_err()
        {
            self.encoder = None;
        }
    }

    /// Appends the hash and renames the entry into place.
    pub fn finish(self) {
        let EntryWriter { path, temporary, encoder } = self;
        let publish = || -> Result<()> {
            let encoder = encoder.context("an item could not be written")?;
            encoder.finish()?.into_inner().map_err(|e| e.into_error())?;
            let mut file = temporary.reopen()?;
            let hash = sha256(&mut file)?;
            file.write_all(&hash)?;
            temporary.persist(path)?;
            Ok(())
        };
        // On failure the next build just reads the file again.
        let _ = publish();
    }
}

/// The compressed items of an entry, if its hash is right.
fn open_verified(path: &Path) -> Option<BufReader<io::Take<File>>> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len().checked_sub(HASH_LENGTH as u64)?;
    let actual = sha256(&mut (&file).take(length)).ok()?;
    let mut stored = [0; HASH_LENGTH];
    file.read_exact(&mut stored).ok()?;
    file.seek(SeekFrom::Start(0)).ok()?;
    (actual == stored).then(|| BufReader::with_capacity(1 << 18, file.take(length)))
}

/// Updates the time of last use, which is the modification time.
fn touch(file: &File) {
    let age = file.metadata().and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
    if age.is_none_or(|age| age > TOUCH_INTERVAL) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// SHA-256 of the rest of a stream.
pub fn sha256(reader: &mut impl Read) -> io::Result<[u8; HASH_LENGTH]> {
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
            [source, place.as_str(), reason.as_str()]
                .iter()
                .try_for_each(|part| write_bytes(out, part.as_bytes()))
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
        b'x' => Item::Reject {
            source: read_source(from)?,
            place: read_text(from)?,
            reason: read_text(from)?,
        },
        b'R' => Item::Read,
        b'S' => Item::Skipped,
        b'F' => Item::Failed,
        other => anyhow::bail!("unknown item type {other}"),
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
    Ok(catalog::source(&key).with_context(|| format!("unknown source {key:?}"))?.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_entries_are_removed_first() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ab")).unwrap();
        for (name, days) in [("old", 9), ("new", 1), ("older", 20)] {
            let path = folder.path().join("ab").join(name);
            std::fs::write(&path, [0; 100]).unwrap();
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(days * 86_400)).unwrap();
        }
        prune(folder.path(), 250);
        let exists = |name: &str| folder.path().join("ab").join(name).exists();
        assert_eq!((exists("older"), exists("old"), exists("new")), (false, true, true));
    }
}
