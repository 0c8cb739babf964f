//! What can be listed: a source's records, or the rows under one record.

use std::ops::Range;

use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::spec::{BODY, TOC};
use crate::catalog::{Field, Source, Sub, SubKind};
use crate::error::{Error, Result};

use super::aggregate::PARAMETERS as AGGREGATE_PARAMETERS;
/// One list: a table with the columns that this bundle offers, and the part of it that is meant.
pub struct Table<'a> {
    pub name: String,
    pub columns: Vec<Field>,
    pub main_date: Option<&'static str>,
    /// Facts about the columns: which values there are.
    pub facts: Option<&'a SourceFacts>,
    /// Only what hangs under one record.
    pub under: Option<Under<'a>>,
    pub items: Items,
    /// Whether the records carry a text that `q` can ask for.
    pub has_text: bool,
    /// Whether `version` chooses a text and its absence means the current one.
    pub has_versions: bool,
}

/// The part of a table that hangs under one record.
pub struct Under<'a> {
    pub parent: String,
    pub ords: Ords,
    /// The first rows, prepared.
    pub first: Vec<&'a str>,
}

pub enum Ords {
    Rows(Range<usize>),
    Records(Vec<u32>),
}

impl Under<'_> {
    pub fn len(&self) -> usize {
        match &self.ords {
            Ords::Rows(range) => range.len(),
            Ords::Records(ords) => ords.len(),
        }
    }

    /// The condition, with its values pushed onto `bound`.
    pub fn sql(&self, bound: &mut Vec<String>) -> String {
        match &self.ords {
            // Numbers of ours, spliced: only so does DuckDB skip the parts of the table that they rule out.
            Ords::Rows(range) => format!("ord >= {} AND ord < {}", range.start, range.end),
            Ords::Records(ords) => among(ords, bound),
        }
    }
}

/// The condition that `ord` is one of these, with its value pushed onto `bound`.
pub fn among(ords: &[u32], bound: &mut Vec<String>) -> String {
    let list: Vec<String> = ords.iter().map(u32::to_string).collect();
    bound.push(format!("[{}]", list.join(",")));
    "ord IN (SELECT unnest(?::VARCHAR::UINTEGER[]))".to_string()
}

/// Where the items of a list come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// Prepared records: the table's `ord` plus this number.
    Records { first: usize },
    /// The columns of the row.
    Rows,
}

impl<'a> Table<'a> {
    /// The records of a source.
    pub fn of_source(bundle: &Bundle, source: &'static Source, facts: &'a SourceFacts) -> Table<'a> {
        Table {
            name: source.table(),
            columns: source.columns().into_iter().filter(|f| facts.fields.contains_key(f.name)).collect(),
            main_date: source.main_date,
            facts: Some(facts),
            under: None,
            items: Items::Records { first: bundle.first_number(source) },
            has_text: source.shape.has_body(),
            has_versions: false,
        }
    }

    /// What a sub-resource holds, under any record; nothing when this bundle does not hold the other side.
    pub fn of_sub(bundle: &'a Bundle, source: &'static Source, sub: &Sub) -> Option<Table<'a>> {
        let rows = |name: &str, columns: &[Field], has_versions| Table {
            name: source.sub_table(name),
            columns: columns.to_vec(),
            main_date: None,
            facts: None,
            under: None,
            items: Items::Rows,
            has_text: false,
            has_versions,
        };
        match sub.kind {
            SubKind::Rows(columns) => Some(rows(sub.name, columns, false)),
            SubKind::Body => Some(rows("body", BODY, true)),
            SubKind::Toc => Some(rows("body", TOC, true)),
            SubKind::Records { source, field } => {
                let (source, facts) = bundle.source(source)?;
                let table = Table::of_source(bundle, source, facts);
                table.column(field)?;
                Some(table)
            }
        }
    }

    /// Only what hangs under this record.
    pub fn under(mut self, bundle: &'a Bundle, source: &'static Source, sub: &Sub, id: &str) -> Result<Table<'a>> {
        let number = bundle.records().by_id(id).map(|(number, _)| number);
        let ord = number.and_then(|n| n.checked_sub(bundle.first_number(source))).ok_or_else(|| Error::internal(id))?;
        let links = bundle.links()?;
        let ords = match sub.kind {
            SubKind::Rows(_) => Ords::Rows(links.rows(source.key, sub.name, ord)),
            SubKind::Body | SubKind::Toc => Ords::Rows(links.rows(source.key, "body", ord)),
            SubKind::Records { .. } => Ords::Records(links.records(source.key, sub.name, ord)),
        };
        let first = links.first_rows(source.key, sub.name, ord);
        self.under = Some(Under { parent: id.to_string(), ords, first });
        Ok(self)
    }

    /// The parameters that ask for numbers about this list, if it has any: only whole sources have an aggregation plan.
    pub fn number_parameters(&self) -> Vec<&'static str> {
        if self.under.is_some() || self.items == Items::Rows {
            return Vec::new();
        }
        AGGREGATE_PARAMETERS.iter().chain(&["q"]).copied().collect()
    }

    /// Whether the items are the sections of a text.
    pub fn is_text(&self) -> bool {
        self.has_versions && self.column("text").is_some()
    }

    pub fn column(&self, name: &str) -> Option<Field> {
        self.columns.iter().copied().find(|c| c.name == name)
    }

    /// The known values of a keyword column, if they are few.
    pub fn values(&self, column: &str) -> Option<&'a [String]> {
        self.facts?.fields.get(column)?.values.as_deref()
    }
}
