//! Downloads files and API items into the target folder, and records them in the state.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::bulk::BulkFolder;
use super::calendar::{self, Day};
use super::client::{Client, NotFound};
use super::items;
use super::listing::{Kind, RemoteFile};
use super::partial::PartialFile;
use super::publishers::Part;
use super::state::{Entry, State, Version};

/// What a run works with.
pub struct Downloader<'a> {
    pub client: &'a Client,
    pub state: &'a State,
    pub folder: &'a Path,
    pub today: Day,
    /// Complete files are checked again.
    pub refresh: bool,
    /// Databases of the Bank of Japan to fetch.
    pub boj_databases: Vec<&'static str>,
    /// Bytes received, for display.
    pub bytes: AtomicU64,
}

/// How a download ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DownloadOutcome {
    New,
    Changed,
    Unchanged,
    /// Not published yet.
    Unpublished,
}

impl Downloader<'_> {
    /// Whether a file has to be requested.
    pub fn is_needed(&self, file: &RemoteFile) -> bool {
        self.refresh || !file.is_current(self.state)
    }

    /// Downloads a file or an API item, unless it is unchanged.
    pub fn get(&self, file: &RemoteFile) -> Result<DownloadOutcome> {
        let result = match file.kind {
            Kind::File => self.get_file(file),
            Kind::Item(parts) => self.get_item(file, parts),
        };
        match result {
            Err(error) if file.may_be_unpublished && error.is::<NotFound>() => {
                Ok(DownloadOutcome::Unpublished)
            }
            result => result,
        }
    }

    pub fn get_file(&self, file: &RemoteFile) -> Result<DownloadOutcome> {
        self.get_checked(file, |_, _| Ok(()))
    }

    /// Downloads the archive of a folder, which replaces single files.
    pub fn get_archive(&self, folder: &BulkFolder) -> Result<DownloadOutcome> {
        self.get_checked(&folder.archive, |path, version| {
            folder.delete_superseded(path, version, self.state)
        })
    }

    /// Downloads a file. `accept` is called when it is complete, before it is moved into place.
    fn get_checked(
        &self,
        file: &RemoteFile,
        accept: impl FnOnce(&Path, &Version) -> Result<()>,
    ) -> Result<DownloadOutcome> {
        let stored = self.state.get(&file.path).filter(|entry| entry.url == file.url);
        // What changed according to the list is not asked for with "if it changed": a cache could
        // deny it, and the old file would pass for the new one.
        let listed = stored.as_ref().filter(|entry| entry.stamp == file.stamp);
        let mut partial = PartialFile::open(self, file)?;
        let result = self
            .client
            .with_retries(&file.url, |attempt| partial.attempt(self, file, listed, attempt));
        match result {
            Ok(Some(version)) => {
                accept(partial.temporary(), &version).inspect_err(|_| partial.discard())?;
                let entry = self.entry(file, partial.sha256(), partial.length(), version);
                partial.move_into_place()?;
                self.record(file, stored, entry)
            }
            Ok(None) => {
                let entry = stored.context("the server reports no change, but there is no file")?;
                let entry = Entry { fetched: calendar::now(), ..entry };
                self.state.set_complete(&file.path, entry)?;
                Ok(DownloadOutcome::Unchanged)
            }
            Err(error) => {
                partial.keep_or_discard(self.state, &file.path)?;
                Err(error)
            }
        }
    }

    /// Gets an API item and the lists it links to.
    fn get_item(&self, file: &RemoteFile, parts: &[Part]) -> Result<DownloadOutcome> {
        let mut value = self.client.json(&file.url)?;
        items::complete(self.client, &file.url, &mut value, parts)?;
        self.store(file, &serde_json::to_vec(&value)?)
    }

    /// Stores a file from memory.
    pub fn store(&self, file: &RemoteFile, bytes: &[u8]) -> Result<DownloadOutcome> {
        let stored = self.state.get(&file.path);
        let (path, temporary) = create_paths(self.folder, &file.path)?;
        std::fs::write(&temporary, bytes)
            .with_context(|| format!("cannot write {}", temporary.display()))?;
        std::fs::rename(&temporary, &path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let sha256 = hex::encode(Sha256::digest(bytes));
        let entry = self.entry(file, sha256, bytes.len() as u64, Version::default());
        self.record(file, stored, entry)
    }

    fn entry(&self, file: &RemoteFile, sha256: String, bytes: u64, version: Version) -> Entry {
        let (url, fetched, stamp) = (file.url.clone(), calendar::now(), file.stamp.clone());
        Entry { url, sha256, bytes, fetched, stamp, version }
    }

    fn record(
        &self,
        file: &RemoteFile,
        before: Option<Entry>,
        entry: Entry,
    ) -> Result<DownloadOutcome> {
        let outcome = match before {
            None => DownloadOutcome::New,
            Some(before) if before.sha256 == entry.sha256 => DownloadOutcome::Unchanged,
            Some(_) => DownloadOutcome::Changed,
        };
        self.state.set_complete(&file.path, entry)?;
        Ok(outcome)
    }
}

/// The final path of a file, and the hidden path beside it that it has until it is complete.
/// Creates their folder.
pub fn create_paths(folder: &Path, path: &str) -> Result<(PathBuf, PathBuf)> {
    let path = folder.join(path);
    let parent = path.parent().context("a file without a folder")?;
    std::fs::create_dir_all(parent)
        .with_context(|| format!("cannot create {}", parent.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let temporary = parent.join(format!(".{name}.part"));
    Ok((path, temporary))
}
