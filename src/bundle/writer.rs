//! Writes a bundle file from its parts: a DuckDB file, the sections behind it, manifest and footer.
//! The parts are made by `data-build`; this does not look into them.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::format::{FORMAT, Footer, OLDEST_READER, PAGE, SectionKind, aligned};
use super::manifest::{Manifest, SectionFacts};
pub use super::pack::pack;

/// Writes the bundle to `out` from the parts, in order, the database first. The manifest must be
/// complete except for its sections. The file gets its name only when it is complete, and is
/// read-only: DuckDB would cut off our sections if it ever wrote to it.
pub fn write(
    out: &Path,
    parts: &[(SectionKind, &Path)],
    mut manifest: Manifest,
) -> io::Result<Manifest> {
    let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = tempfile::NamedTempFile::new_in(folder)?;
    let mut file = BufWriter::with_capacity(1 << 20, temporary);
    let mut at = 0;
    manifest.sections.clear();
    for (kind, path) in parts {
        at = pad(&mut file, at)?;
        let (length, sha256) = copy_hashed(&mut File::open(path)?, &mut file)?;
        manifest.sections.push(SectionFacts { kind: *kind, offset: at, length, sha256 });
        at += length;
    }
    at = pad(&mut file, at)?;
    let mut temporary = file.into_inner().map_err(|e| e.into_error())?;
    write_end(temporary.as_file_mut(), at, &manifest)?;
    temporary.as_file().set_permissions(std::fs::Permissions::from_mode(0o444))?;
    temporary.persist(out).map_err(|e| e.error)?;
    Ok(manifest)
}

/// Writes manifest and footer at `at` and truncates the file after them.
pub(super) fn write_end(file: &mut File, at: u64, manifest: &Manifest) -> io::Result<()> {
    let bytes = serde_json::to_vec(manifest)?;
    let footer = Footer {
        format: FORMAT,
        oldest_reader: OLDEST_READER,
        manifest_offset: at,
        manifest_length: bytes.len() as u64,
        file_length: at + bytes.len() as u64 + super::format::FOOTER_LENGTH,
        manifest_sha256: Sha256::digest(&bytes).into(),
    };
    file.seek(SeekFrom::Start(at))?;
    file.write_all(&bytes)?;
    file.write_all(&footer.to_bytes())?;
    file.set_len(footer.file_length)?;
    file.sync_all()
}

/// Writes zeros up to the next page boundary and returns that.
fn pad(file: &mut impl Write, at: u64) -> io::Result<u64> {
    let end = aligned(at);
    file.write_all(&[0; PAGE as usize][..(end - at) as usize])?;
    Ok(end)
}

/// Copies everything; returns its length and SHA-256.
fn copy_hashed(from: &mut impl Read, to: &mut impl Write) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let mut length = 0;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok((length, hex::encode(hash.finalize())));
        }
        hash.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        length += read as u64;
    }
}

/// The SHA-256 of a range of a file.
pub(super) fn hash_range(file: &File, offset: u64, length: u64) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut done = 0;
    while done < length {
        let want = buffer.len().min((length - done) as usize);
        file.read_exact_at(&mut buffer[..want], offset + done)?;
        hash.update(&buffer[..want]);
        done += want as u64;
    }
    Ok(hex::encode(hash.finalize()))
}
