//! Writes the texts of records to the bundle's tables, and passes the current ones on to the search
//! sections. Texts are read once, beside the records that they belong to.

use anyhow::{Context, Result, ensure};
use duckdb::arrow::array::AsArray;
use josh::bundle::links_writer;
use josh::catalog::spec::BODY;
use josh::catalog::{Field, Source};
use josh::policy::query::row_json;
use sha2::{Digest, Sha256};

use super::BundleOutput;
use super::stream::{Parents, each_batch, text_at, texts};
use crate::record::Section;
use crate::text_parts::RecordText;
use crate::texts::Texts;

impl BundleOutput<'_> {
    /// Writes the texts of a source whose first record has the number `first`. Returns the number
    /// of sections.
    pub(super) fn write_texts(
        &self,
        source: &'static Source,
        first: u64,
        records: u64,
        links: &links_writer::Builder,
        hash: &mut Sha256,
        index: &mut Texts,
    ) -> Result<u64> {
        let table = source.sub_table("body");
        self.write_sorted(&table, BODY, "r.version_order, r.version, r._n")?;

        let other = self.tables.db.try_clone()?;
        let mut titles = other.prepare(&self.parents_sql(source))?;
        let mut parents = Parents::new(titles.stream_arrow([])?);
        let mut rows = links.rows(source.key, "body", records, Vec::new());
        let short: Vec<Field> = BODY.iter().copied().filter(|c| c.name != "text").collect();
        let sql = format!(
            "SELECT parent, {}, section, heading, text, current FROM bundle.\"{table}\"",
            row_json(&short)
        );
        let mut open = Open { source, first, ord: 0, id: String::new(), record: None };
        each_batch(&self.tables.db, &sql, |batch| {
            let [owners, shorts, sections, headings, bodies] =
                [0, 1, 2, 3, 4].map(|column| texts(batch, column));
            let (owners, shorts, sections) = (owners?, shorts?, sections?);
            let (headings, bodies) = (headings?, bodies?);
            let current = batch.column(5).as_boolean_opt().context("current is no flag")?;
            for at in 0..batch.num_rows() {
                let (owner, text) = (owners.value(at), text_at(bodies, at));
                while open.record.is_none() || open.id != owner {
                    ensure!(
                        open.next(&mut parents, index)?,
                        "the texts of {owner} are not in the order of the records"
                    );
                }
                if let (true, Some(record)) = (current.value(at), &mut open.record) {
                    record.sections.push(Section {
                        section: text_at(sections, at).to_string(),
                        heading: text_at(headings, at).to_string(),
                        level: 1,
                        text: text.to_string(),
                    });
                }
                rows.add(open.ord as usize, None)?;
                for part in [owner, " ", shorts.value(at), " ", text, "\n"] {
                    hash.update(part.as_bytes());
                }
            }
            Ok(())
        })?;
        while open.next(&mut parents, index)? {}
        Ok(rows.finish()?)
    }
}

/// The record whose sections are being collected.
struct Open {
    source: &'static Source,
    first: u64,
    ord: u64,
    id: String,
    record: Option<RecordText>,
}

impl Open {
    /// Passes the record on and goes to the next one; false after the last one.
    fn next(&mut self, parents: &mut Parents, index: &mut Texts) -> Result<bool> {
        if let Some(complete) = self.record.take() {
            index.add(complete)?;
        }
        let Some((ord, id, title)) = parents.advance()? else { return Ok(false) };
        self.ord = ord;
        id.clone_into(&mut self.id);
        self.record = Some(RecordText {
            source: self.source.key,
            record: self.first + ord,
            title: title.to_string(),
            sections: Vec::new(),
        });
        Ok(true)
    }
}
