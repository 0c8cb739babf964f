//! One page of a list: the envelope of every list, whichever capability it comes from.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::error::Result;
use super::outcome::{Output, append};

/// Makes the cursor of the page that begins behind the first `n` items of this one.
pub type CursorAfter = Arc<dyn Fn(usize) -> String + Send + Sync>;

#[derive(Default)]
pub struct Page {
    /// Each item as a JSON object.
    pub items: Vec<String>,
    /// Columns of a table of the items.
    pub columns: Vec<&'static str>,
    pub total: u64,
    pub next_cursor: Option<String>,
    /// The headings of a text of which this page shows only the beginning.
    pub contents: Option<Value>,
    /// Counts of the values of fields, where they were asked for.
    pub facets: Option<Value>,
    pub cursor_after: Option<CursorAfter>,
}

/// The JSON of a page, for its schema. `data` gets the schema of its items where it is used.
#[derive(JsonSchema)]
#[schemars(rename = "Page")]
pub struct PageShape {
    /// The headings of a long text, when this page shows only its beginning
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub contents: Option<Value>,
    pub data: Vec<Map<String, Value>>,
    /// Counts of the values of fields, with `facets`
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub facets: Option<Value>,
    /// Number of items of the whole list
    pub total: u64,
    /// Where the next page begins; null on the last one
    pub next_cursor: Option<String>,
}

impl Page {
    /// What `meta.shown` says when there is more, and what would narrow the list.
    pub fn shown(&self, narrowing: &[&str]) -> Option<String> {
        shown(self.items.len(), self.total, narrowing, self.next_cursor.is_some())
    }
}

/// `20 of 2200; narrow by congress or pass next_cursor as cursor`; on the last page
/// `the last 3 of 2203`.
pub fn shown(items: usize, total: u64, narrowing: &[&str], is_more: bool) -> Option<String> {
    let by = match narrowing {
        [] => String::new(),
        fields => format!(" narrow by {} or", fields.join(", ")),
    };
    let is_part = items > 0 && (items as u64) < total;
    is_part.then(|| match is_more {
        true => format!("{items} of {total};{by} pass next_cursor as cursor"),
        false => format!("the last {items} of {total}"),
    })
}

impl Output for Page {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        out.reserve(self.items.iter().map(|item| item.len() + 1).sum::<usize>() + 512);
        out.push(b'{');
        if let Some(contents) = &self.contents {
            out.extend_from_slice("\"contents\":".as_bytes());
            append(out, contents)?;
            out.push(b',');
        }
        out.extend_from_slice("\"data\":[".as_bytes());
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(item.as_bytes());
        }
        out.push(b']');
        if let Some(facets) = &self.facets {
            out.extend_from_slice(",\"facets\":".as_bytes());
            append(out, facets)?;
        }
        out.extend_from_slice(",\"total\":".as_bytes());
        append(out, &self.total)?;
        out.extend_from_slice(",\"next_cursor\":".as_bytes());
        append(out, &self.next_cursor)?;
        out.push(b'}');
        Ok(())
    }

    fn items(&self) -> Option<(Vec<&'static str>, Vec<Cow<'_, str>>)> {
        let items = self.items.iter().map(|item| Cow::Borrowed(item.as_str())).collect();
        Some((self.columns.clone(), items))
    }

    fn page(&self) -> Option<(u64, Option<&str>)> {
        Some((self.total, self.next_cursor.as_deref()))
    }

    fn shortened(&self, bytes: usize) -> Option<(Arc<dyn Output>, String)> {
        let kept = fitting(self.items.iter().map(String::len), bytes);
        let cursor_after = self.cursor_after.as_ref().filter(|_| kept < self.items.len())?;
        let page = Page {
            items: self.items[..kept].to_vec(),
            next_cursor: Some(cursor_after(kept)),
            columns: self.columns.clone(),
            contents: self.contents.clone(),
            facets: self.facets.clone(),
            cursor_after: self.cursor_after.clone(),
            total: self.total,
        };
        let shown = page.shown(&[])?;
        Some((Arc::new(page), shown))
    }
}

/// How many of these items fit into so many bytes; the first in any case.
pub fn fitting(lengths: impl Iterator<Item = usize>, bytes: usize) -> usize {
    let mut used = 0;
    let fits = |length: &usize| {
        used += length + 1;
        used <= bytes
    };
    lengths.take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        Page {
            items: (0..4).map(|n| format!("{{\"id\":{n}}}")).collect(),
            total: 9,
            next_cursor: Some("after 4".into()),
            cursor_after: Some(Arc::new(|n| format!("after {n}"))),
            ..Page::default()
        }
    }

    #[test]
    fn a_page_that_is_too_large_ends_earlier_and_its_cursor_continues_there() {
        let (shorter, shown) = page().shortened(20).unwrap();
        assert_eq!(shown, "2 of 9; pass next_cursor as cursor");
        let items = |page: &dyn Output| page.items().unwrap().1.len();
        assert_eq!((items(shorter.as_ref()), shorter.page()), (2, Some((9, Some("after 2")))));
        let (shortest, _) = shorter.shortened(1).unwrap();
        assert_eq!(items(shortest.as_ref()), 1, "one item stays, however large");
        assert!(page().shortened(100).is_none(), "it fits");
    }

    #[test]
    fn the_written_json_has_the_members_of_its_schema() {
        let mut page = page();
        page.contents = Some(serde_json::json!({ "total": 1 }));
        page.facets = Some(serde_json::json!([]));
        let written = page.to_value().unwrap();
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<PageShape>().to_value();
        let described = schema["properties"].as_object().unwrap();
        let names = |fields: &Map<String, Value>| fields.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&written), names(described));
        assert_eq!(written["data"].as_array().unwrap().len(), 4);
        assert_eq!(
            page.shown(&["congress"]).unwrap(),
            "4 of 9; narrow by congress or pass next_cursor as cursor"
        );
        page.next_cursor = None;
        assert_eq!(page.shown(&["congress"]).unwrap(), "the last 4 of 9");
    }
}
