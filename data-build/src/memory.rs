//! How the allocator treats what is freed. Files are read one after another and each needs about as much as the last,
//! so what one frees is kept for the next instead of going back to the system, which would have to clear it again.

/// Up to this much is kept: more than nearly every official file needs, and little beside what DuckDB takes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: i32 = 64 << 20;

/// Blocks up to this size come out of what is kept; glibc allows no more.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGEST_BLOCK: i32 = 32 << 20;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_what_is_freed() {
    const M_TRIM_THRESHOLD: i32 = -1;
    const M_MMAP_THRESHOLD: i32 = -3;
    unsafe extern "C" {
        fn mallopt(parameter: i32, value: i32) -> i32;
    }
    // SAFETY: glibc's own function with its documented parameters; it may be called at any time, and a value that it
    // does not take changes nothing.
    unsafe {
        mallopt(M_TRIM_THRESHOLD, KEPT);
        mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_what_is_freed() {}
