//! Lists the files of a feed in one window of time.

use anyhow::{Context, Result, bail, ensure};
use regex::Regex;
use serde_json::Value;

use super::bulk::BulkFolder;
use super::calendar::Window;
use super::client::NotFound;
use super::download::Downloader;
use super::items;
use super::names;
use super::numbered::NumberWalk;
use super::publishers::{Feed, Listing, Part};
use super::state::State;

/// GPO's bulk data has at most this many levels of folders.
const MAX_DEPTH: usize = 4;

/// A file to download.
#[derive(Clone)]
pub struct RemoteFile {
    pub source: &'static str,
    /// Relative to the target folder.
    pub path: String,
    pub url: String,
    /// The version in the publisher's list.
    pub stamp: Option<String>,
    /// The size in the publisher's list; 0 if it is not stated.
    pub size: u64,
    /// It never changes, so a complete copy is not checked again.
    pub immutable: bool,
    /// It may not be published yet, so a missing file is not an error.
    pub may_be_unpublished: bool,
    /// The element that an XML file must have.
    pub root: Option<&'static str>,
    pub kind: Kind,
}

#[derive(Clone, Copy)]
pub enum Kind {
    /// Of any size, stored byte for byte.
    File,
    /// An API response, completed with its parts.
    Item(&'static [Part]),
}

impl RemoteFile {
    pub fn file(source: &'static str, path: String, url: String) -> RemoteFile {
        RemoteFile {
            source,
            path,
            url,
            stamp: None,
            size: 0,
            immutable: false,
            may_be_unpublished: false,
            root: None,
            kind: Kind::File,
        }
    }

    pub fn item(source: &'static str, path: String, url: String) -> RemoteFile {
        RemoteFile { kind: Kind::Item(&[]), ..RemoteFile::file(source, path, url) }
    }

    /// Whether the stored file has the listed version.
    pub fn is_current(&self, state: &State) -> bool {
        let Some(entry) = state.get(&self.path).filter(|entry| entry.url == self.url) else {
            return false;
        };
        if self.stamp.is_some() { entry.stamp == self.stamp } else { self.immutable }
    }
}

/// Checks that an address is on the same host as the list that contains it.
pub fn same_host(list: &str, address: &str) -> Result<String> {
    let address = address.replacen("http://", "https://", 1);
    if names::host(&address) != names::host(list) {
        bail!("{address:?} is not on the host of its list");
    }
    Ok(address)
}

/// The result of listing.
#[derive(Default)]
pub struct Listed {
    pub files: Vec<RemoteFile>,
    /// Folders that can be downloaded as archives.
    pub folders: Vec<BulkFolder>,
    /// Files without an index.
    pub walks: Vec<NumberWalk>,
    /// Address and reason.
    pub failed: Vec<(String, String)>,
    /// Addresses of lists that are not published yet.
    pub unpublished: Vec<String>,
    /// Lines for the summary.
    pub notes: Vec<String>,
}

impl Listed {
    pub fn extend(&mut self, other: Listed) {
        self.files.extend(other.files);
        self.folders.extend(other.folders);
        self.walks.extend(other.walks);
        self.failed.extend(other.failed);
        self.unpublished.extend(other.unpublished);
        self.notes.extend(other.notes);
    }
}

/// Lists one window of a feed.
pub struct Lister<'a> {
    pub downloader: &'a Downloader<'a>,
    pub feed: &'static Feed,
    pub window: &'a Window,
    pub listed: Listed,
}

impl Lister<'_> {
    pub fn run(mut self) -> Listed {
        let address = self.window.fill(self.feed.address);
        let result = match &self.feed.listing {
            Listing::File => self.single(&address),
            Listing::Bulk { archives } => self.bulk(&address, *archives, MAX_DEPTH),
            Listing::Sitemap { file } => self.sitemap(&address, file),
            Listing::Numbered(numbered) => self.numbered(&address, numbered),
            Listing::Links { pattern } => self.links(&address, pattern),
            Listing::Statements => self.statements(&address),
            Listing::Items { list, parts } => self.items(&address, list, parts),
            Listing::Pages(_)
            | Listing::BankDatabases
            | Listing::LaborSeries
            | Listing::IncludedIn(_) => Ok(()),
        };
        if let Err(error) = result {
            self.fail(&address, &error);
        }
        self.listed
    }

    /// Adds a failure, unless the list is only not published yet.
    pub fn fail(&mut self, address: &str, error: &anyhow::Error) {
        if error.is::<NotFound>() && self.window.is_recent(self.downloader.today) {
            self.listed.unpublished.push(address.to_string());
        } else {
            self.listed.failed.push((address.to_string(), format!("{error:#}")));
        }
    }

    /// A file in the feed's folder, named like the last part of its address.
    pub fn file(&self, url: String) -> Result<RemoteFile> {
        let name = names::file_name(&url, "")?;
        let path = self.feed.path(self.window, &name);
        Ok(RemoteFile::file(self.feed.source, path, url))
    }

    fn single(&mut self, address: &str) -> Result<()> {
        let may_be_unpublished = self.window.is_recent(self.downloader.today);
        let file = RemoteFile { may_be_unpublished, ..self.file(address.to_string())? };
        self.listed.files.push(file);
        Ok(())
    }

    fn bulk(&mut self, address: &str, archives: bool, depth: usize) -> Result<()> {
        let list = self.downloader.client.json(address)?;
        let Some(Value::Array(entries)) = list.get("files") else {
            bail!("no list of files at {address}")
        };
        let (mut files, mut archive) = (Vec::new(), None);
        for entry in entries {
            let text =
                |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
            let (name, link) = (text("name"), text("link"));
            let is_folder =
                entry.get("folder").is_some_and(|f| f == &Value::Bool(true) || f == "true");
            let ends_with = |end: &str| link.to_ascii_lowercase().ends_with(end);
            if is_folder {
                // "resources" has schemas and style sheets.
                if name == "resources" || depth == 0 {
                    continue;
                }
                let below = format!("{address}/{}", names::sanitized(&name));
                if let Err(error) = self.bulk(&below, archives, depth - 1) {
                    self.fail(&below, &error);
                }
            } else if ends_with(".xml") || (archives && ends_with(".zip")) {
                match same_host(address, &link).and_then(|url| self.file(url)) {
                    Ok(mut file) => {
                        file.stamp =
                            Some(text("formattedLastModifiedTime")).filter(|s| !s.is_empty());
                        file.size = entry.get("size").and_then(Value::as_u64).unwrap_or_default();
                        match ends_with(".zip") {
                            true => archive = Some(file),
                            false => files.push(file),
                        }
                    }
                    Err(error) => self.fail(&link, &error),
                }
            }
        }
        match archive {
            Some(archive) => self.listed.folders.push(BulkFolder { archive, files }),
            None => self.listed.files.extend(files),
        }
        Ok(())
    }

    fn sitemap(&mut self, address: &str, file_pattern: &str) -> Result<()> {
        let text = self.downloader.client.text(address, "application/xml")?;
        let document = roxmltree::Document::parse(&text).context("the sitemap is not XML")?;
        for entry in document.descendants().filter(|n| n.tag_name().name() == "url") {
            let child = |name: &str| {
                entry.children().find(|n| n.tag_name().name() == name).and_then(|n| n.text())
            };
            let id = names::sanitized(
                child("loc").unwrap_or_default().trim().rsplit('/').next().unwrap_or_default(),
            );
            if id.is_empty() {
                continue;
            }
            let mut file = self.file(file_pattern.replace("{id}", &id))?;
            file.stamp = child("lastmod").map(|s| s.trim().to_string());
            self.listed.files.push(file);
        }
        Ok(())
    }

    fn links(&mut self, address: &str, pattern: &str) -> Result<()> {
        let text = self.downloader.client.text(address, "text/html")?;
        let host = names::host(address).unwrap_or_default();
        let year = Regex::new(r"(?:^|\D)(20\d\d)(?:\D|$)")?;
        let mut found = 0;
        for link in Regex::new(pattern)?.captures_iter(&text) {
            found += 1;
            let link = link[1].replace("&amp;", "&").replace(' ', "%20");
            let url = if link.starts_with('/') { format!("https://{host}{link}") } else { link };
            let name = url.rsplit('/').next().unwrap_or_default();
            let stated = year.captures(name).and_then(|c| c[1].parse::<i64>().ok());
            if stated.is_some_and(|year| !self.window.includes_year(year)) {
                continue;
            }
            match same_host(address, &url).and_then(|url| self.file(url)) {
                Ok(file) => self.listed.files.push(file),
                Err(error) => self.fail(&url, &error),
            }
        }
        ensure!(found > 0, "no links to files on the page; its format may have changed");
        Ok(())
    }

    fn items(&mut self, address: &str, list: &str, parts: &'static [Part]) -> Result<()> {
        let listed = items::all(self.downloader.client, address, list)?;
        if let Some(reason) = listed.incomplete() {
            self.listed.failed.push((address.to_string(), reason));
        }
        for item in listed.items {
            let Some(url) = item.get("url").and_then(Value::as_str) else { continue };
            let file = same_host(address, url).and_then(|url| {
                let name = format!("{}.json", names::file_name(&url, "/v3/")?);
                let path = self.feed.path(self.window, &name);
                let file = RemoteFile::item(self.feed.source, path, url);
                Ok(RemoteFile { kind: Kind::Item(parts), ..file })
            });
            match file {
                Ok(mut file) => {
                    file.stamp = item.get("updateDate").and_then(Value::as_str).map(str::to_string);
                    self.listed.files.push(file);
                }
                Err(error) => self.fail(url, &error),
            }
        }
        // The pages of the API come in no order.
        self.listed.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(())
    }
}
