//! What a fetch did, source by source, what failed and what to do about it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use indicatif::HumanBytes;
use josh::catalog::SOURCES;

use super::download::Outcome;
use crate::output::say;

/// Failures shown in full.
const SHOWN: usize = 20;

#[derive(Default)]
struct Tally {
    new: usize,
    changed: usize,
    unchanged: usize,
    failed: usize,
}

/// The counts of a run.
#[derive(Default)]
pub struct Summary {
    tallies: BTreeMap<&'static str, Tally>,
    failures: Vec<(String, String)>,
    /// Lines about what was left out, and why.
    pub skipped: Vec<String>,
}

impl Summary {
    pub fn count(&mut self, source: &'static str, outcome: Outcome) {
        let tally = self.tallies.entry(source).or_default();
        match outcome {
            Outcome::New => tally.new += 1,
            Outcome::Changed => tally.changed += 1,
            Outcome::Unchanged => tally.unchanged += 1,
            Outcome::NotYet => {}
        }
    }

    pub fn fail(&mut self, source: &'static str, what: &str, reason: &str) {
        self.tallies.entry(source).or_default().failed += 1;
        self.failures.push((what.to_string(), reason.to_string()));
    }

    pub fn absent(&mut self, address: &str) {
        self.skipped.push(format!("not published yet: {address}"));
    }

    pub fn failed(&self) -> usize {
        self.failures.len()
    }

    pub fn print(&self, folder: &Path, bytes: u64, took: Duration) {
        say!("{:<28} {:>9} {:>9} {:>9} {:>9}", "source", "new", "changed", "unchanged", "failed");
        for source in SOURCES {
            if let Some(Tally { new, changed, unchanged, failed }) = self.tallies.get(source.key) {
                say!("{:<28} {new:>9} {changed:>9} {unchanged:>9} {failed:>9}", source.key);
            }
        }
        say!("");
        self.print_problems();
        let rate = bytes as f64 / took.as_secs_f64().max(0.001);
        say!(
            "{} in {:.1} s, {}/s, into {}",
            HumanBytes(bytes),
            took.as_secs_f64(),
            HumanBytes(rate as u64),
            folder.display()
        );
    }

    pub fn print_problems(&self) {
        for line in &self.skipped {
            say!("{line}");
        }
        if !self.skipped.is_empty() {
            say!("");
        }
        if self.failures.is_empty() {
            return;
        }
        say!("failed {}:", self.failures.len());
        for (what, reason) in self.failures.iter().take(SHOWN) {
            say!("  {what}: {reason}");
        }
        if self.failures.len() > SHOWN {
            say!("  … and {} more", self.failures.len() - SHOWN);
        }
        say!("Run the same command again to retry: what is complete is not fetched again.\n");
    }
}
