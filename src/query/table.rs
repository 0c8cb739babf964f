//! What can be listed: a source's records, or the rows under one record.

use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::spec::{BODY, TOC};
use crate::catalog::{Field, Source, Sub, SubKind};

use super::aggregate::PARAMETERS as AGGREGATE_PARAMETERS;
use super::filter::Filter;

/// One list: a table with the columns that this bundle offers, and the conditions that are not the caller's to choose.
pub struct Table<'a> {
    pub name: String,
    pub columns: Vec<Field>,
    pub main_date: Option<&'static str>,
    /// Facts about the columns: which values there are.
    pub facts: Option<&'a SourceFacts>,
    pub scope: Vec<Filter>,
    pub items: Items,
    /// Whether the records carry a text that `q` can ask for.
    pub has_text: bool,
    /// Whether `version` chooses a text and its absence means the current one.
    pub has_versions: bool,
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
            scope: Vec::new(),
            items: Items::Records { first: bundle.first_number(source) },
            has_text: source.shape.has_body(),
            has_versions: false,
        }
    }

    /// What hangs under the record `id`; nothing when this bundle does not hold the other side.
    pub fn of_sub(bundle: &'a Bundle, source: &'static Source, sub: &Sub, id: &str) -> Option<Table<'a>> {
        let rows = |name: &str, columns: &[Field], has_versions| Table {
            name: source.sub_table(name),
            columns: columns.to_vec(),
            main_date: None,
            facts: None,
            scope: vec![Filter::parent(id)],
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
                let mut table = Table::of_source(bundle, source, facts);
                let column = table.column(field)?;
                table.scope.push(Filter::names(column, id));
                Some(table)
            }
        }
    }

    /// The parameters that ask for numbers about this list, if it has any: only whole sources have an aggregation plan.
    pub fn number_parameters(&self) -> Vec<&'static str> {
        if !self.scope.is_empty() || self.items == Items::Rows {
            return Vec::new();
        }
        AGGREGATE_PARAMETERS.iter().chain(&["q"]).copied().collect()
    }

    pub fn column(&self, name: &str) -> Option<Field> {
        self.columns.iter().copied().find(|c| c.name == name)
    }

    /// The known values of a keyword column, if they are few.
    pub fn values(&self, column: &str) -> Option<&'a [String]> {
        self.facts?.fields.get(column)?.values.as_deref()
    }
}
