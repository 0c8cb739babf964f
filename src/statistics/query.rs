//! What the bundle holds of the Bank's series.

use serde_json::Value;

use crate::api::{Context, Error, Result};
use crate::boj::answer::Point;
use crate::bundle::columns::Column;
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
    let Some(columns) = BankColumns::of(context)? else { return Ok(Vec::new()) };
    let is_held = |code: &u32| columns.database.ords(*code).iter().any(|ord| columns.is_bank(ord));
    let codes = (1..=columns.database.values).filter(is_held);
    Ok(codes.filter_map(|code| columns.database.text(code).map(str::to_string)).collect())
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
    let Some(columns) = BankColumns::of(context)? else { return Ok(Vec::new()) };
    let first = context.bundle.first_number(source);
    let mut found = Vec::new();
    let codes = columns.database.text_codes(database);
    let ords = codes.flat_map(|code| columns.database.ords(code).iter());
    for ord in ords.filter(|ord| columns.is_bank(*ord)).map(|ord| ord as usize) {
        if found.len().is_multiple_of(256) {
            context.check()?;
        }
        let entry = context.bundle.records().by_number(first + ord);
        let entry = entry.ok_or_else(|| Error::internal(format!("no series {ord}")))?;
        found.push(HeldSeries { ord, fields: parse(entry.data)? });
    }
    Ok(found)
}

/// Which series are the Bank's, and of which database.
struct BankColumns<'a> {
    publisher: Column<'a>,
    database: Column<'a>,
}

impl<'a> BankColumns<'a> {
    /// Nothing where the bundle holds no series.
    fn of(context: &'a Context) -> Result<Option<BankColumns<'a>>> {
        let Some((source, _)) = context.bundle.source(SOURCE) else { return Ok(None) };
        let column = |name: &str| {
            let columns = context.bundle.columns()?;
            let column = columns.and_then(|columns| columns.column(&source.table(), name));
            column.ok_or_else(|| Error::internal(format!("no column {name} of {SOURCE}")))
        };
        Ok(Some(BankColumns { publisher: column("publisher")?, database: column("database")? }))
    }

    fn is_bank(&self, ord: u32) -> bool {
        self.publisher.text(self.publisher.code(ord)) == Some(PUBLISHER)
    }
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
        let rows = context.bundle.links()?.rows(SOURCE, "headings", self.ord);
        let json = rows.json(0..rows.range.len()).ok_or_else(|| not_kept("headings"))?;
        json.iter().map(|heading| parse(heading)).collect()
    }

    /// Its values, oldest first.
    pub fn points(&self, context: &Context) -> Result<Vec<Point>> {
        let blocks = context.bundle.links()?.rows(SOURCE, "observations", self.ord).all();
        let blocks = blocks.ok_or_else(|| not_kept("observations"))?;
        let mut points = Vec::new();
        for block in blocks.iter().rev() {
            let column = |name: &str| block.column(name).ok_or_else(|| not_kept(name));
            let (period, value) = (column("period")?, column("value")?);
            points.extend((0..block.rows).rev().map(|row| Point {
                period: block.text(row, period).unwrap_or_default(),
                value: block.text(row, value),
            }));
        }
        Ok(points)
    }
}

fn not_kept(what: &str) -> Error {
    Error::internal(format!("no {what} in the links section"))
}

fn parse(json: &str) -> Result<Fields> {
    serde_json::from_str(json).map_err(Error::internal)
}
