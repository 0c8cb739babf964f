//! What a caller asks of a list, read from arguments and checked against the listing.

use super::facets::take_facets;
use super::filter::{Filter, filters_key};
use super::listing::Listing;
use crate::api::argument::WHOLE_PAGE;
use crate::api::{Arguments, Error, Given, Result};
use crate::bundle::stable_hash;
use crate::catalog::Field;

pub const DEFAULT_LIMIT: usize = 20;
pub const MOST_ITEMS: usize = 100;

/// What `max_bytes` may ask for.
pub const LEAST_TEXT: usize = 1_000;
pub const MOST_TEXT: usize = 1_000_000;

/// Parameters of every list that are not fields. Surfaces read `format` themselves.
pub const LIST_PARAMETERS: [&str; 6] = ["limit", "cursor", "sort", "fields", "facets", "format"];

#[derive(Default)]
pub struct ListRequest {
    pub filters: Vec<Filter>,
    pub sort: Option<Sort>,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
    /// Bytes of text that the page may hold.
    pub max_bytes: Option<usize>,
    /// Words whose sections of the text are meant.
    pub find: Option<String>,
    /// Columns to show; all when absent.
    pub fields: Option<Vec<&'static str>>,
    /// Fields whose values are counted beside the list.
    pub facets: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct Sort {
    pub field: Field,
    pub descending: bool,
}

impl ListRequest {
    /// Reads a list's arguments; `valid` names parameters that the caller could have meant besides.
    pub fn read(
        mut arguments: Arguments,
        listing: &Listing,
        valid: &[&str],
    ) -> Result<ListRequest> {
        let mut request = ListRequest {
            limit: take_limit(&mut arguments)?,
            cursor: take_cursor(&mut arguments)?,
            fields: take_fields(&mut arguments, &listing.columns)?,
            facets: take_facets(&mut arguments)?,
            sort: arguments.take_one("sort")?.map(|sort| read_sort(&sort, listing)).transpose()?,
            ..ListRequest::default()
        };
        if listing.is_text() {
            let given = arguments.take_one("max_bytes")?;
            request.max_bytes = given.map(|given| read_max_bytes(&given)).transpose()?;
            request.find = arguments.take_one("find")?;
        }
        let valid: Vec<&str> = LIST_PARAMETERS.iter().chain(valid).copied().collect();
        request.filters = Filter::read_all(&arguments, listing, &valid)?;
        let is_version = |filter: &Filter| filter.is_on("version") || filter.is_on("current");
        if listing.has_versions && !request.filters.iter().any(is_version) {
            request.filters.push(Filter::current_version());
        }
        Ok(request)
    }

    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_LIMIT)
    }

    /// A few fields that would narrow the list and do not yet.
    pub fn narrowing(&self, listing: &Listing) -> Vec<&'static str> {
        let dates = listing.main_date.map(|_| "since").into_iter();
        let is_used = |column: &Field| self.filters.iter().any(|f| f.is_on(column.name));
        let groups = listing.columns.iter().filter(|c| c.group && !is_used(c));
        groups.map(|c| c.name).take(3).chain(dates).collect()
    }

    /// What tells this list from every other, the same on each of its pages.
    pub fn hash(&self, listing: &Listing) -> u64 {
        let mut key = format!("{}\n{}\n", listing.bundle.manifest.id, listing.table);
        if let Some(parent) = &listing.parent {
            key.push_str(&format!("under {}\n", parent.id));
        }
        key.push_str(&filters_key(&self.filters));
        if let Some(find) = &self.find {
            key.push_str(&format!("find {find}\n"));
        }
        if let Some(sort) = &self.sort {
            key.push_str(&format!("sort {} {}", sort.field.name, sort.descending));
        }
        stable_hash(key.as_bytes())
    }
}

/// `limit`, within what a page may hold. A surface that shows or streams whole lists asks for
/// larger pages by [`WHOLE_PAGE`], a name that no query string has.
pub fn take_limit(arguments: &mut Arguments) -> Result<Option<usize>> {
    if let Some(most) = arguments.take_one(WHOLE_PAGE)? {
        return most.parse().map(Some).map_err(Error::internal);
    }
    let Some(given) = arguments.take_one("limit")? else { return Ok(None) };
    match given.trim().parse::<usize>() {
        Ok(limit) if (1..=MOST_ITEMS).contains(&limit) => Ok(Some(limit)),
        _ => {
            let message =
                format!("`limit` must be an integer from 1 to {MOST_ITEMS}; got {given:?}.");
            let error = Error::invalid("limit", message).hint("max", MOST_ITEMS);
            Err(error.hint("default", DEFAULT_LIMIT))
        }
    }
}

/// `cursor` as it was given; surfaces bound its length.
pub fn take_cursor(arguments: &mut Arguments) -> Result<Option<String>> {
    Ok(arguments.take("cursor")?.map(|given| given.shown()))
}

/// `fields=a,b`: the names in the order in which records show them, `id` always among them.
pub fn take_fields(
    arguments: &mut Arguments,
    columns: &[Field],
) -> Result<Option<Vec<&'static str>>> {
    arguments.take("fields")?.map(|given| read_fields(&given, columns)).transpose()
}

fn read_fields(given: &Given, columns: &[Field]) -> Result<Vec<&'static str>> {
    let names: Vec<&'static str> = columns.iter().map(|c| c.name).collect();
    let wanted = given.values("fields")?;
    if wanted.is_empty() {
        return Err(Error::invalid("fields", "`fields` names no field.").hint("valid", names));
    }
    if let Some(unknown) = wanted.iter().find(|wanted| !names.contains(&wanted.trim())) {
        let error = Error::invalid("fields", format!("There is no field {unknown:?} here."));
        return Err(error.suggest(unknown, names));
    }
    let is_wanted = |name: &&str| *name == "id" || wanted.iter().any(|w| w.trim() == *name);
    Ok(names.into_iter().filter(is_wanted).collect())
}

fn read_sort(given: &str, listing: &Listing) -> Result<Sort> {
    let (name, descending) = given.strip_prefix('-').map_or((given, false), |name| (name, true));
    match listing.column(name).filter(Field::can_sort) {
        Some(field) => Ok(Sort { field, descending }),
        None => {
            let error = Error::invalid("sort", format!("This list can't be sorted by {name:?}."));
            Err(error.suggest(name, listing.columns_with(Field::can_sort)))
        }
    }
}

fn read_max_bytes(given: &str) -> Result<usize> {
    match given.trim().parse::<usize>() {
        Ok(bytes) if (LEAST_TEXT..=MOST_TEXT).contains(&bytes) => Ok(bytes),
        _ => Err(Error::invalid(
            "max_bytes",
            format!(
                "`max_bytes` must be an integer from {LEAST_TEXT} to {MOST_TEXT}; got {given:?}."
            ),
        )),
    }
}
