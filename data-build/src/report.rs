//! The report that a build prints: records by source, links, rejects, size, time, memory.

use josh::bundle::{Manifest, SeriesFacts};
use josh::catalog::SOURCES;

use crate::build::BuildSummary;
use crate::stage::{Counts, Stage};
use josh::output::say;

/// Rejects and skipped files that are printed.
const MAX_SHOWN: usize = 20;

/// Columns of the table of counts, explained in README.md.
const COLUMNS: [&str; 9] =
    ["files", "skipped", "failed", "found", "rejected", "merged", "records", "passages", "vectors"];

pub fn print(summary: &BuildSummary) {
    print_counts(summary);
    say!("{:<44} {:>10} {:>10}", "links", "in bundle", "of");
    for link in &summary.links {
        say!("{:<44} {:>10} {:>10}", link.link, link.inside, link.all);
    }
    say!("");
    print_rejects(&summary.stage);
    print_skipped(&summary.stage.skipped);
    print_gaps(&summary.manifest);
    if !summary.empty.is_empty() {
        say!("empty folders: {}\n", summary.empty.join(", "));
    }
    if !summary.ignored.is_empty() {
        say!("ignored in the input folder: {}\n", summary.ignored.join(", "));
    }

    let seconds = summary.elapsed.as_secs_f64().max(0.001);
    let bytes = std::fs::metadata(&summary.out).map_or(0, |m| m.len());
    say!("bundle   {}", summary.out.display());
    say!("id       {}", summary.manifest.id);
    say!("as of    {}", summary.manifest.as_of);
    say!("size     {:.1} MB", bytes as f64 / 1e6);
    say!(
        "time     {seconds:.1} s for {} files ({} unchanged), {:.1} MB: {:.0} records/s",
        summary.stage.total().files,
        summary.stage.reused,
        summary.stage.bytes as f64 / 1e6,
        summary.stage.total().accepted as f64 / seconds
    );
    if let Some(peak) = peak_memory() {
        say!("memory   {peak:.0} MB peak");
    }
}

/// Names the files that no reader recognized.
pub fn print_skipped(skipped: &[String]) {
    if !skipped.is_empty() {
        let shown: Vec<&str> = skipped.iter().take(MAX_SHOWN).map(String::as_str).collect();
        let more = if skipped.len() > MAX_SHOWN { " …" } else { "" };
        let files = if skipped.len() == 1 { "file" } else { "files" };
        let count = skipped.len();
        say!("skipped {count} unrecognized {files}: {}{more}\n", shown.join(", "));
    }
}

/// Numbers that are missing in series of records that are numbered from 1.
fn print_gaps(manifest: &Manifest) {
    let series = manifest.sources.iter().filter_map(|source| source.coverage.as_ref());
    let series = series.flat_map(|coverage| &coverage.series).filter(|series| series.missing > 0);
    let gaps: Vec<&SeriesFacts> = series.collect();
    if gaps.is_empty() {
        return;
    }
    say!("missing numbers:");
    for SeriesFacts { missing, highest, first_missing, .. } in gaps.iter().take(MAX_SHOWN) {
        let more = if *missing > first_missing.len() as u64 { ", …" } else { "" };
        say!("  {missing} of {highest}: {}{more}", first_missing.join(", "));
    }
    if gaps.len() > MAX_SHOWN {
        say!("  … and {} more series", gaps.len() - MAX_SHOWN);
    }
    say!("");
}

/// Accounts for all files and records by source: files = read + skipped + failed, and found =
/// rejected + merged + records. A law found in a bill's file counts for public-laws.
fn print_counts(summary: &BuildSummary) {
    let width = |column: &str| column.len().max(7);
    let row = |name: &str, cells: [u64; 9]| {
        let cells: String =
            cells.iter().zip(COLUMNS).map(|(n, c)| format!(" {n:>0$}", width(c))).collect();
        format!("{name:<27}{cells}")
    };
    let header: String = COLUMNS.iter().map(|c| format!(" {c:>0$}", width(c))).collect();
    say!("{:<27}{header}  dates", "source");
    let mut all = [0; 9];
    for source in SOURCES {
        let counts = summary.stage.counts.get(source.key).copied().unwrap_or_default();
        let facts = summary.manifest.sources.iter().find(|facts| facts.key == source.key);
        if counts.files + counts.accepted + counts.rejected == 0 && facts.is_none() {
            continue;
        }
        let Counts { files, skipped, failed, accepted, rejected, .. } = counts;
        let (records, passages, vectors) =
            facts.map_or((0, 0, 0), |f| (f.records, f.passages, f.vectors));
        let found = accepted + rejected;
        let merged = accepted.saturating_sub(records);
        let cells = [files, skipped, failed, found, rejected, merged, records, passages, vectors];
        all.iter_mut().zip(cells).for_each(|(sum, n)| *sum += n);
        let dates = match facts.map(|f| (&f.from, &f.to)) {
            Some((Some(from), Some(to))) => format!("{from} to {to}"),
            _ => "-".into(),
        };
        say!("{}  {dates}", row(source.key, cells));
    }
    say!("{}\n", row("all", all));
}

pub fn print_rejects(stage: &Stage) {
    let rejected = stage.total().rejected;
    if rejected == 0 {
        return;
    }
    say!("rejected {rejected}:");
    for reject in stage.rejects.iter().take(MAX_SHOWN) {
        say!("  {} ({}): {}", reject.file, reject.place, reject.reason);
    }
    if rejected > MAX_SHOWN as u64 {
        say!("  … and {} more; --rejects FILE lists all", rejected - MAX_SHOWN as u64);
    }
    say!("");
}

/// Peak resident memory of this process in MB, on Linux.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").trim().parse::<f64>().ok()? / 1000.0)
}
