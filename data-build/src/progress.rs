//! Spinners and progress bars for long-running steps.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use josh::output::note;

pub fn spinner(message: &'static str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(message);
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}

pub fn bar(length: u64, template: &str, message: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(length).with_message(message);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// A bar that also shows items per second.
pub fn rate_bar(length: u64, message: &'static str) -> ProgressBar {
    bar(length, "{bar:30} {percent:>3} %  {per_sec:>12}  {eta:>6} left  {msg}", message)
}

/// How often embedding says how far it is where there is no terminal, as in a cluster's logs.
const SAID_EVERY: Duration = Duration::from_secs(30);

/// Passages embedded so far: a bar on a terminal, lines elsewhere.
pub struct Embedded {
    bar: ProgressBar,
    /// `None` on a terminal.
    said: Option<Instant>,
}

impl Embedded {
    pub fn new(passages: u64) -> Embedded {
        let said = (!std::io::stderr().is_terminal()).then(Instant::now);
        Embedded { bar: rate_bar(passages, "embedding passages"), said }
    }

    pub fn add(&mut self, passages: u64) {
        self.bar.inc(passages);
        if self.said.is_some_and(|said| said.elapsed() >= SAID_EVERY) {
            self.said = Some(Instant::now());
            self.say();
        }
    }

    pub fn finish(&self) {
        if self.said.is_some() {
            self.say();
        }
        self.bar.finish_and_clear();
    }

    fn say(&self) {
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
        // The bar's own rate follows the clock of a terminal.
        let seconds = self.bar.elapsed().as_secs_f64().max(1e-3);
        let rate = (done as f64 / seconds).max(1e-3);
        let left = Duration::from_secs_f64(all.saturating_sub(done) as f64 / rate);
        note!(
            "josh-data-build: {} of {} passages embedded, {rate:.0} per second, {} left",
            HumanCount(done),
            HumanCount(all),
            HumanDuration(left)
        );
    }
}
