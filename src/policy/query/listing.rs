//! What can be listed: a source's records, or a sub-resource of one record.

use crate::api::{Error, Result};
use crate::bundle::links::Rows;
use crate::bundle::{Bundle, SourceFacts, SqlValue};
use crate::catalog::spec::{BODY, TOC};
use crate::catalog::{Field, Source, SubResource, SubResourceKind};

/// One list: a table with the columns that this bundle offers, and the part of it that is meant.
pub struct Listing<'a> {
    pub bundle: &'a Bundle,
    pub table: String,
    pub columns: Vec<Field>,
    pub main_date: Option<&'static str>,
    /// Facts about the columns: which values there are.
    pub facts: Option<&'a SourceFacts>,
    /// Only the rows or records that belong to one record.
    pub parent: Option<ParentScope<'a>>,
    pub items: Items,
    /// Whether `version` chooses a text and its absence means the current one.
    pub has_versions: bool,
}

/// The part of a table that belongs to one record.
pub struct ParentScope<'a> {
    pub id: String,
    pub ords: Ords<'a>,
}

pub enum Ords<'a> {
    Rows(Rows<'a>),
    Records(Vec<u32>),
}

impl ParentScope<'_> {
    pub fn len(&self) -> usize {
        match &self.ords {
            Ords::Rows(rows) => rows.range.len(),
            Ords::Records(ords) => ords.len(),
        }
    }

    /// The condition, with its values pushed onto `bound`.
    pub fn sql(&self, bound: &mut Vec<SqlValue>) -> String {
        match &self.ords {
            // Spliced numbers of our own: only then does DuckDB skip the parts of the table that
            // they rule out.
            Ords::Rows(rows) => {
                format!("ord >= {} AND ord < {}", rows.range.start, rows.range.end)
            }
            Ords::Records(ords) => ord_in(ords, bound),
        }
    }
}

/// The condition that `ord` is one of these, with its value pushed onto `bound`.
pub fn ord_in(ords: &[u32], bound: &mut Vec<SqlValue>) -> String {
    bound.push(SqlValue::Numbers(ords.to_vec()));
    "ord IN (SELECT unnest(?::UINTEGER[]))".to_string()
}

/// Where the items of a list come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// Prepared records: the table's `ord` plus this number.
    Records { first: usize },
    /// The columns of the row.
    Rows,
}

impl<'a> Listing<'a> {
    /// The records of a source.
    pub fn of_source(
        bundle: &'a Bundle,
        source: &'static Source,
        facts: &'a SourceFacts,
    ) -> Listing<'a> {
        let offered = |field: &Field| facts.fields.contains_key(field.name);
        Listing {
            bundle,
            table: source.table(),
            columns: source.columns().into_iter().filter(offered).collect(),
            main_date: source.main_date,
            facts: Some(facts),
            parent: None,
            items: Items::Records { first: bundle.first_number(source) },
            has_versions: false,
        }
    }

    /// A sub-resource of any record; nothing when this bundle does not hold its rows or the source
    /// on the other side.
    pub fn of_sub_resource(
        bundle: &'a Bundle,
        source: &'static Source,
        sub: &SubResource,
    ) -> Option<Listing<'a>> {
        let rows = |name: &str, columns: &[Field], has_versions| {
            bundle.manifest.source(source.key)?.rows.contains_key(name).then(|| Listing {
                bundle,
                table: source.sub_table(name),
                columns: columns.to_vec(),
                main_date: columns.iter().find(|c| c.name == "date").map(|c| c.name),
                facts: None,
                parent: None,
                items: Items::Rows,
                has_versions,
            })
        };
        match sub.kind {
            SubResourceKind::Rows(columns) => rows(sub.name, columns, false),
            SubResourceKind::Body => rows("body", BODY, true),
            SubResourceKind::Toc => rows("body", TOC, true),
            SubResourceKind::Records { source, field } => {
                let (source, facts) = bundle.source(source)?;
                let listing = Listing::of_source(bundle, source, facts);
                listing.column(field)?;
                Some(listing)
            }
        }
    }

    /// Only what belongs to the record with this number.
    pub fn under(
        mut self,
        source: &'static Source,
        sub: &SubResource,
        number: usize,
        id: &str,
    ) -> Result<Listing<'a>> {
        let first = self.bundle.first_number(source);
        let ord = number.checked_sub(first).ok_or_else(|| Error::internal(id))?;
        let links = self.bundle.links()?;
        let ords = match sub.kind {
            SubResourceKind::Rows(_) => Ords::Rows(links.rows(source.key, sub.name, ord)),
            SubResourceKind::Body | SubResourceKind::Toc => {
                Ords::Rows(links.rows(source.key, "body", ord))
            }
            SubResourceKind::Records { .. } => {
                Ords::Records(links.records(source.key, sub.name, ord))
            }
        };
        self.parent = Some(ParentScope { id: id.to_string(), ords });
        Ok(self)
    }

    /// The rows that are meant, where they belong to one record.
    pub fn rows(&self) -> Option<&Rows<'a>> {
        match &self.parent.as_ref()?.ords {
            Ords::Rows(rows) => Some(rows),
            Ords::Records(_) => None,
        }
    }

    /// Whether the items are the sections of a text.
    pub fn is_text(&self) -> bool {
        self.has_versions && self.column("text").is_some()
    }

    pub fn column(&self, name: &str) -> Option<Field> {
        self.columns.iter().copied().find(|c| c.name == name)
    }

    /// Names of the columns that pass a test.
    pub fn columns_with(&self, test: fn(&Field) -> bool) -> Vec<&'static str> {
        self.columns.iter().filter(|column| test(column)).map(|column| column.name).collect()
    }

    /// The known values of a keyword column, if they are few.
    pub fn values(&self, column: &str) -> Option<&'a [String]> {
        self.facts?.fields.get(column)?.values.as_deref()
    }
}
