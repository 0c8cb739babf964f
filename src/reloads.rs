//! New bundles, certificates, key files and wizards that were refused while serving, for `/readyz`
//! and the metrics. What is served meanwhile is the one before.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::metrics::METRICS;

#[derive(Default)]
pub struct Reloads {
    refused: Mutex<BTreeMap<&'static str, String>>,
}

impl Reloads {
    /// Notes that something new is in service.
    pub fn accept(&self, what: &'static str) {
        METRICS.reloads.with_label_values(&[what, "taken"]).inc();
        self.lock().remove(what);
    }

    /// Notes that something new can't be used, and why.
    pub fn refuse(&self, what: &'static str, reason: String) {
        METRICS.reloads.with_label_values(&[what, "refused"]).inc();
        self.lock().insert(what, reason);
    }

    pub fn refused(&self) -> BTreeMap<&'static str, String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
