//! Paged API responses: collects the items of a list, and completes an item with the lists it
//! links to.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::client::Client;
use super::listing::same_host;
use super::publishers::Part;

/// More than any list has; stops a cycle of next-page addresses.
pub const MAX_PAGES: usize = 10_000;
/// How often pages are fetched until they have as many items as the API states. The pages of
/// congress.gov come in no order, so that some items are on two of them and others on none
/// (LibraryOfCongress/api.congress.gov#74).
pub const MAX_WALKS: usize = 3;

/// The items of a list, each once.
#[derive(Default)]
pub struct ItemList {
    pub items: Vec<Value>,
    /// The number of items that the API states.
    stated: Option<u64>,
    /// Position of an item by its identity.
    positions: HashMap<(String, usize), usize>,
}

impl ItemList {
    /// Why the list is not complete, if it is not.
    pub fn incomplete(&self) -> Option<String> {
        let found = self.items.len() as u64;
        let stated = self.stated.filter(|stated| *stated > found)?;
        Some(format!("found {found} of {stated} items, though asked {MAX_WALKS} times"))
    }

    /// Adds the items of a page. An item that another page has, too, is the same one. Equal items
    /// on one page are different ones: a list of actions may have two.
    fn add(&mut self, page: Vec<Value>) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for item in page {
            let name = item.get("url").and_then(Value::as_str);
            let name = name.map_or_else(|| item.to_string(), str::to_string);
            let number = seen.entry(name.clone()).or_default();
            match self.positions.get(&(name.clone(), *number)) {
                Some(position) => self.items[*position] = item,
                None => {
                    self.positions.insert((name, *number), self.items.len());
                    self.items.push(item);
                }
            }
            *number += 1;
        }
    }
}

/// All items of a list, from all of its pages. The pages are fetched again if items are missing.
pub fn all(client: &Client, first: &str, list: &str) -> Result<ItemList> {
    let mut found = ItemList::default();
    for _ in 0..MAX_WALKS {
        walk(client, first, list, &mut found)?;
        if found.incomplete().is_none() {
            break;
        }
    }
    Ok(found)
}

fn walk(client: &Client, first: &str, list: &str, found: &mut ItemList) -> Result<()> {
    let mut address = first.to_string();
    for _ in 0..MAX_PAGES {
        let mut page = client.json(&address)?;
        let Some(Value::Array(items)) = page.get_mut(list).map(Value::take) else {
            bail!("no list {list:?} at {address}");
        };
        found.add(items);
        found.stated = page.pointer("/pagination/count").and_then(Value::as_u64);
        match page.pointer("/pagination/next").and_then(Value::as_str) {
            Some(next) if !next.is_empty() => address = same_host(first, next)?,
            _ => return Ok(()),
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
        let incomplete = list.incomplete();
        ensure!(incomplete.is_none(), "{}: {}", part.list, incomplete.unwrap_or_default());
        let (parent, name) = part.into.rsplit_once('/').unwrap_or_default();
        if let Some(Value::Object(map)) = item.pointer_mut(parent) {
            map.insert(name.to_string(), Value::Array(list.items));
        }
    }
    Ok(())
}

pub fn with_parameter(address: &str, name: &str, value: &str) -> String {
    format!("{address}{}{name}={value}", if address.contains('?') { '&' } else { '?' })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_on_two_pages_is_one_item() {
        let mut list = ItemList { stated: Some(3), ..ItemList::default() };
        list.add(vec![json!({"url": "a", "updateDate": "1"}), json!({"url": "b"})]);
        list.add(vec![json!({"url": "a", "updateDate": "2"})]);
        assert_eq!((list.items.len(), &list.items[0]["updateDate"]), (2, &json!("2")));
        assert_eq!(list.incomplete().as_deref(), Some("found 2 of 3 items, though asked 3 times"));
        list.add(vec![json!({"url": "c"})]);
        assert_eq!(list.incomplete(), None);
    }

    #[test]
    fn equal_items_on_one_page_are_two() {
        let action = json!({"actionDate": "2025-01-03", "text": "Referred."});
        let mut list = ItemList::default();
        list.add(vec![action.clone(), action.clone()]);
        list.add(vec![action]);
        assert_eq!(list.items.len(), 2);
    }
}
