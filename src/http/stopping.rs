//! The time between a signal to stop and the end: everything is still answered, but whoever asks
//! should go elsewhere.

use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Default)]
pub struct Stopping(AtomicBool);

impl Stopping {
    /// From now on `/readyz` says 503, and every answer closes its connection.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
