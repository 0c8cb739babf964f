//! What the bundle holds of the Bank's series. The SQL of this capability is written here and
//! nowhere else.

use serde_json::Value;

use crate::api::{Context, Error, Result};
use crate::boj::answer::Point;
use crate::bundle::SqlValue;
use crate::catalog::spec::Fields;

const SOURCE: &str = "statistical-series";
const PUBLISHER: &str = "Bank of Japan";

/// A series of the Bank as the bundle holds it.
pub struct HeldSeries {
    /// Its number among the series of the bundle.
    ord: usize,
    pub fields: Fields,
}

/// The databases that the bundle holds series of.
pub fn databases(context: &Context) -> Result<Vec<String>> {
    if context.bundle.source(SOURCE).is_none() {
        return Ok(Vec::new());
    }
    let sql = "SELECT DISTINCT database FROM statistical_series \
               WHERE publisher = ?::VARCHAR AND database IS NOT NULL ORDER BY 1";
    let bound = [SqlValue::Text(PUBLISHER.into())];
    Ok(context.bundle.db.query(sql, &bound, &context.interrupt(), |row| row.get(0))?)
}

/// The series with this code.
pub fn series(context: &Context, database: &str, code: &str) -> Result<Option<HeldSeries>> {
    let Some((source, _)) = context.bundle.source(SOURCE) else { return Ok(None) };
    let id = format!("boj:{database}:{}", code.to_ascii_uppercase());
    let Some((number, entry)) = context.bundle.records().by_id(&id) else { return Ok(None) };
    let ord = number.saturating_sub(context.bundle.first_number(source));
    Ok(Some(HeldSeries { ord, fields: parse(entry.data)? }))
}

/// Every series of a database, in the order of the Bank's list.
pub fn all_series(context: &Context, database: &str) -> Result<Vec<HeldSeries>> {
    let Some((source, _)) = context.bundle.source(SOURCE) else { return Ok(Vec::new()) };
    let sql = "SELECT ord::UBIGINT FROM statistical_series \
               WHERE publisher = ?::VARCHAR AND database = ?::VARCHAR ORDER BY ord";
    let bound = [SqlValue::Text(PUBLISHER.into()), SqlValue::Text(database.into())];
    let read = context.bundle.db.query(sql, &bound, &context.interrupt(), |row| row.get::<u64>(0));
    let first = context.bundle.first_number(source);
    let mut found = Vec::new();
    for ord in read?.into_iter().map(|ord| ord as usize) {
        if found.len().is_multiple_of(256) {
            context.check()?;
        }
        let entry = context.bundle.records().by_number(first + ord);
        let entry = entry.ok_or_else(|| Error::internal(format!("no series {ord}")))?;
        found.push(HeldSeries { ord, fields: parse(entry.data)? });
    }
    Ok(found)
}

impl HeldSeries {
    pub fn text(&self, name: &str) -> String {
        match self.fields.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        }
    }

    pub fn position(&self) -> Option<u64> {
        self.fields.get("position").and_then(Value::as_u64)
    }

    /// The headings above it in the Bank's list.
    pub fn headings(&self, context: &Context) -> Result<Vec<Fields>> {
        let links = context.bundle.links()?;
        links.first_rows(SOURCE, "headings", self.ord).into_iter().map(parse).collect()
    }

    /// Its values, oldest first.
    pub fn points(&self, context: &Context) -> Result<Vec<Point>> {
        let links = context.bundle.links()?;
        let range = links.rows(SOURCE, "observations", self.ord);
        let prepared = links.first_rows(SOURCE, "observations", self.ord);
        if prepared.len() == range.len() {
            let rows = prepared.into_iter().rev().map(parse).collect::<Result<Vec<_>>>()?;
            let text = |row: &Fields, name: &str| {
                row.get(name).and_then(Value::as_str).map(str::to_string)
            };
            let point = |row: &Fields| Point {
                period: text(row, "period").unwrap_or_default(),
                value: text(row, "value"),
            };
            return Ok(rows.iter().map(point).collect());
        }
        // Numbers of our own: only spliced ones let DuckDB skip parts of the table.
        let sql = format!(
            "SELECT period, value FROM statistical_series_observations \
             WHERE ord >= {} AND ord < {} ORDER BY ord DESC",
            range.start, range.end
        );
        Ok(context.bundle.db.query(&sql, &[], &context.interrupt(), |row| {
            Ok(Point { period: row.get(0)?, value: row.get(1)? })
        })?)
    }
}

fn parse(json: &str) -> Result<Fields> {
    serde_json::from_str(json).map_err(Error::internal)
}
