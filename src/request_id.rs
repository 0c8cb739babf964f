//! Ids of requests that came without one.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Unique within this process and, by its random part, across restarts and machines. Not a UUID:
/// it is made for every request, and a counter costs less than a random number.
pub fn new_request_id() -> String {
    static RANDOM: LazyLock<u64> = LazyLock::new(|| getrandom::u64().unwrap_or_default());
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{:016x}-{:x}", *RANDOM, COUNT.fetch_add(1, Ordering::Relaxed))
}
