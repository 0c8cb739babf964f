//! The sample bundle, embedded in the binary. It is unpacked once into the user's cache folder,
//! under a name with its hash, so that each version of the binary finds its own.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// Built by `josh-data-build build --from assets/sample`, compressed with zstd.
static SAMPLE: &[u8] = include_bytes!("../../assets/sample.db.zst");

/// The name of the unpacked file.
static NAME: LazyLock<String> =
    LazyLock::new(|| format!("sample-{}.db", &hex::encode(Sha256::digest(SAMPLE))[..16]));

/// Whether this is the file of the unpacked sample.
pub fn is_sample(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == NAME.as_str())
}

/// The path of the unpacked sample. Unpacks it if necessary.
pub fn sample_path() -> std::io::Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
        .filter(|p| p.is_absolute())
        .map(|p| p.join("josh"));
    if let Some(folder) = cache
        && let Ok(path) = unpack(&folder, &NAME)
    {
        return Ok(path);
    }
    // The temporary folder is shared. Our folder in it must belong to us, or another user could
    // have put the file there. SAFETY: geteuid has no preconditions and cannot fail.
    let user = unsafe { libc::geteuid() };
    let folder = std::env::temp_dir().join(format!("josh-{user}"));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let meta = std::fs::symlink_metadata(&folder)?;
    if !meta.is_dir() || meta.uid() != user || meta.mode() & 0o022 != 0 {
        return Err(std::io::Error::other(format!(
            "{} belongs to another user or is writable by others; set XDG_CACHE_HOME",
            folder.display()
        )));
    }
    unpack(&folder, &NAME)
}

fn unpack(folder: &Path, name: &str) -> std::io::Result<PathBuf> {
    let path = folder.join(name);
    std::fs::create_dir_all(folder)?;
    // A file that was truncated does not open and is replaced.
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
