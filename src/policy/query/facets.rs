//! Counts beside a list or a search: how many of the same candidates have each value of a field.
//! Each count has little time; one that takes longer is left out and says so.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::columns::{Measured, Table};
use super::filter::{Filter, quoted};
use super::listing::{Items, Listing, ord_in};
use super::page::conditions;
use crate::api::{Arguments, Context, Error, Result};
use crate::bundle::{Bundle, QueryError, SqlValue, ValueCounts};
use crate::catalog::{self, Field, Kind};

/// Facets of one request.
const MOST_FACETS: usize = 12;
/// Values shown of each.
const SHOWN: usize = 20;
/// What one may take: enough for millions of records, and nobody waits for a side bar.
const TIME: Duration = Duration::from_millis(200);

/// The year of the main date.
pub const YEAR: &str = "year";

/// How many of the list's records have each value of a field
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Facet")]
pub struct FacetCounts {
    pub field: String,
    /// The most frequent values; years newest first
    pub values: Vec<FacetValue>,
    /// How many further values there are
    pub more: u64,
    /// Why there are no counts
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub left_out: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FacetValue {
    /// As a filter takes it
    pub value: String,
    /// As people read it: the name of a member for an id
    pub label: String,
    pub count: u64,
}

/// Takes out `facets=a,b`.
pub fn take_facets(arguments: &mut Arguments) -> Result<Vec<String>> {
    let Some(given) = arguments.take("facets")? else { return Ok(Vec::new()) };
    let mut names: Vec<String> = Vec::new();
    for name in given.values("facets")? {
        if !names.iter().any(|known| known == name.trim()) {
            names.push(name.trim().to_string());
        }
    }
    if names.len() > MOST_FACETS {
        let message = format!("`facets` names {} fields; the limit is {MOST_FACETS}.", names.len());
        return Err(Error::invalid("facets", message));
    }
    Ok(names)
}

/// Fields of a listing that can be a facet. The rows of one record are few: any short field is.
pub fn facet_fields(listing: &Listing) -> Vec<&'static str> {
    let is_facet = |field: &&Field| match listing.items {
        Items::Records { .. } => field.group,
        Items::Rows => !listing.has_versions && field.can_filter() && field.kind != Kind::Date,
    };
    let year = listing.main_date.filter(|_| listing.column(YEAR).is_none()).map(|_| YEAR);
    listing.columns.iter().filter(is_facet).map(|field| field.name).chain(year).collect()
}

/// The part of one table that is counted.
pub struct FacetScope<'a> {
    pub listing: &'a Listing<'a>,
    pub filters: &'a [Filter],
    /// Positions of the records that a search found, in ascending order.
    pub matching: Option<Vec<u32>>,
}

impl FacetScope<'_> {
    /// Whether the field can be counted here.
    pub fn has(&self, name: &str) -> bool {
        facet_fields(self.listing).contains(&name)
    }

    /// `SELECT … AS k`: one row per record and value.
    fn values(&self, name: &str, bound: &mut Vec<SqlValue>) -> Option<String> {
        let listing = self.listing;
        let key = match listing.column(name) {
            Some(field) if field.kind.is_list() => {
                format!("unnest(list_distinct({}))", quoted(field.name))
            }
            Some(field) => format!("{}::VARCHAR", quoted(field.name)),
            None => format!("year({})::VARCHAR", quoted(listing.main_date?)),
        };
        let mut wheres = conditions(listing, self.filters, bound);
        if let Some(matching) = &self.matching {
            wheres.push_str(" AND ");
            wheres.push_str(&ord_in(matching, bound));
        }
        Some(format!("SELECT {key} AS k FROM {} WHERE {wheres}", quoted(&listing.table)))
    }
}

/// The error for a facet that none of the listings has.
pub fn unknown_facet(name: &str, valid: &[&str]) -> Error {
    let error = Error::invalid("facets", format!("`facets` can't be {name:?} here."));
    error.suggest(name, valid.iter().copied())
}

/// The facets of a list.
pub fn list_facets(
    context: &Context,
    listing: &Listing,
    filters: &[Filter],
    names: &[String],
) -> Result<Vec<FacetCounts>> {
    let scopes = [FacetScope { listing, filters, matching: None }];
    let count = |name: &String| match scopes[0].has(name) {
        true => facet(context, &scopes, name),
        false => Err(unknown_facet(name, &facet_fields(listing))),
    };
    names.iter().map(count).collect()
}

/// Counts one field over all scopes that have it. Blocks: call it on a blocking thread.
pub fn facet(context: &Context, scopes: &[FacetScope], name: &str) -> Result<FacetCounts> {
    context.check()?;
    let having: Vec<&FacetScope> = scopes.iter().filter(|scope| scope.has(name)).collect();
    let mut counts =
        FacetCounts { field: name.to_string(), values: Vec::new(), more: 0, left_out: None };
    if having.is_empty() {
        return Ok(counts);
    }
    let known = cache_key(scopes, name);
    let cache = &context.bundle.value_counts;
    let found = match known.as_ref().and_then(|key| cache.get(key)) {
        Some(found) => found,
        None => {
            let counted = match count_in_columns(context, &having, name)? {
                Some(found) => Ok(found),
                None => count_values(context, &having, name),
            };
            match counted {
                Ok(found) => {
                    let found = Arc::new(found);
                    known.into_iter().for_each(|key| cache.insert(key, found.clone()));
                    found
                }
                Err(QueryError::TimedOut) => {
                    let limit = TIME.as_millis();
                    counts.left_out = Some(format!("Counting took longer than {limit} ms."));
                    return Ok(counts);
                }
                Err(error) => return Err(error.into()),
            }
        }
    };
    let fields = having.iter().filter_map(|scope| scope.listing.column(name));
    let target = fields.filter_map(|field| field.kind.target()).next().and_then(catalog::source);
    counts.more = found.distinct.saturating_sub(found.values.len() as u64);
    let shown = |(value, count): &(String, u64)| {
        let label = target.and_then(|source| title(&context.bundle, source.title, value));
        let label = label.unwrap_or_else(|| value.clone());
        FacetValue { value: value.clone(), label, count: *count }
    };
    counts.values = found.values.iter().map(shown).collect();
    Ok(counts)
}

/// The counts from columns; nothing where one of the scopes has none.
fn count_in_columns(
    context: &Context,
    having: &[&FacetScope],
    name: &str,
) -> Result<Option<ValueCounts>> {
    let mut merged: HashMap<String, u64> = HashMap::new();
    let mut years: BTreeMap<i32, u64> = BTreeMap::new();
    for FacetScope { listing, filters, matching } in having {
        let Some(table) = Table::of(listing)? else { return Ok(None) };
        let Some(mut set) = table.matched(context, filters)? else { return Ok(None) };
        if let Some(matching) = matching {
            set = set.among(matching);
        }
        let date = || listing.main_date.and_then(|date| listing.column(date));
        let (field, is_year) = match listing.column(name) {
            Some(field) => (Some(field), false),
            None => (date(), true),
        };
        let Some(field) = field else { return Ok(None) };
        let measured = Measured::counted(table, set);
        if is_year {
            if !measured.add_years(context, &field, &mut years)? {
                return Ok(None);
            }
            continue;
        }
        // Of several sources every value counts: it may be frequent in another one.
        let most = if having.len() > 1 { usize::MAX } else { SHOWN };
        let Some(counted) = measured.frequent(context, &field, most)? else { return Ok(None) };
        if having.len() == 1 {
            return Ok(Some(counted));
        }
        for (value, count) in counted.values {
            *merged.entry(value).or_default() += count;
        }
    }
    // One source may have a field of that name where others have a date.
    for (year, count) in years {
        *merged.entry(year.to_string()).or_default() += count;
    }
    let distinct = merged.len() as u64;
    let mut values: Vec<(String, u64)> = merged.into_iter().collect();
    match name {
        YEAR => values.sort_by(|a, b| b.0.cmp(&a.0)),
        _ => values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0))),
    }
    values.truncate(SHOWN);
    Ok(Some(ValueCounts { values, distinct }))
}

/// The same by SQL.
fn count_values(
    context: &Context,
    having: &[&FacetScope],
    name: &str,
) -> Result<ValueCounts, QueryError> {
    let mut bound = Vec::new();
    let parts: Vec<String> =
        having.iter().filter_map(|scope| scope.values(name, &mut bound)).collect();
    let order = if name == YEAR { "k DESC" } else { "n DESC, k" };
    let sql = format!(
        "WITH v AS ({}), g AS (SELECT k, count(*)::UBIGINT AS n FROM v WHERE k IS NOT NULL \
         GROUP BY k) \
         SELECT k, n, (count(*) OVER ())::UBIGINT FROM g ORDER BY {order} LIMIT {SHOWN}",
        parts.join(" UNION ALL ")
    );
    let interrupt = context.interrupt().by(Instant::now() + TIME);
    let rows = context.bundle.db.query(&sql, &bound, &interrupt, |row| {
        Ok((row.get::<String>(0)?, row.get::<u64>(1)?, row.get::<u64>(2)?))
    })?;
    let distinct = rows.first().map_or(0, |row| row.2);
    let values = rows.into_iter().map(|(value, count, _)| (value, count)).collect();
    Ok(ValueCounts { values, distinct })
}

/// What tells this count from others. What a search found is not kept: there is no end of searches.
fn cache_key(scopes: &[FacetScope], name: &str) -> Option<String> {
    let mut key = format!("{name}\n");
    for FacetScope { listing, filters, matching } in scopes {
        if matching.is_some() {
            return None;
        }
        let parent = listing.parent.as_ref().map_or("", |parent| parent.id.as_str());
        key.push_str(&format!("{} under {parent}\n", listing.table));
        for filter in *filters {
            key.push_str(&filter.key());
            key.push('\n');
        }
    }
    Some(key)
}

/// The title of a record of this bundle.
pub fn title(bundle: &Bundle, field: &str, id: &str) -> Option<String> {
    let (number, entry) = bundle.records().by_id(id)?;
    if let Some(source) = bundle.source_of_number(number).filter(|source| source.title == field)
        && let Ok(Some(columns)) = bundle.columns()
        && let Some(ord) = number.checked_sub(bundle.first_number(source))
        && let Some(title) = columns.title(&source.table(), ord)
    {
        return Some(title.to_string());
    }
    let fields: HashMap<&str, &serde_json::value::RawValue> =
        serde_json::from_str(entry.data).ok()?;
    serde_json::from_str(fields.get(field)?.get()).ok()
}
