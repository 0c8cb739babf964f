//! Adds to the links section which records of other sources refer to each record. Links to rows
//! are made when the rows are written.

use anyhow::Result;
use josh::bundle::{SourceFacts, links_writer};
use josh::catalog::{SOURCES, SubResourceKind};

use super::BundleOutput;

impl BundleOutput<'_> {
    pub(super) fn link_records(
        &self,
        facts: &[SourceFacts],
        builder: &links_writer::Builder,
    ) -> Result<()> {
        let facts_of = |key: &str| facts.iter().find(|f| f.key == key);
        for (source, records) in SOURCES.iter().filter_map(|s| Some((s, facts_of(s.key)?.records)))
        {
            for sub in source.sub_resources {
                let SubResourceKind::Records { source: other, field } = sub.kind else { continue };
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
                let pairs = self.tables.pairs(&format!(
                    "SELECT p.ord::UINTEGER, c.ord::UINTEGER \
                     FROM (SELECT {target} AS target, ord FROM bundle.\"{other}\") c \
                     JOIN bundle.\"{}\" p ON p.id = c.target ORDER BY p.ord, c.ord",
                    source.table()
                ))?;
                builder.add_records(source.key, sub.name, records, &pairs)?;
            }
        }
        Ok(())
    }
}
