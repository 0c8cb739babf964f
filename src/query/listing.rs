//! A page of a list: which rows, in which order, and how many there are.

use serde_json::{Map, Value, json};

use super::cursor::Cursor;
use super::filter::{Filter, Op, ReadId, quoted};
use super::params::Params;
use super::table::{Items, Ords, Table, Under};
use super::text;
use crate::bundle::{Bundle, stable_hash};
use crate::catalog::Field;
use crate::error::{Code, Error, Result};

pub const DEFAULT_LIMIT: usize = 20;
pub const MOST_ITEMS: usize = 100;

/// What `max_bytes` may ask for.
pub const LEAST_TEXT: usize = 1_000;
pub const MOST_TEXT: usize = 1_000_000;

/// Parameters of every list that are not fields.
pub const RESERVED: [&str; 5] = ["limit", "cursor", "sort", "fields", "format"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Json,
    Csv,
    Ndjson,
}

impl Format {
    pub const NAMES: [(&'static str, Format); 3] =
        [("json", Format::Json), ("csv", Format::Csv), ("ndjson", Format::Ndjson)];
}

/// What a caller asks of a list, checked.
#[derive(Default)]
pub struct ListRequest {
    filters: Vec<Filter>,
    sort: Option<(Field, bool)>,
    limit: Option<usize>,
    cursor: Option<String>,
    /// Bytes of text that the page may hold.
    max_bytes: Option<usize>,
    /// Columns to show; all when absent.
    pub fields: Option<Vec<&'static str>>,
    pub format: Format,
}

/// One page.
#[derive(Default)]
pub struct Page {
    /// Each item as JSON, already narrowed to the requested fields.
    pub items: Vec<String>,
    pub columns: Vec<&'static str>,
    pub total: u64,
    pub next_cursor: Option<String>,
    /// Why there is nothing, when there is nothing.
    pub empty: Option<Value>,
    /// Fields that would narrow the list.
    pub narrowing: Vec<&'static str>,
    /// The headings of a text of which this page shows only the beginning.
    pub contents: Option<Value>,
}

impl ListRequest {
    pub fn read(params: &Params, table: &Table, read_id: ReadId) -> Result<ListRequest> {
        let mut request = ListRequest::default();
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in params.iter() {
            if RESERVED.contains(&name) || name == "max_bytes" {
                if seen.contains(&name) {
                    return Err(Error::invalid(name, format!("`{name}` is given twice.")));
                }
                seen.push(name);
            }
            match name {
                "limit" => request.limit = Some(read_limit(value)?),
                "cursor" => request.cursor = Some(value.to_string()),
                "max_bytes" if table.is_text() => request.max_bytes = Some(read_max_bytes(value)?),
                "sort" => request.sort = Some(read_sort(value, table)?),
                "fields" => request.fields = Some(read_fields(value, &table.columns)?),
                "format" => request.format = read_format(value)?,
                _ => request.filters.push(read_filter(name, value, table, read_id)?),
            }
        }
        if table.has_versions && !request.filters.iter().any(|f| f.is_on("version") || f.is_on("current")) {
            request.filters.push(Filter::current());
        }
        Ok(request)
    }

    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_LIMIT)
    }

    /// A few fields that would narrow the list and do not yet.
    fn narrowing(&self, table: &Table) -> Vec<&'static str> {
        let dates = table.main_date.map(|_| "since").into_iter();
        let groups = table.columns.iter().filter(|c| c.group && !self.filters.iter().any(|f| f.is_on(c.name)));
        groups.map(|c| c.name).take(3).chain(dates).collect()
    }

    /// What tells this list from every other, page by page the same.
    fn hash(&self, bundle: &Bundle, table: &Table) -> u64 {
        let mut key = format!("{}\n{}\n", bundle.manifest.id, table.name);
        if let Some(under) = &table.under {
            key.push_str(&format!("under {}\n", under.parent));
        }
        for filter in &self.filters {
            key.push_str(&filter.key());
            key.push('\n');
        }
        if let Some((field, descending)) = self.sort {
            key.push_str(&format!("sort {} {descending}", field.name));
        }
        stable_hash(key.as_bytes())
    }
}

/// `limit`, within what a page may hold.
pub fn read_limit(value: &str) -> Result<usize> {
    match value.trim().parse::<usize>() {
        Ok(n) if (1..=MOST_ITEMS).contains(&n) => Ok(n),
        _ => Err(Error::invalid("limit", format!("`limit` takes a number from 1 to {MOST_ITEMS}, not {value:?}."))
            .hint("max", MOST_ITEMS)
            .hint("default", DEFAULT_LIMIT)),
    }
}

fn read_max_bytes(value: &str) -> Result<usize> {
    match value.trim().parse::<usize>() {
        Ok(n) if (LEAST_TEXT..=MOST_TEXT).contains(&n) => Ok(n),
        _ => Err(Error::invalid(
            "max_bytes",
            format!("`max_bytes` takes a number from {LEAST_TEXT} to {MOST_TEXT}, not {value:?}."),
        )),
    }
}

fn read_sort(value: &str, table: &Table) -> Result<(Field, bool)> {
    let (name, descending) = value.strip_prefix('-').map_or((value, false), |name| (name, true));
    let sortable = || table.columns.iter().filter(|c| c.can_sort());
    match sortable().find(|c| c.name == name) {
        Some(column) => Ok((*column, descending)),
        None => Err(Error::invalid("sort", format!("This list can't be sorted by {name:?}."))
            .suggest(name, sortable().map(|c| c.name))),
    }
}

/// The names in `fields=a,b`, in the order in which records show them, `id` always among them.
pub fn read_fields(value: &str, columns: &[Field]) -> Result<Vec<&'static str>> {
    let wanted: Vec<&str> = value.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
    if wanted.is_empty() {
        return Err(Error::invalid("fields", "`fields` names no field.").hint("valid", names(columns)));
    }
    for name in &wanted {
        if !columns.iter().any(|c| c.name == *name) {
            return Err(
                Error::invalid("fields", format!("There is no field {name:?} here.")).suggest(name, names(columns))
            );
        }
    }
    Ok(names(columns).into_iter().filter(|n| *n == "id" || wanted.contains(n)).collect())
}

fn names(columns: &[Field]) -> Vec<&'static str> {
    columns.iter().map(|c| c.name).collect()
}

pub(super) fn read_format(value: &str) -> Result<Format> {
    match Format::NAMES.iter().find(|(name, _)| *name == value) {
        Some((_, format)) => Ok(*format),
        None => Err(Error::invalid("format", format!("`format` can't be {value:?}."))
            .suggest(value, Format::NAMES.map(|(name, _)| name))),
    }
}

pub(super) fn read_filter(name: &str, value: &str, table: &Table, read_id: ReadId) -> Result<Filter> {
    if let (Some(date), Some(op)) = (
        table.main_date.and_then(|d| table.column(d)),
        match name {
            "since" => Some(Op::Gte),
            "until" => Some(Op::Lte),
            _ => None,
        },
    ) {
        return Filter::read(table, name, date, op, value, read_id);
    }
    let (base, op) = match name.rsplit_once('.') {
        Some((base, suffix)) => match Op::SUFFIXES.iter().find(|(s, _)| *s == suffix) {
            Some((_, op)) => (base, *op),
            None => (name, Op::Any),
        },
        None => (name, Op::Any),
    };
    match table.column(base) {
        Some(column) => Filter::read(table, name, column, op, value, read_id),
        None => {
            let filters = table.columns.iter().filter(|c| c.can_filter()).map(|c| c.name);
            let dates = if table.main_date.is_some() { &["since", "until"][..] } else { &[] };
            let numbers = table.number_parameters();
            let names = RESERVED.into_iter().chain(numbers.iter().copied()).chain(dates.iter().copied());
            let valid: Vec<&str> = names.chain(filters).collect();
            if name == "q" && table.has_text && !numbers.is_empty() {
                let message = "`q` finds names in registries; these records carry a text, which /v1/search searches.";
                let mut error = Error::new(Code::SourceNotResolvable, message).hint("use_tool", "search");
                error.field = Some("q".into());
                return Err(error.hint("use", format!("/v1/search?q={value}")));
            }
            Err(Error::invalid(name, format!("There is no parameter {name:?} here.")).suggest(base, valid))
        }
    }
}

/// Runs the request. Blocks: call it on a blocking thread.
pub fn list(bundle: &Bundle, table: &Table, request: &ListRequest) -> Result<Page> {
    let hash = request.hash(bundle, table);
    let sorted = request.sort.map(|(field, _)| field.kind);
    let cursor = request.cursor.as_deref().map(|c| Cursor::decode(c, hash, sorted)).transpose()?;
    let total = match (&cursor, &table.under, table.facts) {
        (Some(cursor), _, _) => cursor.total,
        (None, Some(under), _) if request.filters.is_empty() => under.len() as u64,
        (None, None, Some(facts)) if request.filters.is_empty() => facts.records,
        (None, Some(under), _) if under.len() == 0 => 0,
        _ => count(bundle, table, &request.filters)?,
    };
    let limit = request.limit();
    let columns = request.fields.clone().unwrap_or_else(|| names(&table.columns));
    let mut rows = if total == 0 { Vec::new() } else { select(bundle, table, request, cursor.as_ref(), limit + 1)? };
    let more = rows.len() > limit;
    rows.truncate(limit);
    let (more, contents) = match request.max_bytes {
        Some(most) => {
            let cut = text::fit(&mut rows, most)?;
            let begins = cursor.is_none() && !request.filters.iter().any(|f| f.is_on("section"));
            let contents = begins && (more || cut);
            (more || cut, if contents { Some(text::contents(bundle, table, &request.filters)?) } else { None })
        }
        None => (more, None),
    };
    let next_cursor = match rows.last() {
        Some(last) if more => Some(Cursor { list: hash, ord: last.ord, key: last.key.clone(), total }.encode()),
        _ => None,
    };
    let items = rows.into_iter().map(|row| render(bundle, table, request, row)).collect::<Result<_>>()?;
    bundle.check_whole()?;
    let empty = if total == 0 { Some(explain(bundle, table, &request.filters)?) } else { None };
    let narrowing = request.narrowing(table);
    Ok(Page { items, columns, total, next_cursor, empty, narrowing, contents })
}

/// One row of the page.
pub(super) struct Row {
    ord: u64,
    key: Option<String>,
    /// The columns as JSON, for rows that are not prepared records.
    pub(super) json: Option<String>,
}

/// What is true of the rows that are meant, with the values pushed onto `bound`.
pub(super) fn conditions(table: &Table, filters: &[Filter], bound: &mut Vec<String>) -> String {
    let under: Option<String> = table.under.as_ref().map(|under| under.sql(bound));
    let parts: Vec<String> = under.into_iter().chain(filters.iter().map(|f| f.sql(bound))).collect();
    if parts.is_empty() { "TRUE".into() } else { parts.join(" AND ") }
}

/// A row as JSON in SQL, keys in the order of the columns.
pub fn row_json(columns: &[Field]) -> String {
    let pairs: Vec<String> = columns.iter().map(|c| format!("{0} := {0}", quoted(c.name))).collect();
    format!("to_json(struct_pack({}))::VARCHAR", pairs.join(", "))
}

fn count(bundle: &Bundle, table: &Table, filters: &[Filter]) -> Result<u64> {
    let mut bound = Vec::new();
    let conditions = conditions(table, filters, &mut bound);
    let sql = format!("SELECT count(*)::VARCHAR FROM {} WHERE {conditions}", quoted(&table.name));
    number(&bundle.db.rows(&sql, &bound)?, 0)
}

fn select(
    bundle: &Bundle,
    table: &Table,
    request: &ListRequest,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Vec<Row>> {
    if request.sort.is_none()
        && request.filters.is_empty()
        && let Some(rows) = table.under.as_ref().and_then(|under| prepared(under, after, limit))
    {
        return Ok(rows);
    }
    let mut bound = Vec::new();
    let mut wheres = conditions(table, &request.filters, &mut bound);
    let (key, order) = match request.sort {
        Some((field, descending)) => {
            let (column, direction) = (quoted(field.name), if descending { "DESC" } else { "ASC" });
            (format!("{column}::VARCHAR"), format!("{column} {direction} NULLS LAST, ord"))
        }
        None => ("NULL::VARCHAR".to_string(), "ord".to_string()),
    };
    if let Some(cursor) = after {
        let ord = cursor.ord.to_string();
        let condition = match (request.sort, &cursor.key) {
            (Some((field, descending)), Some(key)) => {
                let (column, kind) = (quoted(field.name), field.kind.sql());
                let beyond = if descending { "<" } else { ">" };
                bound.extend([key.clone(), key.clone(), ord]);
                format!(
                    "({column} {beyond} ?::{kind} OR ({column} = ?::{kind} AND ord > ?::BIGINT) OR {column} IS NULL)"
                )
            }
            (Some((field, _)), None) => {
                bound.push(ord);
                format!("({} IS NULL AND ord > ?::BIGINT)", quoted(field.name))
            }
            (None, _) => {
                bound.push(ord);
                "ord > ?::BIGINT".to_string()
            }
        };
        wheres = format!("{wheres} AND {condition}");
    }
    let json = match table.items {
        Items::Records { .. } => "NULL::VARCHAR".to_string(),
        Items::Rows => row_json(&table.columns),
    };
    let sql = format!(
        "SELECT ord::VARCHAR, {key}, {json} FROM {} WHERE {wheres} ORDER BY {order} LIMIT {limit}",
        quoted(&table.name)
    );
    let rows = bundle.db.rows(&sql, &bound)?;
    rows.into_iter()
        .map(|mut row| {
            let json = row.pop().flatten();
            let key = row.pop().flatten();
            let ord = row.pop().flatten().and_then(|o| o.parse().ok());
            Ok(Row { ord: ord.ok_or_else(|| Error::internal("a row without ord"))?, key, json })
        })
        .collect()
}

/// Rows that need no query: records by their numbers, or the first rows.
fn prepared(under: &Under, after: Option<&Cursor>, limit: usize) -> Option<Vec<Row>> {
    let row = |ord: u64, json: Option<String>| Row { ord, key: None, json };
    match &under.ords {
        Ords::Records(ords) => {
            let from = after.map_or(0, |cursor| ords.partition_point(|ord| u64::from(*ord) <= cursor.ord));
            Some(ords.iter().skip(from).take(limit).map(|ord| row((*ord).into(), None)).collect())
        }
        Ords::Rows(range) => {
            let from = after.map_or(range.start, |cursor| cursor.ord as usize + 1);
            let first = under.first.iter().enumerate().map(|(at, json)| (range.start + at, json));
            let rows: Vec<Row> = first
                .skip_while(|(ord, _)| *ord < from)
                .take(limit)
                .map(|(ord, json)| row(ord as u64, Some(json.to_string())))
                .collect();
            (rows.len() == limit.min(range.end.saturating_sub(from))).then_some(rows)
        }
    }
}

/// The item as JSON: the prepared record or the row, narrowed to the requested fields.
fn render(bundle: &Bundle, table: &Table, request: &ListRequest, row: Row) -> Result<String> {
    let json = match (table.items, row.json) {
        (Items::Records { first }, _) => match bundle.records().by_number(first + row.ord as usize) {
            Some(entry) => entry.data.to_string(),
            None => {
                bundle.check_whole()?;
                return Err(Error::internal(format!("{} has no record {}", table.name, row.ord)));
            }
        },
        (Items::Rows, json) => json.ok_or_else(|| Error::internal("a row without columns"))?,
    };
    match &request.fields {
        Some(fields) => narrow(&json, fields),
        None => Ok(json),
    }
}

/// A record with only these fields.
pub fn narrow(json: &str, fields: &[&str]) -> Result<String> {
    let mut record: Map<String, Value> = serde_json::from_str(json).map_err(Error::internal)?;
    record.retain(|name, _| fields.contains(&name.as_str()));
    serde_json::to_string(&record).map_err(Error::internal)
}

/// Says what each filter alone would have left, and what the source covers.
fn explain(bundle: &Bundle, table: &Table, filters: &[Filter]) -> Result<Value> {
    let said: Vec<&Filter> = filters.iter().filter(|f| !f.said.is_empty()).collect();
    let mut reason = json!({ "reason": if said.is_empty() { "There is nothing of this kind here." } else { "No record matches all filters." } });
    if !said.is_empty() {
        let mut bound = Vec::new();
        let counts: Vec<String> =
            said.iter().map(|f| format!("(count(*) FILTER (WHERE {}))::VARCHAR", f.sql(&mut bound))).collect();
        let scope = conditions(table, &[], &mut bound);
        let sql = format!("SELECT {} FROM {} WHERE {scope}", counts.join(", "), quoted(&table.name));
        let rows = bundle.db.rows(&sql, &bound)?;
        let alone =
            said.iter().enumerate().map(|(i, f)| Ok(json!({ "filter": f.said, "matches_alone": number(&rows, i)? })));
        reason["filters"] = Value::Array(alone.collect::<Result<_>>()?);
    }
    if let Some(facts) = table.facts {
        reason["source"] = json!({ "records": facts.records, "from": facts.from, "to": facts.to });
    }
    Ok(reason)
}

fn number(rows: &[Vec<Option<String>>], column: usize) -> Result<u64> {
    let text = rows.first().and_then(|r| r.get(column)).and_then(Option::as_deref);
    text.and_then(|t| t.parse().ok()).ok_or_else(|| Error::internal("a count without a number"))
}
