//! Marks texts that are not the official ones to the character: summaries, whose version is
//! `summary`, or `summary-` and the version that they summarize; and extracts, which lost their
//! quotation marks. Such a record says so, and so does a bundle with summaries.

use anyhow::Result;
use josh::bundle::SourceFacts;
use josh::catalog::spec::{EXTRACT, SUMMARY, TEXT_STATUS};
use josh::catalog::{self, Source};

use super::BundleOutput;
use crate::sources::EXTRACT_ORDER;

impl BundleOutput<'_> {
    /// Sets `text_status` of a source's sections, and of the records by their current text.
    pub(super) fn mark_texts(&self, source: &Source) -> Result<()> {
        if !source.shape.has_body() {
            return Ok(());
        }
        let (table, body, status) = (source.table(), source.sub_table("body"), TEXT_STATUS.name);
        self.tables.run(&format!(
            "ALTER TABLE \"{body}\" ADD COLUMN {status} VARCHAR; \
             UPDATE \"{body}\" SET {status} = '{SUMMARY}' \
             WHERE version = '{SUMMARY}' OR starts_with(version, '{SUMMARY}-'); \
             UPDATE \"{body}\" SET {status} = '{EXTRACT}' \
             WHERE version_order LIKE '%{EXTRACT_ORDER}'; \
             UPDATE \"{table}\" SET {status} = b.{status} FROM \
               (SELECT DISTINCT parent, {status} FROM \"{body}\" \
                WHERE current AND {status} IS NOT NULL) b WHERE b.parent = id"
        ))
    }

    /// Counts the records that were marked.
    pub(super) fn count_summaries(&self, sources: &mut [SourceFacts]) -> Result<()> {
        for facts in sources {
            let source = catalog::source(&facts.key).filter(|source| source.shape.has_body());
            if let Some(source) = source {
                let (table, status) = (source.table(), TEXT_STATUS.name);
                facts.summaries = self.tables.number(&format!(
                    "SELECT count(*) FROM \"{table}\" WHERE {status} = '{SUMMARY}'"
                ))?;
            }
        }
        Ok(())
    }
}

/// What every answer from the bundle says, if texts in it are summaries.
pub(super) fn notice(sources: &[SourceFacts]) -> Option<String> {
    let summaries: u64 = sources.iter().map(|source| source.summaries).sum();
    (summaries > 0).then(|| {
        let texts = match summaries {
            1 => "The text of 1 record in this bundle is a summary".to_string(),
            many => format!("The texts of {many} records in this bundle are summaries"),
        };
        format!(
            "{texts}, not the official wording (text_status: summary); other prose may be \
             shortened too. They can't be quoted as the documents' own words: the official text \
             is at each record's url."
        )
    })
}
