//! Describes what of a source the bundle holds: its Congresses, its days, and the numbers that are
//! missing in numbered series. Everything is counted in the bundle's own tables.

use anyhow::Result;
use josh::bundle::{CongressFacts, Coverage, DayFacts, SeriesFacts};
use josh::catalog::{Field, Kind, Source};

use super::BundleOutput;

/// Sources whose records are numbered from 1 within what precedes the number in their ids.
const NUMBERED: &[&str] =
    &["bills", "amendments", "public-laws", "committee-reports", "roll-call-votes"];

/// Sources whose dates do not follow one another: terms of people begin every other year, and a
/// series has the day on which it ends.
const WITHOUT_GAPS: &[&str] = &["legislators", "statistical-series"];

/// Bounds the size of the manifest.
const MAX_SERIES: usize = 100;
const MAX_MISSING_SHOWN: usize = 10;
const MAX_GAPS: usize = 100;

/// Days without any record of a source that are taken for a gap and not for a quiet time.
const GAP_DAYS: u32 = 365;

impl BundleOutput<'_> {
    /// Fills in all but `fetched`.
    pub(super) fn coverage(&self, source: &Source) -> Result<Coverage> {
        let (series, more_series) = match NUMBERED.contains(&source.key) {
            true => self.series(source)?,
            false => (Vec::new(), 0),
        };
        let congresses = self.congresses_of(source)?;
        Ok(Coverage { congresses, series, more_series, ..Coverage::default() })
    }

    fn congresses_of(&self, source: &Source) -> Result<Vec<CongressFacts>> {
        if source.field("congress").is_none_or(|field| field.kind != Kind::Int) {
            return Ok(Vec::new());
        }
        let date = source.main_date.map_or("NULL".to_string(), |date| format!("\"{date}\""));
        let sql = format!(
            "SELECT congress, count(*)::UBIGINT, min({date})::VARCHAR, max({date})::VARCHAR \
             FROM bundle.\"{}\" WHERE congress IS NOT NULL GROUP BY congress \
             ORDER BY congress DESC",
            source.table()
        );
        self.tables.rows(&sql, |row| {
            Ok(CongressFacts {
                congress: row.get(0)?,
                records: row.get(1)?,
                from: row.get(2)?,
                to: row.get(3)?,
            })
        })
    }

    /// The series of a source, and how many more there are than are listed.
    fn series(&self, source: &Source) -> Result<(Vec<SeriesFacts>, u64)> {
        // A part of a report has the number of the whole.
        let sql = format!(
            "SELECT regexp_extract(id, '^(.*:)[0-9]+', 1) AS prefix, \
               count(DISTINCT number)::UBIGINT, max(number)::UBIGINT, \
               to_json(list_sort(list(DISTINCT number)))::VARCHAR \
             FROM bundle.\"{}\" WHERE number > 0 GROUP BY prefix \
             ORDER BY max(congress) DESC, prefix",
            source.table()
        );
        let mut series = self.tables.rows(&sql, |row| {
            let numbers: String = row.get(3)?;
            let (records, highest): (u64, u64) = (row.get(1)?, row.get(2)?);
            Ok((row.get::<_, String>(0)?, records, highest, numbers))
        })?;
        let more = series.len().saturating_sub(MAX_SERIES) as u64;
        series.truncate(MAX_SERIES);
        let described = series.into_iter().map(|(prefix, records, highest, numbers)| {
            let held: Vec<u64> = serde_json::from_str(&numbers)?;
            let first_missing = missing_numbers(&held)
                .take(MAX_MISSING_SHOWN)
                .map(|number| format!("{prefix}{number}"))
                .collect();
            Ok(SeriesFacts { prefix, records, highest, missing: highest - records, first_missing })
        });
        Ok((described.collect::<Result<_>>()?, more))
    }

    /// The days of a date field, if records have any.
    pub(super) fn days(&self, source: &Source, column: &Field) -> Result<Option<DayFacts>> {
        if column.kind != Kind::Date {
            return Ok(None);
        }
        let (table, name) = (format!("bundle.\"{}\"", source.table()), column.name);
        let extreme = |which: &str| {
            self.tables.text(&format!("SELECT {which}(\"{name}\")::VARCHAR FROM {table}"))
        };
        let (Some(from), Some(to)) = (extreme("min")?, extreme("max")?) else { return Ok(None) };
        if WITHOUT_GAPS.contains(&source.key) {
            return Ok(Some(DayFacts { from, to, gaps: Vec::new() }));
        }
        let sql = format!(
            "SELECT (d + 1)::DATE::VARCHAR, (next - 1)::DATE::VARCHAR FROM \
               (SELECT d, lead(d) OVER (ORDER BY d) AS next FROM \
                 (SELECT DISTINCT \"{name}\" AS d FROM {table} WHERE \"{name}\" IS NOT NULL)) \
             WHERE next - d > {GAP_DAYS} ORDER BY d DESC LIMIT {MAX_GAPS}"
        );
        let mut gaps = self.tables.rows(&sql, |row| Ok((row.get(0)?, row.get(1)?)))?;
        gaps.reverse();
        Ok(Some(DayFacts { from, to, gaps }))
    }
}

/// Numbers from 1 that are not among these sorted ones.
fn missing_numbers(held: &[u64]) -> impl Iterator<Item = u64> {
    let mut next = 1;
    held.iter().flat_map(move |number| {
        let missing = next..*number;
        next = number + 1;
        missing
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_between_the_held_ones_are_missing() {
        assert_eq!(missing_numbers(&[2, 3, 6]).collect::<Vec<_>>(), [1, 4, 5]);
        assert_eq!(missing_numbers(&[1, 2]).count() + missing_numbers(&[]).count(), 0);
    }
}
