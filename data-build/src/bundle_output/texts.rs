//! Reads the texts of records from the bundle's tables for the search sections.

use anyhow::{Context, Result};
use josh::catalog::Source;

use super::{BATCH, BundleOutput};
use crate::record::Section;
use crate::texts::Texts;

impl BundleOutput<'_> {
    /// Adds a source's current texts to the search sections. Returns the numbers of passages and
    /// vectors.
    pub(super) fn add_texts(
        &self,
        source: &Source,
        first: u64,
        texts: &mut Texts,
    ) -> Result<(u64, u64)> {
        let (table, body) = (source.table(), source.sub_table("body"));
        let sql = format!(
            "SELECT r.ord::UBIGINT, r.\"{}\", b.section, b.heading, b.text \
             FROM bundle.\"{table}\" r LEFT JOIN bundle.\"{body}\" b \
               ON b.parent = r.id AND b.current \
             WHERE r.ord >= ? AND r.ord < ? ORDER BY r.ord, b.ord",
            source.title
        );
        let end = self.tables.number(&format!("SELECT count(*) FROM bundle.\"{table}\""))?;
        let mut statement = self.tables.db.prepare(&sql).with_context(|| format!("in: {sql}"))?;
        let (mut passages, mut vectors) = (0, 0);
        let mut add = |(ord, title, sections): &(u64, String, Vec<Section>)| -> Result<()> {
            let (more_passages, more_vectors) =
                texts.add(source.key, first + ord, title, sections)?;
            passages += more_passages;
            vectors += more_vectors;
            Ok(())
        };
        for from in (0..end).step_by(BATCH as usize) {
            let mut rows = statement.query([from, from + BATCH])?;
            let mut open: Option<(u64, String, Vec<Section>)> = None;
            while let Some(row) = rows.next()? {
                let (ord, title): (u64, Option<String>) = (row.get(0)?, row.get(1)?);
                let text = |n: usize| {
                    Ok::<_, duckdb::Error>(row.get::<_, Option<String>>(n)?.unwrap_or_default())
                };
                let section =
                    Section { section: text(2)?, heading: text(3)?, level: 1, text: text(4)? };
                match &mut open {
                    Some((current, _, sections)) if *current == ord => sections.push(section),
                    _ => {
                        let new = (ord, title.unwrap_or_default(), vec![section]);
                        if let Some(complete) = open.replace(new) {
                            add(&complete)?;
                        }
                    }
                }
            }
            if let Some(last) = open {
                add(&last)?;
            }
        }
        Ok((passages, vectors))
    }
}
