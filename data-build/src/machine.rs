//! What the machine offers to a build: cores and memory.

use std::path::Path;

/// DuckDB's least memory, and how much more each of its threads gets. With two cores that is 1 GB,
/// and the rest of a build needs about as much.
const BASE_MB: u64 = 512;
const MB_PER_CORE: u64 = 256;

/// The cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// DuckDB's memory limit in MB: by cores, but at most a third of the memory that there is.
pub fn database_memory_mb() -> u64 {
    let by_cores = BASE_MB + MB_PER_CORE * cores() as u64;
    memory_mb().map_or(by_cores, |memory| by_cores.min(memory / 3)).max(BASE_MB / 2)
}

/// The memory of the machine or of the control group, whichever is less; Linux only.
fn memory_mb() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).ok();
    let machine = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim();
        Some(line.trim_end_matches("kB").trim().parse::<u64>().ok()? / 1024)
    });
    let group = read("/sys/fs/cgroup/memory.max")
        .and_then(|text| Some(text.trim().parse::<u64>().ok()? >> 20));
    machine.into_iter().chain(group).min()
}
