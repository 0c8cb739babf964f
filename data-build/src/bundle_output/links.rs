//! Builds the links section: which rows and records belong to each record.

use anyhow::{Context, Result};
use josh::bundle::{SourceFacts, links};
use josh::catalog::{SOURCES, SubResourceKind};
use josh::policy::query::row_json;

use super::BundleOutput;

impl BundleOutput<'_> {
    /// Finds the sub-resources of each record: its rows, and records of other sources that refer to
    /// it.
    pub(super) fn links(&self, facts: &[SourceFacts]) -> Result<links::Builder> {
        let builder = links::Builder::new(self.folder.join("links"))?;
        let facts_of = |key: &str| facts.iter().find(|f| f.key == key);
        for (source, records) in SOURCES.iter().filter_map(|s| Some((s, facts_of(s.key)?.records)))
        {
            let parents = source.table();
            for sub in source.sub_resources {
                let (children, kind) = match sub.kind {
                    SubResourceKind::Toc => continue,
                    SubResourceKind::Rows(_) | SubResourceKind::Body => {
                        let rows = source.sub_table(sub.name);
                        (
                            format!("SELECT parent AS target, ord FROM bundle.\"{rows}\""),
                            links::LinkKind::Rows,
                        )
                    }
                    SubResourceKind::Records { source: other, field } => {
                        let Some((other, field)) = SOURCES
                            .iter()
                            .find(|s| s.key == other && facts_of(other).is_some())
                            .and_then(|other| Some((other.table(), other.field(field)?)))
                        else {
                            continue;
                        };
                        let target = if field.kind.is_list() {
                            format!("unnest(list_distinct(\"{}\"))", field.name)
                        } else {
                            format!("\"{}\"", field.name)
                        };
                        (
                            format!("SELECT {target} AS target, ord FROM bundle.\"{other}\""),
                            links::LinkKind::Records,
                        )
                    }
                };
                let pairs = self.tables.pairs(&format!(
                    "SELECT p.ord, c.ord FROM ({children}) c \
                     JOIN bundle.\"{parents}\" p ON p.id = c.target ORDER BY p.ord, c.ord"
                ))?;
                builder.add(source.key, sub.name, records, &pairs, kind)?;
                if let SubResourceKind::Rows(columns) = sub.kind {
                    let table = format!("bundle.\"{}\"", source.sub_table(sub.name));
                    builder.add_first(source.key, sub.name, records, |add| {
                        self.each_row(&table, &row_json(columns), |ord, row| {
                            let (parent, _) =
                                pairs.get(ord as usize).context("a row without a parent")?;
                            Ok(add(*parent as usize, row)?)
                        })
                    })?;
                }
            }
        }
        Ok(builder)
    }
}
