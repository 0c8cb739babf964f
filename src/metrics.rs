//! What is counted while serving, in the form that Prometheus reads. Counters only: nothing here
//! waits for anything.

use std::sync::LazyLock;

use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
    core::Collector, process_collector::ProcessCollector,
};

use crate::bundle::Bundle;
use crate::catalog::wording::day;

pub static METRICS: LazyLock<Metrics> = LazyLock::new(Metrics::new);

/// From a record out of the memory map to a count over everything.
const SECONDS: &[f64] = &[
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0, 30.0,
];

pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    request_seconds: HistogramVec,
    tool_calls: IntCounterVec,
    tool_seconds: HistogramVec,
    form_runs: IntCounterVec,
    form_seconds: HistogramVec,
    pub searches: IntCounterVec,
    pub waiting: IntGaugeVec,
    pub turned_away: IntCounterVec,
    pub limited: IntCounterVec,
    pub access: IntCounterVec,
    pub reloads: IntCounterVec,
    pub outcomes: IntCounterVec,
    cache: IntGaugeVec,
    sql_statements: IntGauge,
    bundle: IntGaugeVec,
    bundle_age: IntGauge,
    bundle_records: IntGauge,
}

impl Metrics {
    fn new() -> Metrics {
        let registry = Registry::new();
        let counters = |name: &str, about: &str, labels: &[&str]| {
            added(&registry, IntCounterVec::new(Opts::new(name, about), labels))
        };
        let gauges = |name: &str, about: &str, labels: &[&str]| {
            added(&registry, IntGaugeVec::new(Opts::new(name, about), labels))
        };
        let gauge = |name: &str, about: &str| added(&registry, IntGauge::new(name, about));
        let histograms = |name: &str, about: &str, labels: &[&str]| {
            let options = HistogramOpts::new(name, about).buckets(SECONDS.to_vec());
            added(&registry, HistogramVec::new(options, labels))
        };
        let metrics = Metrics {
            requests: counters("josh_requests_total", "Requests answered", &["route", "status"]),
            request_seconds: histograms(
                "josh_request_seconds",
                "Time from request to answer",
                &["route"],
            ),
            tool_calls: counters("josh_tool_calls_total", "MCP tools called", &["tool", "status"]),
            tool_seconds: histograms("josh_tool_seconds", "Time that MCP tools took", &["tool"]),
            form_runs: counters(
                "josh_form_runs_total",
                "Runs of agencies' forms, by outcome or error",
                &["wizard", "result"],
            ),
            form_seconds: histograms(
                "josh_form_run_seconds",
                "Time that runs of forms took",
                &["wizard"],
            ),
            searches: counters("josh_searches_total", "Searches that ran, by mode", &["mode"]),
            waiting: gauges("josh_queue_waiting", "Requests that wait for their turn", &["queue"]),
            turned_away: counters(
                "josh_queue_turned_away_total",
                "Requests answered with overloaded",
                &["queue"],
            ),
            limited: counters(
                "josh_rate_limited_total",
                "Requests answered with rate_limited",
                &["caller"],
            ),
            access: counters("josh_access_total", "Callers let in and refused", &["result"]),
            reloads: counters(
                "josh_reloads_total",
                "New bundles and certificates",
                &["what", "result"],
            ),
            outcomes: counters(
                "josh_outcomes_total",
                "Lists, searches and counts: kept (hit), shared with an equal call (joined), run",
                &["result"],
            ),
            cache: gauges(
                "josh_cache_lookups",
                "Look-ups in caches since the bundle was opened",
                &["cache", "result"],
            ),
            sql_statements: gauge(
                "josh_sql_statements",
                "SQL statements since the bundle was opened; most answers need none",
            ),
            bundle: gauges("josh_bundle_info", "The bundle that is open", &["id", "as_of"]),
            bundle_age: gauge("josh_bundle_age_seconds", "Time since the day that the data are of"),
            bundle_records: gauge("josh_bundle_records", "Records in the bundle"),
            registry: registry.clone(),
        };
        // Memory, open files, CPU time, as every exporter names them.
        let _ = registry.register(Box::new(ProcessCollector::for_self()));
        metrics
    }

    pub fn request(&self, route: &str, status: u16, seconds: f64) {
        let mut digits = [0; 3];
        self.requests.with_label_values(&[route, three_digits(status, &mut digits)]).inc();
        self.request_seconds.with_label_values(&[route]).observe(seconds);
    }

    pub fn tool_call(&self, tool: &str, status: &str, seconds: f64) {
        self.tool_calls.with_label_values(&[tool, status]).inc();
        self.tool_seconds.with_label_values(&[tool]).observe(seconds);
    }

    pub fn form_run(&self, wizard: &str, result: &str, seconds: f64) {
        self.form_runs.with_label_values(&[wizard, result]).inc();
        self.form_seconds.with_label_values(&[wizard]).observe(seconds);
    }

    /// Everything, with what the open bundle says of itself.
    pub fn text(&self, bundle: &Bundle) -> String {
        for (cache, hits, misses) in bundle.cache_lookups() {
            self.cache.with_label_values(&[cache, "hit"]).set(hits as i64);
            self.cache.with_label_values(&[cache, "miss"]).set(misses as i64);
        }
        self.sql_statements.set(bundle.db.statements() as i64);
        self.bundle.reset();
        self.bundle.with_label_values(&[&bundle.manifest.id, &bundle.manifest.as_of]).set(1);
        self.bundle_age.set(age(&bundle.manifest.as_of));
        self.bundle_records.set(bundle.manifest.sources.iter().map(|s| s.records as i64).sum());
        TextEncoder::new().encode_to_string(&self.registry.gather()).unwrap_or_default()
    }
}

/// Registers what was made. Names are fixed and differ, so neither can fail; if one did, it would
/// only not be listed.
fn added<C: Collector + Clone + 'static>(registry: &Registry, made: prometheus::Result<C>) -> C {
    let made = made.expect("a metric's name and labels are valid");
    let _ = registry.register(Box::new(made.clone()));
    made
}

/// A status as text, without an allocation.
fn three_digits(status: u16, digits: &mut [u8; 3]) -> &str {
    for (digit, power) in digits.iter_mut().zip([100, 10, 1]) {
        *digit = b'0' + (status / power % 10) as u8;
    }
    std::str::from_utf8(digits).unwrap_or_default()
}

/// Seconds since a day began.
fn age(iso: &str) -> i64 {
    day(iso).map_or(0, |day| {
        (time::OffsetDateTime::now_utc() - day.midnight().assume_utc()).whole_seconds()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_an_age_and_a_status_three_digits() {
        let (old, new) = (age("2020-02-29"), age("2025-01-01"));
        assert!(old - new == 1768 * 86_400, "{}", (old - new) / 86_400);
        assert_eq!(age("soon"), 0);
        assert_eq!(three_digits(404, &mut [0; 3]), "404");
    }
}
