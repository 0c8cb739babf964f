//! The sections of one record's text, filtered, counted and sorted here: they are few, and where
//! they lie in their table is known. DuckDB is asked for that range and nothing else. It finds it
//! at once; what took it longer than reading was planning how to count and sort, and to write JSON.
//! A statement with parameters is planned once for each connection.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Map, Value};

use super::cursor::Cursor;
use super::filter::{Filter, quoted};
use super::listing::Listing;
use super::page::ListRow;
use super::request::ListRequest;
use super::rows::{self, MOST_ROWS};
use crate::api::{Context, Error, Result};
use crate::bundle::SqlValue;
use crate::bundle::links::Rows;
use crate::bundle::rows::RowBlock;

/// Up to so many sections are read with their texts. Of more, texts are read by themselves, of
/// those that are shown.
const FEW: usize = 64;

/// Texts that lie so close together are read at once, with those between them.
const NEAR: u64 = 64;

const TEXT: &str = "text";

/// How many sections the list has, and the next `limit` of them. Nothing where the list is not of
/// sections, or of too many.
pub fn page(
    context: &Context,
    listing: &Listing,
    known: &Rows,
    request: &ListRequest,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Option<(u64, Vec<ListRow>)>> {
    let range = known.range.start as u64..known.range.end as u64;
    let count = known.range.len();
    if !listing.has_versions || count == 0 || count > MOST_ROWS {
        return Ok(None);
    }
    let is_on_text = request.filters.iter().any(|filter: &Filter| filter.is_on(TEXT))
        || request.sort.is_some_and(|sort| sort.field.name == TEXT);
    let has_texts = count <= FEW || is_on_text || !listing.is_text();
    let names: Vec<&str> = listing.columns.iter().map(|column| column.name).collect();
    let sections = read(context, listing, range.clone(), &names, has_texts)?;
    if sections.len() != count {
        listing.bundle.ensure_intact()?;
        return Err(Error::internal(format!("{} lacks rows of {range:?}", listing.table)));
    }
    let lines: Vec<&str> = sections.iter().map(|(_, json)| json.as_str()).collect();
    let block = RowBlock::of_json(&names, &lines);
    let blocks = vec![block.ok_or_else(|| Error::internal("sections that are no rows"))?];
    let Some(places) = rows::places(context, &blocks, request)? else { return Ok(None) };
    let found = rows::page_of(&blocks, &places, range.start, after, limit)?;
    let found = if has_texts { found } else { with_texts(context, listing, found)? };
    Ok(Some((places.len() as u64, found)))
}

/// The sections of a range in order, each with its number, as JSON.
fn read(
    context: &Context,
    listing: &Listing,
    range: Range<u64>,
    names: &[&str],
    has_texts: bool,
) -> Result<Vec<(u64, String)>> {
    let column = |name: &&str| match has_texts || **name != *TEXT {
        true => quoted(name),
        // A null without a type is more than duckdb-rs can read.
        false => "NULL::VARCHAR".into(),
    };
    let columns: Vec<String> = names.iter().map(column).collect();
    let sql = format!(
        "SELECT ord::UBIGINT, {} FROM {} WHERE ord >= ? AND ord < ?",
        columns.join(", "),
        quoted(&listing.table)
    );
    let bounds = [range.start, range.end].map(|ord| SqlValue::Integer(ord as i64));
    let rows = listing.bundle.db.query(&sql, &bounds, &context.interrupt(), |row| {
        let mut section = Map::new();
        for (at, name) in names.iter().enumerate() {
            section.insert(name.to_string(), row.json(at + 1)?);
        }
        Ok((row.get::<u64>(0)?, section))
    })?;
    let json = |(ord, section): (u64, Map<String, Value>)| {
        serde_json::to_string(&section).map(|json| (ord, json)).map_err(Error::internal)
    };
    let mut sections = rows.into_iter().map(json).collect::<Result<Vec<_>>>()?;
    sections.sort_unstable_by_key(|(ord, _)| *ord);
    Ok(sections)
}

/// Puts the texts into rows that lack them.
fn with_texts(context: &Context, listing: &Listing, rows: Vec<ListRow>) -> Result<Vec<ListRow>> {
    let mut ords: Vec<u64> = rows.iter().map(|row| row.ord).collect();
    ords.sort_unstable();
    let mut texts: HashMap<u64, Value> = HashMap::new();
    let sql = format!(
        "SELECT ord::UBIGINT, \"{TEXT}\" FROM {} WHERE ord >= ? AND ord <= ?",
        quoted(&listing.table)
    );
    for near in ords.chunk_by(|a, b| b - a <= NEAR) {
        let (Some(first), Some(last)) = (near.first(), near.last()) else { continue };
        let bounds = [*first, *last].map(|ord| SqlValue::Integer(ord as i64));
        let found = listing.bundle.db.query(&sql, &bounds, &context.interrupt(), |row| {
            Ok((row.get::<u64>(0)?, row.json(1)?))
        })?;
        texts.extend(found);
    }
    let complete = |mut row: ListRow| {
        let json = row.json.unwrap_or_default();
        let mut section: Map<String, Value> =
            serde_json::from_str(&json).map_err(Error::internal)?;
        section.insert(TEXT.into(), texts.remove(&row.ord).unwrap_or_default());
        row.json = Some(serde_json::to_string(&section).map_err(Error::internal)?);
        Ok(row)
    };
    rows.into_iter().map(complete).collect()
}
