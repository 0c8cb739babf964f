//! Lists the files of a feed in one window of time.

use anyhow::{Context, Result, bail};
use regex::Regex;
use serde_json::Value;

use super::calendar::{Day, Window};
use super::client::{Client, NotFound};
use super::items;
use super::names;
use super::publishers::{Feed, Listing, Part};
use super::state::State;

/// GPO's bulk data has at most this many levels of folders.
const MAX_DEPTH: usize = 4;
/// More than either chamber has voted in a year.
const MAX_NUMBER: u64 = 3000;

/// A file to download.
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
    /// It may not be published yet, so a 404 is not an error.
    pub may_be_unpublished: bool,
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
    fn file(source: &'static str, path: String, url: String) -> RemoteFile {
        RemoteFile {
            source,
            path,
            url,
            stamp: None,
            size: 0,
            immutable: false,
            may_be_unpublished: false,
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
    /// Address and reason.
    pub failed: Vec<(String, String)>,
    /// Addresses of lists that are not published yet.
    pub unpublished: Vec<String>,
}

/// Lists one window of a feed.
pub struct Lister<'a> {
    pub client: &'a Client,
    pub feed: &'static Feed,
    pub window: &'a Window,
    pub today: Day,
    pub listed: Listed,
}

impl Lister<'_> {
    pub fn run(mut self) -> Listed {
        let address = self.window.fill(self.feed.address);
        let result = match &self.feed.listing {
            Listing::File => self.single(&address),
            Listing::Bulk => self.bulk(&address, MAX_DEPTH),
            Listing::Sitemap { file } => self.sitemap(&address, file),
            Listing::Numbered { pattern, file } => self.numbered(&address, pattern, file),
            Listing::Links { pattern } => self.links(&address, pattern),
            Listing::Items { list, parts } => self.items(&address, list, parts),
            Listing::Pages { .. } | Listing::IncludedIn(_) => Ok(()),
        };
        if let Err(error) = result {
            self.fail(&address, &error);
        }
        self.listed
    }

    /// Adds a failure, unless the list is only not published yet.
    fn fail(&mut self, address: &str, error: &anyhow::Error) {
        if error.is::<NotFound>() && self.window.is_recent(self.today) {
            self.listed.unpublished.push(address.to_string());
        } else {
            self.listed.failed.push((address.to_string(), format!("{error:#}")));
        }
    }

    fn file(&self, url: String) -> Result<RemoteFile> {
        let name = names::file_name(&url, "")?;
        let path = [self.feed.source, &self.window.fill(self.feed.folder), &name];
        let path = path.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("/");
        Ok(RemoteFile::file(self.feed.source, path, url))
    }

    fn single(&mut self, address: &str) -> Result<()> {
        let may_be_unpublished = self.window.is_recent(self.today);
        let file = RemoteFile { may_be_unpublished, ..self.file(address.to_string())? };
        self.listed.files.push(file);
        Ok(())
    }

    fn bulk(&mut self, address: &str, depth: usize) -> Result<()> {
        let list = self.client.json(address)?;
        let Some(Value::Array(entries)) = list.get("files") else {
            bail!("no list of files at {address}")
        };
        for entry in entries {
            let text =
                |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
            let name = text("name");
            let is_folder =
                entry.get("folder").is_some_and(|f| f == &Value::Bool(true) || f == "true");
            if is_folder {
                // "resources" has schemas and style sheets.
                if name == "resources" || depth == 0 {
                    continue;
                }
                let below = format!("{address}/{}", names::sanitized(&name));
                if let Err(error) = self.bulk(&below, depth - 1) {
                    self.fail(&below, &error);
                }
            } else if text("link").to_ascii_lowercase().ends_with(".xml") {
                let link = text("link");
                match same_host(address, &link).and_then(|url| self.file(url)) {
                    Ok(mut file) => {
                        file.stamp =
                            Some(text("formattedLastModifiedTime")).filter(|s| !s.is_empty());
                        file.size = entry.get("size").and_then(Value::as_u64).unwrap_or_default();
                        self.listed.files.push(file);
                    }
                    Err(error) => self.fail(&link, &error),
                }
            }
        }
        Ok(())
    }

    fn sitemap(&mut self, address: &str, file_pattern: &str) -> Result<()> {
        let text = self.client.text(address, "application/xml")?;
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

    fn numbered(&mut self, address: &str, pattern: &str, file_pattern: &str) -> Result<()> {
        let text = self.client.text(address, "*/*")?;
        let numbers = Regex::new(pattern)?;
        let highest = numbers.captures_iter(&text).filter_map(|c| c[1].parse::<u64>().ok()).max();
        let Some(highest) = highest.filter(|n| *n <= MAX_NUMBER) else {
            bail!("no valid numbers in the index; its format may have changed");
        };
        for number in 1..=highest {
            let filled = self.window.fill(file_pattern);
            let url = filled
                .replace("{number:3}", &format!("{number:03}"))
                .replace("{number:5}", &format!("{number:05}"));
            let file = RemoteFile { immutable: true, ..self.file(url)? };
            self.listed.files.push(file);
        }
        Ok(())
    }

    fn links(&mut self, address: &str, pattern: &str) -> Result<()> {
        let text = self.client.text(address, "text/html")?;
        let host = names::host(address).unwrap_or_default();
        for link in Regex::new(pattern)?.captures_iter(&text) {
            let link = link[1].replace("&amp;", "&").replace(' ', "%20");
            let url = if link.starts_with('/') { format!("https://{host}{link}") } else { link };
            match same_host(address, &url).and_then(|url| self.file(url)) {
                Ok(file) => self.listed.files.push(file),
                Err(error) => self.fail(&url, &error),
            }
        }
        Ok(())
    }

    fn items(&mut self, address: &str, list: &str, parts: &'static [Part]) -> Result<()> {
        for item in items::all(self.client, address, list)? {
            let Some(url) = item.get("url").and_then(Value::as_str) else { continue };
            let file = same_host(address, url).and_then(|url| {
                let name = format!("{}.json", names::file_name(&url, "/v3/")?);
                let path =
                    format!("{}/{}/{name}", self.feed.source, self.window.fill(self.feed.folder));
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
        Ok(())
    }
}
