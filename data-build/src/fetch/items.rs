//! Answers of APIs that come in pages: the items of a list, an item completed by what it links to, and pages that are
//! kept as they are.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::calendar::Window;
use super::client::Client;
use super::download::{Outcome, Workshop};
use super::listing::{Wanted, same_host};
use super::names;
use super::publishers::{Feed, Next, Part};

/// No list has more pages; a server that leads round in a circle does.
const MOST_PAGES: usize = 10_000;

/// Every item of a list, page by page.
pub fn all(client: &Client, first: &str, list: &str) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    let mut address = first.to_string();
    for _ in 0..MOST_PAGES {
        let mut page = client.json(&address)?;
        let Some(Value::Array(items)) = page.get_mut(list).map(Value::take) else {
            bail!("no list of {list} at {address}");
        };
        found.extend(items);
        match page.pointer("/pagination/next").and_then(Value::as_str) {
            Some(next) if !next.is_empty() => address = same_host(first, next)?,
            _ => return Ok(found),
        }
    }
    bail!("more than {MOST_PAGES} pages at {first}")
}

/// Fetches what an item at `url` only links to and puts it in.
pub fn complete(client: &Client, url: &str, item: &mut Value, parts: &[Part]) -> Result<()> {
    for part in parts {
        let Some(address) = item.pointer(part.from).and_then(Value::as_str) else { continue };
        let address = with_parameter(&same_host(url, address)?, "limit", "250");
        let things = all(client, &address, part.list).with_context(|| format!("its {}", part.list))?;
        let (above, name) = part.into.rsplit_once('/').unwrap_or_default();
        if let Some(Value::Object(map)) = item.pointer_mut(above) {
            map.insert(name.to_string(), Value::Array(things));
        }
    }
    Ok(())
}

fn with_parameter(address: &str, name: &str, value: &str) -> String {
    format!("{address}{}{name}={value}", if address.contains('?') { '&' } else { '?' })
}

/// Pages to be kept: one window of a feed.
pub struct Chain {
    pub feed: &'static Feed,
    pub window: Window,
    pub url: String,
}

/// The mark of a chain that is complete and will not change.
const SETTLED: &str = "settled";

impl Chain {
    pub fn path(&self, page: usize) -> String {
        let folder = self.window.fill(self.feed.folder);
        let name = if self.window.name.is_empty() { "all" } else { self.window.name.as_str() };
        format!("{}/{folder}/{}-p{page}.json", self.feed.source, names::plain(name))
    }

    /// Whether there is nothing more to fetch.
    pub fn is_done(&self, shop: &Workshop) -> bool {
        shop.state.get(&self.path(1)).is_some_and(|e| e.url == self.url && e.stamp.as_deref() == Some(SETTLED))
    }

    /// Fetches the pages in order; what each became.
    pub fn run(&self, shop: &Workshop, next: &Next, keep: &str) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        let mut address = self.url.clone();
        for page in 1..=MOST_PAGES {
            let value = shop.client.json(&address)?;
            let following = self.following(next, &value, page)?;
            let kept = if keep.is_empty() { &value } else { value.pointer(keep).unwrap_or(&Value::Null) };
            let bytes = serde_json::to_vec(kept)?;
            outcomes.push(shop.store(&self.wanted(page, address), &bytes)?);
            match following {
                Some(following) => address = following,
                None => {
                    self.finish(shop, page)?;
                    return Ok(outcomes);
                }
            }
        }
        bail!("more than {MOST_PAGES} pages at {}", self.url)
    }

    fn wanted(&self, page: usize, url: String) -> Wanted {
        Wanted::item(self.feed.source, self.path(page), url)
    }

    fn following(&self, next: &Next, page: &Value, number: usize) -> Result<Option<String>> {
        Ok(match next {
            Next::Address(place) => match page.pointer(place).and_then(Value::as_str) {
                Some(address) if !address.is_empty() => Some(same_host(&self.url, address)?),
                _ => None,
            },
            Next::Number { more, parameter } => {
                let more = page.pointer(more).and_then(Value::as_bool).unwrap_or(false);
                more.then(|| with_parameter(&self.url, parameter, &(number + 1).to_string()))
            }
        })
    }

    /// Takes away pages of an earlier, longer chain, and marks the chain as settled once its time is over.
    fn finish(&self, shop: &Workshop, last: usize) -> Result<()> {
        for page in last + 1.. {
            let path = self.path(page);
            if shop.state.get(&path).is_none() {
                break;
            }
            std::fs::remove_file(shop.folder.join(&path))?;
            shop.state.forget(&path)?;
        }
        if let Some(mut first) = shop.state.get(&self.path(1)).filter(|_| self.window.is_settled(shop.today)) {
            first.stamp = Some(SETTLED.to_string());
            shop.state.got(&self.path(1), first)?;
        }
        Ok(())
    }
}
