//! APIs whose pages are stored as files.

use anyhow::{Result, bail};
use serde_json::Value;

use super::calendar::Window;
use super::download::{DownloadOutcome, Downloader};
use super::items::{MAX_PAGES, MAX_WALKS, with_parameter};
use super::listing::{RemoteFile, same_host};
use super::names;
use super::publishers::{Feed, NextPage, Pages};

/// The pages of one window of a feed, which are stored as files.
pub struct PageSequence {
    pub feed: &'static Feed,
    pub pages: &'static Pages,
    pub window: Window,
    pub url: String,
}

/// The stamp of a sequence that is complete and will not change.
const SETTLED: &str = "settled";

impl PageSequence {
    pub fn path(&self, page: usize) -> String {
        let name = if self.window.name.is_empty() { "all" } else { self.window.name.as_str() };
        self.feed.path(&self.window, &format!("{}-p{page}.json", names::sanitized(name)))
    }

    /// Whether everything was fetched and will not change.
    pub fn is_complete(&self, downloader: &Downloader) -> bool {
        downloader
            .state
            .get(&self.path(1))
            .is_some_and(|e| e.url == self.url && e.stamp.as_deref() == Some(SETTLED))
    }

    /// Downloads the pages in order, again if they have fewer records than the API states. Returns
    /// the outcome of each.
    pub fn download(&self, downloader: &Downloader) -> Result<Vec<DownloadOutcome>> {
        for walk in 1.. {
            let (outcomes, found, stated) = self.walk(downloader)?;
            match stated {
                Some(stated) if found < stated => {
                    if walk == MAX_WALKS {
                        bail!("found {found} of {stated} records, though asked {walk} times");
                    }
                }
                _ => {
                    self.finish(downloader, outcomes.len())?;
                    return Ok(outcomes);
                }
            }
        }
        Ok(Vec::new())
    }

    /// Downloads the pages. Returns their outcomes, the number of records on them, and the number
    /// that the last one states.
    fn walk(&self, downloader: &Downloader) -> Result<(Vec<DownloadOutcome>, u64, Option<u64>)> {
        let (mut outcomes, mut found) = (Vec::new(), 0);
        let mut address = self.url.clone();
        for page in 1..=MAX_PAGES {
            let mut value = downloader.client.json(&address)?;
            let stated = value.pointer(self.pages.count).and_then(Value::as_u64);
            let list = self.pages.list;
            // federalregister.gov leaves out an empty list.
            if stated == Some(0)
                && value.pointer(list).is_none()
                && let Value::Object(map) = &mut value
            {
                map.insert(list.trim_start_matches('/').to_string(), Value::Array(Vec::new()));
            }
            let Some(Value::Array(records)) = value.pointer(list) else {
                bail!("no list {list:?} at {address}");
            };
            found += records.len() as u64;
            let next_address = self.next_address(&value, page)?;
            let kept = value.pointer(self.pages.keep).unwrap_or(&Value::Null);
            let file = RemoteFile::item(self.feed.source, self.path(page), address);
            outcomes.push(downloader.store(&file, &serde_json::to_vec(kept)?)?);
            match next_address {
                Some(next_address) => address = next_address,
                None => return Ok((outcomes, found, stated)),
            }
        }
        bail!("more than {MAX_PAGES} pages at {}", self.url)
    }

    fn next_address(&self, page: &Value, number: usize) -> Result<Option<String>> {
        Ok(match self.pages.next {
            NextPage::Address(pointer) => match page.pointer(pointer).and_then(Value::as_str) {
                Some(address) if !address.is_empty() => Some(same_host(&self.url, address)?),
                _ => None,
            },
            NextPage::Number { more, parameter } => {
                let more = page.pointer(more).and_then(Value::as_bool).unwrap_or(false);
                more.then(|| with_parameter(&self.url, parameter, &(number + 1).to_string()))
            }
            NextPage::Count { pages, parameter } => {
                let pages = page.pointer(pages).and_then(Value::as_u64).unwrap_or(1);
                let more = (number as u64) < pages;
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
            state.delete(&path)?;
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
