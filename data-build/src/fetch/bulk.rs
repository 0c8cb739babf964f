//! Folders of GPO's bulk data that have an archive of all their files. The archive is downloaded
//! first; after that, single files that changed, until they are so many that the archive is worth
//! another download. `build` reads a single file instead of the archive's copy.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use time::OffsetDateTime;
use zip::ZipArchive;

use super::listing::RemoteFile;
use super::state::{State, Version};
use crate::formats::dates;

/// The archive is downloaded if it has more than this part of the folder's files that are needed.
const WORTHWHILE_PART: usize = 10;

/// A folder in the publisher's list.
pub struct BulkFolder {
    pub archive: RemoteFile,
    pub files: Vec<RemoteFile>,
}

/// What to download of a folder.
pub enum FolderPlan {
    /// The archive, and then what it lacks.
    Archive(BulkFolder),
    /// Single files. The others are unchanged.
    Files { needed: Vec<RemoteFile>, unchanged: usize },
}

impl BulkFolder {
    pub fn plan(self, state: &State, refresh: bool) -> FolderPlan {
        let needed = self.needed(state);
        let stored = state.get(&self.archive.path).and_then(|entry| entry.stamp);
        let made = self.archive.stamp.as_deref().and_then(minute);
        let in_archive = |file: &&RemoteFile| {
            let changed = file.stamp.as_deref().and_then(minute);
            changed.is_some() && changed < made
        };
        let gained = match stored == self.archive.stamp {
            true => 0,
            false => needed.iter().filter(in_archive).count(),
        };
        if refresh || gained * WORTHWHILE_PART > self.files.len() {
            return FolderPlan::Archive(self);
        }
        FolderPlan::Files { unchanged: self.files.len() - needed.len(), needed }
    }

    /// The files that are stored in the listed version neither in the archive nor by themselves.
    pub fn needed(&self, state: &State) -> Vec<RemoteFile> {
        let archive = state.get(&self.archive.path).and_then(|entry| {
            let file = state.open_file(&self.archive.path).ok()?;
            Contents::read(file, entry.stamp.as_deref(), &entry.version).ok()
        });
        let is_stored = |file: &&RemoteFile| {
            file.is_current(state) || archive.as_ref().is_some_and(|a| a.has_listed_version(file))
        };
        self.files.iter().filter(|file| !is_stored(file)).cloned().collect()
    }

    /// Deletes the single files that a new archive has in the same or a newer version.
    pub fn delete_superseded(
        &self,
        archive: &Path,
        version: &Version,
        state: &State,
    ) -> Result<()> {
        let contents =
            Contents::read(File::open(archive)?, self.archive.stamp.as_deref(), version)?;
        for file in &self.files {
            let stored = state.get(&file.path).and_then(|entry| entry.stamp);
            if stored.is_some_and(|stamp| contents.is_newer_than(&stamp, file)) {
                state.delete(&file.path)?;
            }
        }
        Ok(())
    }
}

/// What an archive has.
struct Contents {
    /// When it was made, to the minute. What changed in that minute or later may not be in it.
    made: Option<String>,
    /// Sizes by file name.
    sizes: HashMap<String, u64>,
}

impl Contents {
    fn read(file: File, stamp: Option<&str>, version: &Version) -> Result<Contents> {
        let mut zip =
            ZipArchive::new(BufReader::new(file)).context("not a readable ZIP archive")?;
        let mut sizes = HashMap::new();
        for index in 0..zip.len() {
            let member = zip.by_index_raw(index).context("a damaged ZIP archive")?;
            let name = member.name().rsplit('/').next().unwrap_or_default().to_string();
            sizes.insert(name, member.size());
        }
        // A server may send an older archive than the one in the list.
        let sent = version.modified.as_deref().and_then(http_minute);
        let made =
            stamp.and_then(minute).map(|listed| sent.map_or(listed.clone(), |s| s.min(listed)));
        Ok(Contents { made, sizes })
    }

    fn has_listed_version(&self, file: &RemoteFile) -> bool {
        let size = self.sizes.get(file_name(file));
        let is_listed_size = size.is_some_and(|size| file.size == 0 || *size == file.size);
        is_listed_size && file.stamp.as_deref().is_some_and(|stamp| self.is_newer_than(stamp, file))
    }

    /// Whether it was made after this version of one of its files.
    fn is_newer_than(&self, stamp: &str, file: &RemoteFile) -> bool {
        self.sizes.contains_key(file_name(file))
            && minute(stamp).is_some_and(|changed| Some(changed) < self.made)
    }
}

fn file_name(file: &RemoteFile) -> &str {
    file.path.rsplit('/').next().unwrap_or_default()
}

/// "18-Sep-2026 20:26" -> "2026-09-18 20:26", which sorts by time.
fn minute(stamp: &str) -> Option<String> {
    let (day, clock) = stamp.trim().split_once(' ')?;
    let is_clock = clock.len() == 5 && clock.as_bytes()[2] == b':';
    is_clock.then(|| dates::day_first(day)).flatten().map(|day| format!("{day} {clock}"))
}

/// The same of a date as in HTTP headers.
fn http_minute(date: &str) -> Option<String> {
    let time = OffsetDateTime::from(httpdate::parse_http_date(date).ok()?);
    Some(format!("{} {:02}:{:02}", time.date(), time.hour(), time.minute()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_to_the_minute() {
        assert_eq!(minute("18-Sep-2026 20:26").as_deref(), Some("2026-09-18 20:26"));
        assert_eq!(
            http_minute("Fri, 18 Sep 2026 20:26:06 GMT").as_deref(),
            Some("2026-09-18 20:26")
        );
        assert!(minute("09-Oct-2026 01:00") > minute("18-Sep-2026 20:26"));
        for odd in ["", "18-Sep-2026", "1", "18-Sep-2026 8:26 PM", "31-Feb-2026 20:26"] {
            assert_eq!(minute(odd), None, "{odd}");
        }
    }
}
