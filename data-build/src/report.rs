//! The closing report of a build: records by source, links, rejects, size, time, memory.

use josh::bundle::SourceFacts;

use crate::build::Done;
use crate::stage::Stage;

/// Rejects shown in full.
const SHOWN: usize = 20;

pub fn print(done: &Done) {
    println!("{:<28} {:>10} {:>9} {:>9} {:>9}  dates", "source", "records", "rejected", "passages", "vectors");
    for source in &done.manifest.sources {
        let rejected = done.stage.rejected.get(source.key.as_str()).copied().unwrap_or(0);
        let dates = match (&source.from, &source.to) {
            (Some(from), Some(to)) => format!("{from} to {to}"),
            _ => "-".into(),
        };
        let (records, passages, vectors) = (source.records, source.passages, source.vectors);
        println!("{:<28} {records:>10} {rejected:>9} {passages:>9} {vectors:>9}  {dates}", source.key);
    }
    let sum = |count: fn(&SourceFacts) -> u64| done.manifest.sources.iter().map(count).sum::<u64>();
    let (records, passages, vectors) = (sum(|s| s.records), sum(|s| s.passages), sum(|s| s.vectors));
    let rejected: u64 = done.stage.rejected.values().sum();
    println!("{:<28} {records:>10} {rejected:>9} {passages:>9} {vectors:>9}\n", "all");

    println!("{:<44} {:>10} {:>10}", "links", "in bundle", "of");
    for link in &done.links {
        println!("{:<44} {:>10} {:>10}", link.link, link.inside, link.all);
    }
    println!();
    print_rejects(&done.stage);
    if !done.skipped.is_empty() {
        let shown: Vec<&str> = done.skipped.iter().take(SHOWN).map(String::as_str).collect();
        let more = if done.skipped.len() > SHOWN { " …" } else { "" };
        println!("skipped {} files of a form that holds no records: {}{more}\n", done.skipped.len(), shown.join(", "));
    }

    let seconds = done.took.as_secs_f64().max(0.001);
    let bytes = std::fs::metadata(&done.out).map_or(0, |m| m.len());
    println!("bundle   {}", done.out.display());
    println!("id       {}", done.manifest.id);
    println!("as of    {}", done.manifest.as_of);
    println!("size     {:.1} MB", bytes as f64 / 1e6);
    println!(
        "time     {seconds:.1} s for {} files, {:.1} MB: {:.0} records/s",
        done.files,
        done.read_bytes as f64 / 1e6,
        done.stage.accepted as f64 / seconds
    );
    if let Some(peak) = peak_memory() {
        println!("memory   {peak:.0} MB at the most");
    }
}

pub fn print_rejects(stage: &Stage) {
    let rejected: u64 = stage.rejected.values().sum();
    if rejected == 0 {
        return;
    }
    println!("rejected {rejected}:");
    for reject in stage.rejects.iter().take(SHOWN) {
        println!("  {} ({}): {}", reject.file, reject.place, reject.reason);
    }
    if rejected > SHOWN as u64 {
        println!("  … and {} more", rejected - SHOWN as u64);
    }
    println!();
}

/// The most memory that this process had, in MB, where the system says.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").trim().parse::<f64>().ok()? / 1000.0)
}
