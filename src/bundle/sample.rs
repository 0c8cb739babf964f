//! The sample bundle, embedded in the binary and unpacked once to the user's cache under a hash of itself.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::writer::hex;

/// Built by `josh-data-build build --from assets/sample`, compressed with zstd.
static SAMPLE: &[u8] = include_bytes!("../../assets/sample.db.zst");

/// The path of the unpacked sample; unpacks it where that has not been done yet.
pub fn sample_path() -> std::io::Result<PathBuf> {
    let name = format!("sample-{}.db", &hex(&Sha256::digest(SAMPLE))[..16]);
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
        .filter(|p| p.is_absolute())
        .map(|p| p.join("josh"));
    if let Some(folder) = cache
        && let Ok(path) = unpack(&folder, &name)
    {
        return Ok(path);
    }
    // The temporary folder is shared with other users: ours must be ours alone, or a file in it could be anyone's.
    // SAFETY: geteuid has no preconditions and cannot fail.
    let user = unsafe { libc::geteuid() };
    let folder = std::env::temp_dir().join(format!("josh-{user}"));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let meta = std::fs::symlink_metadata(&folder)?;
    if !meta.is_dir() || meta.uid() != user || meta.mode() & 0o022 != 0 {
        return Err(std::io::Error::other(format!("{} belongs to someone else; set XDG_CACHE_HOME", folder.display())));
    }
    unpack(&folder, &name)
}

fn unpack(folder: &Path, name: &str) -> std::io::Result<PathBuf> {
    let path = folder.join(name);
    std::fs::create_dir_all(folder)?;
    // A file that was cut short or tampered with is found by the footer and replaced.
    if super::read_manifest(&path).is_ok() {
        return Ok(path);
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let mut decoder = zstd::Decoder::new(SAMPLE)?;
    std::io::copy(&mut decoder, file.as_file_mut())?;
    file.flush()?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o444))?;
    file.persist(&path).map_err(|e| e.error)?;
    Ok(path)
}
