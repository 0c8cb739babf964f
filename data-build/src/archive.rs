//! Zip archives, which publishers use for whole Congresses. Each member is read like a file in the
//! archive's folder. The archive's directory is not trusted: sizes, compression ratio and the
//! number of members are bounded, and nothing is written to disk.

use std::fs::File;
use std::io::{BufReader, Read};

use anyhow::{Context, Result};
use zip::ZipArchive;

use crate::input::{Input, MAX_COMPRESSION_RATIO, MAX_DOCUMENT_BYTES, UNRESTRICTED_BYTES};

/// More than all bills of ten Congresses.
const MAX_MEMBERS: usize = 250_000;

/// Calls `visit` with each member of an archive, sorted by name. An unreadable member has no bytes
/// but a reason; an error means that the archive as a whole can't be read.
pub fn each_member(archive: &Input, mut visit: impl FnMut(Input)) -> Result<()> {
    // Opened by path, so a member is never opened as an archive itself.
    let file = File::open(&archive.path).context("cannot be opened")?;
    let limit =
        UNRESTRICTED_BYTES.max(file.metadata()?.len().saturating_mul(MAX_COMPRESSION_RATIO));
    let mut zip = ZipArchive::new(BufReader::new(file)).context("not a zip archive")?;
    anyhow::ensure!(zip.len() <= MAX_MEMBERS, "{} members, more than {MAX_MEMBERS}", zip.len());
    let mut members: Vec<(String, usize)> =
        (0..zip.len()).filter_map(|n| Some((zip.name_for_index(n)?.to_string(), n))).collect();
    members.retain(|(name, _)| {
        !name.ends_with('/')
            && !name.split('/').any(|part| part.starts_with('.') && part.len() > 2)
            && !is_replaced(archive, name)
    });
    members.sort();
    let mut total = 0;
    for (name, n) in members {
        let bytes = unpack_member(&mut zip, n);
        total += bytes.as_ref().map_or(0, |b| b.len() as u64);
        anyhow::ensure!(
            total <= limit,
            "unpacks to more than {MAX_COMPRESSION_RATIO} times its size; stopped before {name}"
        );
        visit(archive.member(&name, bytes.map_err(|e| format!("{e:#}"))));
    }
    Ok(())
}

/// Whether a file next to the archive replaces a member: `fetch` stores there what changed since the
/// archive was made.
fn is_replaced(archive: &Input, name: &str) -> bool {
    !name.contains('/') && archive.path.with_file_name(name).is_file()
}

fn unpack_member(zip: &mut ZipArchive<BufReader<File>>, n: usize) -> Result<Vec<u8>> {
    let mut member = zip.by_index(n).context("cannot be unpacked")?;
    anyhow::ensure!(member.enclosed_name().is_some(), "its path points outside the archive");
    anyhow::ensure!(
        !member.name().to_ascii_lowercase().ends_with(".zip"),
        "archives inside archives are not read; unpack the outer one"
    );
    let by_ratio = member.compressed_size().saturating_mul(MAX_COMPRESSION_RATIO);
    let limit = MAX_DOCUMENT_BYTES.min(UNRESTRICTED_BYTES.max(by_ratio));
    let mut bytes = Vec::new();
    member.by_ref().take(limit + 1).read_to_end(&mut bytes).context("cannot be unpacked")?;
    anyhow::ensure!(bytes.len() as u64 <= limit, "unpacks to more than {} MiB", limit >> 20);
    Ok(bytes)
}
