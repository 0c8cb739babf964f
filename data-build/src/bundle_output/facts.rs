//! Describes sources for the manifest: counts, dates, values of keywords.

use std::collections::BTreeMap;

use anyhow::Result;
use josh::bundle::{FieldFacts, SourceFacts};
use josh::catalog::{Field, Kind, Source};

use super::BundleOutput;

/// A keyword with more distinct values has no list of them in the manifest.
const MAX_LISTED_VALUES: usize = 100;

impl BundleOutput<'_> {
    /// The manifest's entry for a source. Rows, passages and vectors are filled in later.
    pub(super) fn facts(&self, source: &Source) -> Result<SourceFacts> {
        let table = format!("bundle.\"{}\"", source.table());
        let extreme = |which: &str| match source.main_date {
            Some(date) => {
                self.tables.text(&format!("SELECT {which}(\"{date}\")::VARCHAR FROM {table}"))
            }
            None => Ok(None),
        };
        let mut fields = BTreeMap::new();
        for column in source.columns() {
            let facts = FieldFacts {
                values: self.values(&table, &column)?,
                numbers: self.numbers(&table, &column)?,
                days: self.days(source, &column)?,
            };
            fields.insert(column.name.to_string(), facts);
        }
        Ok(SourceFacts {
            key: source.key.into(),
            records: self.tables.number(&format!("SELECT count(*) FROM {table}"))?,
            from: extreme("min")?,
            to: extreme("max")?,
            publisher: source.publisher.into(),
            licence: source.licence.into(),
            summaries: 0,
            fields,
            rows: BTreeMap::new(),
            passages: 0,
            vectors: 0,
            coverage: Some(self.coverage(source)?),
        })
    }

    /// All values of a keyword that records are grouped by, if they are few. Other keywords are
    /// names rather than choices.
    fn values(&self, table: &str, column: &Field) -> Result<Option<Vec<String>>> {
        let value = match column.kind {
            Kind::Keyword if column.group => format!("\"{}\"", column.name),
            Kind::Keywords if column.group => format!("unnest(\"{}\")", column.name),
            _ => return Ok(None),
        };
        let sql = format!(
            "SELECT to_json(list_sort(list(v)))::VARCHAR FROM \
             (SELECT DISTINCT v FROM (SELECT {value} AS v FROM {table}) \
              WHERE v IS NOT NULL LIMIT {})",
            MAX_LISTED_VALUES + 1
        );
        let values: Vec<String> = match self.tables.text(&sql)? {
            Some(list) if list != "null" => serde_json::from_str(&list)?,
            _ => Vec::new(),
        };
        Ok((values.len() <= MAX_LISTED_VALUES).then_some(values))
    }

    /// All values of a number that records are grouped by, if they are few.
    fn numbers(&self, table: &str, column: &Field) -> Result<Option<Vec<i64>>> {
        if column.kind != Kind::Int || !column.group {
            return Ok(None);
        }
        let sql = format!(
            "SELECT DISTINCT \"{0}\" FROM {table} WHERE \"{0}\" IS NOT NULL ORDER BY 1 LIMIT {1}",
            column.name,
            MAX_LISTED_VALUES + 1
        );
        let numbers = self.tables.rows(&sql, |row| row.get::<_, i64>(0))?;
        Ok((numbers.len() <= MAX_LISTED_VALUES).then_some(numbers))
    }
}
