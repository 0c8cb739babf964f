//! Whether the browser of this machine works: opened once on a page of our own, typed into,
//! clicked, read and photographed, before anybody's data depend on it. A server does so when it has
//! started; a browser that failed is tried again before the next run, for it may have been
//! installed since.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Options;
use super::act::{Actor, POLL};
use super::browser;
use super::plan::{Action, Step};
use super::report::{Failure, FailureKind};
use super::tab::{Stop, Tab};

/// Browsers are updated every few weeks: an older one has holes that are known.
pub const OLD_DAYS: u64 = 60;

/// How long the page may take to show what was typed.
const PATIENCE: Duration = Duration::from_secs(4);

/// A field, a button, and a place where the button puts what the field holds.
const PAGE: &str = "data:text/html,<title>Josh</title><label for=field>Field</label>\
    <input id=field><button id=button onclick=\"document.getElementById('place').textContent=\
    document.getElementById('field').value\">Put</button><p id=place></p>";
const TYPED: &str = "Josh tries the browser";

/// What is known of the browser. Whoever comes while it is tried waits for the result.
#[derive(Debug, Default)]
pub struct SelfTest(Mutex<Option<Tried>>);

#[derive(Debug)]
struct Tried {
    at: Instant,
    result: Result<(), Failure>,
}

impl SelfTest {
    /// Whether the browser works; tries it if that is not known.
    pub fn pass(&self, options: &Options, stop: &Stop) -> Result<(), Failure> {
        let asked = Instant::now();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(Tried { result: Ok(()), .. }) => return Ok(()),
            // Tried while we waited: a second time would not be different.
            Some(Tried { at, result: Err(failure) }) if *at >= asked => {
                return Err(failure.clone());
            }
            _ => {}
        }
        let result = test(options, stop).map(|version| {
            let took_ms = asked.elapsed().as_millis() as u64;
            let age_days = browser::find(options).ok().and_then(|path| browser::age_days(&path));
            tracing::info!(version, age_days, took_ms, "the browser for forms works");
        });
        // A test that was ended early says nothing about the browser.
        let is_ended = |failure: &Failure| {
            matches!(failure.kind, FailureKind::Cancelled | FailureKind::Timeout)
        };
        if let Err(failure) = &result {
            if is_ended(failure) {
                return result;
            }
            tracing::warn!("forms can't run: {}", failure.message);
        }
        *known = Some(Tried { at: Instant::now(), result: result.clone() });
        result
    }
}

/// Everything that a run needs of a browser, on a page that needs no network. Gives its version.
fn test(options: &Options, stop: &Stop) -> Result<String, Failure> {
    let unfit = |message: String| Failure::new(FailureKind::BrowserUnavailable, message);
    let mut tab = Tab::open(options, &[], stop.clone())?;
    let version = tab.version.clone();
    let failed = |failure: Failure| match failure.kind {
        FailureKind::Cancelled | FailureKind::Timeout => failure,
        _ => unfit(format!("Chromium {version} failed the self-test: {}", failure.message)),
    };
    try_page(&mut tab).map_err(failed)?;
    Ok(version)
}

fn try_page(tab: &mut Tab) -> Result<(), Failure> {
    let broken = |message: &str| Failure::new(FailureKind::BrowserUnavailable, message);
    tab.call("Page.navigate", json!({ "url": PAGE }))?;
    let [field, button, place] = ["#field", "#button", "#place"].map(|find| vec![find.to_string()]);
    let mut warnings = Vec::new();
    let mut actor = Actor { tab, warnings: &mut warnings };
    let fill = Action::Fill { find: &field, text: TYPED.into() };
    actor.take(&Step { pointer: String::new(), action: fill })?;
    actor.press_button(&button)?;
    let end = Instant::now() + PATIENCE;
    loop {
        let read = tab.ask(&json!({ "op": "read", "find": place }))?.unwrap_or_default();
        if read["text"] == TYPED {
            break;
        }
        if Instant::now() >= end {
            return Err(broken("what was typed and clicked did not arrive."));
        }
        tab.wait(POLL)?;
    }
    match tab.picture(0.25, 50)?.is_empty() {
        true => Err(broken("it made no picture.")),
        false => Ok(()),
    }
}
