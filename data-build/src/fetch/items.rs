//! Paged API responses: collects the items of a list, completes an item with the lists it links to,
//! and stores pages as they are.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::calendar::Window;
use super::client::Client;
use super::download::{DownloadOutcome, Downloader};
use super::listing::{RemoteFile, same_host};
use super::names;
use super::publishers::{Feed, NextPage, Part};

/// More than any list has; stops a cycle of next-page addresses.
const MAX_PAGES: usize = 10_000;

/// All items of a list, from all of its pages.
pub fn all(client: &Client, first: &str, list: &str) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    let mut address = first.to_string();
    for _ in 0..MAX_PAGES {
        let mut page = client.json(&address)?;
        let Some(Value::Array(items)) = page.get_mut(list).map(Value::take) else {
            bail!("no list {list:?} at {address}");
        };
        found.extend(items);
        match page.pointer("/pagination/next").and_then(Value::as_str) {
            Some(next) if !next.is_empty() => address = same_host(first, next)?,
            _ => return Ok(found),
        }
    }
    bail!("more than {MAX_PAGES} pages at {first}")
}

/// Fetches the lists that an item at `url` links to, and inserts them.
pub fn complete(client: &Client, url: &str, item: &mut Value, parts: &[Part]) -> Result<()> {
    for part in parts {
        let Some(address) = item.pointer(part.from).and_then(Value::as_str) else { continue };
        let address = with_parameter(&same_host(url, address)?, "limit", "250");
        let list = all(client, &address, part.list).with_context(|| part.list.to_string())?;
        let (parent, name) = part.into.rsplit_once('/').unwrap_or_default();
        if let Some(Value::Object(map)) = item.pointer_mut(parent) {
            map.insert(name.to_string(), Value::Array(list));
        }
    }
    Ok(())
}

fn with_parameter(address: &str, name: &str, value: &str) -> String {
    format!("{address}{}{name}={value}", if address.contains('?') { '&' } else { '?' })
}

/// The pages of one window of a feed, which are stored as files.
pub struct PageSequence {
    pub feed: &'static Feed,
    pub window: Window,
    pub url: String,
}

/// The stamp of a sequence that is complete and will not change.
const SETTLED: &str = "settled";

impl PageSequence {
    pub fn path(&self, page: usize) -> String {
        let folder = self.window.fill(self.feed.folder);
        let name = if self.window.name.is_empty() { "all" } else { self.window.name.as_str() };
        format!("{}/{folder}/{}-p{page}.json", self.feed.source, names::sanitized(name))
    }

    /// Whether everything was fetched and will not change.
    pub fn is_complete(&self, downloader: &Downloader) -> bool {
        downloader
            .state
            .get(&self.path(1))
            .is_some_and(|e| e.url == self.url && e.stamp.as_deref() == Some(SETTLED))
    }

    /// Downloads the pages in order. Returns the outcome of each.
    pub fn download(
        &self,
        downloader: &Downloader,
        next: &NextPage,
        keep: &str,
    ) -> Result<Vec<DownloadOutcome>> {
        let mut outcomes = Vec::new();
        let mut address = self.url.clone();
        for page in 1..=MAX_PAGES {
            let value = downloader.client.json(&address)?;
            let next_address = self.next_address(next, &value, page)?;
            let kept =
                if keep.is_empty() { &value } else { value.pointer(keep).unwrap_or(&Value::Null) };
            let bytes = serde_json::to_vec(kept)?;
            let file = RemoteFile::item(self.feed.source, self.path(page), address);
            outcomes.push(downloader.store(&file, &bytes)?);
            match next_address {
                Some(next_address) => address = next_address,
                None => {
                    self.finish(downloader, page)?;
                    return Ok(outcomes);
                }
            }
        }
        bail!("more than {MAX_PAGES} pages at {}", self.url)
    }

    fn next_address(&self, next: &NextPage, page: &Value, number: usize) -> Result<Option<String>> {
        Ok(match next {
            NextPage::Address(pointer) => match page.pointer(pointer).and_then(Value::as_str) {
                Some(address) if !address.is_empty() => Some(same_host(&self.url, address)?),
                _ => None,
            },
            NextPage::Number { more, parameter } => {
                let more = page.pointer(more).and_then(Value::as_bool).unwrap_or(false);
                more.then(|| with_parameter(&self.url, parameter, &(number + 1).to_string()))
            }
        })
    }

    /// Deletes pages after the last that an earlier run stored, and marks the sequence as settled
    /// if its window is.
    fn finish(&self, downloader: &Downloader, last: usize) -> Result<()> {
        let state = downloader.state;
        for page in last + 1.. {
            let path = self.path(page);
            if state.get(&path).is_none() {
                break;
            }
            std::fs::remove_file(downloader.folder.join(&path))?;
            state.remove(&path)?;
        }
        if self.window.is_settled(downloader.today)
            && let Some(mut first) = state.get(&self.path(1))
        {
            first.stamp = Some(SETTLED.to_string());
            state.set_complete(&self.path(1), first)?;
        }
        Ok(())
    }
}
