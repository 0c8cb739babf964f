//! Marks texts that are not the official wording: those whose version is `summary`, or `summary-`
//! and the version that they summarize. Such a record says so, and so does the whole bundle.

use anyhow::Result;
use josh::bundle::SourceFacts;
use josh::catalog::Source;
use josh::catalog::spec::{SUMMARY, TEXT_STATUS};

use super::BundleOutput;

/// The status of the text of a body row `r`, in SQL.
pub(super) fn status_sql() -> String {
    format!(
        "CASE WHEN r.version = '{SUMMARY}' OR starts_with(r.version, '{SUMMARY}-') \
         THEN '{SUMMARY}' END"
    )
}

impl BundleOutput<'_> {
    /// Marks the records whose current text is a summary. Returns their number.
    pub(super) fn mark_summaries(&self, source: &Source) -> Result<u64> {
        if !source.shape.has_body() {
            return Ok(0);
        }
        let table = source.table();
        self.tables.run(&format!(
            "UPDATE \"{table}\" SET {0} = '{SUMMARY}' WHERE id IN (SELECT parent FROM \"{1}\" r \
             WHERE current AND {2} IS NOT NULL)",
            TEXT_STATUS.name,
            source.sub_table("body"),
            status_sql(),
        ))?;
        self.tables.number(&format!(
            "SELECT count(*) FROM \"{table}\" WHERE {} = '{SUMMARY}'",
            TEXT_STATUS.name
        ))
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
