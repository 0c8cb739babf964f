//! What decides between records with fitting names: single fields, read from columns, or from the
//! record itself where there are none.

use serde_json::Value;

use super::fields;
use crate::bundle::Bundle;
use crate::bundle::columns::Column;
use crate::catalog::spec::Naming;
use crate::catalog::{Field, Kind, Source};
use crate::policy::query::column_value;

/// The field that says whether a record is of today.
const CURRENT: &str = "current";

/// The fields of a source's records that are compared with hints, or that tell how prominent a
/// record is.
pub struct RecordFacts<'a> {
    bundle: &'a Bundle,
    source: &'static Source,
    naming: &'a Naming,
    first: u32,
    columns: Vec<(Field, Column<'a>)>,
}

impl<'a> RecordFacts<'a> {
    pub fn of(bundle: &'a Bundle, source: &'static Source, naming: &'a Naming) -> RecordFacts<'a> {
        let hints = &naming.hints;
        let compared = [hints.chamber, hints.party, hints.state, naming.recency, source.main_date];
        let names = compared.into_iter().flatten().chain(hints.year.iter().copied());
        let columns = bundle.columns().ok().flatten();
        let column = |name: &str| {
            let field = source.columns().into_iter().find(|field| field.name == name)?;
            let column = columns?.column(&source.table(), name)?;
            (!column.is_list).then_some((field, column))
        };
        let columns = names.chain([CURRENT]).filter_map(column).collect();
        let first = bundle.first_number(source) as u32;
        RecordFacts { bundle, source, naming, first, columns }
    }

    /// The value of a field; nothing where the record has none.
    pub fn value(&self, record: u32, name: &str) -> Option<Value> {
        match self.columns.iter().find(|(field, _)| field.name == name) {
            Some((field, column)) => {
                let ord = record.checked_sub(self.first)?;
                let code = column.code(ord);
                match field.kind {
                    Kind::Int => column.number(code).map(Value::from),
                    Kind::Bool => column.number(code).map(|flag| Value::from(flag != 0)),
                    _ => column_value(column, field.kind, code).map(Value::from),
                }
            }
            None => fields(self.bundle, record)?.get(name).filter(|v| !v.is_null()).cloned(),
        }
    }

    /// Whether it is current, and how new it is: what decides between equals.
    pub fn prominence(&self, record: u32) -> (bool, String) {
        let current = self.source.field(CURRENT).and_then(|_| self.value(record, CURRENT));
        let mut dates = self.naming.recency.into_iter().chain(self.source.main_date);
        let date = dates.find_map(|field| Some(self.value(record, field)?.as_str()?.to_string()));
        (current.and_then(|flag| flag.as_bool()).unwrap_or(false), date.unwrap_or_default())
    }
}
