//! Long texts in parts of a readable size: as many sections as fit, and the headings of all of
//! them.

use serde_json::{Map, Value, json};

use super::filter::{Filter, quoted};
use super::listing::Listing;
use super::page::{ListRow, conditions};
use crate::api::{Context, Error, Result};

/// Headings that are listed; of a longer text only the upper levels, or the first of them.
const MOST_HEADINGS: usize = 150;

/// Keeps the rows whose texts fit into so many bytes, the first in any case, cut if it must be.
/// Says whether rows were left out.
pub(super) fn fit(rows: &mut Vec<ListRow>, most: usize) -> Result<bool> {
    let mut room = most;
    let fitting = rows.iter().take_while(|row| {
        let length = row.json.as_ref().map_or(0, String::len);
        let fits = length <= room;
        room = room.saturating_sub(length);
        fits
    });
    let kept = fitting.count().max(1).min(rows.len());
    let cut = kept < rows.len();
    rows.truncate(kept);
    if let [ListRow { json: Some(json), .. }] = rows.as_mut_slice()
        && json.len() > most
    {
        *json = cut_text(json, most)?;
    }
    Ok(cut)
}

fn cut_text(json: &str, most: usize) -> Result<String> {
    let mut row: Map<String, Value> = serde_json::from_str(json).map_err(Error::internal)?;
    let text = row.get("text").and_then(Value::as_str).unwrap_or_default();
    let kept = &text[..text.floor_char_boundary(most)];
    // Not inside a word.
    let kept = kept.rfind(char::is_whitespace).map_or(kept, |end| &kept[..end]);
    let cut = format!(
        "{kept} […] [cut here: {} of {} bytes; a larger max_bytes gives more]",
        kept.len(),
        text.len()
    );
    row.insert("text".into(), cut.into());
    serde_json::to_string(&row).map_err(Error::internal)
}

/// The headings of the text.
pub(super) fn contents(context: &Context, listing: &Listing, filters: &[Filter]) -> Result<Value> {
    struct Heading {
        level: u32,
        section: Option<String>,
        heading: Option<String>,
    }
    let mut bound = Vec::new();
    let wheres = conditions(listing, filters, &mut bound);
    let sql = format!(
        "SELECT coalesce(level, 1)::UINTEGER, section, heading FROM {} WHERE {wheres} ORDER BY ord",
        quoted(&listing.table)
    );
    let rows = listing.bundle.db.query(&sql, &bound, &context.interrupt(), |row| {
        Ok(Heading { level: row.get(0)?, section: row.get(1)?, heading: row.get(2)? })
    })?;
    let deepest = rows.iter().map(|row| row.level).max().unwrap_or(1);
    let upper = |depth: u32| rows.iter().filter(move |row| row.level <= depth);
    let fits = |depth: &u32| upper(*depth).count() <= MOST_HEADINGS;
    let depth = (1..=deepest).rev().find(fits).unwrap_or(1);
    let listed = upper(depth).take(MOST_HEADINGS);
    let sections: Vec<Value> =
        listed.map(|row| json!({ "section": row.section, "heading": row.heading })).collect();
    let next = "Ask for one with `section`, or continue with `cursor`.";
    Ok(json!({ "sections": sections, "listed": sections.len(), "total": rows.len(), "next": next }))
}
