//! What makes a build fail: too much that was rejected or skipped, a source that gave nothing, and
//! sources that shrank since the previous bundle. Each source is judged for itself, so that a small
//! one can't vanish behind a large one.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use josh::bundle::{SourceFacts, read_manifest};
use josh::catalog::SOURCES;

use crate::stage::{Counts, Stage};

/// A source may lose this share of its records, or of the rows of a sub-resource, in percent.
const MAX_SHRINK: f64 = 5.0;

#[derive(Args, Clone, Debug)]
pub struct Limits {
    /// Fail if more than this share of any source's records is rejected
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    pub max_rejected: f64,
    /// Fail if more than this share of any source's files is skipped, since no reader recognizes
    /// them
    #[arg(long, value_name = "PERCENT", default_value_t = 50.0)]
    pub max_skipped: f64,
    /// Bundle of an earlier build: fail if a source has more than 5 % fewer records or rows than
    /// there
    #[arg(long, value_name = "FILE")]
    pub previous: Option<PathBuf>,
    /// Sources that may shrink by more than that: all or a comma-separated list
    #[arg(long, value_name = "SOURCES", requires = "previous")]
    pub allow_shrink: Option<String>,
}

impl Limits {
    /// Everything must be readable.
    pub fn strict() -> Limits {
        Limits { max_rejected: 0.0, max_skipped: 0.0, previous: None, allow_shrink: None }
    }

    /// What was read, source by source. An error names every source that exceeds a limit.
    pub fn check_counts(&self, stage: &Stage) -> Result<()> {
        let problems: Vec<String> =
            stage.counts.iter().flat_map(|(key, counts)| self.problems(key, counts)).collect();
        fail("too much of the input could not be read", problems)
    }

    fn problems(&self, key: &str, counts: &Counts) -> Vec<String> {
        let Counts { files, skipped, failed, accepted, rejected, produced } = *counts;
        let share = |part: u64, all: u64| part as f64 * 100.0 / all.max(1) as f64;
        let mut problems = Vec::new();
        let of_records = share(rejected, rejected + accepted);
        if of_records > self.max_rejected {
            problems.push(format!(
                "{key}: {rejected} of {} records ({of_records:.1} %) were rejected, more than \
                 --max-rejected {} allows",
                rejected + accepted,
                self.max_rejected
            ));
        }
        let of_files = share(skipped, files);
        if of_files > self.max_skipped {
            problems.push(format!(
                "{key}: {skipped} of {files} files ({of_files:.1} %) were skipped, more than \
                 --max-skipped {} allows",
                self.max_skipped
            ));
        }
        // Files that failed or were skipped are judged by the two limits.
        if produced == 0 && files > skipped + failed {
            problems.push(format!("{key}: its {files} files gave no record"));
        }
        problems
    }

    /// Compares what the new bundle will hold with the previous one.
    pub fn check_previous(&self, new: &[SourceFacts]) -> Result<()> {
        let Some(previous) = &self.previous else { return Ok(()) };
        let allowed = self.may_shrink()?;
        let (_, old) = read_manifest(previous)
            .with_context(|| format!("--previous: cannot read {}", previous.display()))?;
        let shrunk = old.sources.iter().filter(|old| !allowed.contains(&old.key.as_str()));
        let shrunk = shrunk.filter_map(|old| {
            let losses = losses(old, new.iter().find(|new| new.key == old.key));
            (!losses.is_empty()).then(|| (old.key.as_str(), losses.join(", ")))
        });
        let shrunk: Vec<(&str, String)> = shrunk.collect();
        let keys: Vec<&str> = shrunk.iter().map(|(key, _)| *key).collect();
        let advice = format!(
            "these sources hold less than in {}. If that is right: --allow-shrink {}",
            previous.display(),
            keys.join(",")
        );
        fail(&advice, shrunk.iter().map(|(key, losses)| format!("{key}: {losses}")).collect())
    }

    fn may_shrink(&self) -> Result<Vec<&'static str>> {
        let keys: Vec<&'static str> = SOURCES.iter().map(|s| s.key).collect();
        let find = |name: &str| {
            let found = keys.iter().copied().find(|key| *key == name.trim());
            found.with_context(|| {
                format!("--allow-shrink must be all or a list of {}; got {name:?}", keys.join(", "))
            })
        };
        match self.allow_shrink.as_deref() {
            None => Ok(Vec::new()),
            Some("all") => Ok(keys.clone()),
            Some(list) => list.split(',').map(find).collect(),
        }
    }
}

/// What a source lost: records, or rows of sub-resources.
fn losses(old: &SourceFacts, new: Option<&SourceFacts>) -> Vec<String> {
    let rows = |facts: &SourceFacts, name: &str| facts.rows.get(name).copied().unwrap_or_default();
    let mut counts = vec![("records", old.records, new.map_or(0, |new| new.records))];
    // Without records there are no rows either.
    if let Some(new) = new {
        counts.extend(old.rows.iter().map(|(name, n)| (name.as_str(), *n, rows(new, name))));
    }
    let lost = |(_, before, now): &(&str, u64, u64)| {
        before.saturating_sub(*now) as f64 * 100.0 > MAX_SHRINK * *before as f64
    };
    let lost = counts.into_iter().filter(lost);
    lost.map(|(name, before, now)| format!("{now} {name}, {before} before")).collect()
}

/// Fails if there are problems.
fn fail(advice: &str, problems: Vec<String>) -> Result<()> {
    if !problems.is_empty() {
        bail!("{advice}; no bundle was written\n  {}", problems.join("\n  "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { max_rejected: 5.0, max_skipped: 50.0, previous: None, allow_shrink: None }
    }

    #[test]
    fn each_source_is_judged_for_itself() {
        let problems = |counts: Counts| limits().problems("saps", &counts);
        let fine =
            Counts { files: 10, accepted: 95, rejected: 5, produced: 95, ..Counts::default() };
        assert!(problems(fine).is_empty());
        for (counts, why) in [
            (Counts { rejected: 6, ..fine }, "rejected"),
            (Counts { skipped: 6, ..fine }, "skipped"),
            (Counts { accepted: 0, rejected: 0, produced: 0, ..fine }, "no record"),
        ] {
            assert!(problems(counts)[0].contains(why), "{why}");
        }
    }

    #[test]
    fn a_source_that_loses_more_than_a_twentieth_is_named() {
        let facts = |records: u64, texts: u64| -> SourceFacts {
            serde_json::from_value(serde_json::json!({
                "key": "saps", "records": records, "publisher": "", "licence": "", "fields": {},
                "rows": { "body": texts }, "passages": 0, "vectors": 0,
            }))
            .unwrap()
        };
        let old = facts(100, 200);
        assert!(losses(&old, Some(&facts(95, 190))).is_empty());
        assert_eq!(losses(&old, Some(&facts(94, 190))), ["94 records, 100 before"]);
        assert_eq!(losses(&old, Some(&facts(120, 100))), ["100 body, 200 before"]);
        assert_eq!(losses(&old, None), ["0 records, 100 before"]);
    }
}
