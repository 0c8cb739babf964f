//! One run of a form: page by page, each recognised before anything is entered, every control read
//! back, until an outcome of the file is reached and read. Nothing is retried once something was
//! entered, and nothing is disguised.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::act::{Actor, LONGEST, POLL, SETTLE};
use super::file::{At, Field, Outcome, Page, ResultSpec, Wizard};
use super::plan::Plan;
use super::redact::Redactor;
use super::report::{Details, Failure, FailureKind, Reached, Reading, Report};
use super::tab::{Stop, Tab};
use super::{Options, pictures};

/// How often the first page is loaded again when it does not come.
const RETRIES: usize = 2;

/// Which pictures of a run are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shots {
    All,
    Final,
    None,
}

/// Everything that a run needs.
pub struct Request<'a> {
    pub wizard: &'a Wizard,
    pub plan: &'a Plan<'a>,
    pub data: &'a Value,
    pub options: &'a Options,
    pub stop: Stop,
    pub shots: Shots,
    /// Told of each page: how many are done, and the title of the next.
    pub progress: &'a dyn Fn(usize, &str),
}

/// The controls of a page, for whoever describes it. Only the page's own host is reached.
pub fn inventory(url: &str, options: &Options, stop: Stop) -> Result<Vec<Value>, Failure> {
    let host = url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    let unfit = || Failure::new(FailureKind::SiteRefused, "Only https addresses are visited.");
    let host = host.filter(|host| !host.is_empty()).ok_or_else(unfit)?;
    let mut tab = Tab::open(options, &[host.to_string()], stop)?;
    tab.restart_quiet();
    tab.navigate(url)?;
    let end = Instant::now() + LONGEST;
    while tab.seen.failed.is_none() && tab.quiet() < SETTLE && Instant::now() < end {
        tab.wait(POLL)?;
    }
    if let Some(why) = &tab.seen.failed {
        let message = format!("The site can't be reached: {why}.");
        return Err(Failure::new(FailureKind::SiteRefused, message));
    }
    let found = tab.ask(&json!({ "op": "inventory" }))?.ok_or_else(late)?;
    Ok(found.as_array().cloned().unwrap_or_default())
}

/// Runs a form in a browser of its own, which has ended when this returns.
pub fn run(request: &Request) -> Report {
    let started = Instant::now();
    let nothing_yet = Failure::new(FailureKind::Cancelled, "");
    let mut report = Report::of_failure(nothing_yet, request.plan.pages.len());
    let redactor = Redactor::new(request.data);
    let opened = Tab::open(request.options, &request.wizard.hosts, request.stop.clone());
    report.result = match opened {
        Err(failure) => Err(failure),
        Ok(tab) => {
            let album = pictures::Album::new(request.options.image_bytes, report.pages_total);
            let mut run = Run { request, tab, album, report: &mut report };
            let mut result = run.whole();
            if let Err(failure) = &mut result {
                run.picture_of_failure(failure);
            }
            let seen = std::mem::take(&mut run.tab.seen.warnings);
            let pictures = run.album.take();
            drop(run);
            report.warnings.extend(seen);
            report.pictures = pictures;
            result
        }
    };
    if let Err(failure) = &mut report.result {
        let failure: &mut Details = failure;
        for text in failure.form_says.iter_mut().chain(&mut failure.found) {
            *text = redactor.clean(text);
        }
    }
    if request.options.test_site.is_some() {
        report.warnings.push("This ran against a test site, not against the agency's.".into());
    }
    report.took = started.elapsed();
    report
}

struct Run<'a, 'b> {
    request: &'a Request<'a>,
    tab: Tab,
    album: pictures::Album,
    report: &'b mut Report,
}

/// What the browser shows.
struct View {
    is_ready: bool,
    path: String,
    title: String,
    /// Which pages and outcomes of the file it could be, pages first.
    at: Vec<bool>,
    errors: Vec<String>,
}

impl Run<'_, '_> {
    fn whole(&mut self) -> Result<Reached, Failure> {
        let (wizard, plan) = (self.request.wizard, self.request.plan);
        self.load()?;
        for (n, planned) in plan.pages.iter().enumerate() {
            let page = planned.page;
            (self.request.progress)(n, &page.title);
            let on = |failure: Failure| failure.on(&page.id);
            if n == 0 {
                self.recognise(page).map_err(on)?;
            }
            let mut actor = Actor { tab: &mut self.tab, warnings: &mut self.report.warnings };
            planned.steps.iter().try_for_each(|step| actor.take(step)).map_err(on)?;
            self.refuse_unknown(page).map_err(on)?;
            if self.request.shots == Shots::All {
                let title = format!("{} ({})", page.title, page.id);
                self.album.add(&mut self.tab, title)?;
            }
            let before = self.view(&page.errors)?.map(|view| view.errors).unwrap_or_default();
            let mut actor = Actor { tab: &mut self.tab, warnings: &mut self.report.warnings };
            actor.press_button(&page.next.find).map_err(on)?;
            let next = plan.pages.get(n + 1).map(|planned| planned.page);
            let arrived = self.arrive(page, next, &before);
            let arrived = arrived.map_err(|failure| failure.on(&page.id))?;
            self.report.pages_completed = n + 1;
            if let Some(outcome) = arrived.and_then(|index| wizard.outcomes.get(index)) {
                (self.request.progress)(n + 1, &outcome.about);
                if self.request.shots != Shots::None {
                    self.album.add_last(&mut self.tab, format!("Result ({})", outcome.id))?;
                }
                return self.read(outcome);
            }
        }
        let none = format!("{} has no page", wizard.wizard_id);
        Err(Failure::new(FailureKind::PageChanged, none))
    }

    /// Loads the first page, presses what leads to it. Retried only here, where nothing was
    /// entered.
    fn load(&mut self) -> Result<(), Failure> {
        let wizard = self.request.wizard;
        let mut tries = 0;
        loop {
            self.tab.seen.failed = None;
            self.tab.seen.status = None;
            self.tab.restart_quiet();
            self.tab.navigate(&wizard.url)?;
            let end = Instant::now() + LONGEST;
            let loaded = loop {
                if let Some(failure) = self.refusal() {
                    break Err(failure);
                }
                let is_ready = self.view(&[])?.is_some_and(|view| view.is_ready);
                if is_ready && self.tab.seen.status.is_some() {
                    break Ok(());
                }
                if Instant::now() >= end {
                    break Err(late());
                }
                self.tab.wait(POLL)?;
            };
            match loaded {
                Ok(()) => break,
                Err(failure) if tries >= RETRIES || !is_passing(&failure) => return Err(failure),
                Err(_) => tries += 1,
            }
        }
        for press in &wizard.start {
            let mut actor = Actor { tab: &mut self.tab, warnings: &mut self.report.warnings };
            actor.press_button(&press.find).map_err(|failure| failure.on("start"))?;
        }
        Ok(())
    }

    /// Whether the site does not want us, or leads elsewhere.
    fn refusal(&self) -> Option<Failure> {
        let refused = |message: String| Some(Failure::new(FailureKind::SiteRefused, message));
        let seen = &self.tab.seen;
        if let Some(private) = &seen.private {
            return refused(private.clone());
        }
        match (&seen.failed, seen.status) {
            (Some(why), _) if why.contains("BLOCKED_BY_CLIENT") => {
                let message = "The site leads to another host than those of the description.";
                Some(Failure::new(FailureKind::PageChanged, message))
            }
            (Some(why), _) => refused(format!("The site can't be reached: {why}.")),
            (None, Some(status @ (401 | 403 | 407 | 418 | 429 | 451))) => {
                refused(format!("The site refuses this browser: status {status}."))
            }
            (None, Some(status @ 500..)) => {
                refused(format!("The site does not work: status {status}."))
            }
            (None, Some(404 | 410)) => {
                let message = "The agency has no page at this address any more.";
                Some(Failure::new(FailureKind::PageChanged, message))
            }
            _ => None,
        }
    }

    /// Waits until the page is the one of the file.
    fn recognise(&mut self, page: &Page) -> Result<(), Failure> {
        let wanted = self.index_of(page);
        let end = Instant::now() + LONGEST;
        self.tab.restart_quiet();
        loop {
            if let Some(failure) = self.refusal() {
                return Err(failure);
            }
            let view = self.view(&page.errors)?;
            if view.as_ref().is_some_and(|view| view.at.get(wanted) == Some(&true)) {
                return Ok(());
            }
            let is_settled = self.tab.quiet() >= SETTLE;
            if let Some(view) = view.filter(|view| view.is_ready && is_settled) {
                return Err(self.another(&page.at, &view)?);
            }
            if Instant::now() >= end {
                return Err(Failure::new(FailureKind::SiteRefused, "The page never finished."));
            }
            self.tab.wait(POLL)?;
        }
    }

    /// After the button: the next page, an outcome, or the form's refusal.
    fn arrive(
        &mut self,
        from: &Page,
        next: Option<&Page>,
        before: &[String],
    ) -> Result<Option<usize>, Failure> {
        let wizard = self.request.wizard;
        let (pages, here) = (wizard.pages.len(), self.index_of(from));
        let wanted = next.map(|page| self.index_of(page));
        let end = Instant::now() + LONGEST;
        self.tab.seen.status = None;
        self.tab.restart_quiet();
        let mut refused_since: Option<Instant> = None;
        loop {
            if let Some(failure) = self.refusal() {
                return Err(failure);
            }
            let Some(view) = self.view(&from.errors)? else {
                if Instant::now() >= end {
                    return Err(late());
                }
                self.tab.wait(POLL)?;
                continue;
            };
            let is_here = view.at.get(here) == Some(&true);
            let errors: Vec<String> =
                view.errors.iter().filter(|error| !before.contains(error)).cloned().collect();
            match wanted {
                Some(wanted) if view.at.get(wanted) == Some(&true) && !is_here => return Ok(None),
                None if view.is_ready && !is_here => {
                    let held = view.at.iter().skip(pages).enumerate();
                    let reached: Vec<usize> =
                        held.filter_map(|(index, holds)| holds.then_some(index)).collect();
                    match reached[..] {
                        [one] => return Ok(Some(one)),
                        [] => {}
                        _ => {
                            let ids =
                                reached.iter().map(|index| wizard.outcomes[*index].id.clone());
                            let message = "The result fits several outcomes of the description.";
                            return Err(Failure::new(FailureKind::PageChanged, message)
                                .expected(["one outcome".to_string()])
                                .found(ids));
                        }
                    }
                }
                _ => {}
            }
            // Some forms answer a refusal at another address than their own.
            if !errors.is_empty() {
                let since = *refused_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= Duration::from_millis(400) {
                    return Err(refused(errors));
                }
            }
            if (view.is_ready && self.tab.quiet() >= SETTLE) || Instant::now() >= end {
                return Err(match (is_here || !errors.is_empty(), next) {
                    (true, _) => refused(view.errors),
                    (false, Some(next)) => self.another(&next.at, &view)?,
                    (false, None) => {
                        let outcomes = wizard.outcomes.iter();
                        let expected = outcomes.map(|one| format!("outcome {}", one.id)).collect();
                        self.unexpected(expected, &view)?
                    }
                });
            }
            self.tab.wait(POLL)?;
        }
    }

    /// The failure for a page that is not the expected one.
    fn another(&mut self, at: &At, view: &View) -> Result<Failure, Failure> {
        let path = at.path.iter().map(|path| format!("path {path}"));
        let has = at.has.iter().cloned();
        let words = at.text.iter().map(|words| format!("the words {words:?}"));
        self.unexpected(path.chain(has).chain(words).collect(), view)
    }

    fn unexpected(&mut self, expected: Vec<String>, view: &View) -> Result<Failure, Failure> {
        let words = self.tab.ask(&json!({ "op": "text" }))?.unwrap_or_default();
        let words = words["text"].as_str().unwrap_or_default().to_lowercase();
        const CHALLENGES: [&str; 5] = [
            "access denied",
            "are you a robot",
            "verify you are human",
            "unusual traffic",
            "captcha",
        ];
        if CHALLENGES.iter().any(|challenge| words.contains(challenge)) {
            let message = "The site asks whether a person is there.";
            return Ok(Failure::new(FailureKind::SiteRefused, message));
        }
        let controls = self.inventory()?;
        let mut found = vec![format!("path {}", view.path), format!("title {:?}", view.title)];
        found.extend(controls.iter().take(30).map(control_name));
        let message = "The page is not the one of the description.";
        Ok(Failure::new(FailureKind::PageChanged, message).expected(expected).found(found))
    }

    /// Required controls that the description does not know: the form asks for more than it did.
    fn refuse_unknown(&mut self, page: &Page) -> Result<(), Failure> {
        let mut known = page.untouched.clone();
        page.fields.iter().for_each(|field| locators(field, &mut known));
        let unknown = self.tab.ask(&json!({ "op": "meant", "known": known }))?.unwrap_or_default();
        let unknown = unknown.as_array().cloned().unwrap_or_default();
        if unknown.is_empty() {
            return Ok(());
        }
        let message = "The page requires something that the description does not know.";
        Err(Failure::new(FailureKind::PageChanged, message)
            .expected(["no other required control".to_string()])
            .found(unknown.iter().map(control_name)))
    }

    fn inventory(&mut self) -> Result<Vec<Value>, Failure> {
        let found = self.tab.ask(&json!({ "op": "inventory" }))?;
        Ok(found.and_then(|found| found.as_array().cloned()).unwrap_or_default())
    }

    fn index_of(&self, page: &Page) -> usize {
        let pages = &self.request.wizard.pages;
        pages.iter().position(|other| other.id == page.id).unwrap_or(usize::MAX)
    }

    /// What the browser shows; nothing while it changes.
    fn view(&mut self, errors: &[String]) -> Result<Option<View>, Failure> {
        let wizard = self.request.wizard;
        let pages = wizard.pages.iter().map(|page| &page.at);
        let at = pages.chain(wizard.outcomes.iter().map(|outcome| &outcome.at));
        let at: Vec<Value> =
            at.map(|at| json!({ "path": at.path, "has": at.has, "text": at.text })).collect();
        let state = self.tab.ask(&json!({ "op": "state", "at": at, "errors": errors }))?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        Ok(state.map(|state| View {
            is_ready: state["ready"] == "complete" && state["scheme"] == "https:",
            path: text(&state["path"]),
            title: text(&state["title"]).chars().take(120).collect(),
            at: state["at"].as_array().into_iter().flatten().map(|at| at == true).collect(),
            errors: state["errors"].as_array().into_iter().flatten().map(text).collect(),
        }))
    }

    /// Reads everything that the outcome promises.
    fn read(&mut self, outcome: &Outcome) -> Result<Reached, Failure> {
        let mut results = BTreeMap::new();
        for (name, spec) in &outcome.results {
            let text = self.read_text(spec)?;
            let reading = text.as_deref().and_then(|text| Reading::read(spec.kind, text));
            let reading = reading.ok_or_else(|| {
                let message = format!("The result {name} is not on the page.");
                let expected = spec.find.iter().chain(&spec.after).cloned();
                Failure::new(FailureKind::PageChanged, message).expected(expected)
            })?;
            results.insert(name.clone(), reading);
        }
        let view = self.view(&[])?;
        let host = self.request.wizard.hosts.first().cloned().unwrap_or_default();
        let path = view.map(|view| view.path).unwrap_or_default();
        Ok(Reached { outcome: outcome.id.clone(), results, url: format!("https://{host}{path}") })
    }

    fn read_text(&mut self, spec: &ResultSpec) -> Result<Option<String>, Failure> {
        let Some(label) = &spec.after else {
            let read = self.tab.ask(&json!({ "op": "read", "find": spec.find }))?;
            return Ok(read.and_then(|read| read["text"].as_str().map(str::to_string)));
        };
        let body = self.tab.ask(&json!({ "op": "text" }))?.unwrap_or_default();
        let body = body["text"].as_str().unwrap_or_default();
        Ok(Reading::text_after(body, label))
    }

    /// The page on which a run failed, as it is seen, unless nobody would look.
    fn picture_of_failure(&mut self, failure: &Failure) {
        let is_useless = matches!(
            failure.kind,
            FailureKind::Cancelled | FailureKind::BrowserUnavailable | FailureKind::Timeout
        );
        if self.request.shots == Shots::None || is_useless {
            return;
        }
        let title = match &failure.page {
            Some(page) => format!("Where it failed ({page})"),
            None => "Where it failed".to_string(),
        };
        // It failed already; without a picture it failed the same.
        let _ = self.album.add_last(&mut self.tab, title);
    }
}

fn late() -> Failure {
    Failure::new(FailureKind::SiteRefused, "The site did not answer in time.")
}

fn refused(words: Vec<String>) -> Failure {
    let message = match words.is_empty() {
        true => "The form stayed where it was and did not say why.",
        false => "The form refused the answers.",
    };
    let mut failure = Failure::new(FailureKind::FormRefused, message);
    failure.form_says = words.into_iter().map(|word| word.chars().take(300).collect()).collect();
    failure
}

/// Whether loading again may help: not where the site answered.
fn is_passing(failure: &Failure) -> bool {
    failure.kind == FailureKind::SiteRefused && failure.message.contains("can't be reached")
}

/// Every locator of a field.
fn locators(field: &Field, known: &mut Vec<String>) {
    known.extend(field.find.iter().cloned());
    field.options.values().for_each(|choice| known.extend(choice.find.iter().cloned()));
    for part in &field.parts {
        let mut inner = Vec::new();
        locators(part, &mut inner);
        let item = field.item.as_deref().unwrap_or_default();
        known.extend(inner.into_iter().map(|find| format!("{item} {find}")));
    }
}

/// A control as a developer would look for it.
fn control_name(control: &Value) -> String {
    let text = |key: &str| control[key].as_str().unwrap_or_default();
    let id = Some(text("id")).filter(|id| !id.is_empty()).map(|id| format!("#{id}"));
    let name = Some(text("name")).filter(|name| !name.is_empty());
    let at = id.or_else(|| name.map(|name| format!("[name={name}]"))).unwrap_or_default();
    let required = if control["required"] == true { ", required" } else { "" };
    format!("{} {at} {:?}{required}", text("tag"), text("label"))
}
