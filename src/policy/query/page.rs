//! A page of a list: which rows, in which order, and how many there are.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::columns::{OrdSet, Table};
use super::coverage::Outside;
use super::cursor::Cursor;
use super::facets::list_facets;
use super::filter::{Filter, quoted};
use super::find;
use super::listing::{Items, Listing, Ords};
use super::request::{ListRequest, Sort};
use super::rows;
use super::sections;
use super::text;
use crate::api::{Context, Error, Notes, Outcome, Page, Result};
use crate::bundle::SqlValue;
use crate::catalog::Field;

/// Sections of one text that `find` looks at; the longest laws have some 2,000.
const MOST_SECTIONS: usize = 20_000;

/// Runs the request. Blocks: call it on a blocking thread.
pub fn list(context: &Context, listing: &Listing, request: &ListRequest) -> Result<Outcome> {
    let (mut page, empty) = page(context, listing, request)?;
    if !request.facets.is_empty() {
        let facets = list_facets(context, listing, &request.filters, &request.facets)?;
        page.facets = Some(serde_json::to_value(facets).map_err(Error::internal)?);
    }
    let shown = page.shown(&request.narrowing(listing));
    // The first page says what is missing; why a list is empty says more.
    let is_first = request.cursor.is_none() && listing.parent.is_none();
    let not_covered = match is_first && empty.is_none() {
        true => Outside::of(listing, &request.filters, None).note(),
        false => None,
    };
    Ok(Outcome::new(page).with(Notes { empty, shown, not_covered, ..Notes::default() }))
}

/// The page, and why it is empty when it is.
pub fn page(
    context: &Context,
    listing: &Listing,
    request: &ListRequest,
) -> Result<(Page, Option<Value>)> {
    let hash = request.hash(listing);
    let sorted = request.sort.map(|sort| sort.field.kind);
    let cursor = request.cursor.as_deref().map(|c| Cursor::decode(c, hash, sorted)).transpose()?;
    let limit = request.limit();
    let (total, mut rows) = match &request.find {
        Some(find) => {
            let all = select(context, listing, request, None, MOST_SECTIONS)?;
            let mut found = find::sections(context, all, find)?;
            let total = found.len() as u64;
            found.retain(|row| cursor.as_ref().is_none_or(|cursor| row.ord > cursor.ord));
            found.truncate(limit + 1);
            (total, found)
        }
        None => count_and_rows(context, listing, request, cursor.as_ref(), limit + 1)?,
    };
    let mut more = rows.len() > limit;
    rows.truncate(limit);
    let mut contents = None;
    if let Some(most) = request.max_bytes {
        more |= text::fit(&mut rows, most)?;
        let is_part = request.filters.iter().any(|f| f.is_on("section")) || request.find.is_some();
        let is_beginning = cursor.is_none() && !is_part;
        if more && is_beginning {
            contents = Some(text::contents(context, listing, &request.filters)?);
        }
    }
    let ends: Vec<(u64, Option<String>)> = rows.iter().map(|r| (r.ord, r.key.clone())).collect();
    let cursor_after = move |items: usize| {
        let (ord, key) = ends.get(items.wrapping_sub(1)).cloned().unwrap_or_default();
        Cursor { list: hash, ord, key, total }.encode()
    };
    let next_cursor = (more && !rows.is_empty()).then(|| cursor_after(rows.len()));
    let items = rows.into_iter().map(|row| render(listing, request, row)).collect::<Result<_>>()?;
    listing.bundle.ensure_intact()?;
    let empty = match total {
        0 => Some(explain(context, listing, &request.filters)?),
        _ => None,
    };
    let all = || listing.columns.iter().map(|c| c.name).collect();
    let columns = request.fields.clone().unwrap_or_else(all);
    let cursor_after = Some(Arc::new(cursor_after) as _);
    let facets = None;
    Ok((Page { items, columns, total, next_cursor, contents, facets, cursor_after }, empty))
}

/// How many items the list has, and the next of them: from prepared rows or columns, else by SQL.
fn count_and_rows(
    context: &Context,
    listing: &Listing,
    request: &ListRequest,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<(u64, Vec<ListRow>)> {
    if let Some(prepared) = listing.rows() {
        if let Some(found) = rows::page(context, prepared, request, after, limit)? {
            return Ok(found);
        }
        if let Some(found) = sections::page(context, listing, prepared, request, after, limit)? {
            return Ok(found);
        }
    }
    let set = match Table::of(listing)? {
        Some(table) => table.matched(context, &request.filters)?.map(|set| (table, set)),
        None => None,
    };
    let total = match (after, &set) {
        (Some(cursor), _) => cursor.total,
        (None, Some((_, set))) => set.len(),
        (None, None) => total(context, listing, &request.filters)?,
    };
    let from_columns = match &set {
        Some(set) if total > 0 => in_columns(set, request, after, limit)?,
        _ => None,
    };
    let rows = match from_columns {
        Some(rows) => rows,
        None if total == 0 => Vec::new(),
        None => select(context, listing, request, after, limit)?,
    };
    Ok((total, rows))
}

/// One row of the page.
pub(super) struct ListRow {
    pub(super) ord: u64,
    /// Its value in the sort column, as text, where the next page is looked for by it.
    pub(super) key: Option<String>,
    /// The columns as JSON, for rows that are not prepared records.
    pub(super) json: Option<String>,
}

/// What is true of the rows that are meant, with the values pushed onto `bound`.
pub(super) fn conditions(
    listing: &Listing,
    filters: &[Filter],
    bound: &mut Vec<SqlValue>,
) -> String {
    let parent: Option<String> = listing.parent.as_ref().map(|parent| parent.sql(bound));
    let parts: Vec<String> =
        parent.into_iter().chain(filters.iter().map(|f| f.sql(bound))).collect();
    if parts.is_empty() { "TRUE".into() } else { parts.join(" AND ") }
}

/// A row as JSON in SQL, keys in the order of the columns.
pub fn row_json(columns: &[Field]) -> String {
    let pairs: Vec<String> =
        columns.iter().map(|c| format!("{0} := {0}", quoted(c.name))).collect();
    format!("to_json(struct_pack({}))::VARCHAR", pairs.join(", "))
}

/// How many items the list has: known from the bundle unless filters narrow it.
fn total(context: &Context, listing: &Listing, filters: &[Filter]) -> Result<u64> {
    match (&listing.parent, listing.facts) {
        (Some(parent), _) if filters.is_empty() || parent.len() == 0 => Ok(parent.len() as u64),
        (None, Some(facts)) if filters.is_empty() => Ok(facts.records),
        _ => {
            let mut bound = Vec::new();
            let conditions = conditions(listing, filters, &mut bound);
            let table = quoted(&listing.table);
            let sql = format!("SELECT count(*)::UBIGINT FROM {table} WHERE {conditions}");
            let counts =
                listing.bundle.db.query(&sql, &bound, &context.interrupt(), |row| row.get(0))?;
            counts.first().copied().ok_or_else(|| Error::internal("a count without a row"))
        }
    }
}

/// The next rows of a list of records; nothing where columns can't tell their order.
fn in_columns(
    (table, set): &(Table, OrdSet),
    request: &ListRequest,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Option<Vec<ListRow>>> {
    let places = table.page(set, request.sort, after, limit)?;
    let row = |(ord, key)| ListRow { ord: u64::from(ord), key, json: None };
    Ok(places.map(|places| places.into_iter().map(row).collect()))
}

fn select(
    context: &Context,
    listing: &Listing,
    request: &ListRequest,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Vec<ListRow>> {
    if request.sort.is_none()
        && request.filters.is_empty()
        && let Some(Ords::Records(ords)) = listing.parent.as_ref().map(|parent| &parent.ords)
    {
        return Ok(listed(ords, after, limit));
    }
    let mut bound = Vec::new();
    let mut wheres = conditions(listing, &request.filters, &mut bound);
    let (key, order) = match request.sort {
        Some(Sort { field, descending }) => {
            let column = quoted(field.name);
            let direction = if descending { "DESC" } else { "ASC" };
            (format!("{column}::VARCHAR"), format!("{column} {direction} NULLS LAST, ord"))
        }
        None => ("NULL::VARCHAR".to_string(), "ord".to_string()),
    };
    if let Some(cursor) = after {
        wheres = format!("{wheres} AND {}", beyond(cursor, request.sort, &mut bound)?);
    }
    let json = match listing.items {
        Items::Records { .. } => "NULL::VARCHAR".to_string(),
        Items::Rows => row_json(&listing.columns),
    };
    let sql = format!(
        "SELECT ord::UBIGINT, {key}, {json} FROM {} WHERE {wheres} ORDER BY {order} LIMIT {limit}",
        quoted(&listing.table)
    );
    let rows = listing.bundle.db.query(&sql, &bound, &context.interrupt(), |row| {
        Ok(ListRow { ord: row.get(0)?, key: row.get(1)?, json: row.get(2)? })
    })?;
    Ok(rows)
}

/// The condition that a row comes after the cursor.
fn beyond(cursor: &Cursor, sort: Option<Sort>, bound: &mut Vec<SqlValue>) -> Result<String> {
    let ord = SqlValue::Integer(cursor.ord as i64);
    let Some(Sort { field, descending }) = sort else {
        bound.push(ord);
        return Ok("ord > ?::BIGINT".into());
    };
    let (column, kind) = (quoted(field.name), field.kind.sql());
    match cursor.sort_value(field.kind)? {
        Some(value) => {
            let beyond = if descending { "<" } else { ">" };
            bound.extend([value.clone(), value, ord]);
            Ok(format!(
                "({column} {beyond} ?::{kind} OR ({column} = ?::{kind} AND ord > ?::BIGINT) \
                 OR {column} IS NULL)"
            ))
        }
        None => {
            bound.push(ord);
            Ok(format!("({column} IS NULL AND ord > ?::BIGINT)"))
        }
    }
}

/// The next of these records, which need no query.
fn listed(ords: &[u32], after: Option<&Cursor>, limit: usize) -> Vec<ListRow> {
    let is_before = |cursor: &Cursor, ord: &u32| u64::from(*ord) <= cursor.ord;
    let from = after.map_or(0, |cursor| ords.partition_point(|ord| is_before(cursor, ord)));
    let row = |ord: &u32| ListRow { ord: (*ord).into(), key: None, json: None };
    ords.iter().skip(from).take(limit).map(row).collect()
}

/// The item as JSON: the prepared record or the row, with only the requested fields.
fn render(listing: &Listing, request: &ListRequest, row: ListRow) -> Result<String> {
    let bundle = listing.bundle;
    let json = match (listing.items, row.json) {
        (Items::Records { first }, _) => match bundle.records().by_number(first + row.ord as usize)
        {
            Some(entry) => entry.data.to_string(),
            None => {
                bundle.ensure_intact()?;
                let cause = format!("{} has no record {}", listing.table, row.ord);
                return Err(Error::internal(cause));
            }
        },
        (Items::Rows, json) => json.ok_or_else(|| Error::internal("a row without columns"))?,
    };
    match &request.fields {
        Some(fields) => select_fields(&json, fields),
        None => Ok(json),
    }
}

/// A record with only these fields.
pub fn select_fields(json: &str, fields: &[&str]) -> Result<String> {
    let mut record: Map<String, Value> = serde_json::from_str(json).map_err(Error::internal)?;
    record.retain(|name, _| fields.contains(&name.as_str()));
    serde_json::to_string(&record).map_err(Error::internal)
}

/// Says what each filter alone would have left, and what the source covers.
fn explain(context: &Context, listing: &Listing, filters: &[Filter]) -> Result<Value> {
    let given: Vec<&Filter> = filters.iter().filter(|f| !f.written.is_empty()).collect();
    let mut reason = json!({ "reason": match given.is_empty() {
        true => "There are no records of this kind here.",
        false => "No record matches all filters.",
    } });
    if !given.is_empty() {
        let alone = given.iter().zip(matches_alone(context, listing, &given)?);
        reason["filters"] = alone
            .map(|(filter, count)| json!({ "filter": filter.written, "matches_alone": count }))
            .collect();
    }
    if let Some(facts) = listing.facts {
        reason["source"] = json!({ "records": facts.records, "from": facts.from, "to": facts.to });
    }
    Ok(reason)
}

/// How many items of the list each filter leaves by itself.
fn matches_alone(context: &Context, listing: &Listing, given: &[&Filter]) -> Result<Vec<u64>> {
    if let Some(prepared) = listing.rows()
        && let Some(counts) = rows::matches_alone(context, prepared, given)?
    {
        return Ok(counts);
    }
    if let Some(table) = Table::of(listing)? {
        let alone = |filter: &&Filter| table.matched(context, std::slice::from_ref(*filter));
        let sets = given.iter().map(alone).collect::<Result<Option<Vec<OrdSet>>>>()?;
        if let Some(sets) = sets {
            return Ok(sets.iter().map(OrdSet::len).collect());
        }
    }
    let mut bound = Vec::new();
    let counts: Vec<String> = given
        .iter()
        .map(|f| format!("(count(*) FILTER (WHERE {}))::UBIGINT", f.sql(&mut bound)))
        .collect();
    let scope = conditions(listing, &[], &mut bound);
    let table = quoted(&listing.table);
    let sql = format!("SELECT {} FROM {table} WHERE {scope}", counts.join(", "));
    let rows = listing.bundle.db.query(&sql, &bound, &context.interrupt(), |row| {
        (0..given.len()).map(|at| row.get::<u64>(at)).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(rows.into_iter().flatten().collect())
}
