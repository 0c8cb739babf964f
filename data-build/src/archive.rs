//! Zip archives, which publishers use for whole Congresses. Each member is read like a file in the
//! archive's folder. The archive's directory is not trusted: sizes, compression ratio and the
//! number of members are bounded, and nothing is written to disk.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;

use anyhow::{Context, Result};
use zip::ZipArchive;

use crate::input::{Input, MAX_COMPRESSION_RATIO, MAX_DOCUMENT_BYTES, UNRESTRICTED_BYTES};

/// More than all bills of ten Congresses.
const MAX_MEMBERS: usize = 250_000;

/// A member of an archive, by its place in the archive's directory.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: String,
    /// Size as the directory states it. A member that unpacks to more is not read.
    pub size: u64,
    index: usize,
}

/// The members of an archive that are read, sorted by name.
pub struct Members {
    pub listed: Vec<Member>,
    /// Why the members after the last listed one are not read, if there are any.
    pub stopped: Option<String>,
}

/// Lists the members of an archive. An error means that the archive as a whole can't be read.
pub fn members(archive: &Input) -> Result<Members> {
    let (mut zip, limit) = open(archive)?;
    let mut listed: Vec<Member> = (0..zip.len())
        .filter_map(|index| {
            let name = zip.name_for_index(index)?.to_string();
            Some(Member { name, size: 0, index })
        })
        .collect();
    listed.retain(|member| {
        !member.name.ends_with('/')
            && !member.name.split('/').any(|part| part.starts_with('.') && part.len() > 2)
            && !is_duplicate(&member.name)
            && !is_replaced(archive, &member.name)
    });
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    let mut total = 0;
    for at in 0..listed.len() {
        let sizes = zip.by_index_raw(listed[at].index).map(|m| (m.size(), m.compressed_size()));
        let (size, compressed) = sizes.unwrap_or_default();
        listed[at].size = size;
        // A member above its own limit is not unpacked.
        total += if size > member_limit(compressed) { 0 } else { size };
        if total > limit {
            let stopped = format!(
                "unpacks to more than {MAX_COMPRESSION_RATIO} times its size; stopped before {}",
                listed[at].name
            );
            listed.truncate(at);
            return Ok(Members { listed, stopped: Some(stopped) });
        }
    }
    Ok(Members { listed, stopped: None })
}

/// Whether a member repeats others: GPO's packages have their texts again as PDFs, and records of
/// their preservation.
fn is_duplicate(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    file.ends_with(".pdf") || file == "premis.xml" || file == "dip.xml"
}

/// Whether a file next to the archive replaces a member: `fetch` stores there what changed since
/// the archive was made.
fn is_replaced(archive: &Input, name: &str) -> bool {
    !name.contains('/') && archive.path.with_file_name(name).is_file()
}

/// Unpacks members, and keeps the archive open between those of the same one.
#[derive(Default)]
pub struct Unpacker {
    open: Option<(PathBuf, ZipArchive<BufReader<File>>)>,
}

impl Unpacker {
    /// A member as an input; an unreadable one has no bytes but a reason.
    pub fn unpack(&mut self, archive: &Input, member: &Member) -> Input {
        let bytes = self.bytes(archive, member).map_err(|e| format!("{e:#}"));
        archive.member(&member.name, bytes)
    }

    fn bytes(&mut self, archive: &Input, member: &Member) -> Result<Vec<u8>> {
        if self.open.as_ref().is_none_or(|(path, _)| *path != archive.path) {
            self.open = Some((archive.path.clone(), open(archive)?.0));
        }
        let (_, zip) = self.open.as_mut().context("cannot be opened")?;
        unpack(zip, member)
    }
}

/// Opens an archive, with the most that its members may unpack to.
fn open(archive: &Input) -> Result<(ZipArchive<BufReader<File>>, u64)> {
    // Opened by path, so a member is never opened as an archive itself.
    let file = File::open(&archive.path).context("cannot be opened")?;
    let limit =
        UNRESTRICTED_BYTES.max(file.metadata()?.len().saturating_mul(MAX_COMPRESSION_RATIO));
    let zip = ZipArchive::new(BufReader::new(file)).context("not a zip archive")?;
    anyhow::ensure!(zip.len() <= MAX_MEMBERS, "{} members, more than {MAX_MEMBERS}", zip.len());
    Ok((zip, limit))
}

fn unpack(zip: &mut ZipArchive<BufReader<File>>, member: &Member) -> Result<Vec<u8>> {
    let mut found = zip.by_index(member.index).context("cannot be unpacked")?;
    anyhow::ensure!(found.enclosed_name().is_some(), "its path points outside the archive");
    anyhow::ensure!(
        !found.name().to_ascii_lowercase().ends_with(".zip"),
        "archives inside archives are not read; unpack the outer one"
    );
    let limit = member_limit(found.compressed_size());
    anyhow::ensure!(member.size <= limit, "unpacks to more than {} MiB", limit >> 20);
    let mut bytes = Vec::new();
    found.by_ref().take(member.size + 1).read_to_end(&mut bytes).context("cannot be unpacked")?;
    anyhow::ensure!(bytes.len() as u64 <= member.size, "unpacks to more than the archive states");
    Ok(bytes)
}

/// The most that a member of this compressed size may unpack to.
fn member_limit(compressed: u64) -> u64 {
    let by_ratio = compressed.saturating_mul(MAX_COMPRESSION_RATIO);
    MAX_DOCUMENT_BYTES.min(UNRESTRICTED_BYTES.max(by_ratio))
}
