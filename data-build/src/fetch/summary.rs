//! What a fetch prints at the end: counts by source, what was skipped, and what failed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use indicatif::HumanBytes;
use josh::catalog::SOURCES;

use super::coverage;
use super::download::DownloadOutcome;
use josh::output::say;

/// Failures that are printed.
const MAX_SHOWN: usize = 20;

#[derive(Default)]
struct Counts {
    new: usize,
    changed: usize,
    unchanged: usize,
    failed: usize,
}

/// The results of a run.
#[derive(Default)]
pub struct Summary {
    counts: BTreeMap<&'static str, Counts>,
    failures: Vec<(String, String)>,
    /// Lines about what was not fetched, and why.
    pub skipped: Vec<String>,
    /// Lines about how files were found.
    pub notes: Vec<String>,
}

impl Summary {
    pub fn count(&mut self, source: &'static str, outcome: DownloadOutcome) {
        let counts = self.counts.entry(source).or_default();
        match outcome {
            DownloadOutcome::New => counts.new += 1,
            DownloadOutcome::Changed => counts.changed += 1,
            DownloadOutcome::Unchanged => counts.unchanged += 1,
            DownloadOutcome::Unpublished => {}
        }
    }

    pub fn count_unchanged(&mut self, source: &'static str, number: usize) {
        self.counts.entry(source).or_default().unchanged += number;
    }

    pub fn fail(&mut self, source: &'static str, address: &str, reason: &str) {
        self.counts.entry(source).or_default().failed += 1;
        self.failures.push((address.to_string(), reason.to_string()));
    }

    pub fn unpublished(&mut self, address: &str) {
        self.skipped.push(format!("not published yet: {address}"));
    }

    pub fn failed(&self) -> usize {
        self.failures.len()
    }

    /// The number of failures of a source.
    pub fn failed_of(&self, source: &str) -> usize {
        self.counts.get(source).map_or(0, |counts| counts.failed)
    }

    pub fn print(&self, folder: &Path, bytes: u64, elapsed: Duration) {
        say!("{:<28} {:>9} {:>9} {:>9} {:>9}", "source", "new", "changed", "unchanged", "failed");
        for source in SOURCES {
            if let Some(Counts { new, changed, unchanged, failed }) = self.counts.get(source.key) {
                say!("{:<28} {new:>9} {changed:>9} {unchanged:>9} {failed:>9}", source.key);
            }
        }
        say!("");
        for source in SOURCES.iter().filter(|source| self.counts.contains_key(source.key)) {
            coverage::known_gaps(source.key).for_each(|gap| say!("{}: {gap}", source.key));
        }
        say!("");
        self.print_problems();
        let rate = bytes as f64 / elapsed.as_secs_f64().max(0.001);
        say!(
            "{} in {:.1} s, {}/s, into {}",
            HumanBytes(bytes),
            elapsed.as_secs_f64(),
            HumanBytes(rate as u64),
            folder.display()
        );
    }

    pub fn print_problems(&self) {
        let lines: Vec<&String> = self.notes.iter().chain(&self.skipped).collect();
        lines.iter().for_each(|line| say!("{line}"));
        if !lines.is_empty() {
            say!("");
        }
        if self.failures.is_empty() {
            return;
        }
        say!("failed {}:", self.failures.len());
        for (address, reason) in self.failures.iter().take(MAX_SHOWN) {
            say!("  {address}: {reason}");
        }
        if self.failures.len() > MAX_SHOWN {
            say!("  … and {} more", self.failures.len() - MAX_SHOWN);
        }
        say!("Run the same command again to retry: complete files are not downloaded again.\n");
    }
}
