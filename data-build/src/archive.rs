//! Zip archives, as publishers hand out whole Congresses: each member is read like a file of the folder that the archive
//! lies in. Its directory is not trusted: sizes, ratio and number of members are bounded, and nothing is written to disk.

use std::fs::File;
use std::io::{BufReader, Read};

use anyhow::{Context, Result};
use zip::ZipArchive;

use crate::input::{HIGHEST_RATIO, Input, LARGEST_DOCUMENT, UNPACKED_FREELY};

/// More members than all bills of ten Congresses is not an archive of official files.
const MOST_MEMBERS: usize = 250_000;

/// Hands over the members of an archive, one at a time, in the order of their names. A member that can't be read comes
/// without bytes and with the reason; an error means that the archive as a whole can't be read.
pub fn each_member(archive: &Input, mut hand_over: impl FnMut(Input)) -> Result<()> {
    // Members of archives are not archives on disk: those inside of others are not opened.
    let file = File::open(&archive.path).context("cannot be opened")?;
    let most = UNPACKED_FREELY.max(file.metadata()?.len().saturating_mul(HIGHEST_RATIO));
    let mut zip = ZipArchive::new(BufReader::new(file)).context("not a zip archive")?;
    anyhow::ensure!(zip.len() <= MOST_MEMBERS, "{} members, more than {MOST_MEMBERS}", zip.len());
    let mut members: Vec<(String, usize)> =
        (0..zip.len()).filter_map(|n| Some((zip.name_for_index(n)?.to_string(), n))).collect();
    members.retain(|(name, _)| {
        !name.ends_with('/') && !name.split('/').any(|part| part.starts_with('.') && part.len() > 2)
    });
    members.sort();
    let mut total = 0;
    for (name, n) in members {
        let bytes = unpacked(&mut zip, n);
        total += bytes.as_ref().map_or(0, |b| b.len() as u64);
        anyhow::ensure!(total <= most, "unpacks to more than {HIGHEST_RATIO} times its size; read up to {name}");
        hand_over(archive.member(&name, bytes.map_err(|e| format!("{e:#}"))));
    }
    Ok(())
}

fn unpacked(zip: &mut ZipArchive<BufReader<File>>, n: usize) -> Result<Vec<u8>> {
    let mut member = zip.by_index(n).context("cannot be unpacked")?;
    anyhow::ensure!(member.enclosed_name().is_some(), "its name leads out of the archive");
    anyhow::ensure!(
        !member.name().to_ascii_lowercase().ends_with(".zip"),
        "an archive inside an archive is not opened; unpack the outer one"
    );
    let (packed, most) = (member.compressed_size(), LARGEST_DOCUMENT);
    let most = most.min(UNPACKED_FREELY.max(packed.saturating_mul(HIGHEST_RATIO)));
    let mut bytes = Vec::new();
    member.by_ref().take(most + 1).read_to_end(&mut bytes).context("cannot be unpacked")?;
    anyhow::ensure!(bytes.len() as u64 <= most, "unpacks to more than {} MiB", most >> 20);
    Ok(bytes)
}
