//! The closing report of a build: records by source, links, rejects, size, time, memory.

use josh::catalog::SOURCES;

use crate::build::Done;
use crate::output::say;
use crate::stage::{Counts, Stage};

/// Rejects shown in full.
const SHOWN: usize = 20;

pub fn print(done: &Done) {
    print_counts(done);
    say!("{:<44} {:>10} {:>10}", "links", "in bundle", "of");
    for link in &done.links {
        say!("{:<44} {:>10} {:>10}", link.link, link.inside, link.all);
    }
    say!("");
    print_rejects(&done.stage);
    if !done.skipped.is_empty() {
        let shown: Vec<&str> = done.skipped.iter().take(SHOWN).map(String::as_str).collect();
        let more = if done.skipped.len() > SHOWN { " …" } else { "" };
        say!("skipped {} files of a form that holds no records: {}{more}\n", done.skipped.len(), shown.join(", "));
    }
    if !done.ignored.is_empty() {
        say!("left alone, since named after no source: {}\n", done.ignored.join(", "));
    }

    let seconds = done.took.as_secs_f64().max(0.001);
    let bytes = std::fs::metadata(&done.out).map_or(0, |m| m.len());
    say!("bundle   {}", done.out.display());
    say!("id       {}", done.manifest.id);
    say!("as of    {}", done.manifest.as_of);
    say!("size     {:.1} MB", bytes as f64 / 1e6);
    say!(
        "time     {seconds:.1} s for {} files ({} unchanged), {:.1} MB: {:.0} records/s",
        done.stage.total().files,
        done.reused,
        done.read_bytes as f64 / 1e6,
        done.stage.total().accepted as f64 / seconds
    );
    if let Some(peak) = peak_memory() {
        say!("memory   {peak:.0} MB at the most");
    }
}

/// Where everything went, by source: files = read + skipped + failed, found = rejected + merged + records. What bills say of a
/// law counts as found for laws, not for bills; a file that failed is one of the rejected.
fn print_counts(done: &Done) {
    let columns = ["files", "skipped", "failed", "found", "rejected", "merged", "records", "passages", "vectors"];
    let row = |name: &str, cells: [u64; 9]| {
        let cells: String = cells.iter().zip(columns).map(|(n, c)| format!(" {n:>0$}", c.len().max(7))).collect();
        format!("{name:<27}{cells}")
    };
    let heads: String = columns.iter().map(|c| format!(" {c:>0$}", c.len().max(7))).collect();
    say!("{:<27}{heads}  dates", "source");
    let mut all = [0; 9];
    for source in SOURCES {
        let counts = done.stage.counts.get(source.key).copied().unwrap_or_default();
        let facts = done.manifest.sources.iter().find(|facts| facts.key == source.key);
        if counts.files + counts.accepted + counts.rejected == 0 && facts.is_none() {
            continue;
        }
        let Counts { files, skipped, failed, accepted, rejected } = counts;
        let (records, passages, vectors) = facts.map_or((0, 0, 0), |f| (f.records, f.passages, f.vectors));
        let merged = accepted.saturating_sub(records);
        let cells = [files, skipped, failed, accepted + rejected, rejected, merged, records, passages, vectors];
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
    for reject in stage.rejects.iter().take(SHOWN) {
        say!("  {} ({}): {}", reject.file, reject.place, reject.reason);
    }
    if rejected > SHOWN as u64 {
        say!("  … and {} more: --rejects FILE gives all", rejected - SHOWN as u64);
    }
    say!("");
}

/// The most memory that this process had, in MB, where the system says.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").trim().parse::<f64>().ok()? / 1000.0)
}
