//! What there is to fetch: from a feed and a window of time to files with their addresses.

use anyhow::{Context, Result, bail};
use regex::Regex;
use serde_json::Value;

use super::calendar::{Day, Window};
use super::client::{Client, NotThere};
use super::items;
use super::names;
use super::publishers::{Feed, Listing, Part};
use super::state::State;

/// Folders of GPO's bulk data lie this deep at most.
const DEEPEST: usize = 4;
/// Neither chamber has voted this often in a year.
const MOST_NUMBERS: u64 = 3000;

/// A file to fetch.
pub struct Wanted {
    pub source: &'static str,
    /// Below the target folder.
    pub path: String,
    pub url: String,
    /// The version by the publisher's list.
    pub stamp: Option<String>,
    /// By the publisher's list; 0 where it does not say.
    pub size: u64,
    /// Whether a file that is here needs no asking: it never changes.
    pub lasting: bool,
    /// Whether it may not be published yet.
    pub may_lack: bool,
    pub kind: Kind,
}

#[derive(Clone, Copy)]
pub enum Kind {
    /// Any size, kept byte for byte.
    File,
    /// An answer of an API, completed by its parts.
    Item(&'static [Part]),
}

impl Wanted {
    fn file(source: &'static str, path: String, url: String) -> Wanted {
        let (stamp, size, lasting, may_lack, kind) = (None, 0, false, false, Kind::File);
        Wanted { source, path, url, stamp, size, lasting, may_lack, kind }
    }

    pub fn item(source: &'static str, path: String, url: String) -> Wanted {
        Wanted { kind: Kind::Item(&[]), ..Wanted::file(source, path, url) }
    }

    /// Whether the file is here in the version that the list names.
    pub fn is_here(&self, state: &State) -> bool {
        let Some(entry) = state.get(&self.path).filter(|entry| entry.url == self.url) else { return false };
        if self.stamp.is_some() { entry.stamp == self.stamp } else { self.lasting }
    }
}

/// The address if it is on the same host as the list that names it: no list sends us elsewhere.
pub fn same_host(list: &str, address: &str) -> Result<String> {
    let address = address.replacen("http://", "https://", 1);
    if names::host(&address) != names::host(list) {
        bail!("{address:?} is not on the host that lists it");
    }
    Ok(address)
}

/// What a look at the lists gives.
#[derive(Default)]
pub struct Found {
    pub wanted: Vec<Wanted>,
    /// (address, reason) of what could not be listed.
    pub failed: Vec<(String, String)>,
    /// Addresses of lists that are not there yet.
    pub absent: Vec<String>,
}

/// Lists one window of a feed.
pub struct Lister<'a> {
    pub client: &'a Client,
    pub feed: &'static Feed,
    pub window: &'a Window,
    pub today: Day,
    pub found: Found,
}

impl Lister<'_> {
    pub fn run(mut self) -> Found {
        let address = self.window.fill(self.feed.address);
        let listed = match &self.feed.listing {
            Listing::File => self.single(&address),
            Listing::Bulk => self.bulk(&address, DEEPEST),
            Listing::Sitemap { file } => self.sitemap(&address, file),
            Listing::Numbered { pattern, file } => self.numbered(&address, pattern, file),
            Listing::Links { pattern } => self.links(&address, pattern),
            Listing::Items { list, parts } => self.items(&address, list, parts),
            Listing::Pages { .. } | Listing::Within(_) => Ok(()),
        };
        if let Err(error) = listed {
            self.fail(&address, &error);
        }
        self.found
    }

    /// A list that is not there yet is an empty list.
    fn fail(&mut self, address: &str, error: &anyhow::Error) {
        if error.is::<NotThere>() && self.window.is_young(self.today) {
            self.found.absent.push(address.to_string());
        } else {
            self.found.failed.push((address.to_string(), format!("{error:#}")));
        }
    }

    fn wanted(&self, url: String) -> Result<Wanted> {
        let name = names::file_name(&url, "")?;
        let path = [self.feed.source, &self.window.fill(self.feed.folder), &name];
        let path = path.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("/");
        Ok(Wanted::file(self.feed.source, path, url))
    }

    fn single(&mut self, address: &str) -> Result<()> {
        let may_lack = self.window.is_young(self.today);
        let wanted = Wanted { may_lack, ..self.wanted(address.to_string())? };
        self.found.wanted.push(wanted);
        Ok(())
    }

    fn bulk(&mut self, address: &str, depth: usize) -> Result<()> {
        let list = self.client.json(address)?;
        let Some(Value::Array(files)) = list.get("files") else { bail!("no list of files at {address}") };
        for file in files {
            let text = |key: &str| file.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
            let name = text("name");
            let is_folder = file.get("folder").is_some_and(|f| f == &Value::Bool(true) || f == "true");
            if is_folder {
                // Schemas and style sheets.
                if name == "resources" || depth == 0 {
                    continue;
                }
                let below = format!("{address}/{}", names::plain(&name));
                if let Err(error) = self.bulk(&below, depth - 1) {
                    self.fail(&below, &error);
                }
            } else if text("link").to_ascii_lowercase().ends_with(".xml") {
                let link = text("link");
                match same_host(address, &link).and_then(|url| self.wanted(url)) {
                    Ok(mut wanted) => {
                        wanted.stamp = Some(text("formattedLastModifiedTime")).filter(|s| !s.is_empty());
                        wanted.size = file.get("size").and_then(Value::as_u64).unwrap_or_default();
                        self.found.wanted.push(wanted);
                    }
                    Err(error) => self.fail(&link, &error),
                }
            }
        }
        Ok(())
    }

    fn sitemap(&mut self, address: &str, file: &str) -> Result<()> {
        let text = self.client.text(address, "application/xml")?;
        let document = roxmltree::Document::parse(&text).context("the sitemap is no XML")?;
        for entry in document.descendants().filter(|n| n.tag_name().name() == "url") {
            let child = |name: &str| entry.children().find(|n| n.tag_name().name() == name).and_then(|n| n.text());
            let id = names::plain(child("loc").unwrap_or_default().trim().rsplit('/').next().unwrap_or_default());
            if id.is_empty() {
                continue;
            }
            let mut wanted = self.wanted(file.replace("{id}", &id))?;
            wanted.stamp = child("lastmod").map(|s| s.trim().to_string());
            self.found.wanted.push(wanted);
        }
        Ok(())
    }

    fn numbered(&mut self, address: &str, pattern: &str, file: &str) -> Result<()> {
        let text = self.client.text(address, "*/*")?;
        let numbers = Regex::new(pattern)?;
        let highest = numbers.captures_iter(&text).filter_map(|c| c[1].parse::<u64>().ok()).max();
        let Some(highest) = highest.filter(|n| *n <= MOST_NUMBERS) else {
            bail!("the index names no numbers: has its form changed?");
        };
        for number in 1..=highest {
            let filled = self.window.fill(file);
            let url =
                filled.replace("{number:3}", &format!("{number:03}")).replace("{number:5}", &format!("{number:05}"));
            let wanted = Wanted { lasting: true, ..self.wanted(url)? };
            self.found.wanted.push(wanted);
        }
        Ok(())
    }

    fn links(&mut self, address: &str, pattern: &str) -> Result<()> {
        let text = self.client.text(address, "text/html")?;
        let host = names::host(address).unwrap_or_default();
        for link in Regex::new(pattern)?.captures_iter(&text) {
            let link = link[1].replace("&amp;", "&").replace(' ', "%20");
            let url = if link.starts_with('/') { format!("https://{host}{link}") } else { link };
            match same_host(address, &url).and_then(|url| self.wanted(url)) {
                Ok(wanted) => self.found.wanted.push(wanted),
                Err(error) => self.fail(&url, &error),
            }
        }
        Ok(())
    }

    fn items(&mut self, address: &str, list: &str, parts: &'static [Part]) -> Result<()> {
        for item in items::all(self.client, address, list)? {
            let Some(url) = item.get("url").and_then(Value::as_str) else { continue };
            let wanted = same_host(address, url).and_then(|url| {
                let name = format!("{}.json", names::file_name(&url, "/v3/")?);
                let path = format!("{}/{}/{name}", self.feed.source, self.window.fill(self.feed.folder));
                Ok(Wanted { kind: Kind::Item(parts), ..Wanted::item(self.feed.source, path, url) })
            });
            match wanted {
                Ok(mut wanted) => {
                    wanted.stamp = item.get("updateDate").and_then(Value::as_str).map(str::to_string);
                    self.found.wanted.push(wanted);
                }
                Err(error) => self.fail(url, &error),
            }
        }
        Ok(())
    }
}
