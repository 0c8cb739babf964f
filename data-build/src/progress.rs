//! Spinners and progress bars for long-running steps.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

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
